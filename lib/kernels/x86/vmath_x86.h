// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the float32 functions of kernels/kmath.h on vectors, operation by operation.
// Called by: vector_x86.h, attend_x86.h.
// Threads:   pure.
// Errors:    none.
// Not here:  what they mean (kmath.h).
#ifndef KERNELS_X86_VMATH_X86_H
#define KERNELS_X86_VMATH_X86_H

#include "kernels/kmath.h"

static inline vf vmath_exp(vf x) {
    x = vf_max(vf_set(KMATH_EXP_MIN), x);
    x = vf_min(vf_set(KMATH_EXP_MAX), x);
    vf t = vf_fma(x, vf_set(KMATH_LOG2E), vf_set(KMATH_ROUND));
    vi n = vi_sub32(vf_bits(t), vf_bits(vf_set(KMATH_ROUND)));
    vf f = vf_sub(t, vf_set(KMATH_ROUND));
    vf r = vf_fma(f, vf_set(-KMATH_LN2_HIGH), x);
    r = vf_fma(f, vf_set(-KMATH_LN2_LOW), r);
    vf p = vf_set(KMATH_EXP_C4);
    p = vf_fma(p, r, vf_set(KMATH_EXP_C3));
    p = vf_fma(p, r, vf_set(KMATH_EXP_C2));
    p = vf_fma(p, r, vf_set(KMATH_EXP_C1));
    p = vf_fma(p, r, vf_set(KMATH_EXP_C0));
    p = vf_fma(p, r, vf_set(1.0f));
    p = vf_fma(p, r, vf_set(1.0f));
    vi half = vi_sar32(n, 1), bias = vi_set32(127);
    p = vf_mul(p, vi_as_float(vi_shl32(vi_add32(half, bias), 23)));
    return vf_mul(p, vi_as_float(vi_shl32(vi_add32(vi_sub32(n, half), bias), 23)));
}

static inline vf vmath_tanh(vf x) {
    vi sign = vi_and(vf_bits(x), vf_bits(vf_set(-0.0f)));
    vf a = vi_as_float(vi_xor(vf_bits(x), sign));
    vf s = vf_mul(a, a);
    vf p = vf_set(KMATH_TANH_C4);
    p = vf_fma(p, s, vf_set(KMATH_TANH_C3));
    p = vf_fma(p, s, vf_set(KMATH_TANH_C2));
    p = vf_fma(p, s, vf_set(KMATH_TANH_C1));
    p = vf_fma(p, s, vf_set(KMATH_TANH_C0));
    vf small = vf_fma(vf_mul(a, s), p, a);
    vf denominator = vf_add(vmath_exp(vf_add(a, a)), vf_set(1.0f));
    vf large = vf_sub(vf_set(1.0f), vf_div(vf_set(2.0f), denominator));
    vf y = vf_if_less(a, vf_set(KMATH_TANH_SMALL), small, large);
    return vi_as_float(vi_or(vf_bits(y), sign));
}

static inline vf vmath_sigmoid(vf x) {
    vf minus = vi_as_float(vi_xor(vf_bits(x), vf_bits(vf_set(-0.0f))));
    return vf_div(vf_set(1.0f), vf_add(vf_set(1.0f), vmath_exp(minus)));
}

static inline vf vmath_silu(vf x) {
    vf minus = vi_as_float(vi_xor(vf_bits(x), vf_bits(vf_set(-0.0f))));
    return vf_div(x, vf_add(vf_set(1.0f), vmath_exp(minus)));
}

static inline vf vmath_gelu(vf x) {
    vf cubic = vf_fma(vf_mul(x, x), vf_set(KMATH_GELU_CUBE), vf_set(1.0f));
    vf v = vf_mul(vf_mul(x, vf_set(KMATH_GELU_SCALE)), cubic);
    return vf_div(x, vf_add(vf_set(1.0f), vmath_exp(v)));
}

static inline vf vmath_swiglu_oai(vf g, vf u) {
    const vf limit = vf_set(KMATH_SWIGLU_OAI_LIMIT), one = vf_set(1.0f);
    g = vf_min(limit, g);
    u = vf_min(limit, vf_max(vf_set(-KMATH_SWIGLU_OAI_LIMIT), u));
    vf decay = vmath_exp(vf_mul(g, vf_set(-KMATH_SWIGLU_OAI_ALPHA)));
    return vf_mul(vf_div(g, vf_add(one, decay)), vf_add(u, one));
}

static inline vf vmath_softcap(vf x, vf c) {
    return vf_mul(c, vmath_tanh(vf_div(x, c)));
}

#endif
