// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the layout of interleaved rows (kernels.h): what a block is cut into, one row back.
// Called by: exec (embedding rows of a matrix that is also multiplied), kernels/x86.
// Threads:   pure.
// Errors:    none.
// Not here:  rearranging a matrix (kernels_table.interleave).
#ifndef KERNELS_KERNELS_ROWS_H
#define KERNELS_KERNELS_ROWS_H

#include "kernels/kernels.h"

// A block of one row is cut into runs, which lie in the group in this order: the order in which kernels
// want them, and not that of the file, so that they read memory straight on. A run of dwords is
// interleaved dword by dword, one of fewer than 4 bytes as one piece.
struct kernels_rows_run {
    uint16_t from, bytes; // of the block
};

// Ends with a run of 0 bytes. NULL: rows of this type are never interleaved.
const struct kernels_rows_run *kernels_rows_runs(uint32_t dtype);

// Copies row `row` of the `rows` rows of w, which lie as the table wants them, to out: row_bytes bytes
// in GGUF order.
void kernels_rows_copy(const struct kernels_table *table, uint32_t dtype, const uint8_t *w,
                       size_t row_bytes, size_t rows, size_t row, uint8_t *out);

#endif
