// SPDX-License-Identifier: Apache-2.0
#include "kernels/kernels_rope.h"

#include "kernels/kmath.h"

// The pair whose wave turns b times within the original context (a real number).
static double correction(const struct kernels_rope *rope, double b) {
    const double two_pi = 0x1.921fb54442d18p+2;
    return rope->n_rot * kmath_log(rope->context_original / (two_pi * b)) /
           (2.0 * kmath_log(rope->base));
}

// Not a number (a base of 1 has no logarithm to divide by) becomes low.
static double clamp(double x, double low, double high) {
    return !(x > low) ? low : x > high ? high : x;
}

// Between the limits of YaRN: 1 - ramp is the share of interpolated frequency.
struct ramp {
    double low, width;
};

static struct ramp ramp_of(const struct kernels_rope *rope) {
    // Both are clamped before they become integers; floor and ceil of what is in 0..n_rot.
    double low = clamp(correction(rope, rope->beta_fast), 0.0, rope->n_rot);
    double high = clamp(correction(rope, rope->beta_slow), 0.0, rope->n_rot);
    if (!rope->untruncated) {
        double slow = high;
        low = (double)(uint32_t)low;
        high = (double)(uint32_t)slow;
        high += high < slow;
    }
    high = clamp(high, 0.0, rope->n_rot - 1.0);
    return (struct ramp){low, high - low > 0.001 ? high - low : 0.001};
}

void kernels_rope_frequencies(const struct kernels_rope *rope, double *theta, double *magnitude) {
    bool yarn = rope->scaling == KERNELS_ROPE_YARN;
    struct ramp ramp = yarn ? ramp_of(rope) : (struct ramp){0};
    *magnitude = yarn ? rope->attn_factor * (1.0 + 0.1 * kmath_log(rope->factor)) : 1.0;
    for (uint32_t i = 0; i < rope->n_rot / 2; i++) {
        double plain = kmath_pow(rope->base, -2.0 * i / rope->n_rot);
        if (rope->factors) plain /= rope->factors[i];
        double stretched = plain / rope->factor;
        theta[i] = rope->scaling == KERNELS_ROPE_NONE ? plain : stretched;
        if (yarn) {
            double kept = (1.0 - clamp((i - ramp.low) / ramp.width, 0.0, 1.0)) * rope->ext_factor;
            theta[i] = stretched * (1.0 - kept) + plain * kept;
        }
    }
}

void kernels_rope_row(float *cs, const double *theta, double magnitude, uint32_t pairs,
                      uint32_t position) {
    for (uint32_t i = 0; i < pairs; i++) {
        double angle = position * theta[i];
        cs[2 * i] = (float)(kmath_cos(angle) * magnitude);
        cs[2 * i + 1] = (float)(kmath_sin(angle) * magnitude);
    }
}
