// SPDX-License-Identifier: Apache-2.0
#include "kernels/ref/kernels_ref.h"

void kernels_ref_init(struct kernels_table *table) {
    ref_matmul_init(table);
    ref_dequantise_init(table);
    ref_quantise_init(table);
    ref_vector_init(table);
    ref_attend_init(table);
    ref_recurrent_init(table);
}
