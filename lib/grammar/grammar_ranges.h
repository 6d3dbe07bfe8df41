// SPDX-License-Identifier: Apache-2.0
//
// Owns:      sets of code points as sorted ranges, and their form in UTF-8.
// Called by: grammar_ast, grammar_regex, grammar_program.
// Threads:   pure.
// Errors:    none; room is the caller's.
// Not here:  automata.
#ifndef GRAMMAR_RANGES_H
#define GRAMMAR_RANGES_H

#include <stdbool.h>
#include <stdint.h>

enum { GRAMMAR_RANGES_LAST = 0x10FFFF };

struct grammar_range {
    uint32_t first, last; // both belong to it
};

// Sorts, joins what touches, and takes out the surrogates, which are no characters. Gives the new
// count: at most count + 1, for which there must be room.
uint32_t grammar_ranges_normalise(struct grammar_range *ranges, uint32_t count);

// All characters that normalised ranges lack. Room for count + 2; gives how many.
uint32_t grammar_ranges_complement(const struct grammar_range *ranges, uint32_t count,
                                   struct grammar_range *out);

bool grammar_ranges_has(const struct grammar_range *ranges, uint32_t count, uint32_t code);

// One run of bytes ranges: any byte of each in turn is one of the characters.
struct grammar_bytes {
    uint32_t count; // 1 to 4
    uint8_t first[4], last[4];
};

// Cuts a range into such runs. `range` moves on; false when nothing is left.
bool grammar_ranges_next_bytes(struct grammar_range *range, struct grammar_bytes *out);

#endif
