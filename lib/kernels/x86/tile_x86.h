// SPDX-License-Identifier: Apache-2.0
//
// Owns:      matrix products of quantised weights (rules 2 and 3 of kernels.h), as a template.
// Called by: tile_avx2.c, tile_avxvnni.c, tile_avx512.c, tile_avx512vnni.c, each of which includes
//            a vec_*.h first and defines TILE_INIT; with TILE_VNNI also vi_dpbusd(sum, unsigned
//            bytes, signed bytes).
// Threads:   pure.
// Errors:    none.
// Not here:  float weights (float_x86.h).
//
// DESIGN. VEC rows at a time, one row per 32-bit lane, 256 weights at a time:
//
//     unpack   weights of the rows -> struct tile (L1):  w[i], lane r = codes 4i..4i+3 of row r
//     micro    up to 4 columns: broadcast 4 activations, multiply with w[i], add up in the lanes
//
// No sums across lanes, no scalar work per row: after 256 weights each lane holds the exact integer
// of its row, and one fma per column and block finishes it. The same weights meet all columns of a
// panel after one unpacking. A last tile of fewer rows repeats its last row and drops what comes
// out.
//
// Codes are stored as unsigned bytes, as the instructions want them, with a bias that is taken out
// with the sums of activations: sum((code + bias) * q) - bias * sum(q). Without VNNI, products of
// two neighbours are 16-bit, `run` of them may be added before they could overflow, and 8-bit codes
// would saturate: those stay signed (run 1, magnitude times signed activation).
//
//     codes up to   3, 7, 15   31, 24 (MXFP4)   63   signed
//     run           4 or 8     4                2    1        run * 2 * code * 127 <= 32767
#ifndef KERNELS_X86_TILE_X86_H
#define KERNELS_X86_TILE_X86_H

#include "base/check.h"
#include "kernels/x86/kernels_x86.h"

#define TILE_INLINE static inline __attribute__((always_inline))
#if defined(__clang__)
#define TILE_UNROLL _Pragma("clang loop unroll(full)")
#else
#define TILE_UNROLL _Pragma("GCC unroll 8")
#endif

enum {
    TILE_COLUMNS = 4, // of one call of a micro kernel: their sums fill the registers
    TILE_PANEL = 64,  // columns whose running sums are kept (L1)
    TILE_K = 256      // weights unpacked at a time
};

// 256 weights of VEC rows: one block of 256, or up to 8 blocks of 32.
struct tile {
    vi w[TILE_K / 4];
    vi scale[16];   // per group of 16 or 32: an int16, twice
    vi minimum[8];  // int16 pairs: what meets the sums of activations of two groups
    vf d[8], m[8];  // per block
};

struct tile_sums {
    vf acc, acc_m;
};

// Where in the columns the 256 activations are.
struct tile_place {
    size_t k, blocks; // blocks of 32
    size_t scale_offset, sum_offset;
};

struct tile_form;
typedef void (*tile_unpack_fn)(struct tile *t, const uint8_t *const row[VEC], size_t blocks);
typedef void (*tile_micro_fn)(const struct tile *t, const struct tile_form *form,
                              const struct tile_place *place, const uint8_t *const *column,
                              struct tile_sums *sums);
struct tile_form {
    size_t weights, bytes; // of a block
    tile_unpack_fn unpack;
    const tile_micro_fn *micro; // by number of columns
    int bias;        // of a block of 32: taken out with s
    int bias_shift;  // of 256: log2 of the bias, taken out with minimum[]
    int pairs;       // of 256: minima used, 4 (of groups of 32) or 8 (of 16); 0: none
    float sign_m;    // y = acc + sign_m * acc_m; 0: y = acc
};

// ---------------------------------------------------------------------------------------------
// Unpacking
// ---------------------------------------------------------------------------------------------

// 16 bytes of each row: element j of 32 in the low half of byte j, j + 16 in the high one.
TILE_INLINE void tile_nibbles(vi w[8], const uint8_t *const row[VEC], size_t offset) {
    const vi mask = vi_set8(15);
    vi x[4];
    vi_load_rows(row, offset, x);
    for (int i = 0; i < 4; i++) {
        w[i] = vi_and(x[i], mask);
        w[i + 4] = vi_and(vi_shr16(x[i], 4), mask);
    }
}

