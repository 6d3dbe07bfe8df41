// SPDX-License-Identifier: Apache-2.0
//
// qwen2moe: Qwen1.5-MoE and Qwen2-MoE. Biases on q, k and v; routing weights are not renormalised; a shared
// expert runs for every token, scaled by a sigmoid gate.
#include "model/model_arch.h"
#include "model/model_builder.h"

static void build(struct model_builder *b) {
    const struct model_params *p = b->params;
    struct model_attention attention = {.rope = model_rope(b, &p->rope, false)};
    model_embed(b, 1);
    for (uint32_t i = 0; i < p->layers; i++) {
        uint32_t width =
            p->experts_used ? p->ff[i] / p->experts_used : 0; // files without the expert's own key
        struct model_moe moe = {
            .routing = {.gating = KERNELS_GATING_SOFTMAX, .normalise = false, .width = width},
            .shared_width = p->shared_ff ? p->shared_ff : p->ff[i],
        };
        model_attention(b, i, attention);
        model_moe(b, i, moe);
    }
    model_head(b);
}

const struct model_arch model_qwen2moe = {"qwen2moe", true, build};
