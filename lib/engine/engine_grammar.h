// SPDX-License-Identifier: Apache-2.0
//
// Owns:      what holds an answer to a request's structure: the model's tokens in order, and the last
//            grammar with the masks that it has made.
// Called by: engine_generate.c, engine_native.c (closing).
// Threads:   one thread.
// Errors:    as grammar/grammar.h; E_UNSUPPORTED for a model without a tokenizer.
// Not here:  reading grammars (grammar), drawing (sample).
#ifndef ENGINE_ENGINE_GRAMMAR_H
#define ENGINE_ENGINE_GRAMMAR_H

#include "base/buffer.h"
#include "engine/engine_size.h"
#include "grammar/grammar.h"
#include "grammar/grammar_matcher.h"
#include "token/tokenizer.h"

// All zero: nothing was asked for yet. The order of tokens is made with the first request that has a
// structure; a request that asks for the same as the one before finds its masks.
struct engine_grammar {
    struct grammar_vocabulary *vocabulary;
    struct grammar_program *program;
    struct grammar_matcher *matcher;
    struct buffer key; // what the program was made of
    size_t matcher_bytes; // bound of states and masks, taken from the budget; 0: nothing was taken yet
    uint64_t *allowed; // a bit for each logit: some have no token
    uint32_t words;    // of it
};

void engine_grammar_release(struct engine_grammar *grammar);

// Before an answer. logits: of one token. size: where the memory comes from, the first time.
locum_status engine_grammar_begin(struct engine_grammar *grammar, const struct tokenizer *tokenizer,
                                  const locum_request *request, uint32_t logits,
                                  struct engine_size *size, locum_error *error);
// The tokens that may be drawn, a bit each; valid until the next call.
locum_status engine_grammar_allow(struct engine_grammar *grammar, const uint64_t **allowed,
                                  locum_error *error);
// This token was drawn.
void engine_grammar_take(struct engine_grammar *grammar, locum_token token);
// The answer is complete, and nothing could follow.
bool engine_grammar_is_done(const struct engine_grammar *grammar);

#endif
