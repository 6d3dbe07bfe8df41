// SPDX-License-Identifier: Apache-2.0
#include "kernels/kernels_route.h"

#include "base/check.h"
#include "kernels/kmath.h"
#include "kernels/lanes.h"

#include <math.h>

// Softmax in place.
static void softmax(float *x, size_t n) {
    float largest = x[0];
    for (size_t i = 1; i < n; i++) largest = x[i] > largest ? x[i] : largest;
    for (size_t i = 0; i < n; i++) x[i] = kmath_exp(x[i] - largest);
    float sum = lanes_sum(x, n);
    for (size_t i = 0; i < n; i++) x[i] /= sum;
}

// scratch := what experts are weighted by (logits, for softmax_selected).
static bool probabilities(const struct kernels_route *route, const float *logits, float *scratch) {
    for (uint32_t i = 0; i < route->experts; i++) {
        if (!isfinite(logits[i])) return false;
        bool sigmoid = route->gating == KERNELS_GATING_SIGMOID && !route->by_logits;
        scratch[i] = sigmoid ? kmath_sigmoid(logits[i]) : logits[i];
    }
    if (route->gating == KERNELS_GATING_SOFTMAX) softmax(scratch, route->experts);
    return true;
}

static float selection(const struct kernels_route *route, const float *scratch, uint32_t expert) {
    return route->bias ? scratch[expert] + route->bias[expert] : scratch[expert];
}

static float group_score(const struct kernels_route *route, const float *scratch, uint32_t group) {
    uint32_t size = route->experts / route->groups;
    float best = -INFINITY, second = -INFINITY;
    for (uint32_t i = group * size; i < (group + 1) * size; i++) {
        float value = selection(route, scratch, i);
        second = value > best ? best : value > second ? value : second;
        best = value > best ? value : best;
    }
    return route->group_best_two ? best + second : best;
}

// open[g], false before: the experts of group g can be chosen.
static void open_groups(const struct kernels_route *route, const float *scratch, bool *open) {
    float scores[KERNELS_GROUPS_MAX];
    for (uint32_t g = 0; g < route->groups; g++)
        scores[g] = group_score(route, scratch, g);
    for (uint32_t k = 0; k < route->groups_used; k++) {
        uint32_t best = route->groups;
        for (uint32_t g = 0; g < route->groups; g++)
            if (!open[g] && (best == route->groups || scores[g] > scores[best])) best = g;
        open[best] = true;
    }
}

// ids := the experts with the largest values, best first; an equal one that comes later stays
// behind. chosen: the values, [used].
static void choose(const struct kernels_route *route, const float *scratch, uint32_t *ids,
                   float *chosen) {
    bool open[KERNELS_GROUPS_MAX] = {false};
    uint32_t count = 0, size = route->groups > 1 ? route->experts / route->groups : 0;
    if (size) open_groups(route, scratch, open);
    for (uint32_t i = 0; i < route->experts; i++) {
        if (size && !open[i / size]) continue;
        float value = selection(route, scratch, i);
        if (count == route->used && !(value > chosen[count - 1])) continue;
        uint32_t at = count < route->used ? count++ : count - 1;
        for (; at > 0 && value > chosen[at - 1]; at--) {
            chosen[at] = chosen[at - 1];
            ids[at] = ids[at - 1];
        }
        chosen[at] = value;
        ids[at] = i;
    }
}

static void weigh(const struct kernels_route *route, const float *scratch, const uint32_t *ids,
                  float *weights) {
    const float least = 0x1p-14f; // the least normal float16: keeps the quotient finite
    float sum = 0.0f;
    for (uint32_t j = 0; j < route->used; j++) weights[j] = scratch[ids[j]];
    if (route->gating == KERNELS_GATING_SOFTMAX_SELECTED) softmax(weights, route->used);
    for (uint32_t j = 0; route->by_logits && j < route->used; j++)
        weights[j] = kmath_sigmoid(weights[j]);
    for (uint32_t j = 0; j < route->used; j++) sum += weights[j];
    for (uint32_t j = 0; j < route->used; j++) {
        if (route->normalise) weights[j] /= sum > least ? sum : least;
        weights[j] *= route->scale;
        if (route->expert_scale) weights[j] *= route->expert_scale[ids[j]];
    }
}

// From the order chosen to ascending ids, by insertion: `used` is small.
static void sort_by_id(uint32_t *ids, float *weights, uint32_t *rank, uint32_t used) {
    for (uint32_t j = 0; j < used; j++) {
        uint32_t id = ids[j], at = j;
        float weight = weights[j];
        for (; at > 0 && ids[at - 1] > id; at--) {
            ids[at] = ids[at - 1];
            weights[at] = weights[at - 1];
            if (rank) rank[at] = rank[at - 1];
        }
        ids[at] = id;
        weights[at] = weight;
        if (rank) rank[at] = j;
    }
}

bool kernels_route_select(const struct kernels_route *route, const float *logits, float *scratch,
                          uint32_t *ids, float *weights, uint32_t *rank) {
    KERNEL_ASSERT(route->used > 0 && route->used <= route->experts);
    KERNEL_ASSERT(route->groups <= KERNELS_GROUPS_MAX);
    KERNEL_ASSERT(route->groups <= 1 ||
                  route->groups_used * (route->experts / route->groups) >= route->used);
    if (!probabilities(route, logits, scratch)) return false;
    choose(route, scratch, ids, weights);
    weigh(route, scratch, ids, weights);
    sort_by_id(ids, weights, rank, route->used);
    return true;
}
