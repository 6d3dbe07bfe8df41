// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the tokens of a model in the order of their bytes, for walking all of them at once.
// Called by: grammar_matcher; made by the engine, once for a model.
// Threads:   read-only after grammar_vocabulary_create: any.
// Errors:    E_OUT_OF_MEMORY.
// Not here:  tokenizing (token), which tokens a state takes (grammar_matcher).
//
// A control token has no bytes that text could have. A grammar names it as the byte FF, its name, and
// the byte FE: neither occurs in UTF-8, so no class of characters takes one by accident.
#ifndef GRAMMAR_VOCABULARY_H
#define GRAMMAR_VOCABULARY_H

#include "base/slice.h"
#include "base/status.h"

enum { GRAMMAR_NAME_BEGIN = 0xFF, GRAMMAR_NAME_END = 0xFE };

// What the maker tells of a token. A marker may have both: text, and a name of its own.
struct grammar_token {
    struct slice bytes; // empty: no text becomes it
    struct slice name;  // empty: a grammar cannot name it
    bool ends;          // ends an answer: allowed where the grammar can end, and nowhere else
};

struct grammar_source {
    uint32_t size; // tokens
    void (*get)(const void *user, uint32_t id, struct grammar_token *out);
    const void *user;
};

// A node of a tree of bytes, in the order of a walk. Tokens of the same bytes are nodes beside each
// other.
struct grammar_node {
    uint32_t end;   // where its subtree ends
    uint32_t token; // or GRAMMAR_NO_TOKEN
    uint16_t depth; // bytes before it
    uint8_t byte;
};
#define GRAMMAR_NO_TOKEN UINT32_MAX

struct grammar_tree {
    struct grammar_node *nodes;
    uint32_t count;
    uint64_t *mask; // its tokens
};

// Tokens are in four trees: most are short and plain text, see grammar_machine_takes_text; the few
// long ones would make every state near a bound of a count a state of its own.
enum { GRAMMAR_SHORT_BYTES = 16 };
enum { GRAMMAR_TREE_LONG = 2, GRAMMAR_TREE_PLAIN = 1, GRAMMAR_TREES = 4 }; // bits of a tree's index

struct grammar_vocabulary {
    uint32_t size, longest; // tokens; bytes of the longest one, its name and marks counted
    uint32_t mask_words;    // 64-bit words of a mask
    struct grammar_tree trees[GRAMMAR_TREES];
    uint64_t *ends;
    uint64_t *bytes_at;     // [size]: place of a token's bytes in text, and size in the low 16 bits
    char *text;
    uint32_t *names;        // tokens that have a name
    uint32_t name_count;
    size_t memory;
};

locum_status grammar_vocabulary_create(const struct grammar_source *source,
                                       struct grammar_vocabulary **out, locum_error *error);
void grammar_vocabulary_free(struct grammar_vocabulary *vocabulary); // NULL is fine

// The bytes that a grammar sees when this token comes; its name, between the marks, if it has no
// text. Empty: the grammar never allows it.
struct slice grammar_vocabulary_bytes(const struct grammar_vocabulary *vocabulary, uint32_t token);

// The name of a token that has one, between its marks.
bool grammar_vocabulary_name(const struct grammar_vocabulary *vocabulary, uint32_t token,
                             struct slice *name);

#endif
