// SPDX-License-Identifier: Apache-2.0
//
// The elementary functions against long double ones of the C library: errors in units in the last
// place (ulp), over inputs spread over all bit patterns of the range, and the special values.
#include "kernels/kmath.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

// |y - exact| in ulps of a format with `digits` bits of precision and least exponent `least`.
static long double error_ulps(long double y, long double exact, int digits, int least) {
    int exponent = 0;
    frexpl(exact, &exponent);
    if (exponent - digits < least) exponent = least + digits;
    return fabsl(y - exact) / ldexpl(1.0L, exponent - digits);
}
static long double error_float(float y, long double exact) {
    return error_ulps(y, exact, 24, -149);
}
static long double error_double(double y, long double exact) {
    return error_ulps(y, exact, 53, -1074);
}

static void assert_below(const char *name, long double worst, long double bound, double at) {
    if (worst > bound) fail_msg("%s(%a): %Lg ulp, allowed %Lg", name, at, worst, bound);
}

// The worst error of f over every `step`-th float with magnitude in [low, high], both signs.
static void check_float(const char *name, float (*f)(float), long double (*exact)(long double),
                        float low, float high, long double bound) {
    const uint32_t step = 1009;
    long double worst = 0;
    double at = 0;
    for (uint32_t bits = half_to_bits(low); bits <= half_to_bits(high); bits += step)
        for (uint32_t sign = 0; sign < 2; sign++) {
            float x = half_from_bits(bits | sign << 31);
            long double e = error_float(f(x), exact(x));
            if (e > worst) {
                worst = e;
                at = x;
            }
        }
    assert_below(name, worst, bound, at);
}

static long double exact_sigmoid(long double x) {
    return 1 / (1 + expl(-x));
}
static long double exact_silu(long double x) {
    return x / (1 + expl(-x));
}
static long double exact_gelu(long double x) {
    long double u = sqrtl(2 / acosl(-1)) * (x + 0.044715L * x * x * x);
    return x / (1 + expl(-2 * u));
}

static void float_errors(void **state) {
    (void)state;
    check_float("exp", kmath_exp, expl, 0x1p-40f, 88.7f, 1.0L);
    check_float("tanh", kmath_tanh, tanhl, 0x1p-60f, 100.0f, 2.0L);
    check_float("sigmoid", kmath_sigmoid, exact_sigmoid, 0x1p-40f, 80.0f, 3.0L);
    check_float("silu", kmath_silu, exact_silu, 0x1p-40f, 80.0f, 3.0L);
    // The argument of exp is rounded: its error is multiplied by |2u|, which reaches 26 here.
    check_float("gelu", kmath_gelu, exact_gelu, 0x1p-40f, 5.0f, 40.0L);
}

static void exp_denormal_results(void **state) {
    (void)state;
    long double worst = 0;
    double at = 0;
    for (float x = -104.0f; x < -87.0f; x += 0x1p-12f) {
        long double e = error_float(kmath_exp(x), expl(x));
        if (e > worst) {
            worst = e;
            at = x;
        }
    }
    assert_below("exp", worst, 1.0L, at);
}

static void assert_bits(float y, float expected) {
    assert_int_equal(half_to_bits(y), half_to_bits(expected));
}

