// SPDX-License-Identifier: Apache-2.0
//
// Matrix products, dequantisation and the quantisation of activations. The oracle for ref is a sum
// in double precision over the dequantised weights and activations, with a bound that follows from
// the number of roundings of the contract, not from what was seen.
#include "check_case.h"
#include "check_weights.h"

#include "base/half.h"
#include "kernels/kernels_rows.h"

#include <math.h>
#include <string.h>

enum { K_MAX = 4096 };

// Small shapes mostly: every remainder of a tile matters, size does not.
struct shape {
    size_t rows, k, cols;
};
static struct shape pick_shape(struct check *c, uint32_t block) {
    bool large = check_one_in(c, 8);
    size_t unit = block == 1 ? 1 : block;
    size_t blocks_max = (large ? 1024 : check_one_in(c, 16) ? K_MAX : 1280) / unit;
    struct shape shape = {.rows = 1 + check_below(c, 9), .cols = 1 + check_below(c, 17)};
    shape.k = unit * (1 + check_below(c, (uint32_t)blocks_max));
    if (!large) return shape;
    // Whole tiles of any tier, and more columns than they keep sums of.
    shape.rows = 32 + check_below(c, 50);
    shape.cols = 1 + check_below(c, 40);
    if (check_one_in(c, 3)) {
        shape.cols = 60 + check_below(c, 80);
        shape.k = unit * (1 + check_below(c, (uint32_t)(512 / unit)));
    }
    return shape;
}

// A copy of rows, as the tested table wants them.
static uint8_t *interleaved(struct check *c, uint32_t dtype, const uint8_t *w, size_t row_bytes,
                            size_t rows) {
    uint8_t *copy = check_copy(c, w, rows * row_bytes, 1);
    uint8_t *scratch = check_buffer(c, c->tested->lanes * row_bytes, 64);
    c->tested->interleave(dtype, copy, row_bytes, rows, scratch);
    return copy;
}

// n columns, quantised by ref.
static uint8_t *make_columns(struct check *c, enum kernels_act act, size_t k, size_t n,
                             enum check_kind kind) {
    size_t bytes = kernels_act_bytes(act, k);
    uint8_t *columns = check_buffer(c, n * bytes, 64);
    float x[K_MAX];
    for (size_t i = 0; i < n; i++) {
        check_fill(c, x, k, kind == CHECK_WILD ? check_pick_kind(c, true) : kind);
        c->ref->quantise[act](columns + i * bytes, x, k);
    }
    return columns;
}

// Element i of a column.
static double column_value(enum kernels_act act, const uint8_t *column, size_t k, size_t i) {
    if (act == KERNELS_ACT_F32) return (double)((const float *)(const void *)column)[i];
    if (act == KERNELS_ACT_Q32) {
        const float *d = (const float *)(const void *)(column + kernels_q32_scale_offset(k));
        return (double)d[i / 32] * ((const int8_t *)column)[i];
    }
    const struct kernels_q256 *record = (const struct kernels_q256 *)(const void *)column + i / 256;
    return (double)record->d * record->t[i % 256 / 32] * record->q[i % 256];
}

// Roundings of one output, each at most 2^-24 of the sum of |terms|: per block the product of
// scales, the conversion of the integer and the fma; one of the dequantised weight; the last
// subtraction.
static void check_against_double(struct check *c, uint32_t dtype, const struct kernels_matmul *m) {
    const struct dtype_info *info = dtype_get(dtype);
    enum kernels_act act = kernels_act_of(dtype);
    size_t chain = info->block == 1 ? m->k / 16 + 6 : m->k / info->block + 5;
    float w[K_MAX];
    for (size_t r = 0; r < m->rows; r++) {
        const uint8_t *row = m->w + r * m->w_row_bytes;
        c->ref->dequantise[dtype](w, row, m->k);
        for (size_t j = 0; j < m->n_cols; j++) {
            const uint8_t *column = m->act + (m->cols ? m->cols[j] : j) * m->act_stride;
            double exact = 0, size = 0;
            for (size_t i = 0; i < m->k; i++) {
                double x = column_value(act, column, m->k, i);
                exact += (double)w[i] * x;
                double added = check_weights_minimum(dtype, row + i / info->block * info->bytes);
                size += (fabs((double)w[i]) + 2 * added) * fabs(x);
            }
            // The product of two scales may be denormal: 2^-150 times an integer below 2^31.
            double bound = size * (double)chain * 0x1p-24 + (double)m->k * 0x1p-119;
            if (!check_near(c, "y", m->y[j * m->y_stride + r], exact, bound)) return;
        }
    }
}

