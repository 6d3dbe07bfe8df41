// SPDX-License-Identifier: Apache-2.0
//
// gemma4: layers with a sliding window and layers that see everything have heads of different sizes,
// numbers and RoPE; the latter may lack values, which then are the keys' projection. Queries, keys and
// values are normed, so scores are not scaled. With experts (26B-A4B) a dense feed-forward runs beside
// them, each half with norms of its own, and the router has a norm of the state to itself. The small
// dense ones (E2B, E4B) add to each layer what a table of embeddings per layer has for the token, and
// their last layers look into the caches of earlier ones.
#include "model/model_arch.h"
#include "model/model_builder.h"

#include <math.h>

enum { PATTERN_PERIOD = 6 }; // the last layer of each period sees everything

enum { GLOBAL, LOCAL, KINDS }; // of layers: those that see everything, those with a window

struct gemma4 {
    bool windowed[LIMIT_LAYERS];
    uint32_t head_size[KINDS];
    struct kernels_rope rope[KINDS];
    uint32_t table[KINDS]; // of RoPE
    uint32_t first_shared; // layers from here on have no keys and values of their own ..
    uint32_t cache[KINDS]; // .. but look into these
    uint32_t extra;        // width of the embeddings per layer, 0: none
    uint32_t extras;       // their buffer: a part for each layer
};

static locum_status read_local_sizes(struct model_builder *b, struct gemma4 *g) {
    uint32_t keys, values;
    STATUS_TRY(gguf_meta_u32(b->meta, ".attention.key_length_swa", 8, LIMIT_HEAD_SIZE, &keys,
                             b->plan.error));
    STATUS_TRY(gguf_meta_u32_or(b->meta, ".attention.value_length_swa", keys, 8, LIMIT_HEAD_SIZE,
                                &values, b->plan.error));
    g->head_size[GLOBAL] = b->params->head_size_k;
    g->head_size[LOCAL] = keys;
    if (b->params->head_size_k != b->params->head_size_v || keys != values || keys % 8) {
        model_fail(b, LOCUM_E_UNSUPPORTED,
                   "heads of %u and %u (keys) and %u and %u (values) are not supported: keys and "
                   "values of one size, a multiple of 8, are",
                   b->params->head_size_k, keys, b->params->head_size_v, values);
    }
    return LOCUM_OK;
}

static locum_status read_local_rope(struct model_builder *b, struct gemma4 *g) {
    struct kernels_rope *rope = &g->rope[LOCAL];
    float base;
    g->rope[GLOBAL] = *rope = b->params->rope;
    rope->scaling = KERNELS_ROPE_NONE; // scaling stretches only the layers that see everything
    rope->factor = 1;
    STATUS_TRY(gguf_meta_f32_or(b->meta, ".rope.freq_base_swa", 10000, 1e-3f, 1e15f, &base,
                                b->plan.error));
    rope->base = base;
    STATUS_TRY(gguf_meta_u32_or(b->meta, ".rope.dimension_count_swa", g->head_size[LOCAL], 2,
                                g->head_size[LOCAL], &rope->n_rot, b->plan.error));
    if (rope->n_rot % 2) {
        model_fail(b, LOCUM_E_FORMAT,
                   "%s.rope.dimension_count_swa is %u; an even number is expected",
                   b->meta->architecture, rope->n_rot);
    }
    return LOCUM_OK;
}

static locum_status read(struct model_builder *b, struct gemma4 *g) {
    uint32_t layers = b->params->layers, shared;
    STATUS_TRY(model_windows(b, PATTERN_PERIOD, g->windowed));
    STATUS_TRY(read_local_sizes(b, g));
    STATUS_TRY(read_local_rope(b, g));
    STATUS_TRY(gguf_meta_u32_or(b->meta, ".attention.shared_kv_layers", 0, 0, layers - 1, &shared,
                                b->plan.error));
    g->first_shared = layers - shared;
    g->cache[GLOBAL] = g->cache[LOCAL] = PLAN_NONE;
    return gguf_meta_u32_or(b->meta, ".embedding_length_per_layer_input", 0, 0, LIMIT_EMBEDDING,
                            &g->extra, b->plan.error);
}

// Pairs of RoPE that do not turn are written as factors of 1e30, which no other key tells.
static void make_ropes(struct model_builder *b, struct gemma4 *g) {
    if (!model_has(b, "rope_freqs.weight")) {
        model_fail(b, LOCUM_E_FORMAT,
                   "tensor 'rope_freqs.weight' is missing; models of the architecture '%s' need it",
                   b->meta->architecture);
    }
    g->table[GLOBAL] = model_rope(b, &g->rope[GLOBAL], true);
    g->table[LOCAL] = model_rope(b, &g->rope[LOCAL], false);
}

// What each layer adds for the token: (its row of the table + a projection of the state) / sqrt(2).
static void embed_per_layer(struct model_builder *b, struct gemma4 *g) {
    const struct model_params *p = b->params;
    uint64_t width = (uint64_t)g->extra * p->layers;
    struct plan_op embed = plan_op_make(PLAN_EMBED, PLAN_NONE);
    embed.out = model_buffer(b, "pe", width);
    embed.weight = model_matrix(b, MODEL_REQUIRED, width, b->plan.plan.vocabulary,
                                "per_layer_token_embd.weight");
    embed.u.scale = sqrtf((float)g->extra);
    plan_add_op(&b->plan, embed);
    g->extras = model_buffer(b, "pp", width);
    uint32_t project =
        model_matrix(b, MODEL_REQUIRED, p->embedding, width, "per_layer_model_proj.weight");
    uint32_t norm = model_vector(b, MODEL_REQUIRED, g->extra, "per_layer_proj_norm.weight");
    model_op_matmul(b, PLAN_NONE, b->x, g->extras, project, PLAN_NONE);
    model_op_scale(b, PLAN_NONE, g->extras, 1.0f / sqrtf((float)p->embedding), PLAN_NONE);
    model_op_norm(b, PLAN_NONE, g->extras, g->extras, norm, p->layers);
    model_op_add(b, PLAN_NONE, embed.out, g->extras);
    model_op_scale(b, PLAN_NONE, g->extras, sqrtf(0.5f), PLAN_NONE);
}