// Bit j of a row's dword is bit 4 of element j.
TILE_INLINE void tile_fifth_bits(vi w[8], vi bits) {
    static const uint8_t byte_of[4][16] = {
        {0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12},
        {1, 1, 1, 1, 5, 5, 5, 5, 9, 9, 9, 9, 13, 13, 13, 13},
        {2, 2, 2, 2, 6, 6, 6, 6, 10, 10, 10, 10, 14, 14, 14, 14},
        {3, 3, 3, 3, 7, 7, 7, 7, 11, 11, 11, 11, 15, 15, 15, 15},
    };
    for (int i = 0; i < 8; i++) {
        vi spread = vi_shuffle8(bits, vi_repeat(byte_of[i / 2]));
        vi set = vi_test8(spread, vi_set32(i % 2 ? (int32_t)0x80402010u : 0x08040201));
        w[i] = vi_or(w[i], vi_shl16(set, 4));
    }
}

TILE_INLINE void tile_table(vi w[8], const uint8_t table[16]) {
    const vi values = vi_repeat(table);
    for (int i = 0; i < 8; i++) w[i] = vi_shuffle8(values, w[i]);
}

// Codes of 8 bits: with VNNI moved up by 128, else signed.
TILE_INLINE vi tile_signed_codes(vi codes) {
    return TILE_VNNI ? vi_xor(codes, vi_set8(-128)) : codes;
}

static void tile_unpack_Q8_0(struct tile *t, const uint8_t *const row[VEC], size_t blocks) {
    for (size_t b = 0; b < blocks; b++) {
        vi *w = t->w + 8 * b;
        t->d[b] = vf_load_halves(row, 34 * b);
        vi_load_rows(row, 34 * b + 2, w);
        vi_load_rows(row, 34 * b + 18, w + 4);
        for (int i = 0; i < 8; i++) w[i] = tile_signed_codes(w[i]);
    }
}

static void tile_unpack_Q4_0(struct tile *t, const uint8_t *const row[VEC], size_t blocks) {
    for (size_t b = 0; b < blocks; b++) {
        t->d[b] = vf_load_halves(row, 18 * b);
        tile_nibbles(t->w + 8 * b, row, 18 * b + 2);
    }
}

static void tile_unpack_Q4_1(struct tile *t, const uint8_t *const row[VEC], size_t blocks) {
    for (size_t b = 0; b < blocks; b++) {
        vi scales = vi_load_dword(row, 20 * b);
        t->d[b] = vf_low_halves(scales);
        t->m[b] = vf_high_halves(scales);
        tile_nibbles(t->w + 8 * b, row, 20 * b + 4);
    }
}

static void tile_unpack_Q5_0(struct tile *t, const uint8_t *const row[VEC], size_t blocks) {
    for (size_t b = 0; b < blocks; b++) {
        t->d[b] = vf_load_halves(row, 22 * b);
        tile_nibbles(t->w + 8 * b, row, 22 * b + 6);
        tile_fifth_bits(t->w + 8 * b, vi_load_dword(row, 22 * b + 2));
    }
}

static void tile_unpack_Q5_1(struct tile *t, const uint8_t *const row[VEC], size_t blocks) {
    for (size_t b = 0; b < blocks; b++) {
        vi scales = vi_load_dword(row, 24 * b);
        t->d[b] = vf_low_halves(scales);
        t->m[b] = vf_high_halves(scales);
        tile_nibbles(t->w + 8 * b, row, 24 * b + 8);
        tile_fifth_bits(t->w + 8 * b, vi_load_dword(row, 24 * b + 4));
    }
}

// The values of IQ4_NL and IQ4_XS, and 128 more.
static const uint8_t tile_iq4[2][16] = {
    {129, 152, 173, 191, 207, 221, 234, 246, 1, 13, 25, 38, 53, 69, 89, 113},
    {1, 24, 45, 63, 79, 93, 106, 118, 129, 141, 153, 166, 181, 197, 217, 241},
};

