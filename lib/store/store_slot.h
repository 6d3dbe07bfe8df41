// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the states of a slot and the one function that changes them.
// Called by: store_pool (filled, emptied), store (everything between).
// Threads:   the store's one thread.
// Errors:    a move that the table does not have is a broken invariant.
// Not here:  where the slot lies (store_pool.h).
#ifndef STORE_STORE_SLOT_H
#define STORE_STORE_SLOT_H

#include <stdbool.h>
#include <stdint.h>

#define STORE_NONE UINT32_MAX // no slot, no expert, no entry

//     EMPTY -> LOADING -> READY <-> HELD      READY -> EMPTY (evicted)   LOADING -> EMPTY (failed)
enum store_slot_state {
    STORE_SLOT_EMPTY,   // no expert, bytes mean nothing
    STORE_SLOT_LOADING, // reads write into it
    STORE_SLOT_READY,   // holds its expert
    STORE_SLOT_HELD,    // given out by store_take, its user's
    STORE_SLOT_STATES
};

struct store_slot {
    uint32_t expert; // number over all layers; STORE_NONE: empty
    uint32_t entry;  // of the running step, which keeps it; STORE_NONE: may be evicted when READY
    enum store_slot_state state;
    bool fresh;  // nobody was done with it since it was read
    bool hinted; // read for the sake of a hint, and no step has needed it since
};

// The only place where a state changes.
void store_slot_move(struct store_slot *slot, enum store_slot_state to);

const char *store_slot_state_name(enum store_slot_state state);

#endif
