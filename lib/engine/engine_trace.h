// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the routing trace: one CSV row per routed expert.
// Called by: engine_native.c.
// Threads:   called from within a step, by one thread at a time.
// Errors:    of writing: kept, and reported when the trace is closed.
// Not here:  what the columns teach (tools that read them).
//
// Format "route_trace v1": a line about the model, a line per layer with experts, a header, rows
//     turn      number of the request, from 0
//     phase     0 prompt, 1 answer
//     step      position of the token
//     layer
//     slot      rank of the expert in the router's order, 0 the strongest
//     expert
//     weight    as it multiplies the expert's output
//     residency 0 read from storage for this step, 1 in memory, 2 read ahead
//     expert_bytes  bytes charged to this row: an expert read for several tokens of a step is charged once
#ifndef ENGINE_ENGINE_TRACE_H
#define ENGINE_ENGINE_TRACE_H

#include "engine/engine_layout.h"
#include "exec/exec.h"

struct engine_trace;

locum_status engine_trace_open(const char *path, const char *model,
                               const struct engine_layout *layout, struct engine_trace **out,
                               locum_error *error);
// Which tokens the next step has.
void engine_trace_step(struct engine_trace *trace, uint32_t turn, enum store_phase phase,
                       uint32_t first_position);
// exec_trace_fn
void engine_trace_write(void *trace, uint32_t layer, uint32_t token, uint32_t used,
                        const uint32_t *ids, const float *weights, const uint32_t *rank,
                        const enum exec_residency *residency);
// The file appears whole; not at all after an error, or when no request computed anything.
locum_status engine_trace_close(struct engine_trace *trace, locum_error *error);
void engine_trace_cancel(struct engine_trace *trace); // no file; NULL is fine

#endif
