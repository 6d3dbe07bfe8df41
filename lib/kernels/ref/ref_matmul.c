// SPDX-License-Identifier: Apache-2.0
//
// Rules 1 and 3 of kernels.h. A block of a row is unpacked once and meets a tile of columns, whose
// running sums stay in the frame of the function.
#include "kernels/ref/kernels_ref.h"

#include "base/check.h"
#include "kernels/lanes.h"
#include "kernels/ref/ref_block.h"

#include <math.h>
#include <string.h>

enum { TILE = 32 }; // columns

// Column c of the matmul, its bytes.
static const uint8_t *column(const struct kernels_matmul *m, size_t c) {
    return m->act + (m->cols ? m->cols[c] : c) * m->act_stride;
}

// Columns [first, first + n) of one row: y[i * y_stride].
typedef void (*row_fn)(const struct kernels_matmul *m, const uint8_t *row, size_t first, size_t n,
                       float *y);

static void each_row(const struct kernels_matmul *m, row_fn function) {
    for (size_t r = 0; r < m->rows; r++)
        for (size_t c = 0; c < m->n_cols; c += TILE) {
            size_t n = m->n_cols - c < TILE ? m->n_cols - c : TILE;
            function(m, m->w + r * m->w_row_bytes, c, n, m->y + c * m->y_stride + r);
        }
}

// ---------------------------------------------------------------------------------------------
// Blocks of 32
// ---------------------------------------------------------------------------------------------

static int32_t dot_32(const int16_t *w, const int8_t *q) {
    int32_t sum = 0;
    for (size_t i = 0; i < 32; i++) sum += w[i] * q[i];
    return sum;
}

static void row_32(const struct kernels_matmul *m, const uint8_t *row, size_t first, size_t n,
                   float *y, void (*unpack)(struct ref_block_32 *, const uint8_t *),
                   size_t block_bytes, bool has_minimum) {
    float acc[TILE] = {0}, acc_m[TILE] = {0};
    for (size_t b = 0; b < m->k / 32; b++) {
        struct ref_block_32 block;
        unpack(&block, row + b * block_bytes);
        for (size_t i = 0; i < n; i++) {
            const uint8_t *act = column(m, first + i);
            const float *d = (const float *)(const void *)(act + kernels_q32_scale_offset(m->k));
            int32_t p = dot_32(block.code, (const int8_t *)act + 32 * b);
            acc[i] = fmaf(block.d * d[b], (float)p, acc[i]);
            if (!has_minimum) continue;
            const int32_t *s = (const int32_t *)(const void *)(act + kernels_q32_sum_offset(m->k));
            acc_m[i] = fmaf(block.m * d[b], (float)s[b], acc_m[i]);
        }
    }
    for (size_t i = 0; i < n; i++) y[i * m->y_stride] = has_minimum ? acc[i] + acc_m[i] : acc[i];
}

// ---------------------------------------------------------------------------------------------
// Blocks of 256
// ---------------------------------------------------------------------------------------------

// sum of code * t * q: at most 256 * 4096 * 1016 (Q6_K), which int32 holds.
static int32_t dot_256(const int16_t *w, const struct kernels_q256 *a) {
    int32_t sum = 0;
    for (size_t b = 0; b < 8; b++) {
        int16_t q[32], t = a->t[b];
        for (size_t i = 0; i < 32; i++) q[i] = (int16_t)(a->q[32 * b + i] * t);
        for (size_t i = 0; i < 32; i++) sum += w[32 * b + i] * q[i];
    }
    return sum;
}

static int32_t dot_minima(const int16_t *minimum, const int16_t *ts) {
    int32_t sum = 0;
    for (size_t g = 0; g < 16; g++) sum += minimum[g] * ts[g];
    return sum;
}

