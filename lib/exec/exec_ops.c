// SPDX-License-Identifier: Apache-2.0
//
// Operations that treat each token (or each row of a weight) on its own.
#include "exec/exec_state.h"
#include "kernels/kernels_rows.h"
#include "kernels/kmath.h"

#include <string.h>

// Rows of a weight per portion, whole groups of the kernels: 64 KiB of Q4_K at 2048 columns.
enum { ROWS_GRAIN = 2 * KERNELS_LANES_MAX };

#define FOR_ROWS(exec, worker, row)                                                     \
    for (size_t begin_, end_;                                                           \
         exec_team_take((exec)->config.team, worker, (exec)->rows, 1, &begin_, &end_);) \
        for (size_t row = begin_; row < end_; row++)

bool exec_op_embed(struct exec *exec, uint32_t worker, const struct plan_op *op,
                   const struct exec_op *info) {
    (void)info;
    const struct kernels_table *k = exec->config.kernels;
    const struct plan_weight *w = &exec->config.plan->weights[op->weight];
    const uint8_t *data = exec_weights_data(exec->config.weights, op->weight);
    uint8_t *copy = exec->group + worker * exec->group_bytes;
    FOR_ROWS(exec, worker, i) {
        float *out = exec_row(exec, op->out, i);
        const uint8_t *row = data + (size_t)exec->batch->tokens[i] * w->row_bytes;
        if (exec->config.weights->multiplied[op->weight]) {
            kernels_rows_copy(k, w->dtype, data, w->row_bytes, w->rows, exec->batch->tokens[i], copy);
            row = copy;
        }
        k->dequantise[w->dtype](out, row, w->cols);
        if (op->u.scale != 1) k->scale(out, out, op->u.scale, w->cols);
    }
    return true;
}

bool exec_op_norm(struct exec *exec, uint32_t worker, const struct plan_op *op,
                  const struct exec_op *info) {
    (void)info;
    size_t groups = op->u.norm.groups, n = op->u.norm.size;
    if (n == 0) n = exec_buffer(exec, op->in)->width / groups;
    const float *w = exec_vector(exec, op->weight);
    FOR_ROWS(exec, worker, i) {
        float *out = exec_row(exec, op->out, i);
        const float *in = exec_row(exec, op->in, i);
        for (size_t g = 0; g < groups; g++) {
            if (!exec->config.kernels->rms_norm(out + g * n, in + g * n, w, n, op->u.norm.eps)) {
                exec_fail_numeric(exec, op);
                return true;
            }
        }
    }
    return true;
}

void exec_quantise(struct exec *exec, uint32_t worker, const struct plan_op *op,
                   const struct exec_op *info) {
    size_t k = exec_buffer(exec, op->in)->width;
    for (size_t begin, end; exec_team_take(exec->config.team, worker, exec->rows, 1, &begin, &end);) {
        for (size_t i = begin; i < end; i++) {
            for (int act = 0; act < EXEC_ACTS; act++) {
                if (!info->quantise[act]) continue;
                uint8_t *column = exec->act[act] + i * kernels_act_bytes((enum kernels_act)act, k);
                if (exec->config.kernels->quantise[act](column, exec_row(exec, op->in, i), k))
                    continue;
                exec_fail_numeric(exec, op);
                return;
            }
        }
    }
}

static void add_bias(struct exec *exec, const struct plan_op *op, size_t first, size_t count) {
    const float *bias = exec_vector(exec, op->bias);
    if (!bias) return;
    for (size_t i = 0; i < exec->rows; i++) {
        exec->config.kernels->add(exec_row(exec, op->out, i) + first, bias + first, count);
    }
}

bool exec_op_matmul(struct exec *exec, uint32_t worker, const struct plan_op *op,
                    const struct exec_op *info) {
    const struct plan_weight *w = &exec->config.plan->weights[op->weight];
    enum kernels_act act = kernels_act_of(w->dtype);
    if (info->quantise[act]) {
        exec_quantise(exec, worker, op, info);
        if (!exec_team_sync(exec->config.team)) return false;
    }
    struct kernels_matmul m = {
        .w_row_bytes = w->row_bytes,
        .k = w->cols,
        .act = exec->act[act],
        .act_stride = kernels_act_bytes(act, w->cols),
        .n_cols = exec->rows,
        .y_stride = exec_buffer(exec, op->out)->width,
    };
    const uint8_t *data = exec_weights_data(exec->config.weights, op->weight);
    for (size_t begin, end; exec_team_take(exec->config.team, worker, w->rows, ROWS_GRAIN, &begin, &end);) {
        m.w = data + begin * w->row_bytes;
        m.rows = end - begin;
        m.y = exec_row(exec, op->out, 0) + begin;
        exec->config.kernels->matmul[w->dtype](&m);
        add_bias(exec, op, begin, end - begin);
    }
    return true;
}

bool exec_op_rope(struct exec *exec, uint32_t worker, const struct plan_op *op,
                  const struct exec_op *info) {
    (void)info;
    const struct plan_rope *table = &exec->config.plan->ropes[op->u.rope.table];
    const struct kernels_table *k = exec->config.kernels;
    size_t n_rot = table->rope.n_rot;
    FOR_ROWS(exec, worker, i) {
        const float *cs = exec->rope_rows[op->u.rope.table] + i * n_rot;
        float *x = exec_row(exec, op->out, i) + op->u.rope.first;
        (table->neox ? k->rope_neox : k->rope_norm)(x, op->u.rope.heads, op->u.rope.head_size,
                                                    n_rot / 2, cs);
    }
    return true;
}

