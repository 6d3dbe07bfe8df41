// SPDX-License-Identifier: Apache-2.0
#include "sample/sample.h"

#include "base/arena.h"
#include "base/check.h"
#include "sample/sample_rng.h"

#include <float.h>
#include <math.h>
#include <string.h>

struct sampler {
    const struct kernels_table *kernels;
    uint32_t vocabulary;
    uint32_t count;                      // candidates, best first
    struct sample_candidate *candidates; // [vocabulary]
    float *probabilities;                // [vocabulary]
};

uint64_t sampler_bytes(uint32_t vocabulary) {
    return sizeof(struct sampler) +
           (uint64_t)vocabulary * (sizeof(struct sample_candidate) + sizeof(float));
}

locum_status sampler_create(uint32_t vocabulary, const struct kernels_table *kernels,
                            struct sampler **out, locum_error *error) {
    struct sampler *sampler = heap_resize(NULL, (size_t)sampler_bytes(vocabulary));
    if (!sampler)
        return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for sampling %u tokens",
                           vocabulary);
    struct sample_candidate *candidates = (struct sample_candidate *)(sampler + 1);
    *sampler = (struct sampler){.kernels = kernels,
                                .vocabulary = vocabulary,
                                .candidates = candidates,
                                .probabilities = (float *)(candidates + vocabulary)};
    *out = sampler;
    return LOCUM_OK;
}

void sampler_destroy(struct sampler *sampler) {
    heap_free(sampler);
}

uint32_t sampler_candidates(const struct sampler *sampler,
                            const struct sample_candidate **candidates,
                            const float **probabilities) {
    *candidates = sampler->candidates;
    *probabilities = sampler->probabilities;
    return sampler->count;
}

// ---- the list of candidates -------------------------------------------------------------------------
// Best first: the larger logit, then the lower id. A total order, so any algorithm gives the same list.
static bool better(const struct sample_candidate *a, const struct sample_candidate *b) {
    return a->logit != b->logit ? a->logit > b->logit : a->id < b->id;
}

static void swap(struct sample_candidate *a, struct sample_candidate *b) {
    struct sample_candidate kept = *a;
    *a = *b;
    *b = kept;
}

// Heaps have the worst on top.
static void sift_down(struct sample_candidate *heap, uint32_t count, uint32_t at) {
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= count) return;
        if (child + 1 < count && better(&heap[child], &heap[child + 1])) child++;
        if (!better(&heap[at], &heap[child])) return;
        swap(&heap[at], &heap[child]);
        at = child;
    }
}

// From a heap to best first, in place: qsort may ask for memory.
static void sort_heap(struct sample_candidate *heap, uint32_t count) {
    while (count > 1) {
        swap(&heap[0], &heap[--count]);
        sift_down(heap, count, 0);
    }
}

// O(n log k) and usually O(n): most logits are worse than the worst of the k best.

static void keep_best(struct sampler *s, const float *logits, uint32_t k) {
    struct sample_candidate *heap = s->candidates;
    for (uint32_t i = 0; i < k; i++)
        heap[i] = (struct sample_candidate){logits[i], (locum_token)i};
    for (uint32_t i = k / 2; i-- > 0;)
        sift_down(heap, k, i);
    for (uint32_t i = k; i < s->vocabulary; i++) {
        if (logits[i] <= heap[0].logit) continue; // an equal one has a higher id: worse
        heap[0] = (struct sample_candidate){logits[i], (locum_token)i};
        sift_down(heap, k, 0);
    }
    sort_heap(heap, k);
    s->count = k;
}

// Softmax over the candidates at temperature 1 / scale, added best first.
static void normalise(struct sampler *s, float scale) {
    float best = s->candidates[0].logit;
    for (uint32_t i = 0; i < s->count; i++)
        s->probabilities[i] = (s->candidates[i].logit - best) * scale;
    s->kernels->exp(s->probabilities, s->probabilities, s->count);
    float sum = 0;
    for (uint32_t i = 0; i < s->count; i++)
        sum += s->probabilities[i];
    for (uint32_t i = 0; i < s->count; i++)
        s->probabilities[i] /= sum;
}

// ---- the stages -------------------------------------------------------------------------------------
static void stage_top_k(struct sampler *s, const struct sample_settings *settings,
                        const float *logits) {
    bool off = settings->top_k <= 0 || (uint32_t)settings->top_k >= s->vocabulary;
    keep_best(s, logits, off ? s->vocabulary : (uint32_t)settings->top_k);
}

static void stage_top_p(struct sampler *s, const struct sample_settings *settings,
                        const float *logits) {
    (void)logits;
    if (settings->top_p >= 1) return;
    normalise(s, 1);
    float sum = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        sum += s->probabilities[i];
        if (sum >= settings->top_p) {
            s->count = i + 1; // at least one stays, also for top_p 0
            return;
        }
    }
}

static void stage_min_p(struct sampler *s, const struct sample_settings *settings,
                        const float *logits) {
    (void)logits;
    if (settings->min_p <= 0) return;
    normalise(s, 1);
    float least = settings->min_p * s->probabilities[0];
    uint32_t kept = 1;
    while (kept < s->count && s->probabilities[kept] >= least)
        kept++;
    s->count = kept;
}

static void stage_temperature(struct sampler *s, const struct sample_settings *settings,
                              const float *logits) {
    (void)logits;
    normalise(s, 1.0f / settings->temperature);
}

typedef void (*stage_fn)(struct sampler *s, const struct sample_settings *settings,
                         const float *logits);
static const stage_fn stages[] = {stage_top_k, stage_top_p, stage_min_p, stage_temperature};

static locum_token draw(const struct sampler *s, const struct sample_settings *settings,
                        uint32_t position) {
    double total = 0;
    for (uint32_t i = 0; i < s->count; i++)
        total += (double)s->probabilities[i];
    double point = sample_rng_unit(settings->seed, settings->sequence, position) * total, sum = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        sum += (double)s->probabilities[i];
        if (point < sum) return s->candidates[i].id;
    }
    return s->candidates[0].id; // rounding of the sum: point == total cannot be told from the end
}

locum_status sampler_draw(struct sampler *sampler, const struct sample_settings *settings,
                          const float *logits, uint32_t position, locum_token *out,
                          locum_error *error) {
    size_t best;
    sampler->count = 0;
    if (!sampler->kernels->argmax(logits, sampler->vocabulary, &best) || logits[best] > FLT_MAX) {
        return status_fail(error, LOCUM_E_NUMERIC,
                           "the logits at position %u hold a value that is not a number or "
                           "infinite, or no value at all",
                           position);
    }
    if (!(settings->temperature > 0) || 1.0f / settings->temperature > FLT_MAX) {
        *out = (locum_token)best;
        return LOCUM_OK;
    }
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
        stages[i](sampler, settings, logits);
    LOCUM_ASSERT(sampler->count > 0);
    *out = draw(sampler, settings, position);
    return LOCUM_OK;
}
