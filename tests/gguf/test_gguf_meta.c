// SPDX-License-Identifier: Apache-2.0
#include "gguf/gguf_meta.h"

#include <math.h>
#include <string.h>

#include "gguf/gguf_bytes.h"
#include "tests/gguf/fixture.h"

static struct gguf_file *file; // open during a test
static const struct gguf_meta *meta;
static struct buffer bytes;

// All kinds of numbers that writers of files use for the same key.
static void add_numbers(struct gguf_writer *writer) {
    char packed[64];
    for (int i = 0; i < 4; i++)
        gguf_bytes_put(packed + 4 * i, 4, (uint64_t)(i + 1));
    struct gguf_value layers = {.element = GGUF_I32, .is_array = true, .count = 4};
    layers.bytes = slice_make(packed, 16);
    gguf_writer_add_value(writer, "tiny.layers", &layers);
    layers.count = 1, layers.bytes.size = 4;
    gguf_writer_add_value(writer, "tiny.one", &layers);
    layers.count = 0, layers.bytes.size = 0;
    gguf_writer_add_value(writer, "tiny.none", &layers);
    struct gguf_value flags = {.element = GGUF_BOOL, .is_array = true, .count = 4};
    flags.bytes = slice_make("\1\0\0\1", 4);
    gguf_writer_add_value(writer, "tiny.flags", &flags);
    static const double reals[] = {0.5, 1e300, -2, 3};
    for (int i = 0; i < 4; i++) {
        uint64_t bits;
        memcpy(&bits, &reals[i], 8);
        gguf_bytes_put(packed + 8 * i, 8, bits);
    }
    struct gguf_value doubles = {.element = GGUF_F64, .is_array = true, .count = 4};
    doubles.bytes = slice_make(packed, 32);
    gguf_writer_add_value(writer, "tiny.doubles", &doubles);
    struct gguf_value small = {.element = GGUF_I8, .count = 1, .bytes = slice_make("\xfd", 1)};
    gguf_writer_add_value(writer, "tiny.i8", &small);
    struct gguf_value text = {.element = GGUF_STRING, .count = 1, .bytes = slice_text("copied")};
    gguf_writer_add_value(writer, "tiny.copy", &text);
}

static int open_model(void **state) {
    (void)state;
    struct gguf_writer *writer = gguf_writer_create(0);
    gguf_writer_add_text(writer, "general.architecture", "tiny");
    gguf_writer_add_u32(writer, "tiny.block_count", 4);
    gguf_writer_add_u64(writer, "tiny.u64", UINT64_MAX);
    gguf_writer_add_f32(writer, "tiny.f32", 1.5f);
    gguf_writer_add_f32(writer, "tiny.nan", NAN);
    gguf_writer_add_bool(writer, "tiny.bool", true);
    gguf_writer_add_text(writer, "tiny.text", "hello");
    gguf_writer_add_strings(writer, "tiny.words",
                            (const struct slice[]){slice_text("a"), slice_text("b")}, 2);
    add_numbers(writer);
    bytes = (struct buffer){0};
    assert_int_equal(gguf_writer_begin(writer, gguf_writer_to_buffer(&bytes), NULL), LOCUM_OK);
    assert_int_equal(gguf_writer_end(writer, NULL), LOCUM_OK);
    gguf_writer_close(writer);
    assert_int_equal(open_exactly(buffer_slice(&bytes), &file, NULL), LOCUM_OK);
    meta = gguf_file_meta(file);
    return 0;
}

static int close_model(void **state) {
    (void)state;
    gguf_file_close(file);
    buffer_release(&bytes);
    return 0;
}

#define REFUSED(call, ...)                                                              \
    do {                                                                                \
        locum_error error = {0};                                                        \
        assert_int_equal(call, LOCUM_E_FORMAT);                                         \
        expect_words(&error, (const char *[]){"model.gguf: key '", __VA_ARGS__, NULL}); \
    } while (0)

