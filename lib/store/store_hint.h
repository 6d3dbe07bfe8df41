// SPDX-License-Identifier: Apache-2.0
//
// Owns:      which experts a later layer will probably need, and whether such hints have been right.
// Called by: store.
// Threads:   the store's one thread.
// Errors:    none: a hint is never an obligation.
// Not here:  reading them and making room for them (store.c), where hints come from (exec).
//
// A read for the sake of a hint is judged once: used when a step needs the expert while it is there or
// on its way, wasted when it goes before that. Where most are wasted, hints are ignored for a while and
// then tried again: what comes next in a text may be easier to foresee.
#ifndef STORE_STORE_HINT_H
#define STORE_STORE_HINT_H

#include <stdbool.h>
#include <stdint.h>

struct store_hints {
    uint32_t *id; // [experts of the widest layer] the next layer's, most likely first
    uint32_t layer, count;
    uint32_t next;         // of them, the first that has not been looked at
    uint32_t used, wasted; // of the reads judged since the last verdict
    uint32_t ignored;      // steps for which none are wanted
    uint64_t begun_total, used_total, wasted_total;
};

// Once a step: are hints worth making?
bool store_hint_wanted(struct store_hints *hints);
// ids: distinct. They replace what was left of the last set.
void store_hint_set(struct store_hints *hints, uint32_t layer, const uint32_t *ids, uint32_t count);
// What has not been looked at is void.
void store_hint_forget(struct store_hints *hints);
// One read has been used, or wasted.
void store_hint_judge(struct store_hints *hints, bool used);
bool store_hint_names(const struct store_hints *hints, uint32_t layer, uint32_t id);

#endif
