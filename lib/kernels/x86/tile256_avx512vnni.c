// SPDX-License-Identifier: Apache-2.0
#define VEC_VNNI
#include "kernels/x86/vec_avx512.h"

#define TILE_KINDS TILE_KINDS_256
#define TILE_TYPES TILE_LIST_256
#define TILE_INIT tile256_avx512vnni_init
#include "kernels/x86/tile_x86.h"
