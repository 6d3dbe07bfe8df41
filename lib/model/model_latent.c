// SPDX-License-Identifier: Apache-2.0
//
// Latent attention (MLA), absorbed, for prompts and answers alike. Expanded, a cached position of a model
// with 128 heads of 192 and 128 would take 71 times the memory of its compressed vector of 576; absorbed, a
// head multiplies 576 + 512 numbers for each position that it sees instead of 192 + 128, 3.4 times as many.
// One way everywhere keeps a token's bits independent of how its prompt was cut.
#include "model/model_builder.h"

struct latent_buffers {
    uint32_t q, c;     // queries [fixed | rotary] per head; [compressed | rotary] of keys
    uint32_t absorbed; // queries as the cache's keys are: [compressed | rotary] per head
    uint32_t seen, a;  // the heads' output, compressed and as values
};

static void project_latent(struct model_builder *b, uint32_t layer, const struct model_latent *how,
                           const struct latent_buffers *use) {
    uint64_t width = b->params->embedding;
    uint64_t q_width = (uint64_t)b->params->heads[layer] * (how->fixed + how->rotary);
    if (how->query_rank) {
        uint32_t low = model_buffer(b, "q_low", how->query_rank);
        model_project(b, layer, "attn_q_a", false, b->n, low, width, how->query_rank);
        uint32_t norm = model_vector(b, MODEL_REQUIRED, how->query_rank,
                                     "blk.%u.attn_q_a_norm.weight", layer);
        model_op_norm(b, layer, low, low, norm, 1);
        model_project(b, layer, "attn_q_b", false, low, use->q, how->query_rank, q_width);
    } else {
        model_project(b, layer, "attn_q", false, b->n, use->q, width, q_width);
    }
    model_project(b, layer, "attn_kv_a_mqa", false, b->n, use->c, width, how->rank + how->rotary);
    struct plan_op norm = plan_op_make(PLAN_NORM, layer);
    norm.in = norm.out = use->c;
    norm.weight =
        model_vector(b, MODEL_REQUIRED, how->rank, "blk.%u.attn_kv_a_norm.weight", layer);
    norm.u.norm.groups = 1, norm.u.norm.size = how->rank;
    norm.u.norm.eps = b->params->eps;
    plan_add_op(&b->plan, norm);
}

// How a head's matrices lie in their tensors: rows of each head, and the first of them.
struct latent_forms {
    uint32_t keys, values; // weights
    uint32_t keys_stride, values_stride, values_first;
    bool keys_transposed;
};

static struct latent_forms bind_latent(struct model_builder *b, uint32_t layer,
                                       const struct model_latent *how) {
    uint64_t heads = b->params->heads[layer];
    struct latent_forms forms = {.keys_stride = how->rank, .values_stride = how->value};
    bool one = model_has(b, "blk.%u.attn_kv_b.weight", layer);
    if (!one || model_has(b, "blk.%u.attn_k_b.weight", layer)) {
        forms.keys =
            model_matrices(b, how->fixed, how->rank, heads, "blk.%u.attn_k_b.weight", layer);
        forms.values =
            model_matrices(b, how->rank, how->value, heads, "blk.%u.attn_v_b.weight", layer);
        return forms;
    }
    forms.keys_stride = forms.values_stride = how->fixed + how->value;
    forms.values_first = how->fixed;
    forms.keys_transposed = true;
    forms.keys = forms.values = model_matrix(b, MODEL_REQUIRED, how->rank, heads * forms.keys_stride,
                                             "blk.%u.attn_kv_b.weight", layer);
    return forms;
}

static void op_head_matmul(struct model_builder *b, uint32_t layer, uint32_t in, uint32_t out,
                           uint32_t weight, struct plan_op shape) {
    struct plan_op op = plan_op_make(PLAN_HEAD_MATMUL, layer);
    op.in = in, op.out = out, op.weight = weight;
    op.u.head_matmul = shape.u.head_matmul;
    op.u.head_matmul.heads = b->params->heads[layer];
    plan_add_op(&b->plan, op);
}

