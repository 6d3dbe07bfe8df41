// SPDX-License-Identifier: Apache-2.0
#include "store/store_uses.h"

#include <stdlib.h>
#include <string.h>

// More often first, then lower number.
static int compare(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    uint32_t often_x = (uint32_t)(x >> 32), often_y = (uint32_t)(y >> 32);
    if (often_x != often_y) return often_x > often_y ? -1 : 1;
    return (x > y) - (x < y);
}

void store_uses_load(struct store_uses *uses, const struct store_shape *shape,
                     const uint32_t *steps, const uint32_t *count) {
    memcpy(uses->steps, steps, shape->layers * sizeof *steps);
    memcpy(uses->count, count, shape->experts * sizeof *count);
    uses->known = uses->next = 0;
    for (uint32_t i = 0; i < shape->layers; i++)
        for (uint32_t e = shape->layer_first[i]; e < shape->layer_first[i + 1]; e++) {
            if (count[e] == 0 || count[e] > steps[i]) continue;
            uint64_t often = ((uint64_t)count[e] << 31) / steps[i]; // 1 << 31: by every step
            uses->order[uses->known++] = often << 32 | e;
        }
    qsort(uses->order, uses->known, sizeof *uses->order, compare);
}

void store_uses_step(struct store_uses *uses, const struct store_shape *shape, uint32_t layer,
                     const uint32_t *ids, uint32_t count) {
    if (count == 0) return;
    uses->steps[layer]++;
    for (uint32_t i = 0; i < count; i++)
        uses->count[shape->layer_first[layer] + ids[i]]++;
}
