// SPDX-License-Identifier: Apache-2.0
//
// Owns:      where the AVX-512 and VNNI intrinsics come from: the compiler, or SIMDe on top of AVX2
//            when LOCUM_SIMDE is defined (checkkernel_emulated, which proves these tiers on
//            machines without the instructions).
// Called by: vec_avx512.h, tile_avxvnni.c.
// Threads:   pure.
// Errors:    none.
// Not here:  anything that is not an intrinsic.
#ifndef KERNELS_X86_SIMD512_H
#define KERNELS_X86_SIMD512_H

#ifndef LOCUM_SIMDE
#include <immintrin.h>
#else

// fma must be one rounding: SIMDe's is, where the compiler has FMA.
#if !defined(__AVX2__) || !defined(__FMA__) || !defined(__F16C__)
#error "the emulation of AVX-512 is built for AVX2, FMA and F16C"
#endif
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx512.h>

#include <stdint.h>
#include <string.h>

// What SIMDe 0.7.4 lacks, by halves of 256 bits.
static inline simde__m512i simd512_join(__m256i low, __m256i high) {
    return simde_mm512_inserti64x4(simde_mm512_castsi256_si512(low), high, 1);
}
static inline __m256i simd512_half(simde__m512i a, int which) {
    return which ? simde_mm512_extracti64x4_epi64(a, 1) : simde_mm512_castsi512_si256(a);
}
static inline __m256 simd512_half_ps(simde__m512 a, int which) {
    return _mm256_castsi256_ps(simd512_half(simde_mm512_castps_si512(a), which));
}
static inline simde__m512 simd512_join_ps(__m256 low, __m256 high) {
    return simde_mm512_castsi512_ps(
        simd512_join(_mm256_castps_si256(low), _mm256_castps_si256(high)));
}

static inline simde__m512i simd512_srai_epi32(simde__m512i a, int n) {
    return simd512_join(_mm256_srai_epi32(simd512_half(a, 0), n),
                        _mm256_srai_epi32(simd512_half(a, 1), n));
}
static inline simde__m512 simd512_cvtepi32_ps(simde__m512i a) {
    return simd512_join_ps(_mm256_cvtepi32_ps(simd512_half(a, 0)),
                           _mm256_cvtepi32_ps(simd512_half(a, 1)));
}
static inline simde__m512i simd512_cvtps_epi32(simde__m512 a) {
    return simd512_join(_mm256_cvtps_epi32(simd512_half_ps(a, 0)),
                        _mm256_cvtps_epi32(simd512_half_ps(a, 1)));
}
static inline simde__m512 simd512_cvtph_ps(__m256i a) {
    return simd512_join_ps(_mm256_cvtph_ps(_mm256_castsi256_si128(a)),
                           _mm256_cvtph_ps(_mm256_extracti128_si256(a, 1)));
}
static inline __m256i simd512_cvtepi32_epi16(simde__m512i a) {
    int32_t wide[16];
    uint16_t narrow[16];
    simde_mm512_storeu_si512(wide, a);
    for (int i = 0; i < 16; i++) narrow[i] = (uint16_t)wide[i];
    return _mm256_loadu_si256((const __m256i *)(const void *)narrow);
}
#define simd512_cvtps_ph(a, rounding)                                                              \
    _mm256_set_m128i(_mm256_cvtps_ph(simd512_half_ps(a, 1), rounding),                             \
                     _mm256_cvtps_ph(simd512_half_ps(a, 0), rounding))
static inline simde__m512 simd512_maskz_loadu_ps(uint16_t mask, const float *p) {
    float part[16] = {0};
    for (int i = 0; i < 16; i++)
        if (mask >> i & 1) part[i] = p[i];
    return simde_mm512_loadu_ps(part);
}
static inline void simd512_mask_storeu_ps(float *p, uint16_t mask, simde__m512 a) {
    float part[16];
    simde_mm512_storeu_ps(part, a);
    for (int i = 0; i < 16; i++)
        if (mask >> i & 1) p[i] = part[i];
}
// There, the alias of this one takes the arguments of its masked form.
#undef _mm512_madd_epi16
#define _mm512_madd_epi16 simde_mm512_madd_epi16
#define _mm512_srai_epi32 simd512_srai_epi32
#define _mm512_cvtepi32_ps simd512_cvtepi32_ps
#define _mm512_cvtps_epi32 simd512_cvtps_epi32
#define _mm512_cvtepi32_epi16 simd512_cvtepi32_epi16
#define _mm512_cvtph_ps simd512_cvtph_ps
#define _mm512_cvtps_ph simd512_cvtps_ph
#define _mm512_maskz_loadu_ps simd512_maskz_loadu_ps
#define _mm512_mask_storeu_ps simd512_mask_storeu_ps
#define _mm256_dpbusd_avx_epi32 simde_mm256_dpbusd_epi32

#endif
#endif
