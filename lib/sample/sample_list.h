// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the list of candidates that the stages work on: logits, ids, probabilities; selection
//            without sorting, softmax, the draw.
// Called by: sample, sample_stage, sample_mirostat, sample_logprob.
// Threads:   one list per thread.
// Errors:    none: what is no number is found by sample_list_best.
// Not here:  what is selected and why.
//
// Better means: the larger logit, then the lower id. The order is total, so that every way to select
// gives the same. The list is in ascending id, or sorted, best first; a selection keeps the order or
// sorts. -infinity is a candidate that cannot be drawn.
//
// Sums are in double, in eight lanes (lane = index mod 8) and a halving tree: the same bits everywhere.
#ifndef SAMPLE_LIST_H
#define SAMPLE_LIST_H

#include "kernels/kernels.h"
#include "sample/sample_settings.h"

struct sample_list {
    const struct kernels_table *kernels;
    uint32_t vocabulary;
    uint32_t count;
    bool all;             // every token is there, at the place of its id: ids holds nothing
    bool sorted;          // else in ascending id
    float *logits;        // [vocabulary]
    float *probabilities; // [vocabulary]; see sample_list_softmax
    locum_token *ids;     // [vocabulary]
    uint64_t *keys;       // [vocabulary], for selections; or notes, see sample_list_index
};

// One row of logits. allowed: a bit for each token, those without become -infinity; NULL: all.
void sample_list_load(struct sample_list *list, const float *logits, const uint64_t *allowed);
static inline locum_token sample_list_id(const struct sample_list *list, uint32_t place) {
    return list->all ? (locum_token)place : list->ids[place];
}
// The place of the best. false: a NaN, +infinity, or nothing above -infinity.
bool sample_list_best(const struct sample_list *list, uint32_t *place);
// probabilities[i] = exp(logit - best logit), not divided by their sum, which is returned.
double sample_list_softmax(struct sample_list *list);
// Of float numbers, as above.
double sample_list_sum(const float *values, uint32_t count);

// keys[0..k-1] become those of the k best, best first; the list stays. k <= count.
void sample_list_select(struct sample_list *list, uint32_t k);
float sample_list_key_logit(uint64_t key);
// With sample_list_select the place in the list.
static inline uint32_t sample_list_key_place(uint64_t key) {
    return (uint32_t)key;
}

void sample_list_sort(struct sample_list *list);
// At least one stays.
void sample_list_keep_best(struct sample_list *list, uint32_t k);
// At least `least` stay, the best ones.
void sample_list_keep_above(struct sample_list *list, float logit, uint32_t least);
// The smallest set whose probability is at least (strict: above) `share`, taken in order of
// |best logit - logit + offset| (offset 0: best first); at least `least`, and one.
void sample_list_keep_mass(struct sample_list *list, float offset, double share, bool strict,
                           uint32_t least);

// A number beside each token, from 0. sample_list_index begins: until the next selection `place_of` tells
// where a token stands, and `note` gives its number for reading and writing, once it was set.
#define SAMPLE_LIST_ABSENT UINT32_MAX
void sample_list_index(struct sample_list *list);
uint32_t sample_list_place_of(const struct sample_list *list, locum_token token);
static inline uint32_t sample_list_note(const struct sample_list *list, locum_token token) {
    return (uint32_t)(list->keys[token] >> 32);
}
static inline void sample_list_set_note(struct sample_list *list, locum_token token,
                                        uint32_t note) {
    list->keys[token] = (uint64_t)note << 32 | (uint32_t)list->keys[token];
}

// After sample_list_softmax: the place where a number of [0, 1) falls.
uint32_t sample_list_draw(const struct sample_list *list, double unit);

#endif
