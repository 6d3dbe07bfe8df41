// SPDX-License-Identifier: Apache-2.0
#include "sample/sample_list.h"

#include "base/half.h"

#include <float.h>
#include <math.h>
#include <string.h>

// ---- filling -----------------------------------------------------------------------------------
void sample_list_load(struct sample_list *list, const float *logits, const uint64_t *allowed) {
    list->count = list->vocabulary;
    list->all = true;
    list->sorted = false;
    if (!allowed) {
        memcpy(list->logits, logits, list->vocabulary * sizeof *logits);
        return;
    }
    for (uint32_t i = 0; i < list->vocabulary; i++) {
        bool kept = allowed[i / 64] >> i % 64 & 1;
        list->logits[i] = kept ? logits[i] : -INFINITY;
    }
}

bool sample_list_best(const struct sample_list *list, uint32_t *place) {
    size_t best;
    if (!list->kernels->argmax(list->logits, list->count, &best)) return false;
    *place = (uint32_t)best;
    return list->logits[best] <= FLT_MAX;
}

double sample_list_sum(const float *values, uint32_t count) {
    double lane[8] = {0};
    uint32_t i = 0;
    for (; count - i >= 8; i += 8) {
        for (uint32_t j = 0; j < 8; j++)
            lane[j] += (double)values[i + j];
    }
    for (uint32_t j = 0; i < count; i++, j++)
        lane[j] += (double)values[i];
    for (uint32_t width = 4; width > 0; width /= 2) {
        for (uint32_t j = 0; j < width; j++)
            lane[j] += lane[j + width];
    }
    return lane[0];
}

double sample_list_softmax(struct sample_list *list) {
    uint32_t place = 0;
    if (!list->sorted) sample_list_best(list, &place);
    float best = list->logits[place];
    for (uint32_t i = 0; i < list->count; i++)
        list->probabilities[i] = list->logits[i] - best;
    list->kernels->exp(list->probabilities, list->probabilities, list->count);
    return sample_list_sum(list->probabilities, list->count);
}

// ---- keys: what is better has the smaller one ------------------------------------------------------
// The upper half orders floats, the lower half is a place, so that ties go to the earlier one: the lower
// id, or what was sorted before.
static uint64_t key_of(float logit, uint32_t place) {
    uint32_t bits = half_to_bits(logit + 0.0f); // no -0
    bits = bits & 0x80000000u ? bits : ~bits & 0x7fffffffu;
    return (uint64_t)bits << 32 | place;
}

float sample_list_key_logit(uint64_t key) {
    uint32_t bits = (uint32_t)(key >> 32);
    return half_from_bits(bits & 0x80000000u ? bits : ~bits & 0x7fffffffu);
}

// Heaps have the largest key, the worst, on top.
static void sift_down(uint64_t *heap, uint32_t count, uint32_t at) {
    uint64_t moved = heap[at];
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= count) break;
        if (child + 1 < count && heap[child + 1] > heap[child]) child++;
        if (heap[child] <= moved) break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
}

static void make_heap(uint64_t *keys, uint32_t count) {
    for (uint32_t i = count / 2; i-- > 0;)
        sift_down(keys, count, i);
}

// In place and without memory, which qsort may ask for.
static void sort_heap(uint64_t *heap, uint32_t count) {
    while (count > 1) {
        uint64_t worst = heap[0];
        heap[0] = heap[--count];
        heap[count] = worst;
        sift_down(heap, count, 0);
    }
}

// O(n log k) at worst and usually O(n): most logits are worse than the worst of the k best.
void sample_list_select(struct sample_list *list, uint32_t k) {
    for (uint32_t i = 0; i < k; i++)
        list->keys[i] = key_of(list->logits[i], i);
    if (list->sorted || k == 0) return;
    make_heap(list->keys, k);
    float worst = sample_list_key_logit(list->keys[0]);
    for (uint32_t i = k; i < list->count; i++) {
        if (list->logits[i] <= worst) continue; // an equal one has a higher id
        list->keys[0] = key_of(list->logits[i], i);
        sift_down(list->keys, k, 0);
        worst = sample_list_key_logit(list->keys[0]);
    }
    sort_heap(list->keys, k);
}

