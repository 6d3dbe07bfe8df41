// SPDX-License-Identifier: Apache-2.0
//
// Memory that is short, on a system of files and a clock of our own.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "engine/engine_pressure.h"
#include "platform/memory.h"
#include "tests/platform/scratch.h"

#define SECOND UINT64_C(1000000000)

enum { MIB = 1 << 20, MOST = 640 * MIB, LEAST = 100 * MIB, TOTAL_MIB = 16000 };

static struct engine_pressure pressure;
static uint64_t now, stalled_us, slots;

// What the pool has given back is available besides.
static void say(uint64_t available_mib) {
    char text[200];
    available_mib += (MOST - slots) / MIB;
    snprintf(text, sizeof text, "MemTotal: %d kB\nMemAvailable: %llu kB\n", TOTAL_MIB * 1024,
             (unsigned long long)available_mib * 1024);
    scratch_text("proc/meminfo", text);
    snprintf(text, sizeof text, "some avg10=0.00 avg60=0.00 avg300=0.00 total=%llu\nfull total=1\n",
             (unsigned long long)stalled_us);
    scratch_text("proc/pressure/memory", text);
}

// `seconds` of a program that computes a step every quarter of a second, on a machine with so much available
// beside the full pool, where processes wait for memory `percent` of the time.
static void live(uint32_t seconds, uint64_t available_mib, uint32_t percent) {
    for (uint32_t i = 0; i < seconds * 4; i++) {
        now += SECOND / 4;
        stalled_us += percent * 2500;
        say(available_mib);
        slots = engine_pressure_ceiling(&pressure, now, slots, LEAST, MOST);
    }
}

static void begin(uint64_t left_mib) {
    scratch_clear();
    now = 12345 * SECOND;
    stalled_us = 777;
    slots = MOST;
    say(left_mib + MOST / MIB); // nothing of the pool is touched yet
    engine_pressure_init(&pressure, scratch_path("."), MOST);
}

static void nothing_happens_while_there_is_enough(void **state) {
    (void)state;
    begin(8000);
    live(30, 8000, 0);
    assert_int_equal(slots, MOST);
    live(5, 8000, 50); // somebody waits, but there is memory: not ours to give
    live(1, 8000, 0);
    live(5, 200, 0);   // little is available, but nobody waits for it
    assert_int_equal(slots, MOST);
}

static void the_pool_shrinks_to_its_floor_and_comes_back_slowly(void **state) {
    (void)state;
    begin(8000);
    live(1, 8000, 0);
    live(1, 300, 30);
    assert_in_range(slots, MOST / 2, MOST - MOST / 8);
    live(30, 300, 30);
    assert_int_equal(slots, LEAST);
    live(8, 8000, 0);
    assert_int_equal(slots, LEAST); // calm, but not for long enough
    live(4, 8000, 0);
    assert_in_range(slots, LEAST + 1, LEAST + 2 * (MOST / 32));
    live(20, 1000, 0); // enough for what runs, not for more
    uint64_t before = slots;
    live(20, 1000, 0);
    assert_int_equal(slots, before);
    live(120, 8000, 0);
    assert_int_equal(slots, MOST);
}

static void a_kernel_that_does_not_say_who_waits(void **state) {
    (void)state;
    begin(8000);
    scratch_clear();
    for (uint32_t i = 0; i < 20; i++) {
        now += SECOND;
        scratch_text("proc/meminfo", "MemTotal: 16000000 kB\nMemAvailable: 700000 kB\n");
        slots = engine_pressure_ceiling(&pressure, now, slots, LEAST, MOST);
    }
    assert_int_equal(slots, MOST);
    for (uint32_t i = 0; i < 40; i++) {
        now += SECOND;
        scratch_text("proc/meminfo", "MemTotal: 16000000 kB\nMemAvailable: 300000 kB\n");
        slots = engine_pressure_ceiling(&pressure, now, slots, LEAST, MOST);
    }
    assert_int_equal(slots, LEAST);
}

// As `auto` does: it takes nearly all that there is.
static void a_budget_that_leaves_little(void **state) {
    (void)state;
    begin(260);
    live(30, 260, 0);
    assert_int_equal(slots, MOST);
    live(30, 140, 20); // that is still half of it
    assert_int_equal(slots, MOST);
    live(3, 20, 30);
    assert_true(slots < MOST);
    live(200, 260, 0);
    assert_int_equal(slots, MOST);
}

// Others wait and there is little left, while this group has all that it needs: the other way round too.
static void system_and_group_count_apart(void **state) {
    (void)state;
    begin(8000);
    scratch_text("proc/self/cgroup", "0::/service\n");
    scratch_text("proc/self/mountinfo",
                 "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n");
    scratch_text("sys/fs/cgroup/service/memory.pressure", "some avg10=0.00 total=42\n");
    engine_pressure_release(&pressure);
    engine_pressure_init(&pressure, scratch_path("."), MOST);
    live(1, 8000, 0);
    live(3, 300, 30); // the system's counter runs, the group's does not
    assert_true(slots < MOST);
}

static void a_system_that_says_nothing_is_left_alone(void **state) {
    (void)state;
    begin(8000);
    engine_pressure_release(&pressure);
    scratch_clear();
    engine_pressure_init(&pressure, scratch_path("."), MOST);
    for (uint32_t i = 0; i < 20; i++) {
        now += SECOND;
        slots = engine_pressure_ceiling(&pressure, now, slots, LEAST, MOST);
    }
    assert_int_equal(slots, MOST);
}

static int tear_down(void **state) {
    (void)state;
    engine_pressure_release(&pressure);
    return 0;
}

int main(void) {
#define TEST(function) cmocka_unit_test_teardown(function, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(nothing_happens_while_there_is_enough),
        TEST(the_pool_shrinks_to_its_floor_and_comes_back_slowly),
        TEST(a_kernel_that_does_not_say_who_waits),
        TEST(a_budget_that_leaves_little),
        TEST(system_and_group_count_apart),
        TEST(a_system_that_says_nothing_is_left_alone),
    };
    return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
