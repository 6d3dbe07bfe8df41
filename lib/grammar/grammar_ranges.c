// SPDX-License-Identifier: Apache-2.0
#include "grammar/grammar_ranges.h"

#include <stdlib.h>

enum { SURROGATE_FIRST = 0xD800, SURROGATE_LAST = 0xDFFF };

static int by_first(const void *a, const void *b) {
    const struct grammar_range *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

uint32_t grammar_ranges_normalise(struct grammar_range *ranges, uint32_t count) {
    uint32_t kept = 0;
    if (count > 1) qsort(ranges, count, sizeof *ranges, by_first);
    for (uint32_t i = 0; i < count; i++) {
        struct grammar_range range = ranges[i];
        if (kept > 0 && range.first <= ranges[kept - 1].last + 1) {
            if (range.last > ranges[kept - 1].last) ranges[kept - 1].last = range.last;
        } else {
            ranges[kept++] = range;
        }
    }
    // Joined ranges are apart, so at most one of them is cut in two.
    uint32_t out = 0;
    for (uint32_t i = 0; i < kept; i++) {
        struct grammar_range range = ranges[i];
        if (range.first > SURROGATE_LAST || range.last < SURROGATE_FIRST) {
            ranges[out++] = range;
            continue;
        }
        if (range.first < SURROGATE_FIRST && range.last > SURROGATE_LAST) {
            for (uint32_t j = kept; j > i + 1; j--)
                ranges[j] = ranges[j - 1];
            ranges[out++] = (struct grammar_range){range.first, SURROGATE_FIRST - 1};
            ranges[out] = (struct grammar_range){SURROGATE_LAST + 1, range.last};
            return kept + 1;
        }
        if (range.first < SURROGATE_FIRST)
            ranges[out++] = (struct grammar_range){range.first, SURROGATE_FIRST - 1};
        else if (range.last > SURROGATE_LAST)
            ranges[out++] = (struct grammar_range){SURROGATE_LAST + 1, range.last};
    }
    return out;
}

uint32_t grammar_ranges_complement(const struct grammar_range *ranges, uint32_t count,
                                   struct grammar_range *out) {
    uint32_t next = 0, n = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (ranges[i].first > next) out[n++] = (struct grammar_range){next, ranges[i].first - 1};
        next = ranges[i].last + 1;
    }
    if (next <= GRAMMAR_RANGES_LAST)
        out[n++] = (struct grammar_range){next, GRAMMAR_RANGES_LAST};
    return grammar_ranges_normalise(out, n);
}

bool grammar_ranges_has(const struct grammar_range *ranges, uint32_t count, uint32_t code) {
    for (uint32_t i = 0; i < count; i++) {
        if (code >= ranges[i].first && code <= ranges[i].last) return true;
    }
    return false;
}

static const uint32_t last_of_size[] = {0x7F, 0x7FF, 0xFFFF, GRAMMAR_RANGES_LAST};

static uint32_t encode(uint32_t code, uint32_t size, uint8_t *bytes) {
    static const uint8_t lead[] = {0, 0xC0, 0xE0, 0xF0};
    for (uint32_t i = size; i-- > 1; code >>= 6)
        bytes[i] = (uint8_t)(0x80 | (code & 0x3F));
    bytes[0] = (uint8_t)(lead[size - 1] | code);
    return size;
}

// The longest beginning of the range whose characters have one size and, from some byte on, all
// continuation bytes: then a run of byte ranges says exactly these characters.
bool grammar_ranges_next_bytes(struct grammar_range *range, struct grammar_bytes *out) {
    if (range->first > range->last) return false;
    uint32_t size = 1, last = range->last;
    while (range->first > last_of_size[size - 1])
        size++;
    if (last > last_of_size[size - 1]) last = last_of_size[size - 1];
    for (uint32_t low = 1; low < size; low++) {
        uint32_t mask = (1u << (6 * low)) - 1; // the bits of the last `low` bytes
        if ((range->first | mask) == (last | mask)) break; // same beginning: one run
        if ((range->first & mask) != 0)
            last = range->first | mask; // up to where these bytes begin again
        else if ((last & mask) != mask)
            last = (last & ~mask) - 1; // whole runs only; the rest comes next
    }
    out->count = encode(range->first, size, out->first);
    encode(last, size, out->last);
    range->first = last + 1;
    return true;
}
