// SPDX-License-Identifier: Apache-2.0
//
// glm4moe: GLM-4.5 to 4.7 and relatives. RoPE turns a part of each head; biases on q, k and v; the larger
// models norm queries and keys. Sigmoid routers with a bias that chooses and does not weigh; an expert that
// every token uses is just added. The norm before the feed-forward bears the name post_attention_norm.
#include "model/model_arch.h"
#include "model/model_builder.h"

static void build(struct model_builder *b) {
    const struct model_params *p = b->params;
    bool normed = model_has(b, "blk.0.attn_q_norm.weight");
    struct model_attention attention = {
        .qk_norm = normed ? MODEL_QK_NORM_HEAD : MODEL_QK_NORM_NONE,
        .rope = model_rope(b, &p->rope, false),
    };
    struct model_moe moe = {
        .routing = {.gating = KERNELS_GATING_SIGMOID, .normalise = true},
        .norm = "post_attention_norm",
        .shared_width = p->shared_experts * p->expert_ff,
        .shared_ungated = true,
    };
    model_transformer(b, attention, moe);
}

const struct model_arch model_glm4moe = {"glm4moe", true, build};
