// SPDX-License-Identifier: Apache-2.0
//
// hunyuan-moe: Hunyuan-A13B. Queries and keys are normed behind RoPE; an expert that every token uses is just
// added.
#include "model/model_arch.h"
#include "model/model_builder.h"

static void build(struct model_builder *b) {
    const struct model_params *p = b->params;
    struct model_attention attention = {.qk_norm = MODEL_QK_NORM_HEAD,
                                        .rope = model_rope(b, &p->rope, false),
                                        .norm_turned = true};
    struct model_moe moe = {
        .routing = {.gating = KERNELS_GATING_SOFTMAX, .normalise = true, .width = p->ff[0]},
        .shared_width = p->shared_ff ? p->shared_ff : p->ff[0],
        .shared_ungated = true,
    };
    model_transformer(b, attention, moe);
}

const struct model_arch model_hunyuan_moe = {"hunyuan-moe", true, build};
