// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the data behind unicode.h, made by tools/ucd/unicode_table.py.
// Called by: unicode.
// Threads:   constant data.
// Errors:    none.
// Not here:  the meaning of the values (unicode.h).
#ifndef TOKEN_UNICODE_TABLE_H
#define TOKEN_UNICODE_TABLE_H

#include <stdint.h>

enum {
    UNICODE_TABLE_BLOCK_BITS = 7,
    UNICODE_TABLE_CATEGORY = 0x1F, // number of the bit
    UNICODE_TABLE_SPACE = 0x20,    // flag
    UNICODE_TABLE_CODES = 0x110000
};

extern const uint8_t unicode_table_blocks[UNICODE_TABLE_CODES >> UNICODE_TABLE_BLOCK_BITS];
extern const uint8_t unicode_table_values[]; // whole blocks

#endif
