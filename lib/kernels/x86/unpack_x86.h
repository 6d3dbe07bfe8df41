// SPDX-License-Identifier: Apache-2.0
//
// Owns:      what the bytes of quantised weights become in vectors, type by type.
// Called by: tile_x86.h.
// Threads:   pure.
// Errors:    none.
// Not here:  products (sink_x86.h).
//
// One row of the matrix per 32-bit lane, from interleaved groups. Offsets are those in the block of one
// row, its runs in the order of kernels_rows.c; in the block of a group everything is VEC times as far.
// For every type two functions of such a block:
//
//     unpack_head_T     its scales
//     unpack_body_T     its codes: puts number i = codes 4i .. 4i+3 of each row, group after group
//                       (those that have a scale), in each ascending i
//
// Codes are unsigned bytes, as the instructions want them, with a bias that is taken out with the
// sums of activations: sum((code + bias) * q) - bias * sum(q). Without VNNI, products of two
// neighbours are 16-bit, `run` of them may be added before they could overflow, and 8-bit codes
// would saturate: those stay signed (run 1, magnitude times signed activation).
//
//     codes up to   3, 7, 15   31, 24 (MXFP4)   63   signed
//     run           4 or 8     4                2    1        run * 2 * code * 127 <= 32767
#ifndef KERNELS_X86_UNPACK_X86_H
#define KERNELS_X86_UNPACK_X86_H

#include "kernels/x86/sink_x86.h"

// The dword that is `offset` bytes into the block of each row.
TILE_INLINE vi unpack_dword(const uint8_t *block, size_t offset) {
    return vi_load(block + VEC * offset);
}
TILE_INLINE void unpack_dwords(vi *x, const int n, const uint8_t *block, size_t offset) {
    TILE_UNROLL
    for (int i = 0; i < n; i++) x[i] = unpack_dword(block, offset + 4 * (size_t)i);
}

// The scales of a block of 256 or 32.
struct unpack_head {
    vf d, m;
    vi scale[16];  // of 256, per group of 16 or 32: an int16, twice
    vi minimum[8]; // of 256, int16 pairs: what meets the sums of activations of two groups
};

// ---------------------------------------------------------------------------------------------
// Blocks of 32
// ---------------------------------------------------------------------------------------------

TILE_INLINE void unpack_d(struct unpack_head *h, const uint8_t *block) {
    h->d = vf_load_half(block);
}
TILE_INLINE void unpack_d_and_m(struct unpack_head *h, const uint8_t *block) {
    vi x = unpack_dword(block, 0);
    h->d = vf_low_halves(x);
    h->m = vf_high_halves(x);
}

// What becomes of a 4-bit index: itself, a value of a table, or the low part of a 5-bit code.
struct unpack_nibble {
    const uint8_t *table; // 16 values or NULL
    bool fifth;
    vi bits; // bit j of a row's dword is bit 4 of element j
};

TILE_INLINE vi unpack_index(vi index, const struct unpack_nibble kind, const int i) {
    static const uint8_t byte_of[4][16] = {
        {0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12},
        {1, 1, 1, 1, 5, 5, 5, 5, 9, 9, 9, 9, 13, 13, 13, 13},
        {2, 2, 2, 2, 6, 6, 6, 6, 10, 10, 10, 10, 14, 14, 14, 14},
        {3, 3, 3, 3, 7, 7, 7, 7, 11, 11, 11, 11, 15, 15, 15, 15},
    };
    if (kind.table) return vi_shuffle8(vi_repeat(kind.table), index);
    if (!kind.fifth) return index;
    vi spread = vi_shuffle8(kind.bits, vi_repeat(byte_of[i / 2]));
    vi set = vi_test8(spread, vi_set32(i % 2 ? (int32_t)0x80402010u : 0x08040201), 16);
    return vi_or(index, set);
}

// 16 bytes of each row: element j of 32 in the low half of byte j, j + 16 in the high one.
TILE_INLINE void unpack_nibbles(struct sink *s, const struct sink_form form,
                                const uint8_t *block, size_t offset, const int first,
                                const struct unpack_nibble kind) {
    vi x[4];
    unpack_dwords(x, 4, block, offset);
    TILE_UNROLL
    for (int i = 0; i < 4; i++)
        put(s, form, first + i, unpack_index(vi_and(x[i], vi_set8(15)), kind, i));
    TILE_UNROLL
    for (int i = 0; i < 4; i++) {
        vi high = vi_and(vi_shr16(x[i], 4), vi_set8(15));
        put(s, form, first + i + 4, unpack_index(high, kind, i + 4));
    }
}

