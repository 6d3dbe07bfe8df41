// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the vector operations that the templates of this folder are written in, 16 lanes of 32
//            bits: the names and meanings of vec_avx2.h.
// Called by: files compiled for AVX-512 and AVX-512 VNNI.
// Threads:   pure.
// Errors:    none.
// Not here:  any arithmetic rule.
#ifndef KERNELS_X86_VEC_AVX512_H
#define KERNELS_X86_VEC_AVX512_H

#include "kernels/x86/simd512.h"
#include "kernels/x86/vec_rows.h"

enum { VEC = 16 };
typedef __m512i vi;
typedef __m512 vf;

static inline vi vi_load(const void *p) { return _mm512_loadu_si512(p); }
static inline void vi_store(void *p, vi a) { _mm512_storeu_si512(p, a); }
static inline vi vi_zero(void) { return _mm512_setzero_si512(); }
static inline vi vi_set8(int x) { return _mm512_set1_epi8((int8_t)x); }
static inline vi vi_set16(int x) { return _mm512_set1_epi16((int16_t)x); }
static inline vi vi_set32(int32_t x) { return _mm512_set1_epi32(x); }
static inline vi vi_repeat(const void *p) {
    return _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)p));
}
static inline vi vi_and(vi a, vi b) { return _mm512_and_si512(a, b); }
static inline vi vi_or(vi a, vi b) { return _mm512_or_si512(a, b); }
static inline vi vi_xor(vi a, vi b) { return _mm512_xor_si512(a, b); }
static inline vi vi_shl32(vi a, unsigned n) { return _mm512_slli_epi32(a, n); }
static inline vi vi_shr32(vi a, unsigned n) { return _mm512_srli_epi32(a, n); }
static inline vi vi_sar32(vi a, unsigned n) { return _mm512_srai_epi32(a, n); }
static inline vi vi_shr16(vi a, unsigned n) { return _mm512_srli_epi16(a, n); }
static inline vi vi_shl16(vi a, unsigned n) { return _mm512_slli_epi16(a, n); }
static inline vi vi_sar16(vi a, unsigned n) { return _mm512_srai_epi16(a, n); }
static inline vi vi_sub8(vi a, vi b) { return _mm512_sub_epi8(a, b); }
static inline vi vi_add16(vi a, vi b) { return _mm512_add_epi16(a, b); }
static inline vi vi_add32(vi a, vi b) { return _mm512_add_epi32(a, b); }
static inline vi vi_sub32(vi a, vi b) { return _mm512_sub_epi32(a, b); }
static inline vi vi_max32(vi a, vi b) { return _mm512_max_epi32(a, b); }
static inline vi vi_min32(vi a, vi b) { return _mm512_min_epi32(a, b); }
static inline vi vi_mullo16(vi a, vi b) { return _mm512_mullo_epi16(a, b); }
static inline vi vi_mullo32(vi a, vi b) { return _mm512_mullo_epi32(a, b); }
static inline vi vi_madd16(vi a, vi b) { return _mm512_madd_epi16(a, b); }
static inline vi vi_maddubs(vi a, vi b) { return _mm512_maddubs_epi16(a, b); }
static inline vi vi_madd_signed(vi a, vi magnitude, vi b) {
    vi turned = _mm512_mask_sub_epi8(b, _mm512_movepi8_mask(a), vi_zero(), b);
    return _mm512_maddubs_epi16(magnitude, turned);
}
#ifdef VEC_VNNI
static inline vi vi_dpbusd(vi sum, vi a, vi b) { return _mm512_dpbusd_epi32(sum, a, b); }
#endif
static inline vi vi_abs8(vi a) { return _mm512_abs_epi8(a); }
static inline vi vi_shuffle8(vi a, vi indices) { return _mm512_shuffle_epi8(a, indices); }
static inline vi vi_test8(vi a, vi mask, int value) {
    __mmask64 set = _mm512_cmpeq_epi8_mask(_mm512_and_si512(a, mask), mask);
    return _mm512_mask_sub_epi8(vi_zero(), set, vi_zero(), vi_set8(-value));
}
static inline vi vi_low_high(vi a, vi b) {
    return _mm512_mask_mov_epi16(a, 0xaaaaaaaa, b);
}
static inline vi vi_pick_words(vi a) { return vi_low_high(a, _mm512_slli_epi32(a, 16)); }

