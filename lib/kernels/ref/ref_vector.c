// SPDX-License-Identifier: Apache-2.0
//
// Functions over vectors of float32: the comments of struct kernels_table say what each computes.
#include "kernels/ref/kernels_ref.h"

#include "base/half.h"
#include "kernels/kmath.h"
#include "kernels/lanes.h"

#include <math.h>

static float dot(const float *a, const float *b, size_t n) {
    float lane[LANES] = {0};
    for (size_t i = 0; i < n; i++) lane[i % LANES] = fmaf(a[i], b[i], lane[i % LANES]);
    lanes_pad(lane, n);
    return lanes_total(lane);
}

static bool rms_norm(float *y, const float *x, const float *w, size_t n, float eps) {
    float sum = dot(x, x, n);
    if (!(sum <= 0x1.fffffep127f)) return false;
    float r = 1.0f / sqrtf(sum / (float)n + eps);
    for (size_t i = 0; i < n; i++) {
        float scaled = x[i] * r;
        y[i] = w ? scaled * w[i] : scaled;
    }
    return true;
}

static bool l2_norm(float *y, const float *x, size_t n, float eps) {
    float sum = dot(x, x, n);
    if (!(sum <= 0x1.fffffep127f)) return false;
    float r = 1.0f / sqrtf(sum + eps);
    for (size_t i = 0; i < n; i++) y[i] = x[i] * r;
    return true;
}

static void rotate(float *a, float *b, const float cs[2]) {
    float x0 = *a, x1 = *b;
    *a = fmaf(x0, cs[0], -(x1 * cs[1]));
    *b = fmaf(x0, cs[1], x1 * cs[0]);
}

static void rope_norm(float *x, size_t heads, size_t head_stride, size_t pairs, const float *cs) {
    for (size_t h = 0; h < heads; h++, x += head_stride)
        for (size_t i = 0; i < pairs; i++) rotate(&x[2 * i], &x[2 * i + 1], cs + 2 * i);
}

static void rope_neox(float *x, size_t heads, size_t head_stride, size_t pairs, const float *cs) {
    for (size_t h = 0; h < heads; h++, x += head_stride)
        for (size_t i = 0; i < pairs; i++) rotate(&x[i], &x[i + pairs], cs + 2 * i);
}

static void scale(float *y, const float *x, float c, size_t n) {
    for (size_t i = 0; i < n; i++) y[i] = x[i] * c;
}

static void add(float *y, const float *x, size_t n) {
    for (size_t i = 0; i < n; i++) y[i] += x[i];
}

static void add_scaled(float *y, const float *x, float c, size_t n) {
    for (size_t i = 0; i < n; i++) y[i] = fmaf(c, x[i], y[i]);
}

static void mul(float *y, const float *g, const float *u, size_t n) {
    for (size_t i = 0; i < n; i++) y[i] = g[i] * u[i];
}

static void sigmoid_mul(float *y, const float *g, const float *u, size_t n) {
    for (size_t i = 0; i < n; i++) y[i] = kmath_sigmoid(g[i]) * u[i];
}

static void silu_mul(float *y, const float *g, const float *u, size_t n) {
    for (size_t i = 0; i < n; i++) y[i] = kmath_silu(g[i]) * u[i];
}

static void gelu_mul(float *y, const float *g, const float *u, size_t n) {
    for (size_t i = 0; i < n; i++) y[i] = kmath_gelu(g[i]) * u[i];
}

static void swiglu_oai_mul(float *y, const float *g, const float *u, size_t n) {
    for (size_t i = 0; i < n; i++) y[i] = kmath_swiglu_oai(g[i], u[i]);
}

static void softcap(float *y, float c, size_t n) {
    for (size_t i = 0; i < n; i++) y[i] = c * kmath_tanh(y[i] / c);
}

static void to_half(uint16_t *y, const float *x, size_t n) {
    for (size_t i = 0; i < n; i++) y[i] = half_from_float(x[i]);
}

static void exp_all(float *y, const float *x, size_t n) {
    for (size_t i = 0; i < n; i++) y[i] = kmath_exp(x[i]);
}

static bool argmax(const float *x, size_t n, size_t *index) {
    float best = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        if (isnan(x[i])) return false;
        if (x[i] > best) {
            best = x[i];
            *index = i;
        }
    }
    return best > -INFINITY;
}

void ref_vector_init(struct kernels_table *table) {
    table->dot = dot;
    table->rms_norm = rms_norm;
    table->l2_norm = l2_norm;
    table->rope_norm = rope_norm;
    table->rope_neox = rope_neox;
    table->scale = scale;
    table->add = add;
    table->add_scaled = add_scaled;
    table->mul = mul;
    table->sigmoid_mul = sigmoid_mul;
    table->silu_mul = silu_mul;
    table->gelu_mul = gelu_mul;
    table->swiglu_oai_mul = swiglu_oai_mul;
    table->softcap = softcap;
    table->to_half = to_half;
    table->exp = exp_all;
    table->argmax = argmax;
}
