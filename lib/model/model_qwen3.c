// SPDX-License-Identifier: Apache-2.0
//
// qwen3: the dense Qwen3. Queries and keys are normed per head before RoPE.
#include "model/model_arch.h"
#include "model/model_builder.h"

static void build(struct model_builder *b) {
    const struct model_params *p = b->params;
    struct model_attention attention = {.qk_norm = MODEL_QK_NORM_HEAD,
                                        .rope = model_rope(b, &p->rope, false)};
    model_embed(b, 1);
    for (uint32_t i = 0; i < p->layers; i++) {
        model_attention(b, i, attention);
        model_dense_ffn(b, i, (struct model_ffn){.act = PLAN_ACT_SILU});
    }
    model_head(b);
}

const struct model_arch model_qwen3 = {"qwen3", true, build};
