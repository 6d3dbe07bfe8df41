// SPDX-License-Identifier: Apache-2.0
//
// Owns:      a growing list of token ids.
// Called by: tokenizer and its parts; engine.
// Threads:   one at a time.
// Errors:    sticky, like a buffer's: once there was no memory `failed` stays set and pushes do
//            nothing.
// Not here:  anything that knows tokens.
#ifndef TOKEN_LIST_H
#define TOKEN_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

// All zero is an empty list. Callers may read the fields and lower `count`.
struct token_list {
    locum_token *ids;
    size_t count, capacity;
    uint64_t replaced; // places of the texts that the vocabulary can't say: unknown tokens, U+FFFD
    bool failed;
};

void token_list_push(struct token_list *list, locum_token id);
void token_list_release(struct token_list *list); // empty again

#endif
