// SPDX-License-Identifier: Apache-2.0
//
// The functions of recurrent layers. The tested tier gets the tokens in two calls, ref in one: where they
// are cut must make no difference.
#include "check_case.h"

#include <math.h>
#include <string.h>

// ---- convolution ----------------------------------------------------------------------------------
static void check_channel(struct check *c, const struct kernels_conv *conv, const float *inputs,
                          const float *state, size_t channel) {
    for (size_t t = 0; t < conv->tokens; t++) {
        double sum = 0, size = 0;
        for (size_t j = 0; j < conv->taps; j++) {
            size_t at = t + j, before = conv->taps - 1;
            double x = at < before ? (double)state[at * KERNELS_CONV_CHANNELS + channel]
                                   : (double)inputs[(at - before) * conv->stride + channel];
            sum += x * (double)conv->w[channel * conv->taps + j];
            size += fabs(x * (double)conv->w[channel * conv->taps + j]);
        }
        double exact = conv->plain ? sum : sum / (1 + exp(-sum));
        double bound = 1.1 * size * (double)conv->taps * 0x1p-24 + fabs(exact) * 0x1p-21 + 0x1p-140;
        if (!check_near(c, "y", conv->x[t * conv->stride + channel], exact, bound)) return;
    }
}

void check_conv(struct check *c, uint32_t unused) {
    (void)unused;
    struct kernels_conv got = {.tokens = 1 + check_below(c, 9),
                               .channels = 1 + check_below(c, KERNELS_CONV_CHANNELS),
                               .taps = 1 + check_below(c, KERNELS_CONV_TAPS_MAX)};
    if (check_one_in(c, 2)) got.channels = KERNELS_CONV_CHANNELS;
    got.plain = check_one_in(c, 3);
    got.stride = got.channels + check_below(c, 5);
    enum check_kind kind = check_pick_kind(c, false);
    size_t x_count = (got.tokens - 1) * got.stride + got.channels;
    size_t state_count = (got.taps - 1) * KERNELS_CONV_CHANNELS;
    const float *inputs = check_floats(c, x_count, kind);
    const float *before = check_floats(c, state_count, kind);
    got.w = check_floats(c, got.channels * got.taps, check_pick_kind(c, false));
    struct kernels_conv expected = got;
    got.x = check_copy(c, inputs, x_count * sizeof(float), sizeof(float));
    got.state = check_copy(c, before, state_count * sizeof(float), sizeof(float));
    expected.x = check_copy(c, inputs, x_count * sizeof(float), sizeof(float));
    expected.state = check_copy(c, before, state_count * sizeof(float), sizeof(float));
    struct kernels_conv first = got, second = got;
    first.tokens = check_below(c, (uint32_t)got.tokens);
    second.x += first.tokens * got.stride;
    second.tokens -= first.tokens;
    check_describe(c, ", %zu + %zu tokens of %zu channels, %zu taps%s, values %s", first.tokens,
                   second.tokens, got.channels, got.taps, got.plain ? ", plain" : "",
                   check_kind_name(kind));
    c->ref->conv(&expected);
    if (first.tokens > 0) c->tested->conv(&first);
    c->tested->conv(&second);
    if (!check_same_floats(c, "y", got.x, expected.x, x_count)) return;
    if (!check_same_floats(c, "state", got.state, expected.state, state_count)) return;
    for (size_t i = 0; c->oracle && i < got.channels; i++)
        check_channel(c, &got, inputs, before, i);
}

// ---- delta rule -----------------------------------------------------------------------------------
void check_delta_gates(struct check *c, uint32_t unused) {
    (void)unused;
    size_t n = 1 + check_below(c, 70);
    enum check_kind kind = check_pick_kind(c, false);
    const float *a = check_floats(c, n, kind), *b = check_floats(c, n, kind);
    float *rate = check_floats(c, n, CHECK_PLAIN), *bias = check_floats(c, n, CHECK_PLAIN);
    for (size_t i = 0; i < n; i++)
        rate[i] = (float)check_uniform(c, -16, 0);
    for (size_t i = 0; i < n; i++)
        bias[i] = (float)check_uniform(c, -10, 10);
    float *got[2], *expected[2];
    for (int i = 0; i < 2; i++) {
        got[i] = check_buffer(c, n * sizeof(float), sizeof(float));
        expected[i] = check_buffer(c, n * sizeof(float), sizeof(float));
    }
    check_describe(c, ", n %zu, values %s", n, check_kind_name(kind));
    c->tested->delta_gates(got[0], got[1], a, b, rate, bias, n);
    c->ref->delta_gates(expected[0], expected[1], a, b, rate, bias, n);
    if (!check_same_floats(c, "decay", got[0], expected[0], n)) return;
    if (!check_same_floats(c, "beta", got[1], expected[1], n) || !c->oracle) return;
    for (size_t i = 0; i < n; i++) {
        double x = (double)a[i] + (double)bias[i], soft = x > 40 ? x : log1p(exp(x));
        double power = (double)rate[i] * soft, exact = exp(power);
        // Relative: the roundings of a + bias, softplus, product and exp.
        double error = (fabs(x) + fabs((double)a[i]) + soft + 2) * fabs((double)rate[i]) * 0x1p-22;
        double bound = exact * (error + 0x1p-22) + 0x1p-140;
        if (error < 0.01 && !check_near(c, "decay", got[0][i], exact, bound)) return;
        exact = 1 / (1 + exp(-(double)b[i])); // denormal ones become 0
        if (!check_near(c, "beta", got[1][i], exact, exact * 0x1p-21 + 0x1p-126)) return;
    }
}

