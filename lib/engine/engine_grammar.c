// SPDX-License-Identifier: Apache-2.0
#include "engine/engine_grammar.h"

#include "base/check.h"

#include <string.h>

enum { TOKEN_BYTES = 72, MATCHER_BYTES_LEAST = 512 << 10 };

static const struct {
    enum grammar_kind kind;
    const char *name; // before the error of its text; NULL: it has none
} structures[] = {
    [LOCUM_STRUCTURE_GRAMMAR] = {GRAMMAR_KIND_GBNF, "grammar"},
    [LOCUM_STRUCTURE_SCHEMA] = {GRAMMAR_KIND_SCHEMA, "schema"},
    [LOCUM_STRUCTURE_OBJECT] = {GRAMMAR_KIND_OBJECT, NULL},
};

static locum_status open_program(locum_structure structure, const char *text, size_t size,
                                 const char *after, struct grammar_program **out,
                                 locum_error *error) {
    struct grammar_request request = {.kind = structures[structure].kind,
                                      .text = slice_make(text ? text : "", text ? size : 0),
                                      .after = slice_text(after ? after : "")};
    if (structures[structure].name && !text)
        return status_fail(error, LOCUM_E_ARGUMENT, "locum_request: structure_text is NULL");
    return grammar_open(&request, out, error);
}

locum_status locum_structure_check(locum_structure structure, const char *text, size_t size,
                                   locum_error *error) {
    struct grammar_program *program;
    if (structure == LOCUM_STRUCTURE_NONE) return LOCUM_OK;
    if (structure > LOCUM_STRUCTURE_OBJECT)
        return status_fail(error, LOCUM_E_ARGUMENT, "locum_structure_check: structure is %d",
                           structure);
    STATUS_TRY(open_program(structure, text, size, NULL, &program, error));
    grammar_program_free(program);
    return LOCUM_OK;
}

static void get_token(const void *user, uint32_t id, struct grammar_token *out) {
    const struct tokenizer *tokenizer = user;
    locum_token token = (locum_token)id;
    enum token_kind kind = tokenizer_token_kind(tokenizer, token);
    out->ends = tokenizer_is_end(tokenizer, token);
    if (kind == TOKEN_KIND_NORMAL || kind == TOKEN_KIND_USER || kind == TOKEN_KIND_BYTE)
        out->bytes = tokenizer_token_bytes(tokenizer, token, false);
    if (kind == TOKEN_KIND_CONTROL || kind == TOKEN_KIND_USER)
        out->name = tokenizer_token_bytes(tokenizer, token, true);
}

static void forget(struct engine_grammar *g) {
    grammar_matcher_free(g->matcher);
    grammar_program_free(g->program);
    g->matcher = NULL;
    g->program = NULL;
    buffer_release(&g->key);
}

void engine_grammar_release(struct engine_grammar *g) {
    forget(g);
    grammar_vocabulary_free(g->vocabulary);
    heap_free(g->allowed);
    *g = (struct engine_grammar){0};
}

// The tokens in order take some 40 bytes each, half as much again while they are sorted. States and masks
// get an eighth of what is left, within bounds; they may be twice that within a token.
static locum_status take_memory(struct engine_grammar *g, uint32_t tokens, struct engine_size *size,
                                locum_error *error) {
    uint64_t each = engine_size_spare(size) / 8;
    if (each > GRAMMAR_MATCHER_BYTES) each = GRAMMAR_MATCHER_BYTES;
    if (each < MATCHER_BYTES_LEAST) each = MATCHER_BYTES_LEAST;
    STATUS_TRY(engine_size_take(size, (uint64_t)tokens * TOKEN_BYTES + 2 * each,
                                "an answer that is held to a structure", error));
    g->matcher_bytes = (size_t)each;
    return LOCUM_OK;
}

static locum_status prepare(struct engine_grammar *g, const struct tokenizer *tokenizer,
                             uint32_t logits, struct engine_size *size, locum_error *error) {
    if (g->matcher_bytes == 0)
        STATUS_TRY(take_memory(g, tokenizer_size(tokenizer), size, error));
    if (!g->vocabulary) {
        struct grammar_source source = {
            .size = tokenizer_size(tokenizer), .get = get_token, .user = tokenizer};
        STATUS_TRY(grammar_vocabulary_create(&source, &g->vocabulary, error));
    }
    g->words = (logits + 63) / 64;
    if (!g->allowed) {
        g->allowed = heap_resize(NULL, g->words * sizeof *g->allowed);
        if (g->allowed) memset(g->allowed, 0, g->words * sizeof *g->allowed);
    }
    return g->allowed ? LOCUM_OK
                      : status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for a mask of tokens");
}

// Texts have no byte 0 but at their end, or are told apart by what is before it.
static void write_key(const locum_request *request, struct buffer *key) {
    buffer_format(key, "%d %zu ", (int)request->structure, request->structure_size);
    if (request->structure_text)
        buffer_append(key, request->structure_text, request->structure_size);
    if (request->structure_after) buffer_append_text(key, request->structure_after);
}

locum_status engine_grammar_begin(struct engine_grammar *g, const struct tokenizer *tokenizer,
                                  const locum_request *request, uint32_t logits,
                                  struct engine_size *size, locum_error *error) {
    if (!tokenizer)
        return status_fail(error, LOCUM_E_UNSUPPORTED,
                           "the model has no tokenizer: its answers cannot be held to a structure");
    if (request->ignore_end)
        return status_fail(error, LOCUM_E_ARGUMENT,
                           "locum_request: ignore_end and a structure exclude each other");
    struct buffer key = {0};
    write_key(request, &key);
    bool same = g->matcher && !key.failed && slice_equal(buffer_slice(&key), buffer_slice(&g->key));
    if (same && g->matcher->machine->status == LOCUM_OK) {
        buffer_release(&key);
        grammar_matcher_reset(g->matcher);
        return LOCUM_OK;
    }
    forget(g);
    g->key = key;
    STATUS_TRY(prepare(g, tokenizer, logits, size, error));
    STATUS_TRY(open_program(request->structure, request->structure_text, request->structure_size,
                            request->structure_after, &g->program, error));
    return grammar_matcher_create(g->program, g->vocabulary, g->matcher_bytes, &g->matcher,
                                  error);
}

locum_status engine_grammar_allow(struct engine_grammar *g, const uint64_t **allowed,
                                  locum_error *error) {
    const uint64_t *mask;
    uint32_t shared = g->words < g->vocabulary->mask_words ? g->words : g->vocabulary->mask_words;
    STATUS_TRY(grammar_matcher_mask(g->matcher, &mask, error));
    memcpy(g->allowed, mask, shared * sizeof *mask);
    *allowed = g->allowed;
    return LOCUM_OK;
}

void engine_grammar_take(struct engine_grammar *g, locum_token token) {
    bool ends = (g->vocabulary->ends[token / 64] >> (token % 64)) & 1;
    bool taken = ends || grammar_matcher_take(g->matcher, (uint32_t)token);
    LOCUM_ASSERT(taken || g->matcher->machine->status != LOCUM_OK);
}

bool engine_grammar_is_done(const struct engine_grammar *g) {
    return grammar_matcher_must_end(g->matcher);
}
