// SPDX-License-Identifier: Apache-2.0
//
// Owns:      functions over vectors of float32, as a template.
// Called by: vector_avx2.c, vector_avx512.c, which include a vec_*.h first and define VECTOR_INIT.
// Threads:   pure.
// Errors:    those of struct kernels_table.
// Not here:  what they compute (kernels.h), attention (attend_x86.h).
#ifndef KERNELS_X86_VECTOR_X86_H
#define KERNELS_X86_VECTOR_X86_H

#include "kernels/x86/kernels_x86.h"
#include "kernels/x86/vmath_x86.h"

#include <math.h>

// Run `statement` for i = 0, VEC, 2 VEC, ..: n vectors of `count` floats, the last one maybe fewer.
#define VECTOR_EACH(n)                                                                             \
    for (size_t i = 0, count; i < (n) && (count = (n)-i < VEC ? (n)-i : VEC); i += VEC)

static inline vf vector_get(const float *p, size_t count) {
    return count == VEC ? vf_load(p) : vf_load_part(p, count);
}
static inline void vector_put(float *p, vf a, size_t count) {
    if (count == VEC) vf_store(p, a);
    else vf_store_part(p, a, count);
}

static float vector_dot(const float *a, const float *b, size_t n) {
    v16 acc = v16_zero();
    size_t i = 0;
    for (; i + 16 <= n; i += 16) acc = v16_fma(v16_load(a + i), v16_load(b + i), acc);
    if (i < n) acc = v16_fma(v16_load_part(a + i, n - i), v16_load_part(b + i, n - i), acc);
    return v16_total(acc);
}

static bool vector_rms_norm(float *y, const float *x, const float *w, size_t n, float eps) {
    float sum = vector_dot(x, x, n);
    if (!(sum <= 0x1.fffffep127f)) return false;
    const vf r = vf_set(1.0f / sqrtf(sum / (float)n + eps));
    VECTOR_EACH(n) {
        vf scaled = vf_mul(vector_get(x + i, count), r);
        if (w) scaled = vf_mul(scaled, vector_get(w + i, count));
        vector_put(y + i, scaled, count);
    }
    return true;
}

static bool vector_l2_norm(float *y, const float *x, size_t n, float eps) {
    float sum = vector_dot(x, x, n);
    if (!(sum <= 0x1.fffffep127f)) return false;
    const vf r = vf_set(1.0f / sqrtf(sum + eps));
    VECTOR_EACH(n) vector_put(y + i, vf_mul(vector_get(x + i, count), r), count);
    return true;
}

// a' = fma(a, cos, -(b * sin)), b' = fma(a, sin, b * cos)
static inline void vector_rotate(vf *a, vf *b, vf cosine, vf sine) {
    vf turned = vf_mul(*b, sine), kept = vf_mul(*b, cosine);
    vf minus = vi_as_float(vi_xor(vf_bits(turned), vf_bits(vf_set(-0.0f))));
    *b = vf_fma(*a, sine, kept);
    *a = vf_fma(*a, cosine, minus);
}

// What is left of the pairs when no whole vector is.
static inline void vector_rotate_one(float *a, float *b, const float *cs) {
    float x0 = *a, x1 = *b;
    *a = fmaf(x0, cs[0], -(x1 * cs[1]));
    *b = fmaf(x0, cs[1], x1 * cs[0]);
}

static void vector_rope_norm(float *x, size_t heads, size_t head_stride, size_t pairs,
                             const float *cs) {
    for (size_t h = 0; h < heads; h++, x += head_stride) {
        size_t i = 0;
        for (; i + VEC <= pairs; i += VEC) {
            vf a, b, cosine, sine;
            vf_load_pairs(x + 2 * i, &a, &b);
            vf_load_pairs(cs + 2 * i, &cosine, &sine);
            vector_rotate(&a, &b, cosine, sine);
            vf_store_pairs(x + 2 * i, a, b);
        }
        for (; i < pairs; i++) vector_rotate_one(x + 2 * i, x + 2 * i + 1, cs + 2 * i);
    }
}

static void vector_rope_neox(float *x, size_t heads, size_t head_stride, size_t pairs,
                             const float *cs) {
    for (size_t h = 0; h < heads; h++, x += head_stride) {
        size_t i = 0;
        for (; i + VEC <= pairs; i += VEC) {
            vf a = vf_load(x + i), b = vf_load(x + pairs + i), cosine, sine;
            vf_load_pairs(cs + 2 * i, &cosine, &sine);
            vector_rotate(&a, &b, cosine, sine);
            vf_store(x + i, a);
            vf_store(x + pairs + i, b);
        }
        for (; i < pairs; i++) vector_rotate_one(x + i, x + pairs + i, cs + 2 * i);
    }
}