static void tile_unpack_IQ4_NL(struct tile *t, const uint8_t *const row[VEC], size_t blocks) {
    for (size_t b = 0; b < blocks; b++) {
        t->d[b] = vf_load_halves(row, 18 * b);
        tile_nibbles(t->w + 8 * b, row, 18 * b + 2);
        tile_table(t->w + 8 * b, tile_iq4[TILE_VNNI]);
    }
}

static void tile_unpack_MXFP4(struct tile *t, const uint8_t *const row[VEC], size_t blocks) {
    static const uint8_t table[16] = {12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9, 8, 6, 4, 0};
    for (size_t b = 0; b < blocks; b++) {
        // The bits of 2^(e - 128): (e - 1) << 23, of the denormals e = 0 and 1 (e + 1) << 21, which
        // is the larger just there.
        vi e = vi_and(vi_load_dword(row, 17 * b), vi_set32(255));
        vi normal = vi_shl32(vi_sub32(e, vi_set32(1)), 23);
        t->d[b] = vi_as_float(vi_max32(normal, vi_shl32(vi_add32(e, vi_set32(1)), 21)));
        tile_nibbles(t->w + 8 * b, row, 17 * b + 1);
        tile_table(t->w + 8 * b, table);
    }
}

// value, in 16 bits, in the low half of each lane, other in the high one.
TILE_INLINE vi tile_pair(vi value, vi other) {
    return vi_or(vi_and(value, vi_set32(0xffff)), vi_shl32(other, 16));
}
TILE_INLINE vi tile_field(vi x, int shift, int mask) {
    return vi_and(vi_shr32(x, shift), vi_set32(mask));
}

// n scales in lanes of 32 bits.
TILE_INLINE void tile_set_scales(struct tile *t, const vi *scale, int n) {
    for (int g = 0; g < n; g++) t->scale[g] = tile_pair(scale[g], scale[g]);
}
TILE_INLINE void tile_set_minima(struct tile *t, const vi *minimum, int n) {
    for (int g = 0; g < n; g += 2) t->minimum[g / 2] = tile_pair(minimum[g], minimum[g + 1]);
}

// The 16 bytes that Q4_K and Q5_K begin with: d, dmin, eight 6-bit scales and minima.
TILE_INLINE void tile_header(struct tile *t, const uint8_t *const row[VEC]) {
    vi h[4], scale[8], minimum[8];
    vi_load_rows(row, 0, h);
    t->d[0] = vf_low_halves(h[0]);
    t->m[0] = vf_high_halves(h[0]);
    for (int j = 0; j < 4; j++) {
        int byte = 8 * j;
        scale[j] = tile_field(h[1], byte, 63);
        minimum[j] = tile_field(h[2], byte, 63);
        scale[j + 4] = vi_or(tile_field(h[3], byte, 15),
                             vi_shl32(tile_field(h[1], byte + 6, 3), 4));
        minimum[j + 4] = vi_or(tile_field(h[3], byte + 4, 15),
                               vi_shl32(tile_field(h[2], byte + 6, 3), 4));
    }
    tile_set_scales(t, scale, 8);
    tile_set_minima(t, minimum, 8);
}

// 32 bytes of each row.
TILE_INLINE void tile_load_32(vi x[8], const uint8_t *const row[VEC], size_t offset) {
    vi_load_rows(row, offset, x);
    vi_load_rows(row, offset + 16, x + 4);
}

// Bit `from` of every byte, moved to bit `to`.
TILE_INLINE vi tile_bit(vi x, int from, int to) {
    vi moved = from < to ? vi_shl16(x, to - from) : vi_shr16(x, from - to);
    return vi_and(moved, vi_set8(1 << to));
}

