// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the choice of experts from a token's router logits.
// Called by: exec.
// Threads:   pure.
// Errors:    false when a logit is NaN or infinite.
// Not here:  which experts are in memory (store): routing never looks at it.
//
// softmax:          m = max, e_i = exp(l_i - m), p_i = rn(e_i / sum16(e))
// sigmoid:          p_i = rn(1 / rn(1 + exp(-l_i)))
// softmax_selected: selection by logits, then softmax over the chosen ones in the order chosen
// With by_logits the selection is by logits, ties included that a sigmoid would not tell apart, and the
// sigmoid is taken of the chosen ones only.
// selection = p (+ bias), the k largest, ties to the lower id. With more than one group (equal
// parts of neighbouring experts) only those of the best groups_used can be chosen, ties to the
// lower group; the score of a group is its largest selection value, or rn(a + b) of the two
// largest, a >= b.
// Weights are the p without bias, in the order chosen: if normalise, w = rn(w / max(s, 2^-14)) with
// s their chain sum from +0; then times scale, then times the expert's own factor.
// Output is sorted by ascending id: that is the order in which experts are added.
#ifndef KERNELS_KERNELS_ROUTE_H
#define KERNELS_KERNELS_ROUTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum kernels_gating {
    KERNELS_GATING_SOFTMAX = 1,
    KERNELS_GATING_SIGMOID = 2,
    KERNELS_GATING_SOFTMAX_SELECTED = 3
};

enum { KERNELS_GROUPS_MAX = 64 };

struct kernels_route {
    uint32_t experts, used;
    uint32_t groups, groups_used; // groups 0 or 1: none; else they divide experts, in parts of 2 or more
    bool group_best_two;          // what the score of a group is
    enum kernels_gating gating;
    bool by_logits; // sigmoid only
    bool normalise;
    float scale;       // 1: none
    const float *bias; // [experts] or NULL
    const float *expert_scale; // likewise
};

// scratch: experts floats. ids and weights: `used` entries, ascending id. rank[j] (may be NULL) is
// the place of entry j in the order chosen, 0 the best.
bool kernels_route_select(const struct kernels_route *route, const float *logits, float *scratch,
                          uint32_t *ids, float *weights, uint32_t *rank);

#endif
