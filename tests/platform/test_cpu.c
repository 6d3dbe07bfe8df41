// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "platform/cpu.h"
#include "tests/platform/scratch.h"

// ---- instruction sets ---------------------------------------------------------------------------

// A processor with everything, as the registers of a Sapphire Rapids say it, and a system that
// saves all.
static const struct cpu_registers full = {
    .leaf_max = 32,
    .leaf1_ecx = 1u << 12 | 1u << 27 | 1u << 28 | 1u << 29,
    .leaf7_ebx = 1u << 5 | 1u << 8 | 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31,
    .leaf7_ecx = 1u << 1 | 1u << 11,
    .leaf7_1_eax = 1u << 4,
    .xcr0 = 0xe7,
};

static void assert_features(struct cpu_registers registers, int avx2, int vnni, int avx512,
                            int vnni512) {
    struct cpu_features features;
    cpu_features_decode(&registers, &features);
    assert_int_equal(features.avx2, avx2);
    assert_int_equal(features.avxvnni, vnni);
    assert_int_equal(features.avx512, avx512);
    assert_int_equal(features.avx512vnni, vnni512);
}

static void everything_is_found(void **state) {
    (void)state;
    assert_features(full, 1, 1, 1, 1);
    assert_features((struct cpu_registers){0}, 0, 0, 0, 0);
}

static void registers_that_the_system_does_not_save_do_not_count(void **state) {
    (void)state;
    struct cpu_registers r = full;
    r.xcr0 = 0x7; // no AVX-512 state
    assert_features(r, 1, 1, 0, 0);
    r.xcr0 = 0x67; // one of its three parts is missing
    assert_features(r, 1, 1, 0, 0);
    r.xcr0 = 0x3; // no upper halves of ymm
    assert_features(r, 0, 0, 0, 0);
    r = full;
    r.leaf1_ecx &= ~(1u << 27); // no OSXSAVE: xcr0 means nothing
    assert_features(r, 0, 0, 0, 0);
}

static void every_bit_is_needed(void **state) {
    (void)state;
    for (int bit = 0; bit < 32; bit++) {
        struct cpu_registers r = full;
        r.leaf7_ebx &= ~(1u << bit);
        int avx2 = bit != 5 && bit != 8;
        int avx512 = avx2 && bit != 16 && bit != 17 && bit != 30 && bit != 31;
        assert_features(r, avx2, avx2, avx512, avx512);
        r = full;
        r.leaf1_ecx &= ~(1u << bit);
        avx2 = bit != 12 && bit != 27 && bit != 28 && bit != 29;
        assert_features(r, avx2, avx2, avx2, avx2);
        r = full;
        r.leaf7_ecx &= ~(1u << bit);
        assert_features(r, 1, 1, 1, bit != 1 && bit != 11);
    }
}

static void an_old_processor_has_no_leaf_7(void **state) {
    (void)state;
    struct cpu_registers r = full;
    r.leaf_max = 6;
    assert_features(r, 0, 0, 0, 0);
}

static void this_machine_agrees_with_the_kernel(void **state) {
    (void)state;
    struct cpu_features features;
    cpu_features_detect(&features);
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[8192] = "", name[CPU_NAME_MAX];
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL && strncmp(line, "flags", 5) != 0) {}
    fclose(file);
    if (strncmp(line, "flags", 5) != 0) {
        print_message("SKIP features of the processor: /proc/cpuinfo lists no flags here\n");
        skip();
    }
    assert_int_equal(features.avx2, strstr(line, " avx2 ") && strstr(line, " fma ") &&
                                        strstr(line, " f16c ") && strstr(line, " bmi2 "));
    assert_int_equal(features.avxvnni, features.avx2 && strstr(line, " avx_vnni "));
    assert_int_equal(features.avx512, features.avx2 && strstr(line, " avx512f ") &&
                                          strstr(line, " avx512bw ") &&
                                          strstr(line, " avx512vl ") && strstr(line, " avx512dq "));
    cpu_name(name);
    assert_true(strlen(name) > 3);
    assert_true(name[0] != ' ' && name[strlen(name) - 1] != ' ');
}

