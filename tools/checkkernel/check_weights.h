// SPDX-License-Identifier: Apache-2.0
//
// Owns:      rows of weights in every type, from harmless to hostile.
// Called by: check_matmul, bench.
// Threads:   one.
// Errors:    none.
// Not here:  activations (check_case.h).
#ifndef CHECKKERNEL_CHECK_WEIGHTS_H
#define CHECKKERNEL_CHECK_WEIGHTS_H

#include "check_case.h"

enum check_weights {
    CHECK_WEIGHTS_SANE,     // random codes, scales around 2^-6
    CHECK_WEIGHTS_EXTREME,  // every code at one end of its range, and every sub-scale
    CHECK_WEIGHTS_ZERO,     // zero bytes
    CHECK_WEIGHTS_DENORMAL, // random codes, the smallest scales of the format
    CHECK_WEIGHTS_MIXED,    // any of these, block by block
    CHECK_WEIGHTS_WILD,     // random bytes: scales may be NaN
    CHECK_WEIGHTS_KINDS
};
const char *check_weights_name(enum check_weights kind);

// k weights of the type.
void check_weights_fill(struct check *c, uint32_t dtype, uint8_t *row, size_t k,
                        enum check_weights kind);
// The largest |what is added to or taken from d * code| in the block.
double check_weights_minimum(uint32_t dtype, const uint8_t *block);

#endif
