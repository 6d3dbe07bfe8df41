// SPDX-License-Identifier: Apache-2.0
#include "platform/memory.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/arena.h"
#include "platform/linux/cgroup_linux.h"
#include "platform/linux/pseudo_file.h"
#include "platform/system_error.h"
#include "platform/vmem.h"

enum { KIB = 1024 };

static uint64_t at_most(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static uint64_t less(uint64_t a, uint64_t b) { // a - b, not below 0
    return a > b ? a - b : 0;
}

// The limits of one group. Version 2 has two: above "high" the kernel slows the process down until
// it gives memory back, which for us is as bad as the hard limit.
static const struct {
    int version;
    const char *limits[2];
    const char *used;
    const char *reclaimable; // field of memory.stat: file cache that nobody used lately
} cgroup_files[] = {
    {1, {"memory.limit_in_bytes", NULL}, "memory.usage_in_bytes", "total_inactive_file "},
    {2, {"memory.max", "memory.high"}, "memory.current", "inactive_file "},
};

static void visit_group(void *user, int version, const char *folder) {
    struct memory_system *out = user;
    size_t row = version == 2;
    // Version 1 says "no limit" with the largest multiple of a page, which depends on the page
    // size.
    const uint64_t none = UINT64_C(1) << 62;
    uint64_t limit = MEMORY_NO_LIMIT, used = 0, reclaimable = 0, value;
    for (size_t i = 0; i < 2 && cgroup_files[row].limits[i] != NULL; i++) {
        if (pseudo_file_number(&value, "%s/%s", folder, cgroup_files[row].limits[i]) &&
            value < none)
            limit = at_most(limit, value);
    }
    if (limit == MEMORY_NO_LIMIT) return;
    char text[8192];
    pseudo_file_number(&used, "%s/%s", folder, cgroup_files[row].used);
    if (pseudo_file_text(text, sizeof text, "%s/memory.stat", folder))
        pseudo_file_field(text, cgroup_files[row].reclaimable, &reclaimable);
    out->limit = at_most(out->limit, limit);
    out->limit_available = at_most(out->limit_available, less(limit, less(used, reclaimable)));
}

// Without the limits of groups.
static locum_status read_system(const char *root, struct memory_system *out, locum_error *error) {
    char text[8192];
    uint64_t total_kib, available_kib;
    *out = (struct memory_system){.limit = MEMORY_NO_LIMIT, .limit_available = MEMORY_NO_LIMIT};
    if (!pseudo_file_text(text, sizeof text, "%s/proc/meminfo", root))
        return status_fail(error, LOCUM_E_SYSTEM, "%s/proc/meminfo cannot be read: %s", root,
                           system_error_of(errno).text);
    if (!pseudo_file_field(text, "MemTotal:", &total_kib))
        return status_fail(error, LOCUM_E_SYSTEM, "%s/proc/meminfo does not say MemTotal", root);
    if (!pseudo_file_field(text, "MemAvailable:", &available_kib)) {
        uint64_t free_kib = 0, cached_kib = 0; // kernels before 3.14: a rough estimate
        pseudo_file_field(text, "MemFree:", &free_kib);
        pseudo_file_field(text, "Cached:", &cached_kib);
        available_kib = free_kib + cached_kib / 2;
    }
    out->total = total_kib * KIB;
    out->available = available_kib * KIB;
    return LOCUM_OK;
}

locum_status memory_system_read(const char *root, struct memory_system *out, locum_error *error) {
    STATUS_TRY(read_system(root, out, error));
    cgroup_visit(root, "memory", visit_group, out);
    return LOCUM_OK;
}

// "some avg10=0.00 avg60=0.03 avg300=0.10 total=135811251": time in which at least one process waited.
static bool stall_of(const char *text, uint64_t *stalled_us) {
    const char *total = strstr(text, "total=");
    unsigned long long value;
    if (strncmp(text, "some ", 5) != 0 || total == NULL || sscanf(total, "total=%llu", &value) != 1)
        return false;
    *stalled_us = value;
    return true;
}

enum { WATCH_GROUPS = 32 }; // of both versions; deeper ones are left out, the nearest come first

struct memory_watch {
    char *root;
    uint32_t groups;
    struct {
        int version;
        char *folder;
    } group[WATCH_GROUPS];
};

static char *copy_text(const char *text) {
    size_t size = strlen(text) + 1;
    char *copy = heap_resize(NULL, size);
    return copy ? memcpy(copy, text, size) : NULL;
}

static void add_group(void *user, int version, const char *folder) {
    struct memory_watch *watch = user;
    if (watch->groups == WATCH_GROUPS) return;
    char *copy = copy_text(folder);
    if (copy == NULL) return;
    watch->group[watch->groups].version = version;
    watch->group[watch->groups++].folder = copy;
}

locum_status memory_watch_open(const char *root, struct memory_watch **out, locum_error *error) {
    struct memory_watch *watch = heap_resize(NULL, sizeof *watch);
    *out = watch;
    if (watch == NULL) return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory to watch memory");
    memset(watch, 0, sizeof *watch);
    watch->root = copy_text(root);
    if (watch->root == NULL) {
        memory_watch_close(watch);
        *out = NULL;
        return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory to watch memory");
    }
    cgroup_visit(root, "memory", add_group, watch);
    return LOCUM_OK;
}

void memory_watch_close(struct memory_watch *watch) {
    if (watch == NULL) return;
    for (uint32_t i = 0; i < watch->groups; i++)
        heap_free(watch->group[i].folder);
    heap_free(watch->root);
    heap_free(watch);
}

locum_status memory_watch_read(const struct memory_watch *watch, struct memory_system *out,
                               locum_error *error) {
    STATUS_TRY(read_system(watch->root, out, error));
    for (uint32_t i = 0; i < watch->groups; i++)
        visit_group(out, watch->group[i].version, watch->group[i].folder);
    return LOCUM_OK;
}

struct memory_stall memory_watch_stall(const struct memory_watch *watch) {
    char text[512];
    struct memory_stall stall = {false, false, 0, 0};
    stall.system_told = pseudo_file_text(text, sizeof text, "%s/proc/pressure/memory", watch->root) &&
                        stall_of(text, &stall.system_us);
    // The process's own group comes first.
    for (uint32_t i = 0; i < watch->groups && !stall.group_told; i++)
        stall.group_told =
            watch->group[i].version == 2 &&
            pseudo_file_text(text, sizeof text, "%s/memory.pressure", watch->group[i].folder) &&
            stall_of(text, &stall.group_us);
    return stall;
}

locum_status memory_process_read(struct memory_process *out, locum_error *error) {
    char text[8192];
    uint64_t resident_kib, peak_kib;
    *out = (struct memory_process){0};
    if (!pseudo_file_text(text, sizeof text, "/proc/self/status"))
        return status_fail(error, LOCUM_E_SYSTEM, "/proc/self/status cannot be read: %s",
                           system_error_of(errno).text);
    if (!pseudo_file_field(text, "VmRSS:", &resident_kib) ||
        !pseudo_file_field(text, "VmHWM:", &peak_kib))
        return status_fail(error, LOCUM_E_SYSTEM, "/proc/self/status does not say VmRSS and VmHWM");
    out->resident = resident_kib * KIB;
    out->resident_peak = peak_kib * KIB;
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) == 0) out->major_faults = (uint64_t)usage.ru_majflt;
    if (pseudo_file_text(text, sizeof text, "/proc/self/io"))
        pseudo_file_field(text, "read_bytes:", &out->device_read_bytes);
    return LOCUM_OK;
}
