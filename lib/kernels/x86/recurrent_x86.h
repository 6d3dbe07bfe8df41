// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the functions of recurrent layers: rule 6 of kernels.h, as a template. (Gates of the delta
//            rule are a few numbers per token, with a logarithm in double: ref does them.)
// Called by: recurrent_avx2.c, recurrent_avx512.c, which include a vec_*.h first and define
//            RECURRENT_INIT.
// Threads:   pure.
// Errors:    none.
// Not here:  which part of a state belongs to whom (exec).
#ifndef KERNELS_X86_RECURRENT_X86_H
#define KERNELS_X86_RECURRENT_X86_H

#include "base/check.h"
#include "kernels/x86/kernels_x86.h"
#include "kernels/x86/vmath_x86.h"

#include <string.h>

static inline vf recurrent_get(const float *p, size_t count) {
    return count >= VEC ? vf_load(p) : vf_load_part(p, count);
}
static inline void recurrent_put(float *p, vf a, size_t count) {
    if (count >= VEC)
        vf_store(p, a);
    else
        vf_store_part(p, a, count);
}

// ---- convolution ----------------------------------------------------------------------------------
// Row `at` of the state followed by the tokens' inputs.
static inline const float *recurrent_row(const struct kernels_conv *c, size_t at) {
    size_t before = c->taps - 1;
    return at < before ? c->state + at * KERNELS_CONV_CHANNELS : c->x + (at - before) * c->stride;
}

// The last token first: what it replaces is no input of the others.
static void recurrent_conv(const struct kernels_conv *c) {
    KERNEL_ASSERT(c->taps >= 1 && c->taps <= KERNELS_CONV_TAPS_MAX);
    KERNEL_ASSERT(c->channels <= KERNELS_CONV_CHANNELS);
    float w[KERNELS_CONV_TAPS_MAX][KERNELS_CONV_CHANNELS];
    float last[KERNELS_CONV_TAPS_MAX - 1][KERNELS_CONV_CHANNELS];
    for (size_t j = 0; j < c->taps; j++)
        for (size_t i = 0; i < c->channels; i++)
            w[j][i] = c->w[i * c->taps + j];
    for (size_t r = 0; r + 1 < c->taps; r++)
        memcpy(last[r], recurrent_row(c, c->tokens + r), c->channels * sizeof(float));
    for (size_t t = c->tokens; t-- > 0;) {
        const float *rows[KERNELS_CONV_TAPS_MAX];
        for (size_t j = 0; j < c->taps; j++)
            rows[j] = recurrent_row(c, t + j);
        float *y = c->x + t * c->stride;
        for (size_t i = 0; i < c->channels; i += VEC) {
            size_t count = c->channels - i;
            vf sum = vf_zero();
            for (size_t j = 0; j < c->taps; j++)
                sum =
                    vf_fma(recurrent_get(w[j] + i, count), recurrent_get(rows[j] + i, count), sum);
            recurrent_put(y + i, c->plain ? sum : vmath_silu(sum), count);
        }
    }
    for (size_t r = 0; r + 1 < c->taps; r++)
        memcpy(c->state + r * KERNELS_CONV_CHANNELS, last[r], c->channels * sizeof(float));
}

// ---- delta rule -----------------------------------------------------------------------------------
enum { RECURRENT_VECS = KERNELS_DELTA_COLUMNS / VEC };

// All columns at once, their chains in registers; the state is read twice and written once.
static inline void recurrent_delta_token(float *state, size_t key_size, const float *q,
                                         const float *k, float decay, float beta,
                                         const float v[KERNELS_DELTA_COLUMNS],
                                         float o[KERNELS_DELTA_COLUMNS], float scale) {
    vf p[RECURRENT_VECS], sum[RECURRENT_VECS];
    for (int n = 0; n < RECURRENT_VECS; n++)
        p[n] = sum[n] = vf_zero();
    for (size_t i = 0; i < key_size; i++) {
        const float *row = state + i * KERNELS_DELTA_COLUMNS;
        const vf key = vf_set(k[i]);
        for (int n = 0; n < RECURRENT_VECS; n++)
            p[n] = vf_fma(vf_load(row + n * VEC), key, p[n]);
    }
    const vf keep = vf_set(decay);
    for (int n = 0; n < RECURRENT_VECS; n++)
        p[n] = vf_mul(vf_set(beta), vf_fma(vf_set(-decay), p[n], vf_load(v + n * VEC)));
    for (size_t i = 0; i < key_size; i++) {
        float *row = state + i * KERNELS_DELTA_COLUMNS;
        const vf key = vf_set(k[i]), query = vf_set(q[i]);
        for (int n = 0; n < RECURRENT_VECS; n++) {
            vf s = vf_fma(key, p[n], vf_mul(vf_load(row + n * VEC), keep));
            vf_store(row + n * VEC, s);
            sum[n] = vf_fma(s, query, sum[n]);
        }
    }
    for (int n = 0; n < RECURRENT_VECS; n++)
        vf_store(o + n * VEC, vf_mul(sum[n], vf_set(scale)));
}

static void recurrent_delta(const struct kernels_delta *d) {
    KERNEL_ASSERT(d->columns <= KERNELS_DELTA_COLUMNS);
    float v[KERNELS_DELTA_COLUMNS] = {0}, o[KERNELS_DELTA_COLUMNS];
    for (size_t t = 0; t < d->tokens; t++) {
        memcpy(v, d->v + t * d->stride, d->columns * sizeof *v);
        recurrent_delta_token(d->state, d->key_size, d->q + t * d->stride, d->k + t * d->stride,
                              d->decay[t * d->gate_stride], d->beta[t * d->gate_stride], v, o,
                              d->scale);
        memcpy(d->y + t * d->y_stride, o, d->columns * sizeof *o);
    }
}

void RECURRENT_INIT(struct kernels_table *table) {
    table->conv = recurrent_conv;
    table->delta = recurrent_delta;
}

#endif
