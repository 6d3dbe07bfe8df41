// SPDX-License-Identifier: Apache-2.0
#include "engine/engine_describe.h"

#include "base/dtype.h"
#include "base/limits.h"
#include "model/model.h"

#include <stdio.h>
#include <string.h>

// ---- metadata -----------------------------------------------------------------------------------------
static const char *text_of(const struct gguf_meta *meta, struct arena *arena, const char *key) {
    struct slice text;
    if (gguf_meta_string_or(meta, key, slice_make(NULL, 0), &text, NULL) != LOCUM_OK ||
        text.size == 0)
        return NULL;
    return arena_copy_text(arena, text.data, text.size);
}

// A scalar, or the largest element of an array (one for each layer, 0 where a layer has none of it); 0 if
// there is no number: this is a description, errors belong to opening the model.
static uint32_t number_of(const struct gguf_meta *meta, const char *key) {
    const struct gguf_value *value = gguf_meta_find(meta, key);
    uint64_t largest = 0;
    for (uint64_t i = 0; value && i < value->count && i < LIMIT_LAYERS; i++) {
        uint64_t number;
        if (!gguf_value_u64(value, i, &number) || number > UINT32_MAX) return 0;
        if (number > largest) largest = number;
    }
    return (uint32_t)largest;
}

static const char *tokenizer_of(const struct gguf_meta *meta, struct arena *arena) {
    const char *model = text_of(meta, arena, "tokenizer.ggml.model");
    const char *pre = text_of(meta, arena, "tokenizer.ggml.pre");
    return model && pre ? arena_format(arena, "%s / %s", model, pre) : model;
}

static void read_metadata(const struct gguf_file *file, struct arena *arena, locum_file_info *out) {
    const struct gguf_meta *meta = gguf_file_meta(file);
    out->architecture = text_of(meta, arena, "general.architecture");
    out->name = text_of(meta, arena, "general.name");
    out->tokenizer = tokenizer_of(meta, arena);
    out->has_chat_template = gguf_meta_find(meta, "tokenizer.chat_template") != NULL;
    out->metadata_count = meta->count;
    uint32_t blocks = number_of(meta, ".block_count"),
             predict = number_of(meta, ".nextn_predict_layers");
    out->layers = predict < blocks ? blocks - predict : blocks;
    out->embedding = number_of(meta, ".embedding_length");
    out->context_trained = number_of(meta, ".context_length");
    out->heads = number_of(meta, ".attention.head_count");
    out->heads_kv = number_of(meta, ".attention.head_count_kv");
    if (!out->heads_kv) out->heads_kv = out->heads;
    out->head_size = number_of(meta, ".attention.key_length");
    if (!out->head_size && out->heads) out->head_size = out->embedding / out->heads;
    out->experts = number_of(meta, ".expert_count");
    out->experts_used = number_of(meta, ".expert_used_count");
    const struct gguf_value *tokens = gguf_meta_find(meta, "tokenizer.ggml.tokens");
    out->vocabulary = tokens && tokens->is_array && tokens->count <= LIMIT_VOCABULARY
                          ? (uint32_t)tokens->count
                          : number_of(meta, ".vocab_size");
}

// ---- tensors --------------------------------------------------------------------------------------------
// "blk.L.ffn_gate_exps.weight", or "blk.L.ffn_gate.E.weight" of old files.
static bool is_expert(const struct gguf_tensor *tensor, uint32_t *layer) {
    unsigned number, expert;
    char role[16], rest[8];
    if (strncmp(tensor->name, "blk.", 4) != 0 || sscanf(tensor->name, "blk.%u.", &number) != 1)
        return false;
    *layer = number;
    bool single =
        sscanf(tensor->name, "blk.%u.ffn_%15[a-z].%u.%7s", &number, role, &expert, rest) == 4;
    size_t length = strlen(tensor->name);
    bool weight = length > 12 && strcmp(tensor->name + length - 12, "_exps.weight") == 0;
    return single || (weight && strstr(tensor->name, "ffn_") != NULL);
}

struct count {
    uint64_t by_type[DTYPE_ID_MAX];      // bytes
    uint64_t sized;                      // bytes of known types
    uint64_t layer_expert[LIMIT_LAYERS]; // bytes of one expert
    bool moe[LIMIT_LAYERS];
};

