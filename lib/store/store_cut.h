// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the arithmetic of the pool: size classes of the experts, the extent that fits them.
// Called by: store (create, floor, full).
// Threads:   pure.
// Errors:    LOCUM_E_ARGUMENT for a configuration that contradicts itself, LOCUM_E_FORMAT for a
//            segment outside its file; the text names layer and expert.
// Not here:  memory (store_pool.h), bookkeeping (store.c).
//
// All layers share one pool, and experts differ in size between layers. The pool is an array of
// extents of one size; an extent holds slots of one size class and changes its class only when it
// is empty. So there is no hole that fits nobody: what is free can always become what is needed,
// and the waste is what an extent leaves over after its last slot. The extent is therefore fitted
// to the experts of the model: a fixed 2 MiB would lose 37 % of the pool to experts of 2.5 MiB.
#ifndef STORE_STORE_CUT_H
#define STORE_STORE_CUT_H

#include "base/limits.h"
#include "store/store.h"

enum {
    STORE_CLASSES = 64,      // one class covers sizes down to 31/32 of its own: 64 cover 1 : 7.6
    STORE_EXTENT_SLOTS = 16, // at most so many slots of one class decide the size of an extent
};

struct store_class {
    uint64_t slot_bytes; // of the largest expert in it, a multiple of the unit
    uint32_t experts;    // of all its layers
};

struct store_cut {
    uint64_t unit;           // alignment of slots and reads
    uint32_t experts;        // of all layers
    uint32_t experts_widest; // of the layer that has most
    uint32_t classes;
    struct store_class size_class[STORE_CLASSES]; // largest first
    uint8_t layer_class[LIMIT_LAYERS];

    // What store_cut_choose found.
    uint64_t extent_bytes;
    uint32_t extents;
    uint32_t extent_slots; // of the smallest class: the most that an extent can hold
};

// Check the configuration and sort its layers into classes.
locum_status store_cut_measure(const struct store_config *config, struct store_cut *cut,
                               locum_error *error);
// Least bytes of extents that hold every expert.
uint64_t store_cut_full(const struct store_cut *cut);
// Fit the extent to a pool of `bytes`; no more extents than all experts need. For any class there
// are then as many slots as the pool has room for its largest experts, up to STORE_HELD_MAX.
void store_cut_choose(struct store_cut *cut, uint64_t bytes);

static inline uint64_t store_cut_largest(const struct store_cut *cut) {
    return cut->size_class[0].slot_bytes;
}
static inline uint64_t store_cut_smallest(const struct store_cut *cut) {
    return cut->size_class[cut->classes - 1].slot_bytes;
}

#endif
