// SPDX-License-Identifier: Apache-2.0
#include "store/store_layout.h"

// Ascending file and offset: reads of one expert move forward, and what touches meets.
static bool before(const struct store_segment *a, const struct store_segment *b) {
    return a->file != b->file ? a->file < b->file : a->offset < b->offset;
}

// The segments that are there, in file order; gives their number.
static uint32_t sort_segments(const struct store_segment *segments,
                              uint32_t order[STORE_SEGMENTS]) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < STORE_SEGMENTS; i++) {
        if (segments[i].bytes == 0) continue;
        uint32_t at = count++;
        for (; at > 0 && before(&segments[i], &segments[order[at - 1]]); at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    return count;
}

void store_layout_make(const struct store_segment *segments, uint64_t unit,
                       struct store_layout *out) {
    uint32_t order[STORE_SEGMENTS];
    uint32_t count = sort_segments(segments, order);
    *out = (struct store_layout){.ranges = 0};
    struct store_range *range = NULL;
    for (uint32_t i = 0; i < count; i++) {
        const struct store_segment *segment = &segments[order[i]];
        uint64_t start = segment->offset & ~(unit - 1);
        uint64_t end = segment->offset + segment->bytes;
        if (range == NULL || segment->file != range->file || start > range->offset + range->bytes) {
            range = &out->range[out->ranges++];
            *range = (struct store_range){segment->file, start, 0, 0, out->bytes, order[i]};
        }
        out->place[order[i]] = range->place + (segment->offset - range->offset);
        if (end - range->offset > range->needed) range->needed = end - range->offset;
        range->bytes = (range->needed + unit - 1) & ~(unit - 1);
        out->bytes = range->place + range->bytes;
        out->wanted += segment->bytes;
    }
}
