// SPDX-License-Identifier: Apache-2.0
#include "base/message.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/utf8.h"

size_t message_write(char *out, size_t max, const char *format, va_list arguments) {
    LOCUM_ASSERT(max >= 8);
    int wanted = vsnprintf(out, max, format, arguments);
    if (wanted < 0) {
        out[0] = '\0';
        return 0;
    }
    bool cut = (size_t)wanted >= max;
    size_t written = cut ? max - 1 : (size_t)wanted;
    size_t end = cut ? max - sizeof "..." : written; // where the text must stop
    size_t at = 0;
    while (at < end) {
        size_t size = utf8_printable(slice_make(out + at, written - at));
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
