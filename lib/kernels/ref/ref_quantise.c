// SPDX-License-Identifier: Apache-2.0
//
// Rule 2 of kernels.h.
#include "kernels/ref/kernels_ref.h"

#include "base/check.h"
#include "base/half.h"
#include "kernels/kmath.h"

#include <string.h>

#define LEAST_NORMAL 0x1p-126f
#define INFINITY_BITS 0x7f800000u

// The bits of max|x|. Magnitudes are ordered as their bits are; infinities and NaN come last.
static uint32_t largest_bits(const float *x, size_t n) {
    uint32_t largest = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t bits = half_to_bits(x[i]) & 0x7fffffffu;
        if (bits > largest) largest = bits;
    }
    return largest;
}

// q = clamp(nearest_even(rn(x * r)), -127, 127); the sum of the 32.
static int32_t quantise_32(int8_t *q, const float *x, float r) {
    int32_t sum = 0;
    for (size_t i = 0; i < 32; i++) {
        int32_t code = kmath_nearest(x[i] * r);
        code = code > 127 ? 127 : code < -127 ? -127 : code;
        q[i] = (int8_t)code;
        sum += code;
    }
    return sum;
}

static bool quantise_q32(void *out, const float *x, size_t k) {
    KERNEL_ASSERT(k % 32 == 0);
    uint8_t *bytes = out;
    int8_t *q = out;
    float *d = (float *)(void *)(bytes + kernels_q32_scale_offset(k));
    int32_t *s = (int32_t *)(void *)(bytes + kernels_q32_sum_offset(k));
    // Padding is zero, so that equal inputs give equal bytes.
    if (k % 64 != 0) memset(q + k, 0, 32);
    if (k % 512 != 0) {
        size_t blocks = k / 32, padding = (16 - blocks % 16) * sizeof *d;
        memset(d + blocks, 0, padding);
        memset(s + blocks, 0, padding);
    }
    for (size_t b = 0; b < k / 32; b++) {
        uint32_t bits = largest_bits(x + 32 * b, 32);
        if (bits >= INFINITY_BITS) return false;
        d[b] = half_from_bits(bits) / 127.0f;
        if (d[b] < LEAST_NORMAL) {
            d[b] = 0.0f;
            s[b] = 0;
            memset(q + 32 * b, 0, 32);
        } else {
            s[b] = quantise_32(q + 32 * b, x + 32 * b, 1.0f / d[b]);
        }
    }
    return true;
}

// clamp(ceil(x), 1, 8) for 0 <= x < 2^31
static int16_t multiplier(float x) {
    int32_t t = (int32_t)x;
    t += (float)t < x;
    return (int16_t)(t < 1 ? 1 : t > 8 ? 8 : t);
}

static bool quantise_256(struct kernels_q256 *out, const float *x) {
    float scale[8], largest = 0.0f;
    for (size_t b = 0; b < 8; b++) {
        uint32_t bits = largest_bits(x + 32 * b, 32);
        if (bits >= INFINITY_BITS) return false;
        scale[b] = half_from_bits(bits) / 127.0f;
        largest = scale[b] > largest ? scale[b] : largest;
    }
    memset(out, 0, sizeof *out);
    float d = largest * 0.125f;
    if (d < LEAST_NORMAL) {
        for (size_t b = 0; b < 8; b++) out->t[b] = 1;
        return true;
    }
    out->d = d;
    for (size_t b = 0; b < 8; b++) {
        int16_t t = multiplier(scale[b] / d);
        quantise_32(out->q + 32 * b, x + 32 * b, 1.0f / (d * (float)t));
        out->t[b] = t;
        for (size_t i = 0; i < 32; i++)
            out->ts[2 * b + i / 16] = (int16_t)(out->ts[2 * b + i / 16] + out->q[32 * b + i] * t);
    }
    return true;
}

static bool quantise_q256(void *out, const float *x, size_t k) {
    KERNEL_ASSERT(k % 256 == 0);
    struct kernels_q256 *record = out;
    for (size_t i = 0; i < k / 256; i++)
        if (!quantise_256(&record[i], x + 256 * i)) return false;
    return true;
}

static bool quantise_f32(void *out, const float *x, size_t k) {
    float *y = out;
    memcpy(y, x, k * sizeof *y);
    if (k % 16 != 0) memset(y + k, 0, (16 - k % 16) * sizeof *y);
    return largest_bits(x, k) < INFINITY_BITS;
}

void ref_quantise_init(struct kernels_table *table) {
    table->quantise[KERNELS_ACT_F32] = quantise_f32;
    table->quantise[KERNELS_ACT_Q32] = quantise_q32;
    table->quantise[KERNELS_ACT_Q256] = quantise_q256;
}