#define unpack_head_Q8_0 unpack_d
#define unpack_head_Q4_0 unpack_d
#define unpack_head_Q4_1 unpack_d_and_m
#define unpack_head_Q5_0 unpack_d
#define unpack_head_Q5_1 unpack_d_and_m
#define unpack_head_IQ4_NL unpack_d

TILE_INLINE void unpack_head_MXFP4(struct unpack_head *h, const uint8_t *block) {
    // The bits of 2^(e - 128): (e - 1) << 23, of the denormals e = 0 and 1 (e + 1) << 21, which
    // is the larger just there.
    vi e = vi_load_bytes(block);
    vi normal = vi_shl32(vi_sub32(e, vi_set32(1)), 23);
    h->d = vi_as_float(vi_max32(normal, vi_shl32(vi_add32(e, vi_set32(1)), 21)));
}

TILE_INLINE void unpack_body_Q8_0(struct sink *s, const struct sink_form form,
                                  const uint8_t *block) {
    TILE_UNROLL
    for (int half = 0; half < 2; half++) {
        vi x[4];
        unpack_dwords(x, 4, block, 2 + 16 * (size_t)half);
        TILE_UNROLL
        for (int i = 0; i < 4; i++)
            put(s, form, 4 * half + i, TILE_VNNI ? vi_xor(x[i], vi_set8(-128)) : x[i]);
    }
}

// The values of IQ4_NL and IQ4_XS, and 128 more.
static const uint8_t unpack_iq4[2][16] = {
    {129, 152, 173, 191, 207, 221, 234, 246, 1, 13, 25, 38, 53, 69, 89, 113},
    {1, 24, 45, 63, 79, 93, 106, 118, 129, 141, 153, 166, 181, 197, 217, 241},
};
static const uint8_t unpack_mxfp4[16] = {12, 13, 14, 15, 16, 18, 20, 24,
                                         12, 11, 10, 9, 8, 6, 4, 0};

#define UNPACK_BODY_NIBBLES(type, offset, ...)                                                     \
    TILE_INLINE void unpack_body_##type(struct sink *s, const struct sink_form form,               \
                                        const uint8_t *block) {                             \
        unpack_nibbles(s, form, block, offset, 0, (struct unpack_nibble){__VA_ARGS__});             \
    }
UNPACK_BODY_NIBBLES(Q4_0, 2, 0)
UNPACK_BODY_NIBBLES(Q4_1, 4, 0)
UNPACK_BODY_NIBBLES(Q5_0, 6, .fifth = true, .bits = unpack_dword(block, 2))
UNPACK_BODY_NIBBLES(Q5_1, 8, .fifth = true, .bits = unpack_dword(block, 4))
UNPACK_BODY_NIBBLES(IQ4_NL, 2, .table = unpack_iq4[TILE_VNNI])
UNPACK_BODY_NIBBLES(MXFP4, 1, .table = unpack_mxfp4)

// ---------------------------------------------------------------------------------------------
// Blocks of 256
// ---------------------------------------------------------------------------------------------

// The 16 bytes that Q4_K and Q5_K begin with: d, dmin, eight 6-bit scales and minima.
TILE_INLINE void unpack_head_Q4_K(struct unpack_head *h, const uint8_t *block) {
    const vi low4 = vi_set8(15), high2 = vi_set8(0x30);
    vi x[4], scale[2], minimum[2];
    unpack_dwords(x, 4, block, 0);
    h->d = vf_low_halves(x[0]);
    h->m = vf_high_halves(x[0]);
    scale[0] = vi_and(x[1], vi_set8(63));
    minimum[0] = vi_and(x[2], vi_set8(63));
    scale[1] = vi_or(vi_and(x[3], low4), vi_and(vi_shr16(x[1], 2), high2));
    minimum[1] = vi_or(vi_and(vi_shr16(x[3], 4), low4), vi_and(vi_shr16(x[2], 2), high2));
    TILE_UNROLL
    for (uint32_t g = 0; g < 8; g++) h->scale[g] = vi_pick(scale[g / 4], g % 4, g % 4);
    TILE_UNROLL
    for (uint32_t g = 0; g < 8; g += 2)
        h->minimum[g / 2] = vi_pick(minimum[g / 4], g % 4, g % 4 + 1);
}
#define unpack_head_Q5_K unpack_head_Q4_K