// Queries [fixed | rotary] become [compressed | rotary].
static void absorb_queries(struct model_builder *b, uint32_t layer, const struct model_latent *how,
                           const struct latent_buffers *use, const struct latent_forms *forms) {
    uint32_t query = how->fixed + how->rotary, key = how->rank + how->rotary;
    struct plan_op shape = {.u.head_matmul = {.in_stride = query,
                                              .in_size = how->fixed,
                                              .out_stride = key,
                                              .out_size = how->rank,
                                              .w_stride = forms->keys_stride,
                                              .transposed = forms->keys_transposed}};
    op_head_matmul(b, layer, use->q, use->absorbed, forms->keys, shape);
    struct plan_op pick = plan_op_make(PLAN_PICK, layer);
    pick.in = use->q, pick.out = use->absorbed;
    pick.u.pick.groups = b->params->heads[layer], pick.u.pick.size = how->rotary;
    pick.u.pick.in_first = how->fixed, pick.u.pick.in_stride = query;
    pick.u.pick.out_first = how->rank, pick.u.pick.out_stride = key;
    plan_add_op(&b->plan, pick);
}

static void attend_latent(struct model_builder *b, uint32_t layer, const struct model_latent *how,
                          const struct latent_buffers *use) {
    struct plan_cache cache = {.heads_kv = 1,
                               .head_size_k = how->rank + how->rotary,
                               .head_size_v = how->rank,
                               .values_in_keys = true};
    struct plan_op write = plan_op_make(PLAN_KV_WRITE, layer);
    write.in = use->c;
    write.u.attention.cache = plan_add_cache(&b->plan, cache);
    plan_add_op(&b->plan, write);
    struct plan_op attend = plan_op_make(PLAN_ATTENTION, layer);
    attend.in = use->absorbed, attend.out = use->seen;
    attend.u.attention.cache = write.u.attention.cache;
    attend.u.attention.heads = b->params->heads[layer];
    attend.u.attention.scale = how->scale;
    plan_add_op(&b->plan, attend);
}

// The elements of each head from `first` on.
static void rotate_end(struct model_builder *b, uint32_t layer, uint32_t buffer, uint32_t heads,
                       uint32_t head_size, uint32_t first, uint32_t table) {
    struct plan_op op = plan_op_make(PLAN_ROPE, layer);
    op.out = buffer;
    op.u.rope.table = table;
    op.u.rope.heads = heads, op.u.rope.head_size = head_size;
    op.u.rope.first = first;
    plan_add_op(&b->plan, op);
}

void model_latent_attention(struct model_builder *b, uint32_t layer,
                            const struct model_latent *how) {
    uint64_t heads = b->params->heads[layer], width = b->params->embedding;
    uint32_t query = how->fixed + how->rotary, key = how->rank + how->rotary;
    struct latent_buffers use = {
        .q = model_buffer(b, "q", heads * query),
        .c = model_buffer(b, "c", key),
        .absorbed = model_buffer(b, "q_absorbed", heads * key),
        .seen = model_buffer(b, "seen", heads * how->rank),
        .a = model_buffer(b, "a", heads * how->value),
    };
    model_pre_norm(b, layer, "attn_norm");
    project_latent(b, layer, how, &use);
    rotate_end(b, layer, use.q, (uint32_t)heads, query, how->fixed, how->rope);
    rotate_end(b, layer, use.c, 1, key, how->rank, how->rope);
    struct latent_forms forms = bind_latent(b, layer, how);
    absorb_queries(b, layer, how, &use, &forms);
    attend_latent(b, layer, how, &use);
    struct plan_op shape = {.u.head_matmul = {.in_stride = how->rank,
                                              .in_size = how->rank,
                                              .out_stride = how->value,
                                              .out_size = how->value,
                                              .w_stride = forms.values_stride,
                                              .w_first = forms.values_first}};
    op_head_matmul(b, layer, use.seen, use.a, forms.values, shape);
    model_project(b, layer, "attn_output", false, use.a, b->t, heads * how->value, width);
    model_add_block(b, layer);
}