static void tile_unpack_Q4_K(struct tile *t, const uint8_t *const row[VEC], size_t blocks) {
    (void)blocks;
    const vi mask = vi_set8(15);
    tile_header(t, row);
    for (int j = 0; j < 4; j++) {
        vi x[8], *w = t->w + 16 * j;
        tile_load_32(x, row, 16 + 32 * (size_t)j);
        for (int i = 0; i < 8; i++) {
            w[i] = vi_and(x[i], mask);
            w[i + 8] = vi_and(vi_shr16(x[i], 4), mask);
        }
    }
}

static void tile_unpack_Q5_K(struct tile *t, const uint8_t *const row[VEC], size_t blocks) {
    (void)blocks;
    const vi mask = vi_set8(15);
    vi high[8];
    tile_header(t, row);
    tile_load_32(high, row, 16);
    TILE_UNROLL
    for (int j = 0; j < 4; j++) {
        vi x[8], *w = t->w + 16 * j;
        tile_load_32(x, row, 48 + 32 * (size_t)j);
        for (int i = 0; i < 8; i++) {
            w[i] = vi_or(vi_and(x[i], mask), tile_bit(high[i], 2 * j, 4));
            w[i + 8] = vi_or(vi_and(vi_shr16(x[i], 4), mask), tile_bit(high[i], 2 * j + 1, 4));
        }
    }
}

static void tile_unpack_Q2_K(struct tile *t, const uint8_t *const row[VEC], size_t blocks) {
    (void)blocks;
    vi h[4], scale[16], minimum[16];
    vi_load_rows(row, 0, h);
    for (int g = 0; g < 16; g++) {
        scale[g] = tile_field(h[g / 4], 8 * (g % 4), 15);
        minimum[g] = tile_field(h[g / 4], 8 * (g % 4) + 4, 15);
    }
    tile_set_scales(t, scale, 16);
    tile_set_minima(t, minimum, 16);
    vi d = vi_load_dword(row, 80);
    t->d[0] = vf_low_halves(d);
    t->m[0] = vf_high_halves(d);
    for (int half = 0; half < 2; half++) {
        vi x[8];
        tile_load_32(x, row, 16 + 32 * (size_t)half);
        for (int r = 0; r < 4; r++)
            for (int i = 0; i < 8; i++)
                t->w[32 * half + 8 * r + i] = vi_and(vi_shr16(x[i], 2 * r), vi_set8(3));
    }
}

static void tile_unpack_Q3_K(struct tile *t, const uint8_t *const row[VEC], size_t blocks) {
    (void)blocks;
    const vi s[3] = {vi_load_dword(row, 96), vi_load_dword(row, 100), vi_load_dword(row, 104)};
    vi scale[16], high[8];
    for (int g = 0; g < 16; g++) {
        vi low = tile_field(s[g % 8 / 4], 8 * (g % 4) + g / 8 * 4, 15);
        vi top = tile_field(s[2], 8 * (g % 4) + g / 4 * 2, 3);
        scale[g] = vi_sub32(vi_or(low, vi_shl32(top, 4)), vi_set32(32));
    }
    tile_set_scales(t, scale, 16);
    tile_set_minima(t, scale, 16);
    t->d[0] = vf_load_halves(row, 108);
    tile_load_32(high, row, 0);
    TILE_UNROLL
    for (int r = 0; r < 8; r++) {
        vi x[8];
        tile_load_32(x, row, 32 + 32 * (size_t)(r / 4));
        for (int i = 0; i < 8; i++) {
            vi low = vi_and(vi_shr16(x[i], r % 4 * 2), vi_set8(3));
            t->w[8 * r + i] = vi_or(low, tile_bit(high[i], r, 2));
        }
    }
}