static void test_scalars(void **state) {
    (void)state;
    uint32_t u32;
    uint64_t u64;
    int64_t i64;
    float f32;
    bool flag;
    struct slice text;
    assert_int_equal(gguf_meta_u32(meta, ".block_count", 1, 512, &u32, NULL), LOCUM_OK);
    assert_int_equal(u32, 4);
    assert_int_equal(gguf_meta_u32(meta, "tiny.block_count", 4, 4, &u32, NULL), LOCUM_OK);
    assert_int_equal(gguf_meta_u64(meta, ".u64", 0, UINT64_MAX, &u64, NULL), LOCUM_OK);
    assert_true(u64 == UINT64_MAX);
    assert_int_equal(gguf_meta_i64(meta, ".i8", -3, -3, &i64, NULL), LOCUM_OK);
    assert_int_equal(i64, -3);
    assert_int_equal(gguf_meta_f32(meta, ".f32", 0, 2, &f32, NULL), LOCUM_OK);
    assert_true(f32 == 1.5f);
    assert_int_equal(gguf_meta_f32(meta, ".i8", -10, 0, &f32, NULL), LOCUM_OK);
    assert_true(f32 == -3.0f);
    assert_int_equal(gguf_meta_bool(meta, ".bool", &flag, NULL), LOCUM_OK);
    assert_true(flag);
    assert_int_equal(gguf_meta_u32(meta, ".bool", 0, 1, &u32, NULL), LOCUM_OK);
    assert_int_equal(gguf_meta_string(meta, ".text", &text, NULL), LOCUM_OK);
    assert_true(slice_is(text, "hello"));
    assert_int_equal(gguf_meta_string(meta, ".copy", &text, NULL), LOCUM_OK);
    assert_true(slice_is(text, "copied"));
    assert_int_equal(gguf_meta_u32(meta, ".one", 0, 9, &u32, NULL), LOCUM_OK);
    assert_int_equal(u32, 1);
}

static void test_scalars_refused(void **state) {
    (void)state;
    uint32_t u32;
    uint64_t u64;
    int64_t i64;
    float f32;
    bool flag;
    struct slice text;
    REFUSED(gguf_meta_u32(meta, ".absent", 0, 1, &u32, &error), "tiny.absent", "missing");
    REFUSED(gguf_meta_u32(meta, ".block_count", 5, 512, &u32, &error), "tiny.block_count",
            "from 5 to 512", "the u32 4");
    REFUSED(gguf_meta_u32(meta, ".u64", 0, UINT32_MAX, &u32, &error), "18446744073709551615");
    REFUSED(gguf_meta_u32(meta, ".i8", 0, UINT32_MAX, &u32, &error), "at least 0", "the i8 -3");
    REFUSED(gguf_meta_u64(meta, ".f32", 0, 9, &u64, &error), "whole number", "the f32 1.5");
    REFUSED(gguf_meta_i64(meta, ".u64", 0, INT64_MAX, &i64, &error), "18446744073709551615");
    REFUSED(gguf_meta_u32(meta, ".text", 0, 9, &u32, &error), "the string hello");
    REFUSED(gguf_meta_u32(meta, ".layers", 0, 9, &u32, &error),
            "an array of 4 (i32): [1, 2, 3, 4]");
    REFUSED(gguf_meta_u32(meta, ".none", 0, 9, &u32, &error), "an array of 0");
    REFUSED(gguf_meta_f32(meta, ".nan", -INFINITY, INFINITY, &f32, &error), "the f32 ", "nan");
    REFUSED(gguf_meta_f32(meta, ".f32", 2, 3, &f32, &error), "from 2 to 3", "1.5");
    REFUSED(gguf_meta_bool(meta, ".block_count", &flag, &error), "true or false", "the u32 4");
    REFUSED(gguf_meta_string(meta, ".f32", &text, &error), "a string", "1.5");
    REFUSED(gguf_meta_string(meta, ".words", &text, &error), "a string", "[\"a\", \"b\"]");
}

