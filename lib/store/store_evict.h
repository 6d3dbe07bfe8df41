// SPDX-License-Identifier: Apache-2.0
//
// Owns:      who has to go: the choice of the victim.
// Called by: store; the replay of traces in tools.
// Threads:   the store's one thread.
// Errors:    none.
// Not here:  what an expert is worth to an answer (store_policy.h), evicting itself (store.c), what
//            may not be touched (its state and entry say that).
//
// The choice is the same for all policies: the least worth of a slot of the class, or a whole extent
// of another class when everything in it is worth less than that.
//
// What STORE_ASCENDING brought in goes before everything else, latest first: a prompt comes round
// to the same layers with every chunk, so the first that it read are the first that it needs again;
// and what an answer works with is not pushed out by the prompt.
#ifndef STORE_STORE_EVICT_H
#define STORE_STORE_EVICT_H

#include "store/store_policy.h"
#include "store/store_pool.h"

struct store_evict {
    const struct store_policy *policy;
    struct store_shape shape;
    void *state;       // the policy's
    uint64_t *mark;    // [experts] what is said here of each beside the policy; 0: nothing
    uint64_t now;      // counts up what prompts bring in
};

// mark and state: zeroed, state of policy->bytes(), the caller's; so is what shape points to.
void store_evict_init(struct store_evict *evict, const struct store_policy *policy,
                      const struct store_shape *shape, uint64_t *mark, void *state);
// A layer begins to be computed with these of its experts: ids within it.
void store_evict_step(struct store_evict *evict, uint32_t layer, const uint32_t *ids,
                      uint32_t count, enum store_order order);
// A step of this order reads the expert, numbered over all layers.
void store_evict_inserted(struct store_evict *evict, uint32_t expert, enum store_order order);
// Somebody foresees that the next step of an answer in its layer uses the expert: until then it goes
// after all others.
void store_evict_expected(struct store_evict *evict, uint32_t expert);

struct store_victim {
    uint32_t slot, count; // count neighbours, EMPTY ones among them; the others are READY, unkept
};
// What to empty for one expert of the class. keep: what an answer has used stays.
// false: everything has to stay.
bool store_evict_choose(const struct store_evict *evict, const struct store_pool *pool,
                        uint32_t size_class, bool keep, struct store_victim *out);

// The extent whose best expert is worth least, empty ones first; for a pool that shrinks. STORE_NONE:
// there is none, or in each something has to stay.
uint32_t store_evict_extent(const struct store_evict *evict, const struct store_pool *pool);

#endif
