// SPDX-License-Identifier: Apache-2.0
#include "kernels/x86/vec_avx512.h"

#define INTERLEAVE_INIT interleave_avx512_init
#include "kernels/x86/interleave_x86.h"
