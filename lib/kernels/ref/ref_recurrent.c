// SPDX-License-Identifier: Apache-2.0
//
// Rule 6 of kernels.h: what recurrent layers need beside the functions over vectors.
#include "kernels/ref/kernels_ref.h"

#include "base/check.h"
#include "kernels/kmath.h"

#include <math.h>
#include <string.h>

// Row `at` of the state followed by the tokens' inputs.
static const float *conv_row(const struct kernels_conv *c, size_t at) {
    size_t before = c->taps - 1;
    return at < before ? c->state + at * KERNELS_CONV_CHANNELS : c->x + (at - before) * c->stride;
}

// The last token first: what it replaces is no input of the others.
static void conv(const struct kernels_conv *c) {
    KERNEL_ASSERT(c->taps >= 1 && c->taps <= KERNELS_CONV_TAPS_MAX);
    KERNEL_ASSERT(c->channels <= KERNELS_CONV_CHANNELS);
    float last[KERNELS_CONV_TAPS_MAX - 1][KERNELS_CONV_CHANNELS];
    for (size_t r = 0; r + 1 < c->taps; r++)
        memcpy(last[r], conv_row(c, c->tokens + r), c->channels * sizeof(float));
    for (size_t t = c->tokens; t-- > 0;) {
        for (size_t i = 0; i < c->channels; i++) {
            float sum = 0.0f;
            for (size_t j = 0; j < c->taps; j++)
                sum = fmaf(c->w[i * c->taps + j], conv_row(c, t + j)[i], sum);
            c->x[t * c->stride + i] = c->plain ? sum : kmath_silu(sum);
        }
    }
    for (size_t r = 0; r + 1 < c->taps; r++)
        memcpy(c->state + r * KERNELS_CONV_CHANNELS, last[r], c->channels * sizeof(float));
}

static void delta_gates(float *decay, float *beta, const float *a, const float *b,
                        const float *rate, const float *bias, size_t n) {
    for (size_t i = 0; i < n; i++) {
        decay[i] = kmath_exp(rate[i] * kmath_softplus(a[i] + bias[i]));
        beta[i] = kmath_sigmoid(b[i]);
    }
}

static void delta_token(const struct kernels_delta *d, size_t t) {
    enum { COLUMNS = KERNELS_DELTA_COLUMNS };
    const float *q = d->q + t * d->stride, *k = d->k + t * d->stride;
    float decay = d->decay[t * d->gate_stride], beta = d->beta[t * d->gate_stride];
    float v[COLUMNS] = {0}, p[COLUMNS] = {0}, o[COLUMNS] = {0};
    memcpy(v, d->v + t * d->stride, d->columns * sizeof *v);
    for (size_t i = 0; i < d->key_size; i++)
        for (size_t j = 0; j < COLUMNS; j++)
            p[j] = fmaf(d->state[i * COLUMNS + j], k[i], p[j]);
    for (size_t j = 0; j < COLUMNS; j++)
        p[j] = beta * fmaf(-decay, p[j], v[j]);
    for (size_t i = 0; i < d->key_size; i++) {
        float *state = d->state + i * COLUMNS;
        for (size_t j = 0; j < COLUMNS; j++) {
            state[j] = fmaf(k[i], p[j], state[j] * decay);
            o[j] = fmaf(state[j], q[i], o[j]);
        }
    }
    for (size_t j = 0; j < d->columns; j++)
        d->y[t * d->y_stride + j] = o[j] * d->scale;
}

static void delta(const struct kernels_delta *d) {
    KERNEL_ASSERT(d->columns <= KERNELS_DELTA_COLUMNS);
    for (size_t t = 0; t < d->tokens; t++)
        delta_token(d, t);
}

void ref_recurrent_init(struct kernels_table *table) {
    table->conv = conv;
    table->delta_gates = delta_gates;
    table->delta = delta;
}
