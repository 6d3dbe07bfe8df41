// SPDX-License-Identifier: Apache-2.0
//
// Single operations, as blocks and architectures put them together.
#include "model/model_builder.h"

void model_op_norm(struct model_builder *b, uint32_t layer, uint32_t in, uint32_t out,
                   uint32_t weight, uint32_t groups) {
    struct plan_op op = plan_op_make(PLAN_NORM, layer);
    op.in = in, op.out = out, op.weight = weight;
    op.u.norm.groups = groups;
    op.u.norm.eps = b->params->eps;
    plan_add_op(&b->plan, op);
}

void model_op_matmul(struct model_builder *b, uint32_t layer, uint32_t in, uint32_t out,
                     uint32_t weight, uint32_t bias) {
    struct plan_op op = plan_op_make(PLAN_MATMUL, layer);
    op.in = in, op.out = out, op.weight = weight, op.bias = bias;
    plan_add_op(&b->plan, op);
}

void model_op_add(struct model_builder *b, uint32_t layer, uint32_t in, uint32_t out) {
    struct plan_op op = plan_op_make(PLAN_ADD, layer);
    op.in = in, op.out = out;
    plan_add_op(&b->plan, op);
}

void model_op_scale(struct model_builder *b, uint32_t layer, uint32_t out, float scale,
                    uint32_t weight) {
    if (scale == 1 && weight == PLAN_NONE) return;
    struct plan_op op = plan_op_make(PLAN_SCALE, layer);
    op.out = out, op.weight = weight;
    op.u.scale = scale;
    plan_add_op(&b->plan, op);
}

void model_op_activate(struct model_builder *b, uint32_t layer, uint32_t gate, uint32_t up,
                       enum plan_act act) {
    struct plan_op op = plan_op_make(PLAN_ACTIVATE, layer);
    op.in = gate, op.in2 = up, op.out = gate;
    op.u.act = act;
    plan_add_op(&b->plan, op);
}

void model_op_rope(struct model_builder *b, uint32_t layer, uint32_t buffer, uint32_t heads,
                   uint32_t head_size, uint32_t table) {
    if (table == PLAN_NONE) return;
    struct plan_op op = plan_op_make(PLAN_ROPE, layer);
    op.out = buffer;
    op.u.rope.table = table;
    op.u.rope.heads = heads;
    op.u.rope.head_size = head_size;
    plan_add_op(&b->plan, op);
}

void model_op_pick(struct model_builder *b, uint32_t layer, uint32_t in, uint32_t first,
                   uint32_t stride, uint32_t groups, uint32_t size, uint32_t out,
                   uint32_t out_first) {
    struct plan_op op = plan_op_make(PLAN_PICK, layer);
    op.in = in, op.out = out;
    op.u.pick.groups = groups, op.u.pick.size = size;
    op.u.pick.in_first = first, op.u.pick.in_stride = stride;
    op.u.pick.out_first = out_first, op.u.pick.out_stride = size;
    plan_add_op(&b->plan, op);
}
