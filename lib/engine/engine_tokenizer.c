// SPDX-License-Identifier: Apache-2.0
#include "engine/engine_tokenizer.h"

#include "engine/engine_file.h"
#include "engine/engine_options.h"
#include "token/token_gguf.h"

locum_status engine_tokenizer_read(const struct gguf_meta *meta, struct arena *arena,
                                   const struct tokenizer **out, locum_error *error) {
    struct tokenizer_source source;
    STATUS_TRY(token_gguf_read(meta, &source, error));
    return tokenizer_open(&source, arena, out, error);
}

void engine_tokenizer_notice(const struct tokenizer *tokenizer, const struct log_sink *log) {
    const char *notice = tokenizer_notice(tokenizer);
    if (notice) log_write(log, LOCUM_LOG_WARN, "%s", notice);
}

locum_status locum_tokenizer_open(const locum_file *file, const locum_options *options,
                                  locum_tokenizer **out, locum_error *error) {
    if (!file || !out)
        return status_fail(error, LOCUM_E_ARGUMENT, "locum_tokenizer_open: file or out is NULL");
    *out = NULL;
    locum_options ours;
    STATUS_TRY(engine_options_of(options, &ours, error));
    struct locum_tokenizer *tokenizer = heap_resize(NULL, sizeof *tokenizer);
    if (!tokenizer) return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for the tokenizer");
    *tokenizer = (struct locum_tokenizer){.log = {ours.log, ours.user}, .progress = ours.progress};
    arena_init(&tokenizer->arena, 0);
    locum_status status = engine_tokenizer_read(gguf_file_meta(file->gguf), &tokenizer->arena,
                                                &tokenizer->tokenizer, error);
    if (status != LOCUM_OK) {
        locum_tokenizer_close(tokenizer);
        return status;
    }
    tokenizer->bytes = tokenizer->arena.bytes;
    engine_tokenizer_notice(tokenizer->tokenizer, &tokenizer->log);
    *out = tokenizer;
    return LOCUM_OK;
}

void locum_tokenizer_close(locum_tokenizer *tokenizer) {
    if (!tokenizer) return;
    arena_release(&tokenizer->arena);
    heap_free(tokenizer);
}

// Told with the ids, not already when a host only asks how many there will be.
static void tell_replaced(const struct locum_tokenizer *tokenizer, uint64_t places) {
    log_write(&tokenizer->log, LOCUM_LOG_WARN,
              "the vocabulary cannot say %llu place%s of the text: the model sees %s there",
              (unsigned long long)places, places == 1 ? "" : "s",
              tokenizer_id(tokenizer->tokenizer, TOKENIZER_ID_UNKNOWN) == TOKEN_NONE
                  ? "U+FFFD"
                  : "its unknown token");
}

struct host {
    locum_progress_fn progress;
    void *user;
};

static bool on_progress(void *user, size_t done, size_t total) {
    const struct host *host = user;
    return host->progress && host->progress(host->user, LOCUM_PHASE_TOKENIZE, done, total);
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
    struct host host = {tokenizer->progress, tokenizer->log.user};
    struct tokenizer_watch watch = {on_progress, &host};
    locum_status status = tokenizer_encode_watched(tokenizer->tokenizer, slice_make(text, size),
                                                   flags, &watch, &list, error);
    if (status == LOCUM_OK) {
        *count = list.count;
        size_t copied = list.count < max ? list.count : max;
        if (copied) memcpy(ids, list.ids, copied * sizeof *ids);
        if (list.replaced > 0 && max >= list.count) tell_replaced(tokenizer, list.replaced);
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
