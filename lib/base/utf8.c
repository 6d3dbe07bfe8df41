// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.h"

#include "base/check.h"

// By lead byte: bytes of the character and the range of the second byte. The narrowed ranges are
// what excludes overlong forms, surrogates and numbers past U+10FFFF.
struct lead {
    uint8_t first, last; // lead bytes
    uint8_t size;        // of the character
    uint8_t second_min, second_max;
};

static const struct lead leads[] = {
    {0x00, 0x7F, 1, 0, 0},       {0xC2, 0xDF, 2, 0x80, 0xBF}, {0xE0, 0xE0, 3, 0xA0, 0xBF},
    {0xE1, 0xEC, 3, 0x80, 0xBF}, {0xED, 0xED, 3, 0x80, 0x9F}, {0xEE, 0xEF, 3, 0x80, 0xBF},
    {0xF0, 0xF0, 4, 0x90, 0xBF}, {0xF1, 0xF3, 4, 0x80, 0xBF}, {0xF4, 0xF4, 4, 0x80, 0x8F},
};

static const struct lead *lead_of(uint8_t byte) {
    for (size_t i = 0; i < sizeof leads / sizeof leads[0]; i++) {
        if (byte >= leads[i].first && byte <= leads[i].last) {
            return &leads[i];
        }
    }
    return NULL;
}

struct utf8_step utf8_next(struct slice text) {
    LOCUM_ASSERT(text.size > 0);
    const uint8_t *bytes = (const uint8_t *)text.data;
    if (bytes[0] < 0x80) {
        return (struct utf8_step){UTF8_CHARACTER, 1, bytes[0]};
    }
    const struct lead *lead = lead_of(bytes[0]);
    if (!lead) {
        return (struct utf8_step){UTF8_INVALID, 1, UTF8_REPLACEMENT};
    }
    uint32_t code = bytes[0] & (0x7Fu >> lead->size);
    for (uint32_t i = 1; i < lead->size; i++) {
        if (i == text.size) {
            return (struct utf8_step){UTF8_PARTIAL, i, UTF8_REPLACEMENT};
        }
        uint8_t min = i == 1 ? lead->second_min : 0x80;
        uint8_t max = i == 1 ? lead->second_max : 0xBF;
        if (bytes[i] < min || bytes[i] > max) {
            return (struct utf8_step){UTF8_INVALID, i, UTF8_REPLACEMENT};
        }
        code = code << 6 | (bytes[i] & 0x3Fu);
    }
    return (struct utf8_step){UTF8_CHARACTER, lead->size, code};
}

size_t utf8_printable(struct slice text) {
    if (text.size == 0) return 0;
    struct utf8_step step = utf8_next(text);
    bool control = step.code < 0x20 || (step.code >= 0x7F && step.code < 0xA0);
    return step.kind == UTF8_CHARACTER && !control ? step.size : 0;
}
