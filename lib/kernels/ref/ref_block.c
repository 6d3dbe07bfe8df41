// SPDX-License-Identifier: Apache-2.0
//
// DESIGN. Layouts are those of the GGUF format. In blocks of 32 (and in the groups of 32 of IQ4_XS)
// byte j of the nibbles holds element j (low) and element j + 16 (high). The K types put bits of
// elements 32 apart into one byte, in the order that each function shows. Signed bytes are read
// through int8_t pointers: gcc 12 multiplies wrongly where a uint8_t is cast to int8_t in a loop
// that it vectorises for VNNI.
#include "kernels/ref/ref_block.h"

#include "base/half.h"

#include <string.h>

// Values of IQ4_NL and IQ4_XS (a table of the format).
static const int8_t iq4_values[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                      1,    13,   25,  38,  53,  69,  89,  113};
// Twice the values of E2M1: sign, 2 bits of exponent, 1 of mantissa.
static const int8_t e2m1_doubled[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

static uint16_t load16(const uint8_t *p) {
    return (uint16_t)(p[0] | p[1] << 8);
}
static uint32_t load32(const uint8_t *p) {
    return (uint32_t)load16(p) | (uint32_t)load16(p + 2) << 16;
}
static float load_half(const uint8_t *p) {
    return half_to_float(load16(p));
}

// ---------------------------------------------------------------------------------------------
// Floats
// ---------------------------------------------------------------------------------------------

void ref_block_F32(float *out, const uint8_t *bytes, size_t n) {
    memcpy(out, bytes, n * sizeof *out);
}

void ref_block_F16(float *out, const uint8_t *bytes, size_t n) {
    for (size_t i = 0; i < n; i++) out[i] = load_half(bytes + 2 * i);
}

void ref_block_BF16(float *out, const uint8_t *bytes, size_t n) {
    for (size_t i = 0; i < n; i++) out[i] = half_from_bfloat(load16(bytes + 2 * i));
}

// ---------------------------------------------------------------------------------------------
// 32 weights
// ---------------------------------------------------------------------------------------------

static void nibbles(int16_t code[32], const uint8_t *qs, int offset) {
    for (size_t j = 0; j < 16; j++) {
        code[j] = (int16_t)((qs[j] & 15) - offset);
        code[j + 16] = (int16_t)((qs[j] >> 4) - offset);
    }
}

static void nibbles_of(int16_t code[32], const uint8_t *qs, const int8_t values[16]) {
    for (size_t j = 0; j < 16; j++) {
        code[j] = values[qs[j] & 15];
        code[j + 16] = values[qs[j] >> 4];
    }
}

// The fifth bit of element j is bit j of `high`.
static void fifth_bits(int16_t code[32], uint32_t high) {
    for (size_t j = 0; j < 32; j++) code[j] = (int16_t)(code[j] + (int)((high >> j & 1) << 4));
}

void ref_block_Q8_0(struct ref_block_32 *block, const uint8_t *bytes) {
    const int8_t *qs = (const int8_t *)bytes + 2;
    block->d = load_half(bytes);
    for (size_t j = 0; j < 32; j++) block->code[j] = qs[j];
}

void ref_block_Q4_0(struct ref_block_32 *block, const uint8_t *bytes) {
    block->d = load_half(bytes);
    nibbles(block->code, bytes + 2, 8);
}

void ref_block_Q4_1(struct ref_block_32 *block, const uint8_t *bytes) {
    block->d = load_half(bytes);
    block->m = load_half(bytes + 2);
    nibbles(block->code, bytes + 4, 0);
}

void ref_block_Q5_0(struct ref_block_32 *block, const uint8_t *bytes) {
    block->d = load_half(bytes);
    nibbles(block->code, bytes + 6, 16);
    fifth_bits(block->code, load32(bytes + 2));
}

void ref_block_Q5_1(struct ref_block_32 *block, const uint8_t *bytes) {
    block->d = load_half(bytes);
    block->m = load_half(bytes + 2);
    nibbles(block->code, bytes + 8, 0);
    fifth_bits(block->code, load32(bytes + 4));
}

void ref_block_IQ4_NL(struct ref_block_32 *block, const uint8_t *bytes) {
    block->d = load_half(bytes);
    nibbles_of(block->code, bytes + 2, iq4_values);
}

// The scale byte e is E8M0, 2^(e - 127); half of it meets the doubled codes. e < 2: denormal.
void ref_block_MXFP4(struct ref_block_32 *block, const uint8_t *bytes) {
    uint32_t e = bytes[0];
    block->d = half_from_bits(e < 2 ? 0x00200000u << e : (e - 1) << 23);
    nibbles_of(block->code, bytes + 1, e2m1_doubled);
}

// ---------------------------------------------------------------------------------------------
// 256 weights
// ---------------------------------------------------------------------------------------------

static void apply_scales(int16_t code[256], const int16_t scale[16]) {
    for (size_t g = 0; g < 16; g++)
        for (size_t l = 0; l < 16; l++) code[16 * g + l] = (int16_t)(code[16 * g + l] * scale[g]);
}

// Eight 6-bit scales and eight 6-bit minima in 12 bytes, each for 32 weights: two groups of 16.
static void scales_and_minima(int16_t scale[16], int16_t minimum[16], const uint8_t b[12]) {
    for (size_t j = 0; j < 4; j++) {
        scale[2 * j] = b[j] & 63;
        minimum[2 * j] = b[j + 4] & 63;
        scale[2 * j + 8] = (int16_t)((b[j + 8] & 15) | b[j] >> 6 << 4);
        minimum[2 * j + 8] = (int16_t)(b[j + 8] >> 4 | b[j + 4] >> 6 << 4);
    }
    for (size_t j = 0; j < 16; j += 2) {
        scale[j + 1] = scale[j];
        minimum[j + 1] = minimum[j];
    }
}

// Two-bit fields: halves of 128, in each four rows of 32 at rising shifts of the same 32 bytes.
static void two_bits(int16_t code[256], const uint8_t *qs) {
    for (size_t row = 0; row < 8; row++)
        for (size_t l = 0; l < 32; l++)
            code[32 * row + l] = (int16_t)(qs[row / 4 * 32 + l] >> row % 4 * 2 & 3);
}

// Rows 2i and 2i+1 of 32 are the low and the high nibbles of bytes 32i..32i+31.
static void nibble_rows(int16_t code[256], const uint8_t *qs) {
    for (size_t i = 0; i < 4; i++)
        for (size_t l = 0; l < 32; l++) {
            code[64 * i + l] = qs[32 * i + l] & 15;
            code[64 * i + 32 + l] = qs[32 * i + l] >> 4;
        }
}

// scales[16] | qs[64] | d | dmin; a scale byte is scale (low) and minimum (high).
void ref_block_Q2_K(struct ref_block_256 *block, const uint8_t *bytes) {
    int16_t scale[16];
    for (size_t g = 0; g < 16; g++) {
        scale[g] = bytes[g] & 15;
        block->minimum[g] = bytes[g] >> 4;
    }
    block->d = load_half(bytes + 80);
    block->dmin = load_half(bytes + 82);
    two_bits(block->code, bytes + 16);
    apply_scales(block->code, scale);
}

// hmask[32] | qs[64] | scales[12] | d. Bit r of hmask[l] is the third bit of element l of row r.
// Scale i: 4 low bits in a nibble of bytes 0..7, 2 high bits in bytes 8..11.
void ref_block_Q3_K(struct ref_block_256 *block, const uint8_t *bytes) {
    const uint8_t *packed = bytes + 96;
    int16_t scale[16];
    for (size_t i = 0; i < 16; i++) {
        int low = packed[i % 8] >> i / 8 * 4 & 15;
        int high = packed[8 + i % 4] >> i / 4 * 2 & 3;
        scale[i] = (int16_t)((low | high << 4) - 32);
    }
    block->d = load_half(bytes + 108);
    two_bits(block->code, bytes + 32);
    for (size_t row = 0; row < 8; row++)
        for (size_t l = 0; l < 32; l++) {
            int16_t *code = &block->code[32 * row + l];
            *code = (int16_t)(*code + (int)((bytes[l] >> row & 1) << 2) - 4);
        }
    apply_scales(block->code, scale);
}

// d | dmin | scales[12] | qs[128]
void ref_block_Q4_K(struct ref_block_256 *block, const uint8_t *bytes) {
    int16_t scale[16];
    scales_and_minima(scale, block->minimum, bytes + 4);
    block->d = load_half(bytes);
    block->dmin = load_half(bytes + 2);
    nibble_rows(block->code, bytes + 16);
    apply_scales(block->code, scale);
}

// d | dmin | scales[12] | qh[32] | qs[128]. Bit r of qh[l] is the fifth bit of element l of row r.
void ref_block_Q5_K(struct ref_block_256 *block, const uint8_t *bytes) {
    const uint8_t *qh = bytes + 16;
    int16_t scale[16];
    scales_and_minima(scale, block->minimum, bytes + 4);
    block->d = load_half(bytes);
    block->dmin = load_half(bytes + 2);
    nibble_rows(block->code, bytes + 48);
    for (size_t row = 0; row < 8; row++)
        for (size_t l = 0; l < 32; l++) {
            int16_t *code = &block->code[32 * row + l];
            *code = (int16_t)(*code + (int)((qh[l] >> row & 1) << 4));
        }
    apply_scales(block->code, scale);
}

// ql[128] | qh[64] | scales int8[16] | d. In each half of 128, row k of 32: nibble k / 2 of
// ql[32 * (k % 2) + l], two more bits at shift 2k of qh[l].
void ref_block_Q6_K(struct ref_block_256 *block, const uint8_t *bytes) {
    const int8_t *stored = (const int8_t *)bytes + 192;
    int16_t scale[16];
    for (size_t g = 0; g < 16; g++) scale[g] = stored[g];
    block->d = load_half(bytes + 208);
    for (size_t row = 0; row < 8; row++) {
        size_t half = row / 4, k = row % 4;
        const uint8_t *ql = bytes + 64 * half + 32 * (k % 2);
        const uint8_t *qh = bytes + 128 + 32 * half;
        for (size_t l = 0; l < 32; l++)
            block->code[32 * row + l] =
                (int16_t)(((ql[l] >> k / 2 * 4 & 15) | (qh[l] >> 2 * k & 3) << 4) - 32);
    }
    apply_scales(block->code, scale);
}

// d | scales_h u16 | scales_l[4] | qs[128]: groups of 32 with a 6-bit scale, 4 + 2 bits.
void ref_block_IQ4_XS(struct ref_block_256 *block, const uint8_t *bytes) {
    uint32_t scales_high = load16(bytes + 2);
    int16_t scale[16];
    for (size_t b = 0; b < 8; b++) {
        int low = bytes[4 + b / 2] >> b % 2 * 4 & 15;
        int high = (int)(scales_high >> 2 * b & 3);
        scale[2 * b] = scale[2 * b + 1] = (int16_t)((low | high << 4) - 32);
        nibbles_of(block->code + 32 * b, bytes + 8 + 16 * b, iq4_values);
    }
    block->d = load_half(bytes);
    apply_scales(block->code, scale);
}
