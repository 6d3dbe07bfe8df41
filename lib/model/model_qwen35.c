// SPDX-License-Identifier: Apache-2.0
//
// qwen35 (dense), qwen35moe and qwen3next: Qwen3.5, 3.6 and Qwen3-Next. Three of four layers are gated
// delta nets, the fourth is attention with a gated output and RoPE on a part of each head. (The positions
// that multi-section RoPE tells apart are equal in text.) The converter has added 1 to the norms, made
// ssm_a = -exp(A_log), and, but for qwen3next, reordered the value heads.
#include "base/limits.h"
#include "kernels/kernels.h"
#include "model/model_arch.h"
#include "model/model_builder.h"

enum { ATTENTION_INTERVAL = 4 };
static const char ffn_norm[] = "post_attention_norm";

static locum_status read_delta(const struct model_builder *b, struct model_delta *out) {
    uint32_t inner;
    const struct gguf_meta *meta = b->meta;
    locum_error *error = b->plan.error;
    STATUS_TRY(
        gguf_meta_u32(meta, ".ssm.conv_kernel", 2, KERNELS_CONV_TAPS_MAX, &out->taps, error));
    STATUS_TRY(gguf_meta_u32(meta, ".ssm.time_step_rank", 1, LIMIT_HEADS, &out->heads, error));
    STATUS_TRY(gguf_meta_u32(meta, ".ssm.group_count", 1, LIMIT_HEADS, &out->heads_k, error));
    STATUS_TRY(gguf_meta_u32(meta, ".ssm.state_size", 8, LIMIT_HEAD_SIZE, &out->key_size, error));
    STATUS_TRY(gguf_meta_u32(meta, ".ssm.inner_size", 1, LIMIT_EMBEDDING, &inner, error));
    if (out->heads % out->heads_k) {
        return status_fail(error, LOCUM_E_FORMAT,
                           "%s: %s.ssm.time_step_rank (%u) is no multiple of ssm.group_count (%u)",
                           meta->name, meta->architecture, out->heads, out->heads_k);
    }
    if (inner % out->heads) {
        return status_fail(error, LOCUM_E_FORMAT,
                           "%s: %s.ssm.inner_size (%u) is no multiple of ssm.time_step_rank (%u)",
                           meta->name, meta->architecture, inner, out->heads);
    }
    out->value_size = inner / out->heads;
    if (out->key_size % 8 == 0 && out->value_size % 8 == 0 && out->value_size <= LIMIT_HEAD_SIZE)
        return LOCUM_OK;
    return status_fail(error, LOCUM_E_UNSUPPORTED,
                       "%s: recurrent heads of %u (keys) and %u (values) are not supported: "
                       "multiples of 8 up to %d are",
                       meta->name, out->key_size, out->value_size, LIMIT_HEAD_SIZE);
}

// By a list over all blocks of the file, or by the interval of attention layers.
static locum_status read_recurrent(const struct model_builder *b, bool recurrent[LIMIT_LAYERS]) {
    static const char key[] = ".attention.recurrent_layers";
    uint32_t blocks, interval;
    STATUS_TRY(gguf_meta_u32(b->meta, ".block_count", 1, LIMIT_LAYERS, &blocks, b->plan.error));
    if (gguf_meta_find(b->meta, key))
        return gguf_meta_bool_each(b->meta, key, blocks, recurrent, b->plan.error);
    STATUS_TRY(gguf_meta_u32_or(b->meta, ".full_attention_interval", ATTENTION_INTERVAL, 1,
                                LIMIT_LAYERS, &interval, b->plan.error));
    for (uint32_t i = 0; i < blocks; i++)
        recurrent[i] = (i + 1) % interval != 0;
    return LOCUM_OK;
}

static void feed_forward(struct model_builder *b, uint32_t layer, bool experts) {
    const struct model_params *p = b->params;
    if (!experts) {
        model_dense_ffn(b, layer, (struct model_ffn){.act = PLAN_ACT_SILU, .norm = ffn_norm});
        return;
    }
    uint32_t width = p->experts_used ? p->ff[layer] / p->experts_used : 0;
    struct model_moe moe = {
        .routing = {.gating = KERNELS_GATING_SOFTMAX, .normalise = true, .width = width},
        .norm = ffn_norm,
        .shared_width = p->shared_ff ? p->shared_ff : p->ff[layer],
    };
    model_moe(b, layer, moe);
}

static void build(struct model_builder *b, bool experts, bool grouped) {
    const struct model_params *p = b->params;
    struct model_delta delta = {.grouped = grouped};
    bool recurrent[LIMIT_LAYERS];
    locum_status status = read_delta(b, &delta);
    if (status == LOCUM_OK) status = read_recurrent(b, recurrent);
    if (status != LOCUM_OK) {
        b->plan.status = status;
        return;
    }
    struct model_attention attention = {
        .qk_norm = MODEL_QK_NORM_HEAD, .rope = model_rope(b, &p->rope, false), .gated = true};
    model_embed(b, 1);
    for (uint32_t i = 0; i < p->layers; i++) {
        if (recurrent[i]) {
            model_delta_net(b, i, &delta);
        } else {
            model_attention(b, i, attention);
        }
        feed_forward(b, i, experts);
    }
    model_head(b);
}

static void build_dense(struct model_builder *b) {
    build(b, false, false);
}
static void build_moe(struct model_builder *b) {
    build(b, true, false);
}
static void build_next(struct model_builder *b) {
    build(b, true, true);
}

const struct model_arch model_qwen35 = {"qwen35", true, build_dense};
const struct model_arch model_qwen35moe = {"qwen35moe", true, build_moe};
const struct model_arch model_qwen3next = {"qwen3next", true, build_next};
