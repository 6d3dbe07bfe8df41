// SPDX-License-Identifier: Apache-2.0
//
// The stages against llama.cpp's: what its samplers left of made-up logits is stored in llama_cpp.txt by
// sampler_peer.py, which says what the lines mean and has the same formulas.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sample/sample.h"

enum { TOKENS = 2003, HISTORY = 80, SHOWN = 12, SHOWN_LAST = 3, LINE = 4096, CASES = 50 };

#define REAL(name) \
    { #name, offsetof(struct sample_settings, name), false }
#define WHOLE(name) \
    { #name, offsetof(struct sample_settings, name), true }
static const struct {
    const char *name;
    size_t at;
    bool whole;
} fields[] = {
    REAL(temperature),
    REAL(dynatemp_range),
    REAL(dynatemp_exponent),
    REAL(top_p),
    REAL(min_p),
    REAL(typical_p),
    REAL(top_n_sigma),
    REAL(xtc_probability),
    REAL(xtc_threshold),
    REAL(repeat_penalty),
    REAL(frequency_penalty),
    REAL(presence_penalty),
    REAL(dry_multiplier),
    REAL(dry_base),
    REAL(mirostat_tau),
    REAL(mirostat_eta),
    WHOLE(top_k),
    WHOLE(penalty_last_n),
    WHOLE(dry_allowed_length),
    WHOLE(dry_penalty_last_n),
    WHOLE(mirostat),
    WHOLE(min_keep),
};

static void set(struct sample_settings *s, const char *name, const char *text) {
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (strcmp(fields[i].name, name) != 0) continue;
        float real = strtof(text, NULL);
        int32_t whole = atoi(text);
        memcpy((char *)s + fields[i].at, fields[i].whole ? (void *)&whole : (void *)&real, 4);
        return;
    }
    fail_msg("no setting is called %s", name);
}

static struct sample_settings settings_of(char *words, int *shape) {
    struct sample_settings s = sample_settings_off();
    s.penalty_last_n = 64;
    s.dry_penalty_last_n = 0;
    char *rest, *word = strtok_r(words, " \n", &rest); // "case"
    *shape = atoi(strtok_r(NULL, " \n", &rest));
    while ((word = strtok_r(NULL, " \n", &rest)))
        set(&s, word, strtok_r(NULL, " \n", &rest));
    return s;
}

static void fill(float *logits, int shape) {
    for (int i = 0; i < TOKENS; i++) {
        float x = (float)(i * 739 % TOKENS);
        logits[i] = shape == 0 ? x / 128 : shape == 1 ? x / 32 : -x * x / 65536;
    }
}

struct chance {
    locum_token id;
    float p;
};

static int better(const void *a, const void *b) {
    const struct chance *x = a, *y = b;
    return x->p != y->p ? (x->p < y->p ? 1 : -1) : x->id - y->id;
}

static uint32_t run(struct sampler *sampler, const struct sample_settings *s, int shape,
                    struct chance out[TOKENS]) {
    static float logits[TOKENS];
    locum_token history[HISTORY], token;
    locum_error error;
    uint32_t count = 0;
    fill(logits, shape);
    for (int i = 0; i < HISTORY; i++)
        history[i] = i % 13 * 5;
    struct sample_input input = {.logits = logits, .history = {history, HISTORY, NULL, 0}};
    struct sample_mirostat state = sample_mirostat_begin(s);
    assert_int_equal(sampler_draw(sampler, s, &state, &input, &token, &error), LOCUM_OK);
    struct sample_candidates found = sampler_candidates(sampler);
    if (found.count == 0) { // greedy without a list
        out[0] = (struct chance){token, 1};
        return 1;
    }
    for (uint32_t i = 0; i < found.count; i++) {
        if (found.probabilities[i] > 1e-30f)
            out[count++] = (struct chance){found.ids[i], found.probabilities[i]};
    }
    qsort(out, count, sizeof *out, better);
    return count;
}

static void compare(const struct chance *ours, uint32_t count, char *stored, const char *what) {
    char *rest;
    uint32_t theirs = (uint32_t)strtoul(stored, &rest, 10);
    if (theirs != count) fail_msg("%s: %u candidates, llama.cpp leaves %u", what, count, theirs);
    for (uint32_t i = 0; i < count; i++) {
        if (count > SHOWN + SHOWN_LAST && i >= SHOWN && i < count - SHOWN_LAST) continue;
        long id = strtol(rest, &rest, 10);
        double p = strtod(rest, &rest);
        double off = fabs((double)ours[i].p - p);
        if (id != ours[i].id || off > 2e-5 * p + 1e-30)
            fail_msg("%s: number %u is %d with %.7g, llama.cpp has %ld with %.7g", what, i,
                     ours[i].id, (double)ours[i].p, id, p);
    }
}

static void stages_leave_what_llama_cpp_leaves(void **state) {
    (void)state;
    struct kernels_table kernels;
    struct sampler *sampler;
    static struct chance ours[TOKENS];
    static char words[LINE], what[LINE], stored[LINE];
    assert_true(kernels_init(&kernels, KERNELS_TIER_REF, &(struct kernels_cpu){0}));
    assert_int_equal(sampler_create(TOKENS, HISTORY, &kernels, &sampler, NULL), LOCUM_OK);
    FILE *file = fopen(LOCUM_SOURCE_DIR "/tests/sample/llama_cpp.txt", "r");
    assert_non_null(file);
    int cases = 0;
    while (fgets(words, LINE, file)) {
        int shape;
        memcpy(what, words, LINE);
        what[strcspn(what, "\n")] = 0;
        assert_non_null(fgets(stored, LINE, file));
        struct sample_settings s = settings_of(words, &shape);
        compare(ours, run(sampler, &s, shape, ours), stored, what);
        cases++;
    }
    fclose(file);
    assert_int_equal(cases, CASES);
    sampler_destroy(sampler);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(stages_leave_what_llama_cpp_leaves)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