static void test_defaults(void **state) {
    (void)state;
    uint32_t u32;
    uint64_t u64;
    int64_t i64;
    float f32;
    bool flag;
    struct slice text;
    assert_int_equal(gguf_meta_u32_or(meta, ".absent", 77, 0, 1, &u32, NULL), LOCUM_OK);
    assert_int_equal(u32, 77);
    assert_int_equal(gguf_meta_u64_or(meta, ".absent", 78, 0, 1, &u64, NULL), LOCUM_OK);
    assert_int_equal(u64, 78);
    assert_int_equal(gguf_meta_i64_or(meta, ".absent", -79, 0, 1, &i64, NULL), LOCUM_OK);
    assert_int_equal(i64, -79);
    assert_int_equal(gguf_meta_f32_or(meta, ".absent", 0.25f, 1, 2, &f32, NULL), LOCUM_OK);
    assert_true(f32 == 0.25f);
    assert_int_equal(gguf_meta_bool_or(meta, ".absent", true, &flag, NULL), LOCUM_OK);
    assert_true(flag);
    assert_int_equal(gguf_meta_string_or(meta, ".absent", slice_text("x"), &text, NULL), LOCUM_OK);
    assert_true(slice_is(text, "x"));
    assert_int_equal(gguf_meta_u32_or(meta, ".block_count", 77, 0, 9, &u32, NULL), LOCUM_OK);
    assert_int_equal(u32, 4);
    // A value that is there but wrong is never replaced.
    REFUSED(gguf_meta_u32_or(meta, ".text", 77, 0, 9, &u32, &error), "tiny.text");
    REFUSED(gguf_meta_bool_or(meta, ".text", true, &flag, &error), "tiny.text");
}

static void test_each(void **state) {
    (void)state;
    uint32_t u32[4];
    float f32[4];
    bool flags[4];
    assert_int_equal(gguf_meta_u32_each(meta, ".layers", 0, 9, 4, u32, NULL), LOCUM_OK);
    assert_memory_equal(u32, ((uint32_t[]){1, 2, 3, 4}), sizeof u32);
    assert_int_equal(gguf_meta_u32_each(meta, ".block_count", 0, 9, 3, u32, NULL), LOCUM_OK);
    assert_memory_equal(u32, ((uint32_t[]){4, 4, 4, 4}), sizeof u32); // the fourth is untouched
    assert_int_equal(gguf_meta_f32_each(meta, ".layers", 0, 9, 4, f32, NULL), LOCUM_OK);
    assert_true(f32[3] == 4);
    assert_int_equal(gguf_meta_bool_each(meta, ".flags", 4, flags, NULL), LOCUM_OK);
    assert_true(flags[0] && !flags[1] && !flags[2] && flags[3]);
    assert_int_equal(gguf_meta_u32_each(meta, ".flags", 0, 1, 4, u32, NULL), LOCUM_OK);
    assert_memory_equal(u32, ((uint32_t[]){1, 0, 0, 1}), sizeof u32);
    assert_int_equal(gguf_meta_u32_each_or(meta, ".absent", 6, 0, 9, 4, u32, NULL), LOCUM_OK);
    assert_memory_equal(u32, ((uint32_t[]){6, 6, 6, 6}), sizeof u32);
    assert_int_equal(gguf_meta_f32_each_or(meta, ".absent", 0.5f, 0, 9, 4, f32, NULL), LOCUM_OK);
    assert_true(f32[0] == 0.5f && f32[3] == 0.5f);
    assert_int_equal(gguf_meta_bool_each_or(meta, ".absent", true, 4, flags, NULL), LOCUM_OK);
    assert_true(flags[0] && flags[1] && flags[2] && flags[3]);
    REFUSED(gguf_meta_u32_each(meta, ".layers", 0, 9, 3, u32, &error), "an array of 3 of them",
            "an array of 4 (i32)");
    REFUSED(gguf_meta_u32_each(meta, ".layers", 0, 2, 4, u32, &error), "from 0 to 2",
            "element 2 of it is the i32 3");
    REFUSED(gguf_meta_f32_each(meta, ".doubles", -9, INFINITY, 4, f32, &error),
            "element 1 of it is the f64 1e+300"); // does not fit a float
    REFUSED(gguf_meta_bool_each(meta, ".layers", 4, flags, &error), "element 1 of it is the i32 2");
    REFUSED(gguf_meta_u32_each(meta, ".absent", 0, 2, 4, u32, &error), "missing");
}

