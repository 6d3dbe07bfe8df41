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

enum { VOCABULARY = 1000, WINDOW = 64 };

static struct kernels_table kernels;
static struct sampler *sampler;

static int set_up(void **state) {
    (void)state;
    locum_error error;
    assert_true(kernels_init(&kernels, KERNELS_TIER_REF, &(struct kernels_cpu){0}));
    return sampler_create(VOCABULARY, WINDOW, &kernels, &sampler, &error) == LOCUM_OK ? 0 : -1;
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

static locum_status try_draw(const struct sample_settings *settings,
                             const struct sample_input *input, locum_token *token,
                             locum_error *error) {
    struct sample_mirostat state = sample_mirostat_begin(settings);
    return sampler_draw(sampler, settings, &state, input, token, error);
}

static locum_token draw(const struct sample_settings *settings, const float *logits, uint32_t position) {
    locum_token token = -1;
    locum_error error;
    struct sample_input input = {.logits = logits, .position = position};
    assert_int_equal(try_draw(settings, &input, &token, &error), LOCUM_OK);
    return token;
}

// What the draw chose from, best first, without what cannot be drawn.
struct chances {
    uint32_t count;
    locum_token ids[VOCABULARY];
    float p[VOCABULARY];
};

static const struct chances *chances_of(const struct sample_settings *settings,
                                        const struct sample_input *input) {
    static struct chances c;
    locum_token token;
    locum_error error;
    assert_int_equal(try_draw(settings, input, &token, &error), LOCUM_OK);
    struct sample_candidates found = sampler_candidates(sampler);
    c.count = 0;
    for (uint32_t i = 0; i < found.count; i++) {
        if (!(found.probabilities[i] > 0)) continue;
        uint32_t at = c.count++;
        for (; at > 0 && c.p[at - 1] < found.probabilities[i]; at--) {
            c.p[at] = c.p[at - 1];
            c.ids[at] = c.ids[at - 1];
        }
        c.p[at] = found.probabilities[i];
        c.ids[at] = found.ids[i];
    }
    return &c;
}

static const struct chances *chances(const struct sample_settings *settings, const float *logits) {
    struct sample_input input = {.logits = logits};
    return chances_of(settings, &input);
}

static void temperature_near_zero_is_greedy(void **state) {
    (void)state;
    float logits[VOCABULARY];
    fill(logits);
    logits[400] = logits[17] = 5; // a tie: the lower id
    const float temperatures[] = {0, 1e-45f, -1};
    struct sample_settings s = sample_settings_off();
    s.top_p = 0;
    for (size_t i = 0; i < 3; i++) {
        s.temperature = temperatures[i];
        for (uint32_t p = 0; p < 20; p++) assert_int_equal(draw(&s, logits, p), 17);
    }
    s = sample_settings_off();
    s.temperature = 1e-10f;
    logits[400] = 4;
    for (uint32_t p = 0; p < 20; p++) assert_int_equal(draw(&s, logits, p), 17);
    s.temperature = 1e-38f; // a quotient would not be finite
    for (uint32_t p = 0; p < 20; p++) assert_int_equal(draw(&s, logits, p), 17);
}

static void top_k_keeps_the_k_best(void **state) {
    (void)state;
    float logits[VOCABULARY];
    fill(logits);
    struct sample_settings s = sample_settings_off();
    s.top_k = 5;
    const struct chances *c = chances(&s, logits);
    assert_int_equal(c->count, 5);
    for (int i = 0; i < 5; i++) assert_true(logits[c->ids[i]] == -(float)i / 50.0f);
    const int32_t off[] = {0, -1, VOCABULARY, VOCABULARY + 5};
    for (size_t i = 0; i < 4; i++) {
        s.top_k = off[i];
        assert_int_equal(chances(&s, logits)->count, VOCABULARY);
    }
}

static void top_k_breaks_ties_by_the_lower_id(void **state) {
    (void)state;
    float logits[VOCABULARY] = {0}; // all equal
    struct sample_settings s = sample_settings_off();
    s.top_k = 9;
    const struct chances *c = chances(&s, logits);
    assert_int_equal(c->count, 9);
    for (int i = 0; i < 9; i++) assert_int_equal(c->ids[i], i);
}

static void four(float logits[VOCABULARY]) {
    for (int i = 0; i < VOCABULARY; i++) logits[i] = -1000;
    logits[3] = logf(0.5f), logits[9] = logf(0.25f), logits[1] = logf(0.15f), logits[7] = logf(0.1f);
}

static void top_p_keeps_the_smallest_set(void **state) {
    (void)state;
    float logits[VOCABULARY];
    four(logits);
    const struct {
        float top_p;
        uint32_t count;
    } cases[] = {{0, 1}, {0.4f, 1}, {0.6f, 2}, {0.8f, 3}, {0.95f, 4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sample_settings s = sample_settings_off();
        s.top_p = cases[i].top_p;
        const struct chances *c = chances(&s, logits);
        assert_int_equal(c->count, cases[i].count);
        assert_int_equal(c->ids[0], 3);
        s.top_k = 500; // a sorted list gives the same
        assert_int_equal(chances(&s, logits)->count, cases[i].count);
    }
}

static void top_p_cuts_ties_by_the_lower_id(void **state) {
    (void)state;
    float logits[VOCABULARY] = {0};
    struct sample_settings s = sample_settings_off();
    s.top_p = 0.0995f; // 100 of 1000 equal ones
    const struct chances *c = chances(&s, logits);
    assert_int_equal(c->count, 100);
    for (int i = 0; i < 100; i++) assert_true(c->ids[i] < 100);
}

static void min_p_is_relative_to_the_best(void **state) {
    (void)state;
    float logits[VOCABULARY];
    four(logits);
    struct sample_settings s = sample_settings_off();
    s.min_p = 0.25f;
    assert_int_equal(chances(&s, logits)->count, 3);
    s.min_p = 1;
    assert_int_equal(chances(&s, logits)->count, 1);
    s.min_keep = 2;
    assert_int_equal(chances(&s, logits)->count, 2);
}

// The temperature comes after the truncations: it changes probabilities, never which tokens are left.
static void temperature_is_last(void **state) {
    (void)state;
    float logits[VOCABULARY];
    fill(logits);
    struct sample_settings s = sample_settings_off();
    s.top_p = 0.3f;
    uint32_t count = chances(&s, logits)->count;
    float best = chances(&s, logits)->p[0];
    s.temperature = 3;
    const struct chances *c = chances(&s, logits);
    assert_int_equal(c->count, count);
    assert_true(c->p[0] < best);
    float sum = 0;
    for (uint32_t i = 0; i < count; i++) sum += c->p[i];
    assert_true(fabsf(sum - 1) < 1e-5f);
    assert_int_equal(sample_chain_parse("temperature;top-p", &s.chain, NULL), LOCUM_OK);
    assert_true(chances(&s, logits)->count > count); // unless asked for
}

// ---- penalties and biases ---------------------------------------------------------------------------
static void penalties_look_back_over_the_window(void **state) {
    (void)state;
    float logits[VOCABULARY];
    locum_token history[60];
    four(logits);
    logits[3] = 3, logits[9] = 2.5f, logits[1] = -0.5f, logits[7] = 2;
    for (int i = 0; i < 60; i++) history[i] = 500;
    history[0] = 3;                                         // long ago
    history[57] = 9, history[58] = 1, history[59] = 9;      // twice, once
    struct sample_input input = {.logits = logits, .history = {history, 58, history + 58, 2}};
    struct sample_settings s = sample_settings_off();
    s.repeat_penalty = 2;
    s.frequency_penalty = 0.25f;
    s.presence_penalty = 0.5f;
    s.penalty_last_n = 59;
    const struct chances *c = chances_of(&s, &input);
    // 3: 3 (outside the window); 7: 2; 9: 2.5 / 2 - 2 * 0.25 - 0.5 = 0.25; 1: -0.5 * 2 - 0.75 = -1.75
    const float expected[] = {3, 2, 0.25f, -1.75f};
    const locum_token ids[] = {3, 7, 9, 1};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(c->ids[i], ids[i]);
        assert_true(fabsf(logf(c->p[i] / c->p[0]) - (expected[i] - 3)) < 1e-5f);
    }
    s.penalty_last_n = -1; // all: 3 becomes 1.5 - 0.75
    assert_int_equal(chances_of(&s, &input)->ids[0], 7);
    s.penalty_last_n = 0;
    assert_int_equal(chances_of(&s, &input)->ids[0], 3);
    s.penalty_last_n = -1;
    s.temperature = 0; // greedy too
    locum_token token;
    assert_int_equal(try_draw(&s, &input, &token, NULL), LOCUM_OK);
    assert_int_equal(token, 7);
    s.temperature = 1; // behind a truncation: the list is sorted again
    assert_int_equal(sample_chain_parse("top_k;penalties;top_p", &s.chain, NULL), LOCUM_OK);
    s.top_k = 3;
    assert_int_equal(chances_of(&s, &input)->count, 3);
    assert_int_equal(chances_of(&s, &input)->ids[0], 7);
}

static float dry_loss(const struct sample_settings *s, const locum_token *history, uint32_t count,
                      locum_token token) {
    float logits[VOCABULARY] = {0};
    struct sample_input input = {.logits = logits, .history = {history, count, NULL, 0}};
    const struct chances *c = chances_of(s, &input);
    float own = 0, most = c->p[0];
    for (uint32_t i = 0; i < c->count; i++) {
        if (c->ids[i] == token) own = c->p[i];
    }
    return logf(most / own);
}

static void dry_grows_with_the_repetition(void **state) {
    (void)state;
    struct sample_settings s = sample_settings_off();
    s.dry_penalty_last_n = -1;
    s.dry_multiplier = 0.8f;
    static const locum_token two[] = {1, 2, 9, 5, 1, 2}, four_back[] = {8, 1, 2, 3, 4, 9, 8, 1, 2, 3, 4};
    assert_true(fabsf(dry_loss(&s, two, 6, 9) - 0.8f) < 1e-5f);           // length 2, allowed 2
    assert_true(fabsf(dry_loss(&s, four_back, 11, 9) - 0.8f * 5.359375f) < 1e-4f); // 1.75^3
    assert_true(dry_loss(&s, two, 6, 5) == 0);
    s.dry_multiplier = 4;
    assert_true(fabsf(dry_loss(&s, two, 6, 9) - 4) < 1e-5f);
    s.dry_multiplier = 0;
    assert_true(dry_loss(&s, two, 6, 9) == 0);
    s.dry_multiplier = 1;
    s.dry_penalty_last_n = 5; // the first one is out of sight
    assert_true(dry_loss(&s, two, 6, 9) == 0);
    s.dry_penalty_last_n = -1;
    uint64_t single[VOCABULARY / 64 + 1] = {0};
    struct sample_breaker sequence = {.head = 1, .tail_count = 1, .tail = {2}};
    struct sample_breakers breakers = {single, NULL, 0};
    s.breakers = &breakers;
    assert_true(dry_loss(&s, two, 6, 9) > 0);
    single[0] = 1 << 2; // 2 breaks
    assert_true(dry_loss(&s, two, 6, 9) == 0);
    single[0] = 1 << 9; // what would come is one itself
    assert_true(dry_loss(&s, two, 6, 9) == 0);
    single[0] = 0;
    breakers.sequences = &sequence;
    breakers.sequence_count = 1;
    assert_true(dry_loss(&s, two, 6, 9) == 0);
}

// The search for repetitions against one that looks at every pair.
static void dry_finds_what_a_plain_search_finds(void **state) {
    (void)state;
    locum_token history[WINDOW];
    struct sample_settings s = sample_settings_off();
    s.dry_penalty_last_n = -1;
    s.dry_multiplier = 1;
    s.dry_allowed_length = 1;
    for (uint32_t round = 0; round < 200; round++) {
        uint32_t count = 2 + round % (WINDOW - 2), longest[3] = {0};
        for (uint32_t i = 0; i < count; i++)
            history[i] = (locum_token)(sample_rng_bits(round, 0, i) % (2 + round % 2));
        for (uint32_t end = 1; end < count; end++) { // history[end] followed
            uint32_t n = 0;
            while (n < end && history[end - 1 - n] == history[count - 1 - n]) n++;
            if (n > longest[history[end]]) longest[history[end]] = n;
        }
        for (locum_token token = 0; token < 3; token++) {
            float loss = dry_loss(&s, history, count, token);
            float expected = longest[token] ? powf(1.75f, (float)longest[token] - 1) : 0;
            if (expected > 80) assert_true(loss > 80); // no chance is left to measure
            else assert_true(fabsf(loss - expected) < 1e-3f * (1 + expected));
        }
    }
}

static void biases_add_and_exclude(void **state) {
    (void)state;
    float logits[VOCABULARY];
    four(logits);
    const locum_logit_bias biases[] = {{3, -INFINITY}, {7, 2}};
    struct sample_settings s = sample_settings_off();
    s.biases = biases;
    s.bias_count = 2;
    const struct chances *c = chances(&s, logits);
    assert_int_equal(c->ids[0], 7);
    assert_int_equal(c->count, 3);
    s.temperature = 0;
    assert_int_equal(draw(&s, logits, 0), 7);
    static locum_logit_bias every[VOCABULARY];
    for (int i = 0; i < VOCABULARY; i++) every[i] = (locum_logit_bias){i, -INFINITY};
    s.biases = every;
    s.bias_count = VOCABULARY;
    locum_token token = -7;
    locum_error error;
    struct sample_input input = {.logits = logits, .position = 4};
    assert_int_equal(try_draw(&s, &input, &token, &error), LOCUM_E_NUMERIC);
    assert_non_null(strstr(error.text, "position 4"));
    assert_int_equal(token, -7);
}

// What is not allowed is gone before any stage: top-k counts what is left.
static void only_allowed_tokens_are_drawn(void **state) {
    (void)state;
    float logits[VOCABULARY];
    uint64_t allowed[VOCABULARY / 64 + 1] = {0};
    fill(logits);
    const int some[] = {5, 64, 127, 128, 999};
    for (int i = 0; i < 5; i++) allowed[some[i] / 64] |= UINT64_C(1) << some[i] % 64;
    struct sample_settings s = sample_settings_off();
    s.top_k = 3;
    struct sample_input input = {.logits = logits, .allowed = allowed};
    const struct chances *c = chances_of(&s, &input);
    assert_int_equal(c->count, 3);
    for (uint32_t i = 0; i < 3; i++) assert_true(allowed[c->ids[i] / 64] >> c->ids[i] % 64 & 1);
    s.temperature = 0;
    locum_token token;
    locum_error error;
    assert_int_equal(try_draw(&s, &input, &token, &error), LOCUM_OK);
    for (int i = 0; i < 5; i++) assert_true(logits[token] >= logits[some[i]]);
    memset(allowed, 0, sizeof allowed);
    assert_int_equal(try_draw(&s, &input, &token, &error), LOCUM_E_NUMERIC);
}

// ---- the other stages ---------------------------------------------------------------------------------
static void xtc_leaves_the_least_of_the_likely(void **state) {
    (void)state;
    float logits[VOCABULARY];
    four(logits);
    struct sample_settings s = sample_settings_off();
    s.xtc_probability = 1;
    s.xtc_threshold = 0.12f; // 0.5, 0.25 and 0.15 reach it
    const struct chances *c = chances(&s, logits);
    assert_int_equal(c->count, 2);
    assert_int_equal(c->ids[0], 1);
    assert_int_equal(c->ids[1], 7);
    s.min_keep = VOCABULARY;
    assert_int_equal(chances(&s, logits)->count, 4);
    s.min_keep = 0;
    s.xtc_threshold = 0.6f;
    assert_int_equal(chances(&s, logits)->count, 4);
    s.xtc_threshold = 0.12f;
    s.xtc_probability = 0.3f;
    int happened = 0;
    for (uint32_t position = 0; position < 2000; position++) {
        struct sample_input input = {.logits = logits, .position = position};
        happened += chances_of(&s, &input)->count == 2;
    }
    assert_true(happened > 480 && happened < 720); // 600 +- 6 standard deviations
}

static void the_other_truncations(void **state) {
    (void)state;
    float logits[VOCABULARY];
    four(logits);
    struct sample_settings s = sample_settings_off();
    s.typical_p = 0.2f; // entropy 1.21: 0.25 (1.39) is nearest
    assert_int_equal(chances(&s, logits)->count, 1);
    assert_int_equal(chances(&s, logits)->ids[0], 9);
    s.typical_p = 0.3f; // then 0.5 (0.69) before 0.15 (1.90)
    assert_int_equal(chances(&s, logits)->count, 2);
    s = sample_settings_off();
    fill(logits); // uniform over 0 .. -20: standard deviation 5.77
    s.top_n_sigma = 1;
    uint32_t count = chances(&s, logits)->count;
    assert_int_equal(count, 289); // logits down to -5.774
}

static void dynamic_temperature_follows_the_entropy(void **state) {
    (void)state;
    float logits[VOCABULARY] = {0};
    struct sample_settings s = sample_settings_off();
    s.temperature = 1;
    s.dynatemp_range = 0.5f;
    four(logits); // 1.21 of ln 1000
    s.top_k = 4;  // 1.21 of ln 4: 0.8715
    const struct chances *c = chances(&s, logits);
    float heat = logf(0.5f / 0.25f) / logf(c->p[0] / c->p[1]);
    assert_true(fabsf(heat - (0.5f + 0.8715f)) < 1e-3f);
}

static void mirostat_steers_the_surprise(void **state) {
    (void)state;
    float logits[VOCABULARY];
    for (int i = 0; i < VOCABULARY; i++) logits[i] = -logf((float)(1 + i * 7 % VOCABULARY)); // Zipf
    for (int version = 1; version <= 2; version++) {
        struct sample_settings s = sample_settings_off();
        s.mirostat = version;
        s.mirostat_tau = 3;
        struct sample_mirostat mirostat = sample_mirostat_begin(&s);
        assert_true(mirostat.mu == 6);
        double total = 0;
        for (uint32_t position = 0; position < 400; position++) {
            float before = mirostat.mu;
            locum_token token;
            struct sample_input input = {.logits = logits, .position = position};
            assert_int_equal(sampler_draw(sampler, &s, &mirostat, &input, &token, NULL), LOCUM_OK);
            total += (double)((before - mirostat.mu) / s.mirostat_eta) + 3;
        }
        assert_true(fabs(total / 400 - 3) < 0.2);
    }
}

static void logprobs_are_those_of_the_model(void **state) {
    (void)state;
    float logits[VOCABULARY], own;
    locum_logprob top[3];
    four(logits);
    sampler_logprobs(sampler, logits, 7, &own, top, 3);
    assert_true(fabsf(own - logf(0.1f)) < 1e-6f);
    const locum_token ids[] = {3, 9, 1};
    const float p[] = {0.5f, 0.25f, 0.15f};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(top[i].token, ids[i]);
        assert_true(fabsf(top[i].logprob - logf(p[i])) < 1e-6f);
    }
}

