// SPDX-License-Identifier: Apache-2.0
//
// Owns:      steps over UTF-8 text that may be invalid.
// Called by: message, gguf (names in messages), token (characters, what is complete).
// Threads:   pure.
// Errors:    none: bytes that form no character are reported as such, never skipped.
// Not here:  what a character is (token/unicode.h).
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"

enum {
    UTF8_REPLACEMENT = 0xFFFD, // stands for what is no character; three bytes, EF BF BD
    UTF8_SIZE_MAX = 4          // bytes of the longest character
};

// What stands at the beginning of a text. Well formed means Unicode's table 3-7: no overlong forms,
// no surrogates, nothing above U+10FFFF.
enum utf8_kind {
    UTF8_CHARACTER, // one well-formed character
    UTF8_INVALID,   // bytes that no continuation can make well formed
    UTF8_PARTIAL    // the text ends inside a character that is well formed so far
};

struct utf8_step {
    enum utf8_kind kind;
    // Bytes of it. Invalid: the maximal subpart, i.e. the longest beginning of some well-formed
    // character, or one byte; one U+FFFD stands for each (Unicode chapter 3, "U+FFFD
    // Substitution").
    uint32_t size;
    uint32_t code; // the code point; UTF8_REPLACEMENT unless a character
};

// text.size > 0.
struct utf8_step utf8_next(struct slice text);

// Bytes of the character at the beginning of a text if it is one to show people: well formed and no
// control character (those of U+0080 to U+009F steer terminals too). 0: it is none, or no text.
size_t utf8_printable(struct slice text);

#endif
