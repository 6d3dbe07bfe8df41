// SPDX-License-Identifier: Apache-2.0
#include "store/store_verify.h"

#include <string.h>

#define MULTIPLIER UINT64_C(0x9e3779b97f4a7c15) // odd: each step can be undone, so no change is lost

enum { CHAINS = 4 };

static uint64_t mix(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * MULTIPLIER;
    return hash ^ hash >> 29;
}

// Four chains of words, since one waits for its multiplications longer than for the bytes.
static uint64_t hash_segment(uint64_t hash, const uint8_t *bytes, uint64_t count) {
    uint64_t chain[CHAINS] = {1, 2, 3, 4}, word[CHAINS], at = 0;
    for (; at + sizeof word <= count; at += sizeof word) {
        memcpy(word, bytes + at, sizeof word);
        for (uint32_t i = 0; i < CHAINS; i++)
            chain[i] = mix(chain[i], word[i]);
    }
    memset(word, 0, sizeof word);
    memcpy(word, bytes + at, (size_t)(count - at));
    for (uint32_t i = 0; i < CHAINS; i++)
        hash = mix(hash, mix(chain[i], word[i]));
    return mix(hash, count);
}

bool store_verify_same(struct store_verify *verify, uint32_t expert,
                       const struct store_segment *segments, const struct store_layout *layout,
                       const uint8_t *bytes) {
    uint64_t hash = MULTIPLIER;
    for (uint32_t i = 0; i < STORE_SEGMENTS; i++)
        if (segments[i].bytes > 0)
            hash = hash_segment(hash, bytes + layout->place[i], segments[i].bytes);
    if (hash == 0) hash = 1;
    if (verify->sum[expert] == 0) {
        verify->sum[expert] = hash;
        return true;
    }
    verify->compared++;
    verify->unequal += verify->sum[expert] != hash;
    return verify->sum[expert] == hash;
}
