// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "platform/memory.h"
#include "platform/vmem.h"
#include "tests/platform/scratch.h"

enum { MIB = 1 << 20 };

static const char *const meminfo = "MemTotal:       16000 kB\nMemFree:         1000 kB\n"
                                   "MemAvailable:    9000 kB\nCached:          4000 kB\n";

static struct memory_system read_fake(void) {
    struct memory_system memory;
    assert_int_equal(memory_system_read(scratch_path("."), &memory, NULL), LOCUM_OK);
    return memory;
}

static void without_groups_there_is_no_limit(void **state) {
    (void)state;
    scratch_clear();
    scratch_text("proc/meminfo", meminfo);
    struct memory_system memory = read_fake();
    assert_int_equal(memory.total, 16000 * 1024);
    assert_int_equal(memory.available, 9000 * 1024);
    assert_true(memory.limit == MEMORY_NO_LIMIT && memory.limit_available == MEMORY_NO_LIMIT);
}

static void an_old_kernel_gets_an_estimate(void **state) {
    (void)state;
    scratch_clear();
    scratch_text("proc/meminfo",
                 "MemTotal:       16000 kB\nMemFree:         1000 kB\nCached:  4000 kB\n");
    assert_int_equal(read_fake().available, 3000 * 1024);
}

static void a_system_that_does_not_say_is_an_error(void **state) {
    (void)state;
    struct memory_system memory;
    locum_error error;
    scratch_clear();
    assert_int_equal(memory_system_read(scratch_path("."), &memory, &error), LOCUM_E_SYSTEM);
    assert_non_null(strstr(error.text, "meminfo cannot be read: No such file"));
    scratch_text("proc/meminfo", "MemTotal:  many kB\n");
    assert_int_equal(memory_system_read(scratch_path("."), &memory, &error), LOCUM_E_SYSTEM);
    assert_non_null(strstr(error.text, "meminfo does not say MemTotal"));
}

static void start_version_2(const char *group) {
    char text[200];
    scratch_clear();
    scratch_text("proc/meminfo", meminfo);
    snprintf(text, sizeof text, "0::%s\n", group);
    scratch_text("proc/self/cgroup", text);
    scratch_text(
        "proc/self/mountinfo",
        "22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n"
        "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n");
}

static void the_tightest_group_of_version_2_counts(void **state) {
    (void)state;
    start_version_2("/a/b/c");
    scratch_text("sys/fs/cgroup/a/b/c/memory.max", "max\n");
    scratch_text("sys/fs/cgroup/a/b/c/memory.current", "123\n");
    assert_true(read_fake().limit == MEMORY_NO_LIMIT);
    scratch_text("sys/fs/cgroup/a/b/memory.max", "8000000\n");
    scratch_text("sys/fs/cgroup/a/b/memory.current", "5000000\n");
    scratch_text("sys/fs/cgroup/a/b/memory.stat", "anon 1\nfile 3000000\ninactive_file 2000000\n");
    scratch_text("sys/fs/cgroup/a/memory.max", "9000000\n");
    scratch_text("sys/fs/cgroup/a/memory.current",
                 "8500000\n"); // a neighbour of b takes much of it
    scratch_text("sys/fs/cgroup/a/memory.stat", "inactive_file 100000\n");
    struct memory_system memory = read_fake();
    assert_int_equal(memory.limit, 8000000);
    assert_int_equal(memory.limit_available, 600000);
    scratch_text("sys/fs/cgroup/a/b/c/memory.high", "700000\n"); // slows down, does not kill
    memory = read_fake();
    assert_int_equal(memory.limit, 700000);
    scratch_text("sys/fs/cgroup/a/b/c/memory.current", "900000\n"); // above its limit
    assert_int_equal(read_fake().limit_available, 0);
}

static void version_1_names_its_files_differently(void **state) {
    (void)state;
    scratch_clear();
    scratch_text("proc/meminfo", meminfo);
    scratch_text("proc/self/cgroup", "9:name=systemd:/\n4:memory:/jobs/one\n0::/\n");
    scratch_text("proc/self/mountinfo",
                 "40 30 0:30 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
                 "41 30 0:31 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
    scratch_text("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"); // none
    scratch_text("sys/fs/cgroup/memory/jobs/one/memory.limit_in_bytes", "5000000\n");
    scratch_text("sys/fs/cgroup/memory/jobs/one/memory.usage_in_bytes", "1500000\n");
    scratch_text("sys/fs/cgroup/memory/jobs/one/memory.stat",
                 "inactive_file 7\ntotal_inactive_file 500000\n");
    struct memory_system memory = read_fake();
    assert_int_equal(memory.limit, 5000000);
    assert_int_equal(memory.limit_available, 4000000);
    scratch_text("sys/fs/cgroup/memory/jobs/memory.limit_in_bytes", "3000000\n");
    scratch_text("sys/fs/cgroup/unified/memory.max", "4000000\n"); // both versions are looked at
    assert_int_equal(read_fake().limit, 3000000);
    scratch_text("sys/fs/cgroup/unified/memory.max", "2000000\n");
    assert_int_equal(read_fake().limit, 2000000);
}

static void a_container_sees_its_own_group_at_the_mount(void **state) {
    (void)state;
    // The host's path of the group, with the group mounted as if it were the root.
    scratch_clear();
    scratch_text("proc/meminfo", meminfo);
    scratch_text("proc/self/cgroup", "4:memory:/docker/0123\n");
    scratch_text("proc/self/mountinfo",
                 "40 30 0:30 /docker/0123 /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n");
    scratch_text("sys/fs/cgroup/memory/memory.limit_in_bytes", "6000000\n");
    assert_int_equal(read_fake().limit, 6000000);
    // A path outside of what is mounted, and one that does not exist.
    scratch_text("proc/self/cgroup", "4:memory:/docker/01234\n");
    assert_int_equal(read_fake().limit, 6000000);
    scratch_text("proc/self/cgroup", "4:memory:/docker/0123/gone\n");
    assert_int_equal(read_fake().limit, 6000000);
    start_version_2("/../../other");
    scratch_text("sys/fs/cgroup/memory.max", "7000000\n");
    assert_int_equal(read_fake().limit, 7000000);
}

static void hostile_files_are_survived(void **state) {
    (void)state;
    start_version_2("/a");
    scratch_text("sys/fs/cgroup/a/memory.max", "99999999999999999999999999\n");
    assert_true(read_fake().limit == MEMORY_NO_LIMIT);
    static const char *const lines[] = {
        "", "\n", "0", "0:", "0::", ":::", "4:memory", "::\n\n:", "0::/a"};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        scratch_text("proc/self/cgroup", lines[i]);
        read_fake();
        scratch_text("proc/self/mountinfo", " - cgroup2 x y\n - \n- cgroup2\n");
        read_fake();
    }
    char *large = test_malloc(MIB); // longer than what is read
    memset(large, 'x', MIB);
    scratch_write("proc/self/mountinfo", large, MIB);
    scratch_write("proc/self/cgroup", large, MIB);
    read_fake();
    test_free(large);
}

