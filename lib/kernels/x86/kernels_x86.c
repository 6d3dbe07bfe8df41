// SPDX-License-Identifier: Apache-2.0
#include "kernels/x86/kernels_x86.h"

void kernels_x86_init_avx2(struct kernels_table *table) {
    attend_avx2_init(table);
    float_avx2_init(table);
    interleave_avx2_init(table);
    quantise_avx2_init(table);
    recurrent_avx2_init(table);
    tile256_avx2_init(table);
    tile32_avx2_init(table);
    vector_avx2_init(table);
}

void kernels_x86_init_avxvnni(struct kernels_table *table) {
    tile256_avxvnni_init(table);
    tile32_avxvnni_init(table);
}

void kernels_x86_init_avx512(struct kernels_table *table) {
    attend_avx512_init(table);
    float_avx512_init(table);
    interleave_avx512_init(table);
    quantise_avx512_init(table);
    recurrent_avx512_init(table);
    tile256_avx512_init(table);
    tile32_avx512_init(table);
    vector_avx512_init(table);
}

void kernels_x86_init_avx512vnni(struct kernels_table *table) {
    tile256_avx512vnni_init(table);
    tile32_avx512vnni_init(table);
}
