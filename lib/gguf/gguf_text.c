// SPDX-License-Identifier: Apache-2.0
#include "gguf/gguf_text.h"

#include <inttypes.h>
#include <stdio.h>

struct gguf_number gguf_text_number(uint64_t value) {
    char digits[21];
    int count = snprintf(digits, sizeof digits, "%" PRIu64, value);
    struct gguf_number number;
    char *out = number.text;
    for (int i = 0; i < count; i++) {
        if (i > 0 && (count - i) % 3 == 0) *out++ = ',';
        *out++ = digits[i];
    }
    *out = '\0';
    return number;
}

size_t gguf_text_character(struct slice text) {
    if (text.size == 0) return 0;
    const unsigned char *bytes = (const unsigned char *)text.data;
    if (bytes[0] < 0x80) return 1;
    // Least code point for a sequence of 2, 3, 4 bytes: shorter forms of the same are not
    // well-formed.
    static const uint32_t least[] = {0x80, 0x800, 0x10000};
    size_t size = bytes[0] >= 0xf0 ? 4 : bytes[0] >= 0xe0 ? 3 : 2;
    if (bytes[0] < 0xc2 || bytes[0] > 0xf4 || size > text.size) return 0;
    uint32_t code = bytes[0] & (0x7fu >> size);
    for (size_t i = 1; i < size; i++) {
        if ((bytes[i] & 0xc0) != 0x80) return 0;
        code = code << 6 | (bytes[i] & 0x3fu);
    }
    bool surrogate = code >= 0xd800 && code <= 0xdfff;
    return code < least[size - 2] || code > 0x10ffff || surrogate ? 0 : size;
}

bool gguf_text_is_printable(struct slice text) {
    while (text.size > 0) {
        size_t size = gguf_text_character(text);
        unsigned char first = (unsigned char)text.data[0];
        if (size == 0 || first < 0x20 || first == 0x7f) return false;
        text = slice_from(text, size);
    }
    return true;
}