static void tile_unpack_Q6_K(struct tile *t, const uint8_t *const row[VEC], size_t blocks) {
    (void)blocks;
    const vi mask = vi_set8(15), mask_high = vi_set8(0x30);
    vi h[4], scale[16];
    vi_load_rows(row, 192, h);
    for (int g = 0; g < 16; g++)
        scale[g] = vi_sar32(vi_shl32(h[g / 4], 24 - 8 * (g % 4)), 24);
    tile_set_scales(t, scale, 16);
    tile_set_minima(t, scale, 16);
    t->d[0] = vf_load_halves(row, 208);
    for (size_t half = 0; half < 2; half++) {
        vi a[8], b[8], y[8], *w = t->w + 32 * half;
        tile_load_32(a, row, 64 * half);
        tile_load_32(b, row, 64 * half + 32);
        tile_load_32(y, row, 128 + 32 * half);
        for (int i = 0; i < 8; i++) {
            w[i] = vi_or(vi_and(a[i], mask), vi_and(vi_shl16(y[i], 4), mask_high));
            w[i + 8] = vi_or(vi_and(b[i], mask), vi_and(vi_shl16(y[i], 2), mask_high));
            w[i + 16] = vi_or(vi_and(vi_shr16(a[i], 4), mask), vi_and(y[i], mask_high));
            w[i + 24] = vi_or(vi_and(vi_shr16(b[i], 4), mask),
                              vi_and(vi_shr16(y[i], 2), mask_high));
        }
    }
}

static void tile_unpack_IQ4_XS(struct tile *t, const uint8_t *const row[VEC], size_t blocks) {
    (void)blocks;
    const vi high = vi_load_dword(row, 0), low = vi_load_dword(row, 4);
    vi scale[8];
    for (int b = 0; b < 8; b++) {
        vi top = vi_shl32(tile_field(high, 16 + 2 * b, 3), 4);
        scale[b] = vi_sub32(vi_or(tile_field(low, 4 * b, 15), top), vi_set32(32));
        tile_nibbles(t->w + 8 * b, row, 8 + 16 * (size_t)b);
        tile_table(t->w + 8 * b, tile_iq4[TILE_VNNI]);
    }
    tile_set_scales(t, scale, 8);
    tile_set_minima(t, scale, 8);
    t->d[0] = vf_low_halves(high);
}

// ---------------------------------------------------------------------------------------------
// Multiplying
// ---------------------------------------------------------------------------------------------

TILE_INLINE vi tile_broadcast(const void *p) {
    int32_t x;
    memcpy(&x, p, sizeof x);
    return vi_set32(x);
}

// sum[c] += factor[c] * (codes of `steps` dwords times activations), in each lane.
// q[c]: the activations. factor: int16 twice, of which VNNI uses the low one.
TILE_INLINE void tile_group(vi *sum, const vi *w, const int8_t *const *q, const vi *factor,
                            const int columns, const int steps, const int run) {
#if TILE_VNNI
    (void)run;
    vi p[TILE_COLUMNS];
    TILE_UNROLL
    for (int c = 0; c < columns; c++) p[c] = vi_zero();
    TILE_UNROLL
    for (int i = 0; i < steps; i++) {
        TILE_UNROLL
        for (int c = 0; c < columns; c++)
            p[c] = vi_dpbusd(p[c], w[i], tile_broadcast(q[c] + 4 * i));
    }
    TILE_UNROLL
    for (int c = 0; c < columns; c++)
        sum[c] = vi_add32(sum[c], factor ? vi_mullo32(p[c], factor[c]) : p[c]);
#else
    TILE_UNROLL
    for (int i = 0; i < steps; i += run) {
        vi p[TILE_COLUMNS];
        TILE_UNROLL
        for (int j = i; j < i + run; j++) {
            const vi code = w[j], magnitude = vi_abs8(code);
            TILE_UNROLL
            for (int c = 0; c < columns; c++) {
                vi x = tile_broadcast(q[c] + 4 * j);
                vi y = run == 1 ? vi_madd_signed(code, magnitude, x) : vi_maddubs(code, x);
                p[c] = j == i ? y : vi_add16(p[c], y);
            }
        }
        TILE_UNROLL
        for (int c = 0; c < columns; c++)
            sum[c] = vi_add32(sum[c], vi_madd16(p[c], factor ? factor[c] : vi_set16(1)));
    }
#endif
}

