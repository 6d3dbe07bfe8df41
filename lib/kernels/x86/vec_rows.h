// SPDX-License-Identifier: Apache-2.0
//
// Owns:      pieces of vectors that both widths have in common: reading parts of several rows, and
//            the last steps of a sum over 16 lanes.
// Called by: vec_avx2.h, vec_avx512.h.
// Threads:   pure.
// Errors:    none.
// Not here:  whole vectors.
#ifndef KERNELS_X86_VEC_ROWS_H
#define KERNELS_X86_VEC_ROWS_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// VEC rows, `stride` bytes apart.
struct vec_rows {
    const uint8_t *first;
    size_t stride;
};
static inline __m128i vec_row_16(const struct vec_rows *rows, size_t i, size_t offset) {
    const uint8_t *p = rows->first + i * rows->stride + offset;
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}
static inline __m128i vec_row_4(const struct vec_rows *rows, size_t i, size_t offset) {
    int32_t x;
    memcpy(&x, rows->first + i * rows->stride + offset, sizeof x);
    return _mm_cvtsi32_si128(x);
}
// The dword at `offset` of rows i to i + 3.
static inline __m128i vec_rows_4(const struct vec_rows *rows, size_t i, size_t offset) {
    __m128i a = _mm_unpacklo_epi32(vec_row_4(rows, i, offset), vec_row_4(rows, i + 1, offset));
    __m128i b = _mm_unpacklo_epi32(vec_row_4(rows, i + 2, offset), vec_row_4(rows, i + 3, offset));
    return _mm_unpacklo_epi64(a, b);
}

// Of 16 lanes, already added 8 apart: the totals of four, each by the same tree: lanes 4 apart, 2, 1.
static inline __m128 vec_totals(const __m256 x[4]) {
    __m256 ab = _mm256_add_ps(_mm256_permute2f128_ps(x[0], x[1], 0x20),
                              _mm256_permute2f128_ps(x[0], x[1], 0x31)); // a | b
    __m256 cd = _mm256_add_ps(_mm256_permute2f128_ps(x[2], x[3], 0x20),
                              _mm256_permute2f128_ps(x[2], x[3], 0x31));
    __m256 y = _mm256_add_ps(_mm256_shuffle_ps(ab, cd, 0x44),
                             _mm256_shuffle_ps(ab, cd, 0xee)); // a a c c | b b d d
    y = _mm256_add_ps(y, _mm256_movehdup_ps(y));               // a . c . | b . d .
    return _mm_shuffle_ps(_mm_unpacklo_ps(_mm256_castps256_ps128(y), _mm256_extractf128_ps(y, 1)),
                          _mm_unpackhi_ps(_mm256_castps256_ps128(y), _mm256_extractf128_ps(y, 1)),
                          0x44);
}
static inline float vec_total(__m256 x) {
    __m128 y = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    y = _mm_add_ps(y, _mm_movehl_ps(y, y));
    return _mm_cvtss_f32(_mm_add_ss(y, _mm_movehdup_ps(y)));
}

#endif
