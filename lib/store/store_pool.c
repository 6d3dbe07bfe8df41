// SPDX-License-Identifier: Apache-2.0
#include "store/store_pool.h"

#include "base/check.h"

void store_pool_init(struct store_pool *pool, const struct store_cut *cut, uint8_t *memory,
                     struct store_extent *extents, struct store_slot *slots) {
    *pool = (struct store_pool){.cut = cut,
                                .memory = memory,
                                .extent = extents,
                                .slot = slots,
                                .extents_free = cut->extents};
    for (uint32_t i = 0; i < cut->extents; i++)
        extents[i] = (struct store_extent){0, STORE_EXTENT_FREE};
    for (uint32_t i = 0; i < store_pool_slots(pool); i++)
        slots[i] = (struct store_slot){STORE_NONE, STORE_NONE, STORE_SLOT_EMPTY, false, false};
}

static uint32_t first_empty(const struct store_pool *pool, uint32_t extent) {
    uint32_t slot = extent * pool->cut->extent_slots;
    while (pool->slot[slot].state != STORE_SLOT_EMPTY)
        slot++;
    return slot;
}

uint32_t store_pool_find(const struct store_pool *pool, uint32_t size_class) {
    bool partly = pool->room[size_class] > 0; // fill what is begun before a new extent is begun
    if (!partly && pool->extents_free == 0) return STORE_NONE;
    uint32_t room = store_pool_extent_room(pool, size_class);
    for (uint32_t i = 0;; i++) {
        LOCUM_ASSERT(i < pool->cut->extents);
        const struct store_extent *extent = &pool->extent[i];
        if (partly ? extent->size_class == size_class && extent->used < room
                   : extent->size_class == STORE_EXTENT_FREE)
            return first_empty(pool, i);
    }
}

void store_pool_fill(struct store_pool *pool, uint32_t slot, uint32_t size_class, uint32_t expert) {
    struct store_extent *extent = &pool->extent[store_pool_extent_of(pool, slot)];
    if (extent->size_class == STORE_EXTENT_FREE) {
        extent->size_class = (uint8_t)size_class;
        pool->extents_free--;
        pool->room[size_class] += store_pool_extent_room(pool, size_class);
    }
    LOCUM_ASSERT(extent->size_class == size_class);
    store_slot_move(&pool->slot[slot], STORE_SLOT_LOADING);
    pool->slot[slot].expert = expert;
    extent->used++;
    pool->room[size_class]--;
    pool->bytes_used += pool->cut->size_class[size_class].slot_bytes;
}

void store_pool_empty(struct store_pool *pool, uint32_t slot) {
    struct store_extent *extent = &pool->extent[store_pool_extent_of(pool, slot)];
    uint32_t size_class = extent->size_class;
    LOCUM_ASSERT(extent->used > 0 && size_class < pool->cut->classes);
    store_slot_move(&pool->slot[slot], STORE_SLOT_EMPTY);
    pool->slot[slot].expert = STORE_NONE;
    pool->slot[slot].entry = STORE_NONE;
    pool->slot[slot].hinted = false;
    pool->room[size_class]++;
    pool->bytes_used -= pool->cut->size_class[size_class].slot_bytes;
    if (--extent->used == 0) {
        extent->size_class = STORE_EXTENT_FREE;
        pool->extents_free++;
        pool->room[size_class] -= store_pool_extent_room(pool, size_class);
    }
}

void store_pool_withdraw(struct store_pool *pool, uint32_t extent) {
    LOCUM_ASSERT(pool->extent[extent].size_class == STORE_EXTENT_FREE);
    pool->extent[extent].size_class = STORE_EXTENT_GONE;
    pool->extents_free--;
    pool->extents_gone++;
}

void store_pool_restore(struct store_pool *pool, uint32_t extent) {
    LOCUM_ASSERT(pool->extent[extent].size_class == STORE_EXTENT_GONE);
    pool->extent[extent].size_class = STORE_EXTENT_FREE;
    pool->extents_free++;
    pool->extents_gone--;
}

uint8_t *store_pool_address(const struct store_pool *pool, uint32_t slot) {
    const struct store_cut *cut = pool->cut;
    uint32_t number = store_pool_extent_of(pool, slot);
    uint32_t size_class = pool->extent[number].size_class;
    LOCUM_ASSERT(size_class < cut->classes);
    return pool->memory + number * cut->extent_bytes +
           slot % cut->extent_slots * cut->size_class[size_class].slot_bytes;
}
