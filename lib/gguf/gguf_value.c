// SPDX-License-Identifier: Apache-2.0
#include "gguf/gguf_value.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/half.h"
#include "base/status.h"
#include "base/utf8.h"
#include "gguf/gguf_bytes.h"
#include "gguf/gguf_text.h"

struct type_row {
    const char *name;
    uint32_t bytes;
};

static const struct type_row type_rows[GGUF_TYPE_COUNT] = {
#define TYPE_ROW(name, id, bytes, word) [id] = {word, bytes},
    GGUF_TYPE_LIST(TYPE_ROW)
#undef TYPE_ROW
};

const char *gguf_value_type_name(uint32_t type) {
    return type < GGUF_TYPE_COUNT ? type_rows[type].name : "unknown";
}

uint32_t gguf_value_type_bytes(uint32_t type) {
    return type < GGUF_TYPE_COUNT ? type_rows[type].bytes : 0;
}

// --- Numbers ------------------------------------------------------------------------------------

static const char *value_element(const struct gguf_value *value, uint64_t index) {
    LOCUM_ASSERT(index < value->count);
    uint32_t bytes = gguf_value_type_bytes(value->element);
    LOCUM_ASSERT(bytes > 0 && value->bytes.size == value->count * bytes);
    return value->bytes.data + index * bytes;
}

// An integer as 64 bits in two's complement and whether they are to be read as signed.
static bool value_integer(const struct gguf_value *value, uint64_t index, uint64_t *bits,
                          bool *negative) {
    if (value->element == GGUF_STRING || value->element == GGUF_F32 || value->element == GGUF_F64)
        return false;
    const char *at = value_element(value, index);
    uint32_t bytes = gguf_value_type_bytes(value->element);
    *bits = gguf_bytes_get(at, bytes);
    bool is_signed = value->element == GGUF_I8 || value->element == GGUF_I16 ||
                     value->element == GGUF_I32 || value->element == GGUF_I64;
    *negative = is_signed && (*bits >> (bytes * 8 - 1)) != 0;
    if (*negative && bytes < 8) *bits |= UINT64_MAX << (bytes * 8);
    return true;
}

bool gguf_value_u64(const struct gguf_value *value, uint64_t index, uint64_t *out) {
    bool negative;
    return value_integer(value, index, out, &negative) && !negative;
}

bool gguf_value_i64(const struct gguf_value *value, uint64_t index, int64_t *out) {
    uint64_t bits;
    bool negative;
    if (!value_integer(value, index, &bits, &negative) || (!negative && bits > INT64_MAX))
        return false;
    memcpy(out, &bits, sizeof bits);
    return true;
}

bool gguf_value_f64(const struct gguf_value *value, uint64_t index, double *out) {
    uint64_t bits;
    bool negative;
    if (value_integer(value, index, &bits, &negative)) {
        *out = negative ? -(double)(0 - bits) : (double)bits;
        return true;
    }
    if (value->element == GGUF_F32) {
        *out = half_from_bits((uint32_t)gguf_bytes_get(value_element(value, index), 4));
        return true;
    }
    if (value->element == GGUF_F64) {
        bits = gguf_bytes_get(value_element(value, index), 8);
        memcpy(out, &bits, sizeof bits);
        return true;
    }
    return false;
}

bool gguf_value_bool(const struct gguf_value *value, uint64_t index, bool *out) {
    uint64_t bits;
    if (!gguf_value_u64(value, index, &bits) || bits > 1) return false;
    *out = bits == 1;
    return true;
}

// --- Strings ------------------------------------------------------------------------------------

struct gguf_strings gguf_value_strings(const struct gguf_value *value) {
    LOCUM_ASSERT(value->element == GGUF_STRING && value->is_array);
    return (struct gguf_strings){value->bytes};
}

bool gguf_strings_next(struct gguf_strings *walk, struct slice *out) {
    if (walk->rest.size == 0) return false;
    LOCUM_ASSERT(walk->rest.size >= 8);
    uint64_t size = gguf_bytes_get(walk->rest.data, 8);
    LOCUM_ASSERT(size <= walk->rest.size - 8);
    *out = slice_make(walk->rest.data + 8, (size_t)size);
    walk->rest = slice_from(walk->rest, 8 + (size_t)size);
    return true;
}

