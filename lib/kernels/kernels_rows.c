// SPDX-License-Identifier: Apache-2.0
#include "kernels/kernels_rows.h"

#include "base/check.h"

#include <string.h>

enum { RUNS_MAX = 15 };

// All bytes of a block, each once.
static const struct kernels_rows_run runs_of[DTYPE_ID_MAX][RUNS_MAX] = {
    [DTYPE_Q4_0] = {{0, 2}, {2, 16}},
    [DTYPE_Q4_1] = {{0, 20}},
    [DTYPE_Q5_0] = {{0, 2}, {2, 20}},
    [DTYPE_Q5_1] = {{0, 24}},
    [DTYPE_Q8_0] = {{0, 2}, {2, 32}},
    [DTYPE_IQ4_NL] = {{0, 2}, {2, 16}},
    [DTYPE_MXFP4] = {{0, 1}, {1, 16}},
    [DTYPE_Q4_K] = {{0, 144}},
    [DTYPE_Q5_K] = {{0, 176}},
    [DTYPE_IQ4_XS] = {{0, 136}},
    // scales, d and dmin, codes
    [DTYPE_Q2_K] = {{0, 16}, {80, 4}, {16, 64}},
    // scales, d, third bits, low bits
    [DTYPE_Q3_K] = {{96, 12}, {108, 2}, {0, 32}, {32, 64}},
    // scales, d, then four times high bits and the two stretches of low bits that go with them
    [DTYPE_Q6_K] = {{192, 16}, {208, 2},
                    {128, 16}, {0, 16}, {32, 16},
                    {144, 16}, {16, 16}, {48, 16},
                    {160, 16}, {64, 16}, {96, 16},
                    {176, 16}, {80, 16}, {112, 16}},
};

const struct kernels_rows_run *kernels_rows_runs(uint32_t dtype) {
    return dtype < DTYPE_ID_MAX && runs_of[dtype][0].bytes > 0 ? runs_of[dtype] : NULL;
}

// One block of one row: `lane` of a group whose block is at `group`.
static void copy_block(uint8_t *out, const uint8_t *group, size_t lanes, size_t lane,
                       const struct kernels_rows_run *run) {
    for (; run->bytes > 0; run++) {
        size_t piece = run->bytes < 4 ? run->bytes : 4;
        for (size_t at = 0; at < run->bytes; at += piece)
            memcpy(out + run->from + at, group + lanes * at + piece * lane, piece);
        group += lanes * run->bytes;
    }
}

void kernels_rows_copy(const struct kernels_table *table, uint32_t dtype, const uint8_t *w,
                       size_t row_bytes, size_t rows, size_t row, uint8_t *out) {
    const struct kernels_rows_run *runs = kernels_rows_runs(dtype);
    size_t lanes = table->lanes, lane = row % lanes;
    KERNEL_ASSERT(row < rows);
    if (lanes == 1 || !runs || row - lane + lanes > rows) {
        memcpy(out, w + row * row_bytes, row_bytes);
        return;
    }
    const uint8_t *group = w + (row - lane) * row_bytes;
    size_t block = dtype_get(dtype)->bytes;
    for (size_t at = 0; at < row_bytes; at += block)
        copy_block(out + at, group + lanes * at, lanes, lane, runs);
}
