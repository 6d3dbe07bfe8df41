// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "platform/clock.h"
#include "platform/random.h"

static void time_goes_forward(void **state) {
    (void)state;
    uint64_t before = clock_now_ns();
    for (int i = 0; i < 1000; i++) {
        uint64_t now = clock_now_ns();
        assert_true(now >= before);
        before = now;
    }
}

static void sleep_lasts_at_least_as_long_as_asked(void **state) {
    (void)state;
    uint64_t before = clock_now_ns();
    clock_sleep_ns(3000000);
    assert_true(clock_now_ns() - before >= 3000000);
    clock_sleep_ns(0);
}

static void random_numbers_differ_in_every_bit(void **state) {
    (void)state;
    uint64_t ones = 0, zeros = 0;
    for (int i = 0; i < 128; i++) {
        uint64_t value;
        assert_int_equal(random_u64(&value, NULL), LOCUM_OK);
        ones |= value;
        zeros |= ~value;
    }
    // Each bit was seen as 1 and as 0; by chance this fails once in 2^121 runs.
    assert_true(ones == UINT64_MAX && zeros == UINT64_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_goes_forward),
        cmocka_unit_test(sleep_lasts_at_least_as_long_as_asked),
        cmocka_unit_test(random_numbers_differ_in_every_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
