// SPDX-License-Identifier: Apache-2.0
#include "kernels/x86/vec_avx512.h"

// sum + the four products of each lane: unsigned bytes of a, signed bytes of b.
static inline vi vi_dpbusd(vi sum, vi a, vi b) {
    return _mm512_dpbusd_epi32(sum, a, b);
}

#define TILE_VNNI 1
#define TILE_INIT tile_avx512vnni_init
#include "kernels/x86/tile_x86.h"
