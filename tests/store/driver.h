// SPDX-License-Identifier: Apache-2.0
//
// Runs random steps through a store and checks after every call what must always hold: an expert
// has its own bytes when it is given out and still when it is given back, each comes once and in
// the order that was asked for, a hit was there before, and the store's invariants.
#ifndef TESTS_STORE_DRIVER_H
#define TESTS_STORE_DRIVER_H

#include "tests/store/fake_model.h"
#include "tests/store/sim_random.h"

struct driver {
    struct sim_random random;
    const struct fake_model *model;
    struct store *store;
    uint32_t held_most; // experts held while another is waited for, below what the floor is for
    bool may_fail;      // reads may fail for good
    bool may_cancel;    // steps may end before all is taken
    bool may_hint;      // the next layer's experts are hinted at
    bool warms;         // what earlier runs used may be on its way when a step begins
    bool may_resize;    // the pool changes its size between steps
    void (*checked)(const struct driver *driver); // after every call; may be NULL

    uint64_t failed, hits, misses, revoked; // revoked: hits whose slot was needed before their turn
    uint64_t hinted, resizes;                // of the hits; of the pool
};

// One step over layer `number` modulo their count, in a random order, with random experts.
void driver_step(struct driver *driver, uint32_t number);

#endif