// Blocks of 32: one fma each.
TILE_INLINE void tile_micro_32(const struct tile *t, const struct tile_form *form,
                               const struct tile_place *place, const uint8_t *const *column,
                               struct tile_sums *sums, const int columns, const int run) {
    const bool has_minimum = form->sign_m != 0.0f;
    vf acc[TILE_COLUMNS], acc_m[TILE_COLUMNS];
    TILE_UNROLL
    for (int c = 0; c < columns; c++) {
        acc[c] = sums[c].acc;
        acc_m[c] = sums[c].acc_m;
    }
    for (size_t b = 0; b < place->blocks; b++) {
        const int8_t *q[TILE_COLUMNS];
        vi p[TILE_COLUMNS];
        TILE_UNROLL
        for (int c = 0; c < columns; c++) {
            q[c] = (const int8_t *)column[c] + place->k + 32 * b;
            p[c] = vi_zero();
        }
        tile_group(p, t->w + 8 * b, q, NULL, columns, 8, run);
        TILE_UNROLL
        for (int c = 0; c < columns; c++) {
            size_t at = 4 * (place->k / 32 + b);
            float d;
            int32_t s;
            memcpy(&d, column[c] + place->scale_offset + at, sizeof d);
            memcpy(&s, column[c] + place->sum_offset + at, sizeof s);
            vf da = vf_set(d), integer = vi_to_float(vi_sub32(p[c], vi_set32(form->bias * s)));
            acc[c] = vf_fma(vf_mul(t->d[b], da), integer, acc[c]);
            if (has_minimum)
                acc_m[c] = vf_fma(vf_mul(t->m[b], da), vf_set((float)s), acc_m[c]);
        }
    }
    TILE_UNROLL
    for (int c = 0; c < columns; c++) sums[c] = (struct tile_sums){acc[c], acc_m[c]};
}

// sum of minimum[g] * (t S) over the groups, in each lane.
TILE_INLINE vi tile_minima(const struct tile *t, const struct kernels_q256 *a, int pairs) {
    int16_t block[8]; // t S of blocks of 32: two groups of 16
    const int16_t *ts = a->ts;
    vi sum = vi_zero();
    if (pairs == 4) {
        __m128i low = _mm_loadu_si128((const __m128i *)(const void *)a->ts);
        __m128i high = _mm_loadu_si128((const __m128i *)(const void *)(a->ts + 8));
        _mm_storeu_si128((__m128i *)(void *)block, _mm_hadd_epi16(low, high));
        ts = block;
    }
    for (int j = 0; j < pairs; j++)
        sum = vi_add32(sum, vi_madd16(t->minimum[j], tile_broadcast(ts + 2 * j)));
    return sum;
}

// One block of 256 in groups of 4 * steps.
TILE_INLINE void tile_micro_256(const struct tile *t, const struct tile_form *form,
                                const struct tile_place *place, const uint8_t *const *column,
                                struct tile_sums *sums, const int columns, const int steps,
                                const int run) {
    const struct kernels_q256 *a[TILE_COLUMNS];
    vi sum[TILE_COLUMNS];
    TILE_UNROLL
    for (int c = 0; c < columns; c++) {
        a[c] = (const struct kernels_q256 *)(const void *)column[c] + place->k / TILE_K;
        sum[c] = vi_zero();
    }
    for (int g = 0; g < TILE_K / 4 / steps; g++) {
        const int8_t *q[TILE_COLUMNS];
        vi factor[TILE_COLUMNS];
        TILE_UNROLL
        for (int c = 0; c < columns; c++) {
            int multiplier = a[c]->t[g * steps / 8];
            q[c] = a[c]->q + 4 * steps * g;
            factor[c] = TILE_VNNI ? vi_madd16(t->scale[g], vi_set32(multiplier))
                                  : vi_mullo16(t->scale[g], vi_set16(multiplier));
        }
        tile_group(sum, t->w + steps * g, q, factor, columns, steps, run);
    }
    TILE_UNROLL
    for (int c = 0; c < columns; c++) {
        vf d = vf_set(a[c]->d);
        vi minima = form->pairs ? tile_minima(t, a[c], form->pairs) : vi_zero();
        if (form->sign_m != 0.0f)
            sums[c].acc_m = vf_fma(vf_mul(t->m[0], d), vi_to_float(minima), sums[c].acc_m);
        else
            sum[c] = vi_sub32(sum[c], vi_shl32(minima, form->bias_shift));
        sums[c].acc = vf_fma(vf_mul(t->d[0], d), vi_to_float(sum[c]), sums[c].acc);
    }
}

