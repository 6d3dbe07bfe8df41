// SPDX-License-Identifier: Apache-2.0
//
// Owns:      exp, tanh, silu, gelu in float32 and log, pow, sin, cos in double: the only elementary
//            functions on the way to a token. Same bits on every machine, unlike the C library's.
// Called by: every kernel tier, kernels_route, kernels_rope, sample.
// Threads:   pure.
// Errors:    none. NaN in gives NaN out.
// Not here:  vector forms: each tier repeats the float32 sequences below operation by operation.
//
// Every function is a fixed sequence of + - * /, fma and integer operations on the bits. The
// float32 ones have no branches and no tables, so that a vector tier does literally the same to
// each lane:
//   a comparison with a select is max/min or a blend,
//   half_to_bits is a reinterpretation, additions and shifts of bits are 32-bit integer operations.
// Coefficients were fitted for this file (weighted minimax, rounded to the format), not copied.
// Largest errors that tests/kernels/test_kmath.c finds against long double: exp 0.9 ulp, tanh 1.3,
// sigmoid and silu 2.2; log, pow, sin, cos 0.8 in the ranges stated.
#ifndef KERNELS_KMATH_H
#define KERNELS_KMATH_H

#include "base/half.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------
// float32
// ---------------------------------------------------------------------------------------------

// Adding 1.5 * 2^23 leaves the nearest integer (ties to even) of |x| < 2^22 in the low bits.
#define KMATH_ROUND 0x1.8p23f

