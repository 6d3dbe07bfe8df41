// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the body of a store, for the files that implement store.h.
// Called by: store.c, store_check.c.
// Threads:   the store's one thread.
// Errors:    none.
// Not here:  anything for the rest of the library (store.h).
#ifndef STORE_STORE_STATE_H
#define STORE_STORE_STATE_H

#include "platform/vmem.h"
#include "store/store_evict.h"
#include "store/store_hint.h"
#include "store/store_read.h"
#include "store/store_uses.h"
#include "store/store_verify.h"

// One expert of the running step.
enum store_entry_state {
    STORE_ENTRY_WAITING, // for room or for the reader; no slot
    STORE_ENTRY_COMING,  // its slot is LOADING, or READY and kept
    STORE_ENTRY_TAKEN,   // its slot is HELD
    STORE_ENTRY_DONE,    // no slot
    STORE_ENTRY_FAILED,  // no slot
};

struct store_entry {
    uint32_t id;   // within the layer
    uint32_t slot; // STORE_NONE: see the state
    enum store_entry_state state;
    bool read;   // this step reads it: a miss
    bool hinted; // not a miss, because a hint named it
};

struct store_step {
    bool active;
    uint32_t layer, count;
    enum store_order order;
    enum store_phase phase;
    struct store_entry *entry; // [experts of the widest layer]
    uint32_t taken;            // with STORE_ASCENDING also the next to be taken
    uint32_t waiting;          // entries WAITING
    uint32_t waiting_from;     // none below this one
    uint32_t passing;          // slots that hold misses of this step and are not done
    uint32_t *ready;           // STORE_ANY: entries in the order in which they became ready
    uint32_t ready_count;      // of them ready[taken] is the next
    locum_status status;       // of the first expert that failed
    locum_error error;
};

struct store {
    struct store_cut cut;
    struct store_pool pool;
    struct store_evict evict;
    struct store_reader reader;
    struct store_step step;
    struct store_hints hints;
    struct store_uses uses;
    struct store_verify verify;
    uint32_t hint_loads; // experts on their way for no step (a hint, earlier runs): LOADING, no entry
    struct vmem memory; // the pool's

    uint32_t layers;
    struct store_layer *layer;    // [layers]
    struct platform_file **files; // [file_count]
    uint32_t file_count;
    uint32_t *layer_first; // [layers + 1] number of its first expert, over all layers
    uint32_t *expert_slot; // [experts of all layers] STORE_NONE: not in the pool
    uint32_t passing_most[STORE_CLASSES], passing_wanted;

    struct store_stats stats; // what is counted here; the rest is gathered when asked
    uint64_t bookkeeping;     // bytes of this structure and its arrays
    uint64_t full_bytes;      // of extents that hold every expert
    char io_name[32];
    store_io_fn io; // NULL: nobody is told
    void *io_user;
};

// Number of the layer that an expert belongs to.
static inline uint32_t store_layer_of(const struct store *store, uint32_t expert) {
    uint32_t layer = 0;
    while (layer + 1 < store->layers && store->layer_first[layer + 1] <= expert)
        layer++;
    return layer;
}

#endif
