// SPDX-License-Identifier: Apache-2.0
//
// Owns:      a row of numbers for every step that a model computes.
// Called by: engine_native (open, close), engine_generate (each step).
// Threads:   one thread.
// Errors:    as engine_csv.
// Not here:  where the numbers come from (store, exec, platform).
//
// Format "locum_metrics v1": two lines about the model and its settings, a header, then one row per step: a
// token of the answer, or a chunk of the prompt. docs/statistics.md has the columns.
#ifndef ENGINE_ENGINE_METRICS_H
#define ENGINE_ENGINE_METRICS_H

#include "engine/engine_csv.h"
#include "platform/memory.h"
#include "store/store.h"

#include <stdint.h>

// What counts up while a model answers, at one moment.
struct engine_metrics_mark {
    uint64_t ns;
    double sample_s;
    struct store_stats store; // zeros where there is none
    struct memory_process process;
};

struct engine_metrics {
    struct engine_csv csv;
    struct engine_metrics_mark before;
};

struct engine_metrics_step {
    uint32_t turn, position, tokens; // number of the request; of the first token; how many
    enum store_phase phase;
};

// head: the lines before the header, each with its "# " and line end.
locum_status engine_metrics_open(struct engine_metrics *metrics, const char *path, const char *head,
                                 locum_error *error);
// store NULL: no experts. sample_s: spent on drawing tokens in this request, so far.
void engine_metrics_begin(struct engine_metrics *metrics, const struct store *store,
                          double sample_s);
void engine_metrics_end(struct engine_metrics *metrics, const struct store *store, double sample_s,
                        const struct engine_metrics_step *step);

#endif
