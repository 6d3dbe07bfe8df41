// SPDX-License-Identifier: Apache-2.0
//
// Owns:      finding the tokens that are matched as they stand in a text, before anything is
//            merged.
// Called by: tokenizer.
// Threads:   read-only after special_build: any.
// Errors:    E_OUT_OF_MEMORY.
// Not here:  which texts may hold which of them (tokenizer.c).
//
// Sorted by their bytes: at each place the range of those that fit is narrowed byte by byte, which
// takes four bytes a token and as many steps as the longest match is long.
#ifndef SPECIAL_H
#define SPECIAL_H

#include "base/arena.h"
#include "base/status.h"
#include "token/vocabulary.h"

struct special {
    const struct vocabulary *vocabulary;
    locum_token *ids; // [count], sorted
    uint32_t count;
    bool starts[256]; // first bytes
};

typedef bool (*special_fn)(const struct vocabulary *vocabulary, locum_token id);

// The tokens for which `is_member` holds; empty ones are left out. Of equal ones the last counts.
locum_status special_build(const struct vocabulary *vocabulary, special_fn is_member,
                           struct arena *arena, struct special *out, locum_error *error);

// The longest one at the beginning of `text`, or TOKEN_NONE.
locum_token special_at(const struct special *special, struct slice text);
// The first one in `text` and where it begins; TOKEN_NONE and text.size if there is none.
locum_token special_next(const struct special *special, struct slice text, size_t *begin);

size_t special_memory(const struct special *special);

#endif
