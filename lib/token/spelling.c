// SPDX-License-Identifier: Apache-2.0
#include "token/spelling.h"

#include <stdint.h>

#include "base/utf8.h"

// The alphabet of byte-level BPE (GPT-2): a byte that prints in Latin-1 is written as that
// character, the other 68 in ascending order as U+0100 and up.
static int byte_of_character(uint32_t code) {
    static const struct {
        uint8_t first, last; // bytes that don't stand for themselves
    } hidden[] = {{0x00, 0x20}, {0x7F, 0xA0}, {0xAD, 0xAD}};
    uint32_t next = 0x100;
    for (size_t i = 0; i < sizeof hidden / sizeof hidden[0]; i++) {
        uint32_t first = hidden[i].first, last = hidden[i].last;
        if (code >= first && code <= last) {
            return -1;
        }
        if (code >= next && code - next <= last - first) {
            return (int)(first + (code - next));
        }
        next += last - first + 1;
    }
    return code < 0x100 ? (int)code : -1;
}

static size_t read_bytes(struct slice text, char *bytes) {
    size_t count = 0;
    for (struct utf8_step step; text.size > 0; text = slice_from(text, step.size)) {
        step = utf8_next(text);
        int byte = step.kind == UTF8_CHARACTER ? byte_of_character(step.code) : -1;
        if (byte < 0) {
            return SPELLING_BAD;
        }
        bytes[count++] = (char)byte;
    }
    return count;
}

static size_t read_spaces(struct slice text, char *bytes) {
    static const char space[] = "\xE2\x96\x81"; // U+2581
    size_t count = 0;
    while (text.size > 0) {
        bool is_space = slice_starts(text, slice_make(space, 3));
        if (text.data[0] == ' ') {
            return SPELLING_BAD; // a space is never spelled as itself
        }
        bytes[count++] = is_space ? ' ' : text.data[0];
        text = slice_from(text, is_space ? 3 : 1);
    }
    return count;
}

size_t spelling_read(enum token_spelling spelling, struct slice text, char *bytes) {
    return spelling == TOKEN_SPELLING_BYTES ? read_bytes(text, bytes) : read_spaces(text, bytes);
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'A' && c <= 'F') {
        return c - 'A' + 10;
    }
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int spelling_byte(struct slice text) {
    if (text.size != 6 || memcmp(text.data, "<0x", 3) != 0 || text.data[5] != '>') {
        return -1;
    }
    int high = hex_digit(text.data[3]), low = hex_digit(text.data[4]);
    return high < 0 || low < 0 ? -1 : high * 16 + low;
}
