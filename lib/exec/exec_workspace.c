// SPDX-License-Identifier: Apache-2.0
//
// The workspace: one region, laid out once. The same walk measures and places, so that the memory plan and
// the allocation cannot disagree.
#include "exec/exec_state.h"

#include "base/limits.h"

void *exec_place(struct exec_cursor *cursor, uint64_t count, uint64_t size) {
    uint8_t *at = cursor->base ? cursor->base + cursor->used : NULL;
    cursor->used += (count * size + 63) & ~UINT64_C(63);
    return at;
}

static void place_buffers(struct exec *exec, struct exec_cursor *cursor) {
    const struct plan *plan = exec->config.plan;
    for (uint32_t i = 0; i < plan->n_buffers; i++) {
        uint64_t rows = plan->buffers[i].head ? exec->config.logit_rows : exec->config.chunk;
        float *at = exec_place(cursor, rows * plan->buffers[i].width, sizeof(float));
        if (exec->buffers) exec->buffers[i] = at;
    }
}

static void widen(uint64_t widest[EXEC_ACTS], uint32_t dtype, uint64_t k) {
    uint64_t bytes = kernels_act_bytes(kernels_act_of(dtype), (size_t)k);
    if (bytes > widest[kernels_act_of(dtype)]) widest[kernels_act_of(dtype)] = bytes;
}

// One area of columns per form, for the widest input that is ever multiplied in that form.
static void place_columns(struct exec *exec, struct exec_cursor *cursor) {
    const struct plan *plan = exec->config.plan;
    uint64_t widest[EXEC_ACTS] = {0}, hidden = 0;
    for (uint32_t i = 0; i < plan->n_ops; i++) {
        const struct plan_op *op = &plan->ops[i];
        if (op->kind == PLAN_MATMUL)
            widen(widest, plan->weights[op->weight].dtype, plan->weights[op->weight].cols);
    }
    for (uint32_t i = 0; i < plan->n_experts; i++) {
        const struct plan_experts *set = &plan->experts[i];
        widen(widest, set->matrix[PLAN_GATE].dtype, set->inputs);
        if (!set->fused) widen(widest, set->matrix[PLAN_UP].dtype, set->inputs);
        uint64_t bytes =
            kernels_act_bytes(kernels_act_of(set->matrix[PLAN_DOWN].dtype), (size_t)set->width);
        if (bytes > hidden) hidden = bytes;
    }
    uint64_t rows =
        exec->config.chunk > exec->config.logit_rows ? exec->config.chunk : exec->config.logit_rows;
    for (int i = 0; i < EXEC_ACTS; i++)
        exec->act[i] = exec_place(cursor, rows, widest[i]);
    exec->moe.h_act = exec_place(cursor, exec->moe.rows_max, hidden);
}

static void place_moe(struct exec *exec, struct exec_cursor *cursor, uint32_t workers) {
    const struct plan *plan = exec->config.plan;
    uint64_t experts = 0, used = 0, width = 0, inputs = 0;
    for (uint32_t i = 0; i < plan->n_experts; i++) {
        const struct plan_experts *set = &plan->experts[i];
        if (set->experts > experts) experts = set->experts;
        if (set->used > used) used = set->used;
        if (set->width > width) width = set->width;
        if (set->inputs > inputs) inputs = set->inputs;
    }
    struct exec_moe *moe = &exec->moe;
    uint64_t arrival =
        exec->config.chunk < EXEC_ARRIVAL_TOKENS ? exec->config.chunk : EXEC_ARRIVAL_TOKENS;
    uint64_t rows = arrival * used > exec->config.chunk ? arrival * used : exec->config.chunk;
    moe->rows_max = experts ? (uint32_t)rows : 0;
    uint64_t choices = exec->config.chunk * used;
    moe->ids = exec_place(cursor, choices, sizeof *moe->ids);
    moe->rank = exec_place(cursor, choices, sizeof *moe->rank);
    moe->weights = exec_place(cursor, choices, sizeof *moe->weights);
    moe->entries = exec_place(cursor, choices, sizeof *moe->entries);
    moe->columns = exec_place(cursor, choices, sizeof *moe->columns);
    moe->first = exec_place(cursor, experts + 1, sizeof *moe->first);
    moe->distinct = exec_place(cursor, experts, sizeof *moe->distinct);
    moe->residency = exec_place(cursor, experts, sizeof *moe->residency);
    moe->told = exec_place(cursor, used, sizeof *moe->told);
    moe->ready = exec_place(cursor, experts, sizeof *moe->ready);
    moe->h = exec_place(cursor, moe->rows_max * 2 * width, sizeof *moe->h);
    moe->y = exec_place(cursor, moe->rows_max * inputs, sizeof *moe->y);
    moe->router_scratch =
        exec_place(cursor, workers * ((experts + 15) & ~UINT64_C(15)), sizeof *moe->router_scratch);
}

