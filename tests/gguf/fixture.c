// SPDX-License-Identifier: Apache-2.0
#include "tests/gguf/fixture.h"

#include <stdlib.h>
#include <string.h>

#include "gguf/gguf_bytes.h"

void raw_u32(struct buffer *out, uint32_t value) {
    char packed[4];
    gguf_bytes_put(packed, 4, value);
    buffer_append(out, packed, 4);
}

void raw_u64(struct buffer *out, uint64_t value) {
    char packed[8];
    gguf_bytes_put(packed, 8, value);
    buffer_append(out, packed, 8);
}

void raw_text(struct buffer *out, const char *text) {
    raw_u64(out, strlen(text));
    buffer_append_text(out, text);
}

void raw_start(struct buffer *out, uint32_t version, uint64_t tensors, uint64_t keys) {
    buffer_append_text(out, "GGUF");
    raw_u32(out, version);
    raw_u64(out, tensors);
    raw_u64(out, keys);
}

void raw_key_u32(struct buffer *out, const char *key, uint32_t value) {
    raw_text(out, key);
    raw_u32(out, GGUF_U32);
    raw_u32(out, value);
}

void raw_key_text(struct buffer *out, const char *key, const char *value) {
    raw_text(out, key);
    raw_u32(out, GGUF_STRING);
    raw_text(out, value);
}

void raw_tensor(struct buffer *out, const char *name, uint32_t dims, const uint64_t shape[],
                uint32_t type, uint64_t offset) {
    raw_text(out, name);
    raw_u32(out, dims);
    for (uint32_t i = 0; i < dims; i++)
        raw_u64(out, shape[i]);
    raw_u32(out, type);
    raw_u64(out, offset);
}

void raw_zeros(struct buffer *out, size_t count) {
    for (size_t i = 0; i < count; i++)
        buffer_append_byte(out, 0);
}

void raw_pad(struct buffer *out, size_t unit) {
    raw_zeros(out, (0 - out->size) & (unit - 1));
}

locum_status open_exactly(struct slice bytes, struct gguf_file **out, locum_error *error) {
    static char *kept; // until the next call: the file borrows it
    free(kept);
    kept = malloc(bytes.size ? bytes.size : 1);
    assert_non_null(kept);
    if (bytes.size > 0) memcpy(kept, bytes.data, bytes.size);
    return gguf_file_open_bytes(slice_make(kept, bytes.size), "model.gguf", out, error);
}

void expect_words(const locum_error *error, const char *const *words) {
    for (; *words != NULL; words++) {
        if (strstr(error->text, *words) == NULL)
            fail_msg("\"%s\" is not in \"%s\"", *words, error->text);
    }
}

enum { WORDS_MAX = 8 };

static void collect(const char *words[WORDS_MAX], va_list arguments) {
    size_t count = 0;
    do {
        assert_true(count < WORDS_MAX);
        words[count] = va_arg(arguments, const char *);
    } while (words[count++] != NULL);
}

void expect_refused(struct slice bytes, locum_status status, ...) {
    const char *words[WORDS_MAX];
    va_list arguments;
    va_start(arguments, status);
    collect(words, arguments);
    va_end(arguments);
    struct gguf_file *file;
    locum_error error = {0};
    locum_status got = open_exactly(bytes, &file, &error);
    assert_null(file);
    if (got != status) fail_msg("status %d, expected %d: %s", got, status, error.text);
    assert_int_equal(error.status, status);
    assert_int_equal(strncmp(error.text, "model.gguf: ", 12), 0);
    expect_words(&error, words);
}

void expect_refused_path(const char *path, locum_status status, ...) {
    const char *words[WORDS_MAX];
    va_list arguments;
    va_start(arguments, status);
    collect(words, arguments);
    va_end(arguments);
    struct gguf_file *file;
    locum_error error = {0};
    locum_status got = gguf_file_open(path, &file, &error);
    assert_null(file);
    if (got != status) fail_msg("status %d, expected %d: %s", got, status, error.text);
    expect_words(&error, words);
}

struct buffer fixture_model(void) {
    struct gguf_writer *writer = gguf_writer_create(0);
    assert_non_null(writer);
    struct slice tokens[40];
    for (int i = 0; i < 40; i++)
        tokens[i] = slice_make("abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz", (size_t)i);
    char packed[12];
    for (int i = 0; i < 3; i++)
        gguf_bytes_put(packed + 4 * i, 4, (uint64_t)(int64_t)(i - 1));
    struct gguf_value numbers = {
        .element = GGUF_I32, .is_array = true, .count = 3, .bytes = {packed, 12}};
    gguf_writer_add_text(writer, "general.architecture", "tiny");
    gguf_writer_add_u16(writer, "tiny.u16", 65535);
    gguf_writer_add_u32(writer, "tiny.u32", 4000000000u);
    gguf_writer_add_i32(writer, "tiny.i32", -7);
    gguf_writer_add_u64(writer, "tiny.u64", UINT64_MAX);
    gguf_writer_add_f32(writer, "tiny.f32", 0.1f);
    gguf_writer_add_bool(writer, "tiny.bool", true);
    gguf_writer_add_text(writer, "tiny.text", "two\nlines");
    gguf_writer_add_strings(writer, "tiny.tokens", tokens, 40);
    gguf_writer_add_value(writer, "tiny.numbers", &numbers);
    gguf_writer_add_tensor(writer, "a.weight", DTYPE_F32, 2, (const uint64_t[]){3, 2});
    gguf_writer_add_tensor(writer, "b.weight", DTYPE_Q8_0, 3, (const uint64_t[]){32, 2, 2});
    struct buffer out = {0};
    static const char data[136] = {1, 2, 3};
    assert_int_equal(gguf_writer_begin(writer, gguf_writer_to_buffer(&out), NULL), LOCUM_OK);
    assert_int_equal(gguf_writer_data(writer, data, 24, NULL), LOCUM_OK);
    assert_int_equal(gguf_writer_data(writer, data, 100, NULL), LOCUM_OK);
    assert_int_equal(gguf_writer_data(writer, data, 36, NULL), LOCUM_OK);
    assert_int_equal(gguf_writer_end(writer, NULL), LOCUM_OK);
    gguf_writer_close(writer);
    return out;
}
