// SPDX-License-Identifier: Apache-2.0
#include "kernels/x86/vec_avx512.h"

#define TILE_KINDS TILE_KINDS_256
#define TILE_TYPES TILE_LIST_256
#define TILE_INIT tile256_avx512_init
#include "kernels/x86/tile_x86.h"
