// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the hash of the tables of this folder, where a hash begins in a table, what a cell
//            holds.
// Called by: token_table, bpe.
// Threads:   pure.
// Errors:    none.
// Not here:  the tables.
#ifndef TOKEN_HASH_H
#define TOKEN_HASH_H

#include <assert.h>
#include <stdint.h>

#include "base/limits.h"
#include "base/slice.h"

// Odd 64-bit constants: 2^64 divided by the golden ratio, and one of MurmurHash3's finaliser.
#define TOKEN_HASH_GOLDEN UINT64_C(0x9E3779B97F4A7C15)
#define TOKEN_HASH_MIX    UINT64_C(0xFF51AFD7ED558CCD)

static inline uint64_t token_hash_number(uint64_t number) {
    number ^= number >> 33;
    number *= TOKEN_HASH_MIX;
    number ^= number >> 33;
    number *= TOKEN_HASH_GOLDEN;
    return number ^ number >> 32;
}

static inline uint64_t token_hash_bytes(struct slice bytes) {
    uint64_t hash = bytes.size * TOKEN_HASH_GOLDEN;
    size_t i = 0;
    for (; i + 8 <= bytes.size; i += 8) {
        uint64_t word;
        memcpy(&word, bytes.data + i, 8);
        hash = token_hash_number(hash ^ word);
    }
    uint64_t rest = 0;
    for (size_t shift = 0; i < bytes.size; i++, shift += 8) {
        rest |= (uint64_t)(uint8_t)bytes.data[i] << shift;
    }
    return token_hash_number(hash ^ rest);
}

// A table three quarters full: the price of a longer walk is below that of another cache miss.
static inline uint32_t token_hash_cells(uint32_t entries) {
    return entries + entries / 3 + 1;
}

// Any size of table, not only powers of two: the high half of the product.
static inline uint32_t token_hash_cell(uint64_t hash, uint32_t cells) {
    return (uint32_t)((hash & UINT32_MAX) * cells >> 32);
}

// A cell holds a number + 1 (0: free) and, above it, bits of the hash that its place doesn't tell:
// with them nearly every walk reads one entry, the right one. Entries are far away, each costs a
// cache miss or two.
enum { TOKEN_HASH_NUMBER_BITS = 23 };

static_assert(LIMIT_VOCABULARY < 1 << TOKEN_HASH_NUMBER_BITS, "a number + 1 fits");
static_assert(LIMIT_MERGES < 1 << TOKEN_HASH_NUMBER_BITS, "a rank + 1 fits");

static inline uint32_t token_hash_pack(uint64_t hash, uint32_t number) {
    return (uint32_t)(hash >> 32) << TOKEN_HASH_NUMBER_BITS | (number + 1);
}
static inline bool token_hash_may_be(uint64_t hash, uint32_t cell) {
    return (uint32_t)(hash >> 32) << TOKEN_HASH_NUMBER_BITS ==
           cell >> TOKEN_HASH_NUMBER_BITS << TOKEN_HASH_NUMBER_BITS;
}
static inline int32_t token_hash_number_of(uint32_t cell) {
    return (int32_t)(cell & ((1u << TOKEN_HASH_NUMBER_BITS) - 1)) - 1; // -1: free
}

#endif
