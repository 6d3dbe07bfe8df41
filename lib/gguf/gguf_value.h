// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the value types of GGUF metadata, and reading single elements of a value.
// Called by: gguf_parse, gguf_meta, gguf_writer; token (arrays of strings and scores).
// Threads:   pure.
// Errors:    false when the element has another type or does not fit; texts of errors are made in
//            gguf_meta.
// Not here:  finding a value by its key (gguf_meta.h).
#ifndef GGUF_VALUE_H
#define GGUF_VALUE_H

#include "base/slice.h"

#include <stdint.h>

// X(name, id in the file, bytes of a packed element (0: varies), word for people)
// clang-format off
#define GGUF_TYPE_LIST(X)                                                                          \
    X(U8, 0, 1, "u8") X(I8, 1, 1, "i8") X(U16, 2, 2, "u16") X(I16, 3, 2, "i16")                    \
    X(U32, 4, 4, "u32") X(I32, 5, 4, "i32") X(F32, 6, 4, "f32") X(BOOL, 7, 1, "bool")              \
    X(STRING, 8, 0, "string") X(ARRAY, 9, 0, "array") X(U64, 10, 8, "u64") X(I64, 11, 8, "i64")    \
    X(F64, 12, 8, "f64")
// clang-format on

enum gguf_type {
#define GGUF_TYPE_ENUM(name, id, bytes, word) GGUF_##name = id,
    GGUF_TYPE_LIST(GGUF_TYPE_ENUM)
#undef GGUF_TYPE_ENUM
        GGUF_TYPE_COUNT
};

const char *gguf_value_type_name(
    uint32_t type); // "u32"; "unknown" for an id the format does not have
uint32_t gguf_value_type_bytes(uint32_t type); // 0 for string, array and unknown ids

// A scalar is one element of `element`; an array is `count` of them. All pointers lead into the
// bytes of the header, which live as long as the gguf_file (or what was given to gguf_parse).
struct gguf_value {
    uint32_t element; // enum gguf_type, never GGUF_ARRAY: arrays of arrays are refused
    bool is_array;
    uint64_t count;     // 1 for a scalar
    struct slice bytes; // packed little-endian elements, not aligned; a scalar string: its text
    const uint32_t
        *offsets; // array of strings: position in `bytes` of every GGUF_VALUE_STRIDE-th element
};

enum {
    GGUF_VALUE_STRIDE = 16
}; // 4 bytes per 16 strings instead of 64; a lookup steps over at most 15

// Element `index` (0 for a scalar) converted; index < count is the caller's duty (asserted).
// Integers come from every integer type and bool; f64 from every number; bool from bool, 0 and 1.
bool gguf_value_u64(const struct gguf_value *value, uint64_t index, uint64_t *out);
bool gguf_value_i64(const struct gguf_value *value, uint64_t index, int64_t *out);
bool gguf_value_f64(const struct gguf_value *value, uint64_t index, double *out);
bool gguf_value_bool(const struct gguf_value *value, uint64_t index, bool *out);
// The element must be a string (asserted: look at value->element first). Not NUL-terminated.
struct slice gguf_value_string(const struct gguf_value *value, uint64_t index);

// Element `index` of an array as a scalar of its own, for messages.
struct gguf_value gguf_value_at(const struct gguf_value *value, uint64_t index);

// Walks an array of strings in order, in constant time per element.
//     struct gguf_strings walk = gguf_value_strings(value);
//     for (struct slice text; gguf_strings_next(&walk, &text);) ...
struct gguf_strings {
    struct slice rest;
};
struct gguf_strings gguf_value_strings(const struct gguf_value *value);
bool gguf_strings_next(struct gguf_strings *walk, struct slice *out);

// The value for people, NUL-terminated, one line, valid UTF-8 (control characters and bytes that
// are not UTF-8 as \n, \t, \xNN). Arrays show their first elements and the count; a text that does
// not fit into `max` bytes ends with "...". Returns the length written.
size_t gguf_value_text(const struct gguf_value *value, char *out, size_t max);

#endif