static void stages_are_named(void **state) {
    (void)state;
    struct sample_chain chain;
    locum_error error;
    assert_int_equal(sample_chain_parse("top-k,typical;temp", &chain, &error), LOCUM_OK);
    assert_int_equal(chain.count, 3);
    assert_int_equal(chain.stages[1], SAMPLE_TYPICAL_P);
    assert_int_equal(sample_chain_parse("", &chain, &error), LOCUM_OK);
    assert_int_equal(chain.count, 0);
    assert_int_equal(sample_chain_parse("top_k;magic", &chain, &error), LOCUM_E_ARGUMENT);
    assert_non_null(strstr(error.text, "magic"));
}

// ---- the draw --------------------------------------------------------------------------------------------
static void draws_follow_the_probabilities(void **state) {
    (void)state;
    float logits[VOCABULARY];
    for (int i = 0; i < VOCABULARY; i++) logits[i] = -INFINITY;
    logits[3] = logf(0.5f), logits[9] = logf(0.3f), logits[1] = logf(0.2f);
    struct sample_settings s = sample_settings_off();
    s.seed = 11;
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
    assert_int_not_equal(sample_rng_bits(1, 2, 3), sample_rng_bits(2, 1, 3));
    assert_int_not_equal(sample_rng_bits(1, 2, 3), sample_rng_bits(1, 3, 2));
    assert_int_not_equal(sample_rng_bits(0, 0, 1), sample_rng_bits(0, 1, 0));
    assert_true(sample_rng_chance(1, 2, 3) != sample_rng_unit(1, 2, 3));
    float logits[VOCABULARY];
    fill(logits);
    struct sample_settings s = sample_settings_off();
    s.temperature = 2;
    s.seed = 5;
    locum_token forward[50];
    for (uint32_t i = 0; i < 50; i++) forward[i] = draw(&s, logits, i);
    for (uint32_t i = 50; i-- > 0;) assert_int_equal(draw(&s, logits, i), forward[i]);
}

