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
// selection = p (+ bias), the k largest, ties to the lower id; weights are the p without bias, in
// the order chosen: if normalise, w = rn(w / max(s, 2^-14)) with s their chain sum from +0; then
// times scale, then times the expert's own factor.
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

struct kernels_route {
    uint32_t experts, used;
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
