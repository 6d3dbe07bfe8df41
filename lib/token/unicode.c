// SPDX-License-Identifier: Apache-2.0
#include "token/unicode.h"

#include "token/unicode_table.h"

uint32_t unicode_bits(uint32_t code) {
    if (code >= UNICODE_TABLE_CODES) {
        return UNICODE_CN;
    }
    uint32_t block = unicode_table_blocks[code >> UNICODE_TABLE_BLOCK_BITS];
    uint32_t within = code & ((1u << UNICODE_TABLE_BLOCK_BITS) - 1);
    uint8_t value = unicode_table_values[block << UNICODE_TABLE_BLOCK_BITS | within];
    uint32_t bits = UINT32_C(1) << (value & UNICODE_TABLE_CATEGORY);
    return value & UNICODE_TABLE_SPACE ? bits | UNICODE_SPACE : bits;
}
