// SPDX-License-Identifier: Apache-2.0
#include "store/store_policy.h"

struct lru {
    struct store_shape shape;
    uint64_t now;    // uses
    uint64_t last[]; // [experts] the use
};

static size_t lru_bytes(uint32_t layers, uint32_t experts) {
    (void)layers;
    return sizeof(struct lru) + experts * sizeof(uint64_t);
}

static void lru_start(void *state, const struct store_shape *shape) {
    ((struct lru *)state)->shape = *shape;
}

static void lru_step(void *state, uint32_t layer, const uint32_t *ids, uint32_t count) {
    struct lru *lru = state;
    for (uint32_t i = 0; i < count; i++)
        lru->last[lru->shape.layer_first[layer] + ids[i]] = ++lru->now;
}

static uint64_t lru_worth(void *state, uint32_t expert, uint64_t enough) {
    (void)enough;
    return ((const struct lru *)state)->last[expert];
}

const struct store_policy store_policy_lru = {"lru", lru_bytes, lru_start, lru_step, lru_worth, NULL};
