// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the memory plan: what a budget is spent on, and the least that is possible.
// Called by: engine_native.c, locum_file_plan.
// Threads:   pure, but for the questions to the system.
// Errors:    LOCUM_E_BUDGET with the itemised arithmetic.
// Not here:  taking the memory.
//
// budget >= dense + kv + recurrent + scratch + slots + fixed. Dense weights, KV for the context, the state of
// recurrent layers with its checkpoint, and fixed are given;
// scratch grows with the chunk (prompt tokens per step), which is made as large as an eighth of what is
// left allows, and never larger than the context; slots get the rest, at most all experts. None of the
// choices changes a bit of the answer.
#ifndef ENGINE_ENGINE_MEMORY_H
#define ENGINE_ENGINE_MEMORY_H

#include "engine/engine_layout.h"

locum_status engine_memory_plan(const struct engine_layout *layout, const char *name,
                                const locum_options *options, locum_memory_plan *out,
                                uint32_t *logit_rows, locum_error *error);

// The budget of LOCUM_MEMORY_AUTO on a machine where `available` bytes can be taken without swapping and
// the container's limits leave `limit_available`: the smaller of the two, minus headroom for the rest of
// the machine and for what the process needs beside its budget. 0: nothing can be spared.
uint64_t engine_memory_auto(uint64_t available, uint64_t limit_available);

// Experts that exec holds and reads at once at the least: one is computed while the next is read.
enum { ENGINE_HELD_EXPERTS = 2 };

// "6.00 GiB", "12.3 MiB", "512 bytes"
enum { ENGINE_SIZE_TEXT = 32 };
const char *engine_size_text(uint64_t bytes, char text[ENGINE_SIZE_TEXT]);

#endif