// ---- topology -----------------------------------------------------------------------------------

// One number, or "value-last" if last is not 0.
static void cpu_file(uint32_t cpu, const char *file, unsigned long value, unsigned long last) {
    char name[200], text[100];
    snprintf(name, sizeof name, "sys/devices/system/cpu/cpu%u/%s", cpu, file);
    if (last != 0)
        snprintf(text, sizeof text, "%lu-%lu\n", value, last);
    else
        snprintf(text, sizeof text, "%lu\n", value);
    scratch_text(name, text);
}

static struct cpu_set first_cpus(uint32_t count) {
    struct cpu_set set = {0};
    for (uint32_t cpu = 0; cpu < count; cpu++)
        cpu_set_add(&set, cpu);
    return set;
}

static struct cpu_topology topology;

static void read_fake(uint32_t count) {
    struct cpu_set set = first_cpus(count);
    char root[4096];
    snprintf(root, sizeof root, "%s", scratch_path("."));
    cpu_topology_read(root, &set, &topology);
    assert_int_equal(topology.usable, count);
    struct cpu_set seen = {0};
    for (uint32_t i = 0; i < count; i++) { // order names every usable cpu once
        assert_true(cpu_set_has(&set, topology.order[i]));
        assert_false(cpu_set_has(&seen, topology.order[i]));
        cpu_set_add(&seen, topology.order[i]);
    }
}

static void nothing_to_read_means_one_kind(void **state) {
    (void)state;
    scratch_clear();
    read_fake(12);
    assert_int_equal(topology.cores, 12);
    assert_int_equal(topology.performance, 12);
    assert_int_equal(topology.threads, 12);
    assert_int_equal(topology.quota, 0);
    assert_string_equal(topology.source, "one kind");
}

// 8 performance cores without hardware threads and 12 efficiency cores; frequencies of a Core
// Ultra.
static void hybrid_without_smt_counts_its_fast_cores(void **state) {
    (void)state;
    scratch_clear();
    for (uint32_t cpu = 0; cpu < 20; cpu++) {
        cpu_file(cpu, "topology/thread_siblings_list", cpu, 0);
        cpu_file(cpu, "cpufreq/cpuinfo_max_freq", cpu < 8 ? (cpu < 2 ? 5700000 : 5500000) : 4600000,
                 0);
    }
    read_fake(20);
    assert_string_equal(topology.source, "max frequency");
    assert_int_equal(topology.cores, 20);
    assert_int_equal(topology.performance, 8);
    assert_int_equal(topology.threads, 8);
    for (uint32_t i = 0; i < 8; i++)
        assert_true(topology.order[i] < 8);
}

// 6 performance cores with two threads each (0-11), 8 efficiency cores (12-19), named by the
// kernel.
static void hybrid_with_smt_counts_cores_not_threads(void **state) {
    (void)state;
    scratch_clear();
    for (uint32_t cpu = 0; cpu < 12; cpu++)
        cpu_file(cpu, "topology/thread_siblings_list", cpu / 2 * 2, cpu / 2 * 2 + 1);
    for (uint32_t cpu = 12; cpu < 20; cpu++)
        cpu_file(cpu, "topology/thread_siblings_list", cpu, 0);
    scratch_text("sys/devices/cpu_core/cpus", "0-11\n");
    scratch_text("sys/devices/cpu_atom/cpus", "12-19\n");
    read_fake(20);
    assert_string_equal(topology.source, "cpu_core/cpu_atom");
    assert_int_equal(topology.cores, 14);
    assert_int_equal(topology.performance, 6);
    assert_int_equal(topology.threads, 6);
    static const uint32_t order[] = {0,  2,  4,  6,  8, 10, 12, 13, 14, 15,
                                     16, 17, 18, 19, 1, 3,  5,  7,  9,  11};
    assert_memory_equal(topology.order, order, sizeof order);
}

