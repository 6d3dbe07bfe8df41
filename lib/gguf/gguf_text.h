// SPDX-License-Identifier: Apache-2.0
//
// Owns:      small pieces of text for messages: numbers with separators, names fit to be shown.
// Called by: the other modules of gguf.
// Threads:   pure.
// Errors:    none.
// Not here:  whole messages (base/message.h), single characters (base/utf8.h).
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

// Every character is well-formed UTF-8 and no control character.
bool gguf_text_is_printable(struct slice text);

#endif
