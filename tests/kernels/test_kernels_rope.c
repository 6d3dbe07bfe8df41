// SPDX-License-Identifier: Apache-2.0
//
// Cosines and sines against the formulas in long double, for each kind of scaling.
#include "kernels/kernels_rope.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { N_ROT = 64, PAIRS = N_ROT / 2 };

static struct kernels_rope plain_rope(void) {
    return (struct kernels_rope){.n_rot = N_ROT, .base = 10000.0, .factor = 1.0, .attn_factor = 1.0,
                                 .ext_factor = 1.0, .beta_fast = 32.0, .beta_slow = 1.0,
                                 .context_original = 4096};
}

// Every entry for some positions is the correctly rounded float of the formula, but for ties of
// double rounding: off by at most half an ulp of float32 and a little.
static void check_rows(const struct kernels_rope *rope, const long double *theta,
                       long double magnitude) {
    double got_theta[PAIRS], got_magnitude;
    kernels_rope_frequencies(rope, got_theta, &got_magnitude);
    assert_true(fabsl(got_magnitude - magnitude) < 1e-15L);
    const uint32_t positions[] = {0, 1, 2, 77, 4095, 131071, 1000000};
    for (size_t j = 0; j < sizeof positions / sizeof *positions; j++) {
        float cs[2 * PAIRS];
        kernels_rope_row(cs, got_theta, got_magnitude, PAIRS, positions[j]);
        for (size_t i = 0; i < PAIRS; i++) {
            long double angle = positions[j] * theta[i];
            // theta is a double: its rounding grows with the position.
            long double bound = 0x1p-24L + positions[j] * theta[i] * 0x1p-50L;
            assert_true(fabsl(cs[2 * i] - cosl(angle) * magnitude) <= bound * 1.5L);
            assert_true(fabsl(cs[2 * i + 1] - sinl(angle) * magnitude) <= bound * 1.5L);
        }
    }
}

static void plain_and_linear(void **state) {
    (void)state;
    struct kernels_rope rope = plain_rope();
    long double theta[PAIRS], slow[PAIRS];
    for (int i = 0; i < PAIRS; i++) {
        theta[i] = powl(10000.0L, -2.0L * i / N_ROT);
        slow[i] = theta[i] / 4;
    }
    check_rows(&rope, theta, 1);
    rope.factor = 4.0;
    check_rows(&rope, theta, 1); // no scaling: the factor is not used
    rope.scaling = KERNELS_ROPE_LINEAR;
    check_rows(&rope, slow, 1);
}

static void factors_divide(void **state) {
    (void)state;
    struct kernels_rope rope = plain_rope();
    float factors[PAIRS];
    long double theta[PAIRS];
    for (int i = 0; i < PAIRS; i++) {
        factors[i] = 1.0f + (float)i / 8;
        theta[i] = powl(10000.0L, -2.0L * i / N_ROT) / factors[i];
    }
    rope.factors = factors;
    check_rows(&rope, theta, 1);
}

// The values of the gpt-oss models: base 150000, factor 32, 4096 positions: magnitude 1.3466.
static void check_yarn(bool untruncated) {
    struct kernels_rope rope = plain_rope();
    rope.untruncated = untruncated;
    rope.base = 150000.0;
    rope.factor = 32.0;
    rope.scaling = KERNELS_ROPE_YARN;
    const long double two_pi = 2 * acosl(-1);
    long double theta[PAIRS], limit[2];
    for (int i = 0; i < 2; i++)
        limit[i] = N_ROT * logl(4096 / (two_pi * (i ? 1 : 32))) / (2 * logl(150000.0L));
    long double low = fmaxl(0, floorl(limit[0])), high = fminl(N_ROT - 1, ceill(limit[1]));
    assert_true(low == 8 && high == 18);
    if (untruncated) low = limit[0], high = limit[1]; // 8.09 and 17.40
    for (int i = 0; i < PAIRS; i++) {
        long double kept = 1 - fminl(1, fmaxl(0, (i - low) / (high - low)));
        long double fast = powl(150000.0L, -2.0L * i / N_ROT);
        theta[i] = fast / 32 * (1 - kept) + fast * kept;
    }
    long double magnitude = 1 + 0.1L * logl(32);
    assert_true(fabsl(magnitude - 1.3466L) < 1e-4L);
    check_rows(&rope, theta, magnitude);
    rope.attn_factor = 0.5;
    check_rows(&rope, theta, magnitude / 2);
}

static void yarn(void **state) {
    (void)state;
    check_yarn(false);
    check_yarn(true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_and_linear),
        cmocka_unit_test(factors_divide),
        cmocka_unit_test(yarn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