static inline int32_t vi_max_of(vi a) {
    int32_t x[VEC], largest;
    vi_store(x, a);
    largest = x[0];
    for (int i = 1; i < VEC; i++) largest = x[i] > largest ? x[i] : largest;
    return largest;
}
static inline int32_t vi_sum_of(vi a) {
    int32_t x[VEC], sum = 0;
    vi_store(x, a);
    for (int i = 0; i < VEC; i++) sum += x[i];
    return sum;
}
static inline void vi_store_32_bytes(int8_t *p, const vi a[32 / VEC]) {
    _mm_storeu_si128((__m128i *)(void *)p, _mm512_cvtsepi32_epi8(a[0]));
    _mm_storeu_si128((__m128i *)(void *)(p + 16), _mm512_cvtsepi32_epi8(a[1]));
}

static inline vf vf_load(const float *p) { return _mm512_loadu_ps(p); }
static inline void vf_store(float *p, vf a) { _mm512_storeu_ps(p, a); }
static inline vf vf_zero(void) { return _mm512_setzero_ps(); }
static inline vf vf_set(float x) { return _mm512_set1_ps(x); }
static inline vf vf_load_part(const float *p, size_t n) {
    return _mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), p);
}
static inline void vf_store_part(float *p, vf a, size_t n) {
    _mm512_mask_storeu_ps(p, (__mmask16)((1u << n) - 1), a);
}
static inline vf vf_add(vf a, vf b) { return _mm512_add_ps(a, b); }
static inline vf vf_sub(vf a, vf b) { return _mm512_sub_ps(a, b); }
static inline vf vf_mul(vf a, vf b) { return _mm512_mul_ps(a, b); }
static inline vf vf_div(vf a, vf b) { return _mm512_div_ps(a, b); }
static inline vf vf_fma(vf a, vf b, vf c) { return _mm512_fmadd_ps(a, b, c); }
static inline vf vf_max(vf a, vf b) { return _mm512_max_ps(a, b); }
static inline vf vf_min(vf a, vf b) { return _mm512_min_ps(a, b); }
static inline vf vf_if_less(vf a, vf b, vf x, vf y) {
    return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a, b, _CMP_LT_OQ), y, x);
}
static inline uint32_t vf_equal_bits(vf a, vf b) {
    return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ);
}
static inline uint32_t vf_nan_bits(vf a) {
    return _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q);
}
static inline vi vf_bits(vf a) { return _mm512_castps_si512(a); }
static inline vf vi_as_float(vi a) { return _mm512_castsi512_ps(a); }
static inline vf vi_to_float(vi a) { return _mm512_cvtepi32_ps(a); }
static inline vi vf_nearest(vf a) { return _mm512_cvtps_epi32(a); }
static inline void vf_load_pairs(const float *p, vf *even, vf *odd) {
    const vi first = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    vf a = vf_load(p), b = vf_load(p + VEC);
    *even = _mm512_permutex2var_ps(a, first, b);
    *odd = _mm512_permutex2var_ps(a, vi_add32(first, vi_set32(1)), b);
}
static inline void vf_store_pairs(float *p, vf even, vf odd) {
    const vi first = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    vf_store(p, _mm512_permutex2var_ps(even, first, odd));
    vf_store(p + VEC, _mm512_permutex2var_ps(even, vi_add32(first, vi_set32(8)), odd));
}
static inline vf vf_load_half(const void *p) {
    return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)p));
}
static inline void vf_store_half(void *p, vf a) {
    _mm256_storeu_si256((__m256i *)p, _mm512_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT));
}
static inline vf vf_load_bfloat(const void *p) {
    uint32_t x[VEC];
    const uint8_t *bytes = p;
    for (int i = 0; i < VEC; i++) {
        uint16_t bits;
        memcpy(&bits, bytes + 2 * i, sizeof bits);
        x[i] = (uint32_t)bits << 16;
    }
    return vi_as_float(vi_load(x));
}

