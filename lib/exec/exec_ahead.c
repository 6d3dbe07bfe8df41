// SPDX-License-Identifier: Apache-2.0
//
// DESIGN. A layer adds little to the state of a token compared with what is there already. So the next
// layer's router, applied to this layer's state, names most of the experts that it will name in earnest;
// the store reads them while this layer's last experts are computed and while the next one attends.
// Nothing of it reaches a result: the state is read, and everything else here is written nowhere else.
//
//     ROUTER of this layer     each token: norm of the next layer's router input, its columns
//                              meeting point; rows of the next layer's router matrix are shared out
//     EXPERTS of this layer    worker 0: choose, tell the store, most likely first
#include "base/limits.h"
#include "exec/exec_state.h"

#include <string.h>

// The operation before `from` that makes what operation `from` reads, if it is of that kind.
static uint32_t maker_of(const struct plan *plan, uint32_t from, enum plan_kind kind) {
    for (uint32_t i = from; i-- > 0;) {
        const struct plan_op *op = &plan->ops[i];
        // A positive factor of all logits changes no order, so it is left out of the guess.
        bool makes =
            op->kind != PLAN_KV_WRITE && op->kind != PLAN_ROUTER && op->kind != PLAN_SCALE;
        if (makes && op->out == plan->ops[from].in) return op->kind == kind ? i : PLAN_NONE;
    }
    return PLAN_NONE;
}

static struct exec_ahead_ops chain_of(const struct plan *plan, uint32_t router) {
    struct exec_ahead_ops ops = {.router = router, .matmul = PLAN_NONE, .norm = PLAN_NONE};
    if (router != PLAN_NONE) ops.matmul = maker_of(plan, router, PLAN_MATMUL);
    if (ops.matmul != PLAN_NONE) ops.norm = maker_of(plan, ops.matmul, PLAN_NORM);
    return ops;
}

// Both routers look at the same state, each through its own norm and matrix.
void exec_ahead_analyse(struct exec *exec) {
    const struct plan *plan = exec->config.plan;
    struct exec_ahead_ops next = chain_of(plan, PLAN_NONE);
    for (uint32_t i = plan->n_ops; i-- > 0;) {
        if (plan->ops[i].kind != PLAN_ROUTER) continue;
        struct exec_ahead_ops here = chain_of(plan, i);
        bool same = here.norm != PLAN_NONE && next.norm != PLAN_NONE &&
                    plan->ops[here.norm].in == plan->ops[next.norm].in &&
                    plan->ops[next.norm].u.norm.groups == 1;
        exec->ops[i].ahead = same ? next : chain_of(plan, PLAN_NONE);
        next = here;
    }
}

bool exec_ahead_wanted(const struct exec *exec, const struct exec_op *info) {
    return exec->ahead.on && info->ahead.router != PLAN_NONE;
}

void exec_ahead_prepare(struct exec *exec, const struct exec_op *info, size_t row) {
    struct exec_ahead *ahead = &exec->ahead;
    const struct plan *plan = exec->config.plan;
    const struct kernels_table *k = exec->config.kernels;
    const struct plan_op *norm = &plan->ops[info->ahead.norm];
    const struct plan_weight *matrix = &plan->weights[plan->ops[info->ahead.matmul].weight];
    enum kernels_act act = kernels_act_of(matrix->dtype);
    size_t n = exec_buffer(exec, norm->in)->width;
    float *out = ahead->state + row * n;
    uint8_t *column = ahead->columns + row * kernels_act_bytes(act, n);
    bool finite = k->rms_norm(out, exec_row(exec, norm->in, row), exec_vector(exec, norm->weight), n,
                              norm->u.norm.eps) &&
                  k->quantise[act](column, out, n);
    // What is not finite here fails where it counts, in the next layer.
    if (!finite) memset(column, 0, kernels_act_bytes(act, n));
}

