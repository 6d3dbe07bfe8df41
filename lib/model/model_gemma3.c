// SPDX-License-Identifier: Apache-2.0
//
// gemma3: dense. Five layers with a sliding window (and their own RoPE base) to one that sees everything;
// norms before and after each block; embeddings scaled by the root of the width. "1 + w" of its norms is
// already in the file.
#include "model/model_arch.h"
#include "model/model_builder.h"

#include <math.h>

enum {
    PATTERN_PERIOD = 6, // the last layer of each period sees everything
    LAYERS_27B =
        62, // the one size whose scores are scaled by width / heads, not by the head's size
};

static locum_status read_window_rope(struct model_builder *b, struct kernels_rope *rope) {
    float base;
    STATUS_TRY(gguf_meta_f32_or(b->meta, ".rope.freq_base_swa", 10000, 1e-3f, 1e15f, &base,
                                b->plan.error));
    *rope = b->params->rope;
    rope->base = base;
    rope->scaling = KERNELS_ROPE_NONE; // scaling stretches only the layers that see everything
    rope->factor = 1;
    return LOCUM_OK;
}

static void build(struct model_builder *b) {
    const struct model_params *p = b->params;
    struct kernels_rope window_rope;
    bool windows[LIMIT_LAYERS];
    locum_status status = read_window_rope(b, &window_rope);
    if (status == LOCUM_OK) status = model_windows(b, PATTERN_PERIOD, windows);
    if (status != LOCUM_OK) {
        b->plan.status = status;
        return;
    }
    uint32_t global = model_rope(b, &p->rope, false);
    uint32_t local = model_rope(b, &window_rope, false);
    model_embed(b, sqrtf((float)p->embedding));
    for (uint32_t i = 0; i < p->layers; i++) {
        bool windowed = p->window > 0 && windows[i];
        struct model_attention attention = {
            .qk_norm = MODEL_QK_NORM_HEAD,
            .rope = windowed ? local : global,
            .window = windowed ? p->window : 0,
            .scale =
                p->layers == LAYERS_27B ? 1.0f / sqrtf((float)(p->embedding / p->heads[0])) : 0,
            .post_norm = true,
        };
        model_attention(b, i, attention);
        model_dense_ffn(b, i, (struct model_ffn){.act = PLAN_ACT_GELU, .post_norm = true});
    }
    model_head(b);
}

const struct model_arch model_gemma3 = {"gemma3", true, build};