// Nearest integer, ties to even, of |x| < 2^22. Other inputs give an unspecified value.
static inline int32_t kmath_nearest(float x) {
    uint32_t bits = half_to_bits(x + KMATH_ROUND) - half_to_bits(KMATH_ROUND);
    int32_t value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

#define KMATH_EXP_MIN (-104.0f) // below: exp rounds to 0 (half of the least denormal is 2^-150)
#define KMATH_EXP_MAX 89.0f     // above: exp rounds to infinity
#define KMATH_LOG2E 0x1.715476p+0f
#define KMATH_LN2_HIGH 0x1.62e430p-1f
#define KMATH_LN2_LOW (-0x1.05c610p-29f)
// (exp(r) - 1 - r) / r^2 on |r| <= ln(2) / 2
#define KMATH_EXP_C0 0x1.fffffcp-2f
#define KMATH_EXP_C1 0x1.555492p-3f
#define KMATH_EXP_C2 0x1.5558f2p-5f
#define KMATH_EXP_C3 0x1.123a20p-7f
#define KMATH_EXP_C4 0x1.6a23ccp-10f

// exp(x). Denormal results and overflow are rounded once, as the exact sequence says:
//   x = max(MIN, x); x = min(MAX, x)             a NaN passes both: keep x unless the bound wins
//   t = fma(x, LOG2E, ROUND); n = bits(t) - bits(ROUND); f = t - ROUND
//   r = fma(f, -LN2_HIGH, x); r = fma(f, -LN2_LOW, r)
//   p = C4; p = fma(p, r, C3), .. C2, C1, C0; p = fma(p, r, 1); p = fma(p, r, 1)
//   h = n >> 1 (arithmetic);  y = (p * 2^h) * 2^(n-h)    the first product is exact
static inline float kmath_exp(float x) {
    x = KMATH_EXP_MIN > x ? KMATH_EXP_MIN : x;
    x = KMATH_EXP_MAX < x ? KMATH_EXP_MAX : x;
    float t = fmaf(x, KMATH_LOG2E, KMATH_ROUND);
    uint32_t n = half_to_bits(t) - half_to_bits(KMATH_ROUND);
    float f = t - KMATH_ROUND;
    float r = fmaf(f, -KMATH_LN2_HIGH, x);
    r = fmaf(f, -KMATH_LN2_LOW, r);
    float p = KMATH_EXP_C4;
    p = fmaf(p, r, KMATH_EXP_C3);
    p = fmaf(p, r, KMATH_EXP_C2);
    p = fmaf(p, r, KMATH_EXP_C1);
    p = fmaf(p, r, KMATH_EXP_C0);
    p = fmaf(p, r, 1.0f);
    p = fmaf(p, r, 1.0f);
    uint32_t half = (n >> 1) | (n & 0x80000000u); // n is -151..129, or anything for a NaN
    float y = p * half_from_bits((half + 127) << 23);
    return y * half_from_bits((n - half + 127) << 23);
}

#define KMATH_TANH_SMALL 0.625f
// (tanh(x) - x) / x^3 as a polynomial in x^2 on |x| <= TANH_SMALL
#define KMATH_TANH_C0 (-0x1.555532p-2f)
#define KMATH_TANH_C1 0x1.110726p-3f
#define KMATH_TANH_C2 (-0x1.b83c58p-5f)
#define KMATH_TANH_C3 0x1.522692p-6f
#define KMATH_TANH_C4 (-0x1.75e1aap-8f)

// tanh(x), from a = |x|; the sign bit of x is copied to the result:
//   s = a * a; p = C4; p = fma(p, s, C3), .. C2, C1, C0; small = fma(a * s, p, a)
//   large = 1 - 2 / (exp(a + a) + 1)
//   a < TANH_SMALL ? small : large
static inline float kmath_tanh(float x) {
    uint32_t sign = half_to_bits(x) & 0x80000000u;
    float a = half_from_bits(half_to_bits(x) ^ sign);
    float s = a * a;
    float p = KMATH_TANH_C4;
    p = fmaf(p, s, KMATH_TANH_C3);
    p = fmaf(p, s, KMATH_TANH_C2);
    p = fmaf(p, s, KMATH_TANH_C1);
    p = fmaf(p, s, KMATH_TANH_C0);
    float small = fmaf(a * s, p, a);
    float large = 1.0f - 2.0f / (kmath_exp(a + a) + 1.0f);
    return half_from_bits(half_to_bits(a < KMATH_TANH_SMALL ? small : large) | sign);
}

// 1 / (1 + exp(-x))
static inline float kmath_sigmoid(float x) {
    return 1.0f / (1.0f + kmath_exp(-x));
}

// x / (1 + exp(-x))
static inline float kmath_silu(float x) {
    return x / (1.0f + kmath_exp(-x));
}

#define KMATH_GELU_SCALE (-0x1.988454p+0f) // -2 * sqrt(2 / pi)
#define KMATH_GELU_CUBE 0x1.6e4e26p-5f     // 0.044715

// x/2 * (1 + tanh(u)), u = sqrt(2/pi) * (x + 0.044715 x^3), computed as x / (1 + exp(-2u)): the
// same function without the cancellation in 1 + tanh.
//   v = (x * SCALE) * fma(x * x, CUBE, 1);  y = x / (1 + exp(v))
static inline float kmath_gelu(float x) {
    float v = x * KMATH_GELU_SCALE * fmaf(x * x, KMATH_GELU_CUBE, 1.0f);
    return x / (1.0f + kmath_exp(v));
}

#define KMATH_SWIGLU_OAI_ALPHA 0x1.b3b646p+0f // 1.702
#define KMATH_SWIGLU_OAI_LIMIT 7.0f

// The clamped SwiGLU of gpt-oss, of a gate g and an up value u:
//   g = min(LIMIT, g); u = max(-LIMIT, u); u = min(LIMIT, u)     a NaN passes, as in exp
//   y = (g / (1 + exp(g * -ALPHA))) * (u + 1)
static inline float kmath_swiglu_oai(float g, float u) {
    g = KMATH_SWIGLU_OAI_LIMIT < g ? KMATH_SWIGLU_OAI_LIMIT : g;
    u = -KMATH_SWIGLU_OAI_LIMIT > u ? -KMATH_SWIGLU_OAI_LIMIT : u;
    u = KMATH_SWIGLU_OAI_LIMIT < u ? KMATH_SWIGLU_OAI_LIMIT : u;
    return g / (1.0f + kmath_exp(g * -KMATH_SWIGLU_OAI_ALPHA)) * (u + 1.0f);
}

// ---------------------------------------------------------------------------------------------
// double: for tables and sampling, scalar only
// ---------------------------------------------------------------------------------------------

#define KMATH_LN2_HIGH_64 0x1.62e42feep-1 // 32 bits: a product with an exponent is exact
#define KMATH_LN2_LOW_64 0x1.a39ef35793c76p-33
#define KMATH_LOG2E_64 0x1.71547652b82fep+0

static inline uint64_t kmath_bits_64(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
static inline double kmath_from_bits_64(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// An unevaluated sum high + low with |low| <= ulp(high) / 2.
struct kmath_pair {
    double high, low;
};

static inline struct kmath_pair kmath_sum_64(double a, double b) { // |a| >= |b|
    double high = a + b;
    return (struct kmath_pair){high, b - (high - a)};
}

// ln(x) to about 2^-59 of its size, for finite x >= 2^-1022.
//   x = 2^e * m with m in [sqrt(1/2), sqrt(2)); ln(m) = 2 artanh(s), s = (m - 1) / (m + 1)
static inline struct kmath_pair kmath_log_pair(double x) {
    uint64_t bits = kmath_bits_64(x);
    const uint64_t root_half = 0x3fe6a09e667f3bcdu;
    int64_t e = (int64_t)(bits - root_half) >> 52;
    double m = kmath_from_bits_64(bits - ((uint64_t)e << 52));
    double f = m - 1.0; // exact
    struct kmath_pair d = kmath_sum_64(2.0, f); // m + 1, exact
    double s = f / d.high;
    double s_low = (fma(-s, d.high, f) - s * d.low) / d.high;
    double z = s * s;
    double p = 1.0 / 25;
    for (int k = 23; k >= 3; k -= 2) p = fma(p, z, 1.0 / k);
    struct kmath_pair l = kmath_sum_64(s, fma(s * z, p, s_low)); // artanh(s)
    struct kmath_pair y = kmath_sum_64((double)e * KMATH_LN2_HIGH_64, 2.0 * l.high);
    double low = y.low + fma((double)e, KMATH_LN2_LOW_64, 2.0 * l.low);
    return e == 0 ? (struct kmath_pair){2.0 * l.high, 2.0 * l.low} : kmath_sum_64(y.high, low);
}

// ln(x). x: finite and >= 2^-1022 (0 gives -infinity; negative, NaN, infinite or denormal: NaN).
static inline double kmath_log(double x) {
    if (x == 0.0) return -(double)INFINITY;
    if (!(x >= 0x1p-1022 && x <= 0x1.fffffffffffffp1023)) return (double)NAN;
    struct kmath_pair y = kmath_log_pair(x);
    return y.high + y.low;
}

// exp(x.high + x.low) for |x.high| <= 700.
static inline double kmath_exp_pair(struct kmath_pair x) {
    const double round = 0x1.8p52;
    double n = fma(x.high, KMATH_LOG2E_64, round) - round;
    double r = fma(n, -KMATH_LN2_HIGH_64, x.high); // exact
    double low = fma(n, -KMATH_LN2_LOW_64, x.low);
    struct kmath_pair t = kmath_sum_64(r, low); // if |r| < |low|, what is lost is below 2^-80
    double p = 1.0 / 15;
    for (int k = 14; k >= 3; k--) p = fma(p, t.high, 1.0) / k; // 1/3 (1 + r/4 (1 + r/5 (..)))
    p = fma(p, t.high, 1.0) * 0.5;
    double tail = fma(t.high * t.high, p, t.low); // exp(r) - 1 - r.high
    struct kmath_pair y = kmath_sum_64(1.0, t.high);
    double value = y.high + (y.low + tail);
    return value * kmath_from_bits_64((uint64_t)((int64_t)n + 1023) << 52);
}

// ln(1 + exp(x)), rounded from double; x itself above 20, where they are the same float32.
static inline float kmath_softplus(float x) {
    return x > 20.0f ? x : (float)kmath_log(1.0 + (double)kmath_exp(x));
}

// x^y for finite x >= 2^-1022 and |y ln x| <= 700, which every RoPE table satisfies; else NaN.
static inline double kmath_pow(double x, double y) {
    if (!(x >= 0x1p-1022 && x <= 0x1.fffffffffffffp1023)) return (double)NAN;
    struct kmath_pair l = kmath_log_pair(x);
    double high = l.high * y;
    double low = fma(l.high, y, -high) + l.low * y;
    if (!(fabs(high) <= 700.0)) return (double)NAN;
    return kmath_exp_pair((struct kmath_pair){high, low});
}

// x = n * pi/2 + r, |r| <= pi/4 (a hair more), for |x| <= 2^31; returns n mod 4.
static inline unsigned kmath_reduce(double x, struct kmath_pair *r) {
    const double round = 0x1.8p52;
    const double half_pi = 0x1.921fb54442d18p+0, half_pi_low = 0x1.1a62633145c07p-54;
    double n = fma(x, 0x1.45f306dc9c883p-1, round) - round;
    double product = n * half_pi;
    double rest = fma(n, half_pi_low, fma(n, half_pi, -product));
    double a = x - product; // exact: product is near x
    r->high = a - rest;
    r->low = (a - r->high) - rest;
    return (unsigned)((int64_t)n & 3);
}

// Taylor series on |r| <= pi/4.
static inline double kmath_sin_part(struct kmath_pair r) {
    double z = r.high * r.high;
    double p = 1.0 / 272; // 1 / (16 * 17); each step: -(1/(2k(2k+1))) nested
    p = 1.0 / 210 * (1.0 - z * p);
    p = 1.0 / 156 * (1.0 - z * p);
    p = 1.0 / 110 * (1.0 - z * p);
    p = 1.0 / 72 * (1.0 - z * p);
    p = 1.0 / 42 * (1.0 - z * p);
    p = 1.0 / 20 * (1.0 - z * p);
    p = 1.0 / 6 * (1.0 - z * p);
    return r.high + fma(-r.high * z, p, r.low * (1.0 - 0.5 * z));
}
static inline double kmath_cos_part(struct kmath_pair r) {
    double z = r.high * r.high;
    double p = 1.0 / 240; // 1 / (15 * 16)
    p = 1.0 / 182 * (1.0 - z * p);
    p = 1.0 / 132 * (1.0 - z * p);
    p = 1.0 / 90 * (1.0 - z * p);
    p = 1.0 / 56 * (1.0 - z * p);
    p = 1.0 / 30 * (1.0 - z * p);
    p = 1.0 / 24 * (1.0 - z * p); // cos = 1 - z/2 + z^2 p
    double half = 0.5 * z, head = 1.0 - half;
    return head + (((1.0 - head) - half) + fma(z * z, p, -r.high * r.low));
}

// sin(x), cos(x) for |x| <= 2^31 (else NaN).
static inline double kmath_sin(double x) {
    if (!(fabs(x) <= 0x1p31)) return (double)NAN;
    struct kmath_pair r;
    unsigned n = kmath_reduce(x, &r);
    double y = n & 1 ? kmath_cos_part(r) : kmath_sin_part(r);
    return n & 2 ? -y : y;
}
static inline double kmath_cos(double x) {
    if (!(fabs(x) <= 0x1p31)) return (double)NAN;
    struct kmath_pair r;
    unsigned n = kmath_reduce(x, &r);
    double y = n & 1 ? kmath_sin_part(r) : kmath_cos_part(r);
    return (n + 1) & 2 ? -y : y;
}

#endif
