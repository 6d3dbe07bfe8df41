// SPDX-License-Identifier: Apache-2.0
#include "check_weights.h"

#include "base/half.h"

#include <math.h>
#include <string.h>

// Where a block holds its scales, as far as inputs need to know.
struct layout {
    uint8_t halves;                     // float16 scales: 0, 1 or 2 of them
    uint8_t half_offset;                // the first; the second follows
    uint8_t sub_offset, sub_bytes;      // packed sub-scales, all bit patterns of which are valid
    uint8_t minimum_max;                // factor of the second half (1: it stands for itself)
};
static const struct layout layouts[DTYPE_ID_MAX] = {
    [DTYPE_Q8_0] = {1, 0, 0, 0, 0},     [DTYPE_Q4_0] = {1, 0, 0, 0, 0},
    [DTYPE_Q4_1] = {2, 0, 0, 0, 1},     [DTYPE_Q5_0] = {1, 0, 0, 0, 0},
    [DTYPE_Q5_1] = {2, 0, 0, 0, 1},     [DTYPE_IQ4_NL] = {1, 0, 0, 0, 0},
    [DTYPE_MXFP4] = {0, 0, 0, 0, 0},    [DTYPE_Q2_K] = {2, 80, 0, 16, 15},
    [DTYPE_Q3_K] = {1, 108, 96, 12, 0}, [DTYPE_Q4_K] = {2, 0, 4, 12, 63},
    [DTYPE_Q5_K] = {2, 0, 4, 12, 63},   [DTYPE_Q6_K] = {1, 208, 192, 16, 0},
    [DTYPE_IQ4_XS] = {1, 0, 2, 6, 0},
};

const char *check_weights_name(enum check_weights kind) {
    static const char *const names[CHECK_WEIGHTS_KINDS] = {"sane",     "extreme", "zero",
                                                           "denormal", "mixed",   "wild"};
    return names[kind];
}

static void random_bytes(struct check *c, uint8_t *p, size_t n) {
    for (size_t i = 0; i < n; i++) p[i] = (uint8_t)check_below(c, 256);
}

static uint16_t scale_half(struct check *c, bool denormal) {
    uint32_t sign = check_below(c, 2) << 15;
    uint32_t bits = denormal ? check_below(c, 0x400) : 0x1400 + check_below(c, 0x2000);
    return (uint16_t)(sign | bits);
}

// One block of a type that has blocks.
static void fill_block(struct check *c, uint32_t dtype, uint8_t *block, enum check_weights kind) {
    static const uint8_t ends[] = {0x00, 0xff, 0x80, 0x7f, 0x0f, 0xf0, 0x88};
    const struct layout *layout = &layouts[dtype];
    size_t bytes = dtype_get(dtype)->bytes;
    random_bytes(c, block, bytes);
    if (kind == CHECK_WEIGHTS_WILD) return;
    if (kind == CHECK_WEIGHTS_ZERO) {
        memset(block, 0, bytes);
        return;
    }
    if (kind == CHECK_WEIGHTS_EXTREME) {
        memset(block, ends[check_below(c, sizeof ends)], bytes);
        memset(block + layout->sub_offset, ends[check_below(c, sizeof ends)], layout->sub_bytes);
    }
    bool denormal = kind == CHECK_WEIGHTS_DENORMAL;
    if (dtype == DTYPE_MXFP4)
        block[0] = (uint8_t)(denormal ? check_below(c, 4) : 117 + check_below(c, 8));
    for (size_t i = 0; i < layout->halves; i++) {
        uint16_t half = scale_half(c, denormal);
        memcpy(block + layout->half_offset + 2 * i, &half, sizeof half);
    }
}

// One weight of a type that is a float.
static void fill_float(struct check *c, uint32_t dtype, uint8_t *weight, enum check_weights kind) {
    float value = (float)check_uniform(c, -1, 1);
    if (kind == CHECK_WEIGHTS_EXTREME) value = check_one_in(c, 2) ? 60000.0f : -60000.0f;
    if (kind == CHECK_WEIGHTS_ZERO) value = 0.0f;
    if (kind == CHECK_WEIGHTS_DENORMAL)
        value *= dtype == DTYPE_F16 ? 0x1p-14f : 0x1p-126f; // of the type itself
    uint16_t bits = dtype == DTYPE_F16 ? half_from_float(value)
                                       : (uint16_t)(half_to_bits(value) >> 16);
    size_t bytes = dtype_get(dtype)->bytes;
    if (dtype == DTYPE_F32) memcpy(weight, &value, bytes);
    else memcpy(weight, &bits, bytes);
    if (kind == CHECK_WEIGHTS_WILD) random_bytes(c, weight, bytes);
}

void check_weights_fill(struct check *c, uint32_t dtype, uint8_t *row, size_t k,
                        enum check_weights kind) {
    const struct dtype_info *info = dtype_get(dtype);
    for (size_t i = 0; i < k / info->block; i++, row += info->bytes) {
        enum check_weights this = kind == CHECK_WEIGHTS_MIXED
                                      ? (enum check_weights)check_below(c, CHECK_WEIGHTS_MIXED)
                                      : kind;
        if (info->block == 1) fill_float(c, dtype, row, this);
        else fill_block(c, dtype, row, this);
    }
}

double check_weights_minimum(uint32_t dtype, const uint8_t *block) {
    const struct layout *layout = &layouts[dtype];
    if (layout->halves < 2) return 0.0;
    uint16_t half;
    memcpy(&half, block + layout->half_offset + 2, sizeof half);
    return fabs((double)half_to_float(half)) * layout->minimum_max;
}
