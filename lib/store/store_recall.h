// SPDX-License-Identifier: Apache-2.0
//
// Owns:      which experts the last 64 tokens used, and how much the current token resembles each.
// Called by: store_policy_next.
// Threads:   the store's one thread.
// Errors:    none.
// Not here:  how often an expert is used in general (store_policy_next.c).
//
// Tokens that chose the same experts in the layers so far tend to choose the same ones in the layers
// to come, and to be followed by the same tokens. So a layer that is still to come is expected to
// do what it did for the tokens that resemble this one; a layer that is through, what it did for
// those that followed them.
#ifndef STORE_STORE_RECALL_H
#define STORE_STORE_RECALL_H

#include "store/store_policy.h"

enum { STORE_RECALL_TOKENS = 64 };

struct store_recall {
    struct store_shape shape;
    uint64_t *used;       // [experts] bit b: b steps of its layer ago, 0 for the last one
    uint32_t *layer_token; // [layers] of its last step
    uint32_t token;       // counts up
    uint32_t layer;       // of the last step
    uint32_t known;       // tokens before this one, at most STORE_RECALL_TOKENS
    float alike[STORE_RECALL_TOKENS]; // of the token b + 1 ago: experts shared so far, fading
    // Sums of the tokens' weights over the bits of each byte of `used`; all weights add up to
    // `known`.
    float sum[STORE_RECALL_TOKENS / 8][256];
};

// Bytes of the arrays.
size_t store_recall_bytes(uint32_t layers, uint32_t experts);
// memory: zeroed, aligned for uint64_t.
void store_recall_start(struct store_recall *recall, const struct store_shape *shape, void *memory);
void store_recall_step(struct store_recall *recall, uint32_t layer, const uint32_t *ids,
                       uint32_t count);
// log2 of how much likelier the next step of its layer uses the expert than its count over the
// last tokens says. share: of the layer's experts that a step uses.
float store_recall_tilt(const struct store_recall *recall, uint32_t expert, float share);

#endif