// ---- selections ------------------------------------------------------------------------------------
static void keep_place(struct sample_list *list, uint32_t place) {
    list->logits[0] = list->logits[place];
    list->ids[0] = sample_list_id(list, place);
    list->count = 1;
    list->all = false;
    list->sorted = true;
}

// The k best, which sample_list_select found, become the list.
static void take_selected(struct sample_list *list, uint32_t k) {
    const uint64_t upper = UINT64_C(0xffffffff00000000);
    for (uint32_t i = 0; i < k; i++) { // ids are read before any is overwritten
        locum_token id = sample_list_id(list, sample_list_key_place(list->keys[i]));
        list->keys[i] = (list->keys[i] & upper) | (uint32_t)id;
    }
    for (uint32_t i = 0; i < k; i++) {
        list->logits[i] = sample_list_key_logit(list->keys[i]);
        list->ids[i] = (locum_token)(uint32_t)list->keys[i];
    }
    list->count = k;
    list->all = false;
    list->sorted = true;
}

void sample_list_sort(struct sample_list *list) {
    list->sorted = false;
    sample_list_select(list, list->count);
    take_selected(list, list->count);
}

void sample_list_keep_best(struct sample_list *list, uint32_t k) {
    uint32_t best;
    if (k >= list->count) return;
    if (k <= 1) {
        if (sample_list_best(list, &best)) keep_place(list, best);
    } else if (list->sorted) {
        list->count = k;
    } else {
        sample_list_select(list, k);
        take_selected(list, k);
    }
}

void sample_list_keep_above(struct sample_list *list, float logit, uint32_t least) {
    uint32_t above = 0, kept = 0;
    for (uint32_t i = 0; i < list->count; i++)
        above += list->logits[i] >= logit;
    if (above < least || above == 0) {
        sample_list_keep_best(list, least);
        return;
    }
    if (above == list->count) return;
    for (uint32_t i = 0; i < list->count; i++) {
        if (!(list->logits[i] >= logit)) continue;
        list->ids[kept] = sample_list_id(list, i);
        list->logits[kept++] = list->logits[i];
    }
    list->count = kept;
    list->all = false;
}

// ---- the smallest set with a probability -----------------------------------------------------------
// Candidates fall into classes (levels) by their distance, in steps of 1/32 up to 32: only the class in which the
// share is reached has to be sorted.
enum { CLASSES = 1024, CLASSES_PER_NAT = 32 };

struct order {
    float best, offset;
};

static float distance(const struct order *order, float logit) {
    return fabsf(order->best - logit + order->offset);
}

static uint32_t class_of(const struct order *order, float logit) {
    float d = distance(order, logit) * CLASSES_PER_NAT;
    return d < CLASSES - 1 ? (uint32_t)d : CLASSES - 1;
}

// Two logits may have one distance: best first needs their own order.
static uint64_t mass_key(const struct order *order, float logit, uint32_t place) {
    return key_of(order->offset == 0 ? logit : -distance(order, logit), place);
}

struct mass {
    double sum[CLASSES];
    uint32_t count[CLASSES];
};

// What is wanted: a probability in the units of the list's, and a number of candidates.
struct want {
    double mass;
    bool strict;
    uint32_t count;
};

static bool enough(const struct want *want, double mass, uint32_t count) {
    return (want->strict ? mass > want->mass : mass >= want->mass) && count >= want->count;
}

static double gather(const struct sample_list *list, const struct order *order,
                     struct mass *classes) {
    double total = 0;
    memset(classes, 0, sizeof *classes);
    for (uint32_t i = 0; i < list->count; i++) {
        uint32_t level = class_of(order, list->logits[i]);
        classes->sum[level] += (double)list->probabilities[i];
        classes->count[level]++;
    }
    for (uint32_t level = 0; level < CLASSES; level++)
        total += classes->sum[level];
    return total;
}

