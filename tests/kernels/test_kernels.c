// SPDX-License-Identifier: Apache-2.0
//
// Tiers, sizes of activations, and examples of rule 2 worked out by hand. What every kernel
// computes is the business of tools/checkkernel.
#include "kernels/kernels.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const struct kernels_cpu no_cpu;
static struct kernels_table table;

static int set_up(void **state) {
    (void)state;
    return kernels_init(&table, KERNELS_TIER_REF, &no_cpu) ? 0 : -1;
}

static void tiers_have_names(void **state) {
    (void)state;
    for (int i = 0; i < KERNELS_TIER_COUNT; i++) {
        enum kernels_tier tier = KERNELS_TIER_COUNT;
        assert_true(kernels_tier_parse(kernels_tier_name((enum kernels_tier)i), &tier));
        assert_int_equal(tier, i);
    }
    enum kernels_tier tier;
    assert_false(kernels_tier_parse("avx", &tier));
    assert_false(kernels_tier_parse("", &tier));
}

static void a_bare_processor_has_ref_only(void **state) {
    (void)state;
    struct kernels_table other;
    assert_int_equal(kernels_best(&no_cpu), KERNELS_TIER_REF);
    assert_true(kernels_init(&other, KERNELS_TIER_REF, &no_cpu));
    assert_int_equal(other.tier, KERNELS_TIER_REF);
    for (int i = KERNELS_TIER_REF + 1; i < KERNELS_TIER_COUNT; i++)
        assert_false(kernels_init(&other, (enum kernels_tier)i, &no_cpu));
}

// Only the choice: filling a table is compiled for its tier as well (checkkernel does that).
static void the_best_tier_is_the_highest(void **state) {
    (void)state;
#if defined(__x86_64__)
    const struct {
        struct kernels_cpu cpu; // avx2, avxvnni, avx512, avx512vnni
        enum kernels_tier best;
    } cases[] = {
        {{true, false, false, false}, KERNELS_TIER_AVX2},
        {{true, true, false, false}, KERNELS_TIER_AVXVNNI},
        {{true, false, true, false}, KERNELS_TIER_AVX512},
        {{true, false, true, true}, KERNELS_TIER_AVX512VNNI},
        {{true, true, true, true}, KERNELS_TIER_AVX512VNNI},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(kernels_best(&cases[i].cpu), cases[i].best);
#else
    print_message("SKIP choice of a tier: no tiers above ref on this architecture\n");
    skip();
#endif
}

static void every_type_of_the_contract_is_there(void **state) {
    (void)state;
    const uint32_t types[] = {
        DTYPE_F32,  DTYPE_F16,  DTYPE_BF16, DTYPE_Q8_0,   DTYPE_Q4_0,   DTYPE_Q4_1,
        DTYPE_Q5_0, DTYPE_Q5_1, DTYPE_Q2_K, DTYPE_Q3_K,   DTYPE_Q4_K,   DTYPE_Q5_K,
        DTYPE_Q6_K, DTYPE_MXFP4, DTYPE_IQ4_NL, DTYPE_IQ4_XS,
    };
    size_t there = 0;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        assert_non_null(table.matmul[types[i]]);
        assert_non_null(table.dequantise[types[i]]);
        assert_non_null(table.quantise[kernels_act_of(types[i])]);
    }
    for (uint32_t id = 0; id < DTYPE_ID_MAX; id++) {
        there += table.matmul[id] != NULL;
        assert_int_equal(table.matmul[id] != NULL, kernels_act_of(id) != KERNELS_ACT_NONE);
    }
    assert_int_equal(there, sizeof types / sizeof *types);
    assert_int_equal(kernels_act_of(12345), KERNELS_ACT_NONE);
}

static void activation_sizes(void **state) {
    (void)state;
    assert_int_equal(kernels_act_bytes(KERNELS_ACT_F32, 1), 64);
    assert_int_equal(kernels_act_bytes(KERNELS_ACT_F32, 32), 128);
    assert_int_equal(kernels_act_bytes(KERNELS_ACT_Q32, 32), 64 + 64 + 64);
    assert_int_equal(kernels_act_bytes(KERNELS_ACT_Q32, 544), 576 + 128 + 128);
    assert_int_equal(kernels_act_bytes(KERNELS_ACT_Q256, 512), 640);
    assert_int_equal(sizeof(struct kernels_q256), 320);
}

static void q32_by_hand(void **state) {
    (void)state;
    float x[32] = {127, -127, 0.5f, 1.5f, -2.5f}; // d = 1: ties go to even
    _Alignas(64) uint8_t column[192];
    assert_true(table.quantise[KERNELS_ACT_Q32](column, x, 32));
    const int8_t *q = (const int8_t *)column;
    float d;
    int32_t s;
    memcpy(&d, column + kernels_q32_scale_offset(32), sizeof d);
    memcpy(&s, column + kernels_q32_sum_offset(32), sizeof s);
    assert_true(d == 1.0f);
    assert_int_equal(q[0], 127);
    assert_int_equal(q[1], -127);
    assert_int_equal(q[2], 0);
    assert_int_equal(q[3], 2);
    assert_int_equal(q[4], -2);
    assert_int_equal(s, 0);
}

static void q256_by_hand(void **state) {
    (void)state;
    // Blocks of 32 with maxima 8, 4, 1 and a little more than 1: with D = 8/127/8 = 1/127 the
    // multipliers are 8, 4, 1, 2; empty blocks have 1.
    float x[256] = {0};
    x[0] = 8;
    x[32] = -4;
    x[64] = 1;
    x[96] = 1.01f;
    _Alignas(64) struct kernels_q256 record;
    assert_true(table.quantise[KERNELS_ACT_Q256](&record, x, 256));
    const int16_t t[8] = {8, 4, 1, 2, 1, 1, 1, 1};
    assert_memory_equal(record.t, t, sizeof t);
    assert_true(record.d == 8.0f / 127.0f * 0.125f);
    assert_int_equal(record.q[0], 127);
    assert_int_equal(record.q[32], -127);
    assert_int_equal(record.q[64], 127);
    assert_int_equal(record.q[96], 64);
    assert_int_equal(record.ts[0], 8 * 127);
    assert_int_equal(record.ts[1], 0);
    assert_int_equal(record.ts[2], -4 * 127);
    assert_int_equal(record.ts[6], 128);
}

static void vanishing_scales_are_zero(void **state) {
    (void)state;
    float x[256];
    for (int i = 0; i < 256; i++) x[i] = 0x1p-126f;
    _Alignas(64) struct kernels_q256 record;
    assert_true(table.quantise[KERNELS_ACT_Q256](&record, x, 256));
    assert_true(record.d == 0.0f);
    for (int i = 0; i < 256; i++) assert_int_equal(record.q[i], 0);
    for (int i = 0; i < 8; i++) assert_int_equal(record.t[i], 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiers_have_names),
        cmocka_unit_test(a_bare_processor_has_ref_only),
        cmocka_unit_test(the_best_tier_is_the_highest),
        cmocka_unit_test(every_type_of_the_contract_is_there),
        cmocka_unit_test(activation_sizes),
        cmocka_unit_test(q32_by_hand),
        cmocka_unit_test(q256_by_hand),
        cmocka_unit_test(vanishing_scales_are_zero),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
