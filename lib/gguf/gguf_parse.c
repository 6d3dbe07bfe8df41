// SPDX-License-Identifier: Apache-2.0
#include "gguf/gguf_parse.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/checked.h"
#include "base/dtype.h"
#include "gguf/gguf_bytes.h"
#include "gguf/gguf_text.h"

enum { ALIGNMENT_DEFAULT = 32 };

// Walks records that the scan has found to be complete, so running out of bytes is our own mistake.
struct parse_reader {
    struct slice bytes;
    size_t at;
    struct arena *arena;
    const struct gguf_scan *scan;
    locum_error *error;
};

static const char *parse_take(struct parse_reader *reader, uint64_t size) {
    LOCUM_ASSERT(size <= reader->bytes.size - reader->at);
    const char *bytes = reader->bytes.data + reader->at;
    reader->at += (size_t)size;
    return bytes;
}

static uint64_t parse_integer(struct parse_reader *reader, uint32_t size) {
    return gguf_bytes_get(parse_take(reader, size), size);
}

static struct slice parse_string(struct parse_reader *reader) {
    uint64_t size = parse_integer(reader, 8);
    return slice_make(parse_take(reader, size), (size_t)size);
}

static locum_status parse_no_memory(struct parse_reader *reader) {
    return status_fail(reader->error, LOCUM_E_OUT_OF_MEMORY, "%s: no memory for its metadata",
                       reader->scan->name);
}

#define PARSE_FAIL(reader, ...)                                                               \
    status_prefix((reader)->error, status_fail((reader)->error, LOCUM_E_FORMAT, __VA_ARGS__), \
                  "%s", (reader)->scan->name)

// --- Metadata -----------------------------------------------------------------------------------

// Steps over the strings of an array and notes where every GGUF_VALUE_STRIDE-th begins.
static locum_status parse_strings(struct parse_reader *reader, struct gguf_value *value) {
    size_t start = reader->at;
    size_t marks = (size_t)((value->count + GGUF_VALUE_STRIDE - 1) / GGUF_VALUE_STRIDE);
    uint32_t *offsets = arena_array(reader->arena, marks, sizeof *offsets);
    if (offsets == NULL) return parse_no_memory(reader);
    for (uint64_t i = 0; i < value->count; i++) {
        if (i % GGUF_VALUE_STRIDE == 0)
            offsets[i / GGUF_VALUE_STRIDE] = (uint32_t)(reader->at - start);
        parse_string(reader);
    }
    value->bytes = slice_make(reader->bytes.data + start, reader->at - start);
    value->offsets = offsets;
    return LOCUM_OK;
}

static locum_status parse_value(struct parse_reader *reader, struct gguf_value *value) {
    value->element = (uint32_t)parse_integer(reader, 4);
    value->count = 1;
    value->is_array = value->element == GGUF_ARRAY;
    if (value->is_array) {
        value->element = (uint32_t)parse_integer(reader, 4);
        value->count = parse_integer(reader, 8);
    }
    if (value->element == GGUF_STRING && value->is_array) return parse_strings(reader, value);
    if (value->element == GGUF_STRING) {
        value->bytes = parse_string(reader);
        return LOCUM_OK;
    }
    uint64_t size = value->count * gguf_value_type_bytes(value->element); // fits: the scan saw it
    value->bytes = slice_make(parse_take(reader, size), (size_t)size);
    return LOCUM_OK;
}

static bool is_key(struct slice text) {
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] <= ' ' || text.data[i] > '~') return false;
    }
    return true;
}

static locum_status parse_pair(struct parse_reader *reader, uint32_t number, struct gguf_pair *pair,
                               struct gguf_index *keys) {
    struct slice key = parse_string(reader);
    if (!is_key(key))
        return PARSE_FAIL(reader,
                          "the key '%.*s' of metadata entry %" PRIu32
                          " holds other characters than printable ASCII",
                          (int)key.size, key.data, number + 1);
    int64_t before;
    STATUS_TRY(gguf_index_add(keys, key, number, &before, reader->error));
    if (before != GGUF_INDEX_NONE)
        return PARSE_FAIL(reader,
                          "key '%.*s' appears twice, as metadata entries %" PRId64 " and %" PRIu32,
                          (int)key.size, key.data, before + 1, number + 1);
    pair->key = arena_copy_text(reader->arena, key.data, key.size);
    if (pair->key == NULL) return parse_no_memory(reader);
    return parse_value(reader, &pair->value);
}

