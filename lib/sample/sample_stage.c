// SPDX-License-Identifier: Apache-2.0
//
// The meaning of each stage, and what it does when others left odd lists, follows llama.cpp; the arithmetic
// is our own (docs/sampling.md).
#include "sample/sample_stage.h"

#include "kernels/kmath.h"
#include "sample/sample_dry.h"
#include "sample/sample_rng.h"

#include <float.h>
#include <math.h>

static uint32_t at_least(const struct sample_settings *settings) {
    return settings->min_keep > 0 ? (uint32_t)settings->min_keep : 0;
}

// ---- penalties -------------------------------------------------------------------------------------
static uint32_t window_of(int32_t last, const struct sample_history *history) {
    uint32_t count = sample_history_count(history);
    return last < 0 || (uint32_t)last > count ? count : (uint32_t)last;
}

static bool penalties_on(const struct sample_settings *s) {
    return s->penalty_last_n != 0 &&
           (s->repeat_penalty != 1 || s->frequency_penalty != 0 || s->presence_penalty != 0);
}

static float penalised(const struct sample_settings *s, float logit, uint32_t times) {
    // A negative logit is multiplied: dividing would make the token likelier.
    logit = logit <= 0 ? logit * s->repeat_penalty : logit / s->repeat_penalty;
    return logit - ((float)times * s->frequency_penalty + s->presence_penalty);
}

static void penalties(const struct sample_stage_input *in) {
    struct sample_list *list = in->list;
    uint32_t window = window_of(in->settings->penalty_last_n, in->history);
    sample_list_index(list);
    for (uint32_t i = 0; i < window; i++)
        sample_list_set_note(list, sample_history_at(in->history, i), 0);
    for (uint32_t i = 0; i < window; i++) {
        locum_token token = sample_history_at(in->history, i);
        sample_list_set_note(list, token, sample_list_note(list, token) + 1);
    }
    for (uint32_t i = 0; i < window; i++) {
        locum_token token = sample_history_at(in->history, i);
        uint32_t times = sample_list_note(list, token);
        uint32_t place = sample_list_place_of(list, token);
        if (times == 0 || place == SAMPLE_LIST_ABSENT) continue;
        list->logits[place] = penalised(in->settings, list->logits[place], times);
        sample_list_set_note(list, token, 0); // once for each token
    }
    if (list->sorted) sample_list_sort(list);
}

// ---- truncations -------------------------------------------------------------------------------------
static bool top_n_sigma_on(const struct sample_settings *s) {
    return s->top_n_sigma > 0;
}

// Candidates that fall away stay in the list without a chance, as in llama.cpp, which counts them where a
// later stage looks at the length of the list.
static void top_n_sigma(const struct sample_stage_input *in) {
    struct sample_list *list = in->list;
    uint32_t best, count = 0;
    if (list->count < 2 || !sample_list_best(list, &best)) return;
    for (uint32_t i = 0; i < list->count; i++) {
        bool there = list->logits[i] != -INFINITY;
        list->probabilities[i] = there ? list->logits[i] : 0;
        count += there;
    }
    double mean = sample_list_sum(list->probabilities, list->count) / count;
    for (uint32_t i = 0; i < list->count; i++) {
        float off = list->logits[i] - (float)mean;
        list->probabilities[i] = list->logits[i] != -INFINITY ? off * off : 0;
    }
    double squares = sample_list_sum(list->probabilities, list->count);
    float least = (float)((double)list->logits[best] -
                          (double)in->settings->top_n_sigma * sqrt(squares / count));
    for (uint32_t i = 0; i < list->count; i++) {
        float logit = list->logits[i];
        list->logits[i] = logit < least ? -INFINITY : logit;
    }
}

static bool top_k_on(const struct sample_settings *s) {
    return s->top_k > 0;
}

static void top_k(const struct sample_stage_input *in) {
    sample_list_keep_best(in->list, (uint32_t)in->settings->top_k);
}

// Sum of -p ln p. total: what sample_list_softmax gave.
static double entropy_of(const struct sample_list *list, double total) {
    double sum = 0;
    uint32_t best = 0;
    if (!list->sorted) sample_list_best(list, &best);
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->probabilities[i] > 0)
            sum += (double)list->probabilities[i] * (double)(list->logits[best] - list->logits[i]);
    }
    return kmath_log(total) + sum / total;
}

static bool typical_p_on(const struct sample_settings *s) {
    return s->typical_p < 1;
}

static void typical_p(const struct sample_stage_input *in) {
    double total = sample_list_softmax(in->list);
    // -ln p = ln total + best - logit; what counts is its distance from the entropy
    double offset = kmath_log(total) - entropy_of(in->list, total);
    sample_list_keep_mass(in->list, (float)offset, (double)in->settings->typical_p, true,
                          at_least(in->settings));
}

