// SPDX-License-Identifier: Apache-2.0
#include "token/token_gguf.h"

#define KEY(name) "tokenizer.ggml." name

static bool next_text(struct token_texts *texts, struct slice *text) {
    struct gguf_strings walk = {texts->rest};
    bool found = gguf_strings_next(&walk, text);
    texts->rest = walk.rest;
    return found;
}

static bool get_number(const void *values, uint64_t index, double *number) {
    return gguf_value_f64(values, index, number);
}

static locum_status read_texts(const struct gguf_meta *meta, const char *key, uint64_t most,
                               struct token_texts *out, locum_error *error) {
    const struct gguf_value *value;
    STATUS_TRY(gguf_meta_array(meta, key, GGUF_META_STRINGS, 1, most, &value, error));
    *out = (struct token_texts){value->count, gguf_value_strings(value).rest, next_text};
    return LOCUM_OK;
}

static locum_status read_numbers(const struct gguf_meta *meta, const char *key,
                                 enum gguf_meta_kind kind, uint64_t count,
                                 struct token_numbers *out, locum_error *error) {
    const struct gguf_value *value;
    *out = (struct token_numbers){0};
    if (!gguf_meta_find(meta, key)) {
        return LOCUM_OK;
    }
    STATUS_TRY(gguf_meta_array(meta, key, kind, count, count, &value, error));
    *out = (struct token_numbers){value->count, value, get_number};
    return LOCUM_OK;
}

static locum_status read_choice(const struct gguf_meta *meta, const char *key,
                                enum tokenizer_choice *out, locum_error *error) {
    bool value;
    *out = TOKENIZER_UNSAID;
    if (gguf_meta_find(meta, key)) {
        STATUS_TRY(gguf_meta_bool(meta, key, &value, error));
        *out = value ? TOKENIZER_YES : TOKENIZER_NO;
    }
    return LOCUM_OK;
}

static locum_status read_ids(const struct gguf_meta *meta, struct tokenizer_source *out,
                             locum_error *error) {
    static const char *const keys[TOKENIZER_ID_COUNT] = {
        [TOKENIZER_ID_BOS] = KEY("bos_token_id"),
        [TOKENIZER_ID_EOS] = KEY("eos_token_id"),
        [TOKENIZER_ID_EOT] = KEY("eot_token_id"),
        [TOKENIZER_ID_EOM] = KEY("eom_token_id"),
        [TOKENIZER_ID_UNKNOWN] = KEY("unknown_token_id"),
        [TOKENIZER_ID_PADDING] = KEY("padding_token_id"),
        [TOKENIZER_ID_FIM_PAD] = KEY("fim_pad_token_id"),
        [TOKENIZER_ID_FIM_REPOSITORY] = KEY("fim_rep_token_id"),
        [TOKENIZER_ID_FIM_SEPARATOR] = KEY("fim_sep_token_id"),
    };
    for (int i = 0; i < TOKENIZER_ID_COUNT; i++) {
        STATUS_TRY(
            gguf_meta_i64_or(meta, keys[i], TOKEN_NONE, INT64_MIN, INT64_MAX, &out->ids[i], error));
        // Converters write -1, also as 32 bits without a sign, for "none". Of the others a wrong
        // padding or infilling token is common and does no harm.
        bool none = out->ids[i] < 0 || out->ids[i] == UINT32_MAX;
        if (none || i >= TOKENIZER_ID_PADDING || out->ids[i] < (int64_t)out->tokens.count) continue;
        return status_fail(error, LOCUM_E_FORMAT, "%s: %s is %lld; the vocabulary has %llu tokens",
                           meta->name, keys[i], (long long)out->ids[i],
                           (unsigned long long)out->tokens.count);
    }
    return LOCUM_OK;
}

static bool contains(struct slice text, const char *lower) {
    size_t size = strlen(lower);
    for (size_t i = 0; i + size <= text.size; i++) {
        size_t same = 0;
        while (same < size && ((text.data[i + same] | 0x20) == lower[same] ||
                               text.data[i + same] == lower[same])) {
            same++;
        }
        if (same == size) {
            return true;
        }
    }
    return false;
}

locum_status token_gguf_read(const struct gguf_meta *meta, struct tokenizer_source *out,
                             locum_error *error) {
    *out = (struct tokenizer_source){.name = meta->name};
    struct slice none = {NULL, 0}, model_name;
    STATUS_TRY(gguf_meta_string_or(meta, KEY("model"), none, &out->model, error));
    if (out->model.size == 0 || slice_is(out->model, "none") || slice_is(out->model, "no_vocab")) {
        return status_fail(error, LOCUM_E_UNSUPPORTED, "%s: the file has no vocabulary (%s)",
                           meta->name, KEY("model"));
    }
    STATUS_TRY(gguf_meta_string_or(meta, KEY("pre"), none, &out->pre, error));
    STATUS_TRY(read_texts(meta, KEY("tokens"), LIMIT_VOCABULARY, &out->tokens, error));
    if (gguf_meta_find(meta, KEY("merges"))) {
        STATUS_TRY(read_texts(meta, KEY("merges"), LIMIT_MERGES, &out->merges, error));
    }
    STATUS_TRY(read_numbers(meta, KEY("scores"), GGUF_META_NUMBERS, out->tokens.count, &out->scores,
                            error));
    STATUS_TRY(read_numbers(meta, KEY("token_type"), GGUF_META_INTEGERS, out->tokens.count,
                            &out->kinds, error));
    STATUS_TRY(read_ids(meta, out, error));
    STATUS_TRY(read_choice(meta, KEY("add_bos_token"), &out->add_bos, error));
    STATUS_TRY(read_choice(meta, KEY("add_space_prefix"), &out->add_space_prefix, error));
    STATUS_TRY(gguf_meta_string_or(meta, "general.name", none, &model_name, error));
    out->strip_after_special = contains(model_name, "phi-3") || contains(model_name, "phi3");
    return LOCUM_OK;
}
