// SPDX-License-Identifier: Apache-2.0
#include "engine/engine_op_trace.h"

#include "base/arena.h"
#include "base/buffer.h"

#include <stdio.h>
#include <string.h>

static const char *const phase_names[2] = {"prompt", "answer"};
static const char *const part_names[EXEC_PARTS] = {"take", "in", "act", "down", "add"};

locum_status engine_op_trace_open(const char *path, const struct plan *plan,
                                  struct engine_op_trace **out, locum_error *error) {
    size_t bytes = sizeof(struct engine_op_trace) + 2 * plan->n_ops * sizeof(struct exec_time);
    struct engine_op_trace *trace = heap_resize(NULL, bytes);
    if (!trace)
        return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for the operation trace");
    memset(trace, 0, bytes);
    trace->plan = plan;
    trace->times.op[0] = (struct exec_time *)(trace + 1);
    trace->times.op[1] = trace->times.op[0] + plan->n_ops;
    locum_status status = file_write_open(path, &trace->file, error);
    if (status != LOCUM_OK) {
        heap_free(trace);
        return status;
    }
    *out = trace;
    return LOCUM_OK;
}

void engine_op_trace_cancel(struct engine_op_trace *trace) {
    if (!trace) return;
    file_write_cancel(trace->file);
    heap_free(trace);
}

// The tensor an operation multiplies with: its weight, or of experts the first matrix.
static const char *weight_of(const struct plan *plan, const struct plan_op *op) {
    if (op->kind == PLAN_EXPERTS) return plan->experts[op->u.experts.set].matrix[PLAN_GATE].name;
    return op->weight == PLAN_NONE ? "" : plan->weights[op->weight].name;
}

static void write_row(struct buffer *out, int phase, const char *layer, const char *operation,
                      const char *weight, const struct exec_time *time) {
    if (time->calls == 0) return;
    buffer_format(out, "%s,%s,%s,%s,%llu,%.9f\n", phase_names[phase], layer, operation, weight,
                  (unsigned long long)time->calls, (double)time->ns * 1e-9);
}

static void write_phase(struct buffer *out, const struct engine_op_trace *trace, int phase) {
    const struct plan *plan = trace->plan;
    for (uint32_t i = 0; i < plan->n_ops; i++) {
        const struct plan_op *op = &plan->ops[i];
        char layer[16] = "";
        if (op->layer != PLAN_NONE) snprintf(layer, sizeof layer, "%u", op->layer);
        write_row(out, phase, layer, plan_kind_name(op->kind), weight_of(plan, op),
                  &trace->times.op[phase][i]);
    }
    write_row(out, phase, "", "outside", "", &trace->times.outside[phase]);
    for (int part = 0; part < EXEC_PARTS; part++) {
        char name[32];
        snprintf(name, sizeof name, "experts.%s", part_names[part]);
        write_row(out, phase, "", name, "", &trace->times.part[phase][part]);
    }
}

locum_status engine_op_trace_close(struct engine_op_trace *trace, const char *model,
                                   locum_error *error) {
    locum_status status = LOCUM_OK;
    if (trace && trace->times.outside[0].calls + trace->times.outside[1].calls > 0) {
        struct buffer out = {0};
        buffer_format(&out, "# op_trace v1\n# model=%s\n", model);
        buffer_append_text(&out, "phase,layer,operation,weight,calls,seconds\n");
        for (int phase = 0; phase < 2; phase++) write_phase(&out, trace, phase);
        status = out.failed ? status_fail(error, LOCUM_E_OUT_OF_MEMORY,
                                          "no memory for the operation trace")
                            : file_write_bytes(trace->file, out.data, out.size, error);
        buffer_release(&out);
        if (status == LOCUM_OK) {
            status = file_write_commit(trace->file, error);
            trace->file = NULL;
        }
    }
    engine_op_trace_cancel(trace);
    return status;
}
