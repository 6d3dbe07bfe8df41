// SPDX-License-Identifier: Apache-2.0
//
// The invariants, one function per table; each states in its message what does not hold.
#include "store/store.h"

#include "store/store_state.h"

#define CHECK(condition, ...)                                  \
    do {                                                       \
        if (!(condition)) {                                    \
            status_fail(error, LOCUM_E_ARGUMENT, __VA_ARGS__); \
            return false;                                      \
        }                                                      \
    } while (0)


static bool check_slot(const struct store *store, uint32_t number, uint32_t size_class,
                       locum_error *error) {
    const struct store_slot *slot = &store->pool.slot[number];
    const char *state = store_slot_state_name(slot->state);
    if (slot->state == STORE_SLOT_EMPTY) {
        CHECK(slot->expert == STORE_NONE && slot->entry == STORE_NONE && !slot->hinted,
              "slot %u is empty and belongs to expert %u", number, slot->expert);
        return true;
    }
    CHECK(slot->expert < store->cut.experts, "slot %u (%s) has no expert", number, state);
    CHECK(store->expert_slot[slot->expert] == number, "slot %u (%s): expert %u is in slot %u",
          number, state, slot->expert, store->expert_slot[slot->expert]);
    CHECK(store->cut.layer_class[store_layer_of(store, slot->expert)] == size_class,
          "slot %u (%s): expert %u lies in an extent of class %u", number, state, slot->expert,
          size_class);
    const struct store_step *step = &store->step;
    if (slot->entry != STORE_NONE) {
        CHECK(step->active && slot->entry < step->count, "slot %u (%s) is kept for no step", number,
              state);
        CHECK(step->entry[slot->entry].slot == number,
              "slot %u (%s) is kept for an entry of slot %u", number, state,
              step->entry[slot->entry].slot);
    }
    CHECK(slot->state != STORE_SLOT_HELD ||
              (slot->entry != STORE_NONE && step->entry[slot->entry].state == STORE_ENTRY_TAKEN),
          "slot %u is held by nobody", number);
    return true;
}

static bool check_pool(const struct store *store, locum_error *error) {
    const struct store_pool *pool = &store->pool;
    uint32_t extents_free = 0, extents_gone = 0, room[STORE_CLASSES] = {0}, loading = 0, full = 0, hinted = 0;
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < pool->cut->extents; i++) {
        const struct store_extent *extent = &pool->extent[i];
        bool is_gone = extent->size_class == STORE_EXTENT_GONE;
        bool is_free = is_gone || extent->size_class == STORE_EXTENT_FREE;
        CHECK(is_free || extent->size_class < pool->cut->classes, "extent %u has class %u", i,
              extent->size_class);
        uint32_t slots = is_free ? 0 : store_pool_extent_room(pool, extent->size_class);
        uint32_t used = 0;
        for (uint32_t k = 0; k < pool->cut->extent_slots; k++) {
            uint32_t number = i * pool->cut->extent_slots + k;
            enum store_slot_state state = pool->slot[number].state;
            CHECK(k < slots || state == STORE_SLOT_EMPTY, "slot %u lies past its extent", number);
            used += state != STORE_SLOT_EMPTY;
            loading += state == STORE_SLOT_LOADING;
            hinted += state == STORE_SLOT_LOADING && pool->slot[number].entry == STORE_NONE;
            if (!check_slot(store, number, extent->size_class, error)) return false;
        }
        CHECK(used == extent->used && is_free == (used == 0), "extent %u has %u of %u slots in use",
              i, used, extent->used);
        extents_free += is_free && !is_gone;
        extents_gone += is_gone;
        full += used;
        if (!is_free) {
            room[extent->size_class] += slots - used;
            bytes += used * pool->cut->size_class[extent->size_class].slot_bytes;
        }
    }
    CHECK(extents_free == pool->extents_free, "%u extents are free, not %u", extents_free,
          pool->extents_free);
    CHECK(extents_gone == pool->extents_gone, "%u extents are gone, not %u", extents_gone,
          pool->extents_gone);
    for (uint32_t i = 0; i < pool->cut->classes; i++)
        CHECK(room[i] == pool->room[i], "class %u has room for %u, not %u", i, room[i],
              pool->room[i]);
    CHECK(bytes == pool->bytes_used, "the slots use %llu bytes, not %llu",
          (unsigned long long)bytes, (unsigned long long)pool->bytes_used);
    CHECK(pool->cut->extents * pool->cut->extent_bytes <= store->memory.bytes,
          "the pool is larger than its memory");
    CHECK(loading == store_read_loads(&store->reader), "%u slots are loading, %u reads run",
          loading, store_read_loads(&store->reader));
    CHECK(hinted == store->hint_loads, "%u slots are loading for no step, %u reads for hints run",
          hinted, store->hint_loads);
    uint32_t placed = 0;
    for (uint32_t i = 0; i < store->cut.experts; i++)
        placed += store->expert_slot[i] != STORE_NONE;
    CHECK(placed == full, "%u experts are placed in %u slots", placed, full);
    return true;
}

static bool check_entry(const struct store *store, uint32_t number, locum_error *error) {
    const struct store_entry *entry = &store->step.entry[number];
    bool placed = entry->state == STORE_ENTRY_COMING || entry->state == STORE_ENTRY_TAKEN;
    CHECK(placed == (entry->slot != STORE_NONE), "entry %u: state %u, slot %u", number,
          (unsigned)entry->state, entry->slot);
    if (!placed) return true;
    CHECK(entry->slot < store_pool_slots(&store->pool), "entry %u: slot %u", number, entry->slot);
    const struct store_slot *slot = &store->pool.slot[entry->slot];
    CHECK(slot->entry == number, "entry %u: slot %u is kept for entry %u", number, entry->slot,
          slot->entry);
    CHECK(slot->expert == store->layer_first[store->step.layer] + entry->id,
          "entry %u: slot %u holds expert %u", number, entry->slot, slot->expert);
    CHECK((slot->state == STORE_SLOT_HELD) == (entry->state == STORE_ENTRY_TAKEN),
          "entry %u: slot %u is %s", number, entry->slot, store_slot_state_name(slot->state));
    return true;
}

static bool check_step(const struct store *store, locum_error *error) {
    const struct store_step *step = &store->step;
    uint32_t waiting = 0, taken = 0, passing = 0;
    for (uint32_t i = 0; step->active && i < step->count; i++) {
        const struct store_entry *entry = &step->entry[i];
        if (!check_entry(store, i, error)) return false;
        bool waits = entry->state == STORE_ENTRY_WAITING;
        CHECK(!waits || i >= step->waiting_from, "entry %u waits, the search begins at %u", i,
              step->waiting_from);
        waiting += waits;
        taken += entry->state == STORE_ENTRY_TAKEN || entry->state == STORE_ENTRY_DONE;
        passing += entry->read && entry->slot != STORE_NONE;
    }
    if (step->active) {
        CHECK(waiting == step->waiting, "%u entries wait, not %u", waiting, step->waiting);
        CHECK(taken == step->taken, "%u entries are taken, not %u", taken, step->taken);
        CHECK(passing == step->passing, "%u misses have slots, not %u", passing, step->passing);
    }
    return true;
}

bool store_check(const struct store *store, locum_error *error) {
    return check_pool(store, error) && check_step(store, error);
}
