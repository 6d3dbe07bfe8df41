// SPDX-License-Identifier: Apache-2.0
//
// The blocks that families share. Each appends its operations to the plan; buffers are made once and
// reused by all layers, since layers run one after the other.
#include "kernels/kernels.h"
#include "model/model_builder.h"

#include <math.h>
#include <string.h>

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

void model_post_norm(struct model_builder *b, uint32_t layer, const char *role, uint32_t buffer) {
    uint32_t weight =
        model_vector(b, MODEL_REQUIRED, b->params->embedding, "blk.%u.%s.weight", layer, role);
    model_op_norm(b, layer, buffer, buffer, weight, 1);
}

void model_add_block(struct model_builder *b, uint32_t layer) {
    model_op_scale(b, layer, b->t, b->residual_scale, PLAN_NONE);
    model_op_add(b, layer, b->t, b->x);
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

void model_require_window(struct model_builder *b) {
    if (b->params->window > 0) return;
    model_fail(b, LOCUM_E_FORMAT, "key '%s.attention.sliding_window' is missing",
               b->meta->architecture);
}

void model_project(struct model_builder *b, uint32_t layer, const char *role, bool biased,
                    uint32_t in, uint32_t out, uint64_t cols, uint64_t rows) {
    uint32_t weight = model_matrix(b, MODEL_REQUIRED, cols, rows, "blk.%u.%s.weight", layer, role);
    uint32_t bias = model_vector(b, biased ? MODEL_REQUIRED : MODEL_OPTIONAL, rows,
                                 "blk.%u.%s.bias", layer, role);
    model_op_matmul(b, layer, in, out, weight, bias);
}

struct attention_use {
    uint32_t heads, heads_kv, size_k, size_v;
    uint32_t q, k, v, a; // buffers: queries, keys, values, the heads' output
    uint32_t qkv;        // of the first three one behind the other, where one matrix makes them
    uint32_t cache;
};

static void qk_norm(struct model_builder *b, uint32_t layer, enum model_qk_norm kind,
                    const char *role, uint32_t buffer, uint32_t heads, uint32_t head_size) {
    if (kind == MODEL_QK_NORM_NONE) return;
    uint32_t groups = kind == MODEL_QK_NORM_HEAD ? heads : 1;
    uint64_t size = (uint64_t)heads * head_size / groups;
    uint32_t weight = model_vector(b, MODEL_REQUIRED, size, "blk.%u.%s.weight", layer, role);
    model_op_norm(b, layer, buffer, buffer, weight, groups);
}

// Queries, keys or values: from their own matrix, or the part from `first` on of what one made for all.
static void project_part(struct model_builder *b, uint32_t layer, const struct model_attention *how,
                         const char *role, const struct attention_use *use, uint64_t first,
                         uint64_t width, uint32_t out) {
    if (use->qkv == PLAN_NONE)
        model_project(b, layer, role, how->biased, b->n, out, b->params->embedding, width);
    else
        model_op_pick(b, layer, use->qkv, (uint32_t)first, (uint32_t)width, 1, (uint32_t)width, out, 0);
}

static uint32_t project_all(struct model_builder *b, uint32_t layer,
                            const struct model_attention *how, const struct attention_use *use) {
    if (how->gated || how->shares_cache || !model_has(b, "blk.%u.attn_qkv.weight", layer))
        return PLAN_NONE;
    uint64_t width = (uint64_t)use->heads * use->size_k +
                     (uint64_t)use->heads_kv * (use->size_k + use->size_v);
    uint32_t qkv = model_buffer(b, "qkv", width);
    model_project(b, layer, "attn_qkv", how->biased, b->n, qkv, b->params->embedding, width);
    return qkv;
}

static void norm_and_turn(struct model_builder *b, uint32_t layer, const struct model_attention *how,
                          const char *norm, uint32_t buffer, uint32_t heads, uint32_t size) {
    if (!how->norm_turned) qk_norm(b, layer, how->qk_norm, norm, buffer, heads, size);
    model_op_rope(b, layer, buffer, heads, size, how->rope);
    if (how->norm_turned) qk_norm(b, layer, how->qk_norm, norm, buffer, heads, size);
    if (how->unit_heads) model_op_norm(b, layer, buffer, buffer, PLAN_NONE, heads);
}

// Queries, and the gate of their output where there is one: gives its buffer, else PLAN_NONE.
static uint32_t project_queries(struct model_builder *b, uint32_t layer,
                                const struct model_attention *how,
                                const struct attention_use *use) {
    uint32_t heads = use->heads, size = use->size_k;
    uint64_t width = (uint64_t)heads * size, in = b->params->embedding;
    if (!how->gated) {
        project_part(b, layer, how, "attn_q", use, 0, width, use->q);
        return PLAN_NONE;
    }
    if (use->size_v != size) {
        model_fail(b, LOCUM_E_UNSUPPORTED,
                   "the gate of attention needs keys and values of one size; they have %u and %u",
                   size, use->size_v);
    }
    uint32_t both = model_buffer(b, "qg", 2 * width), gate = model_buffer(b, "ag", width);
    model_project(b, layer, "attn_q", how->biased, b->n, both, in, 2 * width);
    model_op_pick(b, layer, both, 0, 2 * size, heads, size, use->q, 0);
    model_op_pick(b, layer, both, size, 2 * size, heads, size, gate, 0);
    return gate;
}

static void project_values(struct model_builder *b, uint32_t layer,
                           const struct model_attention *how, const struct attention_use *use) {
    uint64_t width = (uint64_t)use->heads_kv * use->size_v;
    uint64_t first = (uint64_t)use->heads * use->size_k + (uint64_t)use->heads_kv * use->size_k;
    if (how->value_norm && use->qkv == PLAN_NONE &&
        !model_has(b, "blk.%u.attn_v.weight", layer)) {
        model_op_norm(b, layer, use->k, use->v, PLAN_NONE, use->heads_kv);
        return;
    }
    project_part(b, layer, how, "attn_v", use, first, width, use->v);
    if (how->value_norm) model_op_norm(b, layer, use->v, use->v, PLAN_NONE, use->heads_kv);
}

// Keys and values into a cache of the layer's own.
static uint32_t write_cache(struct model_builder *b, uint32_t layer,
                            const struct model_attention *how, struct attention_use *use) {
    uint64_t k_width = (uint64_t)use->heads_kv * use->size_k;
    use->k = model_buffer(b, "k", k_width);
    use->v = model_buffer(b, "v", (uint64_t)use->heads_kv * use->size_v);
    project_part(b, layer, how, "attn_k", use, (uint64_t)use->heads * use->size_k, k_width, use->k);
    project_values(b, layer, how, use);
    norm_and_turn(b, layer, how, "attn_k_norm", use->k, use->heads_kv, use->size_k);
    struct plan_cache cache = {
        .heads_kv = use->heads_kv, .head_size_k = use->size_k, .head_size_v = use->size_v};
    struct plan_op write = plan_op_make(PLAN_KV_WRITE, layer);
    write.in = use->k, write.in2 = use->v;
    write.u.attention.cache = plan_add_cache(&b->plan, cache);
    plan_add_op(&b->plan, write);
    return write.u.attention.cache;
}

static void attend(struct model_builder *b, uint32_t layer, const struct model_attention *how,
                   const struct attention_use *use) {
    struct plan_op op = plan_op_make(PLAN_ATTENTION, layer);
    op.in = use->q, op.out = use->a;
    op.u.attention.cache = use->cache;
    op.u.attention.heads = use->heads;
    op.u.attention.window = how->window;
    op.u.attention.chunk = how->chunk;
    op.u.attention.scale = how->scale > 0 ? how->scale : 1.0f / sqrtf((float)use->size_k);
    op.u.attention.softcap = b->params->softcap_attention;
    if (how->sinks)
        op.weight = model_vector(b, MODEL_REQUIRED, use->heads, "blk.%u.attn_sinks.weight", layer);
    plan_add_op(&b->plan, op);
}

static void temper(struct model_builder *b, uint32_t layer, const struct model_attention *how,
                   uint32_t q) {
    struct plan_op op = plan_op_make(PLAN_TEMPER, layer);
    op.out = q;
    op.u.temper.scale = how->temperature_scale;
    op.u.temper.span = how->temperature_span;
    plan_add_op(&b->plan, op);
}

uint32_t model_attention(struct model_builder *b, uint32_t layer, struct model_attention how) {
    const struct model_params *p = b->params;
    if (p->heads_kv[layer] == 0) {
        model_fail(b, LOCUM_E_FORMAT, "%s.attention.head_count_kv is 0 for layer %u, which attends",
                   b->meta->architecture, layer);
        return PLAN_NONE;
    }
    struct attention_use use = {
        .heads = p->heads[layer],
        .heads_kv = p->heads_kv[layer],
        .size_k = how.head_size ? how.head_size : p->head_size_k,
        .size_v = how.head_size ? how.head_size : p->head_size_v,
    };
    uint64_t a_width = (uint64_t)use.heads * use.size_v;
    use.q = model_buffer(b, "q", (uint64_t)use.heads * use.size_k);
    use.a = model_buffer(b, "a", a_width);
    model_op_norm(b, layer, b->x, b->n,
                  model_vector(b, MODEL_REQUIRED, p->embedding, "blk.%u.attn_norm.weight", layer),
                  1);
    use.qkv = project_all(b, layer, &how, &use);
    uint32_t gate = project_queries(b, layer, &how, &use);
    norm_and_turn(b, layer, &how, "attn_q_norm", use.q, use.heads, use.size_k);
    if (how.temperature_span) temper(b, layer, &how, use.q);
    use.cache = how.shares_cache ? how.cache : write_cache(b, layer, &how, &use);
    attend(b, layer, &how, &use);
    if (gate != PLAN_NONE) {
        model_op_activate(b, layer, gate, use.a, PLAN_ACT_SIGMOID);
        use.a = gate;
    }
    model_project(b, layer, "attn_output", how.biased, use.a, b->t, a_width, p->embedding);
    if (how.post_norm) model_post_norm(b, layer, "post_attention_norm", b->t);
    model_add_block(b, layer);
    return use.cache;
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
    model_project(b, layer, "ssm_in", false, b->n, all, b->params->embedding, width);
    model_op_pick(b, layer, all, 0, stride, groups, k, use->c, 0);
    model_op_pick(b, layer, all, k, stride, groups, k, use->c, groups * k);
    model_op_pick(b, layer, all, 2 * k, stride, groups, v, use->c, 2 * groups * k);
    model_op_pick(b, layer, all, 2 * k + v, stride, groups, v, use->z, 0);
}

static void project_delta(struct model_builder *b, uint32_t layer, const struct model_delta *how,
                          const struct delta_buffers *use, uint64_t c_width, uint64_t z_width) {
    uint64_t width = b->params->embedding;
    if (model_has(b, "blk.%u.ssm_in.weight", layer)) {
        project_grouped(b, layer, how, use);
    } else {
        model_project(b, layer, "attn_qkv", false, b->n, use->c, width, c_width);
        model_project(b, layer, "attn_gate", false, b->n, use->z, width, z_width);
    }
    if (how->grouped) {
        uint32_t each = how->heads / how->heads_k, both = model_buffer(b, "ba", 2ull * how->heads);
        model_project(b, layer, "ssm_ba", false, b->n, both, width, 2ull * how->heads);
        model_op_pick(b, layer, both, 0, 2 * each, how->heads_k, each, use->beta, 0);
        model_op_pick(b, layer, both, each, 2 * each, how->heads_k, each, use->alpha, 0);
    } else {
        model_project(b, layer, "ssm_alpha", false, b->n, use->alpha, width, how->heads);
        model_project(b, layer, "ssm_beta", false, b->n, use->beta, width, how->heads);
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
    model_op_norm(b, layer, b->x, b->n,
            model_vector(b, MODEL_REQUIRED, width, "blk.%u.attn_norm.weight", layer), 1);
    project_delta(b, layer, how, &use, c_width, z_width);
    convolve(b, layer, how, use.c, c_width);
    delta_rule(b, layer, how, &use, o);
    model_op_norm(b, layer, o, o,
            model_vector(b, MODEL_REQUIRED, how->value_size, "blk.%u.ssm_norm.weight", layer),
            how->heads);
    model_op_activate(b, layer, use.z, o, PLAN_ACT_SILU);
    model_project(b, layer, "ssm_out", false, use.z, b->t, z_width, width);
    model_add_block(b, layer);
}

// ---- short convolution ------------------------------------------------------------------------------
void model_short_conv(struct model_builder *b, uint32_t layer, uint32_t taps) {
    uint32_t width = b->params->embedding;
    uint32_t all = model_buffer(b, "bcu", 3ull * width), gate = model_buffer(b, "sg", width);
    uint32_t conv = model_buffer(b, "sc", width), other = model_buffer(b, "su", width);
    model_pre_norm(b, layer, "attn_norm");
    model_project(b, layer, "shortconv.in_proj", false, b->n, all, width, 3ull * width);
    model_op_pick(b, layer, all, 0, 0, 1, width, conv, 0);
    model_op_pick(b, layer, all, 2 * width, 0, 1, width, other, 0);
    model_op_pick(b, layer, all, width, 0, 1, width, gate, 0);
    model_op_activate(b, layer, conv, other, PLAN_ACT_PRODUCT);
    struct plan_state state = {.parts = (uint32_t)plan_parts(width, KERNELS_CONV_CHANNELS),
                               .part_floats = (taps - 1) * KERNELS_CONV_CHANNELS};
    struct plan_op op = plan_op_make(PLAN_CONV, layer);
    op.out = conv;
    op.weight = model_vectors(b, taps, width, "blk.%u.shortconv.conv.weight", layer);
    op.u.recurrent.state = plan_add_state(&b->plan, state);
    op.u.recurrent.plain = true;
    plan_add_op(&b->plan, op);
    model_op_activate(b, layer, gate, conv, PLAN_ACT_PRODUCT);
    model_project(b, layer, "shortconv.out_proj", false, gate, b->t, width, width);
    model_add_block(b, layer);
}

// ---- feed-forward -----------------------------------------------------------------------------------
void model_gated_ffn(struct model_builder *b, uint32_t layer, const char *suffix, uint64_t ff,
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
    model_op_matmul(b, layer, b->n, g, gate, gate_bias);
    model_op_matmul(b, layer, b->n, u, up, up_bias);
    model_op_activate(b, layer, g, u, act);
    model_op_matmul(b, layer, g, out, down, down_bias);
}

void model_pre_norm(struct model_builder *b, uint32_t layer, const char *role) {
    uint32_t weight =
        model_vector(b, MODEL_REQUIRED, b->params->embedding, "blk.%u.%s.weight", layer, role);
    model_op_norm(b, layer, b->x, b->n, weight, 1);
}

void model_dense_ffn(struct model_builder *b, uint32_t layer, struct model_ffn how) {
    model_pre_norm(b, layer, how.norm ? how.norm : "ffn_norm");
    model_gated_ffn(b, layer, "", b->params->ff[layer], how.act, b->t);
    if (how.post_norm) model_post_norm(b, layer, "post_ffw_norm", b->t);
    model_add_block(b, layer);
}

// The expert that every token uses; gives the buffer of its result.
static uint32_t shared_expert(struct model_builder *b, uint32_t layer, const struct model_moe *how) {
    uint32_t s = model_buffer(b, "s", b->params->embedding);
    model_gated_ffn(b, layer, "_shexp", how->shared_width, how->act, s);
    if (how->shared_ungated) return s;
    struct plan_op gate = plan_op_make(PLAN_ROW_GATE, layer);
    gate.in = b->n, gate.out = s;
    gate.weight = model_vector(b, MODEL_REQUIRED, b->params->embedding,
                               "blk.%u.ffn_gate_inp_shexp.weight", layer);
    plan_add_op(&b->plan, gate);
    return s;
}

uint32_t model_route(struct model_builder *b, uint32_t layer, const struct model_moe *how,
                     float scale) {
    const struct model_params *p = b->params;
    if (p->experts == 0) {
        model_fail(b, LOCUM_E_FORMAT, "key '%s.expert_count' is missing", b->meta->architecture);
        return PLAN_NONE;
    }
    uint32_t router = model_matrix(b, MODEL_REQUIRED, p->embedding, p->experts,
                                   "blk.%u.ffn_gate_inp.weight", layer);
    enum model_need biases = how->biased ? MODEL_REQUIRED : MODEL_OPTIONAL;
    uint32_t bias = model_vector(b, biases, p->experts, "blk.%u.ffn_gate_inp.bias", layer);
    struct plan_op route = plan_op_make(PLAN_ROUTER, layer);
    route.in = model_buffer(b, "r", p->experts);
    model_op_matmul(b, layer, b->n, route.in, router, bias);
    model_op_scale(b, layer, route.in, scale, PLAN_NONE);
    uint32_t set = route.u.experts.set = model_experts(b, layer, how->routing, biases);
    if (set != PLAN_NONE && how->weighs_input) {
        struct plan_experts *experts = &b->plan.plan.experts[set];
        experts->weighs_input = true;
        experts->route.by_logits = experts->route.gating == KERNELS_GATING_SIGMOID;
    }
    plan_add_op(&b->plan, route);
    return set;
}

void model_routed(struct model_builder *b, uint32_t layer, uint32_t set, enum plan_act act) {
    struct plan_op experts = plan_op_make(PLAN_EXPERTS, layer);
    experts.in = b->n, experts.out = b->t;
    if (set != PLAN_NONE && b->plan.plan.experts[set].weighs_input) {
        struct plan_op weigh = plan_op_make(PLAN_WEIGH, layer);
        weigh.in = b->n, weigh.out = experts.in = model_buffer(b, "w", b->params->embedding);
        weigh.u.experts.set = set;
        plan_add_op(&b->plan, weigh);
    }
    experts.u.experts.set = set;
    experts.u.experts.act = act;
    plan_add_op(&b->plan, experts);
}

void model_moe(struct model_builder *b, uint32_t layer, struct model_moe how) {
    model_pre_norm(b, layer, how.norm ? how.norm : "ffn_norm");
    uint32_t set = model_route(b, layer, &how, 1), shared = PLAN_NONE;
    // Between routing and experts: what is missing is read meanwhile.
    if (how.shared_width) shared = shared_expert(b, layer, &how);
    model_routed(b, layer, set, how.act);
    if (shared != PLAN_NONE) model_op_add(b, layer, shared, b->t);
    model_add_block(b, layer);
}

void model_transformer(struct model_builder *b, struct model_attention attention,
                       struct model_moe moe) {
    model_embed(b, 1);
    for (uint32_t i = 0; i < b->params->layers; i++) {
        model_attention(b, i, attention);
        if (i < b->params->dense_layers)
            model_dense_ffn(b, i, (struct model_ffn){.act = moe.act, .norm = moe.norm});
        else
            model_moe(b, i, moe);
    }
    model_head(b);
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
    uint32_t norm = model_vector(b, MODEL_REQUIRED, p->embedding, "%s.weight", b->output_norm);
    model_op_norm(b, PLAN_NONE, state, state, norm, 1);
    const char *name = model_has(b, "output.weight") ? "output.weight" : "token_embd.weight";
    uint32_t output =
        model_matrix(b, MODEL_REQUIRED, p->embedding, b->plan.plan.vocabulary, "%s", name);
    uint32_t bias = model_vector(b, MODEL_OPTIONAL, b->plan.plan.vocabulary, "output.bias");
    model_op_matmul(b, PLAN_NONE, state, logits, output, bias);
    model_op_scale(b, PLAN_NONE, logits, b->logit_scale, PLAN_NONE);
    if (p->softcap_logits > 0) {
        struct plan_op cap = plan_op_make(PLAN_SOFTCAP, PLAN_NONE);
        cap.in = cap.out = logits;
        cap.u.scale = p->softcap_logits;
        plan_add_op(&b->plan, cap);
    }
    b->plan.plan.logits = logits;
}