static void special_values(void **state) {
    (void)state;
    assert_bits(kmath_exp(0.0f), 1.0f);
    assert_bits(kmath_exp(-0.0f), 1.0f);
    assert_bits(kmath_exp(-INFINITY), 0.0f);
    assert_bits(kmath_exp(-104.0f), 0.0f);
    assert_bits(kmath_exp(-1e30f), 0.0f);
    assert_bits(kmath_exp(-103.9f), 0x1p-149f);
    assert_bits(kmath_exp(INFINITY), INFINITY);
    assert_bits(kmath_exp(88.73f), INFINITY);
    assert_true(isfinite(kmath_exp(88.72f)));
    assert_bits(kmath_tanh(INFINITY), 1.0f);
    assert_bits(kmath_tanh(-INFINITY), -1.0f);
    assert_bits(kmath_tanh(-0.0f), -0.0f);
    assert_bits(kmath_tanh(20.0f), 1.0f);
    assert_bits(kmath_silu(-200.0f), -0.0f);
    assert_bits(kmath_gelu(100.0f), 100.0f);
    assert_bits(kmath_gelu(-1e20f), -0.0f);
    assert_bits(kmath_swiglu_oai(9.0f, 8.0f), kmath_swiglu_oai(7.0f, 7.0f));
    assert_bits(kmath_swiglu_oai(-1.0f, -1e9f), kmath_swiglu_oai(-1.0f, -7.0f));
    assert_bits(kmath_swiglu_oai(3.0f, -1.0f), 0.0f);
    assert_bits(kmath_swiglu_oai(-100.0f, 0.5f), -0.0f);
    assert_true(fabsf(kmath_swiglu_oai(1.0f, 2.0f) - 2.5373873f) < 1e-6f);
    assert_true(isnan(kmath_swiglu_oai(NAN, 1.0f)) && isnan(kmath_swiglu_oai(1.0f, NAN)));
    float (*const functions[])(float) = {kmath_exp, kmath_tanh, kmath_sigmoid, kmath_silu,
                                         kmath_gelu};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        assert_true(isnan(functions[i](NAN)));
}

static void nearest_is_even(void **state) {
    (void)state;
    const float x[] = {0.5f, 1.5f, 2.5f, -0.5f, -1.5f, 126.5f, 127.49999f, -127.5f, 3.0f};
    const int32_t expected[] = {0, 2, 2, 0, -2, 126, 127, -128, 3};
    for (size_t i = 0; i < sizeof x / sizeof *x; i++)
        assert_int_equal(kmath_nearest(x[i]), expected[i]);
}

static uint64_t next_random(uint64_t *seed) { // xorshift
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    return *seed ^= *seed << 17;
}
static double uniform(uint64_t *seed, double low, double high) {
    return low + (high - low) * ((double)(next_random(seed) >> 11) * 0x1p-53);
}

// long double has 64 bits here: good to 1/1000 ulp of double except where it is the double itself.
static void double_errors(void **state) {
    (void)state;
    uint64_t seed = 88172645463325252u;
    for (int i = 0; i < 200000; i++) {
        double x = exp2(uniform(&seed, -1000, 1000)), y = uniform(&seed, 0.5, 2);
        assert_below("log", error_double(kmath_log(x), logl(x)), 1.0L, x);
        assert_below("log", error_double(kmath_log(y), logl(y)), 1.0L, y);
        double base = exp2(uniform(&seed, 0, 26)), power = uniform(&seed, -1, 1);
        assert_below("pow", error_double(kmath_pow(base, power), powl(base, power)), 1.0L, base);
        double angle = exp2(uniform(&seed, -40, 31));
        if (next_random(&seed) & 1) angle = -angle;
        assert_below("sin", error_double(kmath_sin(angle), sinl(angle)), 1.0L, angle);
        assert_below("cos", error_double(kmath_cos(angle), cosl(angle)), 1.0L, angle);
    }
    // Integers, of which positions are made, near multiples of pi / 2 among them.
    for (int i = 0; i < 200000; i++) {
        assert_below("sin", error_double(kmath_sin(i), sinl(i)), 1.0L, i);
        assert_below("cos", error_double(kmath_cos(i), cosl(i)), 1.0L, i);
    }
}

static void double_specials(void **state) {
    (void)state;
    assert_true(kmath_log(1.0) == 0.0);
    assert_true(isinf(kmath_log(0.0)));
    assert_true(isnan(kmath_log(-1.0)));
    assert_true(kmath_pow(10000.0, 0.0) == 1.0);
    assert_true(kmath_pow(10000.0, -1.0) == 1.0 / 10000.0);
    assert_true(isnan(kmath_pow(-1.0, 2.0)));
    assert_true(kmath_sin(0.0) == 0.0 && kmath_cos(0.0) == 1.0);
    assert_true(isnan(kmath_sin(0x1p32)) && isnan(kmath_cos((double)NAN)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(float_errors),    cmocka_unit_test(exp_denormal_results),
        cmocka_unit_test(special_values),  cmocka_unit_test(nearest_is_even),
        cmocka_unit_test(double_errors),   cmocka_unit_test(double_specials),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
