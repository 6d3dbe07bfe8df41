// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the end of encoding: what is no token becomes byte tokens, or stands as something
//            else.
// Called by: bpe, spm, tokenizer.
// Threads:   one at a time.
// Errors:    `lost` is set when nothing can stand for a byte; the caller turns it into a message.
// Not here:  how symbols are found.
//
// Real vocabularies lack bytes: most often those that UTF-8 has no use for, some control characters
// as well. The unknown token stands for them, else U+FFFD does; the list of ids counts them.
#ifndef TOKEN_OUTPUT_H
#define TOKEN_OUTPUT_H

#include "token/token_list.h"
#include "token/vocabulary.h"

enum { TOKEN_OUTPUT_REPLACEMENT_MAX = 3 }; // U+FFFD has three bytes

struct token_output {
    const struct vocabulary *vocabulary;
    locum_token unknown;            // or TOKEN_NONE
    const locum_token *replacement; // the ids of U+FFFD
    uint32_t replacement_count;     // 0: the vocabulary can't say it
    struct token_list *ids;
    int lost; // the first byte that had to be left out, -1: none
};

// Bytes of one symbol that is no token.
void token_output_bytes(struct token_output *output, struct slice bytes);

#endif
