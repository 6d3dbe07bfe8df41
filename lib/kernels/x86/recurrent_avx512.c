// SPDX-License-Identifier: Apache-2.0
#include "kernels/x86/vec_avx512.h"

#define RECURRENT_INIT recurrent_avx512_init
#include "kernels/x86/recurrent_x86.h"
