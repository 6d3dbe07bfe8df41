// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the vector operations that the templates of this folder are written in, 8 lanes of 32
//            bits. vec_avx512.h has the same names with 16 lanes. VEC_VNNI adds vi_dpbusd.
// Called by: files compiled for AVX2 and AVX-VNNI.
// Threads:   pure.
// Errors:    none.
// Not here:  any arithmetic rule.
//
// vi_* work on integers, vf_* on floats, v16_* on the 16 virtual lanes of rule 1 of kernels.h.
// *_part read or write the first n lanes only (0 <= n <= VEC); the others read as zero.
#ifndef KERNELS_X86_VEC_AVX2_H
#define KERNELS_X86_VEC_AVX2_H

#ifdef VEC_VNNI
#include "kernels/x86/simd512.h"
#endif

#include "kernels/x86/vec_rows.h"

enum { VEC = 8 };
typedef __m256i vi;
typedef __m256 vf;

static inline vi vi_load(const void *p) { return _mm256_loadu_si256((const __m256i *)p); }
// VEC bytes, each to an int32.
static inline vi vi_load_bytes(const void *p) {
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)p));
}
static inline void vi_store(void *p, vi a) { _mm256_storeu_si256((__m256i *)p, a); }
static inline vi vi_zero(void) { return _mm256_setzero_si256(); }
static inline vi vi_set8(int x) { return _mm256_set1_epi8((char)x); }
static inline vi vi_set16(int x) { return _mm256_set1_epi16((short)x); }
static inline vi vi_set32(int32_t x) { return _mm256_set1_epi32(x); }
// 16 bytes, repeated in every 128 bits.
static inline vi vi_repeat(const void *p) {
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)p));
}
static inline vi vi_and(vi a, vi b) { return _mm256_and_si256(a, b); }
static inline vi vi_or(vi a, vi b) { return _mm256_or_si256(a, b); }
static inline vi vi_xor(vi a, vi b) { return _mm256_xor_si256(a, b); }
static inline vi vi_shl32(vi a, int n) { return _mm256_slli_epi32(a, n); }
static inline vi vi_shr32(vi a, int n) { return _mm256_srli_epi32(a, n); }
static inline vi vi_sar32(vi a, int n) { return _mm256_srai_epi32(a, n); }
static inline vi vi_shr16(vi a, int n) { return _mm256_srli_epi16(a, n); }
static inline vi vi_shl16(vi a, int n) { return _mm256_slli_epi16(a, n); }
static inline vi vi_sar16(vi a, int n) { return _mm256_srai_epi16(a, n); }
static inline vi vi_sub8(vi a, vi b) { return _mm256_sub_epi8(a, b); }
static inline vi vi_add16(vi a, vi b) { return _mm256_add_epi16(a, b); }
static inline vi vi_add32(vi a, vi b) { return _mm256_add_epi32(a, b); }
static inline vi vi_sub32(vi a, vi b) { return _mm256_sub_epi32(a, b); }
static inline vi vi_max32(vi a, vi b) { return _mm256_max_epi32(a, b); }
static inline vi vi_min32(vi a, vi b) { return _mm256_min_epi32(a, b); }
static inline vi vi_mullo16(vi a, vi b) { return _mm256_mullo_epi16(a, b); }
static inline vi vi_mullo32(vi a, vi b) { return _mm256_mullo_epi32(a, b); }
static inline vi vi_madd16(vi a, vi b) { return _mm256_madd_epi16(a, b); }
// Bytes: unsigned a times signed b, neighbours added (the caller excludes saturation).
static inline vi vi_maddubs(vi a, vi b) { return _mm256_maddubs_epi16(a, b); }
// The same for signed bytes a, given |a|: |a| times (b with the sign of a).
static inline vi vi_madd_signed(vi a, vi magnitude, vi b) {
    return _mm256_maddubs_epi16(magnitude, _mm256_sign_epi8(b, a));
}
#ifdef VEC_VNNI
// sum + the four products of each lane: unsigned bytes of a, signed bytes of b.
static inline vi vi_dpbusd(vi sum, vi a, vi b) { return _mm256_dpbusd_avx_epi32(sum, a, b); }
#endif
static inline vi vi_abs8(vi a) { return _mm256_abs_epi8(a); }
// Bytes picked within each 128 bits.
static inline vi vi_shuffle8(vi a, vi indices) { return _mm256_shuffle_epi8(a, indices); }
// `value` in the bytes where all bits of mask are set in a, else 0 (mask has one bit per byte).
static inline vi vi_test8(vi a, vi mask, int value) {
    return _mm256_and_si256(_mm256_cmpeq_epi8(_mm256_and_si256(a, mask), mask), vi_set8(value));
}
// The low 16 bits of each lane, twice; the low ones of a and the high ones of b.
static inline vi vi_pick_words(vi a) {
    return _mm256_blend_epi16(a, _mm256_slli_epi32(a, 16), 0xaa);
}
static inline vi vi_low_high(vi a, vi b) { return _mm256_blend_epi16(a, b, 0xaa); }

