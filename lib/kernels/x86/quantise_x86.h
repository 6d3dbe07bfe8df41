// SPDX-License-Identifier: Apache-2.0
//
// Owns:      activations for quantised weights: rule 2 of kernels.h, as a template.
// Called by: quantise_avx2.c, quantise_avx512.c, which include a vec_*.h first and define
//            QUANTISE_INIT.
// Threads:   pure.
// Errors:    false for a value that is not finite.
// Not here:  the layout of columns (kernels.h).
#ifndef KERNELS_X86_QUANTISE_X86_H
#define KERNELS_X86_QUANTISE_X86_H

#include "kernels/x86/kernels_x86.h"

#include "base/check.h"
#include "base/half.h"

#define QUANTISE_INLINE static inline __attribute__((always_inline))
#define QUANTISE_LEAST_NORMAL 0x1p-126f

enum { QUANTISE_VECTORS = 32 / VEC, QUANTISE_INFINITY_BITS = 0x7f800000 };

// The bits of max|x| of 32 values, which order as the magnitudes do; infinity and NaN come last.
QUANTISE_INLINE int32_t quantise_largest_bits(const float *x) {
    const vi magnitude = vi_set32(0x7fffffff);
    vi largest = vi_zero();
    for (int i = 0; i < QUANTISE_VECTORS; i++)
        largest = vi_max32(largest, vi_and(vf_bits(vf_load(x + VEC * i)), magnitude));
    return vi_max_of(largest);
}

// q = clamp(nearest_even(x * r), -127, 127); sum[0] and [1]: of the first and the second 16.
QUANTISE_INLINE void quantise_32(int8_t *q, const float *x, float r, int32_t sum[2]) {
    vi code[QUANTISE_VECTORS];
    for (int i = 0; i < QUANTISE_VECTORS; i++) {
        vi nearest = vf_nearest(vf_mul(vf_load(x + VEC * i), vf_set(r)));
        code[i] = vi_max32(vi_min32(nearest, vi_set32(127)), vi_set32(-127));
    }
    vi_store_32_bytes(q, code);
    for (int half = 0; half < 2; half++) {
        vi total = vi_zero();
        for (int i = 0; i < QUANTISE_VECTORS / 2; i++)
            total = vi_add32(total, code[half * QUANTISE_VECTORS / 2 + i]);
        sum[half] = vi_sum_of(total);
    }
}

static bool quantise_q32(void *out, const float *x, size_t k) {
    KERNEL_ASSERT(k % 32 == 0);
    uint8_t *bytes = out;
    int8_t *q = out;
    float *d = (float *)(void *)(bytes + kernels_q32_scale_offset(k));
    int32_t *s = (int32_t *)(void *)(bytes + kernels_q32_sum_offset(k));
    size_t blocks = k / 32, padded = (blocks + 15) & ~(size_t)15;
    for (size_t b = 0; b < blocks; b++) {
        int32_t bits = quantise_largest_bits(x + 32 * b), sum[2] = {0, 0};
        if (bits >= QUANTISE_INFINITY_BITS) return false;
        d[b] = half_from_bits((uint32_t)bits) / 127.0f;
        if (d[b] < QUANTISE_LEAST_NORMAL) {
            d[b] = 0.0f;
            memset(q + 32 * b, 0, 32);
        } else {
            quantise_32(q + 32 * b, x + 32 * b, 1.0f / d[b], sum);
        }
        s[b] = sum[0] + sum[1];
    }
    memset(q + k, 0, kernels_q32_scale_offset(k) - k);
    memset(d + blocks, 0, (padded - blocks) * sizeof *d);
    memset(s + blocks, 0, (padded - blocks) * sizeof *s);
    return true;
}

// clamp(ceil(x), 1, 8) for 0 <= x < 2^31
QUANTISE_INLINE int32_t quantise_multiplier(float x) {
    int32_t t = (int32_t)x;
    t += (float)t < x;
    return t < 1 ? 1 : t > 8 ? 8 : t;
}

static bool quantise_block_256(struct kernels_q256 *out, const float *x) {
    float scale[8], largest = 0.0f;
    for (int b = 0; b < 8; b++) {
        int32_t bits = quantise_largest_bits(x + 32 * b);
        if (bits >= QUANTISE_INFINITY_BITS) return false;
        scale[b] = half_from_bits((uint32_t)bits) / 127.0f;
        largest = scale[b] > largest ? scale[b] : largest;
    }
    memset(out, 0, sizeof *out);
    float d = largest * 0.125f;
    if (d < QUANTISE_LEAST_NORMAL) {
        for (int b = 0; b < 8; b++) out->t[b] = 1;
        return true;
    }
    out->d = d;
    for (int b = 0; b < 8; b++) {
        int32_t t = quantise_multiplier(scale[b] / d), sum[2];
        quantise_32(out->q + 32 * b, x + 32 * b, 1.0f / (d * (float)t), sum);
        out->t[b] = (int16_t)t;
        out->ts[2 * b] = (int16_t)(t * sum[0]);
        out->ts[2 * b + 1] = (int16_t)(t * sum[1]);
    }
    return true;
}

static bool quantise_q256(void *out, const float *x, size_t k) {
    KERNEL_ASSERT(k % 256 == 0);
    struct kernels_q256 *record = out;
    for (size_t i = 0; i < k / 256; i++)
        if (!quantise_block_256(&record[i], x + 256 * i)) return false;
    return true;
}

void QUANTISE_INIT(struct kernels_table *table) {
    table->quantise[KERNELS_ACT_Q32] = quantise_q32;
    table->quantise[KERNELS_ACT_Q256] = quantise_q256;
}

#endif
