// SPDX-License-Identifier: Apache-2.0
//
// Owns:      who has to go: policies that say what an expert is worth, the choice of the victim.
// Called by: store.
// Threads:   the store's one thread.
// Errors:    none.
// Not here:  evicting itself (store.c), what may not be touched (its state and entry say that).
//
// A policy keeps a few bytes for every expert of the model, in the pool or not, and puts a number
// on those that are in the pool. The choice is the same for all policies: the least worth of a slot
// of the class, or a whole extent of another class when everything in it is worth less than that.
#ifndef STORE_STORE_EVICT_H
#define STORE_STORE_EVICT_H

#include "store/store_pool.h"

// An expert worth this or more is not given up for the sake of a prompt, beyond the few slots
// through which the prompt passes.
#define STORE_EVICT_KEEP (UINT64_C(1) << 63)

struct store_policy {
    const char *name;
    size_t state_bytes; // for each expert, zeroed at first
    // A step of this order needs the expert: it was there, or its read begins. now: counts up.
    void (*touched)(void *state, uint32_t expert, enum store_order order, uint64_t now);
    void (*inserted)(void *state, uint32_t expert, enum store_order order, uint64_t now);
    // Least goes first.
    uint64_t (*worth)(const void *state, uint32_t expert);
};

// Least recently used. What STORE_ASCENDING brought in goes before everything else, latest first: a
// prompt comes round to the same layers with every chunk, so the first that it read are the first
// that it needs again; and what decode works with is not pushed out by the prompt.
extern const struct store_policy store_evict_lru;

struct store_evict {
    const struct store_policy *policy;
    void *state; // [experts * policy->state_bytes], the caller's
    uint64_t now;
};

void store_evict_init(struct store_evict *evict, const struct store_policy *policy, void *state);
void store_evict_touched(struct store_evict *evict, uint32_t expert, enum store_order order);
void store_evict_inserted(struct store_evict *evict, uint32_t expert, enum store_order order);

struct store_victim {
    uint32_t slot, count; // count neighbours, EMPTY ones among them; the others are READY, unkept
};
// What to empty for one expert of the class. keep: what is worth STORE_EVICT_KEEP stays.
// false: everything has to stay.
bool store_evict_choose(const struct store_evict *evict, const struct store_pool *pool,
                        uint32_t size_class, bool keep, struct store_victim *out);

// The extent whose best expert is worth least, empty ones first; for a pool that shrinks. STORE_NONE:
// there is none, or in each something has to stay.
uint32_t store_evict_extent(const struct store_evict *evict, const struct store_pool *pool);

#endif
