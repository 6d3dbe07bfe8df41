// SPDX-License-Identifier: Apache-2.0
//
// lfm2moe: LFM2 with experts. Layers without heads of keys are short convolutions, the others attend. The
// first layers are dense; the others choose experts by sigmoids and a bias. The last norm bears the name of
// the embeddings.
#include "kernels/kernels.h"
#include "model/model_arch.h"
#include "model/model_builder.h"

static locum_status read_sizes(const struct model_builder *b, uint32_t *taps, uint32_t *lead) {
    STATUS_TRY(gguf_meta_u32(b->meta, ".shortconv.l_cache", 2, KERNELS_CONV_TAPS_MAX, taps,
                             b->plan.error));
    return gguf_meta_u32_or(b->meta, ".leading_dense_block_count", 0, 0, b->params->layers, lead,
                            b->plan.error);
}

static void build(struct model_builder *b) {
    const struct model_params *p = b->params;
    uint32_t taps, lead;
    locum_status status = read_sizes(b, &taps, &lead);
    if (status != LOCUM_OK) {
        b->plan.status = status;
        return;
    }
    struct model_attention attention = {.qk_norm = MODEL_QK_NORM_HEAD,
                                        .rope = model_rope(b, &p->rope, false)};
    struct model_moe moe = {.routing = {.gating = KERNELS_GATING_SIGMOID, .normalise = true}};
    b->output_norm = "token_embd_norm";
    model_embed(b, 1);
    for (uint32_t i = 0; i < p->layers; i++) {
        if (p->heads_kv[i])
            model_attention(b, i, attention);
        else
            model_short_conv(b, i, taps);
        if (i < lead)
            model_dense_ffn(b, i, (struct model_ffn){.act = PLAN_ACT_SILU});
        else
            model_moe(b, i, moe);
    }
    model_head(b);
}

const struct model_arch model_lfm2moe = {"lfm2moe", true, build};
