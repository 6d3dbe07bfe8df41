// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the tokens of a model: the bytes that each stands for, its kind, and the way from
//            bytes to id.
// Called by: tokenizer (builds it), bpe, spm, special, detokenizer (read it).
// Threads:   read-only after vocabulary_build: any.
// Errors:    E_FORMAT naming the token; E_OUT_OF_MEMORY.
// Not here:  where the texts come from (token_gguf.h), how text is cut (bpe.h, spm.h, special.h).
//
// Tokens are kept as the raw bytes that they stand for, not in the spelling of the file: the byte
// alphabet of byte-level BPE and U+2581 for a space are undone once, here. So encoding works on the
// caller's text in place, a token's bytes are a slice, and the file's header is not needed any
// more.
#ifndef TOKEN_VOCABULARY_H
#define TOKEN_VOCABULARY_H

#include "base/arena.h"
#include "base/limits.h"
#include "base/status.h"
#include "token/spelling.h"
#include "token/token_table.h"

// Texts in order. A copy of the structure is a second walk from where the first one stands.
struct token_texts {
    uint64_t count; // 0: absent
    struct slice rest;
    bool (*next)(struct token_texts *texts, struct slice *text); // false past the end
};

// Numbers by index; get converts and is false for an element that is no number.
struct token_numbers {
    uint64_t count; // 0: absent
    const void *values;
    bool (*get)(const void *values, uint64_t index, double *number);
};

enum { TOKEN_NONE = -1 }; // no id

// Ids as in the file's tokenizer.ggml.token_type.
enum token_kind {
    TOKEN_KIND_UNDEFINED = 0,
    TOKEN_KIND_NORMAL = 1,
    TOKEN_KIND_UNKNOWN = 2,
    TOKEN_KIND_CONTROL = 3,
    TOKEN_KIND_USER = 4, // "user-defined": a marker that is also text
    TOKEN_KIND_UNUSED = 5,
    TOKEN_KIND_BYTE = 6
};

struct vocabulary {
    enum token_spelling spelling;
    struct token_table table;  // bytes of token 0 .. table.count-1
    uint8_t *kinds;            // [count] enum token_kind, and VOCABULARY_PLAIN
    float *scores;             // [count], NULL if the file has none
    uint32_t longest;          // bytes of the longest token
    uint32_t longest_plain;    // of the longest one that ordinary text can become
    bool inner_blanks;         // of a plain token: see vocabulary_has_inner_blank
    locum_token byte_ids[256]; // the token of each single byte, TOKEN_NONE where there is none
};

enum { VOCABULARY_PLAIN = 0x80 }; // flag: ordinary text can become this token

// tokens.count is at most LIMIT_VOCABULARY; scores and kinds may be absent.
locum_status vocabulary_build(enum token_spelling spelling, struct token_texts tokens,
                              struct token_numbers scores, struct token_numbers kinds,
                              struct arena *arena, struct vocabulary *out, locum_error *error);

// Another kind than the file says; only between vocabulary_build and vocabulary_index.
void vocabulary_set_kind(struct vocabulary *vocabulary, locum_token id, enum token_kind kind);
// Makes plain tokens findable. Nothing changes afterwards.
void vocabulary_index(struct vocabulary *vocabulary);

static inline uint32_t vocabulary_size(const struct vocabulary *vocabulary) {
    return vocabulary->table.count;
}
static inline enum token_kind vocabulary_kind(const struct vocabulary *vocabulary, locum_token id) {
    return (enum token_kind)(vocabulary->kinds[id] & ~VOCABULARY_PLAIN);
}
static inline struct slice vocabulary_bytes(const struct vocabulary *vocabulary, locum_token id) {
    return token_table_get(&vocabulary->table, (uint32_t)id);
}

// The token that ordinary text of exactly these bytes becomes; TOKEN_NONE. Never a control token, a
// byte token or a marker: `<s>` typed by a user is not `<s>`.
static inline locum_token vocabulary_find(const struct vocabulary *vocabulary, struct slice bytes) {
    return token_table_find(&vocabulary->table, bytes);
}

// Any token that stands for these bytes, special ones too; a linear search. TOKEN_NONE.
locum_token vocabulary_search(const struct vocabulary *vocabulary, struct slice bytes);

// A user-defined token that is white space only. Text is cut there whether or not it may hold
// special tokens: such a token means nothing but its own bytes, and the model knows runs of spaces
// by these ids only.
bool vocabulary_is_blank(const struct vocabulary *vocabulary, locum_token id);

// A space behind another character. When no symbol has one, text can be cut before every such
// space: no merge could span it, so the parts merge as the whole would.
bool vocabulary_has_inner_blank(struct slice bytes);

size_t vocabulary_memory(const struct vocabulary *vocabulary);

#endif
