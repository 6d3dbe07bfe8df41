// SPDX-License-Identifier: Apache-2.0
//
// Keys and tensor records collect in two buffers, in the form in which the file has them; begin
// puts the counts before them. Offsets follow from the sizes as tensors are added, so data can be
// streamed without holding any of it.
#include "gguf/gguf_writer.h"

#include "base/arena.h"
#include "base/check.h"
#include "base/checked.h"
#include "base/dtype.h"
#include "base/half.h"
#include "base/limits.h"
#include "gguf/gguf_bytes.h"
#include "gguf/gguf_text.h"

enum { ALIGNMENT_DEFAULT = 32, VERSION = 3 };

enum writer_phase { PHASE_HEADER, PHASE_DATA, PHASE_ENDED };

struct gguf_writer {
    enum writer_phase phase;
    uint32_t alignment;
    struct buffer keys, tensors; // records as in the file
    uint64_t key_count, tensor_count;
    uint64_t *tensor_bytes; // heap, [tensor_count]
    uint64_t data_size;     // of all tensors so far, padding included
    struct gguf_sink sink;
    uint64_t current, left; // tensor that is being written and its missing bytes
    locum_status status;    // the first failure; error holds its text
    locum_error error;
};

#define WRITER_FAIL(writer, code, ...) \
    ((writer)->status != LOCUM_OK      \
         ? (writer)->status            \
         : ((writer)->status = status_fail(&(writer)->error, LOCUM_E_##code, __VA_ARGS__)))

// What begin, data and end give back: the first failure with its text.
static locum_status writer_result(const struct gguf_writer *writer, locum_error *error) {
    if (writer->status != LOCUM_OK && error != NULL) *error = writer->error;
    return writer->status;
}

static locum_status sink_buffer(void *user, const void *bytes, size_t size, locum_error *error) {
    if (buffer_append(user, bytes, size)) return LOCUM_OK;
    return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for a GGUF file");
}

struct gguf_sink gguf_writer_to_buffer(struct buffer *buffer) {
    return (struct gguf_sink){sink_buffer, buffer};
}

static locum_status sink_file(void *user, const void *bytes, size_t size, locum_error *error) {
    return file_write_bytes(user, bytes, size, error);
}

struct gguf_sink gguf_writer_to_file(struct file_write *file) {
    return (struct gguf_sink){sink_file, file};
}

struct gguf_writer *gguf_writer_create(uint32_t alignment) {
    if (alignment == 0) alignment = ALIGNMENT_DEFAULT;
    LOCUM_ASSERT((alignment & (alignment - 1)) == 0 && alignment <= LIMIT_GGUF_ALIGNMENT);
    struct gguf_writer *writer = heap_resize(NULL, sizeof *writer);
    if (writer == NULL) return NULL;
    *writer = (struct gguf_writer){.alignment = alignment};
    if (alignment != ALIGNMENT_DEFAULT) gguf_writer_add_u32(writer, "general.alignment", alignment);
    return writer;
}

void gguf_writer_close(struct gguf_writer *writer) {
    if (writer == NULL) return;
    buffer_release(&writer->keys);
    buffer_release(&writer->tensors);
    heap_free(writer->tensor_bytes);
    heap_free(writer);
}

// --- Records ------------------------------------------------------------------------------------

static void put_integer(struct buffer *buffer, uint32_t bytes, uint64_t value) {
    char packed[8];
    gguf_bytes_put(packed, bytes, value);
    buffer_append(buffer, packed, bytes);
}

static void put_string(struct buffer *buffer, struct slice text) {
    put_integer(buffer, 8, text.size);
    buffer_append(buffer, text.data, text.size);
}

// The start of a metadata record. A duplicate is not looked for: reading the file finds it.
static void writer_key(struct gguf_writer *writer, const char *key) {
    LOCUM_ASSERT(writer->phase == PHASE_HEADER);
    struct slice text = slice_text(key);
    if (text.size == 0 || text.size > LIMIT_GGUF_KEY)
        WRITER_FAIL(writer, ARGUMENT, "a key of %zu bytes cannot be written", text.size);
    if (writer->key_count == LIMIT_GGUF_KEYS)
        WRITER_FAIL(writer, ARGUMENT, "key '%s': more than %d keys", key, LIMIT_GGUF_KEYS);
    put_string(&writer->keys, text);
    writer->key_count++;
}

static void writer_number(struct gguf_writer *writer, const char *key, enum gguf_type type,
                          uint64_t bits) {
    writer_key(writer, key);
    put_integer(&writer->keys, 4, type);
    put_integer(&writer->keys, gguf_value_type_bytes(type), bits);
}

void gguf_writer_add_u16(struct gguf_writer *writer, const char *key, uint16_t value) {
    writer_number(writer, key, GGUF_U16, value);
}

void gguf_writer_add_u32(struct gguf_writer *writer, const char *key, uint32_t value) {
    writer_number(writer, key, GGUF_U32, value);
}

void gguf_writer_add_i32(struct gguf_writer *writer, const char *key, int32_t value) {
    writer_number(writer, key, GGUF_I32, (uint32_t)value);
}

void gguf_writer_add_u64(struct gguf_writer *writer, const char *key, uint64_t value) {
    writer_number(writer, key, GGUF_U64, value);
}

void gguf_writer_add_f32(struct gguf_writer *writer, const char *key, float value) {
    writer_number(writer, key, GGUF_F32, half_to_bits(value));
}

void gguf_writer_add_bool(struct gguf_writer *writer, const char *key, bool value) {
    writer_number(writer, key, GGUF_BOOL, value);
}

void gguf_writer_add_text(struct gguf_writer *writer, const char *key, const char *text) {
    writer_key(writer, key);
    put_integer(&writer->keys, 4, GGUF_STRING);
    put_string(&writer->keys, slice_text(text));
}

void gguf_writer_add_value(struct gguf_writer *writer, const char *key,
                           const struct gguf_value *value) {
    bool plain_string = value->element == GGUF_STRING && !value->is_array;
    writer_key(writer, key);
    if (value->is_array) {
        put_integer(&writer->keys, 4, GGUF_ARRAY);
        put_integer(&writer->keys, 4, value->element);
        put_integer(&writer->keys, 8, value->count);
    } else {
        put_integer(&writer->keys, 4, value->element);
    }
    if (plain_string) put_integer(&writer->keys, 8, value->bytes.size);
    buffer_append(&writer->keys, value->bytes.data, value->bytes.size);
}

void gguf_writer_add_strings(struct gguf_writer *writer, const char *key,
                             const struct slice texts[], uint64_t count) {
    writer_key(writer, key);
    put_integer(&writer->keys, 4, GGUF_ARRAY);
    put_integer(&writer->keys, 4, GGUF_STRING);
    put_integer(&writer->keys, 8, count);
    for (uint64_t i = 0; i < count; i++)
        put_string(&writer->keys, texts[i]);
}

// Bytes of a tensor; false when type, shape or size cannot be.
static bool tensor_size(uint32_t type, uint32_t dims, const uint64_t shape[], uint64_t *bytes) {
    if (dims > LIMIT_GGUF_DIMS || !dtype_row_bytes(type, dims > 0 ? shape[0] : 1, bytes))
        return false;
    for (uint32_t i = 1; i < dims; i++) {
        if (!checked_mul(*bytes, shape[i], bytes)) return false;
    }
    return *bytes > 0;
}

void gguf_writer_add_tensor(struct gguf_writer *writer, const char *name, uint32_t type,
                            uint32_t dims, const uint64_t shape[]) {
    LOCUM_ASSERT(writer->phase == PHASE_HEADER);
    struct slice text = slice_text(name);
    uint64_t bytes, next;
    bool good =
        text.size > 0 && text.size < LIMIT_GGUF_NAME && writer->tensor_count < LIMIT_GGUF_TENSORS &&
        tensor_size(type, dims, shape, &bytes) && checked_align(bytes, writer->alignment, &next) &&
        checked_add(writer->data_size, next, &next);
    if (!good) {
        WRITER_FAIL(writer, ARGUMENT,
                    "tensor '%s': its name, type, shape or size cannot be written", name);
        return;
    }
    size_t count = (size_t)writer->tensor_count + 1;
    uint64_t *grown = heap_resize(writer->tensor_bytes, count * sizeof *grown);
    if (grown == NULL) {
        WRITER_FAIL(writer, OUT_OF_MEMORY, "no memory for the table of tensors");
        return;
    }
    writer->tensor_bytes = grown;
    writer->tensor_bytes[writer->tensor_count++] = bytes;
    put_string(&writer->tensors, text);
    put_integer(&writer->tensors, 4, dims);
    for (uint32_t i = 0; i < dims; i++)
        put_integer(&writer->tensors, 8, shape[i]);
    put_integer(&writer->tensors, 4, type);
    put_integer(&writer->tensors, 8, writer->data_size);
    writer->data_size = next;
}

// --- Output -------------------------------------------------------------------------------------

static void writer_put(struct gguf_writer *writer, const void *bytes, size_t size) {
    if (writer->status != LOCUM_OK || size == 0) return;
    writer->status = writer->sink.write(writer->sink.user, bytes, size, &writer->error);
}

// Zeros up to the next multiple of the alignment, after `size` bytes.
static void writer_pad(struct gguf_writer *writer, uint64_t size) {
    static const char zeros[256];
    uint64_t missing = (0 - size) & (writer->alignment - 1);
    while (missing > 0) {
        size_t piece = missing < sizeof zeros ? (size_t)missing : sizeof zeros;
        writer_put(writer, zeros, piece);
        missing -= piece;
    }
}

locum_status gguf_writer_begin(struct gguf_writer *writer, struct gguf_sink sink,
                               locum_error *error) {
    LOCUM_ASSERT(writer->phase == PHASE_HEADER);
    writer->phase = PHASE_DATA;
    writer->sink = sink;
    if (writer->keys.failed || writer->tensors.failed)
        WRITER_FAIL(writer, OUT_OF_MEMORY, "no memory for the metadata of a GGUF file");
    char start[24] = "GGUF";
    gguf_bytes_put(start + 4, 4, VERSION);
    gguf_bytes_put(start + 8, 8, writer->tensor_count);
    gguf_bytes_put(start + 16, 8, writer->key_count);
    writer_put(writer, start, sizeof start);
    writer_put(writer, writer->keys.data, writer->keys.size);
    writer_put(writer, writer->tensors.data, writer->tensors.size);
    if (writer->tensor_count > 0) {
        writer_pad(writer, sizeof start + writer->keys.size + writer->tensors.size);
        writer->left = writer->tensor_bytes[0];
    }
    return writer_result(writer, error);
}

locum_status gguf_writer_data(struct gguf_writer *writer, const void *bytes, size_t size,
                              locum_error *error) {
    LOCUM_ASSERT(writer->phase == PHASE_DATA);
    if (size > writer->left)
        WRITER_FAIL(writer, ARGUMENT, "tensor %s gets more bytes than its shape has",
                    gguf_text_number(writer->current + 1).text);
    writer_put(writer, bytes, size);
    if (writer->status != LOCUM_OK || size == 0) return writer_result(writer, error);
    writer->left -= size;
    if (writer->left == 0) {
        writer_pad(writer, writer->tensor_bytes[writer->current]);
        writer->current++;
        if (writer->current < writer->tensor_count)
            writer->left = writer->tensor_bytes[writer->current];
    }
    return writer_result(writer, error);
}

locum_status gguf_writer_end(struct gguf_writer *writer, locum_error *error) {
    LOCUM_ASSERT(writer->phase == PHASE_DATA);
    writer->phase = PHASE_ENDED;
    if (writer->left > 0)
        WRITER_FAIL(writer, ARGUMENT, "tensor %s of %s lacks %s bytes",
                    gguf_text_number(writer->current + 1).text,
                    gguf_text_number(writer->tensor_count).text,
                    gguf_text_number(writer->left).text);
    return writer_result(writer, error);
}
