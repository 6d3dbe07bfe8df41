// SPDX-License-Identifier: Apache-2.0
//
// DESIGN. The router decides ids and weights per token; a counting sort turns them into lists of tokens per
// expert, and the store begins to read what is missing, while the operations between ROUTER and EXPERTS
// run. Worker 0 alone talks to the store. Then rounds, until every routed expert has been computed:
//
//     worker 0   give back what the last round held; take what is ready (wait only if nothing is)
//     sync
//     all        h = [gate | up] of the ready experts' tokens       portions: (expert, rows of the weight)
//     sync
//     all        h = act(gate) * up, quantised for the down matrix  portions: rows of h
//     sync
//     all        y = down h                                        portions: (expert, rows of the weight)
//     sync
//     all        ascending order: out rows += weight * y rows       portions: columns of the state
//
// Few tokens (decode): hits come first, then experts in order of arrival; each (token, expert) has its own
// row of y, added at the end in ascending id. Many tokens (prompt): experts come in ascending id, and their
// rows are added at once. Per token the order of additions is the same: ascending id from +0.
// Several experts that are ready are computed in one round: no meeting point per expert.
#include "exec/exec_state.h"
#include "platform/clock.h"

#include <string.h>

enum { TILE_ROWS = 2 * KERNELS_LANES_MAX, COLUMN_GRAIN = 64 };

// ---- worker 0: lists and rounds ---------------------------------------------------------------------
static void sort_by_expert(struct exec *exec, const struct plan_experts *set) {
    struct exec_moe *moe = &exec->moe;
    uint32_t choices = exec->rows * set->used;
    memset(moe->first, 0, (set->experts + 1) * sizeof *moe->first);
    for (uint32_t i = 0; i < choices; i++)
        moe->first[moe->ids[i] + 1]++;
    moe->distinct_count = 0;
    for (uint32_t e = 0; e < set->experts; e++) {
        if (moe->first[e + 1] > 0) moe->distinct[moe->distinct_count++] = e;
        moe->first[e + 1] += moe->first[e];
    }
    // first[e] serves as the place to write, and is the start of e + 1 afterwards: shift back
    for (uint32_t i = 0; i < choices; i++) {
        uint32_t at = moe->first[moe->ids[i]]++;
        moe->entries[at] = (struct exec_entry){i / set->used, i % set->used};
        moe->columns[at] = i / set->used;
    }
    memmove(moe->first + 1, moe->first, set->experts * sizeof *moe->first);
    moe->first[0] = 0;
}

static void trace(struct exec *exec, const struct plan_experts *set) {
    struct exec_moe *moe = &exec->moe;
    if (!exec->config.trace) return;
    for (uint32_t i = 0; i < exec->rows; i++) {
        const uint32_t *ids = moe->ids + (size_t)i * set->used;
        for (uint32_t j = 0; j < set->used; j++)
            moe->told[j] = moe->residency[ids[j]];
        exec->config.trace(exec->config.trace_user, set->layer, i, set->used, ids,
                           moe->weights + (size_t)i * set->used, moe->rank + (size_t)i * set->used,
                           moe->told);
    }
}

static void begin(struct exec *exec, const struct plan_experts *set) {
    struct exec_moe *moe = &exec->moe;
    moe->ready_count = moe->taken = 0;
    moe->arrival = exec->rows <= EXEC_ARRIVAL_TOKENS;
    sort_by_expert(exec, set);
    locum_error error;
    locum_status status =
        store_begin(exec->config.store, set->layer, moe->distinct, moe->distinct_count,
                    moe->arrival ? STORE_ANY : STORE_ASCENDING, exec->batch->phase, &error);
    if (status != LOCUM_OK) exec_fail(exec, status, "%s", error.text);
}

static void give_back(struct exec *exec) {
    struct exec_moe *moe = &exec->moe;
    for (uint32_t i = 0; i < moe->ready_count; i++)
        store_done(exec->config.store, moe->ready[i].expert.slot);
    moe->ready_count = 0;
    moe->rows = 0;
}

