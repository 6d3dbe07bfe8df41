// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "base/half.h"

// The value of a half by its definition, in double: (-1)^s * m * 2^e.
static double half_value(uint16_t bits) {
    int exponent = bits >> 10 & 31, mantissa = bits & 1023;
    double value = exponent == 0 ? ldexp(mantissa, -24) : ldexp(1024 + mantissa, exponent - 25);
    return bits & 0x8000 ? -value : value;
}

static int is_nan_half(uint16_t bits) {
    return (bits & 0x7c00) == 0x7c00 && (bits & 0x3ff) != 0;
}

static void every_half_widens_exactly(void **state) {
    (void)state;
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
        float value = half_to_float((uint16_t)bits);
        assert_int_equal(half_to_bits(value) >> 31, bits >> 15);
        if (is_nan_half((uint16_t)bits)) {
            assert_true(isnan(value));
            assert_true((half_to_bits(value) & 0x400000) != 0); // quiet
        } else if ((bits & 0x7fff) == 0x7c00) {
            assert_true(isinf(value));
        } else {
            assert_true((double)value == half_value((uint16_t)bits));
        }
    }
}

static void every_half_survives_the_way_back(void **state) {
    (void)state;
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
        uint16_t back = half_from_float(half_to_float((uint16_t)bits));
        if (is_nan_half((uint16_t)bits))
            assert_int_equal(back, bits | 0x200); // payload kept, quiet
        else
            assert_int_equal(back, bits);
    }
}

// Nearest even by definition: compare with the neighbours through doubles, in which all is exact.
static void check_narrow(float value) {
    uint16_t got = half_from_float(value);
    uint16_t sign = (uint16_t)(half_to_bits(value) >> 16 & 0x8000);
    assert_int_equal(got & 0x8000, sign);
    double magnitude = fabs((double)value);
    if (magnitude >= 65520.0) {
        assert_int_equal(got & 0x7fff, 0x7c00);
        return;
    }
    uint16_t at = got & 0x7fff;
    assert_true(at <= 0x7c00);
    // 65536 is what infinity would be, as a number; it cannot be reached here.
    double error = fabs(half_value(at) - magnitude);
    double below = at > 0 ? fabs(half_value((uint16_t)(at - 1)) - magnitude) : INFINITY;
    double above = fabs((at == 0x7bff ? 65536.0 : half_value((uint16_t)(at + 1))) - magnitude);
    assert_true(error <= below && error <= above);
    if (error == below || error == above) assert_int_equal(at & 1, 0);
}

static void narrowing_rounds_to_nearest_even(void **state) {
    (void)state;
    // Around every half and every midpoint between two, each with its neighbours on both sides.
    for (uint32_t bits = 0; bits < 0x7c00; bits++) {
        float here = half_to_float((uint16_t)bits);
        float next = bits + 1 == 0x7c00 ? 65536.0f : half_to_float((uint16_t)(bits + 1));
        float points[2] = {here, here + (next - here) / 2};
        for (int i = 0; i < 2; i++) {
            check_narrow(points[i]);
            check_narrow(-points[i]);
            check_narrow(nextafterf(points[i], INFINITY));
            check_narrow(nextafterf(points[i], -INFINITY));
        }
    }
    uint32_t seed = 1;
    for (int i = 0; i < 200000; i++) {
        seed = seed * 1664525u + 1013904223u;
        float value = half_from_bits(seed);
        if (!isnan(value)) check_narrow(value);
    }
    assert_int_equal(half_from_float(INFINITY), 0x7c00);
    assert_int_equal(half_from_float(-INFINITY), 0xfc00);
    assert_int_equal(half_from_float(half_from_bits(1)), 0); // the least float
}

static void nan_stays_nan(void **state) {
    (void)state;
    static const uint32_t nans[] = {0x7f800001, 0x7fc00000, 0xffffffff, 0x7f801fff, 0xff802000};
    for (int i = 0; i < 5; i++) {
        uint16_t half = half_from_float(half_from_bits(nans[i]));
        assert_true(is_nan_half(half));
        assert_int_equal(half >> 15, nans[i] >> 31);
    }
}

static void bfloat_is_the_upper_half(void **state) {
    (void)state;
    assert_true(half_from_bfloat(0x3f80) == 1.0f);
    assert_true(half_from_bfloat(0xc040) == -3.0f);
    assert_int_equal(half_to_bits(half_from_bfloat(0x0001)), 0x10000);
    assert_true(isnan(half_from_bfloat(0x7fc0)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_half_widens_exactly),
        cmocka_unit_test(every_half_survives_the_way_back),
        cmocka_unit_test(narrowing_rounds_to_nearest_even),
        cmocka_unit_test(nan_stays_nan),
        cmocka_unit_test(bfloat_is_the_upper_half),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
