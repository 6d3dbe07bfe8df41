// SPDX-License-Identifier: Apache-2.0
//
// Owns:      how often a cache of a given size would have held the expert that was asked for, had it let
//            go of the one used longest ago (LRU), or of the one used again last (Belady: no order of
//            letting go does better).
// Called by: cli_report_trace.c.
// Threads:   pure.
// Errors:    false: no memory.
// Not here:  where the lookups come from.
//
// The cache begins empty. All experts of one layer and step are looked up together, each once, as a batch:
// what gives way goes behind the batch and is never of it, so a batch that is larger than the cache
// stays whole until the next.
#ifndef CLI_CLI_REPORT_REPLAY_H
#define CLI_CLI_REPORT_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLI_REPORT_BATCH (UINT32_C(1) << 31) // set in the first lookup of a batch

struct cli_report_lookups {
    const uint32_t *keys; // numbers of experts, over all layers
    size_t count;         // below 2^32
    uint32_t experts;     // keys are below that, and that is below CLI_REPORT_BATCH
};

// capacity: experts in the cache.
bool cli_report_replay_lru(const struct cli_report_lookups *lookups, uint32_t capacity,
                           uint64_t *hits);
bool cli_report_replay_belady(const struct cli_report_lookups *lookups, uint32_t capacity,
                              uint64_t *hits);

#endif
