// SPDX-License-Identifier: Apache-2.0
//
// Owns:      byte-pair encoding: the merges of a model, and a piece of text to symbols and tokens
//            by them.
// Called by: tokenizer.
// Threads:   read-only after bpe_build; the merge memory belongs to one thread.
// Errors:    E_FORMAT naming the merge; E_OUT_OF_MEMORY. Encoding: see token_output.h.
// Not here:  how text is cut into pieces (pretokenize.h), the merging itself (merge.h).
#ifndef BPE_H
#define BPE_H

#include "base/arena.h"
#include "base/status.h"
#include "token/merge.h"
#include "token/token_output.h"
#include "token/vocabulary.h"

// Symbols are numbered like tokens; behind the last token follow the texts that only merges
// mention.
struct bpe {
    const struct vocabulary *vocabulary;
    bool by_id; // no merges: any two symbols that make a token merge, the lower id first
    struct token_table others;
    bool inner_blanks;         // of a symbol: see vocabulary_has_inner_blank
    int32_t byte_symbols[256]; // first symbol of each byte, of the byte alphabet
    uint32_t merges;           // rank = position in the file
    int32_t *left, *right;     // [merges]
    uint32_t *index;           // [cells] ranks by pair, see token_hash.h
    uint32_t cells;
};

// merges.count 0 with by_id. The vocabulary must be indexed and stay.
locum_status bpe_build(const struct vocabulary *vocabulary, struct token_texts merges, bool by_id,
                       struct arena *arena, struct bpe *out, locum_error *error);

// Appends the tokens of one piece. `whole`: a piece that is a token is taken without merging.
void bpe_encode(const struct bpe *bpe, struct slice piece, bool whole, struct merge *merge,
                struct token_output *out);

size_t bpe_memory(const struct bpe *bpe);

#endif