void exec_ahead_multiply(struct exec *exec, uint32_t worker, const struct exec_op *info) {
    struct exec_ahead *ahead = &exec->ahead;
    const struct plan *plan = exec->config.plan;
    uint32_t weight = plan->ops[info->ahead.matmul].weight;
    const struct plan_weight *w = &plan->weights[weight];
    enum kernels_act act = kernels_act_of(w->dtype);
    struct kernels_matmul m = {
        .w_row_bytes = w->row_bytes,
        .k = w->cols,
        .act = ahead->columns,
        .act_stride = kernels_act_bytes(act, w->cols),
        .n_cols = exec->rows,
        .y_stride = w->rows,
    };
    const uint8_t *data = exec_weights_data(exec->config.weights, weight);
    for (size_t begin, end;
         exec_team_take(exec->config.team, worker, w->rows, 2 * KERNELS_LANES_MAX, &begin, &end);) {
        m.w = data + begin * w->row_bytes;
        m.rows = end - begin;
        m.y = ahead->logits + begin;
        exec->config.kernels->matmul[w->dtype](&m);
    }
    if (worker == 0) ahead->from = info;
}

// The better half of the token's choice, best first, behind what is listed already: the lower ranks are
// foreseen less well, and a wrong guess costs the drive's time.
static void list_choice(struct exec_ahead *ahead, const struct kernels_route *route,
                        const float *logits) {
    uint32_t by_rank[LIMIT_EXPERTS_USED];
    if (!kernels_route_select(route, logits, ahead->scratch, ahead->ids, ahead->weights,
                              ahead->rank))
        return;
    for (uint32_t j = 0; j < route->used; j++)
        by_rank[ahead->rank[j]] = ahead->ids[j];
    for (uint32_t j = 0; j < (route->used + 1) / 2; j++) {
        if (ahead->listed[by_rank[j]]) continue;
        ahead->listed[by_rank[j]] = true;
        ahead->list[ahead->list_count++] = by_rank[j];
    }
}

void exec_ahead_tell(struct exec *exec) {
    struct exec_ahead *ahead = &exec->ahead;
    if (!ahead->from) return;
    const struct plan *plan = exec->config.plan;
    const struct plan_op *router = &plan->ops[ahead->from->ahead.router];
    const struct plan_op *matmul = &plan->ops[ahead->from->ahead.matmul];
    const struct plan_experts *set = &plan->experts[router->u.experts.set];
    struct kernels_route route = set->route;
    route.bias = exec_vector(exec, set->route_bias);
    const float *bias = exec_vector(exec, matmul->bias);
    ahead->list_count = 0;
    memset(ahead->listed, 0, set->experts * sizeof *ahead->listed);
    for (size_t i = 0; i < exec->rows; i++) {
        float *logits = ahead->logits + i * set->experts;
        if (bias) exec->config.kernels->add(logits, bias, set->experts);
        list_choice(ahead, &route, logits);
    }
    store_hint(exec->config.store, set->layer, ahead->list, ahead->list_count);
    ahead->from = NULL;
}

void exec_ahead_place(struct exec *exec, struct exec_cursor *cursor) {
    const struct plan *plan = exec->config.plan;
    struct exec_ahead *ahead = &exec->ahead;
    uint64_t rows =
        exec->config.chunk < EXEC_ARRIVAL_TOKENS ? exec->config.chunk : EXEC_ARRIVAL_TOKENS;
    uint64_t experts = 0, inputs = 0, column = 0;
    for (uint32_t i = 0; i < plan->n_experts; i++)
        if (plan->experts[i].experts > experts) experts = plan->experts[i].experts;
    for (uint32_t i = 0; i < plan->n_ops; i++) {
        struct exec_ahead_ops ops = chain_of(plan, plan->ops[i].kind == PLAN_ROUTER ? i : PLAN_NONE);
        if (ops.norm == PLAN_NONE) continue;
        const struct plan_weight *w = &plan->weights[plan->ops[ops.matmul].weight];
        uint64_t bytes = kernels_act_bytes(kernels_act_of(w->dtype), w->cols);
        if (bytes > column) column = bytes;
        if (w->cols > inputs) inputs = w->cols;
    }
    ahead->state = exec_place(cursor, rows * inputs, sizeof *ahead->state);
    ahead->columns = exec_place(cursor, rows, column);
    ahead->logits = exec_place(cursor, rows * experts, sizeof *ahead->logits);
    ahead->scratch = exec_place(cursor, experts, sizeof *ahead->scratch);
    ahead->ids = exec_place(cursor, experts, sizeof *ahead->ids);
    ahead->rank = exec_place(cursor, experts, sizeof *ahead->rank);
    ahead->weights = exec_place(cursor, experts, sizeof *ahead->weights);
    ahead->list = exec_place(cursor, experts, sizeof *ahead->list);
    ahead->listed = exec_place(cursor, experts, sizeof *ahead->listed);
}
