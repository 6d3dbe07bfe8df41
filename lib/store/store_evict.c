// SPDX-License-Identifier: Apache-2.0
#include "store/store_evict.h"

// What an answer has used is worth this and more.
#define KEEP (UINT64_C(1) << 63)
// Marks: what a prompt brought in has the time when it did.
#define EXPECTED UINT64_MAX

void store_evict_init(struct store_evict *evict, const struct store_policy *policy,
                      const struct store_shape *shape, uint64_t *mark, void *state) {
    *evict = (struct store_evict){policy, *shape, state, mark, 0};
    policy->start(state, shape);
}

void store_evict_step(struct store_evict *evict, uint32_t layer, const uint32_t *ids,
                      uint32_t count, enum store_order order) {
    if (order != STORE_ANY) return; // a prompt passes by: no merit
    uint64_t *mark = evict->mark + evict->shape.layer_first[layer];
    uint32_t experts = evict->shape.layer_first[layer + 1] - evict->shape.layer_first[layer];
    for (uint32_t e = 0; e < experts; e++)
        if (mark[e] == EXPECTED) mark[e] = 0; // wrongly, if it is not among the ids
    for (uint32_t i = 0; i < count; i++)
        mark[ids[i]] = 0;
    evict->policy->step(evict->state, layer, ids, count);
}

void store_evict_inserted(struct store_evict *evict, uint32_t expert, enum store_order order) {
    if (order == STORE_ASCENDING) evict->mark[expert] = ++evict->now;
}

void store_evict_expected(struct store_evict *evict, uint32_t expert) {
    evict->mark[expert] = EXPECTED;
}

// Of one slot, exact if it is below least. UINT64_MAX: it may not go.
static uint64_t slot_worth(const struct store_evict *evict, const struct store_slot *slot,
                           uint64_t least) {
    if (slot->state == STORE_SLOT_EMPTY) return 0;
    if (slot->state != STORE_SLOT_READY || slot->entry != STORE_NONE) return UINT64_MAX;
    uint64_t mark = evict->mark[slot->expert];
    if (mark == EXPECTED) return UINT64_MAX - 1;
    if (mark != 0) return KEEP - mark;
    uint64_t enough = least > KEEP ? least - KEEP : 0;
    return KEEP + evict->policy->worth(evict->state, slot->expert, enough);
}

// The pool has no EMPTY slot for the class (store_pool_find said so), so the slots of its extents
// are victims one by one, and the extents of other classes as a whole. Walks every slot: some
// microseconds beside a read of a millisecond.
bool store_evict_choose(const struct store_evict *evict, const struct store_pool *pool,
                        uint32_t size_class, bool keep, struct store_victim *out) {
    uint64_t least = keep ? KEEP : UINT64_MAX;
    bool found = false;
    for (uint32_t i = 0; i < pool->cut->extents; i++) {
        uint32_t first = i * pool->cut->extent_slots;
        if (pool->extent[i].size_class == STORE_EXTENT_GONE) continue;
        uint32_t count = store_pool_extent_room(pool, pool->extent[i].size_class);
        uint64_t most = 0; // of the whole extent
        for (uint32_t slot = first; slot < first + count; slot++) {
            uint64_t worth = slot_worth(evict, &pool->slot[slot], least);
            if (worth > most) most = worth;
            if (pool->extent[i].size_class == size_class && worth < least) {
                least = worth;
                *out = (struct store_victim){slot, 1};
                found = true;
            }
        }
        if (pool->extent[i].size_class != size_class && most < least) {
            least = most;
            *out = (struct store_victim){first, count};
            found = true;
        }
    }
    return found;
}

uint32_t store_evict_extent(const struct store_evict *evict, const struct store_pool *pool) {
    uint64_t least = UINT64_MAX;
    uint32_t found = STORE_NONE;
    for (uint32_t i = 0; i < pool->cut->extents; i++) {
        if (pool->extent[i].size_class == STORE_EXTENT_GONE) continue;
        uint32_t first = i * pool->cut->extent_slots;
        uint64_t most = 0;
        for (uint32_t slot = first; slot < first + pool->cut->extent_slots; slot++) {
            uint64_t worth = slot_worth(evict, &pool->slot[slot], least);
            if (worth > most) most = worth;
        }
        if (most >= least) continue;
        least = most;
        found = i;
    }
    return found;
}
