// SPDX-License-Identifier: Apache-2.0
//
// The value of each weight, as the format defines it. For the block types the products d * code and
// dmin * minimum are exact or rounded once (11 bits of d, at most 13 of the code), so that no order
// of the format's factors gives anything else.
#include "kernels/ref/kernels_ref.h"

#include "base/check.h"
#include "kernels/ref/ref_block.h"

static void values_32(float *out, const struct ref_block_32 *block, bool has_minimum) {
    for (size_t i = 0; i < 32; i++) {
        float product = block->d * (float)block->code[i];
        out[i] = has_minimum ? product + block->m : product;
    }
}

static void values_256(float *out, const struct ref_block_256 *block, bool has_minimum) {
    for (size_t i = 0; i < 256; i++) {
        float product = block->d * (float)block->code[i];
        out[i] = has_minimum ? product - block->dmin * (float)block->minimum[i / 16] : product;
    }
}

#define DEQUANTISE(name, size, has_minimum)                                                        \
    static void dequantise_##name(float *out, const uint8_t *w, size_t k) {                        \
        KERNEL_ASSERT(k % size == 0);                                                              \
        for (size_t i = 0; i < k; i += size, w += REF_BLOCK_BYTES_##name) {                        \
            struct ref_block_##size block;                                                         \
            ref_block_##name(&block, w);                                                           \
            values_##size(out + i, &block, has_minimum);                                           \
        }                                                                                          \
    }
#define DEQUANTISE_32(name, has_minimum) DEQUANTISE(name, 32, has_minimum)
#define DEQUANTISE_256(name, has_minimum) DEQUANTISE(name, 256, has_minimum)
REF_BLOCK_32_LIST(DEQUANTISE_32)
REF_BLOCK_256_LIST(DEQUANTISE_256)

void ref_dequantise_init(struct kernels_table *table) {
#define ENTRY(name, has_minimum) table->dequantise[DTYPE_##name] = dequantise_##name;
    REF_BLOCK_32_LIST(ENTRY)
    REF_BLOCK_256_LIST(ENTRY)
#undef ENTRY
    table->dequantise[DTYPE_F32] = ref_block_F32;
    table->dequantise[DTYPE_F16] = ref_block_F16;
    table->dequantise[DTYPE_BF16] = ref_block_BF16;
}