static inline vi vec_join(__m128i a, __m128i b, __m128i c, __m128i d) {
    vi x = _mm512_inserti32x4(_mm512_broadcast_i32x4(a), b, 1);
    return _mm512_inserti32x4(_mm512_inserti32x4(x, c, 2), d, 3);
}
static inline vi vi_load_bytes(const void *p) {
    const struct vec_rows fours = {p, 4};
    __m128i x[4];
    for (size_t i = 0; i < 4; i++) x[i] = _mm_cvtepu8_epi32(vec_row_4(&fours, i, 0));
    return vec_join(x[0], x[1], x[2], x[3]);
}
static inline void vi_load_rows(const struct vec_rows *rows, size_t offset, vi out[4]) {
    vi a[4];
    for (size_t i = 0; i < 4; i++)
        a[i] = vec_join(vec_row_16(rows, i, offset), vec_row_16(rows, i + 4, offset),
                        vec_row_16(rows, i + 8, offset), vec_row_16(rows, i + 12, offset));
    vi b0 = _mm512_unpacklo_epi32(a[0], a[1]), b1 = _mm512_unpackhi_epi32(a[0], a[1]);
    vi b2 = _mm512_unpacklo_epi32(a[2], a[3]), b3 = _mm512_unpackhi_epi32(a[2], a[3]);
    out[0] = _mm512_unpacklo_epi64(b0, b2);
    out[1] = _mm512_unpackhi_epi64(b0, b2);
    out[2] = _mm512_unpacklo_epi64(b1, b3);
    out[3] = _mm512_unpackhi_epi64(b1, b3);
}
static inline vi vi_load_dword(const struct vec_rows *rows, size_t offset) {
    return vec_join(vec_rows_4(rows, 0, offset), vec_rows_4(rows, 4, offset),
                    vec_rows_4(rows, 8, offset), vec_rows_4(rows, 12, offset));
}
static inline vf vf_low_halves(vi a) { return _mm512_cvtph_ps(_mm512_cvtepi32_epi16(a)); }
static inline vf vf_high_halves(vi a) { return vf_low_halves(_mm512_srli_epi32(a, 16)); }
static inline vi vec_pick(vi a, uint32_t x) {
    uint32_t next = 0x04040404;
    __m128i pick = _mm_setr_epi32((int)x, (int)(x + next), (int)(x + 2 * next), (int)(x + 3 * next));
    return vi_shuffle8(a, _mm512_broadcast_i32x4(pick));
}
static inline vi vi_pick(vi a, uint32_t low, uint32_t high) {
    return vec_pick(a, 0x80008000u | low | high << 16);
}
static inline vi vi_pick_signed(vi a, uint32_t low, uint32_t high) {
    return vi_sar16(vec_pick(a, 0x00800080u | low << 8 | high << 24), 8);
}
#ifdef LOCUM_SIMDE
#define VI_KEEP(x) ((void)0)
#else
#define VI_KEEP(x) __asm__("" : "+v"(x))
#endif

typedef struct {
    vf all;
} v16;

static inline v16 v16_zero(void) { return (v16){vf_zero()}; }
static inline v16 v16_load(const float *p) { return (v16){vf_load(p)}; }
static inline v16 v16_load_part(const float *p, size_t n) { return (v16){vf_load_part(p, n)}; }
static inline v16 v16_load_half(const uint16_t *p) { return (v16){vf_load_half(p)}; }
static inline v16 v16_load_bfloat(const uint16_t *p) { return (v16){vf_load_bfloat(p)}; }
static inline v16 v16_fma(v16 a, v16 b, v16 c) { return (v16){vf_fma(a.all, b.all, c.all)}; }
static inline v16 v16_add(v16 a, v16 b) { return (v16){vf_add(a.all, b.all)}; }
static inline __m256 vec_fold(vf a) { // lanes 8 apart
    __m256 high = _mm256_castsi256_ps(_mm512_extracti64x4_epi64(vf_bits(a), 1));
    return _mm256_add_ps(_mm512_castps512_ps256(a), high);
}
static inline __m128 v16_totals(const v16 a[4]) {
    __m256 x[4];
    for (int i = 0; i < 4; i++) x[i] = vec_fold(a[i].all);
    return vec_totals(x);
}
static inline float v16_total(v16 a) { return vec_total(vec_fold(a.all)); }

#endif
