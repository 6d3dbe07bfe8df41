// SPDX-License-Identifier: Apache-2.0
//
// Owns:      how often answers have used each expert, in earlier runs and in this one.
// Called by: store.
// Threads:   the store's one thread.
// Errors:    none.
// Not here:  where it is kept between runs (engine), what it says about the next use (store_policy.h).
#ifndef STORE_STORE_USES_H
#define STORE_STORE_USES_H

#include "store/store_policy.h"

struct store_uses {
    uint32_t *steps; // [layers] of answers
    uint32_t *count; // [experts] of them that used the expert
    // What earlier runs used, most often first, as far as the pool holds it: the expert in the low half.
    uint64_t *order; // [experts]
    uint32_t known;  // entries of `order`
    uint32_t next;   // of them, the first that has not been looked at
};

// What earlier runs counted: replaces what is there and puts it in order; `known` is then all that were
// used at all.
void store_uses_load(struct store_uses *uses, const struct store_shape *shape,
                     const uint32_t *steps, const uint32_t *count);
// A step of an answer uses these experts of the layer: ids within it.
void store_uses_step(struct store_uses *uses, const struct store_shape *shape, uint32_t layer,
                     const uint32_t *ids, uint32_t count);

static inline uint32_t store_uses_expert(const struct store_uses *uses, uint32_t at) {
    return (uint32_t)uses->order[at];
}

#endif
