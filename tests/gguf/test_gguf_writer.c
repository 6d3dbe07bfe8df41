// SPDX-License-Identifier: Apache-2.0
#include "gguf/gguf_writer.h"

#include <string.h>

#include "base/half.h"
#include "platform/file_write.h"
#include "tests/gguf/fixture.h"
#include "tests/platform/scratch.h"

// The bytes as the format's text describes them, written down by hand.
static void test_bytes(void **state) {
    (void)state;
    struct buffer expected = {0}, got = {0};
    raw_start(&expected, 3, 2, 4);
    raw_key_u32(&expected, "general.alignment", 64);
    raw_key_text(&expected, "a", "b");
    raw_text(&expected, "f");
    raw_u32(&expected, GGUF_F32);
    raw_u32(&expected, half_to_bits(0.5f));
    raw_text(&expected, "words");
    raw_u32(&expected, GGUF_ARRAY);
    raw_u32(&expected, GGUF_STRING);
    raw_u64(&expected, 2);
    raw_text(&expected, "x");
    raw_text(&expected, "");
    raw_tensor(&expected, "t", 1, (const uint64_t[]){3}, DTYPE_I8, 0);
    raw_tensor(&expected, "u", 2, (const uint64_t[]){32, 2}, DTYPE_Q4_0, 64);
    raw_pad(&expected, 64);
    buffer_append(&expected, "123", 3);
    raw_pad(&expected, 64);
    buffer_append(&expected, "abcdefghijklmnopqrstuvwxyz0123456789", 36);
    raw_pad(&expected, 64);

    struct gguf_writer *writer = gguf_writer_create(64);
    gguf_writer_add_text(writer, "a", "b");
    gguf_writer_add_f32(writer, "f", 0.5f);
    gguf_writer_add_strings(writer, "words",
                            (const struct slice[]){slice_text("x"), slice_text("")}, 2);
    gguf_writer_add_tensor(writer, "t", DTYPE_I8, 1, (const uint64_t[]){3});
    gguf_writer_add_tensor(writer, "u", DTYPE_Q4_0, 2, (const uint64_t[]){32, 2});
    assert_int_equal(gguf_writer_begin(writer, gguf_writer_to_buffer(&got), NULL), LOCUM_OK);
    assert_int_equal(gguf_writer_data(writer, "123", 3, NULL), LOCUM_OK);
    assert_int_equal(gguf_writer_data(writer, "abcdefghij", 10, NULL), LOCUM_OK); // in pieces
    assert_int_equal(gguf_writer_data(writer, "", 0, NULL), LOCUM_OK);
    assert_int_equal(gguf_writer_data(writer, "klmnopqrstuvwxyz0123456789", 26, NULL), LOCUM_OK);
    assert_int_equal(gguf_writer_end(writer, NULL), LOCUM_OK);
    gguf_writer_close(writer);
    assert_int_equal(got.size, expected.size);
    assert_memory_equal(got.data, expected.data, got.size);
    buffer_release(&got);
    buffer_release(&expected);
}

// Copying every value and tensor of a file gives the same file.
static void test_round_trip(void **state) {
    (void)state;
    struct buffer bytes = fixture_model(), copy = {0};
    struct gguf_file *file;
    assert_int_equal(open_exactly(buffer_slice(&bytes), &file, NULL), LOCUM_OK);
    struct gguf_writer *writer = gguf_writer_create(0);
    const struct gguf_meta *meta = gguf_file_meta(file);
    for (uint64_t i = 0; i < meta->count; i++)
        gguf_writer_add_value(writer, meta->pairs[i].key, &meta->pairs[i].value);
    for (uint64_t i = 0; i < gguf_file_tensor_count(file); i++) {
        const struct gguf_tensor *tensor = gguf_file_tensor(file, i);
        gguf_writer_add_tensor(writer, tensor->name, tensor->type, tensor->dims, tensor->shape);
    }
    assert_int_equal(gguf_writer_begin(writer, gguf_writer_to_buffer(&copy), NULL), LOCUM_OK);
    for (uint64_t i = 0; i < gguf_file_tensor_count(file); i++) {
        const struct gguf_tensor *tensor = gguf_file_tensor(file, i);
        assert_int_equal(
            gguf_writer_data(writer, bytes.data + tensor->offset, (size_t)tensor->bytes, NULL),
            LOCUM_OK);
    }
    assert_int_equal(gguf_writer_end(writer, NULL), LOCUM_OK);
    gguf_writer_close(writer);
    assert_int_equal(copy.size, bytes.size);
    assert_memory_equal(copy.data, bytes.data, bytes.size);
    gguf_file_close(file);
    buffer_release(&bytes);
    buffer_release(&copy);
}

