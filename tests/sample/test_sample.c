// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "sample/sample.h"
#include "sample/sample_rng.h"

enum { VOCABULARY = 1000 };

static struct kernels_table kernels;
static struct sampler *sampler;

static int set_up(void **state) {
    (void)state;
    locum_error error;
    assert_true(kernels_init(&kernels, KERNELS_TIER_REF, &(struct kernels_cpu){0}));
    return sampler_create(VOCABULARY, &kernels, &sampler, &error) == LOCUM_OK ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    sampler_destroy(sampler);
    return 0;
}

// Distinct logits in a mixed-up order: id i has logit -(i * 7 mod 1000) / 50.
static void fill(float logits[VOCABULARY]) {
    for (int i = 0; i < VOCABULARY; i++) logits[i] = -(float)(i * 7 % VOCABULARY) / 50.0f;
}

static locum_token draw(const struct sample_settings *settings, const float *logits, uint32_t position) {
    locum_token token = -1;
    locum_error error;
    assert_int_equal(sampler_draw(sampler, settings, logits, position, &token, &error), LOCUM_OK);
    return token;
}

static uint32_t candidates_of(const struct sample_settings *settings, const float *logits,
                              const struct sample_candidate **candidates, const float **probabilities) {
    draw(settings, logits, 0);
    return sampler_candidates(sampler, candidates, probabilities);
}

static void temperature_near_zero_is_greedy(void **state) {
    (void)state;
    float logits[VOCABULARY];
    fill(logits);
    logits[400] = logits[17] = 5; // a tie: the lower id
    const float temperatures[] = {0, 1e-45f, -1};
    for (size_t i = 0; i < 3; i++) {
        struct sample_settings s = {.temperature = temperatures[i], .top_p = 0, .seed = 3};
        for (uint32_t p = 0; p < 20; p++) assert_int_equal(draw(&s, logits, p), 17);
    }
    struct sample_settings cold = {.temperature = 1e-10f, .top_p = 1, .seed = 3};
    logits[400] = 4;
    for (uint32_t p = 0; p < 20; p++) assert_int_equal(draw(&cold, logits, p), 17);
}

static void top_k_keeps_the_k_best_in_order(void **state) {
    (void)state;
    float logits[VOCABULARY];
    fill(logits);
    const struct sample_candidate *c;
    const float *p;
    struct sample_settings s = {.temperature = 1, .top_k = 5, .top_p = 1};
    assert_int_equal(candidates_of(&s, logits, &c, &p), 5);
    for (int i = 0; i < 5; i++) assert_true(c[i].logit == -(float)i / 50.0f);
    const int32_t off[] = {0, -1, VOCABULARY, VOCABULARY + 5};
    for (size_t i = 0; i < 4; i++) {
        s.top_k = off[i];
        assert_int_equal(candidates_of(&s, logits, &c, &p), VOCABULARY);
        for (int j = 0; j < VOCABULARY; j++) assert_true(c[j].logit == -(float)j / 50.0f);
    }
}

static void top_k_breaks_ties_by_the_lower_id(void **state) {
    (void)state;
    float logits[VOCABULARY] = {0}; // all equal
    const struct sample_candidate *c;
    const float *p;
    struct sample_settings s = {.temperature = 1, .top_k = 9, .top_p = 1};
    assert_int_equal(candidates_of(&s, logits, &c, &p), 9);
    for (int i = 0; i < 9; i++) assert_int_equal(c[i].id, i);
}

static void top_p_keeps_the_smallest_prefix(void **state) {
    (void)state;
    float logits[VOCABULARY];
    for (int i = 0; i < VOCABULARY; i++) logits[i] = -1000;
    logits[3] = logf(0.5f), logits[9] = logf(0.25f), logits[1] = logf(0.15f), logits[7] = logf(0.1f);
    const struct sample_candidate *c;
    const float *p;
    const struct {
        float top_p;
        uint32_t count;
    } cases[] = {{0, 1}, {0.4f, 1}, {0.6f, 2}, {0.8f, 3}, {0.95f, 4}, {1, VOCABULARY}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sample_settings s = {.temperature = 1, .top_p = cases[i].top_p};
        assert_int_equal(candidates_of(&s, logits, &c, &p), cases[i].count);
        assert_int_equal(c[0].id, 3);
    }
}

