// SPDX-License-Identifier: Apache-2.0
//
// Owns:      small pieces of text for messages: numbers with separators, UTF-8 steps.
// Called by: the other modules of gguf.
// Threads:   pure.
// Errors:    none.
// Not here:  whole messages (base/message.h).
#ifndef GGUF_TEXT_H
#define GGUF_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"

// "1,234,567" by value, so that several can stand in the arguments of one message:
//     status_fail(..., "%s bytes", gguf_text_number(n).text)
struct gguf_number {
    char text[28]; // 20 digits, 6 separators, zero
};
struct gguf_number gguf_text_number(uint64_t value);

// Bytes of the well-formed UTF-8 character at the start of `text` (1 to 4); 0 if there is none.
// Control characters count as well-formed here.
size_t gguf_text_character(struct slice text);

// Every character is well-formed UTF-8 and no control character.
bool gguf_text_is_printable(struct slice text);

#endif
