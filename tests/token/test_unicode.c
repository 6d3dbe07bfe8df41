// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "token/unicode.h"

// Numbers of code points of each category in Unicode 15.1 (DerivedGeneralCategory.txt).
static void categories_have_their_sizes(void **state) {
    (void)state;
    static const struct {
        uint32_t bit, count;
    } sizes[] = {
        {UNICODE_CN, 824718}, {UNICODE_CC, 65},     {UNICODE_CF, 170},   {UNICODE_CO, 137468},
        {UNICODE_CS, 2048},   {UNICODE_LU, 1831},   {UNICODE_LL, 2233},  {UNICODE_LT, 31},
        {UNICODE_LM, 397},    {UNICODE_LO, 132234}, {UNICODE_MN, 1985},  {UNICODE_MC, 452},
        {UNICODE_ME, 13},     {UNICODE_ND, 680},    {UNICODE_NL, 236},   {UNICODE_NO, 915},
        {UNICODE_PC, 10},     {UNICODE_PD, 26},     {UNICODE_PS, 79},    {UNICODE_PE, 77},
        {UNICODE_PI, 12},     {UNICODE_PF, 10},     {UNICODE_PO, 628},   {UNICODE_SM, 948},
        {UNICODE_SC, 63},     {UNICODE_SK, 125},    {UNICODE_SO, 6639},  {UNICODE_ZS, 17},
        {UNICODE_ZL, 1},      {UNICODE_ZP, 1},      {UNICODE_SPACE, 25},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        uint32_t count = 0;
        for (uint32_t code = 0; code <= 0x10FFFF; code++) {
            count += (unicode_bits(code) & sizes[i].bit) != 0;
        }
        assert_int_equal(count, sizes[i].count);
    }
}

static void characters_have_one_category(void **state) {
    (void)state;
    for (uint32_t code = 0; code <= 0x10FFFF; code++) {
        uint32_t category = unicode_bits(code) & ~(uint32_t)UNICODE_SPACE;
        assert_true(category != 0 && (category & (category - 1)) == 0);
    }
    assert_int_equal(unicode_bits(0x110000), UNICODE_CN);
    assert_int_equal(unicode_bits(UINT32_MAX), UNICODE_CN);
}

static void known_characters(void **state) {
    (void)state;
    assert_int_equal(unicode_bits('A'), UNICODE_LU);
    assert_int_equal(unicode_bits('z'), UNICODE_LL);
    assert_int_equal(unicode_bits('_'), UNICODE_PC);
    assert_int_equal(unicode_bits('$'), UNICODE_SC);
    assert_int_equal(unicode_bits('`'), UNICODE_SK);
    assert_int_equal(unicode_bits(' '), UNICODE_ZS | UNICODE_SPACE);
    assert_int_equal(unicode_bits('\n'), UNICODE_CC | UNICODE_SPACE);
    assert_int_equal(unicode_bits(0x1F), UNICODE_CC);
    assert_int_equal(unicode_bits(0x85), UNICODE_CC | UNICODE_SPACE);
    assert_int_equal(unicode_bits(0x200B), UNICODE_CF); // zero width space is none
    assert_int_equal(unicode_bits(0x4E2D), UNICODE_LO);
    assert_int_equal(unicode_bits(0x0301), UNICODE_MN);
    assert_int_equal(unicode_bits(0x00BD), UNICODE_NO);
    assert_int_equal(unicode_bits(0xFFFD), UNICODE_SO);
    assert_int_equal(unicode_bits(0x1F600), UNICODE_SO);
    assert_int_equal(unicode_bits(0x2EBF0), UNICODE_LO); // new in 15.1
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(categories_have_their_sizes),
        cmocka_unit_test(characters_have_one_category),
        cmocka_unit_test(known_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
