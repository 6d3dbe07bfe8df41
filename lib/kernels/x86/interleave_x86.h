// SPDX-License-Identifier: Apache-2.0
//
// Owns:      rearranging rows of weights into interleaved groups (kernels.h), as a template.
// Called by: interleave_avx2.c, interleave_avx512.c, which include a vec_*.h first and define
//            INTERLEAVE_INIT.
// Threads:   pure.
// Errors:    none.
// Not here:  the layout in words and numbers (kernels.h, kernels_rows.h).
#ifndef KERNELS_X86_INTERLEAVE_X86_H
#define KERNELS_X86_INTERLEAVE_X86_H

#include "kernels/kernels_rows.h"
#include "kernels/x86/kernels_x86.h"

// One run of one block; gives what follows it.
static uint8_t *interleave_run(uint8_t *out, const struct vec_rows *rows, size_t from, size_t bytes) {
    size_t at = from, end = from + bytes;
    if (bytes < 4)
        for (size_t i = 0; i < VEC; i++)
            memcpy(out + i * bytes, rows->first + i * rows->stride + from, bytes);
    for (; at + 16 <= end; at += 16) {
        vi x[4];
        vi_load_rows(rows, at, x);
        for (size_t i = 0; i < 4; i++) vi_store(out + VEC * (at - from + 4 * i), x[i]);
    }
    for (; at + 4 <= end; at += 4) vi_store(out + VEC * (at - from), vi_load_dword(rows, at));
    return out + VEC * bytes;
}

static void interleave(uint32_t dtype, uint8_t *w, size_t row_bytes, size_t rows,
                       uint8_t *scratch) {
    const struct kernels_rows_run *runs = kernels_rows_runs(dtype), *run;
    if (!runs) return;
    for (; rows >= VEC; rows -= VEC) {
        memcpy(scratch, w, VEC * row_bytes);
        struct vec_rows from = {scratch, row_bytes};
        for (; from.first < scratch + row_bytes; from.first += dtype_get(dtype)->bytes)
            for (run = runs; run->bytes > 0; run++)
                w = interleave_run(w, &from, run->from, run->bytes);
    }
}

void INTERLEAVE_INIT(struct kernels_table *table) {
    table->lanes = VEC;
    table->interleave = interleave;
}

#endif
