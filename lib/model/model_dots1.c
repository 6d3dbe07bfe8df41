// SPDX-License-Identifier: Apache-2.0
//
// dots1: dots.llm1. The first layer is dense; sigmoid routers with a bias that chooses and does not weigh;
// experts that every token uses are just added.
#include "model/model_arch.h"
#include "model/model_builder.h"

static void build(struct model_builder *b) {
    const struct model_params *p = b->params;
    struct model_attention attention = {.qk_norm = MODEL_QK_NORM_HEAD,
                                        .rope = model_rope(b, &p->rope, false)};
    struct model_moe moe = {
        .routing = {.gating = KERNELS_GATING_SIGMOID, .normalise = false},
        .shared_width = p->shared_experts * p->expert_ff,
        .shared_ungated = true,
    };
    model_transformer(b, attention, moe);
}

const struct model_arch model_dots1 = {"dots1", true, build};
