// SPDX-License-Identifier: Apache-2.0
//
// What a toy model computes, straight from its definition: one token after the other, in double, with
// the C library's functions. It shares no line and no idea of order with the library.
#ifndef TESTS_EXEC_TOY_FORWARD_H
#define TESTS_EXEC_TOY_FORWARD_H

#include "tests/fixtures/toy_model.h"

#include <locum/locum.h>

// The toy has stacked experts and F32 tensors. logits: [count][vocabulary], at positions 0..count-1.
void toy_forward(struct toy_model *toy, const locum_token *tokens, uint32_t count, double *logits);

#endif
