// SPDX-License-Identifier: Apache-2.0
//
// Owns:      attention over a block of positions and the merging of blocks: rule 5 of kernels.h, as
//            a template.
// Called by: attend_avx2.c, attend_avx512.c, which include a vec_*.h first and define ATTEND_INIT.
// Threads:   pure.
// Errors:    none.
// Not here:  which positions are visible (exec).
//
// Heads that share keys and values go ATTEND_HEADS at a time: a row of the cache is loaded and
// converted once for all of them.
#ifndef KERNELS_X86_ATTEND_X86_H
#define KERNELS_X86_ATTEND_X86_H

#include "base/check.h"
#include "kernels/x86/kernels_x86.h"
#include "kernels/x86/vmath_x86.h"

#include <math.h>

#define ATTEND_INLINE static inline __attribute__((always_inline))

enum { ATTEND_HEADS = 4, ATTEND_AHEAD = 8 }; // heads at a time; rows

// Eight values of a cache row; the caller's loops end on multiples of 8, so that 16 lanes may be
// half empty.
ATTEND_INLINE v16 attend_load_16(const void *rows, bool f32, size_t at, bool half_empty) {
    if (f32) {
        const float *p = (const float *)rows + at;
        return half_empty ? v16_load_part(p, 8) : v16_load(p);
    }
    const uint16_t *p = (const uint16_t *)rows + at;
    if (!half_empty) return v16_load_half(p);
    uint16_t part[16] = {0};
    memcpy(part, p, 8 * sizeof *p);
    return v16_load_half(part);
}

// scores[h][j] of `heads` heads from q, for one position.
ATTEND_INLINE void attend_scores(const struct kernels_attend *a, const float *q, size_t j,
                                 float scores[][KERNELS_KV_BLOCK], bool f32, const int heads) {
    const size_t n = a->head_size_k;
    v16 acc[ATTEND_HEADS];
    for (int h = 0; h < heads; h++) acc[h] = v16_zero();
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        v16 k = attend_load_16(a->k, f32, j * n + i, false);
        for (int h = 0; h < heads; h++)
            acc[h] = v16_fma(v16_load(q + (size_t)h * a->q_stride + i), k, acc[h]);
    }
    if (i < n) {
        v16 k = attend_load_16(a->k, f32, j * n + i, true);
        for (int h = 0; h < heads; h++)
            acc[h] = v16_fma(v16_load_part(q + (size_t)h * a->q_stride + i, 8), k, acc[h]);
    }
    if (heads < ATTEND_HEADS) {
        for (int h = 0; h < heads; h++) scores[h][j] = v16_total(acc[h]);
        return;
    }
    float totals[ATTEND_HEADS];
    _mm_storeu_ps(totals, v16_totals(acc));
    for (int h = 0; h < heads; h++) scores[h][j] = totals[h];
}

// Sums to scores to probabilities, in place; gives the largest score. p is 0 outside lo..hi-1.
static float attend_probabilities(const struct kernels_attend *a, float p[KERNELS_KV_BLOCK]) {
    float largest = -INFINITY;
    for (size_t j = 0; j < KERNELS_KV_BLOCK; j += VEC) {
        vf s = vf_mul(vf_load(p + j), vf_set(a->scale));
        if (a->softcap > 0.0f) s = vmath_softcap(s, vf_set(a->softcap));
        vf_store(p + j, s);
    }
    for (size_t j = a->lo; j < a->hi; j++) largest = p[j] > largest ? p[j] : largest;
    for (size_t j = 0; j < KERNELS_KV_BLOCK; j += VEC)
        vf_store(p + j, vmath_exp(vf_sub(vf_load(p + j), vf_set(largest))));
    memset(p, 0, a->lo * sizeof *p);
    memset(p + a->hi, 0, (KERNELS_KV_BLOCK - a->hi) * sizeof *p);
    return largest;
}

ATTEND_INLINE float attend_sum(const float p[KERNELS_KV_BLOCK]) {
    v16 acc = v16_zero();
    for (size_t j = 0; j < KERNELS_KV_BLOCK; j += 16) acc = v16_add(acc, v16_load(p + j));
    return v16_total(acc);
}

// The first `count` values at v[j][i..].
ATTEND_INLINE vf attend_load_value(const struct kernels_attend *a, size_t j, size_t i, bool f32,
                                   size_t count) {
    const size_t at = j * a->v_stride + i;
    if (f32) {
        const float *x = (const float *)a->v + at;
        return count == VEC ? vf_load(x) : vf_load_part(x, count);
    }
    uint16_t part[VEC] = {0};
    const uint16_t *x = (const uint16_t *)a->v + at;
    if (count < VEC) x = memcpy(part, x, count * sizeof *x);
    return vf_load_half(x);
}

