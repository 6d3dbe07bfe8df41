// SPDX-License-Identifier: Apache-2.0
//
// Owns:      looking at the characters of one piece of text, forwards.
// Called by: scan_words, scan_runs, pretokenize.
// Threads:   one at a time.
// Errors:    none.
// Not here:  the rules by which a text is cut (scan_words.h, scan_runs.h).
#ifndef TOKEN_SCAN_H
#define TOKEN_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"
#include "base/utf8.h"
#include "token/unicode.h"

// A rule sees the piece that the pass before it made as if it were a whole text.
struct scan {
    const char *text;
    size_t limit;      // end of the piece
    size_t triples;    // end of the run of digits that is being cut in threes (scan_runs.c)
    uint64_t examined; // characters looked at so far; tests hold it against the size of the text
};

struct scan_character {
    uint32_t code;
    uint32_t bits; // unicode_bits; 0 at the end of the piece, so it is in no set
    size_t next;   // position behind it
};

// A byte that is no character is cut like U+FFFD, alone.
static inline struct scan_character scan_at(struct scan *scan, size_t position) {
    if (position >= scan->limit) {
        return (struct scan_character){UINT32_MAX, 0, position};
    }
    scan->examined++;
    struct utf8_step step = utf8_next(slice_make(scan->text + position, scan->limit - position));
    size_t size = step.kind == UTF8_CHARACTER ? step.size : 1;
    return (struct scan_character){step.code, unicode_bits(step.code), position + size};
}

// End of the run of characters with any of `bits` that begins at `position`, at most `max` of them.
static inline size_t scan_run_of(struct scan *scan, size_t position, uint32_t bits, uint32_t max) {
    for (uint32_t i = 0; i < max; i++) {
        struct scan_character c = scan_at(scan, position);
        if (!(c.bits & bits)) {
            break;
        }
        position = c.next;
    }
    return position;
}

struct scan_range {
    uint32_t first, last;
};

// In a sorted list of ranges.
static inline bool scan_in_ranges(uint32_t code, const struct scan_range *ranges, size_t count) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (code > ranges[middle].last) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < count && code >= ranges[low].first;
}

#endif
