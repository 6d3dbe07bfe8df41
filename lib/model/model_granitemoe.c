// SPDX-License-Identifier: Apache-2.0
//
// granitemoe: Granite 3 with experts, with or without a shared one that is just added. Embeddings, scores,
// the output of each block and the logits have factors of their own.
#include "model/model_arch.h"
#include "model/model_builder.h"

struct factors { // as files have them; 0 stands for "none"
    float embedding, residual, scores, logits;
};

static locum_status read_factors(const struct model_builder *b, struct factors *f) {
    const struct {
        const char *key;
        float *value;
    } keys[] = {{".embedding_scale", &f->embedding},
                {".residual_scale", &f->residual},
                {".attention.scale", &f->scores},
                {".logit_scale", &f->logits}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        STATUS_TRY(
            gguf_meta_f32_or(b->meta, keys[i].key, 0, 0, 1e6f, keys[i].value, b->plan.error));
    return LOCUM_OK;
}

static void build(struct model_builder *b) {
    const struct model_params *p = b->params;
    struct factors f;
    locum_status status = read_factors(b, &f);
    if (status != LOCUM_OK) {
        b->plan.status = status;
        return;
    }
    if (f.residual > 0) b->residual_scale = f.residual;
    if (f.logits > 0) b->logit_scale = 1.0f / f.logits; // logits are divided by it
    struct model_attention attention = {.rope = model_rope(b, &p->rope, true), .scale = f.scores};
    model_embed(b, f.embedding > 0 ? f.embedding : 1);
    for (uint32_t i = 0; i < p->layers; i++) {
        struct model_moe moe = {.routing = {.gating = KERNELS_GATING_SOFTMAX, .normalise = true, .width = p->ff[i]},
                                .shared_width = p->shared_ff,
                                .shared_ungated = true};
        model_attention(b, i, attention);
        model_moe(b, i, moe);
    }
    model_head(b);
}

const struct model_arch model_granitemoe = {"granitemoe", false, build};
