// SPDX-License-Identifier: Apache-2.0
#include "gguf/gguf_scan.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "tests/gguf/fixture.h"

// A start with one key whose value is the caller's to append.
static struct buffer one_key(const char *key, uint32_t type) {
    struct buffer out = {0};
    raw_start(&out, 3, 0, 1);
    raw_text(&out, key);
    raw_u32(&out, type);
    return out;
}

static void refuse(struct buffer *bytes, locum_status status, const char *word_a,
                   const char *word_b) {
    expect_refused(buffer_slice(bytes), status, word_a, word_b, NULL);
    buffer_release(bytes);
}

// --- Pieces of any size give the same ----------------------------------------------------------

// Feeds growing prefixes, each in a block of its exact size.
static struct gguf_scan feed(struct slice bytes, size_t step, unsigned *calls) {
    struct gguf_scan scan;
    gguf_scan_begin(&scan, "model.gguf", bytes.size);
    size_t size = 0;
    enum gguf_scan_state state;
    *calls = 0;
    do {
        char *block = malloc(size ? size : 1);
        assert_non_null(block);
        memcpy(block, bytes.data, size);
        state = gguf_scan_feed(&scan, slice_make(block, size), NULL);
        free(block);
        ++*calls;
        if (state == GGUF_SCAN_MORE) {
            assert_true(scan.need > size && scan.need <= bytes.size);
            size = step == 0 ? (size_t)scan.need : size + step;
            if (size > bytes.size) size = bytes.size;
        }
    } while (state == GGUF_SCAN_MORE);
    assert_int_equal(state, GGUF_SCAN_DONE);
    return scan;
}

static void test_any_pieces(void **state) {
    (void)state;
    struct buffer bytes = fixture_model();
    unsigned calls;
    struct gguf_scan whole = feed(buffer_slice(&bytes), bytes.size, &calls);
    assert_int_equal(calls, 2);
    assert_int_equal(whole.metadata_count, 10);
    assert_int_equal(whole.tensor_count, 2);
    assert_int_equal(whole.version, 3);
    static const size_t steps[] = {0, 1, 2, 3, 7, 64};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        struct gguf_scan scan = feed(buffer_slice(&bytes), steps[i], &calls);
        assert_int_equal(scan.header_size, whole.header_size);
        assert_int_equal(scan.metadata_count, whole.metadata_count);
        assert_int_equal(scan.tensor_count, whole.tensor_count);
        if (steps[i] == 1) assert_int_equal(calls, whole.header_size + 1); // not a byte too many
    }
    buffer_release(&bytes);
}

// Cut anywhere in the header: always an error that says so, wherever the pieces end.
static void test_every_cut(void **state) {
    (void)state;
    struct buffer bytes = fixture_model();
    unsigned calls;
    size_t header_size = (size_t)feed(buffer_slice(&bytes), bytes.size, &calls).header_size;
    for (size_t size = 0; size < header_size; size++) {
        struct slice cut = slice_make(bytes.data, size);
        expect_refused(cut, LOCUM_E_FORMAT, size < 24 ? "no GGUF file" : "incomplete", NULL);
        struct gguf_scan scan;
        locum_error error = {0};
        enum gguf_scan_state got;
        gguf_scan_begin(&scan, "model.gguf", size);
        size_t have = 0;
        while ((got = gguf_scan_feed(&scan, slice_make(bytes.data, have), &error)) ==
               GGUF_SCAN_MORE) {
            assert_true(have < size);
            have++;
        }
        assert_int_equal(got, GGUF_SCAN_ERROR);
        assert_int_equal(scan.status, LOCUM_E_FORMAT);
    }
    buffer_release(&bytes);
}

static void test_empty_model(void **state) {
    (void)state;
    struct buffer bytes = {0};
    raw_start(&bytes, 2, 0, 0);
    struct gguf_file *file;
    assert_int_equal(open_exactly(buffer_slice(&bytes), &file, NULL), LOCUM_OK);
    assert_int_equal(gguf_file_tensor_count(file), 0);
    assert_int_equal(gguf_file_shard(file, 0)->version, 2);
    gguf_file_close(file);
    buffer_release(&bytes);
}

// --- The start ---------------------------------------------------------------------------------