// What is ready and whose rows have room. Waits only for the first.
static void take_ready(struct exec *exec) {
    struct exec_moe *moe = &exec->moe;
    give_back(exec);
    for (;;) {
        // rows_max holds all tokens of a step for one expert: the first one of a round always fits
        if (!moe->arrival && moe->taken < moe->distinct_count) {
            uint32_t next = moe->distinct[moe->taken];
            if (moe->rows + moe->first[next + 1] - moe->first[next] > moe->rows_max) return;
        }
        struct exec_ready *ready = &moe->ready[moe->ready_count];
        bool got;
        locum_error error;
        locum_status status =
            store_take(exec->config.store, moe->ready_count == 0, &ready->expert, &got, &error);
        if (status != LOCUM_OK) {
            exec_fail(exec, status, "%s", error.text);
            return;
        }
        if (!got) return;
        uint32_t e = ready->expert.id;
        moe->residency[e] = ready->expert.hinted ? EXEC_AHEAD
                            : ready->expert.hit  ? EXEC_RESIDENT
                                                 : EXEC_READ;
        ready->entries = moe->entries + moe->first[e];
        ready->count = moe->first[e + 1] - moe->first[e];
        ready->row = moe->rows;
        moe->rows += ready->count;
        moe->ready_count++;
        moe->taken++;
    }
}

// ---- the router -------------------------------------------------------------------------------------
bool exec_op_router(struct exec *exec, uint32_t worker, const struct plan_op *op,
                    const struct exec_op *info) {
    const struct plan_experts *set = &exec->config.plan->experts[op->u.experts.set];
    struct exec_moe *moe = &exec->moe;
    bool ahead = exec_ahead_wanted(exec, info);
    struct kernels_route route = set->route;
    route.bias = exec_vector(exec, set->route_bias);
    route.expert_scale = exec_vector(exec, set->scale);
    float *scratch = moe->router_scratch + (size_t)worker * ((set->experts + 15) & ~15u);
    for (size_t i, end; exec_team_take(exec->config.team, worker, exec->rows, 1, &i, &end);) {
        size_t at = i * set->used;
        if (!kernels_route_select(&route, exec_row(exec, op->in, i), scratch, moe->ids + at,
                                  moe->weights + at, moe->rank + at)) {
            exec_fail_numeric(exec, op);
            break;
        }
        if (ahead) exec_ahead_prepare(exec, info, i);
    }
    if (!exec_team_sync(exec->config.team)) return false;
    if (worker == 0) begin(exec, set);
    if (ahead) exec_ahead_multiply(exec, worker, info);
    return true;
}

// ---- all workers: the phases of a round -------------------------------------------------------------
struct tile {
    const struct exec_ready *ready;
    int which;         // PLAN_GATE, PLAN_UP, PLAN_DOWN
    size_t begin, end; // rows of the matrix
};

static size_t tiles_of(size_t rows) {
    return (rows + TILE_ROWS - 1) / TILE_ROWS;
}

// Portion `index` when every ready expert has the tiles of `matrices` matrices of `rows` rows, of which
// `first` is the first.
static struct tile tile_at(const struct exec_moe *moe, size_t index, int first, int matrices,
                           size_t rows) {
    size_t each = tiles_of(rows), matrix = index / each;
    size_t begin = index % each * TILE_ROWS;
    size_t end = begin + TILE_ROWS < rows ? begin + TILE_ROWS : rows;
    return (struct tile){&moe->ready[matrix / (size_t)matrices], first + (int)(matrix % (size_t)matrices),
                         begin, end};
}

// Rows of a tile, as the kernels want them: an expert that is used for the first time lies as in the file.
static uint8_t *tile_rows(struct exec *exec, uint32_t worker, const struct plan_experts *set,
                          const struct tile *t) {
    const struct plan_expert_matrix *matrix = &set->matrix[t->which];
    uint8_t *rows = t->ready->expert.segment[t->which] + t->begin * matrix->row_bytes;
    if (t->ready->expert.fresh)
        exec->config.kernels->interleave(matrix->dtype, rows, matrix->row_bytes, t->end - t->begin,
                                         exec->group + worker * exec->group_bytes);
    return rows;
}

// The product of a tile, and the bias of its rows where there is one.
static void multiply(const struct exec *exec, const struct plan_experts *set, const struct tile *t,
                     const struct kernels_matmul *m) {
    const struct plan_expert_matrix *matrix = &set->matrix[t->which];
    exec->config.kernels->matmul[matrix->dtype](m);
    const float *bias = exec_vector(exec, set->bias[t->which]);
    if (!bias) return;
    bias += t->ready->expert.id * matrix->rows + t->begin;
    for (size_t i = 0; i < m->n_cols; i++)
        exec->config.kernels->add(m->y + i * m->y_stride, bias, m->rows);
}

