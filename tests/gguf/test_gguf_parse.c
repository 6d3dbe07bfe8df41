// SPDX-License-Identifier: Apache-2.0
#include "gguf/gguf_parse.h"

#include <string.h>

#include "tests/gguf/fixture.h"

struct row {
    const char *name;
    uint32_t dims;
    uint64_t shape[4];
    uint32_t type;
    uint64_t offset;
};

// A file of these tensors and `data` bytes behind its header.
static struct buffer file_of(const struct row *rows, size_t count, size_t data) {
    struct buffer out = {0};
    raw_start(&out, 3, count, 0);
    for (size_t i = 0; i < count; i++)
        raw_tensor(&out, rows[i].name, rows[i].dims, rows[i].shape, rows[i].type, rows[i].offset);
    raw_pad(&out, 32);
    raw_zeros(&out, data);
    return out;
}

static void refuse(const struct row *rows, size_t count, size_t data, const char *word_a,
                   const char *word_b) {
    struct buffer bytes = file_of(rows, count, data);
    expect_refused(buffer_slice(&bytes), LOCUM_E_FORMAT, word_a, word_b, NULL);
    buffer_release(&bytes);
}

static void accept(const struct row *rows, size_t count, size_t data, struct gguf_file **file) {
    struct buffer bytes = file_of(rows, count, data);
    locum_error error = {0};
    if (open_exactly(buffer_slice(&bytes), file, &error) != LOCUM_OK) fail_msg("%s", error.text);
    buffer_release(&bytes);
}

static void test_tables(void **state) {
    (void)state;
    static const struct row rows[] = {
        {"scalar", 0, {0}, DTYPE_F32, 0},
        {"vector", 1, {8}, DTYPE_F16, 32},
        {"experts", 3, {256, 2, 3}, DTYPE_Q4_K, 64},
        {"whole", 4, {4, 3, 2, 2}, DTYPE_I8, 64 + 864},
    };
    struct gguf_file *file;
    accept(rows, 4, 64 + 864 + 48, &file);
    assert_int_equal(gguf_file_tensor_count(file), 4);
    const struct gguf_tensor *scalar = gguf_file_find(file, "scalar");
    assert_int_equal(scalar->dims, 0);
    assert_int_equal(scalar->elements, 1);
    assert_int_equal(scalar->bytes, 4);
    assert_int_equal(scalar->offset % 32, 0);
    const struct gguf_tensor *experts = gguf_file_find(file, "experts");
    assert_int_equal(experts->type, DTYPE_Q4_K);
    assert_int_equal(experts->elements, 1536);
    assert_int_equal(experts->bytes, 6 * 144);
    assert_int_equal(experts->offset, scalar->offset + 64);
    assert_int_equal(experts->shape[2], 3);
    assert_int_equal(experts->shape[3], 1);
    const struct gguf_tensor *last = gguf_file_tensor(file, 3);
    assert_string_equal(last->name, "whole");
    assert_int_equal(last->bytes, 48);
    assert_int_equal(last->offset + last->bytes, gguf_file_shard(file, 0)->size);
    assert_null(gguf_file_find(file, "absent"));
    gguf_file_close(file);
}

