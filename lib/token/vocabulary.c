// SPDX-License-Identifier: Apache-2.0
#include "token/vocabulary.h"

#include <float.h>
#include <math.h>

#include "base/check.h"

static bool is_blank(struct slice bytes) {
    for (size_t i = 0; i < bytes.size; i++) {
        if (!strchr(" \t\n\r\v\f", bytes.data[i]) || bytes.data[i] == '\0') {
            return false;
        }
    }
    return bytes.size > 0;
}

struct reading {
    enum token_kind kind;
    bool plain;
    struct slice bytes; // in `space`, or the text itself
    char space[LIMIT_TOKEN_BYTES];
};

static bool is_byte_token(enum token_spelling spelling, enum token_kind kind) {
    // Some converters mark byte tokens as normal ones. In the byte alphabet "<0x0A>" can be a text.
    return kind == TOKEN_KIND_BYTE || (spelling == TOKEN_SPELLING_SPACES &&
                                       (kind == TOKEN_KIND_NORMAL || kind == TOKEN_KIND_UNDEFINED));
}

// Special tokens are spelled as they are; only tokens of ordinary text use the spelling of the
// file.
static void read_token(enum token_spelling spelling, enum token_kind kind, struct slice text,
                       struct reading *out) {
    out->kind = kind == TOKEN_KIND_BYTE ? TOKEN_KIND_NORMAL : kind; // unless it spells a byte
    out->plain = false;
    out->bytes = text;
    int byte = is_byte_token(spelling, kind) ? spelling_byte(text) : -1;
    if (byte >= 0) {
        out->kind = TOKEN_KIND_BYTE;
        out->space[0] = (char)byte;
        out->bytes = slice_make(out->space, 1);
        return;
    }
    if (kind == TOKEN_KIND_CONTROL || kind == TOKEN_KIND_UNKNOWN) {
        return;
    }
    bool is_marker = kind == TOKEN_KIND_USER;
    if (is_marker && spelling == TOKEN_SPELLING_BYTES) {
        return;
    }
    size_t size = spelling_read(spelling, text, out->space);
    if (size == SPELLING_BAD || (is_marker && !is_blank(slice_make(out->space, size)))) {
        return;
    }
    out->bytes = slice_make(out->space, size);
    // A blank marker is found before anything merges, so no merge makes it (vocabulary_is_blank).
    out->plain = size > 0 && !is_marker;
}

// Numbers of the file that are no kind of token count as undefined, like those of newer files.
static locum_status kind_of(struct token_numbers kinds, uint32_t id, enum token_kind *out,
                            locum_error *error) {
    double number = TOKEN_KIND_NORMAL;
    if (kinds.count > 0 && !kinds.get(kinds.values, id, &number)) {
        return status_fail(error, LOCUM_E_FORMAT, "token %u: its type is not a number", id);
    }
    bool known = number >= TOKEN_KIND_UNDEFINED && number <= TOKEN_KIND_BYTE;
    *out = known ? (enum token_kind)number : TOKEN_KIND_UNDEFINED;
    return LOCUM_OK;
}

typedef locum_status (*token_fn)(struct vocabulary *vocabulary, const struct reading *token,
                                 void *user, locum_error *error);

// Reads every token once, in order.
static locum_status each_token(struct vocabulary *vocabulary, struct token_texts tokens,
                               struct token_numbers kinds, token_fn function, void *user,
                               locum_error *error) {
    struct reading token;
    struct slice text;
    for (uint32_t id = 0; id < tokens.count; id++) {
        if (!tokens.next(&tokens, &text)) {
            return status_fail(error, LOCUM_E_FORMAT, "the list of tokens ends at %u", id);
        }
        if (text.size > LIMIT_TOKEN_BYTES) {
            return status_fail(error, LOCUM_E_FORMAT, "token %u has %zu bytes, more than %d", id,
                               text.size, LIMIT_TOKEN_BYTES);
        }
        enum token_kind kind = TOKEN_KIND_UNDEFINED;
        STATUS_TRY(kind_of(kinds, id, &kind, error));
        read_token(vocabulary->spelling, kind, text, &token);
        STATUS_TRY(function(vocabulary, &token, user, error));
    }
    return LOCUM_OK;
}

static locum_status count_token(struct vocabulary *vocabulary, const struct reading *token,
                                void *user, locum_error *error) {
    (void)vocabulary;
    size_t *total = user;
    *total += token->bytes.size;
    if (*total > UINT32_MAX) {
        return status_fail(error, LOCUM_E_FORMAT, "the tokens have more than 4 GiB of text");
    }
    return LOCUM_OK;
}

static locum_status append_token(struct vocabulary *vocabulary, const struct reading *token,
                                 void *user, locum_error *error) {
    (void)user;
    (void)error;
    uint32_t id = token_table_append(&vocabulary->table, token->bytes);
    vocabulary->kinds[id] = (uint8_t)(token->kind | (token->plain ? VOCABULARY_PLAIN : 0));
    if (token->bytes.size > vocabulary->longest) {
        vocabulary->longest = (uint32_t)token->bytes.size;
    }
    return LOCUM_OK;
}

