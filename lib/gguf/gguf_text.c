// SPDX-License-Identifier: Apache-2.0
#include "gguf/gguf_text.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/utf8.h"

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

bool gguf_text_is_printable(struct slice text) {
    while (text.size > 0) {
        size_t size = utf8_printable(text);
        if (size == 0) return false;
        text = slice_from(text, size);
    }
    return true;
}