static void add_extra(struct model_builder *b, uint32_t layer, const struct gemma4 *g) {
    uint32_t width = b->params->embedding;
    uint32_t gate = model_buffer(b, "pg", g->extra), own = model_buffer(b, "pl", g->extra);
    uint32_t in = model_matrix(b, MODEL_REQUIRED, width, g->extra, "blk.%u.inp_gate.weight", layer);
    uint32_t out = model_matrix(b, MODEL_REQUIRED, g->extra, width, "blk.%u.proj.weight", layer);
    model_op_matmul(b, layer, b->x, gate, in, PLAN_NONE);
    model_op_pick(b, layer, g->extras, layer * g->extra, 0, 1, g->extra, own, 0);
    model_op_activate(b, layer, gate, own, PLAN_ACT_GELU);
    model_op_matmul(b, layer, gate, b->t, out, PLAN_NONE);
    model_post_norm(b, layer, "post_norm", b->t);
    model_add_block(b, layer);
}

// Whether the layer can look into that cache of an earlier one.
static bool can_share(struct model_builder *b, uint32_t layer, uint32_t cache) {
    if (b->plan.status != LOCUM_OK) return false;
    if (cache == PLAN_NONE) {
        model_fail(b, LOCUM_E_FORMAT,
                   "layer %u shares keys and values, but no layer of its kind has any", layer);
        return false;
    }
    uint32_t heads = b->params->heads[layer], heads_kv = b->plan.plan.caches[cache].heads_kv;
    if (heads % heads_kv == 0) return true;
    model_fail(b, LOCUM_E_FORMAT, "layer %u has %u heads, no multiple of the %u whose keys it shares",
               layer, heads, heads_kv);
    return false;
}

static void attention(struct model_builder *b, uint32_t layer, struct gemma4 *g) {
    int kind = g->windowed[layer] ? LOCAL : GLOBAL;
    struct model_attention how = {
        .qk_norm = MODEL_QK_NORM_HEAD,
        .rope = g->table[kind],
        .window = g->windowed[layer] ? b->params->window : 0,
        .head_size = g->head_size[kind],
        .scale = 1,
        .post_norm = true,
        .value_norm = true,
        .shares_cache = layer >= g->first_shared,
        .cache = g->cache[kind],
    };
    if (how.shares_cache && !can_share(b, layer, how.cache)) return;
    g->cache[kind] = model_attention(b, layer, how);
}

// x is normed three times: for the router, for the dense feed-forward, for the experts.
static void mixture(struct model_builder *b, uint32_t layer) {
    const struct model_params *p = b->params;
    struct model_moe how = {.routing = {.gating = KERNELS_GATING_SOFTMAX, .normalise = true}};
    uint32_t s = model_buffer(b, "s", p->embedding);
    uint32_t scale =
        model_vector(b, MODEL_REQUIRED, p->embedding, "blk.%u.ffn_gate_inp.scale", layer);
    model_op_norm(b, layer, b->x, b->n, scale, 1);
    uint32_t set = model_route(b, layer, &how, 1.0f / sqrtf((float)p->embedding));
    // Between routing and experts: what is missing is read meanwhile.
    model_pre_norm(b, layer, "ffn_norm");
    model_gated_ffn(b, layer, "", p->ff[layer], PLAN_ACT_GELU, s);
    model_post_norm(b, layer, "post_ffw_norm_1", s);
    model_pre_norm(b, layer, "pre_ffw_norm_2");
    model_routed(b, layer, set, PLAN_ACT_GELU);
    model_post_norm(b, layer, "post_ffw_norm_2", b->t);
    model_op_add(b, layer, s, b->t);
    model_post_norm(b, layer, "post_ffw_norm", b->t);
    model_add_block(b, layer);
}

static void build(struct model_builder *b) {
    const struct model_params *p = b->params;
    struct gemma4 g;
    locum_status status = read(b, &g);
    if (status != LOCUM_OK) b->plan.status = status;
    if (b->plan.status != LOCUM_OK) return;
    model_require_window(b);
    model_embed(b, sqrtf((float)p->embedding));
    make_ropes(b, &g);
    if (g.extra) embed_per_layer(b, &g);
    for (uint32_t i = 0; i < p->layers; i++) {
        attention(b, i, &g);
        if (p->experts)
            mixture(b, i);
        else
            model_dense_ffn(b, i, (struct model_ffn){.act = PLAN_ACT_GELU, .post_norm = true});
        if (g.extra) add_extra(b, i, &g);
        uint32_t scale = model_vector(b, MODEL_OPTIONAL, 1, "blk.%u.layer_output_scale.weight", i);
        model_op_scale(b, i, b->x, 1, scale);
    }
    model_head(b);
}

const struct model_arch model_gemma4 = {"gemma4", true, build};