void check_matmul(struct check *c, uint32_t dtype) {
    const struct dtype_info *info = dtype_get(dtype);
    enum kernels_act act = kernels_act_of(dtype);
    struct shape shape = pick_shape(c, info->block);
    enum check_weights weights = (enum check_weights)check_below(c, CHECK_WEIGHTS_KINDS);
    enum check_kind kind = check_pick_kind(c, false);
    uint64_t row_bytes;
    dtype_row_bytes(dtype, shape.k, &row_bytes);
    struct kernels_matmul m = {.rows = shape.rows, .k = shape.k, .n_cols = shape.cols};

    m.w_row_bytes = (size_t)row_bytes;
    uint8_t *w = check_buffer(c, m.rows * m.w_row_bytes, 1);
    for (size_t r = 0; r < m.rows; r++)
        check_weights_fill(c, dtype, w + r * m.w_row_bytes, m.k, weights);
    m.w = w;
    size_t columns = check_one_in(c, 2) ? m.n_cols : 1 + check_below(c, 20);
    m.act_stride = kernels_act_bytes(act, m.k);
    m.act = make_columns(c, act, m.k, columns, kind);
    if (columns != m.n_cols || check_one_in(c, 2)) {
        uint32_t *cols = check_buffer(c, m.n_cols * sizeof *cols, sizeof *cols);
        for (size_t i = 0; i < m.n_cols; i++) cols[i] = check_below(c, (uint32_t)columns);
        m.cols = cols;
    }
    m.y_stride = m.rows + (check_one_in(c, 2) ? check_below(c, 5) : 0);
    size_t outputs = (m.n_cols - 1) * m.y_stride + m.rows;
    check_describe(c, ", %zu rows, k %zu, %zu columns%s, weights %s, activations %s", m.rows, m.k,
                   m.n_cols, m.cols ? " picked" : "", check_weights_name(weights),
                   check_kind_name(kind));

    struct kernels_matmul expected = m;
    m.w = interleaved(c, dtype, w, m.w_row_bytes, m.rows);
    m.y = check_buffer(c, outputs * sizeof(float), sizeof(float));
    expected.y = check_buffer(c, outputs * sizeof(float), sizeof(float));
    c->tested->matmul[dtype](&m);
    c->ref->matmul[dtype](&expected);
    // The whole buffers: the gaps between columns must be as they were (NaN).
    if (!check_same_floats(c, "y", m.y, expected.y, outputs)) return;
    if (c->oracle && weights != CHECK_WEIGHTS_WILD) check_against_double(c, dtype, &expected);
}

void check_interleave(struct check *c, uint32_t unused) {
    (void)unused;
    uint32_t dtype;
    do dtype = check_below(c, DTYPE_ID_MAX);
    while (!c->tested->matmul[dtype]);
    const struct dtype_info *info = dtype_get(dtype);
    size_t rows = 1 + check_below(c, 50), blocks = 1 + check_below(c, 10);
    size_t row_bytes = blocks * info->bytes;
    check_describe(c, " %s, %zu rows of %zu blocks", info->name, rows, blocks);
    uint8_t *w = check_buffer(c, rows * row_bytes, 1), *row = check_buffer(c, row_bytes, 1);
    for (size_t i = 0; i < rows * row_bytes; i++) w[i] = (uint8_t)check_below(c, 256);
    const uint8_t *got = interleaved(c, dtype, w, row_bytes, rows);
    for (size_t r = 0; r < rows; r++) {
        kernels_rows_copy(c->tested, dtype, got, row_bytes, rows, r, row);
        if (!check_same_bytes(c, "a row", row, w + r * row_bytes, row_bytes)) return;
    }
}

