// SPDX-License-Identifier: Apache-2.0
//
// llama4: three of four layers see only the chunk of positions that a token lies in, with RoPE and queries
// and keys normed behind it; the fourth sees everything, without RoPE, and its queries grow with the
// position. Each token has one expert, chosen by its logit; the sigmoid of the logit weighs what goes into
// the expert. A shared expert is just added.
#include "model/model_arch.h"
#include "model/model_builder.h"

enum {
    PATTERN_PERIOD = 4,      // the last layer of each period sees everything
    CHUNK = 8192,            // positions, unless the file says
    TEMPERATURE_SPAN = 8192, // likewise
    EXPERTS_UNNORMED =
        128, // the one size whose queries and keys are not normed; files do not say so
};
#define TEMPERATURE_SCALE 0.1f

struct llama4 {
    bool chunked[LIMIT_LAYERS];
    uint32_t chunk, span, step;
    float scale;
};

static locum_status read(struct model_builder *b, struct llama4 *l) {
    locum_error *error = b->plan.error;
    STATUS_TRY(model_windows(b, PATTERN_PERIOD, l->chunked));
    STATUS_TRY(gguf_meta_u32_or(b->meta, ".attention.sliding_window", CHUNK, 0, LIMIT_CONTEXT,
                                &l->chunk, error));
    STATUS_TRY(gguf_meta_u32_or(b->meta, ".attention.temperature_length", TEMPERATURE_SPAN, 1,
                                LIMIT_CONTEXT, &l->span, error));
    STATUS_TRY(gguf_meta_f32_or(b->meta, ".attention.temperature_scale", TEMPERATURE_SCALE, 0, 1e3f,
                                &l->scale, error));
    return gguf_meta_u32_or(b->meta, ".interleave_moe_layer_step", 1, 1, LIMIT_LAYERS, &l->step,
                            error);
}

static void attention(struct model_builder *b, uint32_t layer, const struct llama4 *l,
                      uint32_t rope) {
    bool turns = l->chunked[layer] || l->chunk == 0; // without chunks all layers are alike
    struct model_attention how = {
        .rope = turns ? rope : PLAN_NONE,
        .chunk = l->chunked[layer] ? l->chunk : 0,
        .unit_heads = turns && b->params->experts != EXPERTS_UNNORMED,
        .temperature_span = turns ? 0 : l->span,
        .temperature_scale = l->scale,
    };
    model_attention(b, layer, how);
}

static void build(struct model_builder *b) {
    const struct model_params *p = b->params;
    struct llama4 l;
    locum_status status = read(b, &l);
    if (status != LOCUM_OK) b->plan.status = status;
    if (status != LOCUM_OK) return;
    if (p->experts && p->experts_used != 1) {
        model_fail(b, LOCUM_E_UNSUPPORTED,
                   "%u experts per token whose inputs are weighed are not supported: one is",
                   p->experts_used);
    }
    struct model_moe moe = {.routing = {.gating = KERNELS_GATING_SIGMOID},
                            .shared_width = p->expert_ff,
                            .shared_ungated = true,
                            .weighs_input = true};
    uint32_t rope = model_rope(b, &p->rope, true);
    model_embed(b, 1);
    for (uint32_t i = 0; i < p->layers; i++) {
        attention(b, i, &l, rope);
        if ((i + 1) % l.step)
            model_dense_ffn(b, i, (struct model_ffn){.act = PLAN_ACT_SILU});
        else
            model_moe(b, i, moe);
    }
    model_head(b);
}

const struct model_arch model_llama4 = {"llama4", false, build};
