// SPDX-License-Identifier: Apache-2.0
#include "kernels/x86/vec_avx2.h"

#define VECTOR_INIT vector_avx2_init
#include "kernels/x86/vector_x86.h"