static inline int32_t vi_max_of(vi a) {
    __m128i x = _mm_max_epi32(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
    x = _mm_max_epi32(x, _mm_shuffle_epi32(x, 0x4e));
    return _mm_cvtsi128_si32(_mm_max_epi32(x, _mm_shuffle_epi32(x, 0xb1)));
}
static inline int32_t vi_sum_of(vi a) {
    __m128i x = _mm_add_epi32(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
    x = _mm_add_epi32(x, _mm_shuffle_epi32(x, 0x4e));
    return _mm_cvtsi128_si32(_mm_add_epi32(x, _mm_shuffle_epi32(x, 0xb1)));
}
// 32 int32 in -128..127, in VEC lanes each, to 32 bytes.
static inline void vi_store_32_bytes(int8_t *p, const vi a[32 / VEC]) {
    __m256i low = _mm256_packs_epi32(a[0], a[1]), high = _mm256_packs_epi32(a[2], a[3]);
    __m256i mixed = _mm256_packs_epi16(low, high); // dwords 0 2 4 6 | 1 3 5 7
    vi_store(p, _mm256_permutevar8x32_epi32(mixed, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7)));
}

static inline vf vf_load(const float *p) { return _mm256_loadu_ps(p); }
static inline void vf_store(float *p, vf a) { _mm256_storeu_ps(p, a); }
static inline vf vf_zero(void) { return _mm256_setzero_ps(); }
static inline vf vf_set(float x) { return _mm256_set1_ps(x); }
static inline __m256i vec_mask(size_t n) {
    static const int32_t ones[2 * VEC] = {-1, -1, -1, -1, -1, -1, -1, -1};
    return _mm256_loadu_si256((const __m256i *)(const void *)(ones + VEC - n));
}
static inline vf vf_load_part(const float *p, size_t n) {
    return _mm256_maskload_ps(p, vec_mask(n));
}
static inline void vf_store_part(float *p, vf a, size_t n) {
    _mm256_maskstore_ps(p, vec_mask(n), a);
}
static inline vf vf_add(vf a, vf b) { return _mm256_add_ps(a, b); }
static inline vf vf_sub(vf a, vf b) { return _mm256_sub_ps(a, b); }
static inline vf vf_mul(vf a, vf b) { return _mm256_mul_ps(a, b); }
static inline vf vf_div(vf a, vf b) { return _mm256_div_ps(a, b); }
static inline vf vf_fma(vf a, vf b, vf c) { return _mm256_fmadd_ps(a, b, c); }
// a > b ? a : b and a < b ? a : b, that is b if either is NaN.
static inline vf vf_max(vf a, vf b) { return _mm256_max_ps(a, b); }
static inline vf vf_min(vf a, vf b) { return _mm256_min_ps(a, b); }
// a < b ? x : y
static inline vf vf_if_less(vf a, vf b, vf x, vf y) {
    return _mm256_blendv_ps(y, x, _mm256_cmp_ps(a, b, _CMP_LT_OQ));
}
static inline uint32_t vf_equal_bits(vf a, vf b) { // bit i: lanes i are equal
    return (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_EQ_OQ));
}
static inline uint32_t vf_nan_bits(vf a) {
    return (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(a, a, _CMP_UNORD_Q));
}
static inline vi vf_bits(vf a) { return _mm256_castps_si256(a); }
static inline vf vi_as_float(vi a) { return _mm256_castsi256_ps(a); }
static inline vf vi_to_float(vi a) { return _mm256_cvtepi32_ps(a); }
static inline vi vf_nearest(vf a) { return _mm256_cvtps_epi32(a); }
// x0 x1 x2 .. to even (x0 x2 ..) and odd elements, of 2 VEC floats, and back.
static inline void vf_load_pairs(const float *p, vf *even, vf *odd) {
    __m256 a = vf_load(p), b = vf_load(p + VEC); // 0..7, 8..15
    __m256 low = _mm256_permute2f128_ps(a, b, 0x20), high = _mm256_permute2f128_ps(a, b, 0x31);
    *even = _mm256_shuffle_ps(low, high, 0x88);
    *odd = _mm256_shuffle_ps(low, high, 0xdd);
}
static inline void vf_store_pairs(float *p, vf even, vf odd) {
    __m256 low = _mm256_unpacklo_ps(even, odd), high = _mm256_unpackhi_ps(even, odd);
    vf_store(p, _mm256_permute2f128_ps(low, high, 0x20));
    vf_store(p + VEC, _mm256_permute2f128_ps(low, high, 0x31));
}
static inline vf vf_load_half(const void *p) { // VEC float16
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)p));
}
static inline void vf_store_half(void *p, vf a) {
    _mm_storeu_si128((__m128i *)p, _mm256_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT));
}
static inline vf vf_load_bfloat(const void *p) {
    __m256i wide = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)p));
    return _mm256_castsi256_ps(_mm256_slli_epi32(wide, 16));
}

