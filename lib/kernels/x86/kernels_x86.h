// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the tiers of x86-64: each puts its functions over those of the tier below.
// Called by: kernels_init.
// Threads:   pure.
// Errors:    none.
// Not here:  finding out what the processor has (platform/cpu.h).
//
// Templates (*_x86.h) hold the code, written over the few vector operations of vec_avx2.h (8 lanes)
// and vec_avx512.h (16 lanes); a file per instruction set compiles them. File names end in the
// instruction set, from which CMake takes the flags.
#ifndef KERNELS_X86_KERNELS_X86_H
#define KERNELS_X86_KERNELS_X86_H

#include "kernels/kernels.h"

void kernels_x86_init_avx2(struct kernels_table *table);
void kernels_x86_init_avxvnni(struct kernels_table *table);
void kernels_x86_init_avx512(struct kernels_table *table);
void kernels_x86_init_avx512vnni(struct kernels_table *table);

// The parts of them, one per file of this folder.
void attend_avx2_init(struct kernels_table *table);
void attend_avx512_init(struct kernels_table *table);
void float_avx2_init(struct kernels_table *table);
void float_avx512_init(struct kernels_table *table);
void interleave_avx2_init(struct kernels_table *table);
void interleave_avx512_init(struct kernels_table *table);
void quantise_avx2_init(struct kernels_table *table);
void quantise_avx512_init(struct kernels_table *table);
void recurrent_avx2_init(struct kernels_table *table);
void recurrent_avx512_init(struct kernels_table *table);
void tile256_avx2_init(struct kernels_table *table);
void tile256_avxvnni_init(struct kernels_table *table);
void tile256_avx512_init(struct kernels_table *table);
void tile256_avx512vnni_init(struct kernels_table *table);
void tile32_avx2_init(struct kernels_table *table);
void tile32_avxvnni_init(struct kernels_table *table);
void tile32_avx512_init(struct kernels_table *table);
void tile32_avx512vnni_init(struct kernels_table *table);
void vector_avx2_init(struct kernels_table *table);
void vector_avx512_init(struct kernels_table *table);

#endif
