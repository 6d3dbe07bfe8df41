// SPDX-License-Identifier: Apache-2.0
//
// Owns:      general category and white space of every code point (Unicode 15.1).
// Called by: pretokenize.
// Threads:   constant data.
// Errors:    none: numbers past U+10FFFF are unassigned.
// Not here:  decoding (base/utf8.h), case mapping, normalisation: no supported vocabulary asks for them.
//
// The table (unicode_table.c) is made by tools/ucd/unicode_table.py.
#ifndef TOKEN_UNICODE_H
#define TOKEN_UNICODE_H

#include <stdint.h>

// One bit for each general category, so that a set of categories is one mask. Order is that of
// unicode_table.c.
enum {
    UNICODE_CN = 1 << 0, // unassigned
    UNICODE_CC = 1 << 1,
    UNICODE_CF = 1 << 2,
    UNICODE_CO = 1 << 3,
    UNICODE_CS = 1 << 4,
    UNICODE_LU = 1 << 5,
    UNICODE_LL = 1 << 6,
    UNICODE_LT = 1 << 7,
    UNICODE_LM = 1 << 8,
    UNICODE_LO = 1 << 9,
    UNICODE_MN = 1 << 10,
    UNICODE_MC = 1 << 11,
    UNICODE_ME = 1 << 12,
    UNICODE_ND = 1 << 13,
    UNICODE_NL = 1 << 14,
    UNICODE_NO = 1 << 15,
    UNICODE_PC = 1 << 16,
    UNICODE_PD = 1 << 17,
    UNICODE_PS = 1 << 18,
    UNICODE_PE = 1 << 19,
    UNICODE_PI = 1 << 20,
    UNICODE_PF = 1 << 21,
    UNICODE_PO = 1 << 22,
    UNICODE_SM = 1 << 23,
    UNICODE_SC = 1 << 24,
    UNICODE_SK = 1 << 25,
    UNICODE_SO = 1 << 26,
    UNICODE_ZS = 1 << 27,
    UNICODE_ZL = 1 << 28,
    UNICODE_ZP = 1 << 29,
    UNICODE_SPACE = 1 << 30, // beside the category: the property White_Space

    UNICODE_L = UNICODE_LU | UNICODE_LL | UNICODE_LT | UNICODE_LM | UNICODE_LO,
    UNICODE_M = UNICODE_MN | UNICODE_MC | UNICODE_ME,
    UNICODE_N = UNICODE_ND | UNICODE_NL | UNICODE_NO,
    UNICODE_P =
        UNICODE_PC | UNICODE_PD | UNICODE_PS | UNICODE_PE | UNICODE_PI | UNICODE_PF | UNICODE_PO,
    UNICODE_S = UNICODE_SM | UNICODE_SC | UNICODE_SK | UNICODE_SO
};

// The category's bit, with UNICODE_SPACE if it is white space. Never 0.
uint32_t unicode_bits(uint32_t code);

#endif