void check_dequantise(struct check *c, uint32_t dtype) {
    const struct dtype_info *info = dtype_get(dtype);
    size_t k = info->block * (1 + check_below(c, info->block == 1 ? 300 : 6));
    enum check_weights weights = (enum check_weights)check_below(c, CHECK_WEIGHTS_KINDS);
    uint8_t *w = check_buffer(c, k / info->block * info->bytes, 1);
    check_weights_fill(c, dtype, w, k, weights);
    check_describe(c, ", k %zu, weights %s", k, check_weights_name(weights));
    float *got = check_buffer(c, k * sizeof *got, sizeof *got);
    float *expected = check_buffer(c, k * sizeof *got, sizeof *got);
    c->tested->dequantise[dtype](got, w, k);
    c->ref->dequantise[dtype](expected, w, k);
    check_same_floats(c, "weight", got, expected, k);
}

// Each value is off by half a step, and by what the step, its inverse and the product were rounded.
// t * D may be smaller than max|x| / 127 by a rounding (the multiplier is at most 8): 127 * 2^-22.
static void check_steps(struct check *c, enum kernels_act act, const uint8_t *column,
                        const float *x, size_t k) {
    if (act == KERNELS_ACT_F32) return;
    for (size_t i = 0; i < k; i++) {
        double step;
        if (act == KERNELS_ACT_Q32) {
            const float *d = (const float *)(const void *)(column + kernels_q32_scale_offset(k));
            step = (double)d[i / 32];
        } else {
            const struct kernels_q256 *record =
                (const struct kernels_q256 *)(const void *)column + i / 256;
            step = (double)record->d * record->t[i % 256 / 32];
        }
        // Zeros: everything was below 127 (of 256: 8 * 127) least normal floats.
        double bound = step > 0 ? step * (0.5 + 127 * 0x1p-22) : 8 * 127 * 0x1p-126;
        if (!check_near(c, "activation", (float)column_value(act, column, k, i), (double)x[i],
                        bound + fabs((double)x[i]) * 0x1p-24))
            return;
    }
}

void check_quantise(struct check *c, uint32_t act_number) {
    enum kernels_act act = (enum kernels_act)act_number;
    size_t unit = act == KERNELS_ACT_F32 ? 1 : act == KERNELS_ACT_Q32 ? 32 : 256;
    size_t k = unit * (1 + check_below(c, (uint32_t)(1100 / unit)));
    enum check_kind kind = check_pick_kind(c, true);
    bool spoil = check_one_in(c, 4);
    float *x = check_floats(c, k, kind);
    if (spoil) {
        const float bad[] = {NAN, -NAN, INFINITY, -INFINITY};
        x[check_below(c, (uint32_t)k)] = bad[check_below(c, 4)];
    }
    check_describe(c, ", k %zu, values %s%s", k, check_kind_name(kind),
                   spoil ? ", one not finite" : "");
    size_t bytes = kernels_act_bytes(act, k);
    uint8_t *got = check_buffer(c, bytes, 64), *expected = check_buffer(c, bytes, 64);
    bool fine = c->tested->quantise[act](got, x, k);
    c->ref->quantise[act](expected, x, k);
    if (fine == spoil) check_fail(c, "says %s", fine ? "all finite" : "not finite");
    if (spoil || !check_same_bytes(c, "the column", got, expected, bytes)) return;
    if (c->oracle) check_steps(c, act, expected, x, k);
}
