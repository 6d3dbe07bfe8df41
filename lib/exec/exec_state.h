// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the inside of struct exec, shared by the files that implement operations.
// Called by: exec*.c only.
// Threads:   written by the thread that calls exec_step before a run, and by worker 0 between two syncs;
//            rows and scratch of a worker by that worker.
// Errors:    exec_fail.
// Not here:  anything that other folders may use.
#ifndef EXEC_EXEC_STATE_H
#define EXEC_EXEC_STATE_H

#include "exec/exec.h"

enum { EXEC_ACTS = 4 }; // enum kernels_act

// Tokens up to which experts are computed in order of arrival, each into rows of its own; above, in
// ascending id straight into the tokens' rows. Both add in the same order.
enum { EXEC_ARRIVAL_TOKENS = 8 };

// Attention of fewer than FEW (token, KV head) per worker is shared block by block, WAVE blocks a worker
// at a time.
enum { EXEC_ATTENTION_FEW = 2, EXEC_ATTENTION_WAVE = 16 };

// HEAD_MATMUL: rows of a weight that are in float32 at a time, and tokens that they are multiplied with.
enum { EXEC_HEAD_ROWS = 32, EXEC_HEAD_COLUMNS = 16 };

// The operations that decide the next layer's routing; all PLAN_NONE where there are none.
struct exec_ahead_ops {
    uint32_t norm, matmul, router;
};

// What is known about an operation before the first step.
struct exec_op {
    bool quantise
        [EXEC_ACTS]; // columns of this form must be made from `in` (else they are there already)
    struct exec_ahead_ops ahead; // of a ROUTER
};

struct exec_entry { // one token of one routed expert
    uint32_t token;
    uint32_t choice; // index into the token's ascending list of chosen experts
};

struct exec_ready { // an expert that is being computed
    struct store_expert expert;
    const struct exec_entry *entries;
    uint32_t count;
    uint32_t row; // first of its rows in h and (ascending order) y
};

// The state of one EXPERTS operation; see exec_experts.c.
struct exec_moe {
    uint32_t *ids, *rank;       // [chunk * used], ascending id per token
    float *weights;             // [chunk * used]
    uint32_t *first;            // [experts + 1]: entries of expert e are first[e]..first[e+1]-1
    struct exec_entry *entries; // [chunk * used]
    uint32_t *columns;          // [chunk * used]: entries' tokens, for the kernels
    uint32_t *distinct;         // [experts]: the routed ones in ascending id
    uint32_t distinct_count;
    uint32_t taken;           // of them, so far
    enum exec_residency *residency; // [experts]: of the computed ones
    enum exec_residency *told;      // [used]: those of one token, for the trace
    struct exec_ready *ready; // [experts]
    uint32_t ready_count;
    uint32_t rows; // of the ready ones together
    uint32_t rows_max;
    bool arrival;          // order of this operation
    float *h;              // [rows_max][2 * width]: gate | up, then their product in the first half
    uint8_t *h_act;        // [rows_max] columns for the down matrices
    float *y;              // [rows_max][inputs]
    float *router_scratch; // [workers][experts]
};

// Which experts the next layer will probably choose; see exec_ahead.c.
struct exec_ahead {
    bool on;                    // in this step
    const struct exec_op *from; // the ROUTER whose next layer lies in logits; NULL: none
    float *state;               // [rows][inputs] normed as the next layer does
    uint8_t *columns;           // [rows], for its router matrix
    float *logits;              // [rows][experts]
    float *scratch, *weights;   // of one token's choice
    uint32_t *ids, *rank;
    uint32_t *list; // [experts] of all tokens
    uint32_t list_count;
    bool *listed; // [experts]
};

struct exec {
    struct exec_config config;
    struct vmem region;  // the workspace
    struct exec_op *ops; // [plan.n_ops]
    float **buffers;     // [plan.n_buffers]
    uint8_t *act[EXEC_ACTS];
    double **rope_theta; // [ropes]
    double *rope_magnitude;
    float **rope_rows; // [ropes]: [chunk][n_rot]
    struct exec_moe moe;
    struct exec_ahead ahead;
    float *attention; // [workers][attention_floats]; of few items see exec_attention.c
    size_t attention_floats;
    uint8_t *kv_scratch; // [workers][kv_scratch_bytes]; none where KV rows are floats
    size_t kv_scratch_bytes;
    // [workers]: a tile of rows in float32, and columns that it is multiplied with; see exec_heads.c
    float *head_rows;
    uint8_t *head_columns;
    size_t head_rows_floats, head_columns_bytes;
    uint8_t *group; // [workers][group_bytes]: rows that are being interleaved
    size_t group_bytes;
    uint32_t *wanted; // [chunk]: tokens whose logits are wanted
    uint32_t wanted_count;

    // the current step
    const struct exec_batch *batch;
    uint32_t rows;       // of the part that runs: tokens, or rows of the head
    uint32_t head_first; // first entry of `wanted` in this run of the head
    uint32_t op_begin, op_end;
    locum_status status; // of the first failure
    locum_error error;
};

