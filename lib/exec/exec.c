// SPDX-License-Identifier: Apache-2.0
//
// DESIGN. A step is two runs of the team: the body of the plan over all tokens, then the head over the rows
// whose logits are wanted, logit_rows at a time. In a run all workers walk the same operations and meet
// after each: the table below says what an operation is, portions of work are taken from the team's counter.
#include "exec/exec.h"

#include "base/check.h"
#include "base/limits.h"
#include "exec/exec_state.h"
#include "platform/clock.h"

#include <stdarg.h>
#include <stdio.h>

static const exec_op_fn operations[PLAN_KIND_COUNT] = {
    [PLAN_EMBED] = exec_op_embed,       [PLAN_NORM] = exec_op_norm,
    [PLAN_MATMUL] = exec_op_matmul,     [PLAN_HEAD_MATMUL] = exec_op_head_matmul,
    [PLAN_ROPE] = exec_op_rope,
    [PLAN_KV_WRITE] = exec_op_kv_write, [PLAN_ATTENTION] = exec_op_attention,
    [PLAN_ADD] = exec_op_add,           [PLAN_ACTIVATE] = exec_op_activate,
    [PLAN_ROUTER] = exec_op_router,     [PLAN_EXPERTS] = exec_op_experts,
    [PLAN_ROW_GATE] = exec_op_row_gate, [PLAN_GATHER] = exec_op_gather,
    [PLAN_SOFTCAP] = exec_op_softcap,   [PLAN_PICK] = exec_op_pick,
    [PLAN_L2_NORM] = exec_op_l2_norm,   [PLAN_CONV] = exec_op_conv,
    [PLAN_DELTA] = exec_op_delta,       [PLAN_DELTA_GATES] = exec_op_delta_gates,
    [PLAN_SCALE] = exec_op_scale,       [PLAN_TEMPER] = exec_op_temper,
    [PLAN_WEIGH] = exec_op_weigh,
};

void exec_fail(struct exec *exec, locum_status status, const char *format, ...) {
    if (!exec_team_stop(exec->config.team)) return; // another worker was first
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(exec->error.text, sizeof exec->error.text, format, arguments);
    va_end(arguments);
    exec->status = status;
}

void exec_fail_numeric(struct exec *exec, const struct plan_op *op) {
    if (op->layer == PLAN_NONE) {
        exec_fail(exec, LOCUM_E_NUMERIC, "operation '%s' met a value that is not finite",
                  plan_kind_name(op->kind));
    } else {
        exec_fail(exec, LOCUM_E_NUMERIC, "layer %u: operation '%s' met a value that is not finite",
                  op->layer, plan_kind_name(op->kind));
    }
}

// ---- creation ---------------------------------------------------------------------------------------
static uint32_t output_of(const struct plan_op *op) {
    return op->kind == PLAN_KV_WRITE || op->kind == PLAN_ROUTER ? PLAN_NONE : op->out;
}

// Columns of one input serve several matrices (q, k and v; gate and up; router): make them once. `held`
// says which buffer's columns each area has at that point of the plan.
static void mark(struct exec_op *info, uint32_t held[EXEC_ACTS], uint32_t dtype, uint32_t in) {
    enum kernels_act act = kernels_act_of(dtype);
    if (held[act] == in) return;
    info->quantise[act] = true;
    held[act] = in;
}

static void analyse(struct exec *exec) {
    const struct plan *plan = exec->config.plan;
    uint32_t held[EXEC_ACTS];
    for (int i = 0; i < EXEC_ACTS; i++)
        held[i] = PLAN_NONE;
    for (uint32_t i = 0; i < plan->n_ops; i++) {
        const struct plan_op *op = &plan->ops[i];
        struct exec_op *info = &exec->ops[i];
        *info = (struct exec_op){0};
        if (op->kind == PLAN_MATMUL) mark(info, held, plan->weights[op->weight].dtype, op->in);
        if (op->kind == PLAN_EXPERTS) {
            const struct plan_experts *set = &plan->experts[op->u.experts.set];
            mark(info, held, set->matrix[PLAN_GATE].dtype, op->in);
            if (!set->fused) mark(info, held, set->matrix[PLAN_UP].dtype, op->in);
        }
        uint32_t out = output_of(op);
        for (int a = 0; a < EXEC_ACTS; a++) {
            if (held[a] == out) held[a] = PLAN_NONE;
        }
    }
}

static void prepare_rope(struct exec *exec) {
    const struct plan *plan = exec->config.plan;
    for (uint32_t i = 0; i < plan->n_ropes; i++) {
        struct kernels_rope rope = plan->ropes[i].rope;
        rope.factors = exec_vector(exec, plan->ropes[i].factors);
        kernels_rope_frequencies(&rope, exec->rope_theta[i], &exec->rope_magnitude[i]);
    }
}

uint64_t exec_workspace_bytes(const struct plan *plan, const struct exec_kv_layout *kv,
                              uint32_t chunk, uint32_t logit_rows, uint32_t threads) {
    struct exec exec = {.config = {.plan = plan, .kv = kv, .chunk = chunk, .logit_rows = logit_rows}};
    return exec_workspace_place(&exec, NULL, threads) + sizeof exec;
}