static bool top_p_on(const struct sample_settings *s) {
    return s->top_p < 1;
}

static void top_p(const struct sample_stage_input *in) {
    sample_list_keep_mass(in->list, 0, (double)in->settings->top_p, false, at_least(in->settings));
}

static bool min_p_on(const struct sample_settings *s) {
    return s->min_p > 0;
}

static void min_p(const struct sample_stage_input *in) {
    uint32_t best = 0;
    if (!in->list->sorted) sample_list_best(in->list, &best);
    float least = in->list->logits[best] + (float)kmath_log((double)in->settings->min_p);
    sample_list_keep_above(in->list, least, at_least(in->settings));
}

static bool xtc_on(const struct sample_settings *s) {
    return s->xtc_probability > 0 && s->xtc_threshold <= 0.5f;
}

// Of those that reach the threshold only the least likely one stays.
static void xtc(const struct sample_stage_input *in) {
    struct sample_list *list = in->list;
    const struct sample_settings *s = in->settings;
    if (list->count < 2) return;
    if (sample_rng_chance(s->seed, s->sequence, in->position) >= (double)s->xtc_probability) return;
    double least = sample_list_softmax(list) * (double)s->xtc_threshold;
    uint32_t reached = 0, last = 0, kept = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        if ((double)list->probabilities[i] < least) continue;
        // the later one of two equal ones is the worse one
        if (reached++ == 0 || list->logits[i] <= list->logits[last]) last = i;
    }
    if (reached < 2 || list->count - (reached - 1) < at_least(s)) return;
    for (uint32_t i = 0; i < list->count; i++) {
        if ((double)list->probabilities[i] >= least && i != last) continue;
        list->ids[kept] = sample_list_id(list, i);
        list->logits[kept++] = list->logits[i];
    }
    list->count = kept;
    list->all = false;
}

// ---- temperature -------------------------------------------------------------------------------------
bool sample_stage_is_greedy(float temperature) {
    return !(temperature > 0) || 1.0f / temperature > FLT_MAX;
}

void sample_stage_heat(struct sample_list *list, float temperature) {
    uint32_t best = 0;
    if (sample_stage_is_greedy(temperature)) {
        sample_list_keep_best(list, 1);
        return;
    }
    if (temperature == 1) return;
    if (!list->sorted) sample_list_best(list, &best);
    // Differences are all that counts, except for penalties that come later; where they would be too large
    // as they are, they are taken first.
    float shift = fabsf(list->logits[best] / temperature) < 1e30f ? 0 : list->logits[best];
    for (uint32_t i = 0; i < list->count; i++)
        list->logits[i] = (list->logits[i] - shift) / temperature;
}

static bool temperature_on(const struct sample_settings *s) {
    return s->temperature != 1 || s->dynatemp_range > 0;
}

static double power(double x, double y) {
    if (x <= 0) return y > 0 ? 0 : 1;
    double value = kmath_pow(x, y);
    return value >= 0 ? value : 0; // too small for it
}

// Between temperature - range and temperature + range, by how open the choice is.
static void temperature(const struct sample_stage_input *in) {
    const struct sample_settings *s = in->settings;
    float chosen = s->temperature;
    if (s->dynatemp_range > 0) {
        if (in->list->count < 2) return;
        double total = sample_list_softmax(in->list);
        double open = entropy_of(in->list, total) / kmath_log((double)in->list->count);
        double least = (double)(s->temperature - s->dynatemp_range);
        double most = (double)(s->temperature + s->dynatemp_range);
        if (least < 0) least = 0;
        chosen = (float)(least + (most - least) * power(open, (double)s->dynatemp_exponent));
    }
    sample_stage_heat(in->list, chosen);
}

const struct sample_stage_entry sample_stage_table[SAMPLE_STAGES] = {
    [SAMPLE_PENALTIES] = {penalties_on, penalties, false, true},
    [SAMPLE_DRY] = {sample_dry_is_on, sample_dry_apply, false, true},
    [SAMPLE_TOP_N_SIGMA] = {top_n_sigma_on, top_n_sigma, true, false},
    [SAMPLE_TOP_K] = {top_k_on, top_k, true, false},
    [SAMPLE_TYPICAL_P] = {typical_p_on, typical_p, false, false},
    [SAMPLE_TOP_P] = {top_p_on, top_p, true, false},
    [SAMPLE_MIN_P] = {min_p_on, min_p, true, false},
    [SAMPLE_XTC] = {xtc_on, xtc, false, false},
    [SAMPLE_TEMPERATURE] = {temperature_on, temperature, true, false},
};