bool exec_op_add(struct exec *exec, uint32_t worker, const struct plan_op *op,
                 const struct exec_op *info) {
    (void)info;
    FOR_ROWS(exec, worker, i) {
        exec->config.kernels->add(exec_row(exec, op->out, i), exec_row(exec, op->in, i),
                                  exec_buffer(exec, op->out)->width);
    }
    return true;
}

exec_act_fn exec_act(const struct exec *exec, enum plan_act act) {
    const struct kernels_table *k = exec->config.kernels;
    const exec_act_fn functions[] = {[PLAN_ACT_SILU] = k->silu_mul,
                                     [PLAN_ACT_GELU] = k->gelu_mul,
                                     [PLAN_ACT_SWIGLU_OAI] = k->swiglu_oai_mul,
                                     [PLAN_ACT_SIGMOID] = k->sigmoid_mul,
                                     [PLAN_ACT_PRODUCT] = k->mul};
    return functions[act];
}

bool exec_op_activate(struct exec *exec, uint32_t worker, const struct plan_op *op,
                      const struct exec_op *info) {
    (void)info;
    exec_act_fn act = exec_act(exec, op->u.act);
    FOR_ROWS(exec, worker, i) {
        act(exec_row(exec, op->out, i), exec_row(exec, op->in, i), exec_row(exec, op->in2, i),
            exec_buffer(exec, op->out)->width);
    }
    return true;
}

// One factor per token: 1 / (1 + exp(-w.x))
bool exec_op_row_gate(struct exec *exec, uint32_t worker, const struct plan_op *op,
                      const struct exec_op *info) {
    (void)info;
    const struct kernels_table *k = exec->config.kernels;
    const float *w = exec_vector(exec, op->weight);
    FOR_ROWS(exec, worker, i) {
        float power = -k->dot(w, exec_row(exec, op->in, i), exec_buffer(exec, op->in)->width);
        k->exp(&power, &power, 1);
        float *out = exec_row(exec, op->out, i);
        k->scale(out, out, 1.0f / (1.0f + power), exec_buffer(exec, op->out)->width);
    }
    return true;
}

bool exec_op_gather(struct exec *exec, uint32_t worker, const struct plan_op *op,
                    const struct exec_op *info) {
    (void)info;
    FOR_ROWS(exec, worker, i) {
        uint32_t token = exec->wanted[exec->head_first + i];
        memcpy(exec_row(exec, op->out, i), exec_row(exec, op->in, token),
               exec_buffer(exec, op->out)->width * sizeof(float));
    }
    return true;
}

bool exec_op_pick(struct exec *exec, uint32_t worker, const struct plan_op *op,
                  const struct exec_op *info) {
    (void)info;
    size_t size = op->u.pick.size;
    FOR_ROWS(exec, worker, i) {
        const float *in = exec_row(exec, op->in, i) + op->u.pick.in_first;
        float *out = exec_row(exec, op->out, i) + op->u.pick.out_first;
        for (size_t g = 0; g < op->u.pick.groups; g++)
            memcpy(out + g * op->u.pick.out_stride, in + g * op->u.pick.in_stride,
                   size * sizeof(float));
    }
    return true;
}

bool exec_op_l2_norm(struct exec *exec, uint32_t worker, const struct plan_op *op,
                     const struct exec_op *info) {
    (void)info;
    size_t n = op->u.l2.head_size;
    FOR_ROWS(exec, worker, i) {
        float *out = exec_row(exec, op->out, i);
        for (size_t h = 0; h < op->u.l2.heads; h++, out += n) {
            if (exec->config.kernels->l2_norm(out, out, n, op->u.l2.eps)) continue;
            exec_fail_numeric(exec, op);
            return true;
        }
    }
    return true;
}

bool exec_op_scale(struct exec *exec, uint32_t worker, const struct plan_op *op,
                   const struct exec_op *info) {
    (void)info;
    const float *weight = exec_vector(exec, op->weight);
    float factor = weight ? op->u.scale * *weight : op->u.scale;
    FOR_ROWS(exec, worker, i) {
        float *out = exec_row(exec, op->out, i);
        exec->config.kernels->scale(out, out, factor, exec_buffer(exec, op->out)->width);
    }
    return true;
}

bool exec_op_temper(struct exec *exec, uint32_t worker, const struct plan_op *op,
                    const struct exec_op *info) {
    (void)info;
    FOR_ROWS(exec, worker, i) {
        uint32_t spans = (exec->batch->positions[i] + 1) / op->u.temper.span;
        double grown = kmath_log(1.0 + spans) * (double)op->u.temper.scale;
        float *out = exec_row(exec, op->out, i);
        if (spans > 0)
            exec->config.kernels->scale(out, out, (float)(1.0 + grown),
                                        exec_buffer(exec, op->out)->width);
    }
    return true;
}

bool exec_op_weigh(struct exec *exec, uint32_t worker, const struct plan_op *op,
                   const struct exec_op *info) {
    (void)info;
    FOR_ROWS(exec, worker, i) {
        exec->config.kernels->scale(exec_row(exec, op->out, i), exec_row(exec, op->in, i),
                                    exec->moe.weights[i], exec_buffer(exec, op->out)->width);
    }
    return true;
}

bool exec_op_softcap(struct exec *exec, uint32_t worker, const struct plan_op *op,
                     const struct exec_op *info) {
    (void)info;
    size_t width = exec_buffer(exec, op->out)->width;
    for (size_t begin, end; exec_team_take(exec->config.team, worker, width, 4096, &begin, &end);) {
        for (size_t i = 0; i < exec->rows; i++) {
            exec->config.kernels->softcap(exec_row(exec, op->out, i) + begin, op->u.scale,
                                          end - begin);
        }
    }
    return true;
}
