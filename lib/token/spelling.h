// SPDX-License-Identifier: Apache-2.0
//
// Owns:      how a file spells the bytes of a token, and reading that spelling.
// Called by: vocabulary, bpe (merges).
// Threads:   pure.
// Errors:    SPELLING_BAD: the text uses characters that the spelling does not have.
// Not here:  which tokens are spelled at all (vocabulary.c).
#ifndef TOKEN_SPELLING_H
#define TOKEN_SPELLING_H

#include "base/slice.h"

enum token_spelling {
    TOKEN_SPELLING_BYTES, // byte-level BPE: 256 printable characters, one for each byte
    TOKEN_SPELLING_SPACES // UTF-8 with U+2581 for a space; <0x00> to <0xFF> are bytes
};

#define SPELLING_BAD SIZE_MAX

// Writes the bytes that `text` spells (at most text.size) and gives their number.
size_t spelling_read(enum token_spelling spelling, struct slice text, char *bytes);

// The value of "<0xHH>", or -1.
int spelling_byte(struct slice text);

#endif