// ---- one lane per row of a matrix ---------------------------------------------------------------

// Four dwords at `offset` of each row: out[j] holds dword j.
static inline void vi_load_rows(const struct vec_rows *rows, size_t offset, vi out[4]) {
    __m256i a[4];
    for (size_t i = 0; i < 4; i++) // a broadcast is a load alone, an insert would be a shuffle
        a[i] = _mm256_blend_epi32(_mm256_castsi128_si256(vec_row_16(rows, i, offset)),
                                  _mm256_broadcastsi128_si256(vec_row_16(rows, i + 4, offset)),
                                  0xf0);
    __m256i b0 = _mm256_unpacklo_epi32(a[0], a[1]), b1 = _mm256_unpackhi_epi32(a[0], a[1]);
    __m256i b2 = _mm256_unpacklo_epi32(a[2], a[3]), b3 = _mm256_unpackhi_epi32(a[2], a[3]);
    out[0] = _mm256_unpacklo_epi64(b0, b2);
    out[1] = _mm256_unpackhi_epi64(b0, b2);
    out[2] = _mm256_unpacklo_epi64(b1, b3);
    out[3] = _mm256_unpackhi_epi64(b1, b3);
}
// The dword at `offset` of each row.
static inline vi vi_load_dword(const struct vec_rows *rows, size_t offset) {
    return _mm256_inserti128_si256(_mm256_castsi128_si256(vec_rows_4(rows, 0, offset)),
                                   vec_rows_4(rows, 4, offset), 1);
}
// 16 bits of each lane, from bit `shift` (0 or 16), as float16.
static inline vf vec_halves(vi a, int shift) {
    const vi pick = _mm256_add_epi8(vi_set8(shift / 8),
                                    _mm256_setr_epi32(0x05040100, 0x0d0c0908, -1, -1,
                                                      0x05040100, 0x0d0c0908, -1, -1));
    __m256i words = _mm256_permute4x64_epi64(vi_shuffle8(a, pick), 0x08);
    return _mm256_cvtph_ps(_mm256_castsi256_si128(words));
}
static inline vf vf_low_halves(vi a) { return vec_halves(a, 0); }
static inline vf vf_high_halves(vi a) { return vec_halves(a, 16); }
// Bytes `low` and `high` (0..3) of each lane as a pair of unsigned, or of signed, 16-bit integers.
static inline vi vi_pick(vi a, uint32_t low, uint32_t high) {
    uint32_t x = 0x80008000u | low | high << 16, next = 0x04040404;
    __m128i pick = _mm_setr_epi32((int)x, (int)(x + next), (int)(x + 2 * next), (int)(x + 3 * next));
    return vi_shuffle8(a, _mm256_broadcastsi128_si256(pick));
}
static inline vi vi_pick_signed(vi a, uint32_t low, uint32_t high) {
    uint32_t x = 0x00800080u | low << 8 | high << 24, next = 0x04040404;
    __m128i pick = _mm_setr_epi32((int)x, (int)(x + next), (int)(x + 2 * next), (int)(x + 3 * next));
    return vi_sar16(vi_shuffle8(a, _mm256_broadcastsi128_si256(pick)), 8);
}
// Makes x opaque where it stands: gcc would gather all products first and add them up last, which
// takes more registers than there are.
#define VI_KEEP(x) __asm__("" : "+x"(x))

// ---- 16 virtual lanes ---------------------------------------------------------------------------

typedef struct {
    vf low, high;
} v16;

static inline v16 v16_zero(void) { return (v16){vf_zero(), vf_zero()}; }
static inline v16 v16_load(const float *p) { return (v16){vf_load(p), vf_load(p + 8)}; }
static inline v16 v16_load_part(const float *p, size_t n) { // 0 <= n <= 16
    if (n < 8) return (v16){vf_load_part(p, n), vf_zero()};
    return (v16){vf_load(p), vf_load_part(p + 8, n - 8)};
}
static inline v16 v16_load_half(const uint16_t *p) {
    return (v16){vf_load_half(p), vf_load_half(p + 8)};
}
static inline v16 v16_load_bfloat(const uint16_t *p) {
    return (v16){vf_load_bfloat(p), vf_load_bfloat(p + 8)};
}
static inline v16 v16_fma(v16 a, v16 b, v16 c) {
    return (v16){vf_fma(a.low, b.low, c.low), vf_fma(a.high, b.high, c.high)};
}
static inline v16 v16_add(v16 a, v16 b) {
    return (v16){vf_add(a.low, b.low), vf_add(a.high, b.high)};
}
static inline __m128 v16_totals(const v16 a[4]) {
    __m256 x[4];
    for (int i = 0; i < 4; i++) x[i] = vf_add(a[i].low, a[i].high);
    return vec_totals(x);
}
static inline float v16_total(v16 a) { return vec_total(vf_add(a.low, a.high)); }

#endif
