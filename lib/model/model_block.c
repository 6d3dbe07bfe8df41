// SPDX-License-Identifier: Apache-2.0
//
// The blocks that families share. Each appends its operations to the plan; buffers are made once and
// reused by all layers, since layers run one after the other.
#include "kernels/kernels.h"
#include "model/model_builder.h"

#include <math.h>
#include <string.h>

static void op_norm(struct model_builder *b, uint32_t layer, uint32_t in, uint32_t out,
                    uint32_t weight, uint32_t groups) {
    struct plan_op op = plan_op_make(PLAN_NORM, layer);
    op.in = in, op.out = out, op.weight = weight;
    op.u.norm.groups = groups;
    op.u.norm.eps = b->params->eps;
    plan_add_op(&b->plan, op);
}

static void op_matmul(struct model_builder *b, uint32_t layer, uint32_t in, uint32_t out,
                      uint32_t weight, uint32_t bias) {
    struct plan_op op = plan_op_make(PLAN_MATMUL, layer);
    op.in = in, op.out = out, op.weight = weight, op.bias = bias;
    plan_add_op(&b->plan, op);
}

static void op_add(struct model_builder *b, uint32_t layer, uint32_t in, uint32_t out) {
    struct plan_op op = plan_op_make(PLAN_ADD, layer);
    op.in = in, op.out = out;
    plan_add_op(&b->plan, op);
}

static void op_activate(struct model_builder *b, uint32_t layer, uint32_t gate, uint32_t up,
                        enum plan_act act) {
    struct plan_op op = plan_op_make(PLAN_ACTIVATE, layer);
    op.in = gate, op.in2 = up, op.out = gate;
    op.u.act = act;
    plan_add_op(&b->plan, op);
}

static void op_rope(struct model_builder *b, uint32_t layer, uint32_t buffer, uint32_t heads,
                    uint32_t table) {
    struct plan_op op = plan_op_make(PLAN_ROPE, layer);
    op.out = buffer;
    op.u.rope.table = table;
    op.u.rope.heads = heads;
    op.u.rope.head_size = b->params->head_size_k;
    plan_add_op(&b->plan, op);
}

// `size` floats of each of `groups` groups of in, which begin `stride` floats apart.
static void op_pick(struct model_builder *b, uint32_t layer, uint32_t in, uint32_t first,
                    uint32_t stride, uint32_t groups, uint32_t size, uint32_t out,
                    uint32_t out_first) {
    struct plan_op op = plan_op_make(PLAN_PICK, layer);
    op.in = in, op.out = out;
    op.u.pick.groups = groups, op.u.pick.size = size;
    op.u.pick.in_first = first, op.u.pick.in_stride = stride;
    op.u.pick.out_first = out_first;
    plan_add_op(&b->plan, op);
}

uint32_t model_buffer(struct model_builder *b, const char *name, uint64_t width) {
    for (uint32_t i = 0; i < b->plan.plan.n_buffers; i++) {
        const struct plan_buffer *buffer = &b->plan.plan.buffers[i];
        if (buffer->width == width && !buffer->head && strcmp(buffer->name, name) == 0) return i;
    }
    return plan_add_buffer(&b->plan, name, width, false);
}

uint32_t model_rope(struct model_builder *b, const struct kernels_rope *rope, bool factors) {
    struct plan_rope table = {.rope = *rope, .neox = b->neox, .factors = PLAN_NONE};
    if (factors)
        table.factors = model_vector(b, MODEL_OPTIONAL, rope->n_rot / 2, "rope_freqs.weight");
    return plan_add_rope(&b->plan, &table);
}

void model_embed(struct model_builder *b, float scale) {
    struct plan_op op = plan_op_make(PLAN_EMBED, PLAN_NONE);
    op.out = b->x;
    op.weight = model_matrix(b, MODEL_REQUIRED, b->params->embedding, b->plan.plan.vocabulary,
                             "token_embd.weight");
    op.u.scale = scale;
    plan_add_op(&b->plan, op);
}

// ---- attention --------------------------------------------------------------------------------------
locum_status model_windows(struct model_builder *b, uint32_t period, bool windowed[LIMIT_LAYERS]) {
    static const char key[] = ".attention.sliding_window_pattern";
    uint32_t layers = b->params->layers;
    const struct gguf_value *value = gguf_meta_find(b->meta, key);
    if (value && value->is_array)
        return gguf_meta_bool_each(b->meta, key, layers, windowed, b->plan.error);
    STATUS_TRY(gguf_meta_u32_or(b->meta, key, period, 1, LIMIT_LAYERS, &period, b->plan.error));
    for (uint32_t i = 0; i < layers; i++)
        windowed[i] = i % period < period - 1;
    return LOCUM_OK;
}

