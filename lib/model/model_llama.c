// SPDX-License-Identifier: Apache-2.0
//
// llama: Llama 1 to 3 and everything in their form; with experts it is Mixtral. The converter has permuted
// the rows of q and k, so RoPE turns neighbouring pairs. Llama 3.1's scaling comes as rope_freqs.
#include "model/model_arch.h"
#include "model/model_builder.h"

static void build(struct model_builder *b) {
    const struct model_params *p = b->params;
    struct model_attention attention = {.rope = model_rope(b, &p->rope, true)};
    model_embed(b, 1);
    for (uint32_t i = 0; i < p->layers; i++) {
        model_attention(b, i, attention);
        if (p->experts > 0) {
            struct model_routing routing = {.gating = KERNELS_GATING_SOFTMAX, .normalise = true, .width = p->ff[i]};
            model_moe(b, i, (struct model_moe){.routing = routing});
        } else {
            model_dense_ffn(b, i, (struct model_ffn){.act = PLAN_ACT_SILU});
        }
    }
    model_head(b);
}

const struct model_arch model_llama = {"llama", false, build};