static void place_attention(struct exec *exec, struct exec_cursor *cursor, uint32_t workers) {
    const struct plan *plan = exec->config.plan;
    size_t floats = 0;
    for (uint32_t i = 0; i < plan->n_ops; i++) {
        const struct plan_op *op = &plan->ops[i];
        if (op->kind != PLAN_ATTENTION) continue;
        const struct plan_cache *cache = &plan->caches[op->u.attention.cache];
        // (m, l, o) of a block, per query head of a group
        size_t need = (size_t)(op->u.attention.heads / cache->heads_kv) * (cache->head_size_v + 2);
        if (need > floats) floats = need;
    }
    // Many items: the sum and a block for each worker. Few: the sums, and the blocks of a wave.
    size_t few = EXEC_ATTENTION_FEW + EXEC_ATTENTION_WAVE + EXEC_ATTENTION_FEW;
    exec->attention_floats = (2 * floats + 15) & ~(size_t)15;
    size_t each = workers > 1 && few * floats > exec->attention_floats ? few * floats
                                                                       : exec->attention_floats;
    exec->attention = exec_place(cursor, (uint64_t)workers * each, sizeof *exec->attention);
}

// Room for one group of rows of any expert matrix, and for a row of embeddings.
static void place_group(struct exec *exec, struct exec_cursor *cursor, uint32_t workers) {
    const struct plan *plan = exec->config.plan;
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < plan->n_experts; i++) {
        for (int m = 0; m < PLAN_EXPERT_MATRICES; m++) {
            const struct plan_expert_matrix *matrix = &plan->experts[i].matrix[m];
            if (matrix->row_bytes > bytes) bytes = matrix->row_bytes;
        }
    }
    for (uint32_t i = 0; i < plan->n_ops; i++) {
        if (plan->ops[i].kind != PLAN_EMBED) continue;
        uint64_t row = plan->weights[plan->ops[i].weight].row_bytes;
        if (row > KERNELS_LANES_MAX * bytes)
            bytes = (row + KERNELS_LANES_MAX - 1) / KERNELS_LANES_MAX;
    }
    exec->group_bytes = (KERNELS_LANES_MAX * bytes + 63) & ~UINT64_C(63);
    exec->group = exec_place(cursor, workers, exec->group_bytes);
}

// A tile of rows of any weight that is multiplied head by head, and columns for it.
static void place_heads(struct exec *exec, struct exec_cursor *cursor, uint32_t workers) {
    const struct plan *plan = exec->config.plan;
    uint64_t row = 0, column = 0;
    for (uint32_t i = 0; i < plan->n_ops; i++) {
        const struct plan_op *op = &plan->ops[i];
        if (op->kind != PLAN_HEAD_MATMUL) continue;
        uint64_t bytes = kernels_act_bytes(KERNELS_ACT_F32, op->u.head_matmul.in_size);
        if (bytes > column) column = bytes;
        if (plan->weights[op->weight].cols > row) row = plan->weights[op->weight].cols;
    }
    exec->head_rows_floats = (EXEC_HEAD_ROWS * row + 15) & ~UINT64_C(15);
    exec->head_columns_bytes = EXEC_HEAD_COLUMNS * column;
    exec->head_rows = exec_place(cursor, workers * exec->head_rows_floats, sizeof(float));
    exec->head_columns = exec_place(cursor, workers, exec->head_columns_bytes);
}

static void place_rope(struct exec *exec, struct exec_cursor *cursor) {
    const struct plan *plan = exec->config.plan;
    exec->rope_magnitude = exec_place(cursor, plan->n_ropes, sizeof *exec->rope_magnitude);
    for (uint32_t i = 0; i < plan->n_ropes; i++) {
        uint32_t n_rot = plan->ropes[i].rope.n_rot;
        double *theta = exec_place(cursor, n_rot / 2, sizeof *theta);
        float *rows = exec_place(cursor, (uint64_t)exec->config.chunk * n_rot, sizeof *rows);
        if (exec->rope_theta) exec->rope_theta[i] = theta, exec->rope_rows[i] = rows;
    }
}

uint64_t exec_workspace_place(struct exec *exec, uint8_t *base, uint32_t workers) {
    const struct plan *plan = exec->config.plan;
    struct exec_cursor cursor = {base, 0};
    exec->ops = exec_place(&cursor, plan->n_ops, sizeof *exec->ops);
    exec->buffers = exec_place(&cursor, plan->n_buffers, sizeof *exec->buffers);
    exec->rope_theta = exec_place(&cursor, plan->n_ropes, sizeof *exec->rope_theta);
    exec->rope_rows = exec_place(&cursor, plan->n_ropes, sizeof *exec->rope_rows);
    exec->wanted = exec_place(&cursor, exec->config.chunk, sizeof *exec->wanted);
    place_buffers(exec, &cursor);
    place_moe(exec, &cursor, workers);
    place_columns(exec, &cursor);
    place_attention(exec, &cursor, workers);
    exec->kv_scratch_bytes = exec_kv_scratch_bytes(plan, exec->config.kv->type);
    exec->kv_scratch = exec_place(&cursor, workers, exec->kv_scratch_bytes);
    place_group(exec, &cursor, workers);
    place_heads(exec, &cursor, workers);
    place_rope(exec, &cursor);
    if (plan->n_experts > 0) exec_ahead_place(exec, &cursor);
    return cursor.used;
}