// The last key of a level that is wanted, after `mass` and `count` of the classes before it.
static uint64_t last_key(struct sample_list *list, const struct order *order, uint32_t level,
                         const struct want *want, double mass, uint32_t count) {
    uint32_t found = 0, i = 0;
    for (uint32_t place = 0; place < list->count; place++) {
        if (class_of(order, list->logits[place]) == level)
            list->keys[found++] = mass_key(order, list->logits[place], place);
    }
    make_heap(list->keys, found);
    sort_heap(list->keys, found);
    for (; i < found; i++) {
        mass += (double)list->probabilities[sample_list_key_place(list->keys[i])];
        if (enough(want, mass, count + i + 1)) break;
    }
    return list->keys[i < found ? i : found - 1];
}

// Most often a few of the best have the share: then nothing else is looked at.
static bool keep_few(struct sample_list *list, const struct want *want) {
    enum { FEW = 256 };
    uint32_t few = list->count < FEW ? list->count : FEW;
    double mass = 0;
    sample_list_select(list, few);
    for (uint32_t i = 0; i < few; i++) {
        mass += (double)list->probabilities[sample_list_key_place(list->keys[i])];
        if (!enough(want, mass, i + 1)) continue;
        take_selected(list, i + 1);
        return true;
    }
    return false;
}

void sample_list_keep_mass(struct sample_list *list, float offset, double share, bool strict,
                           uint32_t least) {
    struct mass classes;
    uint32_t place = 0, level = 0, count = 0, kept = 0;
    double mass = 0;
    if (!list->sorted) sample_list_best(list, &place);
    struct want want = {share * sample_list_softmax(list), strict, least > 0 ? least : 1};
    struct order order = {list->logits[place], offset};
    if (offset == 0 && keep_few(list, &want)) return;
    want.mass = share * gather(list, &order, &classes);
    while (!enough(&want, mass + classes.sum[level], count + classes.count[level])) {
        mass += classes.sum[level];
        count += classes.count[level];
        if (++level == CLASSES) return; // all of them
    }
    uint64_t last = last_key(list, &order, level, &want, mass, count);
    for (uint32_t i = 0; i < list->count; i++) {
        float logit = list->logits[i];
        uint32_t own = class_of(&order, logit);
        if (own > level || (own == level && mass_key(&order, logit, i) > last)) continue;
        list->ids[kept] = sample_list_id(list, i);
        list->logits[kept++] = logit;
    }
    list->count = kept;
    list->all = false;
}

// ---- numbers beside tokens ---------------------------------------------------------------------------
// The lower half of a token's key holds its place, unless the list is in the order of ids; what a token
// that is not in the list has there points to another token or beyond the list.
void sample_list_index(struct sample_list *list) {
    if (list->all) return;
    for (uint32_t i = 0; i < list->count; i++)
        list->keys[list->ids[i]] = i;
}

uint32_t sample_list_place_of(const struct sample_list *list, locum_token token) {
    uint32_t place = (uint32_t)list->keys[token];
    if (list->all) return (uint32_t)token;
    return place < list->count && list->ids[place] == token ? place : SAMPLE_LIST_ABSENT;
}

// ---- the draw ----------------------------------------------------------------------------------------
// Sums of blocks find the block, one number after the other the place.
enum { BLOCK = 1024 };

static uint32_t block_size(const struct sample_list *list, uint32_t begin) {
    return list->count - begin < BLOCK ? list->count - begin : BLOCK;
}

uint32_t sample_list_draw(const struct sample_list *list, double unit) {
    const float *p = list->probabilities;
    double total = 0;
    uint32_t begin = 0, last = 0;
    for (uint32_t i = 0; i < list->count; i += BLOCK)
        total += sample_list_sum(p + i, block_size(list, i));
    double point = unit * total;
    for (; begin < list->count; begin += BLOCK) {
        double sum = sample_list_sum(p + begin, block_size(list, begin));
        if (point < sum) break;
        point -= sum;
    }
    // Rounding may leave the point behind the last number of a block, or of all.
    if (begin >= list->count) {
        for (last = list->count - 1; !(p[last] > 0);)
            last--; // the best has 1
        return last;
    }
    for (uint32_t i = begin; i < begin + block_size(list, begin); i++) {
        if (p[i] > 0) last = i;
        point -= (double)p[i];
        if (point < 0) return i;
    }
    return last;
}
