// SPDX-License-Identifier: Apache-2.0
#include "store/store_evict.h"

// ---- least recently used ------------------------------------------------------------------------
// The state of an expert is its worth: KEEP + time of last use; what a prompt brought: KEEP - time.

static void lru_touched(void *state, uint32_t expert, enum store_order order, uint64_t now) {
    uint64_t *worth = state;
    if (order == STORE_ANY) worth[expert] = STORE_EVICT_KEEP + now;
}

static void lru_inserted(void *state, uint32_t expert, enum store_order order, uint64_t now) {
    uint64_t *worth = state;
    worth[expert] = order == STORE_ANY ? STORE_EVICT_KEEP + now : STORE_EVICT_KEEP - now;
}

static uint64_t lru_worth(const void *state, uint32_t expert) {
    return ((const uint64_t *)state)[expert];
}

const struct store_policy store_evict_lru = {
    .name = "lru",
    .state_bytes = sizeof(uint64_t),
    .touched = lru_touched,
    .inserted = lru_inserted,
    .worth = lru_worth,
};

// ---- the choice ---------------------------------------------------------------------------------

void store_evict_init(struct store_evict *evict, const struct store_policy *policy, void *state) {
    *evict = (struct store_evict){policy, state, 0};
}

void store_evict_touched(struct store_evict *evict, uint32_t expert, enum store_order order) {
    evict->policy->touched(evict->state, expert, order, ++evict->now);
}

void store_evict_inserted(struct store_evict *evict, uint32_t expert, enum store_order order) {
    evict->policy->inserted(evict->state, expert, order, ++evict->now);
}

// Of one slot. UINT64_MAX: it may not go.
static uint64_t slot_worth(const struct store_evict *evict, const struct store_slot *slot) {
    if (slot->state == STORE_SLOT_EMPTY) return 0;
    if (slot->state != STORE_SLOT_READY || slot->entry != STORE_NONE) return UINT64_MAX;
    return evict->policy->worth(evict->state, slot->expert);
}

// The pool has no EMPTY slot for the class (store_pool_find said so), so the slots of its extents
// are victims one by one, and the extents of other classes as a whole. Walks every slot: some
// microseconds beside a read of a millisecond.
bool store_evict_choose(const struct store_evict *evict, const struct store_pool *pool,
                        uint32_t size_class, bool keep, struct store_victim *out) {
    uint64_t least = keep ? STORE_EVICT_KEEP : UINT64_MAX;
    bool found = false;
    for (uint32_t i = 0; i < pool->cut->extents; i++) {
        uint32_t first = i * pool->cut->extent_slots;
        if (pool->extent[i].size_class == STORE_EXTENT_GONE) continue;
        uint32_t count = store_pool_extent_room(pool, pool->extent[i].size_class);
        uint64_t most = 0; // of the whole extent
        for (uint32_t slot = first; slot < first + count; slot++) {
            uint64_t worth = slot_worth(evict, &pool->slot[slot]);
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
            uint64_t worth = slot_worth(evict, &pool->slot[slot]);
            if (worth > most) most = worth;
        }
        if (most >= least) continue;
        least = most;
        found = i;
    }
    return found;
}