static void test_arrays(void **state) {
    (void)state;
    const struct gguf_value *value;
    assert_int_equal(gguf_meta_array(meta, ".words", GGUF_META_STRINGS, 1, 9, &value, NULL),
                     LOCUM_OK);
    assert_true(slice_is(gguf_value_string(value, 1), "b"));
    assert_int_equal(gguf_meta_array(meta, ".layers", GGUF_META_INTEGERS, 4, 4, &value, NULL),
                     LOCUM_OK);
    assert_int_equal(gguf_meta_array(meta, ".doubles", GGUF_META_NUMBERS, 0, 9, &value, NULL),
                     LOCUM_OK);
    assert_int_equal(gguf_meta_array(meta, ".none", GGUF_META_NUMBERS, 0, 9, &value, NULL),
                     LOCUM_OK);
    assert_int_equal(value->count, 0);
    REFUSED(gguf_meta_array(meta, ".doubles", GGUF_META_INTEGERS, 0, 9, &value, &error),
            "0 to 9 whole numbers", "(f64)");
    REFUSED(gguf_meta_array(meta, ".layers", GGUF_META_STRINGS, 4, 4, &value, &error),
            "an array of 4 strings");
    REFUSED(gguf_meta_array(meta, ".words", GGUF_META_STRINGS, 3, 1000, &value, &error),
            "3 to 1,000 strings", "an array of 2");
    REFUSED(gguf_meta_array(meta, ".f32", GGUF_META_NUMBERS, 0, 9, &value, &error), "the f32 1.5");
    REFUSED(gguf_meta_array(meta, ".absent", GGUF_META_NUMBERS, 0, 9, &value, &error), "missing");
}

static void test_architecture(void **state) {
    (void)state;
    assert_string_equal(meta->architecture, "tiny");
    assert_non_null(gguf_meta_find(meta, "general.architecture"));
    assert_null(gguf_meta_find(meta, ".architecture"));
    // None at all: a vocabulary or an adapter may be like that, and '.' keys are simply absent.
    struct buffer none = {0};
    struct gguf_file *plain;
    raw_start(&none, 3, 0, 1);
    raw_key_u32(&none, ".block_count", 3);
    assert_int_equal(gguf_file_open_bytes(buffer_slice(&none), "x", &plain, NULL), LOCUM_OK);
    assert_string_equal(gguf_file_meta(plain)->architecture, "");
    assert_null(gguf_meta_find(gguf_file_meta(plain), ".layers"));
    gguf_file_close(plain);
    buffer_release(&none);
    // One that leaves no room for a key: the cut form is not looked up.
    char name[301];
    memset(name, 'n', 300);
    name[300] = '\0';
    raw_start(&none, 3, 0, 3);
    raw_key_text(&none, "general.architecture", name);
    raw_key_u32(&none, name, 1);
    raw_key_u32(&none, name + 45, 2); // 255 letters
    assert_int_equal(gguf_file_open_bytes(buffer_slice(&none), "x", &plain, NULL), LOCUM_OK);
    assert_null(gguf_meta_find(gguf_file_meta(plain), ".layers"));
    assert_non_null(gguf_meta_find(gguf_file_meta(plain), name));
    gguf_file_close(plain);
    buffer_release(&none);
    raw_start(&none, 3, 0, 1);
    raw_key_u32(&none, "general.architecture", 7);
    expect_refused(buffer_slice(&none), LOCUM_E_FORMAT, "'general.architecture' must be a string",
                   "the u32 7", NULL);
    buffer_release(&none);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_scalars, open_model, close_model),
        cmocka_unit_test_setup_teardown(test_scalars_refused, open_model, close_model),
        cmocka_unit_test_setup_teardown(test_defaults, open_model, close_model),
        cmocka_unit_test_setup_teardown(test_each, open_model, close_model),
        cmocka_unit_test_setup_teardown(test_arrays, open_model, close_model),
        cmocka_unit_test_setup_teardown(test_architecture, open_model, close_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
