// SPDX-License-Identifier: Apache-2.0
#include "kernels/x86/vec_avx512.h"

#define ATTEND_INIT attend_avx512_init
#include "kernels/x86/attend_x86.h"