static void project(struct model_builder *b, uint32_t layer, const char *role, bool biased,
                    uint32_t in, uint32_t out, uint64_t cols, uint64_t rows) {
    uint32_t weight = model_matrix(b, MODEL_REQUIRED, cols, rows, "blk.%u.%s.weight", layer, role);
    uint32_t bias = model_vector(b, biased ? MODEL_REQUIRED : MODEL_OPTIONAL, rows,
                                 "blk.%u.%s.bias", layer, role);
    op_matmul(b, layer, in, out, weight, bias);
}

static void qk_norm(struct model_builder *b, uint32_t layer, enum model_qk_norm kind,
                    const char *role, uint32_t buffer, uint32_t heads) {
    if (kind == MODEL_QK_NORM_NONE) return;
    uint32_t groups = kind == MODEL_QK_NORM_HEAD ? heads : 1;
    uint64_t size = (uint64_t)heads * b->params->head_size_k / groups;
    uint32_t weight = model_vector(b, MODEL_REQUIRED, size, "blk.%u.%s.weight", layer, role);
    op_norm(b, layer, buffer, buffer, weight, groups);
}

struct attention_buffers {
    uint32_t q, k, v, a; // queries, keys, values, the heads' output
};

static void attend(struct model_builder *b, uint32_t layer, const struct attention_buffers *use,
                   const struct model_attention *how) {
    const struct model_params *p = b->params;
    uint32_t heads = p->heads[layer], heads_kv = p->heads_kv[layer];
    struct plan_cache cache = {heads_kv, p->head_size_k, p->head_size_v};
    struct plan_op write = plan_op_make(PLAN_KV_WRITE, layer);
    write.in = use->k, write.in2 = use->v;
    write.u.attention.cache = plan_add_cache(&b->plan, cache);
    plan_add_op(&b->plan, write);
    struct plan_op op = plan_op_make(PLAN_ATTENTION, layer);
    op.in = use->q, op.out = use->a;
    op.u.attention.cache = write.u.attention.cache;
    op.u.attention.heads = heads;
    op.u.attention.window = how->window;
    op.u.attention.scale = 1.0f / sqrtf((float)how->scale_size);
    op.u.attention.softcap = p->softcap_attention;
    if (how->sinks)
        op.weight = model_vector(b, MODEL_REQUIRED, heads, "blk.%u.attn_sinks.weight", layer);
    plan_add_op(&b->plan, op);
}

// Queries, and the gate of their output where there is one: gives its buffer, else PLAN_NONE.
static uint32_t project_queries(struct model_builder *b, uint32_t layer,
                                const struct model_attention *how, uint32_t q) {
    const struct model_params *p = b->params;
    uint32_t heads = p->heads[layer], size = p->head_size_k;
    uint64_t width = (uint64_t)heads * size;
    if (!how->gated) {
        project(b, layer, "attn_q", how->biased, b->n, q, p->embedding, width);
        return PLAN_NONE;
    }
    if (p->head_size_v != size) {
        model_fail(b, LOCUM_E_UNSUPPORTED,
                   "the gate of attention needs keys and values of one size; they have %u and %u",
                   size, p->head_size_v);
    }
    uint32_t both = model_buffer(b, "qg", 2 * width), gate = model_buffer(b, "ag", width);
    project(b, layer, "attn_q", how->biased, b->n, both, p->embedding, 2 * width);
    op_pick(b, layer, both, 0, 2 * size, heads, size, q, 0);
    op_pick(b, layer, both, size, 2 * size, heads, size, gate, 0);
    return gate;
}

