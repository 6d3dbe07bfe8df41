// SPDX-License-Identifier: Apache-2.0
//
// Owns:      questions about the terminal, or what else there is, behind a standard stream.
// Called by: the command line only.
// Threads:   any.
// Errors:    none: what is no terminal has no width and no colour.
// Not here:  line editing, escape sequences.
#ifndef PLATFORM_TERMINAL_H
#define PLATFORM_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>

enum terminal_stream { TERMINAL_IN, TERMINAL_OUT, TERMINAL_ERROR };

bool terminal_is(enum terminal_stream stream);
// Both lead to one file, pipe or terminal, as after 2>&1.
bool terminal_same(enum terminal_stream a, enum terminal_stream b);
uint32_t terminal_width(enum terminal_stream stream); // columns; 0: no terminal, or unknown
// A terminal, TERM is neither unset nor "dumb", and NO_COLOR is unset or empty.
bool terminal_has_colour(enum terminal_stream stream);

#endif
