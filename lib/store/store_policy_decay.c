// SPDX-License-Identifier: Apache-2.0
//
// Use counts that fade: a use counts half after HALF_LIFE steps of its layer.
#include "store/store_policy.h"

#include "store/store_math.h"

#define HALF_LIFE 16.0f

struct decay {
    struct store_shape shape;
    float keep;    // of a count, each step
    float count[]; // [experts]
};

static size_t decay_bytes(uint32_t layers, uint32_t experts) {
    (void)layers;
    return sizeof(struct decay) + experts * sizeof(float);
}

static void decay_start(void *state, const struct store_shape *shape) {
    struct decay *decay = state;
    decay->shape = *shape;
    decay->keep = store_math_exp2(-1.0f / HALF_LIFE);
}

static void decay_step(void *state, uint32_t layer, const uint32_t *ids, uint32_t count) {
    struct decay *decay = state;
    uint32_t first = decay->shape.layer_first[layer];
    for (uint32_t e = first; e < decay->shape.layer_first[layer + 1]; e++)
        decay->count[e] *= decay->keep;
    for (uint32_t i = 0; i < count; i++)
        decay->count[first + ids[i]] += 1.0f;
}

static uint64_t decay_worth(void *state, uint32_t expert, uint64_t enough) {
    (void)enough;
    return store_math_order(((const struct decay *)state)->count[expert]);
}

const struct store_policy store_policy_decay = {"decay", decay_bytes, decay_start, decay_step,
                                                decay_worth, NULL};
