// SPDX-License-Identifier: Apache-2.0
#include "kernels/x86/simd512.h"
#include "kernels/x86/vec_avx2.h"

// sum + the four products of each lane: unsigned bytes of a, signed bytes of b.
static inline vi vi_dpbusd(vi sum, vi a, vi b) {
    return _mm256_dpbusd_avx_epi32(sum, a, b);
}

#define TILE_VNNI 1
#define TILE_INIT tile_avxvnni_init
#include "kernels/x86/tile_x86.h"
