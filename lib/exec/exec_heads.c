// SPDX-License-Identifier: Apache-2.0
//
// Each head has a matrix of its own, and each token an input for each: latent attention, which looks at
// compressed keys and values, goes into the compressed space and back this way. A worker takes a head, turns
// its rows into float32 a tile at a time and multiplies them with all tokens of the step. The inputs of a
// head are few and the rows as few, so rounding inputs to integers would save little; and one of the two
// matrices may be needed transposed, which no sum over quantised blocks allows.
#include "exec/exec_state.h"

#include <string.h>

struct tile {
    const float *rows;
    size_t first, count; // of the head's used rows
};

// out[first..] = rows . input, for all tokens.
static bool multiply(struct exec *exec, uint32_t worker, const struct plan_op *op, size_t head,
                     const struct tile *tile) {
    const struct kernels_table *k = exec->config.kernels;
    size_t n = op->u.head_matmul.in_size;
    uint8_t *columns = exec->head_columns + worker * exec->head_columns_bytes;
    struct kernels_matmul m = {
        .w = (const uint8_t *)tile->rows,
        .w_row_bytes = n * sizeof(float),
        .rows = tile->count,
        .k = n,
        .act = columns,
        .act_stride = kernels_act_bytes(KERNELS_ACT_F32, n),
        .y_stride = exec_buffer(exec, op->out)->width,
    };
    for (size_t t = 0; t < exec->rows; t += EXEC_HEAD_COLUMNS) {
        m.n_cols = exec->rows - t < EXEC_HEAD_COLUMNS ? exec->rows - t : EXEC_HEAD_COLUMNS;
        for (size_t c = 0; c < m.n_cols; c++) {
            const float *in = exec_row(exec, op->in, t + c) + head * op->u.head_matmul.in_stride;
            if (!k->quantise[KERNELS_ACT_F32](columns + c * m.act_stride, in, n)) return false;
        }
        m.y = exec_row(exec, op->out, t) + head * op->u.head_matmul.out_stride + tile->first;
        k->matmul[DTYPE_F32](&m);
    }
    return true;
}

// out += sum of input i times row i, over the tile's rows.
static void multiply_transposed(const struct exec *exec, const struct plan_op *op, size_t head,
                                const struct tile *tile) {
    size_t n = op->u.head_matmul.out_size;
    for (size_t t = 0; t < exec->rows; t++) {
        const float *in =
            exec_row(exec, op->in, t) + head * op->u.head_matmul.in_stride + tile->first;
        float *out = exec_row(exec, op->out, t) + head * op->u.head_matmul.out_stride;
        if (tile->first == 0) memset(out, 0, n * sizeof *out);
        for (size_t i = 0; i < tile->count; i++)
            exec->config.kernels->add_scaled(out, tile->rows + i * n, in[i], n);
    }
}

static bool multiply_head(struct exec *exec, uint32_t worker, const struct plan_op *op,
                          size_t head) {
    const struct plan_weight *w = &exec->config.plan->weights[op->weight];
    bool transposed = op->u.head_matmul.transposed;
    size_t used = transposed ? op->u.head_matmul.in_size : op->u.head_matmul.out_size;
    size_t at = head * op->u.head_matmul.w_stride + op->u.head_matmul.w_first;
    const uint8_t *data = exec_weights_data(exec->config.weights, op->weight) + at * w->row_bytes;
    float *rows = exec->head_rows + worker * exec->head_rows_floats;
    struct tile tile = {.rows = rows};
    for (; tile.first < used; tile.first += tile.count) {
        tile.count = used - tile.first < EXEC_HEAD_ROWS ? used - tile.first : EXEC_HEAD_ROWS;
        for (size_t i = 0; i < tile.count; i++)
            exec->config.kernels->dequantise[w->dtype](
                rows + i * w->cols, data + (tile.first + i) * w->row_bytes, w->cols);
        if (transposed) multiply_transposed(exec, op, head, &tile);
        else if (!multiply(exec, worker, op, head, &tile)) return false;
    }
    return true;
}

bool exec_op_head_matmul(struct exec *exec, uint32_t worker, const struct plan_op *op,
                         const struct exec_op *info) {
    (void)info;
    size_t heads = op->u.head_matmul.heads;
    for (size_t h, end; exec_team_take(exec->config.team, worker, heads, 1, &h, &end);) {
        if (multiply_head(exec, worker, op, h)) continue;
        exec_fail_numeric(exec, op);
        break;
    }
    return true;
}