// 16 scales, a signed byte each, which also meet the sums of activations to take out the bias.
TILE_INLINE void unpack_signed_scales(struct unpack_head *h, const vi x[4]) {
    TILE_UNROLL
    for (uint32_t g = 0; g < 16; g++) h->scale[g] = vi_pick_signed(x[g / 4], g % 4, g % 4);
    TILE_UNROLL
    for (uint32_t g = 0; g < 16; g += 2)
        h->minimum[g / 2] = vi_pick_signed(x[g / 4], g % 4, g % 4 + 1);
}

TILE_INLINE void unpack_head_Q2_K(struct unpack_head *h, const uint8_t *block) {
    vi x[4];
    unpack_dwords(x, 4, block, 0);
    TILE_UNROLL
    for (uint32_t g = 0; g < 16; g += 2) {
        vi scale = vi_and(x[g / 4], vi_set8(15));
        vi minimum = vi_and(vi_shr16(x[g / 4], 4), vi_set8(15));
        h->scale[g] = vi_pick(scale, g % 4, g % 4);
        h->scale[g + 1] = vi_pick(scale, g % 4 + 1, g % 4 + 1);
        h->minimum[g / 2] = vi_pick(minimum, g % 4, g % 4 + 1);
    }
    vi d = unpack_dword(block, 16);
    h->d = vf_low_halves(d);
    h->m = vf_high_halves(d);
}

TILE_INLINE void unpack_head_Q3_K(struct unpack_head *h, const uint8_t *block) {
    const vi s[3] = {unpack_dword(block, 0), unpack_dword(block, 4), unpack_dword(block, 8)};
    vi x[4];
    TILE_UNROLL
    for (int j = 0; j < 4; j++) { // 4 low bits in s[0], s[1], 2 high bits in s[2]
        vi low = vi_and(j < 2 ? s[j] : vi_shr16(s[j - 2], 4), vi_set8(15));
        vi high = vi_and(j < 2 ? vi_shl16(s[2], 4 - 2 * j) : vi_shr16(s[2], 2 * j - 4),
                         vi_set8(0x30));
        x[j] = vi_sub8(vi_or(low, high), vi_set8(32));
    }
    unpack_signed_scales(h, x);
    h->d = vf_load_half(block + VEC * 12);
}

TILE_INLINE void unpack_head_Q6_K(struct unpack_head *h, const uint8_t *block) {
    vi x[4];
    unpack_dwords(x, 4, block, 0);
    unpack_signed_scales(h, x);
    h->d = vf_load_half(block + VEC * 16);
}

TILE_INLINE void unpack_head_IQ4_XS(struct unpack_head *h, const uint8_t *block) {
    const vi high = unpack_dword(block, 0), low = unpack_dword(block, 4);
    TILE_UNROLL
    for (int b = 0; b < 8; b++) {
        vi top = vi_and(vi_shr32(high, 16 + 2 * b), vi_set32(3));
        vi scale = vi_or(vi_and(vi_shr32(low, 4 * b), vi_set32(15)), vi_shl32(top, 4));
        scale = vi_sub32(scale, vi_set32(32));
        h->scale[b] = vi_pick_words(scale);
    }
    TILE_UNROLL
    for (int b = 0; b < 8; b += 2)
        h->minimum[b / 2] = vi_low_high(h->scale[b], h->scale[b + 1]);
    h->d = vf_low_halves(high);
}

// Bit `from` of every byte, moved to bit `to`.
TILE_INLINE vi unpack_bit(vi x, int from, int to) {
    vi moved = from < to ? vi_shl16(x, to - from) : vi_shr16(x, from - to);
    return vi_and(moved, vi_set8(1 << to));
}

TILE_INLINE void unpack_body_Q4_K(struct sink *s, const struct sink_form form,
                                  const uint8_t *block) {
    TILE_UNROLL
    for (int j = 0; j < 4; j++) { // halves of 32 bytes: two groups
        vi x[8];
        unpack_dwords(x, 8, block, 16 + 32 * (size_t)j);
        TILE_UNROLL
        for (int i = 0; i < 8; i++) put(s, form, 16 * j + i, vi_and(x[i], vi_set8(15)));
        TILE_UNROLL
        for (int i = 0; i < 8; i++)
            put(s, form, 16 * j + 8 + i, vi_and(vi_shr16(x[i], 4), vi_set8(15)));
    }
}

