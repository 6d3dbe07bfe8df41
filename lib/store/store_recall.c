// SPDX-License-Identifier: Apache-2.0
#include "store/store_recall.h"

#include "store/store_math.h"

#include <string.h>

// Found on traces of the bundled model and on synthetic ones (docs/store.md).
#define FADE 0.9f      // of what was shared, each layer
#define SHARPNESS 0.29f // the weight of a token doubles with every 1 / SHARPNESS experts shared
#define PRIOR 2.0f     // tokens whose choice is the average one, added to those that are known

size_t store_recall_bytes(uint32_t layers, uint32_t experts) {
    return experts * sizeof(uint64_t) + layers * sizeof(uint32_t);
}

void store_recall_start(struct store_recall *recall, const struct store_shape *shape,
                        void *memory) {
    recall->shape = *shape;
    recall->used = memory;
    recall->layer_token = (uint32_t *)(recall->used + shape->experts);
    recall->layer = UINT32_MAX;
}

// A layer that is not after the last one begins a token.
static void begin_token(struct store_recall *recall, uint32_t layer) {
    if (recall->layer == UINT32_MAX || layer <= recall->layer) {
        if (recall->token > 0 && recall->known < STORE_RECALL_TOKENS) recall->known++;
        recall->token++;
        memset(recall->alike, 0, sizeof recall->alike);
    }
    recall->layer = layer;
}

static void count_shared(struct store_recall *recall, const uint64_t *used, const uint32_t *ids,
                         uint32_t count) {
    for (uint32_t b = 0; b < STORE_RECALL_TOKENS; b++)
        recall->alike[b] *= FADE;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t bits = used[ids[i]];
        for (uint32_t b = 0; bits != 0; b++, bits >>= 1)
            if (bits & 1) recall->alike[b] += 1.0f;
    }
}

static void weigh_tokens(struct store_recall *recall) {
    float weight[STORE_RECALL_TOKENS] = {0}, most = 0.0f, total = 0.0f;
    for (uint32_t b = 0; b < recall->known; b++)
        if (recall->alike[b] > most) most = recall->alike[b];
    for (uint32_t b = 0; b < recall->known; b++) {
        weight[b] = store_math_exp2(SHARPNESS * (recall->alike[b] - most));
        total += weight[b];
    }
    float scale = recall->known == 0 ? 0.0f : (float)recall->known / total;
    for (uint32_t k = 0; k < STORE_RECALL_TOKENS / 8; k++) {
        float *sum = recall->sum[k];
        sum[0] = 0.0f;
        for (uint32_t bit = 0; bit < 8; bit++)
            for (uint32_t low = 0; low < 1u << bit; low++)
                sum[(1u << bit) + low] = sum[low] + weight[8 * k + bit] * scale;
    }
}

void store_recall_step(struct store_recall *recall, uint32_t layer, const uint32_t *ids,
                       uint32_t count) {
    begin_token(recall, layer);
    uint32_t first = recall->shape.layer_first[layer];
    uint32_t experts = recall->shape.layer_first[layer + 1] - first;
    uint64_t *used = recall->used + first;
    // A token that was broken off left out the layers after it.
    uint32_t ago = recall->token - recall->layer_token[layer];
    if (ago > 1)
        for (uint32_t e = 0; e < experts; e++)
            used[e] = ago > STORE_RECALL_TOKENS ? 0 : used[e] << (ago - 1);
    recall->layer_token[layer] = recall->token;
    count_shared(recall, used, ids, count);
    weigh_tokens(recall);
    for (uint32_t e = 0; e < experts; e++)
        used[e] <<= 1;
    for (uint32_t i = 0; i < count; i++)
        used[ids[i]] |= 1;
}

static uint32_t count_bits(uint64_t x) {
    x -= (x >> 1) & UINT64_C(0x5555555555555555);
    x = (x & UINT64_C(0x3333333333333333)) + ((x >> 2) & UINT64_C(0x3333333333333333));
    x = (x + (x >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (uint32_t)((x * UINT64_C(0x0101010101010101)) >> 56);
}

float store_recall_tilt(const struct store_recall *recall, uint32_t expert, float share) {
    uint64_t used = recall->used[expert];
    if (used == 0) return 0.0f;
    float weighted = 0.0f;
    for (uint32_t k = 0; k < STORE_RECALL_TOKENS / 8; k++)
        weighted += recall->sum[k][used >> (8 * k) & 255];
    float prior = PRIOR * share;
    return store_math_log2((weighted + prior) / ((float)count_bits(used) + prior));
}
