// SPDX-License-Identifier: Apache-2.0
#include "kernels/x86/vec_avx512.h"

#define VECTOR_INIT vector_avx512_init
#include "kernels/x86/vector_x86.h"
