// SPDX-License-Identifier: Apache-2.0
//
// qwen3moe: Qwen3 with experts. Softmax over all experts, the chosen weights renormalised.
// qwen3vlmoe: its text is the same model. Its RoPE has sections for time, height and width, which of text are
// one and the same position.
#include "model/model_arch.h"
#include "model/model_builder.h"

static void build(struct model_builder *b) {
    const struct model_params *p = b->params;
    struct model_attention attention = {.qk_norm = MODEL_QK_NORM_HEAD,
                                        .rope = model_rope(b, &p->rope, false)};
    model_embed(b, 1);
    for (uint32_t i = 0; i < p->layers; i++) {
        uint32_t width =
            p->experts_used ? p->ff[i] / p->experts_used : 0; // files without the expert's own key
        struct model_routing routing = {.gating = KERNELS_GATING_SOFTMAX, .normalise = true, .width = width};
        model_attention(b, i, attention);
        model_moe(b, i, (struct model_moe){.routing = routing});
    }
    model_head(b);
}

const struct model_arch model_qwen3moe = {"qwen3moe", true, build};
const struct model_arch model_qwen3vlmoe = {"qwen3vlmoe", true, build};
