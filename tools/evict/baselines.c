// SPDX-License-Identifier: Apache-2.0
#include "baselines.h"

enum { LFUDA_CAP = 12 };

// ---- counts -------------------------------------------------------------------------------------
// The worth of an expert is its count at its last use and the age of the cache then; among equals,
// how recent that was.

struct counted {
    struct store_shape shape;
    float most; // a count stops there
    float age;
    uint32_t now;
    struct {
        float count, worth;
        uint32_t last;
    } expert[];
};

static size_t counted_bytes(uint32_t layers, uint32_t experts) {
    (void)layers;
    return sizeof(struct counted) + experts * sizeof((struct counted *)0)->expert[0];
}

static void counted_start(void *state, const struct store_shape *shape) {
    struct counted *counted = state;
    counted->shape = *shape;
    counted->most = 1 << 20;
}

static void lfuda_start(void *state, const struct store_shape *shape) {
    counted_start(state, shape);
    ((struct counted *)state)->most = LFUDA_CAP;
}

static void counted_step(void *state, uint32_t layer, const uint32_t *ids, uint32_t count) {
    struct counted *counted = state;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t e = counted->shape.layer_first[layer] + ids[i];
        float uses = counted->expert[e].count + 1.0f;
        counted->expert[e].count = uses < counted->most ? uses : counted->most;
        counted->expert[e].worth = counted->expert[e].count + counted->age;
        counted->expert[e].last = ++counted->now;
    }
}

static uint64_t counted_worth(void *state, uint32_t expert, uint64_t enough) {
    (void)enough;
    const struct counted *counted = state;
    // Counts are halves of halves: 2^-10 is fine enough.
    uint64_t worth = (uint64_t)((double)counted->expert[expert].worth * (1 << 10));
    return worth << 32 | counted->expert[expert].last;
}

static void forget(void *state, uint32_t expert) {
    ((struct counted *)state)->expert[expert].count = 0.0f;
}

// Dynamic aging: who comes in now is worth more than who has gone.
static void grow_old(void *state, uint32_t expert) {
    struct counted *counted = state;
    counted->age = counted->expert[expert].worth;
    counted->expert[expert].count *= 0.5f;
}

static const struct store_policy counts = {"counts", counted_bytes, counted_start, counted_step,
                                           counted_worth, NULL};
static const struct store_policy lfuda = {"lfuda", counted_bytes, lfuda_start, counted_step,
                                          counted_worth, NULL};

// ---- the optimum --------------------------------------------------------------------------------

struct belady {
    const uint64_t *needed; // [rows] when the row's expert is needed again; set by the replay
    struct store_shape shape;
    size_t row;
    uint64_t expert[]; // [experts] when
};

static size_t belady_bytes(uint32_t layers, uint32_t experts) {
    (void)layers;
    return sizeof(struct belady) + experts * sizeof(uint64_t);
}

static void belady_start(void *state, const struct store_shape *shape) {
    ((struct belady *)state)->shape = *shape;
}

static void belady_step(void *state, uint32_t layer, const uint32_t *ids, uint32_t count) {
    struct belady *belady = state;
    for (uint32_t i = 0; i < count; i++)
        belady->expert[belady->shape.layer_first[layer] + ids[i]] = belady->needed[belady->row++];
}

static uint64_t belady_worth(void *state, uint32_t expert, uint64_t enough) {
    (void)enough;
    return REPLAY_NEVER - ((const struct belady *)state)->expert[expert];
}

static const struct store_policy belady = {"belady", belady_bytes, belady_start, belady_step,
                                           belady_worth, NULL};

const struct baseline baselines[] = {
    {"lru", "LRU, one cache", {&store_policy_lru, false, NULL, false}, true},
    {"lru-layer", "LRU per layer", {&store_policy_lru, true, NULL, false}, true},
    {"lfu", "LFU, counts of what is in the cache", {&counts, false, forget, false}, false},
    {"lfuda", "LFUDA, counts halved on eviction", {&lfuda, false, grow_old, false}, true},
    {"ghost-layer", "LFU per layer, counts kept", {&counts, true, NULL, false}, true},
    {"decay", "decayed frequency", {&store_policy_decay, false, NULL, false}, false},
    {"next", "estimate of the next use (the default)", {&store_policy_next, false, NULL, false}, false},
    {"belady", "Belady's optimum", {&belady, false, NULL, true}, false},
};
const size_t baseline_count = sizeof baselines / sizeof *baselines;