// Record a failure and end the run at the next sync.
void exec_fail(struct exec *exec, locum_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// The usual one: a value that is not finite appeared in this operation.
void exec_fail_numeric(struct exec *exec, const struct plan_op *op);

static inline const struct plan_buffer *exec_buffer(const struct exec *exec, uint32_t buffer) {
    return &exec->config.plan->buffers[buffer];
}
static inline float *exec_row(const struct exec *exec, uint32_t buffer, size_t row) {
    return exec->buffers[buffer] + row * exec_buffer(exec, buffer)->width;
}
static inline const float *exec_vector(const struct exec *exec, uint32_t weight) {
    return weight == PLAN_NONE
               ? NULL
               : (const float *)(const void *)exec_weights_data(exec->config.weights, weight);
}
static inline const struct exec_sequence *exec_sequence_of(const struct exec *exec, size_t token) {
    const struct exec_batch *batch = exec->batch;
    return &batch->sequences[batch->sequence ? batch->sequence[token] : 0];
}

// Books the time since *since, and begins the next lap.
void exec_time_lap(struct exec_time *time, uint64_t *since);
// Make the columns of the operation's input that are not there yet; all workers; no sync inside.
void exec_quantise(struct exec *exec, uint32_t worker, const struct plan_op *op,
                   const struct exec_op *info);

// y[i] = act(g[i], u[i]); y may be g.
typedef void (*exec_act_fn)(float *y, const float *g, const float *u, size_t n);
exec_act_fn exec_act(const struct exec *exec, enum plan_act act);

// Each runs one operation; called by all workers, which have met before and meet afterwards. False: a sync
// inside said stop.
typedef bool (*exec_op_fn)(struct exec *exec, uint32_t worker, const struct plan_op *op,
                           const struct exec_op *info);
bool exec_op_embed(struct exec *exec, uint32_t worker, const struct plan_op *op,
                   const struct exec_op *info);
bool exec_op_norm(struct exec *exec, uint32_t worker, const struct plan_op *op,
                  const struct exec_op *info);
bool exec_op_matmul(struct exec *exec, uint32_t worker, const struct plan_op *op,
                    const struct exec_op *info);
bool exec_op_head_matmul(struct exec *exec, uint32_t worker, const struct plan_op *op,
                         const struct exec_op *info);
bool exec_op_rope(struct exec *exec, uint32_t worker, const struct plan_op *op,
                  const struct exec_op *info);
bool exec_op_kv_write(struct exec *exec, uint32_t worker, const struct plan_op *op,
                      const struct exec_op *info);
bool exec_op_attention(struct exec *exec, uint32_t worker, const struct plan_op *op,
                       const struct exec_op *info);
bool exec_op_add(struct exec *exec, uint32_t worker, const struct plan_op *op,
                 const struct exec_op *info);
bool exec_op_activate(struct exec *exec, uint32_t worker, const struct plan_op *op,
                      const struct exec_op *info);
bool exec_op_router(struct exec *exec, uint32_t worker, const struct plan_op *op,
                    const struct exec_op *info);
bool exec_op_experts(struct exec *exec, uint32_t worker, const struct plan_op *op,
                     const struct exec_op *info);
bool exec_op_row_gate(struct exec *exec, uint32_t worker, const struct plan_op *op,
                      const struct exec_op *info);
bool exec_op_gather(struct exec *exec, uint32_t worker, const struct plan_op *op,
                    const struct exec_op *info);
bool exec_op_pick(struct exec *exec, uint32_t worker, const struct plan_op *op,
                  const struct exec_op *info);
bool exec_op_l2_norm(struct exec *exec, uint32_t worker, const struct plan_op *op,
                     const struct exec_op *info);
bool exec_op_conv(struct exec *exec, uint32_t worker, const struct plan_op *op,
                  const struct exec_op *info);
bool exec_op_delta_gates(struct exec *exec, uint32_t worker, const struct plan_op *op,
                         const struct exec_op *info);
bool exec_op_delta(struct exec *exec, uint32_t worker, const struct plan_op *op,
                   const struct exec_op *info);
bool exec_op_scale(struct exec *exec, uint32_t worker, const struct plan_op *op,
                   const struct exec_op *info);
bool exec_op_temper(struct exec *exec, uint32_t worker, const struct plan_op *op,
                    const struct exec_op *info);
bool exec_op_weigh(struct exec *exec, uint32_t worker, const struct plan_op *op,
                   const struct exec_op *info);
bool exec_op_softcap(struct exec *exec, uint32_t worker, const struct plan_op *op,
                     const struct exec_op *info);

// Find the operations; once.
void exec_ahead_analyse(struct exec *exec);
// Does this ROUTER look ahead in this step? The same for all workers.
bool exec_ahead_wanted(const struct exec *exec, const struct exec_op *info);
// One row, any worker.
void exec_ahead_prepare(struct exec *exec, const struct exec_op *info, size_t row);
// All workers, behind the meeting point that follows the last row.
void exec_ahead_multiply(struct exec *exec, uint32_t worker, const struct exec_op *info);
// Worker 0, behind another one: tells the store, if there is something to tell.
void exec_ahead_tell(struct exec *exec);

// A place in the workspace that is being laid out.
struct exec_cursor {
    uint8_t *base; // NULL: measuring
    uint64_t used;
};
void *exec_place(struct exec_cursor *cursor, uint64_t count, uint64_t size);
void exec_ahead_place(struct exec *exec, struct exec_cursor *cursor);
// Lay the workspace out from `base`, or only measure it when base is NULL. Gives the bytes.
uint64_t exec_workspace_place(struct exec *exec, uint8_t *base, uint32_t workers);

#endif
