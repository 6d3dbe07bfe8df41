// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the reference tier: what every function of the table computes, in plain C.
// Called by: kernels_init.
// Threads:   pure.
// Errors:    none.
// Not here:  instruction sets (kernels/x86), the rules in words (kernels.h).
#ifndef KERNELS_REF_KERNELS_REF_H
#define KERNELS_REF_KERNELS_REF_H

#include "kernels/kernels.h"

// Fill every entry of the table that this build can compute. The rest of the table stays NULL.
void kernels_ref_init(struct kernels_table *table);

// The product of plain rows, for the rows behind the last whole group. NULL: no such type.
kernels_matmul_fn ref_matmul_of(uint32_t dtype);

// The parts of it, one per file of this folder.
void ref_matmul_init(struct kernels_table *table);
void ref_dequantise_init(struct kernels_table *table);
void ref_quantise_init(struct kernels_table *table);
void ref_vector_init(struct kernels_table *table);
void ref_attend_init(struct kernels_table *table);
void ref_recurrent_init(struct kernels_table *table);

#endif
