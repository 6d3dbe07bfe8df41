// SPDX-License-Identifier: Apache-2.0
#include "engine/engine_tokenizer.h"

#include "engine/engine_file.h"
#include "token/token_gguf.h"

locum_status locum_tokenizer_open(const locum_file *file, locum_tokenizer **out,
                                  locum_error *error) {
    if (!file || !out)
        return status_fail(error, LOCUM_E_ARGUMENT, "locum_tokenizer_open: file or out is NULL");
    *out = NULL;
    struct locum_tokenizer *tokenizer = heap_resize(NULL, sizeof *tokenizer);
    if (!tokenizer) return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for the tokenizer");
    *tokenizer = (struct locum_tokenizer){0};
    arena_init(&tokenizer->arena, 0);
    struct tokenizer_source source;
    locum_status status = token_gguf_read(gguf_file_meta(file->gguf), &source, error);
    if (status == LOCUM_OK)
        status = tokenizer_open(&source, &tokenizer->arena, &tokenizer->tokenizer, error);
    if (status != LOCUM_OK) {
        locum_tokenizer_close(tokenizer);
        return status;
    }
    *out = tokenizer;
    return LOCUM_OK;
}

void locum_tokenizer_close(locum_tokenizer *tokenizer) {
    if (!tokenizer) return;
    arena_release(&tokenizer->arena);
    heap_free(tokenizer);
}

locum_status locum_tokenize(const locum_tokenizer *tokenizer, const char *text, size_t size,
                            uint32_t flags, locum_token *ids, size_t max, size_t *count,
                            locum_error *error) {
    if (!tokenizer || !count || (!text && size) || (!ids && max)) {
        return status_fail(error, LOCUM_E_ARGUMENT, "locum_tokenize: an argument is NULL");
    }
    if (flags & ~(uint32_t)(LOCUM_TOKENIZE_SPECIAL | LOCUM_TOKENIZE_BOS)) {
        return status_fail(error, LOCUM_E_ARGUMENT, "locum_tokenize: unknown flags %#x", flags);
    }
    struct token_list list = {0};
    locum_status status =
        tokenizer_encode(tokenizer->tokenizer, slice_make(text, size), flags, &list, error);
    if (status == LOCUM_OK) {
        *count = list.count;
        size_t copied = list.count < max ? list.count : max;
        if (copied) memcpy(ids, list.ids, copied * sizeof *ids);
    }
    token_list_release(&list);
    return status;
}

size_t locum_token_bytes(const locum_tokenizer *tokenizer, locum_token id, bool special,
                         const char **bytes) {
    if (!tokenizer_is_valid(tokenizer->tokenizer, id)) return 0;
    struct slice text = tokenizer_token_bytes(tokenizer->tokenizer, id, special);
    *bytes = text.data;
    return text.size;
}

uint32_t locum_tokenizer_size(const locum_tokenizer *tokenizer) {
    return tokenizer_size(tokenizer->tokenizer);
}

bool locum_token_ends_answer(const locum_tokenizer *tokenizer, locum_token id) {
    return tokenizer_is_valid(tokenizer->tokenizer, id) &&
           tokenizer_is_end(tokenizer->tokenizer, id);
}
