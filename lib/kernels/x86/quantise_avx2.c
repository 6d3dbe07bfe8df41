// SPDX-License-Identifier: Apache-2.0
#include "kernels/x86/vec_avx2.h"

#define QUANTISE_INIT quantise_avx2_init
#include "kernels/x86/quantise_x86.h"
