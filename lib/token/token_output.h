// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the end of encoding: symbols become ids, what is no token becomes byte tokens.
// Called by: bpe, spm, tokenizer.
// Threads:   one at a time.
// Errors:    `lost` is set when a byte has neither a token nor an unknown token to stand for it; the caller
//            turns it into a message.
// Not here:  how symbols are found.
#ifndef TOKEN_OUTPUT_H
#define TOKEN_OUTPUT_H

#include "token/token_list.h"
#include "token/vocabulary.h"

struct token_output {
    const struct vocabulary *vocabulary;
    locum_token unknown; // or TOKEN_NONE
    struct token_list *ids;
    int lost; // the first byte that had to be left out, -1: none
};

// Bytes that are no token. In a row of bytes without tokens of their own, each gives the unknown token.
void token_output_bytes(struct token_output *output, struct slice bytes);

#endif