static locum_status parse_metadata(struct parse_reader *reader, struct gguf_header *out) {
    size_t count = (size_t)reader->scan->metadata_count;
    struct gguf_pair *pairs = arena_array(reader->arena, count, sizeof *pairs);
    if (pairs == NULL) return parse_no_memory(reader);
    STATUS_TRY(gguf_index_init(&out->keys, count, reader->arena, reader->error));
    for (size_t i = 0; i < count; i++)
        STATUS_TRY(parse_pair(reader, (uint32_t)i, &pairs[i], &out->keys));
    out->metadata = pairs;
    out->metadata_count = count;
    return LOCUM_OK;
}

static locum_status parse_alignment(struct parse_reader *reader, struct gguf_header *out) {
    out->alignment = ALIGNMENT_DEFAULT;
    int64_t number = gguf_index_find(&out->keys, slice_text("general.alignment"));
    if (number == GGUF_INDEX_NONE) return LOCUM_OK;
    const struct gguf_value *value = &out->metadata[number].value;
    uint64_t alignment;
    bool good = !value->is_array && gguf_value_u64(value, 0, &alignment) && alignment >= 1 &&
                alignment <= LIMIT_GGUF_ALIGNMENT && (alignment & (alignment - 1)) == 0;
    if (!good) {
        char text[64];
        gguf_value_text(value, text, sizeof text);
        return PARSE_FAIL(reader,
                          "key 'general.alignment' must be a power of two from 1 to %d, "
                          "but it is %s",
                          LIMIT_GGUF_ALIGNMENT, text);
    }
    out->alignment = (uint32_t)alignment;
    return LOCUM_OK;
}

// --- Tensors ------------------------------------------------------------------------------------

// Elements and bytes from shape and type. An unknown type has no bytes.
static locum_status parse_size(struct parse_reader *reader, struct gguf_tensor *tensor) {
    tensor->elements = 1;
    for (uint32_t i = 0; i < tensor->dims; i++) {
        if (tensor->shape[i] == 0)
            return PARSE_FAIL(reader, "tensor '%s': dimension %" PRIu32 " is 0", tensor->name, i);
        if (!checked_mul(tensor->elements, tensor->shape[i], &tensor->elements) ||
            tensor->elements > INT64_MAX)
            return PARSE_FAIL(reader,
                              "tensor '%s': its dimensions multiply to more than 2^63 "
                              "elements",
                              tensor->name);
    }
    const struct dtype_info *type = dtype_get(tensor->type);
    if (type == NULL) return LOCUM_OK;
    if (tensor->shape[0] % type->block != 0)
        return PARSE_FAIL(reader,
                          "tensor '%s': rows of %s elements are no multiple of the block "
                          "of %" PRIu32 " that its type %s has",
                          tensor->name, gguf_text_number(tensor->shape[0]).text, type->block,
                          type->name);
    if (!checked_mul(tensor->elements / type->block, type->bytes, &tensor->bytes))
        return PARSE_FAIL(reader, "tensor '%s': its size in bytes does not fit into 64 bits",
                          tensor->name);
    return LOCUM_OK;
}

// From an offset within the data to one within the file, inside the file.
static locum_status parse_place(struct parse_reader *reader, const struct gguf_header *header,
                                struct gguf_tensor *tensor) {
    uint64_t file_size = reader->scan->file_size;
    if (tensor->offset % header->alignment != 0)
        return PARSE_FAIL(reader,
                          "tensor '%s': its offset %s is no multiple of the alignment %" PRIu32,
                          tensor->name, gguf_text_number(tensor->offset).text, header->alignment);
    uint64_t least = tensor->bytes > 0 ? tensor->bytes : 1;
    uint64_t start, end;
    if (!checked_add(tensor->offset, header->data_start, &start) ||
        !checked_add(start, least, &end))
        return PARSE_FAIL(reader,
                          "tensor '%s': its offset %s does not fit into 64 bits with its "
                          "size",
                          tensor->name, gguf_text_number(tensor->offset).text);
    if (end > file_size)
        return PARSE_FAIL(reader,
                          "tensor '%s' needs bytes %s..%s but the file ends at %s: the "
                          "file is incomplete (a download that stopped?)",
                          tensor->name, gguf_text_number(start).text,
                          gguf_text_number(end - 1).text, gguf_text_number(file_size).text);
    tensor->offset = start;
    return LOCUM_OK;
}

