// SPDX-License-Identifier: Apache-2.0
#include "store/store_hint.h"

#include <string.h>

enum {
    VERDICT = 64,     // reads that are judged together
    USED_LEAST = 32,  // of them, or hints cost more than they bring
    IGNORED = 256     // steps after a bad verdict
};

bool store_hint_wanted(struct store_hints *hints) {
    if (hints->ignored == 0) return true;
    hints->ignored--;
    return false;
}

void store_hint_set(struct store_hints *hints, uint32_t layer, const uint32_t *ids,
                    uint32_t count) {
    store_hint_forget(hints);
    memcpy(hints->id, ids, count * sizeof *ids);
    hints->layer = layer;
    hints->count = count;
}

void store_hint_forget(struct store_hints *hints) {
    hints->count = hints->next = 0;
}

void store_hint_judge(struct store_hints *hints, bool used) {
    if (used) hints->used++, hints->used_total++;
    else hints->wasted++, hints->wasted_total++;
    if (hints->used + hints->wasted < VERDICT) return;
    if (hints->used < USED_LEAST) hints->ignored = IGNORED;
    hints->used = hints->wasted = 0;
}

bool store_hint_names(const struct store_hints *hints, uint32_t layer, uint32_t id) {
    if (hints->layer != layer) return false;
    for (uint32_t i = 0; i < hints->count; i++)
        if (hints->id[i] == id) return true;
    return false;
}
