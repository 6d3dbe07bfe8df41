// SPDX-License-Identifier: Apache-2.0
#include "token/detokenizer.h"

static const char replacement[] = "\xEF\xBF\xBD"; // U+FFFD

enum { REPLACEMENT_SIZE = sizeof replacement - 1 };

void detokenizer_init(struct detokenizer *detokenizer, const struct tokenizer *tokenizer,
                      uint32_t flags) {
    *detokenizer = (struct detokenizer){
        .tokenizer = tokenizer, .flags = flags, .at_start = flags & DETOKENIZER_START};
}

size_t detokenizer_bytes_max(size_t bytes) {
    // At worst every byte, and each one held back, is replaced.
    return (bytes + UTF8_SIZE_MAX) * REPLACEMENT_SIZE;
}

size_t detokenizer_push_max(const struct tokenizer *tokenizer) {
    return detokenizer_bytes_max(tokenizer_longest(tokenizer));
}

static size_t put_replacement(char *text) {
    memcpy(text, replacement, REPLACEMENT_SIZE);
    return REPLACEMENT_SIZE;
}

// Takes one byte; gives what it makes complete.
static size_t push_byte(struct detokenizer *detokenizer, char byte, char *text) {
    size_t size = 0;
    detokenizer->bytes[detokenizer->pending++] = byte;
    while (detokenizer->pending > 0) {
        struct utf8_step step = utf8_next(slice_make(detokenizer->bytes, detokenizer->pending));
        if (step.kind == UTF8_PARTIAL) {
            break;
        }
        if (step.kind == UTF8_CHARACTER) {
            memcpy(text + size, detokenizer->bytes, step.size);
            size += step.size;
        } else {
            size += put_replacement(text + size);
        }
        detokenizer->pending -= step.size;
        memmove(detokenizer->bytes, detokenizer->bytes + step.size, detokenizer->pending);
    }
    return size;
}

size_t detokenizer_push_bytes(struct detokenizer *detokenizer, struct slice bytes, char *text) {
    size_t size = 0;
    for (size_t i = 0; i < bytes.size; i++) {
        size += push_byte(detokenizer, bytes.data[i], text + size);
    }
    return size;
}

size_t detokenizer_flush(struct detokenizer *detokenizer, char *text) {
    bool held = detokenizer->pending > 0;
    detokenizer->pending = 0;
    return held ? put_replacement(text) : 0;
}

// Encoding puts its blank at the start of a text and behind every token that was cut out of it.
static bool starts_text(enum token_kind kind) {
    return kind == TOKEN_KIND_CONTROL || kind == TOKEN_KIND_USER;
}

size_t detokenizer_push(struct detokenizer *detokenizer, locum_token id, char *text) {
    const struct tokenizer *tokenizer = detokenizer->tokenizer;
    if (!tokenizer_is_valid(tokenizer, id)) {
        size_t size = detokenizer_flush(detokenizer, text);
        return size + put_replacement(text + size);
    }
    struct slice bytes =
        tokenizer_token_bytes(tokenizer, id, detokenizer->flags & DETOKENIZER_SPECIAL);
    bool starts = starts_text(tokenizer_token_kind(tokenizer, id));
    if (!starts && detokenizer->at_start && bytes.size > 0 && bytes.data[0] == ' ' &&
        tokenizer_adds_space(tokenizer)) {
        bytes = slice_from(bytes, 1);
    }
    detokenizer->at_start = starts ? (detokenizer->flags & DETOKENIZER_START) != 0 : false;
    return detokenizer_push_bytes(detokenizer, bytes, text);
}