void model_attention(struct model_builder *b, uint32_t layer, struct model_attention how) {
    const struct model_params *p = b->params;
    uint32_t heads = p->heads[layer], heads_kv = p->heads_kv[layer];
    uint64_t width = p->embedding, q_width = (uint64_t)heads * p->head_size_k,
             a_width = (uint64_t)heads * p->head_size_v;
    uint64_t k_width = (uint64_t)heads_kv * p->head_size_k,
             v_width = (uint64_t)heads_kv * p->head_size_v;
    struct attention_buffers use = {model_buffer(b, "q", q_width), model_buffer(b, "k", k_width),
                                    model_buffer(b, "v", v_width), model_buffer(b, "a", a_width)};
    op_norm(b, layer, b->x, b->n,
            model_vector(b, MODEL_REQUIRED, width, "blk.%u.attn_norm.weight", layer), 1);
    uint32_t gate = project_queries(b, layer, &how, use.q);
    project(b, layer, "attn_k", how.biased, b->n, use.k, width, k_width);
    project(b, layer, "attn_v", how.biased, b->n, use.v, width, v_width);
    qk_norm(b, layer, how.qk_norm, "attn_q_norm", use.q, heads);
    qk_norm(b, layer, how.qk_norm, "attn_k_norm", use.k, heads_kv);
    op_rope(b, layer, use.q, heads, how.rope);
    op_rope(b, layer, use.k, heads_kv, how.rope);
    if (how.scale_size == 0) how.scale_size = p->head_size_k;
    attend(b, layer, &use, &how);
    if (gate != PLAN_NONE) {
        op_activate(b, layer, gate, use.a, PLAN_ACT_SIGMOID);
        use.a = gate;
    }
    project(b, layer, "attn_output", how.biased, use.a, b->t, a_width, width);
    if (how.post_norm) {
        uint32_t weight =
            model_vector(b, MODEL_REQUIRED, width, "blk.%u.post_attention_norm.weight", layer);
        op_norm(b, layer, b->t, b->t, weight, 1);
    }
    op_add(b, layer, b->t, b->x);
}

// ---- gated delta net ----------------------------------------------------------------------------------
// Smallest length that the authors' definition divides a key or query by, squared.
#define DELTA_LENGTH_EPS 1e-6f

struct delta_buffers {
    uint32_t c, z, alpha,
        beta; // [q heads | k heads | v heads], gate of the output, gates of the state
};

static void project_grouped(struct model_builder *b, uint32_t layer, const struct model_delta *how,
                            const struct delta_buffers *use) {
    uint32_t k = how->key_size, groups = how->heads_k;
    uint32_t v = how->heads / groups * how->value_size, stride = 2 * k + 2 * v;
    uint64_t width = (uint64_t)groups * stride;
    uint32_t all = model_buffer(b, "qkvz", width);
    project(b, layer, "ssm_in", false, b->n, all, b->params->embedding, width);
    op_pick(b, layer, all, 0, stride, groups, k, use->c, 0);
    op_pick(b, layer, all, k, stride, groups, k, use->c, groups * k);
    op_pick(b, layer, all, 2 * k, stride, groups, v, use->c, 2 * groups * k);
    op_pick(b, layer, all, 2 * k + v, stride, groups, v, use->z, 0);
}

static void project_delta(struct model_builder *b, uint32_t layer, const struct model_delta *how,
                          const struct delta_buffers *use, uint64_t c_width, uint64_t z_width) {
    uint64_t width = b->params->embedding;
    if (model_has(b, "blk.%u.ssm_in.weight", layer)) {
        project_grouped(b, layer, how, use);
    } else {
        project(b, layer, "attn_qkv", false, b->n, use->c, width, c_width);
        project(b, layer, "attn_gate", false, b->n, use->z, width, z_width);
    }
    if (how->grouped) {
        uint32_t each = how->heads / how->heads_k, both = model_buffer(b, "ba", 2ull * how->heads);
        project(b, layer, "ssm_ba", false, b->n, both, width, 2ull * how->heads);
        op_pick(b, layer, both, 0, 2 * each, how->heads_k, each, use->beta, 0);
        op_pick(b, layer, both, each, 2 * each, how->heads_k, each, use->alpha, 0);
    } else {
        project(b, layer, "ssm_alpha", false, b->n, use->alpha, width, how->heads);
        project(b, layer, "ssm_beta", false, b->n, use->beta, width, how->heads);
    }
}

static void convolve(struct model_builder *b, uint32_t layer, const struct model_delta *how,
                     uint32_t c, uint64_t c_width) {
    struct plan_state state = {.parts = (uint32_t)plan_parts(c_width, KERNELS_CONV_CHANNELS),
                               .part_floats = (how->taps - 1) * KERNELS_CONV_CHANNELS};
    struct plan_op conv = plan_op_make(PLAN_CONV, layer);
    conv.out = c;
    conv.weight = model_vectors(b, how->taps, c_width, "blk.%u.ssm_conv1d.weight", layer);
    conv.u.recurrent.state = plan_add_state(&b->plan, state);
    plan_add_op(&b->plan, conv);
    struct plan_op norm = plan_op_make(PLAN_L2_NORM, layer);
    norm.out = c;
    norm.u.l2.heads = 2 * how->heads_k, norm.u.l2.head_size = how->key_size;
    norm.u.l2.eps = DELTA_LENGTH_EPS;
    plan_add_op(&b->plan, norm);
}

