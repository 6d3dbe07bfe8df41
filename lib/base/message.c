// SPDX-License-Identifier: Apache-2.0
#include "base/message.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"

// Bytes of the well-formed UTF-8 character at text (1 to 4), 0 if there is none. The ranges of the
// second byte are those of the Unicode standard's table of well-formed sequences: no overlong
// forms, no surrogates, nothing above U+10FFFF. A terminating zero ends every sequence by itself.
static size_t character_size(const unsigned char *text) {
    static const struct {
        unsigned char first_min, first_max, second_min, second_max, size;
    } rows[] = {
        {0x20, 0x7e, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (text[0] < rows[i].first_min || text[0] > rows[i].first_max) continue;
        if (rows[i].size == 1) return 1;
        if (text[1] < rows[i].second_min || text[1] > rows[i].second_max) return 0;
        for (size_t k = 2; k < rows[i].size; k++) {
            if ((text[k] & 0xc0) != 0x80) return 0;
        }
        return rows[i].size;
    }
    return 0;
}

size_t message_write(char *out, size_t max, const char *format, va_list arguments) {
    LOCUM_ASSERT(max >= 8);
    int wanted = vsnprintf(out, max, format, arguments);
    if (wanted < 0) {
        out[0] = '\0';
        return 0;
    }
    bool cut = (size_t)wanted >= max;
    size_t end = cut ? max - sizeof "..." : (size_t)wanted; // where the text must stop
    size_t at = 0;
    while (at < end) {
        size_t size = character_size((const unsigned char *)out + at);
        if (size > end - at) break; // only when cutting: this character does not fit any more
        if (size == 0) {
            out[at] = '?';
            size = 1;
        }
        at += size;
    }
    if (cut) {
        memcpy(out + at, "...", sizeof "...");
        at += 3;
    }
    return at;
}
