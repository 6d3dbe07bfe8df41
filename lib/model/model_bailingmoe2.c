// SPDX-License-Identifier: Apache-2.0
//
// bailingmoe2: Ling 2.0 and Ring. One matrix makes queries, keys and values; RoPE turns a part of each head;
// sigmoid routers choose groups of experts by their best two, with a bias that chooses and does not weigh.
#include "model/model_arch.h"
#include "model/model_builder.h"

static void build(struct model_builder *b) {
    const struct model_params *p = b->params;
    struct model_attention attention = {.qk_norm = MODEL_QK_NORM_HEAD,
                                        .rope = model_rope(b, &p->rope, false)};
    struct model_moe moe = {
        .routing = {.gating = KERNELS_GATING_SIGMOID, .normalise = true},
        .shared_width = p->shared_experts * (p->shared_ff ? p->shared_ff : p->expert_ff),
        .shared_ungated = true,
    };
    model_transformer(b, attention, moe);
}

const struct model_arch model_bailingmoe2 = {"bailingmoe2", true, build};