static void test_dimensions(void **state) {
    (void)state;
    static const struct {
        struct row row;
        const char *word;
    } rows[] = {
        {{"w", 2, {4, 0}, DTYPE_F32, 0}, "dimension 1 is 0"},
        {{"w", 1, {0}, DTYPE_F32, 0}, "dimension 0 is 0"},
        {{"w", 2, {0, 0}, 200, 0}, "dimension 0 is 0"}, // also of an unknown type
        {{"w", 4, {UINT64_C(1) << 63, 2, 1, 1}, DTYPE_I8, 0}, "more than 2^63"},
        {{"w", 1, {UINT64_C(1) << 63}, DTYPE_I8, 0}, "more than 2^63"},
        {{"w", 2, {UINT64_C(1) << 32, UINT64_C(1) << 32}, DTYPE_I8, 0}, "more than 2^63"},
        {{"w", 2, {UINT64_C(1) << 31, UINT64_C(1) << 31}, DTYPE_F32, 0}, "64 bits"},
        {{"w", 1, {INT64_MAX}, DTYPE_F64, 0}, "64 bits"},
        {{"w", 2, {33, 2}, DTYPE_Q8_0, 0}, "no multiple of the block of 32 that its type Q8_0"},
        {{"w", 1, {128}, DTYPE_Q4_K, 0}, "no multiple of the block of 256"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        refuse(&rows[i].row, 1, 1024, "tensor 'w'", rows[i].word);
}

static void test_offsets(void **state) {
    (void)state;
    // "w" has 64 bytes; the data of this file begins at byte 96.
    static const struct {
        uint64_t offset;
        const char *word;
    } rows[] = {
        {33, "33 is no multiple of the alignment 32"},
        {UINT64_MAX - 31, "does not fit into 64 bits"},
        {UINT64_MAX - 31 - 96, "does not fit into 64 bits"},
        {UINT64_C(1) << 40, "the file is incomplete"},
        {128, "needs bytes 224..287 but the file ends at 287"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct row row = {"w", 2, {8, 2}, DTYPE_F32, rows[i].offset};
        refuse(&row, 1, 191, "tensor 'w'", rows[i].word);
    }
    struct row fits = {"w", 2, {8, 2}, DTYPE_F32, 128};
    struct gguf_file *file;
    accept(&fits, 1, 192, &file);
    assert_int_equal(gguf_file_tensor(file, 0)->offset, 224);
    gguf_file_close(file);
}

// A sound file, cut: before the data and one byte before its end.
static void test_cut_data(void **state) {
    (void)state;
    struct buffer bytes = fixture_model();
    struct gguf_file *file;
    assert_int_equal(open_exactly(buffer_slice(&bytes), &file, NULL), LOCUM_OK);
    size_t first = (size_t)gguf_file_tensor(file, 0)->offset;
    size_t end = (size_t)(gguf_file_tensor(file, 1)->offset + gguf_file_tensor(file, 1)->bytes);
    gguf_file_close(file);
    expect_refused(slice_make(bytes.data, first), LOCUM_E_FORMAT, "tensor 'a.weight'", "incomplete",
                   NULL);
    expect_refused(slice_make(bytes.data, end - 1), LOCUM_E_FORMAT, "tensor 'b.weight'",
                   "incomplete", NULL);
    // The padding of the last tensor may be missing.
    assert_int_equal(open_exactly(slice_make(bytes.data, end), &file, NULL), LOCUM_OK);
    gguf_file_close(file);
    buffer_release(&bytes);
}

static void test_overlaps(void **state) {
    (void)state;
    // Each tensor has 64 bytes.
    struct row rows[] = {
        {"first", 1, {16}, DTYPE_F32, 128},
        {"second", 1, {16}, DTYPE_F32, 0},
        {"third", 1, {16}, DTYPE_F32, 64},
    };
    struct gguf_file *file;
    accept(rows, 3, 192, &file); // any order in the table
    gguf_file_close(file);
    rows[0].offset = 512;
    accept(rows, 3, 1024, &file); // gaps, and bytes behind the last one
    gguf_file_close(file);
    rows[0].offset = 96;
    refuse(rows, 3, 1024, "'third' and 'first' overlap", "byte");
    rows[0].offset = 0;
    refuse(rows, 3, 1024, "'first' and 'second' overlap", "byte");
}

static void test_unknown_types(void **state) {
    (void)state;
    static const uint32_t ids[] = {200, 4, 5, 31, 36, 63, 64, UINT32_MAX};
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        struct row rows[] = {
            {"strange", 2, {7, 3}, ids[i], 0},
            {"known", 1, {8}, DTYPE_F32, 64},
        };
        struct gguf_file *file;
        accept(rows, 2, 96, &file);
        const struct gguf_tensor *strange = gguf_file_find(file, "strange");
        assert_int_equal(strange->type, ids[i]);
        assert_int_equal(strange->bytes, 0);
        assert_int_equal(strange->elements, 21);
        gguf_file_close(file);
        rows[0].offset = 64;
        refuse(rows, 2, 96, "'strange' and 'known' overlap", "byte");
        rows[0].offset = 96; // the file ends there
        refuse(rows, 2, 96, "tensor 'strange'", "incomplete");
    }
}

static void test_names(void **state) {
    (void)state;
    static const char *const bad[] = {"a\nb", "a\x1b[2J", "a\xff", "a\xc3", "\x7f"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct row row = {bad[i], 1, {8}, DTYPE_F32, 0};
        refuse(&row, 1, 32, "tensor 1", "control characters or is not UTF-8");
    }
    struct row odd = {"na\xc3\xafve name", 1, {8}, DTYPE_F32, 0};
    struct gguf_file *file;
    accept(&odd, 1, 32, &file);
    assert_non_null(gguf_file_find(file, odd.name));
    gguf_file_close(file);
    struct row twice[] = {
        {"w", 1, {8}, DTYPE_F32, 0},
        {"x", 1, {8}, DTYPE_F32, 32},
        {"w", 1, {8}, DTYPE_F32, 64},
    };
    refuse(twice, 3, 96, "tensor 'w' appears twice", "tensors 1 and 3");
}

static void test_keys(void **state) {
    (void)state;
    struct buffer bytes = {0};
    raw_start(&bytes, 3, 0, 3);
    raw_key_u32(&bytes, "llama.block_count", 2);
    raw_key_u32(&bytes, "llama.context_length", 2);
    raw_key_u32(&bytes, "llama.block_count", 2);
    expect_refused(buffer_slice(&bytes), LOCUM_E_FORMAT, "key 'llama.block_count' appears twice",
                   "entries 1 and 3", NULL);
    buffer_release(&bytes);
    static const char *const bad[] = {"a b", "a\nb", "k\xc3\xa9y", "a\x7f"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        raw_start(&bytes, 3, 0, 1);
        raw_key_u32(&bytes, bad[i], 2);
        expect_refused(buffer_slice(&bytes), LOCUM_E_FORMAT, "metadata entry 1", "printable ASCII",
                       NULL);
        buffer_release(&bytes);
    }
}

static locum_status open_aligned(uint32_t type, uint64_t bits, size_t data, struct gguf_file **file,
                                 locum_error *error) {
    struct buffer bytes = {0};
    raw_start(&bytes, 3, 1, 1);
    raw_text(&bytes, "general.alignment");
    raw_u32(&bytes, type);
    if (type == GGUF_U64)
        raw_u64(&bytes, bits);
    else
        raw_u32(&bytes, (uint32_t)bits);
    raw_tensor(&bytes, "w", 1, (const uint64_t[]){8}, DTYPE_F32, 0);
    raw_pad(&bytes, 64);
    raw_zeros(&bytes, data);
    locum_status status = open_exactly(buffer_slice(&bytes), file, error);
    buffer_release(&bytes);
    return status;
}

static void test_alignment(void **state) {
    (void)state;
    struct gguf_file *file;
    locum_error error = {0};
    static const uint64_t bad[] = {
        0, 3, 48, UINT64_C(1) << 21, UINT64_C(1) << 31, UINT64_C(1) << 32};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(open_aligned(GGUF_U64, bad[i], 64, &file, &error), LOCUM_E_FORMAT);
        expect_words(&error, (const char *[]){"'general.alignment'", "power of two", NULL});
    }
    assert_int_equal(open_aligned(GGUF_F32, 0x42000000, 64, &file, &error), LOCUM_E_FORMAT);
    expect_words(&error, (const char *[]){"'general.alignment'", "but it is 32", NULL});
    assert_int_equal(open_aligned(GGUF_U32, 64, 32, &file, &error), LOCUM_OK);
    assert_int_equal(gguf_file_shard(file, 0)->alignment, 64);
    assert_int_equal(gguf_file_tensor(file, 0)->offset, 128);
    gguf_file_close(file);
    assert_int_equal(open_aligned(GGUF_I32, 1, 96, &file, &error), LOCUM_OK);
    gguf_file_close(file);
    // Data would begin far behind the end.
    assert_int_equal(open_aligned(GGUF_U32, 1 << 20, 32, &file, &error), LOCUM_E_FORMAT);
    expect_words(&error, (const char *[]){"tensor 'w' needs bytes 1,048,576..", NULL});
}

// Whatever the arena's limit, the result is the tables or a clean error.
static void test_every_lack_of_memory(void **state) {
    (void)state;
    struct buffer bytes = fixture_model();
    struct gguf_scan scan;
    gguf_scan_begin(&scan, "model.gguf", bytes.size);
    assert_int_equal(gguf_scan_feed(&scan, buffer_slice(&bytes), NULL), GGUF_SCAN_DONE);
    locum_status status = LOCUM_E_OUT_OF_MEMORY;
    size_t limit;
    for (limit = 1; status != LOCUM_OK; limit += 16) {
        struct arena arena;
        struct gguf_header header;
        locum_error error = {0};
        arena_init(&arena, limit);
        status = gguf_parse(&scan, buffer_slice(&bytes), &arena, &header, &error);
        assert_true(status == LOCUM_OK || status == LOCUM_E_OUT_OF_MEMORY);
        assert_int_equal(error.status, status);
        arena_release(&arena);
        assert_true(limit < 1 << 20);
    }
    assert_true(limit > 1000); // it did fail before
    buffer_release(&bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables),    cmocka_unit_test(test_dimensions),
        cmocka_unit_test(test_offsets),   cmocka_unit_test(test_cut_data),
        cmocka_unit_test(test_overlaps),  cmocka_unit_test(test_unknown_types),
        cmocka_unit_test(test_names),     cmocka_unit_test(test_keys),
        cmocka_unit_test(test_alignment), cmocka_unit_test(test_every_lack_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
