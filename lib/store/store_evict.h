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
//
// A step mostly needs several victims, and no worth changes within it but of what is foreseen. So one
// walk over all slots lists the next victims, and what the step lets go is sorted in.
#ifndef STORE_STORE_EVICT_H
#define STORE_STORE_EVICT_H

#include "store/store_policy.h"
#include "store/store_pool.h"

struct store_victim {
    uint32_t slot, count; // count neighbours, EMPTY ones among them; the others are READY, unkept
};

enum { STORE_EVICT_LIST = 32 }; // victims of one walk, at most

struct store_evict_list {
    bool valid;
    uint32_t size_class; // that room is to be made for
    uint32_t room;       // of the list, for as many victims as are needed soon
    uint32_t count;      // in ascending order of worth, then of slots
    struct store_evict_entry {
        uint64_t worth; // when it was listed
        struct store_victim victim;
    } entry[STORE_EVICT_LIST];
    uint64_t bound; // what is not listed is worth at least this
};

struct store_evict {
    const struct store_policy *policy;
    struct store_shape shape;
    void *state;       // the policy's
    uint64_t *mark;    // [experts] what is said here of each beside the policy; 0: nothing
    uint64_t now;      // counts up what prompts bring in
    struct store_evict_list list;
};

// mark and state: zeroed, state of policy->bytes(), the caller's; so is what shape points to.
void store_evict_init(struct store_evict *evict, const struct store_policy *policy,
                      const struct store_shape *shape, uint64_t *mark, void *state);
// A layer begins to be computed with these of its experts: ids within it.
void store_evict_step(struct store_evict *evict, uint32_t layer, const uint32_t *ids,
                      uint32_t count, enum store_order order);
// A step of this order reads the expert, numbered over all layers.
void store_evict_inserted(struct store_evict *evict, uint32_t expert, enum store_order order);
// Earlier runs used the expert often: a prompt that brings it in brings it for the answer.
void store_evict_known(struct store_evict *evict, uint32_t expert);
// Somebody foresees that the next step of an answer in its layer uses the expert: until then it goes
// after all others.
void store_evict_expected(struct store_evict *evict, uint32_t expert);

// The slot is READY now, and no step keeps it.
void store_evict_released(struct store_evict *evict, const struct store_pool *pool, uint32_t slot);
// Something else than a victim has been emptied, or the pool has another size.
void store_evict_forget(struct store_evict *evict);

// What to empty for one expert of the class, which has no EMPTY slot. keep: what an answer has used
// stays. soon: victims that the step will probably need, this one among them. false: everything has
// to stay.
bool store_evict_choose(struct store_evict *evict, const struct store_pool *pool,
                        uint32_t size_class, bool keep, uint32_t soon, struct store_victim *out);

// The extent whose best expert is worth least, empty ones first; for a pool that shrinks. STORE_NONE:
// there is none, or in each something has to stay.
uint32_t store_evict_extent(const struct store_evict *evict, const struct store_pool *pool);

#endif
