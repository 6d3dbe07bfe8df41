// SPDX-License-Identifier: Apache-2.0
//
// The policies that are scored: those of lib/store, those that the store does without, and Belady's.
#ifndef TOOLS_EVICT_BASELINES_H
#define TOOLS_EVICT_BASELINES_H

#include "replay.h"

struct baseline {
    const char *name, *text;
    struct replay_policy replay;
    bool simple; // ours must never be below it
};

extern const struct baseline baselines[];
extern const size_t baseline_count;

#endif
