// SPDX-License-Identifier: Apache-2.0
#include "route_regime.h"

#include <stdio.h>
#include <string.h>

enum { TOKENS = 256, LAYERS = 24, EXPERTS = 128, USED = 6 };

static uint64_t draw(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15); // splitmix64
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static uint32_t below(uint64_t *state, uint32_t bound) {
    return (uint32_t)((draw(state) >> 32) * bound >> 32);
}

// Places in a layer's order of favourites: the product of two draws prefers the first ones.
static uint32_t favourite(uint64_t *state) {
    return below(state, below(state, EXPERTS) + 1);
}

static void swap(uint8_t *a, uint8_t *b) {
    uint8_t other = *a;
    *a = *b;
    *b = other;
}

static void write_cell(uint32_t token, uint32_t layer, const uint8_t *ids) {
    for (uint32_t i = 0; i < USED; i++)
        printf("0,1,%u,%u,%u,%u,%.6f,0,0\n", token, layer, i, ids[i], 1.0 / USED);
}

static void draw_cell(uint64_t *state, const uint8_t *order, uint8_t *ids) {
    bool taken[EXPERTS] = {false};
    for (uint32_t i = 0; i < USED;) {
        uint8_t id = order[favourite(state)];
        if (taken[id]) continue;
        taken[id] = true;
        ids[i++] = id;
    }
}

bool route_regime_write(const char *name, uint64_t seed) {
    bool scan = strcmp(name, "scan") == 0;
    if (!scan && strcmp(name, "drift") != 0) return false;
    printf("# route_trace v1\n# model=%s arch=synthetic n_layer=%d n_expert=%d n_expert_used=%d\n",
           name, LAYERS, EXPERTS, USED);
    for (uint32_t i = 0; i < LAYERS; i++)
        printf("# layer=%u expert_bytes=1 dense_bytes=0\n", i);
    printf("turn,phase,step,layer,slot,expert,weight,residency,expert_bytes\n");
    static uint8_t order[LAYERS][EXPERTS];
    for (uint32_t layer = 0; layer < LAYERS; layer++)
        for (uint32_t i = 0; i < EXPERTS; i++) {
            order[layer][i] = (uint8_t)i;
            swap(&order[layer][i], &order[layer][below(&seed, i + 1)]);
        }
    for (uint32_t token = 0; token < TOKENS; token++)
        for (uint32_t layer = 0; layer < LAYERS; layer++) {
            uint8_t ids[USED];
            draw_cell(&seed, order[layer], ids);
            if (scan && token % 4 == 3)
                for (uint32_t i = 0; i < USED; i++)
                    ids[i] = (uint8_t)((token / 4 * USED + i) % EXPERTS);
            write_cell(token, layer, ids);
            if (!scan) // one of the first favourites gives its place to any expert
                swap(&order[layer][below(&seed, 16)], &order[layer][below(&seed, EXPERTS)]);
        }
    return true;
}
