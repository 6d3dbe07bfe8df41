// SPDX-License-Identifier: Apache-2.0
//
// Owns:      where the bytes of one expert lie in the file, in aligned ranges, and in its slot.
// Called by: store_cut (sizes), store (reads, addresses).
// Threads:   pure.
// Errors:    none: segments were checked when the store was created.
// Not here:  which slot, when it is read.
#ifndef STORE_STORE_LAYOUT_H
#define STORE_STORE_LAYOUT_H

#include "store/store.h"

// One read: whole units of the file, straight to `place` bytes from the start of the slot.
struct store_range {
    uint32_t file;
    uint64_t offset, bytes; // multiples of the unit; the end may lie past the end of the file
    uint64_t needed;        // bytes from offset to the end of the last segment inside
    uint64_t place;
    uint32_t segment; // the first one inside
};

struct store_layout {
    uint32_t ranges; // in ascending order of file and offset; neighbours that touch are one range
    struct store_range range[STORE_SEGMENTS];
    uint64_t place[STORE_SEGMENTS]; // of each segment that is there, from the start of the slot
    uint64_t bytes;                 // of the slot
    uint64_t wanted;                // of the segments alone
};

// unit: a power of two, the alignment of reads and of slots.
void store_layout_make(const struct store_segment *segments, uint64_t unit,
                       struct store_layout *out);

#endif
