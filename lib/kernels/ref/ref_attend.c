// SPDX-License-Identifier: Apache-2.0
//
// Rule 5 of kernels.h: one block of at most 64 positions, and the merge of two blocks.
#include "kernels/ref/kernels_ref.h"

#include "base/check.h"
#include "base/half.h"
#include "kernels/kmath.h"
#include "kernels/lanes.h"

#include <math.h>

// Element i of row j of a cache.
static float cached(const void *rows, bool f32, size_t stride, size_t j, size_t i) {
    size_t at = j * stride + i;
    return f32 ? ((const float *)rows)[at] : half_to_float(((const uint16_t *)rows)[at]);
}

static float score(const struct kernels_attend *a, const float *q, size_t j) {
    float lane[LANES] = {0};
    for (size_t i = 0; i < a->head_size_k; i++) {
        float k = cached(a->k, a->kv_f32, a->head_size_k, j, i);
        lane[i % LANES] = fmaf(q[i], k, lane[i % LANES]);
    }
    lanes_pad(lane, a->head_size_k);
    float s = lanes_total(lane) * a->scale;
    return a->softcap > 0.0f ? a->softcap * kmath_tanh(s / a->softcap) : s;
}

static void attend_block(const struct kernels_attend *a) {
    KERNEL_ASSERT(a->lo < a->hi && a->hi <= KERNELS_KV_BLOCK);
    for (size_t h = 0; h < a->n_q; h++) {
        const float *q = a->q + h * a->q_stride;
        float p[KERNELS_KV_BLOCK] = {0}, m = -INFINITY;
        for (size_t j = a->lo; j < a->hi; j++) {
            p[j] = score(a, q, j);
            m = p[j] > m ? p[j] : m;
        }
        for (size_t j = a->lo; j < a->hi; j++) p[j] = kmath_exp(p[j] - m);
        a->m[h] = m;
        a->l[h] = lanes_sum(p, KERNELS_KV_BLOCK);
        float *o = a->o + h * a->head_size_v;
        for (size_t i = 0; i < a->head_size_v; i++) o[i] = 0.0f;
        for (size_t j = a->lo; j < a->hi; j++)
            for (size_t i = 0; i < a->head_size_v; i++)
                o[i] = fmaf(p[j], cached(a->v, a->kv_f32, a->v_stride, j, i), o[i]);
    }
}

static void attend_merge(float *m, float *l, float *o, float m2, float l2, const float *o2,
                         size_t n) {
    float largest = m2 > *m ? m2 : *m;
    float a = kmath_exp(*m - largest), b = kmath_exp(m2 - largest);
    *m = largest;
    *l = fmaf(l2, b, *l * a);
    for (size_t i = 0; i < n; i++) o[i] = fmaf(o2[i], b, o[i] * a);
}

void ref_attend_init(struct kernels_table *table) {
    table->attend_block = attend_block;
    table->attend_merge = attend_merge;
}