static void this_machine_has_memory(void **state) {
    (void)state;
    struct memory_system memory;
    assert_int_equal(memory_system_read("", &memory, NULL), LOCUM_OK);
    assert_true(memory.total > 64u * MIB && memory.available <= memory.total);
    assert_true(memory.limit > 0);
}

static void the_process_shows_what_it_takes(void **state) {
    (void)state;
    struct memory_process before, full, after;
    struct vmem region = {0};
    assert_int_equal(memory_process_read(&before, NULL), LOCUM_OK);
    assert_int_equal(vmem_alloc(&region, 96 * MIB, NULL), LOCUM_OK);
    memset(region.data, 1, region.bytes);
    assert_int_equal(memory_process_read(&full, NULL), LOCUM_OK);
    vmem_release(&region);
    assert_int_equal(memory_process_read(&after, NULL), LOCUM_OK);
    assert_true(full.resident >= before.resident + 95u * MIB);
    assert_true(full.resident_peak + MIB >= full.resident);
    assert_true(after.resident <= full.resident - 90u * MIB);
    // The kernel counts pages per cpu and adds them up now and then: peaks are off by some pages.
    assert_true(after.resident_peak + MIB >= full.resident_peak);
    assert_true(after.major_faults >= before.major_faults);
}

static struct memory_stall stall(void) {
    struct memory_watch *watch;
    assert_int_equal(memory_watch_open(scratch_path("."), &watch, NULL), LOCUM_OK);
    struct memory_stall told = memory_watch_stall(watch);
    memory_watch_close(watch);
    return told;
}

static void waiting_for_memory_is_counted(void **state) {
    (void)state;
    scratch_clear();
    assert_false(stall().system_told || stall().group_told);
    scratch_text("proc/pressure/memory", "some avg10=1.20 avg60=0.03 avg300=0.10 total=135811251\n"
                                         "full avg10=0.00 avg60=0.00 avg300=0.00 total=91348333\n");
    assert_true(stall().system_told && !stall().group_told);
    assert_int_equal(stall().system_us, 135811251);
    scratch_text("proc/pressure/memory", "full avg10=0.00 total=91348333\n");
    assert_false(stall().system_told);
    start_version_2("/service");
    scratch_text("proc/pressure/memory", "some total=7\n");
    scratch_text("sys/fs/cgroup/service/memory.pressure", "some avg10=0.00 total=42\n");
    assert_true(stall().system_told && stall().group_told);
    assert_int_equal(stall().system_us, 7);
    assert_int_equal(stall().group_us, 42);
}

// Who watches sees what changes, and the same as who asks once.
static void a_watch_follows(void **state) {
    (void)state;
    struct memory_watch *watch;
    struct memory_system memory;
    start_version_2("/service");
    scratch_text("sys/fs/cgroup/service/memory.max", "8000000\n");
    scratch_text("sys/fs/cgroup/service/memory.current", "3000000\n");
    assert_int_equal(memory_watch_open(scratch_path("."), &watch, NULL), LOCUM_OK);
    assert_int_equal(memory_watch_read(watch, &memory, NULL), LOCUM_OK);
    assert_int_equal(memory.limit_available, 5000000);
    assert_int_equal(memory.available, read_fake().available);
    scratch_text("sys/fs/cgroup/service/memory.current", "7000000\n");
    assert_int_equal(memory_watch_read(watch, &memory, NULL), LOCUM_OK);
    assert_int_equal(memory.limit_available, 1000000);
    assert_int_equal(read_fake().limit_available, 1000000);
    memory_watch_close(watch);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_groups_there_is_no_limit),
        cmocka_unit_test(an_old_kernel_gets_an_estimate),
        cmocka_unit_test(a_system_that_does_not_say_is_an_error),
        cmocka_unit_test(the_tightest_group_of_version_2_counts),
        cmocka_unit_test(version_1_names_its_files_differently),
        cmocka_unit_test(a_container_sees_its_own_group_at_the_mount),
        cmocka_unit_test(hostile_files_are_survived),
        cmocka_unit_test(waiting_for_memory_is_counted),
        cmocka_unit_test(a_watch_follows),
        cmocka_unit_test(this_machine_has_memory),
        cmocka_unit_test(the_process_shows_what_it_takes),
    };
    return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
