// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/checked.h"
#include "base/slice.h"

static void sums_and_products_fail_instead_of_wrapping(void **state) {
    (void)state;
    uint64_t out;
    assert_true(checked_add(UINT64_MAX - 1, 1, &out) && out == UINT64_MAX);
    assert_false(checked_add(UINT64_MAX, 1, &out));
    assert_true(checked_mul(UINT64_C(1) << 32, (UINT64_C(1) << 32) - 1, &out));
    assert_true(out == UINT64_C(0xffffffff00000000));
    assert_false(checked_mul(UINT64_C(1) << 32, UINT64_C(1) << 32, &out));
    assert_true(checked_mul(0, UINT64_MAX, &out) && out == 0);
}

static void alignment_rounds_up(void **state) {
    (void)state;
    uint64_t out;
    static const uint64_t rows[][3] = {
        {0, 32, 0}, {1, 32, 32}, {32, 32, 32}, {33, 32, 64}, {7, 1, 7}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_true(checked_align(rows[i][0], rows[i][1], &out) && out == rows[i][2]);
    assert_true(checked_align(UINT64_MAX - 31, 32, &out) && out == UINT64_MAX - 31);
    assert_false(checked_align(UINT64_MAX - 30, 32, &out));
}

static void slices_compare_by_bytes(void **state) {
    (void)state;
    struct slice empty = {NULL, 0}, text = slice_make("ab\0c", 4);
    assert_true(slice_equal(empty, slice_text("")));
    assert_true(slice_is(slice_make("general.name", 7), "general"));
    assert_false(slice_is(text, "ab"));
    assert_true(slice_starts(text, slice_text("ab")));
    assert_true(slice_starts(empty, empty));
    assert_false(slice_starts(slice_text("a"), slice_text("ab")));
    assert_true(slice_equal(slice_from(text, 3), slice_text("c")));
    assert_int_equal(slice_from(text, 4).size, 0);
    assert_int_equal(slice_from(text, 5).size, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_and_products_fail_instead_of_wrapping),
        cmocka_unit_test(alignment_rounds_up),
        cmocka_unit_test(slices_compare_by_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
