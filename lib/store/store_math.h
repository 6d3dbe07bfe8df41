// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the few functions that policies need, in arithmetic that is the same everywhere.
// Called by: the policies.
// Threads:   pure.
// Errors:    none.
// Not here:  functions on the path to a token: those are exact to the last bit (kernels/kmath.h);
//            here a thousandth is enough.
#ifndef STORE_STORE_MATH_H
#define STORE_STORE_MATH_H

#include <stdint.h>
#include <string.h>

// Of a positive normal number, within 0.0011.
static inline float store_math_log2(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    float exponent = (float)((int32_t)(bits >> 23) - 127);
    bits = (bits & 0x007fffff) | 0x3f800000;
    float f;
    memcpy(&f, &bits, sizeof f);
    f -= 1.0f;
    return exponent + f * (1.42f + f * (-0.5717f + f * 0.1517f));
}

// Within 0.015 %; x is taken as in -100 to 100.
static inline float store_math_exp2(float x) {
    x = x < -100.0f ? -100.0f : x > 100.0f ? 100.0f : x;
    int32_t whole = (int32_t)(x + 128.0f) - 128; // rounds down
    float f = x - (float)whole;
    uint32_t bits = (uint32_t)(whole + 127) << 23;
    float scale;
    memcpy(&scale, &bits, sizeof scale);
    return scale * (1.0f + f * (0.6958f + f * (0.2251f + f * 0.0791f)));
}

// The chance whose odds are 2^x.
static inline float store_math_chance(float x) {
    return 1.0f / (1.0f + store_math_exp2(-x));
}

// Numbers that are not negative, in the same order as integers below 1 << 63.
static inline uint64_t store_math_order(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

#endif