// One column in double precision, for states, keys and queries of moderate size.
static void check_column(struct check *c, const struct kernels_delta *d, const float *before,
                         size_t column) {
    double state[160];
    for (size_t i = 0; i < d->key_size; i++)
        state[i] = (double)before[i * KERNELS_DELTA_COLUMNS + column];
    for (size_t t = 0; t < d->tokens; t++) {
        const float *q = d->q + t * d->stride, *k = d->k + t * d->stride;
        double decay = (double)d->decay[t * d->gate_stride], p = 0, o = 0;
        for (size_t i = 0; i < d->key_size; i++)
            p += state[i] * decay * (double)k[i];
        double change =
            (double)d->beta[t * d->gate_stride] * ((double)d->v[t * d->stride + column] - p);
        for (size_t i = 0; i < d->key_size; i++) {
            state[i] = state[i] * decay + (double)k[i] * change;
            o += state[i] * (double)q[i];
        }
        if (!check_near(c, "y", d->y[t * d->y_stride + column], o * (double)d->scale, 1e-4)) return;
    }
}

void check_delta(struct check *c, uint32_t unused) {
    (void)unused;
    struct kernels_delta got = {.key_size = 1 + check_below(c, 160),
                                .columns = 1 + check_below(c, KERNELS_DELTA_COLUMNS),
                                .tokens = 1 + check_below(c, 5),
                                .gate_stride = 2};
    if (check_one_in(c, 2)) got.columns = KERNELS_DELTA_COLUMNS;
    got.stride = 2 * got.key_size + got.columns + check_below(c, 5);
    got.y_stride = got.columns + check_below(c, 5);
    got.scale = 1.0f / sqrtf((float)got.key_size);
    enum check_kind kind = check_pick_kind(c, false);
    size_t states = got.key_size * KERNELS_DELTA_COLUMNS;
    size_t ys = (got.tokens - 1) * got.y_stride + got.columns;
    size_t inputs = (got.tokens - 1) * got.stride + 2 * got.key_size + got.columns;
    float *row = check_floats(c, inputs, kind);
    float *gates = check_floats(c, 2 * got.tokens, CHECK_PLAIN);
    for (size_t i = 0; i < 2 * got.tokens; i++)
        gates[i] = fabsf(gates[i]);
    if (kind == CHECK_PLAIN) // as after normalising
        for (size_t t = 0; t < got.tokens; t++)
            for (size_t i = 0; i < 2 * got.key_size; i++)
                row[t * got.stride + i] *= got.scale;
    got.q = row, got.k = row + got.key_size, got.v = row + 2 * got.key_size;
    got.decay = gates, got.beta = gates + 1;
    const float *before = check_floats(c, states, kind);
    struct kernels_delta expected = got;
    got.state = check_copy(c, before, states * sizeof(float), sizeof(float));
    expected.state = check_copy(c, before, states * sizeof(float), sizeof(float));
    got.y = check_buffer(c, ys * sizeof(float), sizeof(float));
    expected.y = check_buffer(c, ys * sizeof(float), sizeof(float));
    struct kernels_delta first = got, second = got;
    first.tokens = check_below(c, (uint32_t)got.tokens);
    second.tokens -= first.tokens;
    second.q += first.tokens * got.stride, second.k += first.tokens * got.stride;
    second.v += first.tokens * got.stride, second.y += first.tokens * got.y_stride;
    second.decay += 2 * first.tokens, second.beta += 2 * first.tokens;
    check_describe(c, ", %zu + %zu tokens of %zu x %zu, values %s", first.tokens, second.tokens,
                   got.key_size, got.columns, check_kind_name(kind));
    c->ref->delta(&expected);
    c->tested->delta(&first);
    c->tested->delta(&second);
    if (!check_same_floats(c, "y", got.y, expected.y, ys)) return;
    if (!check_same_floats(c, "state", got.state, expected.state, states)) return;
    for (size_t j = 0; c->oracle && kind == CHECK_PLAIN && j < got.columns; j++)
        check_column(c, &got, before, j);
}