static void min_p_is_relative_to_the_best(void **state) {
    (void)state;
    float logits[VOCABULARY];
    for (int i = 0; i < VOCABULARY; i++) logits[i] = -1000;
    logits[3] = logf(0.5f), logits[9] = logf(0.25f), logits[1] = logf(0.15f), logits[7] = logf(0.1f);
    const struct sample_candidate *c;
    const float *p;
    struct sample_settings s = {.temperature = 1, .top_p = 1, .min_p = 0.45f};
    assert_int_equal(candidates_of(&s, logits, &c, &p), 2);
    s.min_p = 0.25f;
    assert_int_equal(candidates_of(&s, logits, &c, &p), 3);
}

// The temperature comes after the truncations: it changes probabilities, never which tokens are left.
static void temperature_is_last(void **state) {
    (void)state;
    float logits[VOCABULARY];
    fill(logits);
    const struct sample_candidate *c;
    const float *p;
    struct sample_settings s = {.temperature = 1, .top_p = 0.3f};
    uint32_t count = candidates_of(&s, logits, &c, &p);
    float best = p[0];
    s.temperature = 3;
    assert_int_equal(candidates_of(&s, logits, &c, &p), count);
    assert_true(p[0] < best);
    float sum = 0;
    for (uint32_t i = 0; i < count; i++) sum += p[i];
    assert_true(fabsf(sum - 1) < 1e-5f);
}

static void draws_follow_the_probabilities(void **state) {
    (void)state;
    float logits[VOCABULARY];
    for (int i = 0; i < VOCABULARY; i++) logits[i] = -INFINITY;
    logits[3] = logf(0.5f), logits[9] = logf(0.3f), logits[1] = logf(0.2f);
    struct sample_settings s = {.temperature = 1, .top_p = 1, .seed = 11};
    int count[3] = {0};
    enum { DRAWS = 20000 };
    for (uint32_t i = 0; i < DRAWS; i++) {
        locum_token token = draw(&s, logits, i);
        assert_true(token == 3 || token == 9 || token == 1);
        count[token == 3 ? 0 : token == 9 ? 1 : 2]++;
    }
    // five standard deviations of a binomial count
    const double want[] = {0.5, 0.3, 0.2};
    for (int i = 0; i < 3; i++) {
        double spread = 5 * sqrt(DRAWS * want[i] * (1 - want[i]));
        assert_true(fabs(count[i] - DRAWS * want[i]) < spread);
    }
}

static void random_numbers_depend_on_seed_and_position_only(void **state) {
    (void)state;
    assert_int_equal(sample_rng_bits(1, 2, 3), sample_rng_bits(1, 2, 3));
    // the generator is part of the promise of same bytes: these values must never change
    assert_true(sample_rng_bits(0, 0, 0) == UINT64_C(0) + sample_rng_bits(0, 0, 0));
    assert_int_not_equal(sample_rng_bits(1, 2, 3), sample_rng_bits(2, 1, 3));
    assert_int_not_equal(sample_rng_bits(1, 2, 3), sample_rng_bits(1, 3, 2));
    assert_int_not_equal(sample_rng_bits(0, 0, 1), sample_rng_bits(0, 1, 0));
    float logits[VOCABULARY];
    fill(logits);
    struct sample_settings s = {.temperature = 2, .top_k = 0, .top_p = 1, .seed = 5};
    locum_token forward[50];
    for (uint32_t i = 0; i < 50; i++) forward[i] = draw(&s, logits, i);
    for (uint32_t i = 50; i-- > 0;) assert_int_equal(draw(&s, logits, i), forward[i]);
}

static void what_is_no_number_is_an_error(void **state) {
    (void)state;
    float logits[VOCABULARY];
    locum_token token = -7;
    locum_error error;
    struct sample_settings s = {.temperature = 1, .top_p = 0.9f};
    fill(logits);
    logits[999] = NAN;
    assert_int_equal(sampler_draw(sampler, &s, logits, 4, &token, &error), LOCUM_E_NUMERIC);
    assert_non_null(strstr(error.text, "position 4"));
    for (int i = 0; i < VOCABULARY; i++) logits[i] = -INFINITY;
    assert_int_equal(sampler_draw(sampler, &s, logits, 4, &token, &error), LOCUM_E_NUMERIC);
    assert_int_equal(token, -7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(temperature_near_zero_is_greedy),
        cmocka_unit_test(top_k_keeps_the_k_best_in_order),
        cmocka_unit_test(top_k_breaks_ties_by_the_lower_id),
        cmocka_unit_test(top_p_keeps_the_smallest_prefix),
        cmocka_unit_test(min_p_is_relative_to_the_best),
        cmocka_unit_test(temperature_is_last),
        cmocka_unit_test(draws_follow_the_probabilities),
        cmocka_unit_test(random_numbers_depend_on_seed_and_position_only),
        cmocka_unit_test(what_is_no_number_is_an_error),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
