// SPDX-License-Identifier: Apache-2.0
#include "store/store_slot.h"

#include "base/check.h"

enum { E = STORE_SLOT_EMPTY, L = STORE_SLOT_LOADING, R = STORE_SLOT_READY, H = STORE_SLOT_HELD };

static const bool allowed[STORE_SLOT_STATES][STORE_SLOT_STATES] = {
    [E][L] = true, [L][R] = true, [L][E] = true, [R][H] = true, [R][E] = true, [H][R] = true,
};

void store_slot_move(struct store_slot *slot, enum store_slot_state to) {
    LOCUM_ASSERT(allowed[slot->state][to]);
    slot->state = to;
}

const char *store_slot_state_name(enum store_slot_state state) {
    static const char *const names[STORE_SLOT_STATES] = {
        [E] = "empty", [L] = "loading", [R] = "ready", [H] = "held"};
    return names[state];
}
