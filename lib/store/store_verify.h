// SPDX-License-Identifier: Apache-2.0
//
// Owns:      a hash of each expert's bytes, kept at its first read and compared at later ones.
// Called by: store.
// Threads:   the store's one thread.
// Errors:    none: whether bytes are the same is told to the caller.
// Not here:  what becomes of an expert whose bytes are others (store.c).
//
// It finds a drive, a cable or a memory that returns other bytes the second time, and a file that was
// changed while it is read. What was wrong from the first read on it cannot know.
#ifndef STORE_STORE_VERIFY_H
#define STORE_STORE_VERIFY_H

#include "store/store_layout.h"

struct store_verify {
    uint64_t *sum;              // [experts] 0: not read yet; NULL: nothing is compared
    uint64_t compared, unequal; // reads
};

// The expert has just been read to `bytes`, its slot. true: for the first time, or with the same bytes as
// the first time.
bool store_verify_same(struct store_verify *verify, uint32_t expert,
                       const struct store_segment *segments, const struct store_layout *layout,
                       const uint8_t *bytes);

#endif