static void delta_rule(struct model_builder *b, uint32_t layer, const struct model_delta *how,
                       const struct delta_buffers *use, uint32_t out) {
    struct plan_op gates = plan_op_make(PLAN_DELTA_GATES, layer);
    gates.in = use->alpha, gates.in2 = use->beta;
    gates.out = model_buffer(b, "gates", 2ull * how->heads);
    gates.weight = model_vector(b, MODEL_REQUIRED, how->heads, "blk.%u.ssm_a", layer);
    gates.bias = model_vector(b, MODEL_REQUIRED, how->heads, "blk.%u.ssm_dt.bias", layer);
    plan_add_op(&b->plan, gates);
    uint64_t stripes = plan_parts(how->value_size, KERNELS_DELTA_COLUMNS);
    struct plan_state state = {.parts = (uint32_t)(how->heads * stripes),
                               .part_floats = how->key_size * KERNELS_DELTA_COLUMNS};
    struct plan_op delta = plan_op_make(PLAN_DELTA, layer);
    delta.in = use->c, delta.in2 = gates.out, delta.out = out;
    delta.u.recurrent.state = plan_add_state(&b->plan, state);
    delta.u.recurrent.heads = how->heads, delta.u.recurrent.heads_k = how->heads_k;
    delta.u.recurrent.key_size = how->key_size, delta.u.recurrent.value_size = how->value_size;
    delta.u.recurrent.grouped = how->grouped;
    delta.u.recurrent.scale = 1.0f / sqrtf((float)how->key_size);
    plan_add_op(&b->plan, delta);
}

void model_delta_net(struct model_builder *b, uint32_t layer, const struct model_delta *how) {
    uint64_t width = b->params->embedding, z_width = (uint64_t)how->heads * how->value_size;
    uint64_t c_width = 2ull * how->heads_k * how->key_size + z_width;
    struct delta_buffers use = {model_buffer(b, "c", c_width), model_buffer(b, "z", z_width),
                                model_buffer(b, "alpha", how->heads),
                                model_buffer(b, "beta", how->heads)};
    uint32_t o = model_buffer(b, "o", z_width);
    op_norm(b, layer, b->x, b->n,
            model_vector(b, MODEL_REQUIRED, width, "blk.%u.attn_norm.weight", layer), 1);
    project_delta(b, layer, how, &use, c_width, z_width);
    convolve(b, layer, how, use.c, c_width);
    delta_rule(b, layer, how, &use, o);
    op_norm(b, layer, o, o,
            model_vector(b, MODEL_REQUIRED, how->value_size, "blk.%u.ssm_norm.weight", layer),
            how->heads);
    op_activate(b, layer, use.z, o, PLAN_ACT_SILU);
    project(b, layer, "ssm_out", false, use.z, b->t, z_width, width);
    op_add(b, layer, b->t, b->x);
}

// ---- feed-forward -----------------------------------------------------------------------------------
static void gated_ffn(struct model_builder *b, uint32_t layer, const char *suffix, uint64_t ff,
                      enum plan_act act, uint32_t out) {
    if (ff == 0)
        model_fail(b, LOCUM_E_FORMAT, "key '%s.feed_forward_length' is missing",
                   b->meta->architecture);
    uint64_t width = b->params->embedding;
    uint32_t g = model_buffer(b, "g", ff), u = model_buffer(b, "u", ff);
    uint32_t gate =
        model_matrix(b, MODEL_REQUIRED, width, ff, "blk.%u.ffn_gate%s.weight", layer, suffix);
    uint32_t gate_bias =
        model_vector(b, MODEL_OPTIONAL, ff, "blk.%u.ffn_gate%s.bias", layer, suffix);
    uint32_t up =
        model_matrix(b, MODEL_REQUIRED, width, ff, "blk.%u.ffn_up%s.weight", layer, suffix);
    uint32_t up_bias = model_vector(b, MODEL_OPTIONAL, ff, "blk.%u.ffn_up%s.bias", layer, suffix);
    uint32_t down =
        model_matrix(b, MODEL_REQUIRED, ff, width, "blk.%u.ffn_down%s.weight", layer, suffix);
    uint32_t down_bias =
        model_vector(b, MODEL_OPTIONAL, width, "blk.%u.ffn_down%s.bias", layer, suffix);
    op_matmul(b, layer, b->n, g, gate, gate_bias);
    op_matmul(b, layer, b->n, u, up, up_bias);
    op_activate(b, layer, g, u, act);
    op_matmul(b, layer, g, out, down, down_bias);
}

static void ffn_norm(struct model_builder *b, uint32_t layer, const char *role) {
    uint32_t weight =
        model_vector(b, MODEL_REQUIRED, b->params->embedding, "blk.%u.%s.weight", layer, role);
    op_norm(b, layer, b->x, b->n, weight, 1);
}

