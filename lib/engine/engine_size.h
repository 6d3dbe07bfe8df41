// SPDX-License-Identifier: Apache-2.0
//
// Owns:      how large the pool of experts is while the model is open: what its owner wants, less what
//            others need.
// Called by: engine_native (opening, set_memory), engine_generate (before each step), engine_grammar.
// Threads:   engine_size_want from any thread; the rest from the one that computes.
// Errors:    LOCUM_E_BUDGET names the least budget.
// Not here:  the memory plan that the model was opened with (engine_memory).
#ifndef ENGINE_ENGINE_SIZE_H
#define ENGINE_ENGINE_SIZE_H

#include "base/log.h"
#include "engine/engine_pressure.h"
#include "store/store.h"

#include <stdatomic.h>

struct engine_size {
    struct store *store; // NULL: no experts, nothing changes
    uint64_t budget;         // UINT64_MAX: no ceiling
    uint64_t least;          // bytes for experts
    _Atomic uint64_t others; // of the budget: all but experts
    _Atomic uint64_t most;   // bytes for experts
    _Atomic uint64_t wanted;
    uint64_t applied;
    bool gave_way; // because memory was short
    struct engine_pressure pressure;
    const struct log_sink *log;
};

void engine_size_init(struct engine_size *size, struct store *store, uint64_t budget,
                      uint64_t others, const struct log_sink *log);
void engine_size_release(struct engine_size *size); // also one that is all zero
// A budget for everything, as in locum_options.memory; takes effect before the next step.
locum_status engine_size_want(struct engine_size *size, uint64_t memory, locum_error *error);
// What engine_size_take could take.
uint64_t engine_size_spare(const struct engine_size *size);
// Takes bytes out of the budget, at once and for as long as the model is open; experts make room if they have
// to. `what` they are for stands in the error.
locum_status engine_size_take(struct engine_size *size, uint64_t bytes, const char *what,
                              locum_error *error);
// Before a step: makes the pool what it should be now.
locum_status engine_size_apply(struct engine_size *size, locum_error *error);

#endif