#define TILE_MICRO(name, columns, kind, ...)                                                       \
    static void tile_##name##_##columns(                                                           \
        const struct tile *t, const struct tile_form *form, const struct tile_place *place,        \
        const uint8_t *const *column, struct tile_sums *sums) {                                    \
        tile_micro_##kind(t, form, place, column, sums, columns, __VA_ARGS__);                     \
    }
#define TILE_MICROS(name, kind, ...)                                                               \
    TILE_MICRO(name, 1, kind, __VA_ARGS__)                                                         \
    TILE_MICRO(name, 2, kind, __VA_ARGS__)                                                         \
    TILE_MICRO(name, 3, kind, __VA_ARGS__)                                                         \
    TILE_MICRO(name, 4, kind, __VA_ARGS__)                                                         \
    static const tile_micro_fn tile_##name[TILE_COLUMNS + 1] = {                                   \
        NULL, tile_##name##_1, tile_##name##_2, tile_##name##_3, tile_##name##_4};

// name: blocks _ steps of a group _ run
#if TILE_VNNI
TILE_MICROS(blocks_32, 32, 1)
TILE_MICROS(groups_8, 256, 8, 1)
TILE_MICROS(groups_4, 256, 4, 1)
#define tile_32_run_8 tile_blocks_32
#define tile_32_run_4 tile_blocks_32
#define tile_32_signed tile_blocks_32
#define tile_256_8_run_8 tile_groups_8
#define tile_256_8_run_4 tile_groups_8
#define tile_256_8_signed tile_groups_8
#define tile_256_4_run_4 tile_groups_4
#define tile_256_4_run_2 tile_groups_4
#else
TILE_MICROS(32_run_8, 32, 8)
TILE_MICROS(32_run_4, 32, 4)
TILE_MICROS(32_signed, 32, 1)
TILE_MICROS(256_8_run_8, 256, 8, 8)
TILE_MICROS(256_8_run_4, 256, 8, 4)
TILE_MICROS(256_8_signed, 256, 8, 1)
TILE_MICROS(256_4_run_4, 256, 4, 4)
TILE_MICROS(256_4_run_2, 256, 4, 2)
#endif

// ---------------------------------------------------------------------------------------------
// Driving
// ---------------------------------------------------------------------------------------------

// Lines of the next tile, spread over the work on this one: hardware prefetchers follow one row,
// not VEC of them. Addresses past the end are harmless.
TILE_INLINE void tile_prefetch(const uint8_t *p, size_t bytes) {
    for (size_t i = 0; i < bytes; i += 64) __builtin_prefetch(p + i, 0, 2);
}

// Rows [first, first + rows) times columns [column_first, + n).
static void tile_panel(const struct kernels_matmul *m, const struct tile_form *form, size_t first,
                       size_t rows, size_t column_first, size_t n) {
    struct tile t;
    struct tile_sums sums[TILE_PANEL];
    const uint8_t *row[VEC], *column[TILE_PANEL];
    const uint8_t *next = m->w + (first + VEC) * m->w_row_bytes;
    struct tile_place place = {.scale_offset = kernels_q32_scale_offset(m->k),
                               .sum_offset = kernels_q32_sum_offset(m->k)};
    for (size_t i = 0; i < VEC; i++)
        row[i] = m->w + (first + (i < rows ? i : rows - 1)) * m->w_row_bytes;
    for (size_t c = 0; c < n; c++) {
        size_t number = m->cols ? m->cols[column_first + c] : column_first + c;
        column[c] = m->act + number * m->act_stride;
        sums[c] = (struct tile_sums){vf_zero(), vf_zero()};
    }
    for (; place.k < m->k; place.k += TILE_K) {
        size_t weights = m->k - place.k < TILE_K ? m->k - place.k : TILE_K;
        size_t bytes = weights / form->weights * form->bytes;
        place.blocks = weights / 32;
        form->unpack(&t, row, place.blocks);
        for (size_t i = 0; i < VEC; i++) row[i] += bytes;
        tile_prefetch(next, VEC * bytes);
        next += VEC * bytes;
        // Columns in equal shares: 5 are 3 + 2, not 4 + 1.
        for (size_t c = 0, calls = (n + TILE_COLUMNS - 1) / TILE_COLUMNS; c < n; calls--) {
            size_t share = (n - c + calls - 1) / calls;
            form->micro[share](&t, form, &place, column + c, sums + c);
            c += share;
        }
    }
    for (size_t c = 0; c < n; c++) {
        vf y = sums[c].acc;
        if (form->sign_m > 0.0f) y = vf_add(y, sums[c].acc_m);
        if (form->sign_m < 0.0f) y = vf_sub(y, sums[c].acc_m);
        vf_store_part(m->y + (column_first + c) * m->y_stride + first, y, rows);
    }
}

