// SPDX-License-Identifier: Apache-2.0
//
// olmoe: queries and keys are normed over the whole row before it is cut into heads; routing weights are
// not renormalised.
#include "model/model_arch.h"
#include "model/model_builder.h"

static void build(struct model_builder *b) {
    const struct model_params *p = b->params;
    struct model_attention attention = {.qk_norm = MODEL_QK_NORM_ROW,
                                        .rope = model_rope(b, &p->rope, false)};
    model_embed(b, 1);
    for (uint32_t i = 0; i < p->layers; i++) {
        struct model_routing routing = {.gating = KERNELS_GATING_SOFTMAX, .normalise = false, .width = p->ff[i]};
        model_attention(b, i, attention);
        model_moe(b, i, (struct model_moe){.routing = routing});
    }
    model_head(b);
}

const struct model_arch model_olmoe = {"olmoe", true, build};
