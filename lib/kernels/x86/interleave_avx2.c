// SPDX-License-Identifier: Apache-2.0
#include "kernels/x86/vec_avx2.h"

#define INTERLEAVE_INIT interleave_avx2_init
#include "kernels/x86/interleave_x86.h"