static void capacity_sorts_a_phone(void **state) {
    (void)state;
    static const unsigned long capacity[] = {350, 350, 350, 350, 870, 870, 870, 1024};
    scratch_clear();
    for (uint32_t cpu = 0; cpu < 8; cpu++) {
        cpu_file(cpu, "cpu_capacity", capacity[cpu], 0);
        cpu_file(cpu, "cpufreq/cpuinfo_max_freq", 2000000 + 200000 * (cpu / 4), 0);
    }
    read_fake(8);
    assert_string_equal(topology.source, "cpu_capacity");
    assert_int_equal(topology.threads, 4);
    assert_int_equal(topology.order[0], 4);
}

static void two_sockets_of_one_kind_are_all_counted(void **state) {
    (void)state;
    scratch_clear();
    for (uint32_t cpu = 0; cpu < 32;
         cpu++) { // siblings are 16 apart; core ids repeat on both sockets
        char text[32], name[100];
        snprintf(text, sizeof text, "%u,%u\n", cpu % 16, cpu % 16 + 16);
        snprintf(name, sizeof name, "sys/devices/system/cpu/cpu%u/topology/thread_siblings_list",
                 cpu);
        scratch_text(name, text);
        cpu_file(cpu, "topology/core_id", cpu % 8, 0);
        cpu_file(cpu, "cpu_capacity", 1024, 0);
        cpu_file(cpu, "cpufreq/cpuinfo_max_freq", cpu % 8 == 0 ? 5000000 : 4800000, 0);
    }
    read_fake(32);
    assert_string_equal(topology.source, "one kind"); // favoured cores are no kind of their own
    assert_int_equal(topology.cores, 16);
    assert_int_equal(topology.threads, 16);
}

static void affinity_and_offline_cpus_narrow_the_count(void **state) {
    (void)state;
    scratch_clear();
    scratch_text("sys/devices/cpu_core/cpus", "0-7\n");
    scratch_text("sys/devices/cpu_atom/cpus", "8-15\n");
    scratch_text("sys/devices/system/cpu/online", "0-9,12-13\n");
    struct cpu_set set = {0};
    for (uint32_t cpu = 6; cpu < 16; cpu++)
        cpu_set_add(&set, cpu);
    cpu_topology_read(scratch_path("."), &set, &topology);
    assert_int_equal(topology.usable, 6); // 6 7 8 9 12 13
    assert_int_equal(topology.performance, 2);
    assert_int_equal(topology.threads, 2);
    // On efficiency cores only, these are the one kind there is.
    set = (struct cpu_set){0};
    cpu_set_add(&set, 8);
    cpu_set_add(&set, 9);
    cpu_set_add(&set, 12);
    cpu_topology_read(scratch_path("."), &set, &topology);
    assert_string_equal(topology.source, "one kind");
    assert_int_equal(topology.threads, 3);
    // Nothing usable is an answer too.
    set = (struct cpu_set){0};
    cpu_topology_read(scratch_path("."), &set, &topology);
    assert_int_equal(topology.threads, 1);
}

static void half_a_sibling_pair_is_a_core(void **state) {
    (void)state;
    scratch_clear();
    for (uint32_t cpu = 0; cpu < 8; cpu++)
        cpu_file(cpu, "topology/thread_siblings_list", cpu / 2 * 2, cpu / 2 * 2 + 1);
    struct cpu_set set = {0};
    cpu_set_add(&set, 1); // without its sibling 0
    cpu_set_add(&set, 4);
    cpu_set_add(&set, 5);
    cpu_topology_read(scratch_path("."), &set, &topology);
    assert_int_equal(topology.cores, 2);
    assert_int_equal(topology.threads, 2);
    assert_int_equal(topology.order[0], 1);
    assert_int_equal(topology.order[1], 4);
    assert_int_equal(topology.order[2], 5);
}

