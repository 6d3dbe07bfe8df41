// SPDX-License-Identifier: Apache-2.0
//
// The GGUF reader on any bytes: open, read every value in every way, find every tensor again. And
// the scan in pieces must come to the same end as in one. The corpus comes from
// make_corpus_gguf.py.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "gguf/gguf_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_value(const struct gguf_meta *meta, const char *key,
                       const struct gguf_value *value) {
    char text[200];
    size_t length = gguf_value_text(value, text, sizeof text);
    LOCUM_ASSERT(length < sizeof text && strlen(text) == length);
    uint64_t u64;
    int64_t i64;
    double f64;
    float f32[3];
    bool flag;
    struct slice string;
    const struct gguf_value *array;
    for (uint64_t i = 0; i < value->count; i += 1 + value->count / 50) {
        if (value->element == GGUF_STRING) {
            string = gguf_value_string(value, i);
            LOCUM_ASSERT(string.data >= value->bytes.data);
            LOCUM_ASSERT(string.data + string.size <= value->bytes.data + value->bytes.size);
        }
        if (gguf_value_u64(value, i, &u64) && gguf_value_i64(value, i, &i64))
            LOCUM_ASSERT((uint64_t)i64 == u64);
        gguf_value_f64(value, i, &f64);
        gguf_value_bool(value, i, &flag);
    }
    LOCUM_ASSERT(key[0] == '.' || gguf_meta_find(meta, key) == value); // '.': see gguf_meta.h
    locum_error error;
    gguf_meta_u64(meta, key, 0, 100, &u64, &error);
    gguf_meta_i64(meta, key, -100, 100, &i64, &error);
    gguf_meta_f32_each(meta, key, -1, 1, 3, f32, &error);
    gguf_meta_bool_or(meta, key, true, &flag, &error);
    gguf_meta_string(meta, key, &string, &error);
    gguf_meta_array(meta, key, GGUF_META_NUMBERS, 1, 10, &array, &error);
}

static void read_file(const struct gguf_file *file, size_t size) {
    const struct gguf_meta *meta = gguf_file_meta(file);
    for (uint64_t i = 0; i < meta->count; i++)
        read_value(meta, meta->pairs[i].key, &meta->pairs[i].value);
    for (uint64_t i = 0; i < gguf_file_tensor_count(file); i++) {
        const struct gguf_tensor *tensor = gguf_file_tensor(file, i);
        LOCUM_ASSERT(gguf_file_find(file, tensor->name) == tensor);
        LOCUM_ASSERT(tensor->offset < size && tensor->bytes <= size - tensor->offset);
        LOCUM_ASSERT(tensor->elements > 0);
    }
}

// In pieces whose lengths come from the bytes themselves.
static void scan_in_pieces(const uint8_t *data, size_t size, const struct gguf_scan *whole,
                           enum gguf_scan_state whole_state) {
    struct gguf_scan scan;
    enum gguf_scan_state state;
    size_t have = 0;
    gguf_scan_begin(&scan, "fuzz", size);
    while ((state = gguf_scan_feed(&scan, slice_make((const char *)data, have), NULL)) ==
           GGUF_SCAN_MORE) {
        LOCUM_ASSERT(have < size && scan.need > have && scan.need <= size);
        size_t step = 1 + data[have] % 61;
        have = step > size - have ? size : have + step;
    }
    LOCUM_ASSERT(state == whole_state);
    LOCUM_ASSERT(state == GGUF_SCAN_DONE ? scan.header_size == whole->header_size
                                         : scan.status == whole->status);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct gguf_scan scan;
    gguf_scan_begin(&scan, "fuzz", size);
    struct slice bytes = slice_make((const char *)data, size);
    enum gguf_scan_state state = gguf_scan_feed(&scan, bytes, NULL);
    LOCUM_ASSERT(state != GGUF_SCAN_MORE);
    scan_in_pieces(data, size, &scan, state);
    struct gguf_file *file;
    locum_error error;
    locum_status status = gguf_file_open_bytes(bytes, "fuzz", &file, &error);
    LOCUM_ASSERT(state == GGUF_SCAN_DONE || status != LOCUM_OK);
    if (status == LOCUM_OK) read_file(file, size);
    gguf_file_close(file);
    return 0;
}
