// SPDX-License-Identifier: Apache-2.0
#include "engine/engine_breakers.h"

#include <stdlib.h>

static const char *const usual[] = {"\n", ":", "\"", "*"};

struct maker {
    const struct tokenizer *tokenizer;
    struct sample_breakers *out;
    size_t room; // for sequences
    struct token_list ids;
    locum_error *error;
};

static bool holds(struct slice token, struct slice text) {
    for (size_t at = 0; at + text.size <= token.size; at++) {
        if (memcmp(token.data + at, text.data, text.size) == 0) return true;
    }
    return false;
}

static locum_status no_memory(locum_error *error) {
    return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for the sequence breakers");
}

static bool is_there(const struct sample_breakers *breakers, const struct sample_breaker *one) {
    for (size_t i = breakers->sequence_count; i-- > 0;) {
        const struct sample_breaker *other = &breakers->sequences[i];
        if (other->head != one->head) return false; // heads come in order
        if (other->tail_count == one->tail_count &&
            memcmp(other->tail, one->tail, one->tail_count * sizeof *one->tail) == 0)
            return true;
    }
    return false;
}

// The token ends with the beginning of the text: `rest` has to follow.
static locum_status add_sequence(struct maker *m, locum_token head, struct slice rest) {
    struct sample_breakers *out = m->out;
    struct sample_breaker one = {.head = head};
    m->ids.count = 0;
    STATUS_TRY(tokenizer_encode(m->tokenizer, rest, 0, &m->ids, m->error));
    for (size_t i = 0; i < m->ids.count && i < SAMPLE_BREAKER_TAIL; i++)
        one.tail[one.tail_count++] = m->ids.ids[i];
    if (one.tail_count == 0 || is_there(out, &one)) return LOCUM_OK;
    if (out->sequence_count == m->room) {
        size_t room = m->room ? 2 * m->room : 64;
        void *grown = heap_resize(out->sequences, room * sizeof one);
        if (!grown) return no_memory(m->error);
        out->sequences = grown;
        m->room = room;
    }
    out->sequences[out->sequence_count++] = one;
    return LOCUM_OK;
}

static locum_status add_token(struct maker *m, locum_token id, struct slice text) {
    struct slice token = tokenizer_token_bytes(m->tokenizer, id, true);
    if (holds(token, text)) {
        m->out->single[id / 64] |= UINT64_C(1) << id % 64;
        return LOCUM_OK;
    }
    for (size_t size = 1; size < text.size && size <= token.size; size++) {
        if (memcmp(token.data + token.size - size, text.data, size) == 0)
            STATUS_TRY(add_sequence(m, id, slice_from(text, size)));
    }
    return LOCUM_OK;
}

static locum_status check(const char *const *texts, size_t count, locum_error *error) {
    if (texts && count > ENGINE_BREAKERS)
        return status_fail(error, LOCUM_E_ARGUMENT, "dry_breakers: %zu texts; %d are possible",
                           count, ENGINE_BREAKERS);
    for (size_t i = 0; texts && i < count; i++) {
        size_t size = texts[i] ? strlen(texts[i]) : 0;
        if (size > 0 && size <= ENGINE_BREAKER_BYTES) continue;
        return status_fail(error, LOCUM_E_ARGUMENT,
                           "dry_breakers: text %zu has %zu bytes; 1 to %d are possible", i, size,
                           ENGINE_BREAKER_BYTES);
    }
    return LOCUM_OK;
}

locum_status engine_breakers_make(const struct tokenizer *tokenizer, uint32_t vocabulary,
                                  const char *const *texts, size_t count, struct arena *arena,
                                  struct sample_breakers *out, locum_error *error) {
    struct maker m = {.tokenizer = tokenizer, .out = out, .error = error};
    *out = (struct sample_breakers){
        .single = arena_array(arena, (vocabulary + 63) / 64, sizeof *out->single)};
    if (!out->single) return no_memory(error);
    memset(out->single, 0, (vocabulary + 63) / 64 * sizeof *out->single);
    STATUS_TRY(check(texts, count, error));
    if (!texts) {
        texts = usual;
        count = sizeof usual / sizeof *usual;
    }
    locum_status status = LOCUM_OK;
    uint32_t size = tokenizer_size(tokenizer);
    for (uint32_t id = 0; id < size && id < vocabulary; id++) {
        for (size_t i = 0; i < count && status == LOCUM_OK; i++)
            status = add_token(&m, (locum_token)id, slice_text(texts[i]));
    }
    token_list_release(&m.ids);
    // they were gathered where they could grow
    struct sample_breaker *gathered = out->sequences;
    size_t bytes = out->sequence_count * sizeof *gathered;
    out->sequences = NULL;
    if (status == LOCUM_OK && bytes > 0) {
        out->sequences = arena_array(arena, out->sequence_count, sizeof *gathered);
        if (out->sequences)
            memcpy(out->sequences, gathered, bytes);
        else
            status = no_memory(error);
    }
    heap_free(gathered);
    return status;
}
