// SPDX-License-Identifier: Apache-2.0
//
// DESIGN
// /proc/self/cgroup gives the path of the group as its namespace names it, /proc/self/mountinfo the
// folder where a hierarchy is mounted and which group of it is the root of that mount:
//
//     /proc/self/cgroup     4:memory:/docker/abc/job           0::/job  (version 2)
//     /proc/self/mountinfo  ... /docker/abc /sys/fs/cgroup/memory ... - cgroup cgroup rw,memory
//     folder                /sys/fs/cgroup/memory + /job
//
// Inside containers the path may lie outside of what is mounted ("/../..", or the host's path
// without a namespace). Then the root of the mount is the best that can be seen, and usually is the
// right group.
#include "platform/linux/cgroup_linux.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/limits.h"
#include "platform/linux/pseudo_file.h"

enum { CGROUP_TEXT_MAX = 256 << 10 }; // hosts with many containers have long lists of mounts

// Is `word` one of the items of a comma-separated list of `size` bytes?
static bool list_has(const char *list, size_t size, const char *word) {
    size_t word_size = strlen(word);
    while (size > 0) {
        const char *comma = memchr(list, ',', size);
        size_t item = comma ? (size_t)(comma - list) : size;
        if (item == word_size && memcmp(list, word, item) == 0) return true;
        size_t step = comma ? item + 1 : item;
        list += step;
        size -= step;
    }
    return false;
}

// The group of this process ("/", "/a/b"), from lines "id:controllers:path".
static bool find_group(const char *text, int version, const char *controller, char *path,
                       size_t max) {
    for (const char *line = text; *line != '\0';) {
        size_t size = strcspn(line, "\n");
        const char *list = memchr(line, ':', size);
        const char *name = list ? memchr(list + 1, ':', size - (size_t)(list + 1 - line)) : NULL;
        if (name != NULL) {
            size_t list_size = (size_t)(name - list - 1);
            bool match = version == 2 ? list_size == 0 : list_has(list + 1, list_size, controller);
            size_t path_size = size - (size_t)(name + 1 - line);
            if (match && path_size < max) {
                memcpy(path, name + 1, path_size);
                path[path_size] = '\0';
                return true;
            }
        }
        line += size + (line[size] == '\n');
    }
    return false;
}

// Blanks and backslashes stand in mountinfo as three octal digits.
static void unescape(char *text) {
    char *out = text;
    for (const char *in = text; *in != '\0'; in++) {
        if (in[0] == '\\' && in[1] >= '0' && in[1] <= '3' && in[2] >= '0' && in[2] <= '7' &&
            in[3] >= '0' && in[3] <= '7') {
            *out++ = (char)((in[1] - '0') << 6 | (in[2] - '0') << 3 | (in[3] - '0'));
            in += 3;
        } else {
            *out++ = *in;
        }
    }
    *out = '\0';
}

struct cgroup_mount {
    char root[LIMIT_PATH];  // the group that is mounted
    char point[LIMIT_PATH]; // where
};

// Read one line of mountinfo; false if it is another kind of mount.
static bool parse_mount(const char *line, int version, const char *controller,
                        struct cgroup_mount *mount) {
    char kind[32], options[1024];
    const char *end = strstr(line, " - ");
    if (end == NULL || sscanf(end, " - %31s %*s %1023s", kind, options) != 2) return false;
    if (strcmp(kind, version == 2 ? "cgroup2" : "cgroup") != 0) return false;
    if (version == 1 && !list_has(options, strlen(options), controller)) return false;
    if (sscanf(line, "%*s %*s %*s %4095s %4095s", mount->root, mount->point) != 2) return false;
    unescape(mount->root);
    unescape(mount->point);
    return true;
}

static bool find_mount(char *text, int version, const char *controller,
                       struct cgroup_mount *mount) {
    char *rest = text;
    for (char *line; (line = strsep(&rest, "\n")) != NULL;) {
        if (parse_mount(line, version, controller, mount)) return true;
    }
    return false;
}

// The part of `group` below the group that is mounted: "/job", or "" for the mounted one.
static const char *below_mount(const char *group, const char *mounted) {
    size_t size = strcmp(mounted, "/") == 0 ? 0 : strlen(mounted);
    bool inside = strncmp(group, mounted, size) == 0 && (group[size] == '/' || group[size] == '\0');
    if (!inside || strstr(group, "/..") != NULL || strcmp(group + size, "/") == 0) return "";
    return group + size;
}

static void visit_version(const char *root, int version, const char *controller, char *text,
                          cgroup_visit_fn visit, void *user) {
    char group[LIMIT_PATH];
    struct cgroup_mount mount;
    if (!pseudo_file_text(text, CGROUP_TEXT_MAX, "%s/proc/self/cgroup", root) ||
        !find_group(text, version, controller, group, sizeof group))
        return;
    if (!pseudo_file_text(text, CGROUP_TEXT_MAX, "%s/proc/self/mountinfo", root) ||
        !find_mount(text, version, controller, &mount))
        return;
    char folder[3 * LIMIT_PATH];
    size_t top = (size_t)snprintf(folder, sizeof folder, "%s%s", root, mount.point);
    snprintf(folder + top, sizeof folder - top, "%s", below_mount(group, mount.root));
    struct stat facts;
    if (stat(folder, &facts) != 0) folder[top] = '\0';
    for (;;) {
        visit(user, version, folder);
        char *slash = strrchr(folder + top, '/');
        if (slash == NULL) return;
        *slash = '\0';
    }
}

void cgroup_visit(const char *root, const char *controller, cgroup_visit_fn visit, void *user) {
    char *text = heap_resize(NULL, CGROUP_TEXT_MAX);
    if (text == NULL) return;
    visit_version(root, 1, controller, text, visit, user);
    visit_version(root, 2, controller, text, visit, user);
    heap_free(text);
}
