// SPDX-License-Identifier: Apache-2.0
//
// DESIGN
// Each usable cpu gets a core (the lowest cpu among its hardware threads) and a kind (fast or not).
// The kinds come from the first source that tells cpus apart:
//
//   1. lists of the kernel's performance counters: /sys/devices/cpu_core/cpus and cpu_atom/cpus
//   exist
//      on hybrid processors only and are exact
//   2. cpu_capacity: relative speed as the scheduler sees it. Below half of the best is slow:
//   three-step
//      phones (1024, 870, 350) use the first two steps, and little cores lie below 0.45 everywhere
//   3. the highest frequency. Efficiency cores reach 0.81 of it at most (Core Ultra 285K: 4.6 of
//   5.7
//      GHz), favoured cores of one kind differ by less than 0.1: the border is 0.85
//
// Slow cores are left out of the default thread count: work is shared in equal parts, and the
// slowest thread would set the pace.
#include "platform/cpu.h"

#include <assert.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "platform/linux/cgroup_linux.h"
#include "platform/linux/pseudo_file.h"

enum { CPU_TEXT_MAX = 4096 };

static_assert(CPU_SETSIZE <= CPU_COUNT_MAX, "every cpu of the system's mask has a place");

static void read_affinity(struct cpu_set *out) {
    cpu_set_t mask;
    *out = (struct cpu_set){0};
    if (sched_getaffinity(0, sizeof mask, &mask) == 0) {
        for (uint32_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
            if (CPU_ISSET(cpu, &mask)) cpu_set_add(out, cpu);
        }
        return;
    }
    long online = sysconf(_SC_NPROCESSORS_ONLN); // a machine with more cpus than the mask has bits
    for (uint32_t cpu = 0; (long)cpu < online && cpu < CPU_COUNT_MAX; cpu++)
        cpu_set_add(out, cpu);
}

// Remove cpus that are switched off; the affinity of tests may name some.
static void keep_online(const char *root, struct cpu_set *usable) {
    char text[CPU_TEXT_MAX];
    struct cpu_set online;
    if (!pseudo_file_text(text, sizeof text, "%s/sys/devices/system/cpu/online", root) ||
        !pseudo_file_cpus(text, &online))
        return;
    for (size_t i = 0; i < CPU_COUNT_MAX / 64; i++)
        usable->bits[i] &= online.bits[i];
}

// The lowest usable cpu of the same core: it stands for the core.
static uint32_t core_of(const char *root, const struct cpu_set *usable, uint32_t cpu) {
    char text[CPU_TEXT_MAX];
    struct cpu_set siblings;
    if (!pseudo_file_text(text, sizeof text,
                          "%s/sys/devices/system/cpu/cpu%u/topology/thread_siblings_list", root,
                          cpu) ||
        !pseudo_file_cpus(text, &siblings))
        return cpu;
    for (uint32_t other = 0; other < cpu; other++) {
        if (cpu_set_has(usable, other) && cpu_set_has(&siblings, other)) return other;
    }
    return cpu;
}

static bool intersects(const struct cpu_set *a, const struct cpu_set *b) {
    for (size_t i = 0; i < CPU_COUNT_MAX / 64; i++) {
        if ((a->bits[i] & b->bits[i]) != 0) return true;
    }
    return false;
}

static bool fast_by_lists(const char *root, const struct cpu_set *usable, struct cpu_set *fast) {
    char text[CPU_TEXT_MAX];
    struct cpu_set slow;
    return pseudo_file_text(text, sizeof text, "%s/sys/devices/cpu_core/cpus", root) &&
           pseudo_file_cpus(text, fast) &&
           pseudo_file_text(text, sizeof text, "%s/sys/devices/cpu_atom/cpus", root) &&
           pseudo_file_cpus(text, &slow) && intersects(usable, fast) && intersects(usable, &slow);
}

