// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the slots: which are free, which class an extent has, where their bytes lie.
// Called by: store, store_evict.
// Threads:   the store's one thread; the bytes of a slot belong to whoever its state says.
// Errors:    none after creation.
// Not here:  sizes (store_cut.h), who has to go (store_evict.h), which expert is where (store.c).
//
//     memory   | extent 0: class 1      | extent 1: class 0        | extent 2: no class, empty |
//              | slot 0 | slot 1 |      | slot 8     | slot 9    | |                           |
//
// Slot numbers have a fixed stride per extent, so that number -> extent needs no table; numbers
// that an extent of large slots does not use stay EMPTY.
#ifndef STORE_STORE_POOL_H
#define STORE_STORE_POOL_H

#include "store/store_cut.h"
#include "store/store_slot.h"

enum {
    STORE_EXTENT_FREE = UINT8_MAX,
    STORE_EXTENT_GONE = UINT8_MAX - 1 // withdrawn: no memory behind it
};

struct store_extent {
    uint32_t used;      // slots that are not EMPTY
    uint8_t size_class; // STORE_EXTENT_FREE or STORE_EXTENT_GONE when used is 0
};

struct store_pool {
    const struct store_cut *cut;
    uint8_t *memory; // [cut->extents * cut->extent_bytes]
    struct store_extent *extent;
    struct store_slot *slot; // [cut->extents * cut->extent_slots]

    uint32_t extents_free, extents_gone;
    uint32_t room[STORE_CLASSES]; // EMPTY slots in the extents of each class
    uint64_t bytes_used;          // of the slots that are not EMPTY
};

// The arrays are the caller's.
void store_pool_init(struct store_pool *pool, const struct store_cut *cut, uint8_t *memory,
                     struct store_extent *extents, struct store_slot *slots);

static inline uint32_t store_pool_slots(const struct store_pool *pool) {
    return pool->cut->extents * pool->cut->extent_slots;
}
static inline uint32_t store_pool_extent_of(const struct store_pool *pool, uint32_t slot) {
    return slot / pool->cut->extent_slots;
}
// Slots that an extent of this class has.
static inline uint32_t store_pool_extent_room(const struct store_pool *pool, uint32_t size_class) {
    return (uint32_t)(pool->cut->extent_bytes / pool->cut->size_class[size_class].slot_bytes);
}

// Lowest EMPTY slot for the class, or of a free extent; STORE_NONE: something has to go first.
uint32_t store_pool_find(const struct store_pool *pool, uint32_t size_class);
// EMPTY -> LOADING for an expert of the class. slot: what store_pool_find gave.
void store_pool_fill(struct store_pool *pool, uint32_t slot, uint32_t size_class, uint32_t expert);
// -> EMPTY. An extent whose last slot goes belongs to no class any more.
void store_pool_empty(struct store_pool *pool, uint32_t slot);

// FREE -> GONE and back: the pool is smaller meanwhile.
void store_pool_withdraw(struct store_pool *pool, uint32_t extent);
void store_pool_restore(struct store_pool *pool, uint32_t extent);
static inline uint32_t store_pool_extents(const struct store_pool *pool) {
    return pool->cut->extents - pool->extents_gone;
}

// Of a slot that is not EMPTY.
uint8_t *store_pool_address(const struct store_pool *pool, uint32_t slot);

#endif