TILE_INLINE void unpack_body_Q5_K(struct sink *s, const struct sink_form form,
                                  const uint8_t *block) {
    vi high[8];
    unpack_dwords(high, 8, block, 16);
    TILE_UNROLL
    for (int j = 0; j < 4; j++) {
        vi x[8];
        unpack_dwords(x, 8, block, 48 + 32 * (size_t)j);
        TILE_UNROLL
        for (int i = 0; i < 8; i++) {
            vi low = vi_and(x[i], vi_set8(15));
            put(s, form, 16 * j + i, vi_or(low, unpack_bit(high[i], 2 * j, 4)));
        }
        TILE_UNROLL
        for (int i = 0; i < 8; i++) {
            vi low = vi_and(vi_shr16(x[i], 4), vi_set8(15));
            put(s, form, 16 * j + 8 + i, vi_or(low, unpack_bit(high[i], 2 * j + 1, 4)));
        }
    }
}

TILE_INLINE void unpack_body_Q2_K(struct sink *s, const struct sink_form form,
                                  const uint8_t *block) {
    TILE_UNROLL
    for (int j = 0; j < 4; j++) { // 16 bytes: four groups, 32 apart
        vi x[4];
        unpack_dwords(x, 4, block, 20 + 16 * (size_t)j);
        TILE_UNROLL
        for (int r = 0; r < 4; r++) {
            TILE_UNROLL
            for (int i = 0; i < 4; i++)
                put(s, form, j / 2 * 32 + r * 8 + j % 2 * 4 + i,
                    vi_and(vi_shr16(x[i], 2 * r), vi_set8(3)));
        }
    }
}

TILE_INLINE void unpack_body_Q3_K(struct sink *s, const struct sink_form form,
                                  const uint8_t *block) {
    vi high[8];
    unpack_dwords(high, 8, block, 14);
    TILE_UNROLL
    for (int j = 0; j < 4; j++) {
        vi x[4];
        unpack_dwords(x, 4, block, 46 + 16 * (size_t)j);
        TILE_UNROLL
        for (int r = 0; r < 4; r++) {
            TILE_UNROLL
            for (int i = 0; i < 4; i++) {
                vi low = vi_and(vi_shr16(x[i], 2 * r), vi_set8(3));
                vi top = unpack_bit(high[j % 2 * 4 + i], j / 2 * 4 + r, 2);
                put(s, form, j / 2 * 32 + r * 8 + j % 2 * 4 + i, vi_or(low, top));
            }
        }
    }
}

// Four dwords, one group: four bits of each byte of x, from bit `from`, below two of y, from bit `top`.
TILE_INLINE void unpack_group_Q6_K(struct sink *s, const struct sink_form form, const int first,
                                   const vi x[4], const int from, const vi y[4], const int top) {
    TILE_UNROLL
    for (int i = 0; i < 4; i++) {
        vi low = vi_and(from ? vi_shr16(x[i], 4) : x[i], vi_set8(15));
        vi high = top < 4 ? vi_shl16(y[i], 4 - top) : vi_shr16(y[i], top - 4);
        put(s, form, first + i, vi_or(low, vi_and(high, vi_set8(0x30))));
    }
}

TILE_INLINE void unpack_body_Q6_K(struct sink *s, const struct sink_form form,
                                  const uint8_t *block) {
    TILE_UNROLL
    for (int j = 0; j < 4; j++) { // half j / 2, the 16 bytes j % 2 of its 64 + 32: groups 32 apart
        const size_t offset = 18 + 48 * (size_t)j;
        int first = j / 2 * 32 + j % 2 * 4;
        vi x[4], y[4];
        unpack_dwords(y, 4, block, offset);
        unpack_dwords(x, 4, block, offset + 16);
        unpack_group_Q6_K(s, form, first, x, 0, y, 0);
        unpack_group_Q6_K(s, form, first + 16, x, 4, y, 4);
        unpack_dwords(x, 4, block, offset + 32);
        unpack_group_Q6_K(s, form, first + 8, x, 0, y, 2);
        unpack_group_Q6_K(s, form, first + 24, x, 4, y, 6);
    }
}

TILE_INLINE void unpack_body_IQ4_XS(struct sink *s, const struct sink_form form,
                                    const uint8_t *block) {
    TILE_UNROLL
    for (int b = 0; b < 8; b++)
        unpack_nibbles(s, form, block, 8 + 16 * (size_t)b, 8 * b,
                       (struct unpack_nibble){.table = unpack_iq4[TILE_VNNI]});
}

#endif