static locum_status parse_tensor(struct parse_reader *reader, uint64_t number,
                                 const struct gguf_header *header, struct gguf_tensor *tensor) {
    struct slice name = parse_string(reader);
    if (!gguf_text_is_printable(name))
        return PARSE_FAIL(reader,
                          "the name '%.*s' of tensor %" PRIu64 " holds control characters "
                          "or is not UTF-8",
                          (int)name.size, name.data, number + 1);
    char *copy = arena_copy_text(reader->arena, name.data, name.size);
    if (copy == NULL) return parse_no_memory(reader);
    *tensor = (struct gguf_tensor){.name = copy, .shape = {1, 1, 1, 1}};
    tensor->dims = (uint32_t)parse_integer(reader, 4);
    for (uint32_t i = 0; i < tensor->dims; i++)
        tensor->shape[i] = parse_integer(reader, 8);
    tensor->type = (uint32_t)parse_integer(reader, 4);
    tensor->offset = parse_integer(reader, 8);
    STATUS_TRY(parse_size(reader, tensor));
    return parse_place(reader, header, tensor);
}

static int by_offset(const void *a, const void *b) {
    const struct gguf_tensor *left = *(const struct gguf_tensor *const *)a;
    const struct gguf_tensor *right = *(const struct gguf_tensor *const *)b;
    if (left->offset != right->offset) return left->offset < right->offset ? -1 : 1;
    return (left > right) - (left < right); // all of one array: the order of the file
}

// A tensor of unknown type ends somewhere before the next one; of it only the first byte is known.
static locum_status parse_overlaps(struct parse_reader *reader, struct gguf_header *header) {
    size_t count = (size_t)header->tensor_count;
    const struct gguf_tensor **sorted = heap_resize(NULL, count * sizeof *sorted);
    if (sorted == NULL) return parse_no_memory(reader);
    for (size_t i = 0; i < count; i++)
        sorted[i] = &header->tensors[i];
    qsort(sorted, count, sizeof *sorted, by_offset);
    locum_status status = LOCUM_OK;
    for (size_t i = 0; i < count && status == LOCUM_OK; i++) {
        if (i > 0 && sorted[i]->offset < header->data_end)
            status =
                PARSE_FAIL(reader, "tensors '%s' and '%s' overlap at byte %s", sorted[i - 1]->name,
                           sorted[i]->name, gguf_text_number(sorted[i]->offset).text);
        header->data_end = sorted[i]->offset + (sorted[i]->bytes > 0 ? sorted[i]->bytes : 1);
    }
    heap_free(sorted);
    return status;
}

static locum_status parse_tensors(struct parse_reader *reader, struct gguf_header *out) {
    size_t count = (size_t)reader->scan->tensor_count;
    out->data_start = out->data_end = reader->scan->header_size;
    if (count == 0) return LOCUM_OK;
    bool fits = checked_align(reader->scan->header_size, out->alignment, &out->data_start);
    LOCUM_ASSERT(fits); // both are limited
    out->tensors = arena_array(reader->arena, count, sizeof *out->tensors);
    if (out->tensors == NULL) return parse_no_memory(reader);
    out->tensor_count = count;
    for (size_t i = 0; i < count; i++) {
        STATUS_TRY(parse_tensor(reader, i, out, &out->tensors[i]));
    }
    return parse_overlaps(reader, out);
}

locum_status gguf_parse(const struct gguf_scan *scan, struct slice bytes, struct arena *arena,
                        struct gguf_header *out, locum_error *error) {
    LOCUM_ASSERT(scan->header_size >= GGUF_SCAN_FIRST_RECORD && bytes.size >= scan->header_size);
    struct parse_reader reader = {bytes, GGUF_SCAN_FIRST_RECORD, arena, scan, error};
    *out = (struct gguf_header){.version = scan->version};
    STATUS_TRY(parse_metadata(&reader, out));
    STATUS_TRY(parse_alignment(&reader, out));
    return parse_tensors(&reader, out);
}