// Also right where each expert is a tensor of its own: E of them, each counted to 1/E.
static void count_expert(const struct gguf_tensor *tensor, uint32_t layer, struct count *count,
                         locum_file_info *out) {
    uint64_t experts = out->experts ? out->experts : 1;
    out->expert_bytes_total += tensor->bytes;
    out->parameters_active += tensor->elements / experts * out->experts_used;
    if (layer >= LIMIT_LAYERS) return;
    count->moe[layer] = true;
    count->layer_expert[layer] += tensor->bytes / experts;
}

static void count_tensors(const struct gguf_file *file, struct count *count, locum_file_info *out) {
    bool tied = !gguf_file_find(file, "output.weight");
    for (uint64_t i = 0; i < gguf_file_tensor_count(file); i++) {
        const struct gguf_tensor *tensor = gguf_file_tensor(file, i);
        out->parameters_total += tensor->elements;
        if (tensor->type < DTYPE_ID_MAX) count->by_type[tensor->type] += tensor->bytes;
        count->sized += tensor->bytes;
        uint32_t layer;
        if (is_expert(tensor, &layer)) {
            count_expert(tensor, layer, count, out);
            continue;
        }
        out->dense_bytes += tensor->bytes;
        // Of the embedding a token needs one row, unless it is the output matrix too.
        bool row_only = !tied && strcmp(tensor->name, "token_embd.weight") == 0;
        out->parameters_active += row_only ? tensor->shape[0] : tensor->elements;
    }
    for (uint32_t i = 0; i < LIMIT_LAYERS; i++) {
        if (!count->moe[i]) continue;
        out->moe_layers++;
        if (count->layer_expert[i] > out->expert_bytes_max)
            out->expert_bytes_max = count->layer_expert[i];
        out->demand_bytes_per_token += count->layer_expert[i] * out->experts_used;
    }
}

// "Q4_K 62 %, Q6_K 24 %, F32 14 %": by bytes, largest first.
static const char *mix_of(struct count *count, struct arena *arena) {
    char text[256] = "";
    size_t used = 0;
    for (;;) {
        uint32_t best = 0;
        for (uint32_t i = 1; i < DTYPE_ID_MAX; i++) {
            if (count->by_type[i] > count->by_type[best]) best = i;
        }
        if (count->by_type[best] == 0) break;
        double percent = 100.0 * (double)count->by_type[best] / (double)count->sized;
        int written =
            snprintf(text + used, sizeof text - used, percent < 1 ? "%s%s %.1f %%" : "%s%s %.0f %%",
                     used ? ", " : "", dtype_name(best), percent);
        if (written < 0 || (size_t)written >= sizeof text - used) break;
        used += (size_t)written;
        count->by_type[best] = 0;
    }
    return used ? arena_copy_text(arena, text, used) : NULL;
}

// Whether the model can be built says whether `run` can run it, and why not.
static void judge(const struct gguf_file *file, struct arena *arena, locum_file_info *out) {
    struct arena scratch;
    struct model model;
    locum_error reason;
    arena_init(&scratch, 0);
    if (model_build(file, &scratch, &model, &reason) == LOCUM_OK) {
        out->kv_bytes_per_token = plan_kv_bytes_per_token(&model.plan, 2);
        out->unknown_tensors = model.unknown_tensors;
    } else {
        out->unsupported = arena_copy_text(arena, reason.text, strlen(reason.text));
    }
    arena_release(&scratch);
}

locum_status engine_describe(const struct gguf_file *file, struct arena *arena,
                             locum_file_info *out, locum_error *error) {
    *out = (locum_file_info){.shards = gguf_file_shard_count(file),
                             .tensors = gguf_file_tensor_count(file)};
    struct count *count = heap_resize(NULL, sizeof *count);
    if (!count) return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory to describe the file");
    memset(count, 0, sizeof *count);
    out->path = gguf_file_shard(file, 0)->path;
    out->gguf_version = gguf_file_shard(file, 0)->version;
    for (uint32_t i = 0; i < out->shards; i++)
        out->file_bytes += gguf_file_shard(file, i)->size;
    read_metadata(file, arena, out);
    count_tensors(file, count, out);
    out->quantisation = mix_of(count, arena);
    judge(file, arena, out);
    heap_free(count);
    return LOCUM_OK;
}