static void row_256(const struct kernels_matmul *m, const uint8_t *row, size_t first, size_t n,
                    float *y, void (*unpack)(struct ref_block_256 *, const uint8_t *),
                    size_t block_bytes, bool has_minimum) {
    float acc[TILE] = {0}, acc_m[TILE] = {0};
    for (size_t b = 0; b < m->k / 256; b++) {
        struct ref_block_256 block;
        unpack(&block, row + b * block_bytes);
        for (size_t i = 0; i < n; i++) {
            const struct kernels_q256 *a =
                (const struct kernels_q256 *)(const void *)column(m, first + i) + b;
            acc[i] = fmaf(block.d * a->d, (float)dot_256(block.code, a), acc[i]);
            if (!has_minimum) continue;
            int32_t sum = dot_minima(block.minimum, a->ts);
            acc_m[i] = fmaf(block.dmin * a->d, (float)sum, acc_m[i]);
        }
    }
    for (size_t i = 0; i < n; i++) y[i * m->y_stride] = has_minimum ? acc[i] - acc_m[i] : acc[i];
}

// ---------------------------------------------------------------------------------------------
// Floats
// ---------------------------------------------------------------------------------------------

enum { CHUNK = 256 }; // weights converted at a time, a multiple of LANES

static void row_float(const struct kernels_matmul *m, const uint8_t *row, size_t first, size_t n,
                      float *y, void (*load)(float *, const uint8_t *, size_t), size_t bytes) {
    float lane[TILE][LANES] = {{0}};
    for (size_t k = 0; k < m->k; k += CHUNK) {
        float w[CHUNK];
        size_t count = m->k - k < CHUNK ? m->k - k : CHUNK;
        load(w, row + k * bytes, count);
        for (size_t c = 0; c < n; c++) {
            const float *x = (const float *)(const void *)column(m, first + c) + k;
            for (size_t i = 0; i < count; i++)
                lane[c][i % LANES] = fmaf(w[i], x[i], lane[c][i % LANES]);
        }
    }
    for (size_t c = 0; c < n; c++) {
        lanes_pad(lane[c], m->k);
        y[c * m->y_stride] = lanes_total(lane[c]);
    }
}

// ---------------------------------------------------------------------------------------------
// One function per type
// ---------------------------------------------------------------------------------------------

#define MATMUL(name, size, ...)                                                                    \
    static void row_##name(const struct kernels_matmul *m, const uint8_t *row, size_t first,       \
                           size_t n, float *y) {                                                   \
        row_##size(m, row, first, n, y, __VA_ARGS__);                                              \
    }                                                                                              \
    static void matmul_##name(const struct kernels_matmul *m) {                                    \
        KERNEL_ASSERT(m->n_cols == 0 || m->act_stride % 64 == 0);                                  \
        each_row(m, row_##name);                                                                   \
    }
#define MATMUL_32(name, has_minimum)                                                               \
    MATMUL(name, 32, ref_block_##name, REF_BLOCK_BYTES_##name, has_minimum)
#define MATMUL_256(name, has_minimum)                                                              \
    MATMUL(name, 256, ref_block_##name, REF_BLOCK_BYTES_##name, has_minimum)
REF_BLOCK_32_LIST(MATMUL_32)
REF_BLOCK_256_LIST(MATMUL_256)
MATMUL(F32, float, ref_block_F32, REF_BLOCK_BYTES_F32)
MATMUL(F16, float, ref_block_F16, REF_BLOCK_BYTES_F16)
MATMUL(BF16, float, ref_block_BF16, REF_BLOCK_BYTES_BF16)

static const kernels_matmul_fn matmul_of[DTYPE_ID_MAX] = {
#define ENTRY(name, has_minimum) [DTYPE_##name] = matmul_##name,
    REF_BLOCK_32_LIST(ENTRY) REF_BLOCK_256_LIST(ENTRY)
    ENTRY(F32, false) ENTRY(F16, false) ENTRY(BF16, false)
#undef ENTRY
};

kernels_matmul_fn ref_matmul_of(uint32_t dtype) {
    return matmul_of[dtype];
}

// Rows stay as they are.
static void interleave(uint32_t dtype, uint8_t *w, size_t row_bytes, size_t rows,
                       uint8_t *scratch) {
    (void)dtype, (void)w, (void)row_bytes, (void)rows, (void)scratch;
}

void ref_matmul_init(struct kernels_table *table) {
    table->lanes = 1;
    table->interleave = interleave;
    memcpy(table->matmul, matmul_of, sizeof matmul_of);
}
