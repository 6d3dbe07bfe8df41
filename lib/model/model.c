// SPDX-License-Identifier: Apache-2.0
#include "model/model.h"

#include "base/limits.h"
#include "model/model_arch.h"
#include "model/model_builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The registry: one row per architecture, defined in its own file. In alphabetical order.
static const struct model_arch *const archs[] = {
    &model_bailingmoe2,  &model_deepseek2,    &model_dots1,        &model_ernie4_5_moe,
    &model_gemma3,       &model_gemma4,       &model_glm4moe,      &model_gpt_oss,
    &model_granitemoe,   &model_hunyuan_moe,  &model_lfm2moe,      &model_llama,
    &model_llama4,       &model_minimax_m2,   &model_olmoe,        &model_qwen2moe,
    &model_qwen3,        &model_qwen35,       &model_qwen35moe,    &model_qwen3moe,
    &model_qwen3next,    &model_qwen3vlmoe,
};
enum { ARCH_COUNT = sizeof archs / sizeof *archs };

const char *model_arch_name(uint32_t index) {
    return index < ARCH_COUNT ? archs[index]->name : NULL;
}

static locum_status find_arch(const struct gguf_meta *meta, const struct model_arch **out,
                              locum_error *error) {
    struct slice name;
    STATUS_TRY(gguf_meta_string(meta, "general.architecture", &name, error));
    char known[384];
    size_t used = 0;
    for (uint32_t i = 0; i < ARCH_COUNT; i++) {
        if (slice_is(name, archs[i]->name)) {
            *out = archs[i];
            return LOCUM_OK;
        }
        int written =
            snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", archs[i]->name);
        if (written > 0 && (size_t)written < sizeof known - used) used += (size_t)written;
    }
    return status_fail(error, LOCUM_E_UNSUPPORTED,
                       "%s: the architecture '%.*s' is not supported; supported are %s", meta->name,
                       (int)(name.size < 64 ? name.size : 64), name.data, known);
}

// The number of token ids: rows of the embedding, which must agree with the vocabulary if there is one.
static locum_status read_vocabulary(const struct gguf_file *file, uint32_t *out,
                                    locum_error *error) {
    const struct gguf_meta *meta = gguf_file_meta(file);
    const struct gguf_tensor *embedding = gguf_file_find(file, "token_embd.weight");
    if (!embedding) {
        if (gguf_file_tensor_count(file) == 0) {
            return status_fail(
                error, LOCUM_E_UNSUPPORTED,
                "%s: holds a vocabulary and no tensors; it can be used to tokenize only",
                meta->name);
        }
        return status_fail(error, LOCUM_E_FORMAT, "%s: tensor 'token_embd.weight' is missing",
                           meta->name);
    }
    uint64_t rows = embedding->shape[1];
    if (rows < 1 || rows > LIMIT_VOCABULARY) {
        return status_fail(error, LOCUM_E_FORMAT,
                           "%s: tensor 'token_embd.weight' has %llu rows; 1 to %d are possible",
                           meta->name, (unsigned long long)rows, LIMIT_VOCABULARY);
    }
    const struct gguf_value *tokens = gguf_meta_find(meta, "tokenizer.ggml.tokens");
    if (tokens && tokens->is_array && tokens->count != rows) {
        return status_fail(error, LOCUM_E_FORMAT,
                           "%s: tokenizer.ggml.tokens has %llu entries, but tensor "
                           "'token_embd.weight' has %llu rows",
                           meta->name, (unsigned long long)tokens->count, (unsigned long long)rows);
    }
    *out = (uint32_t)rows;
    return LOCUM_OK;
}

// Whether the tensor belongs to a prediction block (behind the layers of the main pass), which is left out.
static bool predicts(const struct model_builder *b, const char *name) {
    static const char prefix[] = "blk.";
    if (strncmp(name, prefix, sizeof prefix - 1) != 0) return false;
    char *end;
    unsigned long block = strtoul(name + sizeof prefix - 1, &end, 10);
    return *end == '.' && end != name + sizeof prefix - 1 && block >= b->params->layers;
}

// An unknown extra tensor is harmless (and counted); an unknown scale is not: the file expects its product.
static locum_status count_unknown(const struct model_builder *b, uint64_t *unknown,
                                  locum_error *error) {
    *unknown = 0;
    uint64_t count = gguf_file_tensor_count(b->file);
    for (uint64_t i = 0; i < count; i++) {
        if (b->used[i]) continue;
        const char *name = gguf_file_tensor(b->file, i)->name;
        if (predicts(b, name)) continue;
        size_t length = strlen(name);
        if (length > 6 && strcmp(name + length - 6, ".scale") == 0) {
            return status_fail(
                error, LOCUM_E_UNSUPPORTED,
                "%s: tensor '%s' scales another one, which is not supported for this architecture",
                b->meta->name, name);
        }
        ++*unknown;
    }
    return LOCUM_OK;
}

locum_status model_build(const struct gguf_file *file, struct arena *arena, struct model *out,
                         locum_error *error) {
    *out = (struct model){0};
    struct model_builder b = {.file = file, .meta = gguf_file_meta(file), .params = &out->params};
    const struct model_arch *arch = NULL;
    STATUS_TRY(find_arch(b.meta, &arch, error));
    out->architecture = arch->name;
    uint32_t vocabulary = 0;
    STATUS_TRY(read_vocabulary(file, &vocabulary, error));
    STATUS_TRY(model_params_read(b.meta, arena, &out->params, error));
    b.used = arena_array(arena, gguf_file_tensor_count(file), sizeof *b.used);
    if (!b.used) return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for the plan");
    plan_builder_init(&b.plan, arena, error);
    b.plan.plan.layers = out->params.layers;
    b.plan.plan.embedding = out->params.embedding;
    b.plan.plan.vocabulary = vocabulary;
    b.neox = arch->neox;
    b.residual_scale = b.logit_scale = 1;
    b.output_norm = "output_norm";
    b.x = plan_add_buffer(&b.plan, "x", out->params.embedding, false);
    b.n = plan_add_buffer(&b.plan, "n", out->params.embedding, false);
    b.t = plan_add_buffer(&b.plan, "t", out->params.embedding, false);
    arch->build(&b);
    STATUS_TRY(plan_finish(&b.plan, b.plan.plan.logits, &out->plan));
    return count_unknown(&b, &out->unknown_tensors, error);
}
