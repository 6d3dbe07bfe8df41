// SPDX-License-Identifier: Apache-2.0
//
// deepseek2: DeepSeek-V2, V3, R1, Kimi K2, GLM-4.7-Flash and relatives. Latent attention; the first layers
// are dense; the others have experts beside one that every token uses. Softmax routers (V2) choose groups of
// experts by their best one, sigmoid routers (V3) by their best two. YaRN does not change the length of
// what it turns, but stretches all scores.
#include "kernels/kmath.h"
#include "model/model_arch.h"
#include "model/model_builder.h"

#include <math.h>

// Files without a key for it: GLM-4.7-Flash is known by its numbers, what is older has softmax routers.
enum { GLM_FLASH_LAYERS = 47, GLM_FLASH_VOCABULARY = 154880 };

struct deepseek2 {
    struct model_latent latent;
    struct model_moe moe;
};

static locum_status read_latent(const struct model_builder *b, struct model_latent *out) {
    const struct model_params *p = b->params;
    const struct gguf_meta *meta = b->meta;
    locum_error *error = b->plan.error;
    uint32_t key;
    float temperature; // of queries, growing with the position: Mistral's relatives
    STATUS_TRY(gguf_meta_f32_or(meta, ".attention.temperature_scale", 0, -1e6f, 1e6f, &temperature,
                                error));
    if (temperature != 0) {
        return status_fail(error, LOCUM_E_UNSUPPORTED,
                           "%s: %s.attention.temperature_scale is %g: queries that are scaled by their "
                           "position are not supported in this architecture",
                           meta->name, meta->architecture, (double)temperature);
    }
    STATUS_TRY(gguf_meta_u32(meta, ".attention.kv_lora_rank", 8, LIMIT_HEAD_SIZE, &out->rank, error));
    STATUS_TRY(gguf_meta_u32_or(meta, ".attention.q_lora_rank", 0, 0, LIMIT_EMBEDDING,
                                &out->query_rank, error));
    // What the file calls key_length is that of the cache where there is another one for the heads.
    STATUS_TRY(gguf_meta_u32_or(meta, ".attention.key_length_mla", p->head_size_k, 2,
                                LIMIT_HEAD_SIZE, &key, error));
    STATUS_TRY(gguf_meta_u32_or(meta, ".attention.value_length_mla", p->head_size_v, 1,
                                LIMIT_HEAD_SIZE, &out->value, error));
    out->rotary = p->rope.n_rot;
    if (key <= out->rotary) {
        return status_fail(error, LOCUM_E_FORMAT,
                           "%s: %s.rope.dimension_count (%u) leaves nothing of keys of %u", meta->name,
                           meta->architecture, out->rotary, key);
    }
    out->fixed = key - out->rotary;
    if (out->rank % 8 == 0 && out->rotary % 8 == 0 && out->rank + out->rotary <= LIMIT_HEAD_SIZE)
        return LOCUM_OK;
    return status_fail(error, LOCUM_E_UNSUPPORTED,
                       "%s: compressed keys of %u and %u rotated values are not supported: multiples "
                       "of 8 up to %d together are",
                       meta->name, out->rank, out->rotary, LIMIT_HEAD_SIZE);
}

// YaRN's magnitude m, if the file gives its logarithm's factor, goes to the scores (m for queries, m for
// keys), and what is rotated keeps its length.
static locum_status read_scale(const struct model_builder *b, struct kernels_rope *rope,
                               struct model_latent *out) {
    float factor;
    double magnitude = 1;
    STATUS_TRY(gguf_meta_f32_or(b->meta, ".rope.scaling.yarn_log_multiplier", 0, 0, 1e6f, &factor,
                                b->plan.error));
    if (factor > 0 && rope->scaling == KERNELS_ROPE_YARN) {
        double length = kmath_log(rope->factor);
        rope->attn_factor /= 1.0 + 0.1 * length;
        magnitude = 1.0 + (double)factor * length;
    }
    out->scale = (float)(magnitude * magnitude / sqrt((double)(out->fixed + out->rotary)));
    return LOCUM_OK;
}

static locum_status read_moe(const struct model_builder *b, struct deepseek2 *out) {
    const struct model_params *p = b->params;
    uint32_t gating;
    bool flash = (p->layers == GLM_FLASH_LAYERS || p->layers == GLM_FLASH_LAYERS + 1) &&
                 b->plan.plan.vocabulary == GLM_FLASH_VOCABULARY;
    STATUS_TRY(gguf_meta_u32_or(b->meta, ".expert_gating_func",
                                flash ? KERNELS_GATING_SIGMOID : KERNELS_GATING_SOFTMAX,
                                KERNELS_GATING_SOFTMAX, KERNELS_GATING_SOFTMAX_SELECTED, &gating,
                                b->plan.error));
    out->moe = (struct model_moe){
        .routing = {.gating = (enum kernels_gating)gating,
                    .normalise = false,
                    .groups_by_best = gating == KERNELS_GATING_SOFTMAX},
        .shared_width = p->shared_experts * p->expert_ff,
        .shared_ungated = true,
    };
    return LOCUM_OK;
}

static void build(struct model_builder *b) {
    struct deepseek2 model = {.latent = {.rope = PLAN_NONE}};
    struct kernels_rope rope = b->params->rope;
    locum_status status = read_latent(b, &model.latent);
    if (status == LOCUM_OK) status = read_scale(b, &rope, &model.latent);
    if (status == LOCUM_OK) status = read_moe(b, &model);
    if (status != LOCUM_OK) {
        b->plan.status = status;
        return;
    }
    model.latent.rope = model_rope(b, &rope, false);
    model_embed(b, 1);
    for (uint32_t i = 0; i < b->params->layers; i++) {
        model_latent_attention(b, i, &model.latent);
        if (i < b->params->dense_layers) {
            model_dense_ffn(b, i, (struct model_ffn){.act = PLAN_ACT_SILU});
        } else {
            model_moe(b, i, model.moe);
        }
    }
    model_head(b);
}

const struct model_arch model_deepseek2 = {"deepseek2", false, build};