locum_status exec_create(const struct exec_config *config, struct exec **out, locum_error *error) {
    LOCUM_ASSERT(config->chunk >= 1 && config->chunk <= LIMIT_CHUNK && config->logit_rows >= 1);
    LOCUM_ASSERT(config->store || config->plan->n_experts == 0);
    struct exec *exec = heap_resize(NULL, sizeof *exec);
    if (!exec) return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for the workspace");
    *exec = (struct exec){.config = *config};
    uint32_t workers = exec_team_size(config->team);
    struct exec measure = {.config = *config};
    uint64_t bytes = exec_workspace_place(&measure, NULL, workers);
    locum_status status = vmem_alloc(&exec->region, (size_t)bytes, error);
    if (status != LOCUM_OK) {
        heap_free(exec);
        return status;
    }
    vmem_advise_huge(&exec->region);
    exec_workspace_place(exec, exec->region.data, workers);
    analyse(exec);
    exec_ahead_analyse(exec);
    prepare_rope(exec);
    *out = exec;
    return LOCUM_OK;
}

void exec_destroy(struct exec *exec) {
    if (!exec) return;
    vmem_release(&exec->region);
    heap_free(exec);
}

// ---- a step -----------------------------------------------------------------------------------------
void exec_time_lap(struct exec_time *time, uint64_t *since) {
    uint64_t now = clock_now_ns();
    time->calls++;
    time->ns += now - *since;
    *since = now;
}

static void walk(void *user, uint32_t worker) {
    struct exec *exec = user;
    const struct plan *plan = exec->config.plan;
    struct exec_times *times = worker == 0 ? exec->config.times : NULL;
    uint64_t since = times ? clock_now_ns() : 0;
    for (uint32_t i = exec->op_begin; i < exec->op_end; i++) {
        const struct plan_op *op = &plan->ops[i];
        if (!operations[op->kind](exec, worker, op, &exec->ops[i])) return;
        if (!exec_team_sync(exec->config.team)) return;
        if (times) exec_time_lap(&times->op[exec->batch->phase][i], &since);
    }
}

static locum_status run(struct exec *exec, uint32_t begin, uint32_t end, const atomic_bool *cancel,
                        locum_error *error) {
    exec->op_begin = begin;
    exec->op_end = end;
    exec->status = LOCUM_OK;
    exec_team_run(exec->config.team, walk, exec, cancel);
    if (exec->config.store) store_end(exec->config.store); // a run that was broken off holds experts
    if (exec->status != LOCUM_OK) return status_fail(error, exec->status, "%s", exec->error.text);
    if (exec_team_cancelled(exec->config.team))
        return status_fail(error, LOCUM_E_CANCELLED, "the request was cancelled");
    return LOCUM_OK;
}

static void rotate_tables(struct exec *exec) {
    const struct plan *plan = exec->config.plan;
    for (uint32_t t = 0; t < plan->n_ropes; t++) {
        uint32_t n_rot = plan->ropes[t].rope.n_rot;
        for (uint32_t i = 0; i < exec->batch->count; i++) {
            kernels_rope_row(exec->rope_rows[t] + (size_t)i * n_rot, exec->rope_theta[t],
                             exec->rope_magnitude[t], n_rot / 2, exec->batch->positions[i]);
        }
    }
}

static void list_wanted(struct exec *exec) {
    const struct exec_batch *batch = exec->batch;
    exec->wanted_count = 0;
    for (uint32_t i = 0; i < batch->count; i++) {
        if (batch->wants_logits ? batch->wants_logits[i] : i + 1 == batch->count) {
            exec->wanted[exec->wanted_count++] = i;
        }
    }
}

static locum_status step(struct exec *exec, const struct exec_batch *batch,
                         const atomic_bool *cancel, exec_logits_fn logits, void *user,
                         locum_error *error) {
    const struct plan *plan = exec->config.plan;
    LOCUM_ASSERT(batch->count >= 1 && batch->count <= exec->config.chunk);
    exec->batch = batch;
    exec->rows = batch->count;
    exec->ahead.on = exec->config.look_ahead && batch->phase == STORE_DECODE &&
                     batch->count <= EXEC_ARRIVAL_TOKENS && store_wants_hints(exec->config.store);
    exec->ahead.from = NULL;
    rotate_tables(exec);
    list_wanted(exec);
    STATUS_TRY(run(exec, 0, plan->head_start, cancel, error));
    for (uint32_t first = 0; first < exec->wanted_count; first += exec->rows) {
        uint32_t left = exec->wanted_count - first;
        exec->head_first = first;
        exec->rows = left < exec->config.logit_rows ? left : exec->config.logit_rows;
        STATUS_TRY(run(exec, plan->head_start, plan->n_ops, cancel, error));
        for (uint32_t i = 0; i < exec->rows; i++) {
            logits(user, exec->wanted[first + i], exec_row(exec, plan->logits, i));
        }
    }
    return LOCUM_OK;
}

static uint64_t time_in_operations(const struct exec *exec, enum store_phase phase) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < exec->config.plan->n_ops; i++)
        sum += exec->config.times->op[phase][i].ns;
    return sum;
}

locum_status exec_step(struct exec *exec, const struct exec_batch *batch, const atomic_bool *cancel,
                       exec_logits_fn logits, void *user, locum_error *error) {
    if (!exec->config.times) return step(exec, batch, cancel, logits, user, error);
    struct exec_time *outside = &exec->config.times->outside[batch->phase];
    uint64_t inside = time_in_operations(exec, batch->phase), start = clock_now_ns();
    locum_status status = step(exec, batch, cancel, logits, user, error);
    exec_time_lap(outside, &start);
    outside->ns -= time_in_operations(exec, batch->phase) - inside;
    return status;
}
