// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the table of tensor element types: ids of the GGUF format, names, block sizes.
// Called by: gguf (sizes), model (shapes), kernels (dispatch), inspect (names).
// Threads:   constant data.
// Errors:    dtype_get gives NULL for ids that the format does not define (or has removed).
// Not here:  what the bytes of a block mean (kernels/ref).
#ifndef BASE_DTYPE_H
#define BASE_DTYPE_H

#include <stdbool.h>
#include <stdint.h>

// X(name, id, weights per block, bytes per block). Numbers are facts of the GGUF format.
// Every id that the format defines is listed, so that `inspect` can size and name it; which of them
// can be computed with is the business of kernels.h.
#define DTYPE_LIST(X)                                                                              \
    X(F32, 0, 1, 4) X(F16, 1, 1, 2) X(Q4_0, 2, 32, 18) X(Q4_1, 3, 32, 20) X(Q5_0, 6, 32, 22)       \
    X(Q5_1, 7, 32, 24) X(Q8_0, 8, 32, 34) X(Q8_1, 9, 32, 36) X(Q2_K, 10, 256, 84)                  \
    X(Q3_K, 11, 256, 110) X(Q4_K, 12, 256, 144) X(Q5_K, 13, 256, 176) X(Q6_K, 14, 256, 210)        \
    X(Q8_K, 15, 256, 292) X(IQ2_XXS, 16, 256, 66) X(IQ2_XS, 17, 256, 74) X(IQ3_XXS, 18, 256, 98)   \
    X(IQ1_S, 19, 256, 50) X(IQ4_NL, 20, 32, 18) X(IQ3_S, 21, 256, 110) X(IQ2_S, 22, 256, 82)       \
    X(IQ4_XS, 23, 256, 136) X(I8, 24, 1, 1) X(I16, 25, 1, 2) X(I32, 26, 1, 4) X(I64, 27, 1, 8)     \
    X(F64, 28, 1, 8) X(IQ1_M, 29, 256, 56) X(BF16, 30, 1, 2) X(TQ1_0, 34, 256, 54)                 \
    X(TQ2_0, 35, 256, 66) X(MXFP4, 39, 32, 17) X(NVFP4, 40, 64, 36) X(Q1_0, 41, 128, 18)           \
    X(Q2_0, 42, 64, 18)

enum dtype {
#define DTYPE_ENUM(name, id, block, bytes) DTYPE_##name = id,
    DTYPE_LIST(DTYPE_ENUM)
#undef DTYPE_ENUM
    DTYPE_ID_MAX = 64 // ids are below this; arrays indexed by dtype have this many entries
};

struct dtype_info {
    const char *name;
    uint32_t block; // weights per block
    uint32_t bytes; // bytes per block
};

// NULL for an unknown id.
const struct dtype_info *dtype_get(uint32_t id);
// "Q4_K"; for an unknown id "unknown".
const char *dtype_name(uint32_t id);
// Bytes of a row of n weights; false if the type is unknown, n is no multiple of its block, or the
// result does not fit.
bool dtype_row_bytes(uint32_t id, uint64_t n, uint64_t *bytes);

#endif