static void multiply_in(struct exec *exec, uint32_t worker, const struct plan_experts *set,
                        const struct tile *t) {
    const struct plan_expert_matrix *matrix = &set->matrix[t->which];
    enum kernels_act act = kernels_act_of(matrix->dtype);
    struct exec_moe *moe = &exec->moe;
    float *h = moe->h + t->ready->row * 2 * set->width + t->begin;
    struct kernels_matmul m = {
        .w = tile_rows(exec, worker, set, t),
        .w_row_bytes = matrix->row_bytes,
        .rows = t->end - t->begin,
        .k = set->inputs,
        .act = exec->act[act],
        .act_stride = kernels_act_bytes(act, set->inputs),
        .cols = moe->columns + (t->ready->entries - moe->entries),
        .n_cols = t->ready->count,
        .y = t->which == PLAN_UP ? h + set->width : h,
        .y_stride = 2 * set->width,
    };
    multiply(exec, set, t, &m);
}

// Gate and up, or the one matrix that holds both.
static void phase_in(struct exec *exec, uint32_t worker, const struct plan_experts *set) {
    struct exec_moe *moe = &exec->moe;
    int matrices = set->fused ? 1 : 2;
    size_t rows = set->fused ? 2 * set->width : set->width;
    size_t total = moe->ready_count * (size_t)matrices * tiles_of(rows);
    for (size_t i, end; exec_team_take(exec->config.team, worker, total, 1, &i, &end);) {
        struct tile t = tile_at(moe, i, PLAN_GATE, matrices, rows);
        multiply_in(exec, worker, set, &t);
    }
}

static void phase_act(struct exec *exec, uint32_t worker, const struct plan_op *op,
                      const struct plan_experts *set) {
    struct exec_moe *moe = &exec->moe;
    exec_act_fn activate = exec_act(exec, op->u.experts.act);
    enum kernels_act act = kernels_act_of(set->matrix[PLAN_DOWN].dtype);
    kernels_quantise_fn quantise = exec->config.kernels->quantise[act];
    size_t stride = kernels_act_bytes(act, set->width);
    for (size_t i, end; exec_team_take(exec->config.team, worker, moe->rows, 1, &i, &end);) {
        float *h = moe->h + i * 2 * set->width;
        activate(h, h, h + set->width, set->width);
        if (quantise(moe->h_act + i * stride, h, set->width)) continue;
        exec_fail_numeric(exec, op);
        return;
    }
}

// The row of y for entry j of a ready expert.
static size_t row_of(const struct exec_moe *moe, const struct plan_experts *set,
                     const struct exec_ready *ready, uint32_t j) {
    if (!moe->arrival) return ready->row + j;
    return (size_t)ready->entries[j].token * set->used + ready->entries[j].choice;
}

static void multiply_down(struct exec *exec, uint32_t worker, const struct plan_experts *set,
                          const struct tile *t) {
    const struct plan_expert_matrix *matrix = &set->matrix[PLAN_DOWN];
    struct exec_moe *moe = &exec->moe;
    enum kernels_act act = kernels_act_of(matrix->dtype);
    size_t stride = kernels_act_bytes(act, set->width);
    struct kernels_matmul m = {
        .w = tile_rows(exec, worker, set, t),
        .w_row_bytes = matrix->row_bytes,
        .rows = t->end - t->begin,
        .k = set->width,
        .act_stride = stride,
        .y_stride = set->inputs,
    };
    // In order of arrival the rows of y are scattered, and there are few: one column at a time.
    uint32_t step = moe->arrival ? 1 : t->ready->count;
    m.n_cols = step;
    for (uint32_t j = 0; j < t->ready->count; j += step) {
        m.act = moe->h_act + (t->ready->row + j) * stride;
        m.y = moe->y + row_of(moe, set, t->ready, j) * set->inputs + t->begin;
        multiply(exec, set, t, &m);
    }
}

static void phase_down(struct exec *exec, uint32_t worker, const struct plan_experts *set) {
    struct exec_moe *moe = &exec->moe;
    size_t total = moe->ready_count * tiles_of(set->inputs);
    for (size_t i, end; exec_team_take(exec->config.team, worker, total, 1, &i, &end);) {
        struct tile t = tile_at(moe, i, PLAN_DOWN, 1, set->inputs);
        multiply_down(exec, worker, set, &t);
    }
}

