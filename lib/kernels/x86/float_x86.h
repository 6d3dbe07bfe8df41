// SPDX-License-Identifier: Apache-2.0
//
// Owns:      matrix products of float weights: rule 1 of kernels.h, as a template.
// Called by: float_avx2.c, float_avx512.c, which include a vec_*.h first and define FLOAT_INIT.
// Threads:   pure.
// Errors:    none.
// Not here:  quantised weights (tile_x86.h).
//
// A few rows times a few columns at a time: each weight and each activation that is loaded is used
// more than once, and enough chains of fma run side by side to hide their latency.
#ifndef KERNELS_X86_FLOAT_X86_H
#define KERNELS_X86_FLOAT_X86_H

#include "kernels/x86/kernels_x86.h"

#define FLOAT_INLINE static inline __attribute__((always_inline))

enum { FLOAT_ROWS = 2, FLOAT_COLUMNS = 3, FLOAT_LANES = 16, FLOAT_AHEAD_BYTES = 1024 };

// 16 weights at p, and the last n of a row, padded with zeros. size: bytes of a weight.
struct float_format {
    size_t size;
    v16 (*load)(const uint8_t *p);
};

FLOAT_INLINE v16 float_load_F32(const uint8_t *p) {
    return v16_load((const float *)(const void *)p);
}
FLOAT_INLINE v16 float_load_F16(const uint8_t *p) {
    return v16_load_half((const uint16_t *)(const void *)p);
}
FLOAT_INLINE v16 float_load_BF16(const uint8_t *p) {
    return v16_load_bfloat((const uint16_t *)(const void *)p);
}

FLOAT_INLINE v16 float_load_tail(struct float_format format, const uint8_t *p, size_t n) {
    uint8_t part[FLOAT_LANES * sizeof(float)] = {0};
    memcpy(part, p, n * format.size);
    return format.load(part);
}

// Columns are padded with zeros to whole lanes, so only weights need care at the end.
FLOAT_INLINE void float_tile(struct float_format format, const uint8_t *const *row,
                             const float *const *x, size_t k, float *const *y, const int rows,
                             const int columns) {
    v16 acc[FLOAT_ROWS][FLOAT_COLUMNS];
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < columns; c++) acc[r][c] = v16_zero();
    size_t i = 0;
    for (; i + FLOAT_LANES <= k; i += FLOAT_LANES) {
        v16 w[FLOAT_ROWS];
        for (int r = 0; r < rows; r++) {
            const uint8_t *p = row[r] + i * format.size;
            __builtin_prefetch(p + FLOAT_AHEAD_BYTES, 0, 2);
            w[r] = format.load(p);
        }
        for (int c = 0; c < columns; c++) {
            v16 a = v16_load(x[c] + i);
            for (int r = 0; r < rows; r++) acc[r][c] = v16_fma(w[r], a, acc[r][c]);
        }
    }
    for (int r = 0; r < rows && i < k; r++) {
        v16 w = float_load_tail(format, row[r] + i * format.size, k - i);
        for (int c = 0; c < columns; c++) acc[r][c] = v16_fma(w, v16_load(x[c] + i), acc[r][c]);
    }
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < columns; c++) y[c][r] = v16_total(acc[r][c]);
}

// The numbers of rows and columns as constants, so that the sums stay in registers.
FLOAT_INLINE void float_any_tile(struct float_format format, const uint8_t *const *row,
                                 const float *const *x, size_t k, float *const *y, size_t rows,
                                 size_t columns) {
    switch (rows * 4 + columns) {
    case 5: float_tile(format, row, x, k, y, 1, 1); break;
    case 6: float_tile(format, row, x, k, y, 1, 2); break;
    case 7: float_tile(format, row, x, k, y, 1, 3); break;
    case 9: float_tile(format, row, x, k, y, 2, 1); break;
    case 10: float_tile(format, row, x, k, y, 2, 2); break;
    case 11: float_tile(format, row, x, k, y, 2, 3); break;
    }
}

FLOAT_INLINE void float_matmul(const struct kernels_matmul *m, struct float_format format) {
    for (size_t r = 0; r < m->rows; r += FLOAT_ROWS) {
        size_t rows = m->rows - r < FLOAT_ROWS ? m->rows - r : FLOAT_ROWS;
        const uint8_t *row[FLOAT_ROWS];
        for (size_t i = 0; i < rows; i++) row[i] = m->w + (r + i) * m->w_row_bytes;
        for (size_t c = 0; c < m->n_cols; c += FLOAT_COLUMNS) {
            size_t n = m->n_cols - c < FLOAT_COLUMNS ? m->n_cols - c : FLOAT_COLUMNS;
            const float *x[FLOAT_COLUMNS];
            float *y[FLOAT_COLUMNS];
            for (size_t i = 0; i < n; i++) {
                size_t number = m->cols ? m->cols[c + i] : c + i;
                x[i] = (const float *)(const void *)(m->act + number * m->act_stride);
                y[i] = m->y + (c + i) * m->y_stride + r;
            }
            float_any_tile(format, row, x, m->k, y, rows, n);
        }
    }
}

#define FLOAT_MATMUL(type, size)                                                                   \
    static void float_matmul_##type(const struct kernels_matmul *m) {                              \
        float_matmul(m, (struct float_format){size, float_load_##type});                           \
    }
FLOAT_MATMUL(F32, 4)
FLOAT_MATMUL(F16, 2)
FLOAT_MATMUL(BF16, 2)

void FLOAT_INIT(struct kernels_table *table) {
    table->matmul[DTYPE_F32] = float_matmul_F32;
    table->matmul[DTYPE_F16] = float_matmul_F16;
    table->matmul[DTYPE_BF16] = float_matmul_BF16;
}

#endif