static void what_is_no_number_is_an_error(void **state) {
    (void)state;
    float logits[VOCABULARY];
    locum_token token = -7;
    locum_error error;
    struct sample_settings s = sample_settings_off();
    s.top_p = 0.9f;
    struct sample_input input = {.logits = logits, .position = 4};
    fill(logits);
    logits[999] = NAN;
    assert_int_equal(try_draw(&s, &input, &token, &error), LOCUM_E_NUMERIC);
    assert_non_null(strstr(error.text, "position 4"));
    for (int i = 0; i < VOCABULARY; i++) logits[i] = -INFINITY;
    assert_int_equal(try_draw(&s, &input, &token, &error), LOCUM_E_NUMERIC);
    fill(logits);
    logits[1] = INFINITY;
    s.temperature = 0;
    assert_int_equal(try_draw(&s, &input, &token, &error), LOCUM_E_NUMERIC);
    assert_int_equal(token, -7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(temperature_near_zero_is_greedy),
        cmocka_unit_test(top_k_keeps_the_k_best),
        cmocka_unit_test(top_k_breaks_ties_by_the_lower_id),
        cmocka_unit_test(top_p_keeps_the_smallest_set),
        cmocka_unit_test(top_p_cuts_ties_by_the_lower_id),
        cmocka_unit_test(min_p_is_relative_to_the_best),
        cmocka_unit_test(temperature_is_last),
        cmocka_unit_test(penalties_look_back_over_the_window),
        cmocka_unit_test(dry_grows_with_the_repetition),
        cmocka_unit_test(dry_finds_what_a_plain_search_finds),
        cmocka_unit_test(biases_add_and_exclude),
        cmocka_unit_test(only_allowed_tokens_are_drawn),
        cmocka_unit_test(xtc_leaves_the_least_of_the_likely),
        cmocka_unit_test(the_other_truncations),
        cmocka_unit_test(dynamic_temperature_follows_the_entropy),
        cmocka_unit_test(mirostat_steers_the_surprise),
        cmocka_unit_test(logprobs_are_those_of_the_model),
        cmocka_unit_test(stages_are_named),
        cmocka_unit_test(draws_follow_the_probabilities),
        cmocka_unit_test(random_numbers_depend_on_seed_and_position_only),
        cmocka_unit_test(what_is_no_number_is_an_error),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