struct slice gguf_value_string(const struct gguf_value *value, uint64_t index) {
    LOCUM_ASSERT(value->element == GGUF_STRING && index < value->count);
    if (!value->is_array) return value->bytes;
    uint32_t start = value->offsets[index / GGUF_VALUE_STRIDE];
    struct gguf_strings walk = {slice_from(value->bytes, start)};
    struct slice text;
    for (uint64_t left = index % GGUF_VALUE_STRIDE + 1; left > 0; left--)
        LOCUM_ASSERT(gguf_strings_next(&walk, &text));
    return text;
}

struct gguf_value gguf_value_at(const struct gguf_value *value, uint64_t index) {
    struct slice bytes;
    if (value->element == GGUF_STRING)
        bytes = gguf_value_string(value, index);
    else
        bytes = slice_make(value_element(value, index), gguf_value_type_bytes(value->element));
    return (struct gguf_value){.element = value->element, .count = 1, .bytes = bytes};
}

// --- Text for people ----------------------------------------------------------------------------

// Text that grows up to a limit. Once something did not fit, nothing more is taken.
struct value_text {
    char *data;
    size_t size, max; // max: bytes of text, the terminating zero not counted
    bool cut;
};

static void text_append(struct value_text *text, const char *bytes, size_t size) {
    text->cut = text->cut || size > text->max - text->size;
    if (text->cut) return;
    memcpy(text->data + text->size, bytes, size);
    text->size += size;
}

static void STATUS_PRINTF(2, 3) text_format(struct value_text *text, const char *format, ...) {
    char piece[64]; // longest: a number of 24 characters
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(piece, sizeof piece, format, arguments);
    va_end(arguments);
    text_append(text, piece, (size_t)size);
}

// Character by character, so that a cut never leaves half of one.
static void text_escape(struct value_text *text, struct slice bytes) {
    while (bytes.size > 0 && !text->cut) {
        size_t size = utf8_printable(bytes);
        unsigned char first = (unsigned char)bytes.data[0];
        if (first == '\n') {
            text_append(text, "\\n", 2);
        } else if (first == '\t') {
            text_append(text, "\\t", 2);
        } else if (size == 0) {
            text_format(text, "\\x%02x", first);
        } else {
            text_append(text, bytes.data, size);
        }
        bytes = slice_from(bytes, size > 0 ? size : 1);
    }
}

// The shortest form that reads back as the same f32 (or f64).
static void text_real(struct value_text *text, double real, bool is_f32) {
    char piece[32];
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(piece, sizeof piece, "%.*g", digits, real);
        double back = strtod(piece, NULL);
        if (is_f32 ? (float)back == (float)real : back == real) break;
    }
    text_append(text, piece, strlen(piece));
}

static void text_element(struct value_text *text, const struct gguf_value *value, uint64_t index) {
    uint64_t bits;
    bool negative;
    double real;
    if (value->element == GGUF_STRING) {
        const char *quote = value->is_array ? "\"" : "";
        text_append(text, quote, strlen(quote));
        text_escape(text, gguf_value_string(value, index));
        text_append(text, quote, strlen(quote));
    } else if (value->element == GGUF_BOOL) {
        const char *word = *value_element(value, index) != 0 ? "true" : "false";
        text_append(text, word, strlen(word));
    } else if (value_integer(value, index, &bits, &negative)) {
        text_format(text, "%s%" PRIu64, negative ? "-" : "", negative ? 0 - bits : bits);
    } else if (gguf_value_f64(value, index, &real)) {
        text_real(text, real, value->element == GGUF_F32);
    }
}

enum { TEXT_ELEMENTS = 8 }; // of an array that are shown

size_t gguf_value_text(const struct gguf_value *value, char *out, size_t max) {
    LOCUM_ASSERT(max >= 1);
    struct value_text text = {out, 0, max - 1, false};
    if (!value->is_array) {
        text_element(&text, value, 0);
    } else {
        text_append(&text, "[", 1);
        for (uint64_t i = 0; i < value->count && i < TEXT_ELEMENTS; i++) {
            if (i > 0) text_append(&text, ", ", 2);
            text_element(&text, value, i);
        }
        if (value->count > TEXT_ELEMENTS)
            text_format(&text, ", ... %s in all", gguf_text_number(value->count).text);
        text_append(&text, "]", 1);
    }
    if (text.cut && max >= 4) { // make room for the dots, at the border of a character
        size_t keep = text.size < max - 4 ? text.size : max - 4;
        while (keep > 0 && keep < text.size && ((unsigned char)out[keep] & 0xc0) == 0x80)
            keep--;
        memcpy(out + keep, "...", 3);
        text.size = keep + 3;
    }
    out[text.size] = '\0';
    return text.size;
}