static void test_strangers(void **state) {
    (void)state;
    static const struct {
        const char *start, *word;
        locum_status status;
    } rows[] = {
        {"tjgg", "converted", LOCUM_E_UNSUPPORTED},
        {"<!DOCTYPE html>", "web page", LOCUM_E_UNSUPPORTED},
        {"version https://git-lfs", "Git LFS", LOCUM_E_UNSUPPORTED},
        {"PK\003\004", "ZIP", LOCUM_E_UNSUPPORTED},
        {"FUGG", "big-endian", LOCUM_E_UNSUPPORTED},
        {"\x01\x02\x7f\xff", "01 02 7f ff", LOCUM_E_FORMAT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct buffer bytes = {0};
        buffer_append_text(&bytes, rows[i].start);
        raw_zeros(&bytes, 32);
        refuse(&bytes, rows[i].status, rows[i].word, "GGUF");
    }
}

static void test_versions(void **state) {
    (void)state;
    static const struct {
        uint32_t version;
        const char *word;
    } rows[] = {
        {0, "version 0"},   {1, "version 1"},           {4, "version 4"},
        {99, "version 99"}, {0x03000000, "big-endian"}, {0x02000000, "big-endian"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct buffer bytes = {0};
        raw_start(&bytes, rows[i].version, 0, 0);
        refuse(&bytes, LOCUM_E_UNSUPPORTED, rows[i].word, "supported");
    }
}

static void test_counts(void **state) {
    (void)state;
    static const struct {
        uint64_t tensors, keys;
        const char *word;
    } rows[] = {
        {0, UINT64_C(1) << 40, "claims 1,099,511,627,776 metadata entries"},
        {UINT64_C(1) << 62, 0, "tensors"},
        {UINT64_MAX, 0, "tensors"},
        {0, UINT64_MAX, "metadata entries"},
        {0, 1000, "the file has only 24 bytes"},
        {1000, 0, "the file has only 24 bytes"},
        {1, 0, "the file has only 24 bytes"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct buffer bytes = {0};
        raw_start(&bytes, 3, rows[i].tensors, rows[i].keys);
        refuse(&bytes, LOCUM_E_FORMAT, rows[i].word, "claims");
    }
}

// --- Metadata ----------------------------------------------------------------------------------

static void test_key_lengths(void **state) {
    (void)state;
    static const struct {
        uint64_t size;
        const char *word;
    } rows[] = {
        {0, "the key is empty"},
        {65536, "the key of 65,536 bytes is longer"},
        {UINT64_MAX, "longer than the limit"},
        {(UINT64_C(1) << 63) + 8, "longer than the limit"},
        {60000, "incomplete"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct buffer bytes = {0};
        raw_start(&bytes, 3, 0, 1);
        raw_u64(&bytes, rows[i].size);
        raw_zeros(&bytes, 16);
        refuse(&bytes, LOCUM_E_FORMAT, rows[i].word, "metadata entry 1 of 1");
    }
}

static void test_value_types(void **state) {
    (void)state;
    static const uint32_t unknown[] = {13, 256, UINT32_MAX};
    for (size_t i = 0; i < 3; i++) {
        struct buffer bytes = one_key("odd.key", unknown[i]);
        raw_zeros(&bytes, 8);
        refuse(&bytes, LOCUM_E_FORMAT, "key 'odd.key'", "unknown value type");
        bytes = one_key("odd.key", GGUF_ARRAY);
        raw_u32(&bytes, unknown[i]);
        raw_u64(&bytes, 1);
        raw_zeros(&bytes, 8);
        refuse(&bytes, LOCUM_E_FORMAT, "key 'odd.key'", "array of the unknown value type");
    }
    struct buffer bytes = one_key("odd.key", GGUF_BOOL);
    buffer_append_byte(&bytes, 2);
    refuse(&bytes, LOCUM_E_FORMAT, "key 'odd.key'", "0 or 1");
}

static void test_string_lengths(void **state) {
    (void)state;
    static const struct {
        uint64_t size;
        const char *word;
    } rows[] = {
        {(UINT64_C(1) << 63) + 8, "longer than the limit"},
        {UINT64_MAX - 7, "longer than the limit"}, // wraps when it is added to a position
        {LIMIT_GGUF_STRING + 1, "longer than the limit"},
        {LIMIT_GGUF_STRING, "incomplete"},
        {9, "incomplete"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct buffer bytes = one_key("odd.key", GGUF_STRING);
        raw_u64(&bytes, rows[i].size);
        raw_zeros(&bytes, 8);
        refuse(&bytes, LOCUM_E_FORMAT, "key 'odd.key'", rows[i].word);
        bytes = one_key("odd.key", GGUF_ARRAY); // the same as the second string of an array
        raw_u32(&bytes, GGUF_STRING);
        raw_u64(&bytes, 2);
        raw_text(&bytes, "first");
        raw_u64(&bytes, rows[i].size);
        raw_zeros(&bytes, 8);
        refuse(&bytes, LOCUM_E_FORMAT, "key 'odd.key'", rows[i].word);
    }
}

static void test_array_counts(void **state) {
    (void)state;
    static const struct {
        uint32_t element;
        uint64_t count;
    } rows[] = {
        {GGUF_U64, UINT64_C(1) << 61}, // times 8 is 0
        {GGUF_U64, UINT64_MAX},           {GGUF_U8, UINT64_MAX}, {GGUF_STRING, UINT64_C(1) << 40},
        {GGUF_STRING, UINT64_C(1) << 61}, {GGUF_U16, 17},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct buffer bytes = one_key("odd.key", GGUF_ARRAY);
        raw_u32(&bytes, rows[i].element);
        raw_u64(&bytes, rows[i].count);
        raw_zeros(&bytes, 32);
        refuse(&bytes, LOCUM_E_FORMAT, "key 'odd.key'", "the file ends 32 bytes later");
    }
}

static void test_nesting(void **state) {
    (void)state;
    struct buffer bytes = one_key("odd.key", GGUF_ARRAY);
    for (int depth = 0; depth < 100000; depth++) {
        raw_u32(&bytes, GGUF_ARRAY);
        raw_u64(&bytes, 1);
    }
    refuse(&bytes, LOCUM_E_FORMAT, "key 'odd.key'", "arrays of arrays");
}

// --- Tensor records ----------------------------------------------------------------------------

static void test_tensor_records(void **state) {
    (void)state;
    static const uint64_t shape[4] = {1, 1, 1, 1};
    static const uint32_t dims[] = {5, 9, UINT32_MAX};
    for (size_t i = 0; i < 3; i++) {
        struct buffer bytes = {0};
        raw_start(&bytes, 3, 1, 0);
        raw_text(&bytes, "x");
        raw_u32(&bytes, dims[i]);
        raw_zeros(&bytes, 100);
        refuse(&bytes, LOCUM_E_FORMAT, "tensor 'x'", "dimensions");
    }
    char name[66];
    for (size_t size = 63; size <= 65; size++) {
        struct buffer bytes = {0};
        memset(name, 'n', size);
        name[size] = '\0';
        raw_start(&bytes, 3, 1, 0);
        raw_tensor(&bytes, name, 4, shape, DTYPE_F32, 0);
        raw_pad(&bytes, 32);
        raw_zeros(&bytes, 4);
        if (size >= LIMIT_GGUF_NAME) {
            refuse(&bytes, LOCUM_E_FORMAT, "the name of ", "tensor 1 of 1");
        } else {
            struct gguf_file *file;
            assert_int_equal(open_exactly(buffer_slice(&bytes), &file, NULL), LOCUM_OK);
            assert_string_equal(gguf_file_tensor(file, 0)->name, name);
            gguf_file_close(file);
            buffer_release(&bytes);
        }
    }
    struct buffer bytes = {0};
    raw_start(&bytes, 3, 1, 0);
    raw_tensor(&bytes, "", 4, shape, DTYPE_F32, 0);
    refuse(&bytes, LOCUM_E_FORMAT, "tensor 1 of 1", "the name is empty");
}

// Nothing is read or held for a header that could not be held: here a sound start, in a file that
// claims to be large.
static void test_header_limit(void **state) {
    (void)state;
    struct buffer bytes = one_key("odd.key", GGUF_ARRAY);
    raw_u32(&bytes, GGUF_U8);
    raw_u64(&bytes, UINT64_C(1) << 40);
    struct gguf_scan scan;
    locum_error error = {0};
    gguf_scan_begin(&scan, "model.gguf", UINT64_C(1) << 42);
    assert_int_equal(gguf_scan_feed(&scan, buffer_slice(&bytes), &error), GGUF_SCAN_ERROR);
    assert_int_equal(scan.status, LOCUM_E_UNSUPPORTED);
    expect_words(&error, (const char *[]){"key 'odd.key'", "larger than 512 MiB", NULL});
    buffer_release(&bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_pieces),     cmocka_unit_test(test_every_cut),
        cmocka_unit_test(test_empty_model),    cmocka_unit_test(test_strangers),
        cmocka_unit_test(test_versions),       cmocka_unit_test(test_counts),
        cmocka_unit_test(test_key_lengths),    cmocka_unit_test(test_value_types),
        cmocka_unit_test(test_string_lengths), cmocka_unit_test(test_array_counts),
        cmocka_unit_test(test_nesting),        cmocka_unit_test(test_tensor_records),
        cmocka_unit_test(test_header_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
