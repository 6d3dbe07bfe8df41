// SPDX-License-Identifier: Apache-2.0
#include "model/model_params.h"

#include "base/limits.h"

#include <float.h>

static locum_status no_memory(locum_error *error) {
    return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for the hyper-parameters");
}

static locum_status read_sizes(const struct gguf_meta *meta, struct model_params *p,
                               locum_error *error) {
    uint32_t blocks, predict;
    STATUS_TRY(gguf_meta_u32(meta, ".block_count", 1, LIMIT_LAYERS, &blocks, error));
    STATUS_TRY(gguf_meta_u32_or(meta, ".nextn_predict_layers", 0, 0, blocks - 1, &predict, error));
    p->layers = blocks - predict;
    STATUS_TRY(gguf_meta_u32(meta, ".embedding_length", 1, LIMIT_EMBEDDING, &p->embedding, error));
    STATUS_TRY(gguf_meta_u32(meta, ".context_length", 1, LIMIT_CONTEXT, &p->context, error));
    return gguf_meta_f32(meta, ".attention.layer_norm_rms_epsilon", FLT_MIN, 1, &p->eps, error);
}

// Per-layer arrays count all blocks of the file, so they are read for all and the tail is ignored.
static locum_status read_layers(const struct gguf_meta *meta, struct arena *arena,
                                struct model_params *p, locum_error *error) {
    uint32_t blocks;
    STATUS_TRY(gguf_meta_u32(meta, ".block_count", 1, LIMIT_LAYERS, &blocks, error));
    p->heads = arena_array(arena, blocks, sizeof *p->heads);
    p->heads_kv = arena_array(arena, blocks, sizeof *p->heads_kv);
    p->ff = arena_array(arena, blocks, sizeof *p->ff);
    if (!p->heads || !p->heads_kv || !p->ff) return no_memory(error);
    STATUS_TRY(
        gguf_meta_u32_each(meta, ".attention.head_count", 1, LIMIT_HEADS, blocks, p->heads, error));
    if (gguf_meta_find(meta, ".attention.head_count_kv")) {
        STATUS_TRY(gguf_meta_u32_each(meta, ".attention.head_count_kv", 0, LIMIT_HEADS, blocks,
                                      p->heads_kv, error));
    } else {
        for (uint32_t i = 0; i < blocks; i++)
            p->heads_kv[i] = p->heads[i];
    }
    for (uint32_t i = 0; i < blocks; i++) {
        // 0: a layer without attention; a family that has none says so when it needs them
        if (p->heads_kv[i] == 0 || p->heads[i] % p->heads_kv[i] == 0) continue;
        return status_fail(
            error, LOCUM_E_FORMAT,
            "%s: %s.attention.head_count (%u) of layer %u is no multiple of head_count_kv (%u)",
            meta->name, meta->architecture, p->heads[i], i, p->heads_kv[i]);
    }
    return gguf_meta_u32_each_or(meta, ".feed_forward_length", 0, 0, LIMIT_VOCABULARY, blocks,
                                 p->ff, error);
}

static locum_status read_heads(const struct gguf_meta *meta, struct model_params *p,
                               locum_error *error) {
    uint32_t usual = p->embedding / p->heads[0];
    STATUS_TRY(gguf_meta_u32_or(meta, ".attention.key_length", usual, 8, LIMIT_HEAD_SIZE,
                                &p->head_size_k, error));
    STATUS_TRY(gguf_meta_u32_or(meta, ".attention.value_length", usual, 8, LIMIT_HEAD_SIZE,
                                &p->head_size_v, error));
    if (p->head_size_k < 8 || p->head_size_k > LIMIT_HEAD_SIZE || p->head_size_k % 8 ||
        p->head_size_v < 8 || p->head_size_v > LIMIT_HEAD_SIZE || p->head_size_v % 8) {
        return status_fail(
            error, LOCUM_E_UNSUPPORTED,
            "%s: heads of %u (keys) and %u (values) are not supported: multiples of 8 up to %d are",
            meta->name, p->head_size_k, p->head_size_v, LIMIT_HEAD_SIZE);
    }
    STATUS_TRY(gguf_meta_u32_or(meta, ".attention.sliding_window", 0, 0, LIMIT_CONTEXT, &p->window,
                                error));
    STATUS_TRY(gguf_meta_f32_or(meta, ".attn_logit_softcapping", 0, 0, FLT_MAX,
                                &p->softcap_attention, error));
    return gguf_meta_f32_or(meta, ".final_logit_softcapping", 0, 0, FLT_MAX, &p->softcap_logits,
                            error);
}

