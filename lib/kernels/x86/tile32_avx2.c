// SPDX-License-Identifier: Apache-2.0
#include "kernels/x86/vec_avx2.h"

#define TILE_KINDS TILE_KINDS_32
#define TILE_TYPES TILE_LIST_32
#define TILE_INIT tile32_avx2_init
#include "kernels/x86/tile_x86.h"
