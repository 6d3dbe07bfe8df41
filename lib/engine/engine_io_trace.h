// SPDX-License-Identifier: Apache-2.0
//
// Owns:      a row for every read of experts.
// Called by: engine_native (open, close), engine_generate (which step), store (each read).
// Threads:   one thread.
// Errors:    as engine_csv.
// Not here:  reading (store, platform).
//
// Format "io_trace v1": a line about the model, a header, then one row per read, in the order in which
// reads ended. docs/statistics.md has the columns.
#ifndef ENGINE_ENGINE_IO_TRACE_H
#define ENGINE_ENGINE_IO_TRACE_H

#include "engine/engine_csv.h"
#include "store/store.h"

struct engine_io_trace {
    struct engine_csv csv;
    uint32_t turn, position;
    enum store_phase phase;
};

locum_status engine_io_trace_open(struct engine_io_trace *trace, const char *path,
                                  const char *model, locum_error *error);
// Which tokens the next step has.
void engine_io_trace_step(struct engine_io_trace *trace, uint32_t turn, enum store_phase phase,
                          uint32_t first_position);
void engine_io_trace_write(void *trace, const struct store_io *io); // store_io_fn

#endif