static locum_status read_scores(struct vocabulary *vocabulary, struct token_numbers scores,
                                struct arena *arena, locum_error *error) {
    uint32_t count = vocabulary_size(vocabulary);
    vocabulary->scores = arena_array(arena, count, sizeof *vocabulary->scores);
    if (!vocabulary->scores) {
        return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for the scores of %u tokens",
                           count);
    }
    for (uint32_t id = 0; id < count; id++) {
        double score;
        if (!scores.get(scores.values, id, &score) || !(fabs(score) <= FLT_MAX)) {
            return status_fail(error, LOCUM_E_FORMAT, "token %u: its score is not a finite number",
                               id);
        }
        vocabulary->scores[id] = (float)score;
    }
    return LOCUM_OK;
}

locum_status vocabulary_build(enum token_spelling spelling, struct token_texts tokens,
                              struct token_numbers scores, struct token_numbers kinds,
                              struct arena *arena, struct vocabulary *out, locum_error *error) {
    *out = (struct vocabulary){.spelling = spelling};
    if (tokens.count == 0 || tokens.count > LIMIT_VOCABULARY) {
        return status_fail(error, LOCUM_E_FORMAT, "%llu tokens; expected 1 to %d",
                           (unsigned long long)tokens.count, LIMIT_VOCABULARY);
    }
    if ((scores.count > 0 && scores.count != tokens.count) ||
        (kinds.count > 0 && kinds.count != tokens.count)) {
        return status_fail(error, LOCUM_E_FORMAT,
                           "%llu tokens, but %llu scores and %llu types of tokens",
                           (unsigned long long)tokens.count, (unsigned long long)scores.count,
                           (unsigned long long)kinds.count);
    }
    uint32_t count = (uint32_t)tokens.count;
    size_t total = 0;
    STATUS_TRY(each_token(out, tokens, kinds, count_token, &total, error));
    STATUS_TRY(token_table_make(&out->table, arena, count, total, error));
    out->kinds = arena_array(arena, count, sizeof *out->kinds);
    if (!out->kinds) {
        return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for the types of %u tokens",
                           count);
    }
    STATUS_TRY(each_token(out, tokens, kinds, append_token, NULL, error));
    return scores.count > 0 ? read_scores(out, scores, arena, error) : LOCUM_OK;
}

void vocabulary_set_kind(struct vocabulary *vocabulary, locum_token id, enum token_kind kind) {
    LOCUM_ASSERT(id >= 0 && (uint32_t)id < vocabulary_size(vocabulary));
    bool stays_plain = kind == TOKEN_KIND_NORMAL && (vocabulary->kinds[id] & VOCABULARY_PLAIN);
    vocabulary->kinds[id] = (uint8_t)(kind | (stays_plain ? VOCABULARY_PLAIN : 0));
}

bool vocabulary_has_inner_blank(struct slice bytes) {
    for (size_t i = 1; i < bytes.size; i++) {
        if (bytes.data[i] == ' ' && bytes.data[i - 1] != ' ') {
            return true;
        }
    }
    return false;
}

void vocabulary_index(struct vocabulary *vocabulary) {
    vocabulary->inner_blanks = false;
    for (size_t i = 0; i < 256; i++) {
        vocabulary->byte_ids[i] = TOKEN_NONE;
    }
    for (uint32_t id = 0; id < vocabulary_size(vocabulary); id++) {
        struct slice bytes = vocabulary_bytes(vocabulary, (locum_token)id);
        bool is_plain = vocabulary->kinds[id] & VOCABULARY_PLAIN;
        bool stands_for_byte =
            vocabulary->spelling == TOKEN_SPELLING_BYTES
                ? is_plain && bytes.size == 1
                : vocabulary_kind(vocabulary, (locum_token)id) == TOKEN_KIND_BYTE;
        if (stands_for_byte) {
            vocabulary->byte_ids[(uint8_t)bytes.data[0]] = (locum_token)id;
        }
        if (is_plain) {
            token_table_index(&vocabulary->table, id);
            vocabulary->inner_blanks |= vocabulary_has_inner_blank(bytes);
            if (bytes.size > vocabulary->longest_plain) {
                vocabulary->longest_plain = (uint32_t)bytes.size;
            }
        }
    }
}

locum_token vocabulary_search(const struct vocabulary *vocabulary, struct slice bytes) {
    for (uint32_t id = 0; id < vocabulary_size(vocabulary); id++) {
        if (slice_equal(vocabulary_bytes(vocabulary, (locum_token)id), bytes)) {
            return (locum_token)id;
        }
    }
    return TOKEN_NONE;
}

bool vocabulary_is_blank(const struct vocabulary *vocabulary, locum_token id) {
    return vocabulary_kind(vocabulary, id) == TOKEN_KIND_USER &&
           is_blank(vocabulary_bytes(vocabulary, id));
}

size_t vocabulary_memory(const struct vocabulary *vocabulary) {
    size_t count = vocabulary_size(vocabulary);
    return token_table_memory(&vocabulary->table) + count * sizeof *vocabulary->kinds +
           (vocabulary->scores ? count * sizeof *vocabulary->scores : 0);
}
