// SPDX-License-Identifier: Apache-2.0
#include "sample/sample_mirostat.h"

#include "kernels/kmath.h"

static const double ln2 = 0x1.62e42fefa39efp-1;

struct sample_mirostat sample_mirostat_begin(const struct sample_settings *settings) {
    return (struct sample_mirostat){2 * settings->mirostat_tau};
}

// The exponent of Zipf's law that the likeliest candidates follow, by least squares over the ratios of
// neighbours.
static double zipf_exponent(struct sample_list *list) {
    enum { LOOKED_AT = 100 };
    uint32_t count = list->count < LOOKED_AT ? list->count : LOOKED_AT;
    double products = 0, squares = 0;
    sample_list_select(list, count);
    for (uint32_t i = 0; i + 1 < count; i++) {
        float better = sample_list_key_logit(list->keys[i]);
        float next = sample_list_key_logit(list->keys[i + 1]);
        if (next == -INFINITY) break;
        double t = kmath_log((double)(i + 2) / (i + 1));
        double b = (double)better - (double)next; // ln of the ratio of their probabilities
        products += t * b;
        squares += t * t;
    }
    return products / squares;
}

// k = ((s - 1) 2^mu / (1 - N^(1 - s)))^(1/s), as a logarithm so that nothing is too large on the way.
static uint32_t candidates_for(float mu, double s, uint32_t vocabulary, uint32_t count) {
    double power = kmath_pow((double)vocabulary, 1 - s);
    double ratio = (s - 1) / (1 - power);
    if (!(ratio > 0)) return 1;
    double log_k = (kmath_log(ratio) + (double)mu * ln2) / s;
    if (!(log_k > 0)) return 1;
    if (log_k >= kmath_log((double)count)) return count;
    uint32_t k = (uint32_t)kmath_exp_pair((struct kmath_pair){log_k, 0});
    return k > 0 ? k : 1;
}

static void by_count(const struct sample_mirostat *state, struct sample_list *list) {
    if (list->count < 2) return;
    double s = zipf_exponent(list);
    sample_list_keep_best(list, candidates_for(state->mu, s, list->vocabulary, list->count));
}

// Keeps -log2 p <= mu.
static void by_surprise(const struct sample_mirostat *state, struct sample_list *list) {
    double total = sample_list_softmax(list);
    uint32_t best = 0;
    if (!list->sorted) sample_list_best(list, &best);
    double least = (double)list->logits[best] + kmath_log(total) - (double)state->mu * ln2;
    sample_list_keep_above(list, (float)least, 1);
}

void sample_mirostat_apply(const struct sample_mirostat *state,
                           const struct sample_settings *settings, struct sample_list *list) {
    if (settings->mirostat == 1)
        by_count(state, list);
    else
        by_surprise(state, list);
}

void sample_mirostat_learn(struct sample_mirostat *state, const struct sample_settings *settings,
                           double probability) {
    double surprise = -kmath_log(probability) / ln2;
    state->mu -= settings->mirostat_eta * (float)(surprise - (double)settings->mirostat_tau);
}
