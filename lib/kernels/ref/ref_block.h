// SPDX-License-Identifier: Apache-2.0
//
// Owns:      what the bytes of a block of quantised weights mean, for every type computed with.
// Called by: ref_matmul, ref_dequantise.
// Threads:   pure.
// Errors:    none: every byte string of a block's size is a block.
// Not here:  sums and products (ref_matmul, ref_dequantise), sizes (base/dtype.h).
//
// All types come down to two forms, each a vector of small integers and at most two float32 scales:
//   32 weights:    weight = d * code[i] + m
//   256 weights:   weight = d * code[i] - dmin * minimum[i / 16], code = quantised code * the
//                  6- to 8-bit scale of its group, which fits int16: 32 * 128 at most (Q6_K)
#ifndef KERNELS_REF_REF_BLOCK_H
#define KERNELS_REF_REF_BLOCK_H

#include "base/dtype.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// REF_BLOCK_BYTES_Q4_0 and so on.
enum {
#define REF_BLOCK_BYTES(name, id, weights, bytes) REF_BLOCK_BYTES_##name = bytes,
    DTYPE_LIST(REF_BLOCK_BYTES)
#undef REF_BLOCK_BYTES
};

struct ref_block_32 {
    int16_t code[32];
    float d, m;
};
struct ref_block_256 {
    int16_t code[256];
    int16_t minimum[16];
    float d, dmin;
};

// One row per type: X(name, has minimum). The name is that of base/dtype.h.
#define REF_BLOCK_32_LIST(X)                                                                       \
    X(Q8_0, false) X(Q4_0, false) X(Q4_1, true) X(Q5_0, false) X(Q5_1, true) X(IQ4_NL, false)      \
    X(MXFP4, false)
#define REF_BLOCK_256_LIST(X)                                                                      \
    X(Q2_K, true) X(Q3_K, false) X(Q4_K, true) X(Q5_K, true) X(Q6_K, false) X(IQ4_XS, false)

// ref_block_Q4_0(block, bytes) and so on. Types without a minimum leave m, minimum and dmin unset.
#define REF_BLOCK_32_DECLARE(name, has_minimum)                                                    \
    void ref_block_##name(struct ref_block_32 *block, const uint8_t *bytes);
#define REF_BLOCK_256_DECLARE(name, has_minimum)                                                   \
    void ref_block_##name(struct ref_block_256 *block, const uint8_t *bytes);
REF_BLOCK_32_LIST(REF_BLOCK_32_DECLARE)
REF_BLOCK_256_LIST(REF_BLOCK_256_DECLARE)
#undef REF_BLOCK_32_DECLARE
#undef REF_BLOCK_256_DECLARE

// n weights that are floats, exactly.
void ref_block_F32(float *out, const uint8_t *bytes, size_t n);
void ref_block_F16(float *out, const uint8_t *bytes, size_t n);
void ref_block_BF16(float *out, const uint8_t *bytes, size_t n);

#endif
