// SPDX-License-Identifier: Apache-2.0
#include "kernels/x86/vec_avx2.h"

#define ATTEND_INIT attend_avx2_init
#include "kernels/x86/attend_x86.h"
