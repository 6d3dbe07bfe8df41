// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the way from token ids to text, one id at a time.
// Called by: engine (the text of an answer).
// Threads:   one at a time; the tokenizer may be shared.
// Errors:    none: bytes that are no UTF-8 become U+FFFD, one for each maximal subpart.
// Not here:  the raw bytes of a token (tokenizer_token_bytes).
//
// Only an incomplete character at the end is held back, so text is out as early as it can be, and
// any way of cutting the stream gives the same text.
#ifndef DETOKENIZER_H
#define DETOKENIZER_H

#include "base/utf8.h"
#include "token/tokenizer.h"

enum {
    DETOKENIZER_START =
        1, // these are the first tokens of a text: drop the blank that encoding put there
    DETOKENIZER_SPECIAL = 2 // show control tokens by their name
};

struct detokenizer {
    const struct tokenizer *tokenizer;
    uint32_t flags;
    bool at_start;             // nothing but special tokens so far
    uint32_t pending;          // bytes held back
    char bytes[UTF8_SIZE_MAX]; // the beginning of a character
};

void detokenizer_init(struct detokenizer *detokenizer, const struct tokenizer *tokenizer,
                      uint32_t flags);

// Most bytes that one push can give; flush gives at most 3.
size_t detokenizer_push_max(const struct tokenizer *tokenizer);

// Writes the text that is complete now to `text` (room for detokenizer_push_max) and gives its
// size. An id outside the vocabulary gives U+FFFD.
size_t detokenizer_push(struct detokenizer *detokenizer, locum_token id, char *text);
// The same for bytes that come without a token; needs no tokenizer. Gives at most
// detokenizer_bytes_max(bytes.size).
size_t detokenizer_push_bytes(struct detokenizer *detokenizer, struct slice bytes, char *text);
size_t detokenizer_bytes_max(size_t bytes);
// The end: what is held back can't become complete and gives one U+FFFD.
size_t detokenizer_flush(struct detokenizer *detokenizer, char *text);

#endif