static void vector_scale(float *y, const float *x, float c, size_t n) {
    VECTOR_EACH(n) vector_put(y + i, vf_mul(vector_get(x + i, count), vf_set(c)), count);
}

static void vector_add(float *y, const float *x, size_t n) {
    VECTOR_EACH(n) {
        vf sum = vf_add(vector_get(y + i, count), vector_get(x + i, count));
        vector_put(y + i, sum, count);
    }
}

static void vector_add_scaled(float *y, const float *x, float c, size_t n) {
    VECTOR_EACH(n) {
        vf sum = vf_fma(vf_set(c), vector_get(x + i, count), vector_get(y + i, count));
        vector_put(y + i, sum, count);
    }
}

static void vector_mul(float *y, const float *g, const float *u, size_t n) {
    VECTOR_EACH(n) {
        vf product = vf_mul(vector_get(g + i, count), vector_get(u + i, count));
        vector_put(y + i, product, count);
    }
}

static void vector_sigmoid_mul(float *y, const float *g, const float *u, size_t n) {
    VECTOR_EACH(n) {
        vf gate = vmath_sigmoid(vector_get(g + i, count));
        vector_put(y + i, vf_mul(gate, vector_get(u + i, count)), count);
    }
}

static void vector_silu_mul(float *y, const float *g, const float *u, size_t n) {
    VECTOR_EACH(n) {
        vf gate = vmath_silu(vector_get(g + i, count));
        vector_put(y + i, vf_mul(gate, vector_get(u + i, count)), count);
    }
}

static void vector_gelu_mul(float *y, const float *g, const float *u, size_t n) {
    VECTOR_EACH(n) {
        vf gate = vmath_gelu(vector_get(g + i, count));
        vector_put(y + i, vf_mul(gate, vector_get(u + i, count)), count);
    }
}

static void vector_swiglu_oai_mul(float *y, const float *g, const float *u, size_t n) {
    VECTOR_EACH(n) {
        vf product = vmath_swiglu_oai(vector_get(g + i, count), vector_get(u + i, count));
        vector_put(y + i, product, count);
    }
}

static void vector_softcap(float *y, float c, size_t n) {
    VECTOR_EACH(n) vector_put(y + i, vmath_softcap(vector_get(y + i, count), vf_set(c)), count);
}

static void vector_exp(float *y, const float *x, size_t n) {
    VECTOR_EACH(n) vector_put(y + i, vmath_exp(vector_get(x + i, count)), count);
}

static void vector_to_half(uint16_t *y, const float *x, size_t n) {
    VECTOR_EACH(n) {
        uint16_t part[VEC];
        vf_store_half(part, vector_get(x + i, count));
        memcpy(y + i, part, count * sizeof *y);
    }
}

// The largest value first, then where it stands: the second pass ends early.
static bool vector_argmax(const float *x, size_t n, size_t *index) {
    vf largest = vf_set(-INFINITY);
    uint32_t nan = 0;
    size_t i = 0;
    for (; i + VEC <= n; i += VEC) {
        vf a = vf_load(x + i);
        nan |= vf_nan_bits(a);
        largest = vf_max(a, largest);
    }
    float lane[VEC], best = -INFINITY;
    vf_store(lane, largest);
    for (size_t j = 0; j < VEC; j++) best = lane[j] > best ? lane[j] : best;
    for (; i < n; i++) {
        nan |= isnan(x[i]);
        best = x[i] > best ? x[i] : best;
    }
    if (nan || n == 0 || best == -INFINITY) return false;
    for (i = 0; i + VEC <= n; i += VEC) {
        uint32_t equal = vf_equal_bits(vf_load(x + i), vf_set(best));
        if (!equal) continue;
        *index = i + (size_t)__builtin_ctz(equal);
        return true;
    }
    while (x[i] != best) i++;
    *index = i;
    return true;
}

void VECTOR_INIT(struct kernels_table *table) {
    table->dot = vector_dot;
    table->rms_norm = vector_rms_norm;
    table->l2_norm = vector_l2_norm;
    table->rope_norm = vector_rope_norm;
    table->rope_neox = vector_rope_neox;
    table->scale = vector_scale;
    table->add = vector_add;
    table->add_scaled = vector_add_scaled;
    table->mul = vector_mul;
    table->sigmoid_mul = vector_sigmoid_mul;
    table->silu_mul = vector_silu_mul;
    table->gelu_mul = vector_gelu_mul;
    table->swiglu_oai_mul = vector_swiglu_oai_mul;
    table->softcap = vector_softcap;
    table->to_half = vector_to_half;
    table->exp = vector_exp;
    table->argmax = vector_argmax;
}

#endif