static void test_refused(void **state) {
    (void)state;
    static const struct {
        const char *name;
        uint32_t type, dims;
        uint64_t shape[4];
    } rows[] = {
        {"", DTYPE_F32, 1, {1}},
        {"sixty-four letters are one more than a name of a tensor may have", DTYPE_F32, 1, {1}},
        {"t", 200, 1, {1}},
        {"t", DTYPE_F32, 5, {1, 1, 1, 1}},
        {"t", DTYPE_F32, 2, {4, 0}},
        {"t", DTYPE_Q8_0, 1, {31}},
        {"t", DTYPE_F32, 2, {UINT64_C(1) << 32, UINT64_C(1) << 32}},
        {"t", DTYPE_I8, 1, {UINT64_MAX}}, // its padding wraps
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct buffer out = {0};
        locum_error error = {0};
        struct gguf_writer *writer = gguf_writer_create(0);
        gguf_writer_add_tensor(writer, rows[i].name, rows[i].type, rows[i].dims, rows[i].shape);
        gguf_writer_add_u32(writer, "later", 1);
        assert_int_equal(gguf_writer_begin(writer, gguf_writer_to_buffer(&out), &error),
                         LOCUM_E_ARGUMENT);
        expect_words(&error, (const char *[]){"tensor '", rows[i].name, NULL});
        assert_int_equal(out.size, 0);
        gguf_writer_close(writer);
    }
}

static struct gguf_writer *begun(struct buffer *out) {
    struct gguf_writer *writer = gguf_writer_create(0);
    gguf_writer_add_tensor(writer, "t", DTYPE_F32, 1, (const uint64_t[]){2});
    assert_int_equal(gguf_writer_begin(writer, gguf_writer_to_buffer(out), NULL), LOCUM_OK);
    return writer;
}

static void test_wrong_amount_of_data(void **state) {
    (void)state;
    struct buffer out = {0};
    locum_error error = {0};
    struct gguf_writer *writer = begun(&out);
    assert_int_equal(gguf_writer_data(writer, "123456789", 9, &error), LOCUM_E_ARGUMENT);
    expect_words(&error, (const char *[]){"tensor 1", "more bytes", NULL});
    error = (locum_error){0};
    assert_int_equal(gguf_writer_end(writer, &error), LOCUM_E_ARGUMENT); // sticky
    expect_words(&error, (const char *[]){"more bytes", NULL});
    gguf_writer_close(writer);
    buffer_release(&out);
    writer = begun(&out);
    assert_int_equal(gguf_writer_data(writer, "1234567", 7, &error), LOCUM_OK);
    assert_int_equal(gguf_writer_end(writer, &error), LOCUM_E_ARGUMENT);
    expect_words(&error, (const char *[]){"tensor 1 of 1 lacks 1 bytes", NULL});
    gguf_writer_close(writer);
    buffer_release(&out);
}

static locum_status full_sink(void *user, const void *bytes, size_t size, locum_error *error) {
    (void)bytes;
    size_t *room = user;
    if (size > *room) return status_fail(error, LOCUM_E_IO, "the disk is full");
    *room -= size;
    return LOCUM_OK;
}

// A sink that ends anywhere: the error arrives, nothing else happens.
static void test_full_sink(void **state) {
    (void)state;
    locum_status status = LOCUM_E_IO;
    size_t left = 1;
    for (size_t start = 0; status != LOCUM_OK; start++) {
        size_t room = start;
        locum_error error = {0};
        struct gguf_writer *writer = gguf_writer_create(0);
        gguf_writer_add_text(writer, "a", "b");
        gguf_writer_add_tensor(writer, "t", DTYPE_F32, 1, (const uint64_t[]){2});
        gguf_writer_begin(writer, (struct gguf_sink){full_sink, &room}, NULL);
        gguf_writer_data(writer, "12345678", 8, NULL);
        status = gguf_writer_end(writer, &error);
        if (status != LOCUM_OK) assert_string_equal(error.text, "the disk is full");
        gguf_writer_close(writer);
        assert_true(start < 1000);
        left = room;
    }
    assert_int_equal(left, 0); // it succeeded as soon as there was room for the file
}

static void test_to_file(void **state) {
    (void)state;
    const char *path = scratch_path("written.gguf");
    struct file_write *target;
    assert_int_equal(file_write_open(path, &target, NULL), LOCUM_OK);
    struct gguf_writer *writer = gguf_writer_create(0);
    gguf_writer_add_text(writer, "general.architecture", "tiny");
    gguf_writer_add_tensor(writer, "t", DTYPE_F32, 1, (const uint64_t[]){2});
    assert_int_equal(gguf_writer_begin(writer, gguf_writer_to_file(target), NULL), LOCUM_OK);
    assert_int_equal(gguf_writer_data(writer, "12345678", 8, NULL), LOCUM_OK);
    assert_int_equal(gguf_writer_end(writer, NULL), LOCUM_OK);
    gguf_writer_close(writer);
    assert_int_equal(file_write_commit(target, NULL), LOCUM_OK);
    struct gguf_file *file;
    assert_int_equal(gguf_file_open(path, &file, NULL), LOCUM_OK);
    assert_int_equal(gguf_file_find(file, "t")->bytes, 8);
    gguf_file_close(file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes),     cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_refused),   cmocka_unit_test(test_wrong_amount_of_data),
        cmocka_unit_test(test_full_sink), cmocka_unit_test(test_to_file),
    };
    return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
