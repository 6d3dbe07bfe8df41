// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the operation trace: where the time of all steps went, as a CSV file.
// Called by: engine_native.c.
// Threads:   one thread.
// Errors:    of writing.
// Not here:  measuring (exec).
//
// Format "op_trace v1": a line about the model, a header, then one row per operation of the plan and phase
//     phase      prompt or answer
//     layer      empty outside of layers
//     operation  its kind (plan/plan.h); "outside": of exec_step, but of no operation
//     weight     tensor it multiplies with, if any
//     calls      steps
//     seconds    of all calls, from its begin to the meeting point of all threads behind it
// and for the parts of all "experts" operations together rows "experts.take" and so on, which are inside
// theirs. Without those, the rows of a phase add up to the time that its steps took.
#ifndef ENGINE_ENGINE_OP_TRACE_H
#define ENGINE_ENGINE_OP_TRACE_H

#include "exec/exec.h"
#include "platform/file_write.h"

struct engine_op_trace {
    struct file_write *file;
    const struct plan *plan;
    struct exec_times times;
};

// Creates the file, so that a wrong path is told before anything is computed.
locum_status engine_op_trace_open(const char *path, const struct plan *plan,
                                  struct engine_op_trace **out, locum_error *error);
// The file appears whole; not at all when nothing was computed. NULL is fine.
locum_status engine_op_trace_close(struct engine_op_trace *trace, const char *model,
                                   locum_error *error);
void engine_op_trace_cancel(struct engine_op_trace *trace); // no file; NULL is fine

#endif
