// SPDX-License-Identifier: Apache-2.0
#include "store/store_evict.h"

#include <string.h>

// What an answer has used is worth this and more.
#define KEEP (UINT64_C(1) << 63)
// Marks: what a prompt brought in has the time when it did.
#define EXPECTED UINT64_MAX
#define KNOWN    (UINT64_MAX - 1)

void store_evict_init(struct store_evict *evict, const struct store_policy *policy,
                      const struct store_shape *shape, uint64_t *mark, void *state) {
    *evict = (struct store_evict){.policy = policy, .shape = *shape, .state = state, .mark = mark};
    policy->start(state, shape);
}

void store_evict_step(struct store_evict *evict, uint32_t layer, const uint32_t *ids,
                      uint32_t count, enum store_order order) {
    store_evict_forget(evict);
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
    if (order == STORE_ASCENDING && evict->mark[expert] != KNOWN)
        evict->mark[expert] = ++evict->now;
}

void store_evict_known(struct store_evict *evict, uint32_t expert) {
    evict->mark[expert] = KNOWN;
}

void store_evict_expected(struct store_evict *evict, uint32_t expert) {
    evict->mark[expert] = EXPECTED;
}

// Of one slot, exact if it is below least. UINT64_MAX: it may not go.
static inline uint64_t slot_worth(const struct store_evict *evict, const struct store_slot *slot,
                           uint64_t least) {
    if (slot->state == STORE_SLOT_EMPTY) return 0;
    if (slot->state != STORE_SLOT_READY || slot->entry != STORE_NONE) return UINT64_MAX;
    uint64_t mark = evict->mark[slot->expert];
    if (mark == EXPECTED) return UINT64_MAX - 1;
    if (mark != 0 && mark != KNOWN) return KEEP - mark;
    if (least <= KEEP) return KEEP;
    return KEEP + evict->policy->worth(evict->state, slot->expert, least - KEEP);
}

// Of the best expert of an extent; least as above.
static uint64_t extent_worth(const struct store_evict *evict, const struct store_pool *pool,
                             uint32_t extent, uint64_t least) {
    uint32_t first = extent * pool->cut->extent_slots;
    uint32_t count = store_pool_extent_room(pool, pool->extent[extent].size_class);
    uint64_t most = 0;
    for (uint32_t slot = first; slot < first + count && most < least; slot++) {
        uint64_t worth = slot_worth(evict, &pool->slot[slot], least);
        if (worth > most) most = worth;
    }
    return most;
}

// ---- the list -----------------------------------------------------------------------------------

static void list_insert(struct store_evict_list *list, uint64_t worth,
                        struct store_victim victim) {
    uint32_t at = list->count < list->room ? list->count++ : list->room - 1; // the last falls out
    for (; at > 0; at--) {
        const struct store_evict_entry *before = &list->entry[at - 1];
        if (before->worth < worth) break;
        if (before->worth == worth && before->victim.slot < victim.slot) break;
        list->entry[at] = *before;
    }
    list->entry[at] = (struct store_evict_entry){worth, victim};
    if (list->count == list->room) list->bound = list->entry[list->count - 1].worth;
}

static inline void list_add(struct store_evict_list *list, uint64_t worth, uint32_t slot,
                            uint32_t count) {
    if (worth < list->bound) list_insert(list, worth, (struct store_victim){slot, count});
}

static void list_remove(struct store_evict_list *list, uint32_t at) {
    list->count--;
    memmove(&list->entry[at], &list->entry[at + 1],
            (list->count - at) * sizeof list->entry[0]);
}

// Slots of extents of the class are victims one by one, extents of other classes as a whole.
static void list_make(struct store_evict *evict, const struct store_pool *pool,
                      uint32_t size_class, uint64_t bound, uint32_t room) {
    struct store_evict_list *list = &evict->list;
    list->valid = true;
    list->size_class = size_class;
    list->count = 0;
    list->bound = bound;
    list->room = room == 0 ? 1 : room < STORE_EVICT_LIST ? room : STORE_EVICT_LIST;
    for (uint32_t i = 0; i < pool->cut->extents; i++) {
        uint32_t first = i * pool->cut->extent_slots;
        if (pool->extent[i].size_class >= pool->cut->classes) continue; // free or gone
        uint32_t count = store_pool_extent_room(pool, pool->extent[i].size_class);
        if (pool->extent[i].size_class != size_class) {
            list_add(list, extent_worth(evict, pool, i, list->bound), first, count);
            continue;
        }
        for (uint32_t slot = first; slot < first + count; slot++)
            list_add(list, slot_worth(evict, &pool->slot[slot], list->bound), slot, 1);
    }
}

// What the victim is worth now; UINT64_MAX: it is none any more.
static uint64_t victim_worth(const struct store_evict *evict, const struct store_pool *pool,
                             const struct store_victim *victim) {
    uint32_t extent = store_pool_extent_of(pool, victim->slot);
    uint32_t size_class = pool->extent[extent].size_class;
    if (size_class == evict->list.size_class)
        return victim->count > 1 || pool->slot[victim->slot].state == STORE_SLOT_EMPTY
                   ? UINT64_MAX
                   : slot_worth(evict, &pool->slot[victim->slot], UINT64_MAX);
    if (size_class >= pool->cut->classes) return UINT64_MAX; // free or gone
    return extent_worth(evict, pool, extent, UINT64_MAX);
}

void store_evict_released(struct store_evict *evict, const struct store_pool *pool, uint32_t slot) {
    struct store_evict_list *list = &evict->list;
    uint32_t extent = store_pool_extent_of(pool, slot);
    if (!list->valid) return;
    if (pool->extent[extent].size_class == list->size_class)
        list_add(list, slot_worth(evict, &pool->slot[slot], list->bound), slot, 1);
    else
        store_evict_forget(evict); // its extent may be a victim now
}

void store_evict_forget(struct store_evict *evict) {
    evict->list.valid = false;
}

bool store_evict_choose(struct store_evict *evict, const struct store_pool *pool,
                        uint32_t size_class, bool keep, uint32_t soon, struct store_victim *out) {
    struct store_evict_list *list = &evict->list;
    uint64_t limit = keep ? KEEP : UINT64_MAX;
    if (!list->valid || list->size_class != size_class)
        list_make(evict, pool, size_class, limit, soon);
    for (;;) {
        while (list->count > 0) {
            struct store_evict_entry first = list->entry[0];
            uint64_t worth = victim_worth(evict, pool, &first.victim);
            if (worth == first.worth) {
                *out = first.victim;
                return worth < limit;
            }
            list_remove(list, 0);
            list_add(list, worth, first.victim.slot, first.victim.count);
        }
        if (list->bound >= limit) return false;
        list_make(evict, pool, size_class, limit, soon);
        if (list->count == 0) return false;
    }
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
