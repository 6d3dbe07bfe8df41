// SPDX-License-Identifier: Apache-2.0
//
// Layers that remember instead of looking back. A worker takes a part of a layer's state (a stripe of
// channels, some columns of a head), which fits the nearest cache, and carries it through all tokens of
// the step, one after the other. What a part becomes does not depend on the other parts nor on where the
// tokens are cut into steps: that is why threads and chunks cannot change a bit.
#include "exec/exec_state.h"

#include <string.h>

// Tokens first..first+count-1 of the step, which follow one another in one sequence; `state` is the part's.
typedef void (*advance_fn)(const struct exec *exec, const struct plan_op *op, uint32_t part,
                           uint32_t first, uint32_t count, float *state);

// Tokens from `first` on that are of its sequence and before the next checkpoint.
static uint32_t run_of(const struct exec *exec, const struct exec_sequence *sequence,
                       uint32_t first) {
    uint32_t end = first + 1;
    while (end < exec->rows && exec_sequence_of(exec, end) == sequence &&
           exec->batch->positions[end] != sequence->checkpoint_at)
        end++;
    return end - first;
}

static void carry(const struct exec *exec, const struct plan_op *op, uint32_t part,
                  advance_fn advance) {
    const struct plan_state *state = &exec->config.plan->states[op->u.recurrent.state];
    uint64_t offset = state->offset + (uint64_t)part * state->part_floats;
    for (uint32_t t = 0, count; t < exec->rows; t += count) {
        const struct exec_sequence *sequence = exec_sequence_of(exec, t);
        float *now = sequence->state + offset;
        if (exec->batch->positions[t] == sequence->checkpoint_at)
            memcpy(sequence->checkpoint + offset, now, state->part_floats * sizeof(float));
        count = run_of(exec, sequence, t);
        advance(exec, op, part, t, count, now);
    }
}

static void carry_all(struct exec *exec, uint32_t worker, const struct plan_op *op,
                      advance_fn advance) {
    size_t parts = exec->config.plan->states[op->u.recurrent.state].parts;
    for (size_t part, end; exec_team_take(exec->config.team, worker, parts, 1, &part, &end);)
        carry(exec, op, (uint32_t)part, advance);
}

// ---- convolution ------------------------------------------------------------------------------------
static void advance_conv(const struct exec *exec, const struct plan_op *op, uint32_t part,
                         uint32_t first, uint32_t count, float *state) {
    size_t width = exec_buffer(exec, op->out)->width, channel = part * KERNELS_CONV_CHANNELS;
    size_t taps = exec->config.plan->weights[op->weight].cols;
    struct kernels_conv c = {
        .x = exec_row(exec, op->out, first) + channel,
        .stride = width,
        .tokens = count,
        .channels =
            width - channel < KERNELS_CONV_CHANNELS ? width - channel : KERNELS_CONV_CHANNELS,
        .taps = taps,
        .w = exec_vector(exec, op->weight) + channel * taps,
        .state = state,
        .plain = op->u.recurrent.plain,
    };
    exec->config.kernels->conv(&c);
}

bool exec_op_conv(struct exec *exec, uint32_t worker, const struct plan_op *op,
                  const struct exec_op *info) {
    (void)info;
    carry_all(exec, worker, op, advance_conv);
    return true;
}

// ---- gated delta rule -------------------------------------------------------------------------------
bool exec_op_delta_gates(struct exec *exec, uint32_t worker, const struct plan_op *op,
                         const struct exec_op *info) {
    (void)info;
    size_t heads = exec_buffer(exec, op->in)->width;
    for (size_t i, end; exec_team_take(exec->config.team, worker, exec->rows, 1, &i, &end);) {
        float *out = exec_row(exec, op->out, i);
        exec->config.kernels->delta_gates(out, out + heads, exec_row(exec, op->in, i),
                                          exec_row(exec, op->in2, i), exec_vector(exec, op->weight),
                                          exec_vector(exec, op->bias), heads);
    }
    return true;
}

// A part is KERNELS_DELTA_COLUMNS columns of a head.
static void advance_delta(const struct exec *exec, const struct plan_op *op, uint32_t part,
                          uint32_t first, uint32_t count, float *state) {
    size_t heads = op->u.recurrent.heads, heads_k = op->u.recurrent.heads_k;
    size_t key_size = op->u.recurrent.key_size, value_size = op->u.recurrent.value_size;
    size_t stripes = plan_parts(value_size, KERNELS_DELTA_COLUMNS);
    size_t head = part / stripes, column = part % stripes * KERNELS_DELTA_COLUMNS;
    size_t head_k = op->u.recurrent.grouped ? head / (heads / heads_k) : head % heads_k;
    size_t left = value_size - column;
    const float *row = exec_row(exec, op->in, first), *gates = exec_row(exec, op->in2, first);
    struct kernels_delta d = {
        .state = state,
        .key_size = key_size,
        .columns = left < KERNELS_DELTA_COLUMNS ? left : KERNELS_DELTA_COLUMNS,
        .tokens = count,
        .q = row + head_k * key_size,
        .k = row + (heads_k + head_k) * key_size,
        .v = row + 2 * heads_k * key_size + head * value_size + column,
        .stride = exec_buffer(exec, op->in)->width,
        .decay = gates + head,
        .beta = gates + heads + head,
        .gate_stride = 2 * heads,
        .y = exec_row(exec, op->out, first) + head * value_size + column,
        .y_stride = heads * value_size,
        .scale = op->u.recurrent.scale,
    };
    exec->config.kernels->delta(&d);
}

bool exec_op_delta(struct exec *exec, uint32_t worker, const struct plan_op *op,
                   const struct exec_op *info) {
    (void)info;
    carry_all(exec, worker, op, advance_delta);
    return true;
}
