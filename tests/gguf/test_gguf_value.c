// SPDX-License-Identifier: Apache-2.0
#include "gguf/gguf_value.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "gguf/gguf_bytes.h"
#include "gguf/gguf_text.h"
#include "tests/gguf/fixture.h"

static char packed[64];

static struct gguf_value scalar(uint32_t type, uint64_t bits) {
    uint32_t bytes = gguf_value_type_bytes(type);
    gguf_bytes_put(packed + 1, bytes, bits); // + 1: nothing in a file is aligned
    return (struct gguf_value){.element = type, .count = 1, .bytes = {packed + 1, bytes}};
}

static void test_integers(void **state) {
    (void)state;
    static const struct {
        uint32_t type;
        uint64_t bits;
        bool fits_u64, fits_i64;
        uint64_t u64;
        int64_t i64;
        double f64;
    } rows[] = {
        {GGUF_U8, 255, true, true, 255, 255, 255},
        {GGUF_I8, 0x80, false, true, 0, -128, -128},
        {GGUF_U16, 65535, true, true, 65535, 65535, 65535},
        {GGUF_I16, 0xffff, false, true, 0, -1, -1},
        {GGUF_U32, 4000000000u, true, true, 4000000000u, 4000000000, 4e9},
        {GGUF_I32, 0x80000000u, false, true, 0, INT32_MIN, -2147483648.0},
        {GGUF_I32, 5, true, true, 5, 5, 5},
        {GGUF_U64, UINT64_MAX, true, false, UINT64_MAX, 0, 18446744073709551616.0},
        {GGUF_I64, UINT64_C(1) << 63, false, true, 0, INT64_MIN, -9223372036854775808.0},
        {GGUF_I64, INT64_MAX, true, true, INT64_MAX, INT64_MAX, 9223372036854775808.0},
        {GGUF_BOOL, 1, true, true, 1, 1, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct gguf_value value = scalar(rows[i].type, rows[i].bits);
        uint64_t u64;
        int64_t i64;
        double f64;
        assert_int_equal(gguf_value_u64(&value, 0, &u64), rows[i].fits_u64);
        if (rows[i].fits_u64) assert_true(u64 == rows[i].u64);
        assert_int_equal(gguf_value_i64(&value, 0, &i64), rows[i].fits_i64);
        if (rows[i].fits_i64) assert_true(i64 == rows[i].i64);
        assert_true(gguf_value_f64(&value, 0, &f64));
        assert_true(f64 == rows[i].f64);
    }
}

static void test_reals_and_bools(void **state) {
    (void)state;
    double f64;
    uint64_t u64;
    bool flag;
    struct gguf_value value = scalar(GGUF_F32, 0x3fc00000); // 1.5
    assert_true(gguf_value_f64(&value, 0, &f64) && f64 == 1.5);
    assert_false(gguf_value_u64(&value, 0, &u64)); // no rounding behind the caller's back
    assert_false(gguf_value_bool(&value, 0, &flag));
    value = scalar(GGUF_F64, UINT64_C(0xc000000000000000)); // -2
    assert_true(gguf_value_f64(&value, 0, &f64) && f64 == -2);
    value = scalar(GGUF_U32, 1);
    assert_true(gguf_value_bool(&value, 0, &flag) && flag);
    value = scalar(GGUF_I8, 0);
    assert_true(gguf_value_bool(&value, 0, &flag) && !flag);
    value = scalar(GGUF_U32, 2);
    assert_false(gguf_value_bool(&value, 0, &flag));
    value = (struct gguf_value){.element = GGUF_STRING, .count = 1, .bytes = slice_text("1")};
    assert_false(gguf_value_u64(&value, 0, &u64) || gguf_value_f64(&value, 0, &f64));
}

// The strings of the model file: "", "a", "ab", ... 39 letters; 40 of them cross two strides.
static void test_strings(void **state) {
    (void)state;
    struct buffer bytes = fixture_model();
    struct gguf_file *file;
    assert_int_equal(open_exactly(buffer_slice(&bytes), &file, NULL), LOCUM_OK);
    const struct gguf_value *value = gguf_meta_find(gguf_file_meta(file), "tiny.tokens");
    struct gguf_strings walk = gguf_value_strings(value);
    struct slice text;
    for (uint64_t i = 0; i < 40; i++) {
        assert_int_equal(gguf_value_string(value, i).size, i);
        assert_true(gguf_strings_next(&walk, &text));
        assert_ptr_equal(text.data, gguf_value_string(value, i).data);
        assert_int_equal(text.size, i);
    }
    assert_false(gguf_strings_next(&walk, &text));
    struct gguf_value one = gguf_value_at(value, 17);
    assert_false(one.is_array);
    assert_int_equal(gguf_value_string(&one, 0).size, 17);
    gguf_file_close(file);
    buffer_release(&bytes);
}

static void expect_text(struct gguf_value value, size_t max, const char *expected) {
    char out[128];
    memset(out, '#', sizeof out);
    size_t size = gguf_value_text(&value, out, max);
    assert_string_equal(out, expected);
    assert_int_equal(size, strlen(expected));
    assert_int_equal(out[max], '#');
}

static void test_text(void **state) {
    (void)state;
    expect_text(scalar(GGUF_U64, UINT64_MAX), 100, "18446744073709551615");
    expect_text(scalar(GGUF_I64, UINT64_C(1) << 63), 100, "-9223372036854775808");
    expect_text(scalar(GGUF_I8, 0xff), 100, "-1");
    expect_text(scalar(GGUF_BOOL, 1), 100, "true");
    expect_text(scalar(GGUF_F32, 0x3dcccccd), 100, "0.1");
    expect_text(scalar(GGUF_F32, 0x3727c5ac), 100, "1e-05");
    expect_text(scalar(GGUF_F64, UINT64_C(0x3fb999999999999a)), 100, "0.1");
    struct gguf_value value = {.element = GGUF_STRING, .count = 1};
    value.bytes = slice_make("a\n\t\0\x1b\xff\xc3\xbc", 8);
    expect_text(value, 100, "a\\n\\t\\x00\\x1b\\xff\xc3\xbc");
    value.bytes = slice_text("\xc3\xbc\xc3\xbc\xc3\xbc"); // three letters of two bytes
    expect_text(value, 7, "\xc3\xbc\xc3\xbc\xc3\xbc");
    expect_text(value, 6, "\xc3\xbc...");
    expect_text(value, 5, "..."); // one byte left: no whole letter
    expect_text(value, 1, "");
}

static void test_text_of_arrays(void **state) {
    (void)state;
    char numbers[20];
    for (int i = 0; i < 20; i++)
        numbers[i] = (char)i;
    struct gguf_value value = {.element = GGUF_U8, .is_array = true};
    expect_text(value, 100, "[]");
    value.count = 8, value.bytes = slice_make(numbers, 8);
    expect_text(value, 100, "[0, 1, 2, 3, 4, 5, 6, 7]");
    value.count = 20, value.bytes = slice_make(numbers, 20);
    expect_text(value, 100, "[0, 1, 2, 3, 4, 5, 6, 7, ... 20 in all]");
    expect_text(value, 12, "[0, 1, 2...");
    struct buffer bytes = fixture_model();
    struct gguf_file *file;
    assert_int_equal(open_exactly(buffer_slice(&bytes), &file, NULL), LOCUM_OK);
    expect_text(
        *gguf_meta_find(gguf_file_meta(file), "tiny.tokens"), 100,
        "[\"\", \"a\", \"ab\", \"abc\", \"abcd\", \"abcde\", \"abcdef\", \"abcdefg\", ... 40 "
        "in all]");
    gguf_file_close(file);
    buffer_release(&bytes);
}

static void test_type_names(void **state) {
    (void)state;
    assert_string_equal(gguf_value_type_name(GGUF_F64), "f64");
    assert_string_equal(gguf_value_type_name(13), "unknown");
    assert_int_equal(gguf_value_type_bytes(GGUF_STRING), 0);
    assert_int_equal(gguf_value_type_bytes(UINT32_MAX), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers),       cmocka_unit_test(test_reals_and_bools),
        cmocka_unit_test(test_strings),        cmocka_unit_test(test_text),
        cmocka_unit_test(test_text_of_arrays), cmocka_unit_test(test_type_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