// Fast is what reaches `percent` of the best value. false: the files say nothing, or all are fast.
static bool fast_by_value(const char *root, const char *file, uint64_t percent,
                          const struct cpu_set *usable, struct cpu_set *fast) {
    uint64_t values[CPU_COUNT_MAX] = {0};
    uint64_t best = 0;
    bool differ = false;
    for (uint32_t cpu = 0; cpu < CPU_COUNT_MAX; cpu++) {
        if (!cpu_set_has(usable, cpu)) continue;
        if (!pseudo_file_number(&values[cpu], "%s/sys/devices/system/cpu/cpu%u/%s", root, cpu,
                                file) ||
            values[cpu] > UINT64_MAX / 100)
            return false;
        if (values[cpu] > best) best = values[cpu];
    }
    *fast = (struct cpu_set){0};
    for (uint32_t cpu = 0; cpu < CPU_COUNT_MAX; cpu++) {
        if (!cpu_set_has(usable, cpu)) continue;
        if (values[cpu] * 100 >= best * percent)
            cpu_set_add(fast, cpu);
        else
            differ = true;
    }
    return differ;
}

static const char *find_fast(const char *root, const struct cpu_set *usable, struct cpu_set *fast) {
    static const struct {
        const char *source, *file;
        uint64_t percent;
    } rows[] = {
        {"cpu_capacity", "cpu_capacity", 50},
        {"max frequency", "cpufreq/cpuinfo_max_freq", 85},
    };
    if (fast_by_lists(root, usable, fast)) return "cpu_core/cpu_atom";
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (fast_by_value(root, rows[i].file, rows[i].percent, usable, fast)) return rows[i].source;
    }
    *fast = *usable;
    return "one kind";
}

// The least quota on the way up, in cpus; *user is 0 as long as there is none.
static void visit_quota(void *user, int version, const char *folder) {
    uint32_t *quota = user;
    uint64_t time, period;
    if (version == 2) { // "max 100000" or "150000 100000"
        char text[64];
        unsigned long long a, b;
        if (!pseudo_file_text(text, sizeof text, "%s/cpu.max", folder) ||
            sscanf(text, "%llu %llu", &a, &b) != 2)
            return;
        time = a;
        period = b;
    } else if (!pseudo_file_number(&time, "%s/cpu.cfs_quota_us", folder) || // -1: no limit
               !pseudo_file_number(&period, "%s/cpu.cfs_period_us", folder)) {
        return;
    }
    if (time == 0 || period == 0 || time / period >= CPU_COUNT_MAX) return;
    uint32_t cpus = (uint32_t)(time / period + (time % period != 0));
    if (*quota == 0 || cpus < *quota) *quota = cpus;
}

void cpu_topology_read(const char *root, const struct cpu_set *affinity, struct cpu_topology *out) {
    struct cpu_set usable, fast;
    uint32_t core[CPU_COUNT_MAX];
    *out = (struct cpu_topology){0};
    if (affinity != NULL)
        usable = *affinity;
    else
        read_affinity(&usable);
    keep_online(root, &usable);
    out->source = find_fast(root, &usable, &fast);
    for (uint32_t cpu = 0; cpu < CPU_COUNT_MAX; cpu++) {
        core[cpu] = CPU_COUNT_MAX;
        if (!cpu_set_has(&usable, cpu)) continue;
        core[cpu] = core_of(root, &usable, cpu);
        out->usable++;
        out->cores += core[cpu] == cpu;
        out->performance += core[cpu] == cpu && cpu_set_has(&fast, cpu);
    }
    uint32_t filled = 0;
    for (uint32_t pass = 0; pass < 4; pass++) { // fast cores, slow cores, siblings of fast, of slow
        for (uint32_t cpu = 0; cpu < CPU_COUNT_MAX; cpu++) {
            bool wanted = core[cpu] != CPU_COUNT_MAX && (core[cpu] == cpu) == (pass < 2) &&
                          cpu_set_has(&fast, cpu) == (pass % 2 == 0);
            if (wanted) out->order[filled++] = cpu;
        }
    }
    cgroup_visit(root, "cpu", visit_quota, &out->quota);
    out->threads = out->performance;
    if (out->quota != 0 && out->quota < out->threads) out->threads = out->quota;
    if (out->threads > LIMIT_THREADS) out->threads = LIMIT_THREADS;
    if (out->threads == 0) out->threads = 1;
}