static locum_status read_experts(const struct gguf_meta *meta, struct model_params *p,
                                 locum_error *error) {
    STATUS_TRY(gguf_meta_u32_or(meta, ".expert_count", 0, 0, LIMIT_EXPERTS, &p->experts, error));
    STATUS_TRY(gguf_meta_u32_or(meta, ".expert_shared_feed_forward_length", 0, 1, LIMIT_EMBEDDING,
                                &p->shared_ff, error));
    STATUS_TRY(gguf_meta_u32_or(meta, ".expert_shared_count", 0, 0, LIMIT_EXPERTS,
                                &p->shared_experts, error));
    STATUS_TRY(gguf_meta_u32_or(meta, ".leading_dense_block_count", 0, 0, LIMIT_LAYERS,
                                &p->dense_layers, error));
    if (p->experts == 0) return LOCUM_OK;
    uint32_t most = p->experts < LIMIT_EXPERTS_USED ? p->experts : LIMIT_EXPERTS_USED;
    STATUS_TRY(gguf_meta_u32(meta, ".expert_used_count", 1, most, &p->experts_used, error));
    return gguf_meta_u32_or(meta, ".expert_feed_forward_length", 0, 1, LIMIT_EMBEDDING,
                            &p->expert_ff, error);
}

static locum_status rope_type(const struct gguf_meta *meta, struct kernels_rope *rope,
                              locum_error *error) {
    struct slice type;
    STATUS_TRY(gguf_meta_string_or(meta, ".rope.scaling.type", slice_text("linear"), &type, error));
    static const struct {
        const char *name;
        enum kernels_rope_scaling scaling;
    } types[] = {
        {"none", KERNELS_ROPE_NONE}, {"linear", KERNELS_ROPE_LINEAR}, {"yarn", KERNELS_ROPE_YARN}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (!slice_is(type, types[i].name)) continue;
        rope->scaling = types[i].scaling;
        return LOCUM_OK;
    }
    return status_fail(error, LOCUM_E_UNSUPPORTED,
                       "%s: %s.rope.scaling.type is '%.*s'; supported are none, linear and yarn",
                       meta->name, meta->architecture, (int)(type.size < 40 ? type.size : 40),
                       type.data);
}

// YaRN: Peng et al., 2023. A factor without a type is linear, as the first files had it.
static locum_status read_rope(const struct gguf_meta *meta, struct model_params *p,
                              locum_error *error) {
    struct kernels_rope *rope = &p->rope;
    float value;
    uint32_t pairs_limit = p->head_size_k;
    STATUS_TRY(gguf_meta_u32_or(meta, ".rope.dimension_count", p->head_size_k, 2, pairs_limit,
                                &rope->n_rot, error));
    if (rope->n_rot % 2) {
        return status_fail(error, LOCUM_E_FORMAT,
                           "%s: %s.rope.dimension_count is %u; an even number is expected",
                           meta->name, meta->architecture, rope->n_rot);
    }
    STATUS_TRY(gguf_meta_f32_or(meta, ".rope.freq_base", 10000, 1e-3f, 1e15f, &value, error));
    rope->base = value;
    STATUS_TRY(rope_type(meta, rope, error));
    const char *factor = gguf_meta_find(meta, ".rope.scaling.factor") ? ".rope.scaling.factor"
                                                                      : ".rope.scale_linear";
    STATUS_TRY(gguf_meta_f32_or(meta, factor, 1, 0, 1e6f, &value, error));
    rope->factor = value > 0 ? value : 1; // 0 stands for "none" in old files
    if (rope->scaling == KERNELS_ROPE_LINEAR && rope->factor == 1)
        rope->scaling = KERNELS_ROPE_NONE;
    if (rope->scaling == KERNELS_ROPE_NONE) rope->factor = 1;
    STATUS_TRY(gguf_meta_f32_or(meta, ".rope.scaling.attn_factor", 1, 1e-6f, 1e6f, &value, error));
    rope->attn_factor = value;
    STATUS_TRY(gguf_meta_f32_or(meta, ".rope.scaling.yarn_ext_factor", 1, 0, 1e6f, &value, error));
    rope->ext_factor = value;
    STATUS_TRY(
        gguf_meta_f32_or(meta, ".rope.scaling.yarn_beta_fast", 32, 1e-3f, 1e6f, &value, error));
    rope->beta_fast = value;
    STATUS_TRY(
        gguf_meta_f32_or(meta, ".rope.scaling.yarn_beta_slow", 1, 1e-3f, 1e6f, &value, error));
    rope->beta_slow = value;
    return gguf_meta_u32_or(meta, ".rope.scaling.original_context_length", p->context, 1,
                            LIMIT_CONTEXT, &rope->context_original, error);
}

locum_status model_params_read(const struct gguf_meta *meta, struct arena *arena,
                               struct model_params *out, locum_error *error) {
    *out = (struct model_params){0};
    STATUS_TRY(read_sizes(meta, out, error));
    STATUS_TRY(read_layers(meta, arena, out, error));
    STATUS_TRY(read_heads(meta, out, error));
    STATUS_TRY(read_experts(meta, out, error));
    return read_rope(meta, out, error);
}