// o[h][i..] = chain over the positions, for `vectors` (1 or 2) vectors of elements, the last of
// `count` elements: two make enough chains to hide the latency of an fma.
ATTEND_INLINE void attend_values(const struct kernels_attend *a, float p[][KERNELS_KV_BLOCK],
                                 float *o, size_t i, bool f32, const int heads, const int vectors,
                                 size_t count) {
    const size_t n = a->head_size_v;
    vf acc[ATTEND_HEADS][2];
    for (int h = 0; h < heads; h++) acc[h][0] = acc[h][1] = vf_zero();
    for (size_t j = a->lo; j < a->hi; j++) {
        vf v[2];
        v[0] = attend_load_value(a, j, i, f32, vectors == 1 ? count : VEC);
        if (vectors == 2) v[1] = attend_load_value(a, j, i + VEC, f32, count);
        for (int h = 0; h < heads; h++) {
            vf share = vf_set(p[h][j]);
            for (int x = 0; x < vectors; x++) acc[h][x] = vf_fma(share, v[x], acc[h][x]);
        }
    }
    for (int h = 0; h < heads; h++) {
        float *out = o + (size_t)h * n + i;
        vf_store_part(out, acc[h][0], vectors == 1 ? count : VEC);
        if (vectors == 2) vf_store_part(out + VEC, acc[h][1], count);
    }
}

// Row j of the values, which are walked in columns later on and then come line by line, and a row of the keys
// some time before it is needed: behind a long text neither is in a cache.
ATTEND_INLINE void attend_prefetch(const struct kernels_attend *a, size_t j, bool f32) {
    const size_t element = f32 ? sizeof(float) : sizeof(uint16_t), line = 64;
    const size_t keys = a->head_size_k * element, values = a->head_size_v * element;
    const char *k = (const char *)a->k + (j + ATTEND_AHEAD) * keys;
    const char *v = (const char *)a->v + j * a->v_stride * element;
    for (size_t i = 0; i < keys; i += line) _mm_prefetch(k + i, _MM_HINT_T0);
    for (size_t i = 0; a->v != a->k && i < values; i += line) _mm_prefetch(v + i, _MM_HINT_T0);
}

ATTEND_INLINE void attend_heads(const struct kernels_attend *a, size_t first, bool f32,
                                const int heads) {
    _Alignas(64) float p[ATTEND_HEADS][KERNELS_KV_BLOCK] = {{0}};
    float *o = a->o + first * a->head_size_v;
    for (size_t j = a->lo; j < a->hi; j++) {
        if (first == 0) attend_prefetch(a, j, f32);
        attend_scores(a, a->q + first * a->q_stride, j, p, f32, heads);
    }
    for (int h = 0; h < heads; h++) {
        a->m[first + (size_t)h] = attend_probabilities(a, p[h]);
        a->l[first + (size_t)h] = attend_sum(p[h]);
    }
    size_t i = 0, n = a->head_size_v;
    for (; i + 2 * VEC <= n; i += 2 * VEC) attend_values(a, p, o, i, f32, heads, 2, VEC);
    for (; i < n; i += VEC) attend_values(a, p, o, i, f32, heads, 1, n - i < VEC ? n - i : VEC);
}

// Numbers of heads as constants, so that the sums stay in registers.
ATTEND_INLINE void attend_all(const struct kernels_attend *a, bool f32) {
    size_t h = 0;
    for (; h + ATTEND_HEADS <= a->n_q; h += ATTEND_HEADS) attend_heads(a, h, f32, ATTEND_HEADS);
    switch (a->n_q - h) {
    case 1: attend_heads(a, h, f32, 1); break;
    case 2: attend_heads(a, h, f32, 2); break;
    case 3: attend_heads(a, h, f32, 3); break;
    }
}

static void attend_block(const struct kernels_attend *a) {
    KERNEL_ASSERT(a->lo < a->hi && a->hi <= KERNELS_KV_BLOCK);
    if (a->kv_f32) attend_all(a, true);
    else attend_all(a, false);
}

static void attend_merge(float *m, float *l, float *o, float m2, float l2, const float *o2,
                         size_t n) {
    float largest = m2 > *m ? m2 : *m;
    float a = kmath_exp(*m - largest), b = kmath_exp(m2 - largest);
    const vf va = vf_set(a), vb = vf_set(b);
    *m = largest;
    *l = fmaf(l2, b, *l * a);
    size_t i = 0;
    for (; i + VEC <= n; i += VEC)
        vf_store(o + i, vf_fma(vf_load(o2 + i), vb, vf_mul(vf_load(o + i), va)));
    vf rest = vf_mul(vf_load_part(o + i, n - i), va);
    vf_store_part(o + i, vf_fma(vf_load_part(o2 + i, n - i), vb, rest), n - i);
}

void ATTEND_INIT(struct kernels_table *table) {
    table->attend_block = attend_block;
    table->attend_merge = attend_merge;
}

#endif
