// SPDX-License-Identifier: Apache-2.0
//
// Small vocabularies made by hand, for the tests of this folder.
#ifndef TOKEN_FIXTURE_H
#define TOKEN_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "token/tokenizer.h"

enum { FIXTURE_TOKENS = 1024, FIXTURE_TEXT = 8192 };

struct fixture {
    struct slice texts[FIXTURE_TOKENS], merges[FIXTURE_TOKENS];
    double kinds[FIXTURE_TOKENS], scores[FIXTURE_TOKENS];
    size_t count, merge_count;
    char pool[1 << 16];
    size_t used;
    struct tokenizer_source source;
    struct arena arena;
    const struct tokenizer *tokenizer;
    locum_error error;
    char shown[FIXTURE_TEXT];
};

static inline struct slice fixture_keep(struct fixture *f, const char *text, size_t size) {
    assert_true(f->used + size <= sizeof f->pool);
    char *at = f->pool + f->used;
    memcpy(at, text, size);
    f->used += size;
    return slice_make(at, size);
}

// Gives the id.
static inline locum_token fixture_add(struct fixture *f, const char *text, enum token_kind kind,
                                      double score) {
    assert_true(f->count < FIXTURE_TOKENS);
    f->texts[f->count] = fixture_keep(f, text, strlen(text));
    f->kinds[f->count] = kind;
    f->scores[f->count] = score;
    return (locum_token)f->count++;
}

static inline void fixture_merge(struct fixture *f, const char *text) {
    assert_true(f->merge_count < FIXTURE_TOKENS);
    f->merges[f->merge_count++] = fixture_keep(f, text, strlen(text));
}

// A merge "left right", and the token that it makes.
static inline locum_token fixture_pair(struct fixture *f, const char *left, const char *right) {
    char text[256];
    snprintf(text, sizeof text, "%s %s", left, right);
    fixture_merge(f, text);
    snprintf(text, sizeof text, "%s%s", left, right);
    return fixture_add(f, text, TOKEN_KIND_NORMAL, 0);
}

// How byte-level BPE writes a byte, from its definition: the bytes that print in Latin-1 as they
// are, the others in order from U+0100. Terminated, in out.
static inline const char *fixture_byte(int byte, char out[4]) {
    unsigned code = (unsigned)byte, others = 0;
    for (int b = 0; b <= byte; b++) {
        bool prints = (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || (b >= 174 && b <= 255);
        code = prints ? (unsigned)b : 256 + others++;
    }
    if (code < 0x80) {
        out[0] = (char)code;
        out[1] = '\0';
    } else {
        out[0] = (char)(0xC0 | code >> 6);
        out[1] = (char)(0x80 | (code & 63));
        out[2] = '\0';
    }
    return out;
}

// Ids 0 to 255: every byte.
static inline void fixture_add_bytes(struct fixture *f) {
    char text[4];
    for (int byte = 0; byte < 256; byte++) {
        fixture_add(f, fixture_byte(byte, text), TOKEN_KIND_NORMAL, 0);
    }
}

// Ids 0 to 2: <unk> <s> </s>; 3 to 258: <0x00> to <0xFF>.
static inline void fixture_add_spm(struct fixture *f) {
    fixture_add(f, "<unk>", TOKEN_KIND_UNKNOWN, 0);
    fixture_add(f, "<s>", TOKEN_KIND_CONTROL, 0);
    fixture_add(f, "</s>", TOKEN_KIND_CONTROL, 0);
    for (int byte = 0; byte < 256; byte++) {
        char text[8];
        snprintf(text, sizeof text, "<0x%02X>", (unsigned)byte);
        fixture_add(f, text, TOKEN_KIND_BYTE, 0);
    }
}

static bool fixture_next(struct token_texts *texts, struct slice *text) {
    if (texts->rest.size == 0) {
        return false;
    }
    memcpy(text, texts->rest.data, sizeof *text);
    texts->rest = slice_from(texts->rest, sizeof *text);
    return true;
}

static bool fixture_number(const void *values, uint64_t index, double *number) {
    *number = ((const double *)values)[index];
    return true;
}

static inline struct token_texts fixture_texts(const struct slice *texts, size_t count) {
    return (struct token_texts){count, {(const char *)texts, count * sizeof *texts}, fixture_next};
}

static inline struct fixture *fixture_new(void) {
    struct fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    arena_init(&f->arena, 0);
    f->source.name = "fixture.gguf";
    for (int i = 0; i < TOKENIZER_ID_COUNT; i++) {
        f->source.ids[i] = TOKEN_NONE;
    }
    f->source.add_bos = f->source.add_space_prefix = TOKENIZER_UNSAID;
    return f;
}

static inline locum_status fixture_try(struct fixture *f, const char *model, const char *pre) {
    f->source.model = slice_text(model);
    f->source.pre = slice_text(pre);
    f->source.tokens = fixture_texts(f->texts, f->count);
    f->source.merges = fixture_texts(f->merges, f->merge_count);
    f->source.kinds = (struct token_numbers){f->count, f->kinds, fixture_number};
    f->source.scores = (struct token_numbers){f->count, f->scores, fixture_number};
    return tokenizer_open(&f->source, &f->arena, &f->tokenizer, &f->error);
}

static inline void fixture_open(struct fixture *f, const char *model, const char *pre) {
    if (fixture_try(f, model, pre) != LOCUM_OK) {
        fail_msg("%s", f->error.text);
    }
}

static inline void fixture_free(struct fixture *f) {
    arena_release(&f->arena);
    free(f);
}

// The tokens as text, with a bar between them; special tokens in double brackets.
static inline const char *fixture_show(struct fixture *f, const struct token_list *ids) {
    size_t size = 0;
    for (size_t i = 0; i < ids->count; i++) {
        struct slice bytes = tokenizer_token_bytes(f->tokenizer, ids->ids[i], true);
        enum token_kind kind = tokenizer_token_kind(f->tokenizer, ids->ids[i]);
        bool special =
            kind == TOKEN_KIND_CONTROL || kind == TOKEN_KIND_USER || kind == TOKEN_KIND_UNKNOWN;
        size +=
            (size_t)snprintf(f->shown + size, sizeof f->shown - size, "%s%s%.*s%s", i ? "|" : "",
                             special ? "[[" : "", (int)bytes.size, bytes.data, special ? "]]" : "");
        assert_true(size < sizeof f->shown);
    }
    f->shown[size] = '\0';
    return f->shown;
}

static inline const char *fixture_encode(struct fixture *f, const char *text, uint32_t flags) {
    struct token_list ids = {0};
    if (tokenizer_encode(f->tokenizer, slice_text(text), flags, &ids, &f->error) != LOCUM_OK) {
        fail_msg("%s", f->error.text);
    }
    const char *shown = fixture_show(f, &ids);
    token_list_release(&ids);
    return shown;
}

#endif
