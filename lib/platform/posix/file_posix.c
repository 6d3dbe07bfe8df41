// SPDX-License-Identifier: Apache-2.0
#include "platform/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/limits.h"
#include "platform/posix/file_posix.h"
#include "platform/system_error.h"

// ---- methods ------------------------------------------------------------------------------------

static file_handle system_open(void *user, const char *path, bool direct) {
    (void)user;
    if (direct) return file_posix_open_direct(path);
    int descriptor = open(path, FILE_POSIX_OPEN_FLAGS);
    return descriptor >= 0 ? descriptor : -errno;
}

static int system_size(void *user, file_handle handle, uint64_t *bytes) {
    (void)user;
    struct stat facts;
    if (fstat((int)handle, &facts) != 0) return -errno;
    if (S_ISDIR(facts.st_mode)) return -EISDIR;
    if (!S_ISREG(facts.st_mode)) return -ESPIPE;
    *bytes = (uint64_t)facts.st_size;
    return 0;
}

static int64_t system_read(void *user, file_handle handle, void *buffer, size_t bytes,
                           uint64_t offset) {
    (void)user;
    if (offset > INT64_MAX) return -EINVAL;
    ssize_t got = pread((int)handle, buffer, bytes, (off_t)offset);
    return got >= 0 ? got : -errno;
}

static void system_close(void *user, file_handle handle) {
    (void)user;
    close((int)handle); // opened for reading: there is nothing left that could fail
}

const struct file_methods *file_methods_system(void) {
    static const struct file_methods methods = {
        .version = FILE_METHODS_VERSION,
        .open = system_open,
        .size = system_size,
        .read = system_read,
        .close = system_close,
    };
    return &methods;
}

// ---- paths --------------------------------------------------------------------------------------

locum_status file_look(const char *path, struct file_facts *out, locum_error *error) {
    struct stat facts;
    if (stat(path, &facts) != 0)
        return status_fail(error, LOCUM_E_NOT_FOUND, "%s: %s", path, system_error_of(errno).text);
    *out = (struct file_facts){.kind = FILE_OTHER};
    if (S_ISREG(facts.st_mode)) {
        out->kind = FILE_REGULAR;
        out->bytes = (uint64_t)facts.st_size;
    } else if (S_ISDIR(facts.st_mode)) {
        out->kind = FILE_FOLDER;
    }
    out->modified_ns = (int64_t)facts.st_mtim.tv_sec * 1000000000 + facts.st_mtim.tv_nsec;
    return LOCUM_OK;
}

// All names of a folder, each with its zero, one after the other.
static locum_status read_names(const char *path, struct buffer *names, size_t *count,
                               locum_error *error) {
    *count = 0;
    DIR *folder = opendir(path);
    if (folder == NULL)
        return status_fail(error, LOCUM_E_NOT_FOUND, "%s: %s", path, system_error_of(errno).text);
    locum_status status = LOCUM_OK;
    for (;;) {
        errno = 0;
        struct dirent *entry = readdir(folder);
        if (entry == NULL) {
            if (errno != 0)
                status =
                    status_fail(error, LOCUM_E_IO, "%s: %s", path, system_error_of(errno).text);
            break;
        }
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        if (++*count > LIMIT_FOLDER_ENTRIES) {
            status = status_fail(error, LOCUM_E_UNSUPPORTED, "%s: more than %d files in one folder",
                                 path, LIMIT_FOLDER_ENTRIES);
            break;
        }
        buffer_append(names, entry->d_name, strlen(entry->d_name) + 1);
    }
    closedir(folder);
    if (status == LOCUM_OK && names->failed)
        status = status_fail(error, LOCUM_E_OUT_OF_MEMORY, "%s: out of memory", path);
    return status;
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

locum_status file_list(const char *path, struct arena *arena, const char *const **names,
                       size_t *count, locum_error *error) {
    struct buffer text = {0};
    locum_status status = read_names(path, &text, count, error);
    if (status == LOCUM_OK) {
        const char *copy = arena_copy_text(arena, text.data, text.size);
        const char **list = arena_array(arena, *count, sizeof *list);
        if (copy == NULL || list == NULL) {
            status = status_fail(error, LOCUM_E_OUT_OF_MEMORY, "%s: out of memory", path);
        } else {
            for (size_t i = 0; i < *count; i++) {
                list[i] = copy;
                copy += strlen(copy) + 1;
            }
            qsort(list, *count, sizeof *list, compare_names);
            *names = list;
        }
    }
    buffer_release(&text);
    return status;
}
