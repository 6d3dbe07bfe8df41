// SPDX-License-Identifier: Apache-2.0
//
// Owns:      exact conversions between float32 and the 16-bit formats (IEEE half, bfloat16).
// Called by: gguf tools, kernels/ref, tests. Vector forms live in kernels/.
// Threads:   pure.
// Errors:    none. NaN stays NaN (quiet).
// Not here:  8-bit and 4-bit formats (kernels/ref).
#ifndef BASE_HALF_H
#define BASE_HALF_H

#include <stdint.h>
#include <string.h>

static inline float half_from_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
static inline uint32_t half_to_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

// IEEE 754 binary16 to binary32, exact for every input including denormals.
static inline float half_to_float(uint16_t half) {
    uint32_t sign = (uint32_t)(half & 0x8000u) << 16;
    uint32_t exponent = (half >> 10) & 31u;
    uint32_t mantissa = half & 0x3ffu;
    if (exponent == 31) {
        uint32_t quiet = mantissa ? 0x400000u : 0; // as the hardware does: a NaN becomes quiet
        return half_from_bits(sign | 0x7f800000u | mantissa << 13 | quiet);
    }
    if (exponent == 0) { // zero or denormal: mantissa * 2^-24, exact
        float value = (float)mantissa * half_from_bits(0x33800000u);
        return half_from_bits(half_to_bits(value) | sign);
    }
    return half_from_bits(sign | (exponent + 112) << 23 | mantissa << 13);
}

// binary32 to binary16, round to nearest even; overflow gives infinity, as the hardware does.
static inline uint16_t half_from_float(float value) {
    uint32_t bits = half_to_bits(value);
    uint32_t sign = (bits >> 16) & 0x8000u;
    uint32_t magnitude = bits & 0x7fffffffu;
    if (magnitude >= 0x7f800000u) {
        uint32_t nan = magnitude > 0x7f800000u ? 0x200u | ((magnitude >> 13) & 0x3ffu) : 0;
        return (uint16_t)(sign | 0x7c00u | nan);
    }
    if (magnitude >= 0x477ff000u) return (uint16_t)(sign | 0x7c00u); // rounds to 65536 or more
    if (magnitude < 0x38800000u) { // below 2^-14: denormal; adding 0.5 rounds and shifts the bits
        float shifted = half_from_bits(magnitude) + half_from_bits(0x3f000000u);
        return (uint16_t)(sign | (half_to_bits(shifted) - 0x3f000000u));
    }
    uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
    return (uint16_t)(sign | (rounded - 0x38000000u) >> 13);
}

static inline float half_from_bfloat(uint16_t bits) {
    return half_from_bits((uint32_t)bits << 16);
}

#endif