void model_dense_ffn(struct model_builder *b, uint32_t layer, struct model_ffn how) {
    ffn_norm(b, layer, how.norm ? how.norm : "ffn_norm");
    gated_ffn(b, layer, "", b->params->ff[layer], how.act, b->t);
    if (how.post_norm) {
        uint32_t weight = model_vector(b, MODEL_REQUIRED, b->params->embedding,
                                       "blk.%u.post_ffw_norm.weight", layer);
        op_norm(b, layer, b->t, b->t, weight, 1);
    }
    op_add(b, layer, b->t, b->x);
}

// The expert that every token uses; gives the buffer of its result.
static uint32_t shared_expert(struct model_builder *b, uint32_t layer, uint32_t ff) {
    uint32_t s = model_buffer(b, "s", b->params->embedding);
    gated_ffn(b, layer, "_shexp", ff, PLAN_ACT_SILU, s);
    struct plan_op gate = plan_op_make(PLAN_ROW_GATE, layer);
    gate.in = b->n, gate.out = s;
    gate.weight = model_vector(b, MODEL_REQUIRED, b->params->embedding,
                               "blk.%u.ffn_gate_inp_shexp.weight", layer);
    plan_add_op(&b->plan, gate);
    return s;
}

void model_moe(struct model_builder *b, uint32_t layer, struct model_moe how) {
    const struct model_params *p = b->params;
    if (p->experts == 0) {
        model_fail(b, LOCUM_E_FORMAT, "key '%s.expert_count' is missing", b->meta->architecture);
        return;
    }
    ffn_norm(b, layer, how.norm ? how.norm : "ffn_norm");
    uint32_t router = model_matrix(b, MODEL_REQUIRED, p->embedding, p->experts,
                                   "blk.%u.ffn_gate_inp.weight", layer);
    enum model_need biases = how.biased ? MODEL_REQUIRED : MODEL_OPTIONAL;
    uint32_t router_bias =
        model_vector(b, biases, p->experts, "blk.%u.ffn_gate_inp.bias", layer);
    uint32_t logits = model_buffer(b, "r", p->experts);
    op_matmul(b, layer, b->n, logits, router, router_bias);
    uint32_t set = model_experts(b, layer, how.routing, biases);
    struct plan_op route = plan_op_make(PLAN_ROUTER, layer);
    route.in = logits;
    route.u.experts.set = set;
    plan_add_op(&b->plan, route);
    // Between routing and experts: what is missing is read meanwhile.
    uint32_t shared = PLAN_NONE;
    if (how.shared_width) shared = shared_expert(b, layer, how.shared_width);
    struct plan_op experts = plan_op_make(PLAN_EXPERTS, layer);
    experts.in = b->n, experts.out = b->t;
    experts.u.experts.set = set;
    experts.u.experts.act = how.act;
    plan_add_op(&b->plan, experts);
    if (shared != PLAN_NONE) op_add(b, layer, shared, b->t);
    op_add(b, layer, b->t, b->x);
}

// ---- head -------------------------------------------------------------------------------------------
void model_head(struct model_builder *b) {
    const struct model_params *p = b->params;
    uint32_t state = plan_add_buffer(&b->plan, "head", p->embedding, true);
    uint32_t logits = plan_add_buffer(&b->plan, "logits", b->plan.plan.vocabulary, true);
    plan_begin_head(&b->plan);
    struct plan_op gather = plan_op_make(PLAN_GATHER, PLAN_NONE);
    gather.in = b->x, gather.out = state;
    plan_add_op(&b->plan, gather);
    uint32_t norm = model_vector(b, MODEL_REQUIRED, p->embedding, "output_norm.weight");
    op_norm(b, PLAN_NONE, state, state, norm, 1);
    const char *name = model_has(b, "output.weight") ? "output.weight" : "token_embd.weight";
    uint32_t output =
        model_matrix(b, MODEL_REQUIRED, p->embedding, b->plan.plan.vocabulary, "%s", name);
    uint32_t bias = model_vector(b, MODEL_OPTIONAL, b->plan.plan.vocabulary, "output.bias");
    op_matmul(b, PLAN_NONE, state, logits, output, bias);
    if (p->softcap_logits > 0) {
        struct plan_op cap = plan_op_make(PLAN_SOFTCAP, PLAN_NONE);
        cap.in = cap.out = logits;
        cap.u.scale = p->softcap_logits;
        plan_add_op(&b->plan, cap);
    }
    b->plan.plan.logits = logits;
}