static void quota_of_version_2_is_rounded_up(void **state) {
    (void)state;
    scratch_clear();
    scratch_text("proc/self/cgroup", "0::/jobs/one\n");
    scratch_text(
        "proc/self/mountinfo",
        "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n");
    scratch_text("sys/fs/cgroup/jobs/one/cpu.max", "250000 100000\n");
    scratch_text("sys/fs/cgroup/jobs/cpu.max", "max 100000\n");
    read_fake(8);
    assert_int_equal(topology.quota, 3);
    assert_int_equal(topology.threads, 3);
    assert_int_equal(topology.performance, 8);
    scratch_text("sys/fs/cgroup/jobs/cpu.max", "50000 100000\n"); // the group above is tighter
    read_fake(8);
    assert_int_equal(topology.quota, 1);
    assert_int_equal(topology.threads, 1);
    scratch_text("sys/fs/cgroup/jobs/cpu.max", "6400000 100000\n"); // more than there is
    scratch_text("sys/fs/cgroup/jobs/one/cpu.max", "garbage\n");
    read_fake(8);
    assert_int_equal(topology.quota, 64);
    assert_int_equal(topology.threads, 8);
}

static void quota_of_version_1_is_found_by_its_controller(void **state) {
    (void)state;
    scratch_clear();
    scratch_text("proc/self/cgroup",
                 "5:memory:/m\n4:cpu,cpuacct:/docker/abc/job\n3:cpuset:/\n0::/\n");
    scratch_text("proc/self/mountinfo",
                 "40 30 0:30 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
                 "41 30 0:31 /docker/abc /sys/fs/cgroup/cpu\\040acct rw shared:9 - cgroup cgroup "
                 "rw,cpu,cpuacct\n"
                 "42 30 0:32 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
    scratch_text("sys/fs/cgroup/cpu acct/job/cpu.cfs_quota_us", "150000\n");
    scratch_text("sys/fs/cgroup/cpu acct/job/cpu.cfs_period_us", "50000\n");
    scratch_text("sys/fs/cgroup/cpu acct/cpu.cfs_quota_us", "-1\n");
    scratch_text("sys/fs/cgroup/cpu acct/cpu.cfs_period_us", "100000\n");
    read_fake(8);
    assert_int_equal(topology.quota, 3);
    assert_int_equal(topology.threads, 3);
}

static void this_machine_has_at_least_one_thread(void **state) {
    (void)state;
    cpu_topology_read("", NULL, &topology);
    assert_true(topology.usable >= 1 && topology.threads >= 1);
    assert_true(topology.threads <= topology.performance);
    assert_true(topology.performance <= topology.cores && topology.cores <= topology.usable);
    assert_non_null(topology.source);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_found),
        cmocka_unit_test(registers_that_the_system_does_not_save_do_not_count),
        cmocka_unit_test(every_bit_is_needed),
        cmocka_unit_test(an_old_processor_has_no_leaf_7),
        cmocka_unit_test(this_machine_agrees_with_the_kernel),
        cmocka_unit_test(nothing_to_read_means_one_kind),
        cmocka_unit_test(hybrid_without_smt_counts_its_fast_cores),
        cmocka_unit_test(hybrid_with_smt_counts_cores_not_threads),
        cmocka_unit_test(capacity_sorts_a_phone),
        cmocka_unit_test(two_sockets_of_one_kind_are_all_counted),
        cmocka_unit_test(affinity_and_offline_cpus_narrow_the_count),
        cmocka_unit_test(half_a_sibling_pair_is_a_core),
        cmocka_unit_test(quota_of_version_2_is_rounded_up),
        cmocka_unit_test(quota_of_version_1_is_found_by_its_controller),
        cmocka_unit_test(this_machine_has_at_least_one_thread),
    };
    return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
