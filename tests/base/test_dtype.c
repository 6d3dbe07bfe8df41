// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/dtype.h"

static void rows_are_those_of_the_format(void **state) {
    (void)state;
    static const struct {
        uint32_t id;
        const char *name;
        uint32_t block, bytes;
    } rows[] = {
        {0, "F32", 1, 4},       {1, "F16", 1, 2},       {2, "Q4_0", 32, 18}, {8, "Q8_0", 32, 34},
        {12, "Q4_K", 256, 144}, {14, "Q6_K", 256, 210}, {30, "BF16", 1, 2},  {39, "MXFP4", 32, 17},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct dtype_info *info = dtype_get(rows[i].id);
        assert_non_null(info);
        assert_string_equal(info->name, rows[i].name);
        assert_string_equal(dtype_name(rows[i].id), rows[i].name);
        assert_int_equal(info->block, rows[i].block);
        assert_int_equal(info->bytes, rows[i].bytes);
    }
}

static void ids_without_a_type_are_unknown(void **state) {
    (void)state;
    // 4, 5: removed from the format; 31-33, 36-38: never weights in a file.
    static const uint32_t ids[] = {4, 5, 31, 32, 33, 36, 37, 38, 43, 63, 64, 200, UINT32_MAX};
    uint64_t bytes;
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        assert_null(dtype_get(ids[i]));
        assert_string_equal(dtype_name(ids[i]), "unknown");
        assert_false(dtype_row_bytes(ids[i], 256, &bytes));
    }
}

static void row_bytes_need_whole_blocks_and_no_wrap(void **state) {
    (void)state;
    uint64_t bytes;
    assert_true(dtype_row_bytes(DTYPE_Q4_K, 512, &bytes) && bytes == 288);
    assert_true(dtype_row_bytes(DTYPE_Q8_0, 0, &bytes) && bytes == 0);
    assert_false(dtype_row_bytes(DTYPE_Q4_K, 300, &bytes));
    assert_true(dtype_row_bytes(DTYPE_F64, UINT64_MAX / 8, &bytes));
    assert_false(dtype_row_bytes(DTYPE_F64, UINT64_MAX / 8 + 1, &bytes));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_those_of_the_format),
        cmocka_unit_test(ids_without_a_type_are_unknown),
        cmocka_unit_test(row_bytes_need_whole_blocks_and_no_wrap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
