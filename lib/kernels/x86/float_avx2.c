// SPDX-License-Identifier: Apache-2.0
#include "kernels/x86/vec_avx2.h"

#define FLOAT_INIT float_avx2_init
#include "kernels/x86/float_x86.h"
