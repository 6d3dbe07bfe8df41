// SPDX-License-Identifier: Apache-2.0
#include "sample/sample.h"

#include "base/arena.h"
#include "base/check.h"
#include "kernels/kmath.h"
#include "sample/sample_rng.h"

#include <string.h>

struct sampler {
    struct sample_list list;
    uint32_t window;
    uint32_t *repeats; // [window]
};

// ---- making ------------------------------------------------------------------------------------
uint64_t sampler_bytes(uint32_t vocabulary, uint32_t window) {
    const struct sample_list *list;
    uint64_t token =
        sizeof *list->keys + sizeof *list->logits + sizeof *list->probabilities + sizeof *list->ids;
    return sizeof(struct sampler) + vocabulary * token + (uint64_t)window * sizeof(uint32_t);
}

locum_status sampler_create(uint32_t vocabulary, uint32_t window,
                            const struct kernels_table *kernels, struct sampler **out,
                            locum_error *error) {
    size_t bytes = (size_t)sampler_bytes(vocabulary, window);
    struct sampler *sampler = heap_resize(NULL, bytes);
    if (!sampler)
        return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for sampling %u tokens",
                           vocabulary);
    memset(sampler, 0, bytes); // also takes the memory now: drawing must not
    struct sample_list *list = &sampler->list;
    list->kernels = kernels;
    list->vocabulary = vocabulary;
    list->keys = (uint64_t *)(sampler + 1);
    list->logits = (float *)(list->keys + vocabulary);
    list->probabilities = list->logits + vocabulary;
    list->ids = (locum_token *)(list->probabilities + vocabulary);
    sampler->repeats = (uint32_t *)(list->ids + vocabulary);
    sampler->window = window;
    *out = sampler;
    return LOCUM_OK;
}

void sampler_destroy(struct sampler *sampler) {
    heap_free(sampler);
}

// ---- drawing -----------------------------------------------------------------------------------
// A chain of its own: mirostat takes the place of the truncations.
static struct sample_chain chain_of(const struct sample_settings *settings) {
    if (settings->mirostat == 0) return settings->chain;
    return (struct sample_chain){.count = 1, .stages = {SAMPLE_TEMPERATURE}};
}

// Nothing can be drawn but the best: what the stages before the temperature may do is all that counts.
static bool is_greedy(const struct sample_settings *settings, const struct sample_chain *chain) {
    if (settings->dynatemp_range > 0 || !sample_stage_is_greedy(settings->temperature))
        return false;
    for (uint32_t i = 0; i < chain->count; i++) {
        if (chain->stages[i] == SAMPLE_TEMPERATURE) return true;
    }
    return false;
}

static bool has_work(const struct sample_settings *settings, enum sample_stage stage, bool greedy) {
    const struct sample_stage_entry *entry = &sample_stage_table[stage];
    return entry->is_on(settings) && !(greedy && entry->keeps_best);
}

// Greedy, and nothing can make another token the best.
static bool is_argmax(const struct sample_settings *settings, const struct sample_chain *chain,
                      const struct sample_input *input) {
    if (!is_greedy(settings, chain) || input->allowed || settings->bias_count > 0 ||
        settings->mirostat)
        return false;
    for (uint32_t i = 0; i < chain->count; i++) {
        if (has_work(settings, (enum sample_stage)chain->stages[i], true)) return false;
    }
    return true;
}

static locum_status excluded(uint32_t position, locum_error *error) {
    return status_fail(error, LOCUM_E_NUMERIC,
                       "no token can be drawn at position %u: grammar, biases or penalties exclude "
                       "all of them",
                       position);
}

static locum_status load(struct sample_list *list, const struct sample_settings *settings,
                         const struct sample_input *input, locum_error *error) {
    uint32_t best;
    sample_list_load(list, input->logits, input->allowed);
    for (size_t i = 0; i < settings->bias_count; i++)
        list->logits[settings->biases[i].token] += settings->biases[i].bias;
    if (!input->allowed && settings->bias_count == 0) return LOCUM_OK; // looked at before
    return sample_list_best(list, &best) ? LOCUM_OK : excluded(input->position, error);
}

static locum_status run_stages(struct sampler *sampler, const struct sample_settings *settings,
                               const struct sample_chain *chain, const struct sample_input *input,
                               locum_error *error) {
    struct sample_list *list = &sampler->list;
    bool greedy = is_greedy(settings, chain);
    struct sample_stage_input in = {
        list, settings, &input->history, input->position, sampler->repeats, sampler->window};
    for (uint32_t i = 0; i < chain->count; i++) {
        enum sample_stage stage = (enum sample_stage)chain->stages[i];
        uint32_t best;
        if (stage != SAMPLE_TEMPERATURE && !has_work(settings, stage, greedy)) continue;
        sample_stage_table[stage].apply(&in);
        if (sample_stage_table[stage].changes_logits && !sample_list_best(list, &best))
            return excluded(input->position, error);
    }
    return LOCUM_OK;
}

locum_status sampler_draw(struct sampler *sampler, const struct sample_settings *settings,
                          struct sample_mirostat *state, const struct sample_input *input,
                          locum_token *out, locum_error *error) {
    struct sample_list *list = &sampler->list;
    struct sample_chain chain = chain_of(settings);
    size_t best;
    list->count = 0;
    if (!list->kernels->argmax(input->logits, list->vocabulary, &best) ||
        input->logits[best] == INFINITY) {
        return status_fail(error, LOCUM_E_NUMERIC,
                           "the logits at position %u hold a value that is not a number or "
                           "infinite, or no value at all",
                           input->position);
    }
    if (is_argmax(settings, &chain, input)) {
        *out = (locum_token)best;
        return LOCUM_OK;
    }
    STATUS_TRY(load(list, settings, input, error));
    STATUS_TRY(run_stages(sampler, settings, &chain, input, error));
    if (settings->mirostat) sample_mirostat_apply(state, settings, list);
    LOCUM_ASSERT(list->count > 0);
    double total = sample_list_softmax(list);
    double unit = sample_rng_unit(settings->seed, settings->sequence, input->position);
    uint32_t place = sample_list_draw(list, unit);
    *out = sample_list_id(list, place);
    if (settings->mirostat)
        sample_mirostat_learn(state, settings, (double)list->probabilities[place] / total);
    return LOCUM_OK;
}

// ---- what else a row says ------------------------------------------------------------------------
void sampler_logprobs(struct sampler *sampler, const float *logits, locum_token token, float *own,
                      locum_logprob *top, uint32_t count) {
    struct sample_list *list = &sampler->list;
    uint32_t best = 0;
    sample_list_load(list, logits, NULL);
    sample_list_best(list, &best);
    double log_total = (double)logits[best] + kmath_log(sample_list_softmax(list));
    *own = (float)((double)logits[token] - log_total);
    LOCUM_ASSERT(count <= list->count);
    sample_list_select(list, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t id = sample_list_key_place(list->keys[i]);
        top[i] = (locum_logprob){(locum_token)id, (float)((double)logits[id] - log_total)};
    }
}

struct sample_candidates sampler_candidates(struct sampler *sampler) {
    struct sample_list *list = &sampler->list;
    for (uint32_t i = 0; i < list->count; i++)
        list->ids[i] = sample_list_id(list, i);
    list->all = false;
    float total = (float)sample_list_sum(list->probabilities, list->count);
    for (uint32_t i = 0; i < list->count; i++)
        list->probabilities[i] /= total;
    return (struct sample_candidates){list->count, list->ids, list->probabilities};
}
