// SPDX-License-Identifier: Apache-2.0
//
// minimax-m2: MiniMax-M2. Queries and keys are normed over the whole row before it is cut into heads, of
// which RoPE turns a part; sigmoid routers with a bias that chooses and does not weigh.
#include "model/model_arch.h"
#include "model/model_builder.h"

static void build(struct model_builder *b) {
    const struct model_params *p = b->params;
    struct model_attention attention = {.qk_norm = MODEL_QK_NORM_ROW,
                                        .rope = model_rope(b, &p->rope, false)};
    struct model_moe moe = {.routing = {
                                .gating = KERNELS_GATING_SIGMOID,
                                .normalise = true,
                                .width = p->ff[0],
                            }};
    model_transformer(b, attention, moe);
}

const struct model_arch model_minimax_m2 = {"minimax-m2", true, build};