static void tile_matmul(const struct kernels_matmul *m, const struct tile_form *form) {
    for (size_t r = 0; r < m->rows; r += VEC) {
        size_t rows = m->rows - r < VEC ? m->rows - r : VEC;
        for (size_t c = 0; c < m->n_cols; c += TILE_PANEL)
            tile_panel(m, form, r, rows, c,
                       m->n_cols - c < TILE_PANEL ? m->n_cols - c : TILE_PANEL);
    }
}

// X(type, weights, bytes, micro kernels, bias, bias_shift, pairs, sign_m)
#define TILE_SIGNED_BIAS (TILE_VNNI ? 128 : 0)
#define TILE_SIGNED_PAIRS (TILE_VNNI ? 4 : 0)
#define TILE_LIST(X)                                                                               \
    X(Q8_0, 32, 34, tile_32_signed, TILE_SIGNED_BIAS, 0, 0, 0)                                     \
    X(Q4_0, 32, 18, tile_32_run_8, 8, 0, 0, 0)                                                     \
    X(Q4_1, 32, 20, tile_32_run_8, 0, 0, 0, 1)                                                     \
    X(Q5_0, 32, 22, tile_32_run_4, 16, 0, 0, 0)                                                    \
    X(Q5_1, 32, 24, tile_32_run_4, 0, 0, 0, 1)                                                     \
    X(IQ4_NL, 32, 18, tile_32_signed, TILE_SIGNED_BIAS, 0, 0, 0)                                   \
    X(MXFP4, 32, 17, tile_32_run_4, 12, 0, 0, 0)                                                   \
    X(Q2_K, 256, 84, tile_256_4_run_4, 0, 0, 8, -1)                                                \
    X(Q3_K, 256, 110, tile_256_4_run_4, 0, 2, 8, 0)                                                \
    X(Q4_K, 256, 144, tile_256_8_run_8, 0, 0, 4, -1)                                               \
    X(Q5_K, 256, 176, tile_256_8_run_4, 0, 0, 4, -1)                                               \
    X(Q6_K, 256, 210, tile_256_4_run_2, 0, 5, 8, 0)                                                \
    X(IQ4_XS, 256, 136, tile_256_8_signed, 0, 7, TILE_SIGNED_PAIRS, 0)

#define TILE_MATMUL(type, weights, bytes, micro, bias, bias_shift, pairs, sign_m)                  \
    static const struct tile_form tile_form_##type = {                                             \
        weights, bytes, tile_unpack_##type, micro, bias, bias_shift, pairs, sign_m};               \
    static void tile_matmul_##type(const struct kernels_matmul *m) {                               \
        tile_matmul(m, &tile_form_##type);                                                         \
    }
TILE_LIST(TILE_MATMUL)

void TILE_INIT(struct kernels_table *table) {
#define TILE_ENTRY(type, weights, bytes, micro, bias, bias_shift, pairs, sign_m)                   \
    table->matmul[DTYPE_##type] = tile_matmul_##type;
    TILE_LIST(TILE_ENTRY)
#undef TILE_ENTRY
}

#endif
