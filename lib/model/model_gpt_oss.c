// SPDX-License-Identifier: Apache-2.0
//
// gpt-oss: biases everywhere; every other layer sees a window only; each head has a sink, a logit that
// takes a share of the softmax and gives nothing; the best experts are chosen by their logits and weighted
// by a softmax over the chosen; SwiGLU with clamped inputs. The norm before the experts bears the name
// post_attention_norm. Its YaRN does not round the limits between stretched and kept frequencies to whole
// pairs; files do not say so.
#include "model/model_arch.h"
#include "model/model_builder.h"

enum { PATTERN_PERIOD = 2 }; // the last layer of each period sees everything

static void build(struct model_builder *b) {
    const struct model_params *p = b->params;
    struct kernels_rope rope = p->rope;
    bool windows[LIMIT_LAYERS];
    locum_status status = model_windows(b, PATTERN_PERIOD, windows);
    if (status != LOCUM_OK) {
        b->plan.status = status;
        return;
    }
    model_require_window(b);
    rope.untruncated = true;
    struct model_attention attention = {
        .rope = model_rope(b, &rope, false), .biased = true, .sinks = true};
    struct model_moe moe = {
        .routing = {.gating = KERNELS_GATING_SOFTMAX_SELECTED, .normalise = false},
        .act = PLAN_ACT_SWIGLU_OAI,
        .norm = "post_attention_norm",
        .biased = true,
    };
    model_embed(b, 1);
    for (uint32_t i = 0; i < p->layers; i++) {
        attention.window = windows[i] ? p->window : 0;
        moe.routing.width = p->ff[i];
        model_attention(b, i, attention);
        model_moe(b, i, moe);
    }
    model_head(b);
}

const struct model_arch model_gpt_oss = {"gpt-oss", true, build};
