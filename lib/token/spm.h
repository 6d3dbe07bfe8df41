// SPDX-License-Identifier: Apache-2.0
//
// Owns:      SentencePiece's way to cut text: of all neighbours that make a token, the pair with
//            the highest score merges first.
// Called by: tokenizer.
// Threads:   pure; the merge memory belongs to one thread.
// Errors:    see token_output.h.
// Not here:  the blank in front of a text (tokenizer.c), the merging itself (merge.h).
#ifndef SPM_H
#define SPM_H

#include "token/merge.h"
#include "token/token_output.h"
#include "token/vocabulary.h"

// Appends the tokens of `text`. The vocabulary has scores.
void spm_encode(const struct vocabulary *vocabulary, struct slice text, struct merge *merge,
                struct token_output *out);

#endif