static void add_row(struct exec *exec, const struct plan_op *op, const struct plan_experts *set,
                    uint32_t token, uint32_t choice, size_t row, size_t begin_col, size_t end_col) {
    const struct exec_moe *moe = &exec->moe;
    float weight = set->weighs_input ? 1 : moe->weights[(size_t)token * set->used + choice];
    exec->config.kernels->add_scaled(exec_row(exec, op->out, token) + begin_col,
                                     moe->y + row * set->inputs + begin_col, weight,
                                     end_col - begin_col);
}

// Ascending order: the round's experts are in ascending id, so each token's additions are too.
static void phase_add(struct exec *exec, uint32_t worker, const struct plan_op *op,
                      const struct plan_experts *set) {
    const struct exec_moe *moe = &exec->moe;
    for (size_t c, end;
         exec_team_take(exec->config.team, worker, set->inputs, COLUMN_GRAIN, &c, &end);) {
        for (uint32_t r = 0; r < moe->ready_count; r++) {
            const struct exec_ready *ready = &moe->ready[r];
            for (uint32_t j = 0; j < ready->count; j++) {
                const struct exec_entry *entry = &ready->entries[j];
                add_row(exec, op, set, entry->token, entry->choice, row_of(moe, set, ready, j), c,
                        end);
            }
        }
    }
}

// Order of arrival: all rows are there; choices are in ascending id.
static void add_arrived(struct exec *exec, uint32_t worker, const struct plan_op *op,
                        const struct plan_experts *set) {
    for (size_t c, end;
         exec_team_take(exec->config.team, worker, set->inputs, COLUMN_GRAIN, &c, &end);) {
        for (uint32_t token = 0; token < exec->rows; token++) {
            for (uint32_t j = 0; j < set->used; j++) {
                add_row(exec, op, set, token, j, (size_t)token * set->used + j, c, end);
            }
        }
    }
}

static void clear_out(struct exec *exec, uint32_t worker, const struct plan_op *op) {
    size_t width = exec_buffer(exec, op->out)->width;
    for (size_t i, end; exec_team_take(exec->config.team, worker, exec->rows, 1, &i, &end);) {
        memset(exec_row(exec, op->out, i), 0, width * sizeof(float));
    }
}

static uint64_t start_laps(const struct exec *exec, uint32_t worker) {
    return worker == 0 && exec->config.times ? clock_now_ns() : 0;
}

// The meeting point behind a part of a round. false: stop.
static bool end_part(struct exec *exec, uint32_t worker, enum exec_part part, uint64_t *since) {
    bool going = exec_team_sync(exec->config.team);
    struct exec_times *times = exec->config.times;
    if (worker == 0 && times) exec_time_lap(&times->part[exec->batch->phase][part], since);
    return going;
}

static bool rounds(struct exec *exec, uint32_t worker, const struct plan_op *op,
                   const struct plan_experts *set) {
    uint64_t since = start_laps(exec, worker);
    for (;;) {
        if (worker == 0) take_ready(exec);
        if (!end_part(exec, worker, EXEC_PART_TAKE, &since)) return false;
        if (exec->moe.ready_count == 0) return true;
        phase_in(exec, worker, set);
        if (!end_part(exec, worker, EXEC_PART_IN, &since)) return false;
        phase_act(exec, worker, op, set);
        if (!end_part(exec, worker, EXEC_PART_ACT, &since)) return false;
        phase_down(exec, worker, set);
        if (!end_part(exec, worker, EXEC_PART_DOWN, &since)) return false;
        if (exec->moe.arrival) continue;
        phase_add(exec, worker, op, set);
        if (!end_part(exec, worker, EXEC_PART_ADD, &since)) return false;
    }
}

bool exec_op_experts(struct exec *exec, uint32_t worker, const struct plan_op *op,
                     const struct exec_op *info) {
    const struct plan_experts *set = &exec->config.plan->experts[op->u.experts.set];
    struct exec_team *team = exec->config.team;
    if (worker == 0) exec_ahead_tell(exec);
    exec_quantise(exec, worker, op, info);
    bool going = exec_team_sync(team);
    if (going) {
        clear_out(exec, worker, op);
        going = exec_team_sync(team) && rounds(exec, worker, op, set);
    }
    if (going && exec->moe.arrival) {
        uint64_t since = start_laps(exec, worker);
        add_arrived(exec, worker, op, set); // the meeting point is that behind the operation
        struct exec_times *times = exec->config.times;
        if (since) exec_time_lap(&times->part[exec->batch->phase][EXEC_PART_ADD], &since);
    }
    if (worker > 0) return going;
    if (going) trace(exec, set);
    store_end(exec->config.store);
    return going;
}
