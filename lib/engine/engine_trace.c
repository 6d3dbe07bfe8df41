// SPDX-License-Identifier: Apache-2.0
#include "engine/engine_trace.h"

#include "base/limits.h"
#include "engine/engine_csv.h"

#include <stdio.h>
#include <string.h>

struct engine_trace {
    struct engine_csv csv;
    const struct plan *plan;
    uint32_t turn, first_position;
    enum store_phase phase;
    bool charged[LIMIT_EXPERTS]; // of the current layer and step
};

// Dense bytes of a layer: all its weights that are no experts.
static uint64_t dense_bytes(const struct plan *plan, uint32_t layer) {
    char prefix[24];
    int length = snprintf(prefix, sizeof prefix, "blk.%u.", layer);
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < plan->n_weights; i++) {
        if (strncmp(plan->weights[i].name, prefix, (size_t)length) == 0)
            bytes += plan->weights[i].bytes;
    }
    return bytes;
}

static void write_head(struct engine_trace *trace, const char *model,
                       const struct engine_layout *layout) {
    const struct plan *plan = trace->plan;
    const struct model_params *params = &layout->model.params;
    buffer_format(&trace->csv.rows,
                  "# route_trace v1\n# model=%s arch=%s n_layer=%u n_expert=%u n_expert_used=%u\n",
                  model, layout->model.architecture, plan->layers, params->experts,
                  params->experts_used);
    for (uint32_t i = 0; i < plan->n_experts; i++) {
        const struct plan_experts *set = &plan->experts[i];
        buffer_format(&trace->csv.rows, "# layer=%u expert_bytes=%llu dense_bytes=%llu\n", set->layer,
                      (unsigned long long)plan_expert_bytes(set),
                      (unsigned long long)dense_bytes(plan, set->layer));
    }
    buffer_append_text(&trace->csv.rows,
                       "turn,phase,step,layer,slot,expert,weight,residency,expert_bytes\n");
}

locum_status engine_trace_open(const char *path, const char *model,
                               const struct engine_layout *layout, struct engine_trace **out,
                               locum_error *error) {
    struct engine_trace *trace = heap_resize(NULL, sizeof *trace);
    if (!trace) return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for the routing trace");
    memset(trace, 0, sizeof *trace);
    trace->plan = &layout->model.plan;
    // The rows of one token in one layer follow each other.
    locum_status status =
        engine_csv_open(&trace->csv, path, "the routing trace", LIMIT_EXPERTS_USED, error);
    if (status != LOCUM_OK) {
        heap_free(trace);
        return status;
    }
    write_head(trace, model, layout);
    *out = trace;
    return LOCUM_OK;
}

void engine_trace_step(struct engine_trace *trace, uint32_t turn, enum store_phase phase,
                       uint32_t first_position) {
    trace->csv.used = true;
    trace->turn = turn;
    trace->phase = phase;
    trace->first_position = first_position;
}

static uint64_t bytes_of(const struct plan *plan, uint32_t layer) {
    for (uint32_t i = 0; i < plan->n_experts; i++) {
        if (plan->experts[i].layer == layer) return plan_expert_bytes(&plan->experts[i]);
    }
    return 0;
}

void engine_trace_write(void *user, uint32_t layer, uint32_t token, uint32_t used,
                        const uint32_t *ids, const float *weights, const uint32_t *rank,
                        const enum exec_residency *residency) {
    struct engine_trace *trace = user;
    uint64_t bytes = bytes_of(trace->plan, layer);
    if (token == 0) memset(trace->charged, 0, sizeof trace->charged);
    for (uint32_t slot = 0; slot < used; slot++) {
        uint32_t i = 0;
        while (rank[i] != slot)
            i++;
        bool read = residency[i] != EXEC_RESIDENT && !trace->charged[ids[i]];
        if (read) trace->charged[ids[i]] = true;
        buffer_format(&trace->csv.rows, "%u,%d,%u,%u,%u,%u,%.6g,%d,%llu\n", trace->turn,
                      trace->phase == STORE_DECODE, trace->first_position + token, layer, slot,
                      ids[i], (double)weights[i], residency[i],
                      (unsigned long long)(read ? bytes : 0));
    }
    engine_csv_flush(&trace->csv);
}

void engine_trace_cancel(struct engine_trace *trace) {
    if (!trace) return;
    engine_csv_cancel(&trace->csv);
    heap_free(trace);
}

locum_status engine_trace_close(struct engine_trace *trace, locum_error *error) {
    if (!trace) return LOCUM_OK;
    locum_status status = engine_csv_close(&trace->csv, error);
    heap_free(trace);
    return status;
}
