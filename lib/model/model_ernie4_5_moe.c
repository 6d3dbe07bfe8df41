// SPDX-License-Identifier: Apache-2.0
//
// ernie4_5-moe: ERNIE 4.5. The first layers are dense, of the others every n-th has experts (in all known
// files each one). A bias takes part in the choice of experts and not in their weights; a shared expert is
// just added.
#include "model/model_arch.h"
#include "model/model_builder.h"

static locum_status read_layers(const struct model_builder *b, uint32_t *lead, uint32_t *step) {
    STATUS_TRY(gguf_meta_u32_or(b->meta, ".leading_dense_block_count", 0, 0, b->params->layers,
                                lead, b->plan.error));
    return gguf_meta_u32_or(b->meta, ".interleave_moe_layer_step", 1, 1, LIMIT_LAYERS, step,
                            b->plan.error);
}

static void build(struct model_builder *b) {
    const struct model_params *p = b->params;
    uint32_t lead, step;
    locum_status status = read_layers(b, &lead, &step);
    if (status != LOCUM_OK) {
        b->plan.status = status;
        return;
    }
    struct model_attention attention = {.rope = model_rope(b, &p->rope, false)};
    struct model_moe moe = {.routing = {.gating = KERNELS_GATING_SOFTMAX, .normalise = true},
                            .shared_width = p->shared_ff,
                            .shared_ungated = true};
    model_embed(b, 1);
    for (uint32_t i = 0; i < p->layers; i++) {
        model_attention(b, i, attention);
        if (i < lead || (i + 1) % step)
            model_dense_ffn(b, i, (struct model_ffn){.act = PLAN_ACT_SILU});
        else
            model_moe(b, i, moe);
    }
    model_head(b);
}

const struct model_arch model_ernie4_5_moe = {"ernie4_5-moe", false, build};
