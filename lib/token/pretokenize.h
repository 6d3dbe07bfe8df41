// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the names of pre-tokenizers, and for each the passes that cut a text into pieces
//            before byte-pair merges.
// Called by: tokenizer.
// Threads:   constant data; a cursor belongs to one thread.
// Errors:    an unknown name is NULL; the caller says which names there are (pretokenize_names).
// Not here:  merging (bpe.h).
//
// Models publish these rules as regular expressions. They are scanners here and not run by a
// library, for three reasons: a backtracking engine takes stack and time that grow with a run of
// equal characters (each of the published expressions has such an input), the Unicode version of
// the classes is ours to fix, and the dozens of expressions differ in a handful of switches only. A
// scanner looks at each character a bounded number of times and needs no memory.
#ifndef PRETOKENIZE_H
#define PRETOKENIZE_H

#include "token/scan.h"

enum {
    PRETOKENIZE_PASSES_MAX = 6,
    PRETOKENIZE_NAMES_BYTES = 1024 // room for pretokenize_names
};

enum pretokenize_flags {
    PRETOKENIZE_WHOLE = 1,       // a piece that is itself a token is taken without merging
    PRETOKENIZE_WHOLE_LINES = 2, // only pieces of newlines are
    PRETOKENIZE_BOS = 4,    // models of this kind begin with BOS unless the file says otherwise
    PRETOKENIZE_SPACES = 8, // tokens are spelled with U+2581 for a space, not in the byte alphabet
    PRETOKENIZE_BY_ID = 16  // the file may have no merges: the lower id is merged first then
};

struct pretokenize_pass;

struct pretokenizer {
    const char *name;
    const struct pretokenize_pass *passes; // up to one of kind 0
    uint32_t flags;
};

// NULL: not known. An empty name gives the one named "default".
const struct pretokenizer *pretokenize_find(struct slice name);
// All names for a message, with ", " between them, terminated.
void pretokenize_names(char text[PRETOKENIZE_NAMES_BYTES]);
// For tests: row `index`, NULL past the end.
const struct pretokenizer *pretokenize_at(size_t index);

// Each pass cuts every piece of the one before, so a piece of the last is inside one of each: it is
// enough to know where the current piece of each pass ends.
struct pretokenize_cursor {
    const struct pretokenizer *pretokenizer;
    struct scan scan;
    size_t size, position;
    size_t ends[PRETOKENIZE_PASSES_MAX];
};

void pretokenize_begin(struct pretokenize_cursor *cursor, const struct pretokenizer *pretokenizer,
                       struct slice text);
// The pieces in order; together they are the text. False at its end.
bool pretokenize_next(struct pretokenize_cursor *cursor, struct slice *piece);

#endif
