// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the 16 virtual lanes of rule 1 of kernels.h, in plain C.
// Called by: kernels/ref, kernels_route.
// Threads:   pure.
// Errors:    none.
// Not here:  vector forms (kernels/x86).
#ifndef KERNELS_LANES_H
#define KERNELS_LANES_H

#include <stddef.h>

enum { LANES = 16 };

// The halving tree. Uses up the lanes.
static inline float lanes_total(float lane[LANES]) {
    for (size_t half = LANES / 2; half > 0; half /= 2)
        for (size_t i = 0; i < half; i++) lane[i] += lane[i + half];
    return lane[0];
}

// What padding the tail of n elements with zeros does: adds +0 to the lanes that got nothing (which
// turns a -0 there into +0).
static inline void lanes_pad(float lane[LANES], size_t n) {
    for (size_t i = n % LANES; i > 0 && i < LANES; i++) lane[i] += 0.0f;
}

// sum16 of x.
static inline float lanes_sum(const float *x, size_t n) {
    float lane[LANES] = {0};
    for (size_t i = 0; i < n; i++) lane[i % LANES] += x[i];
    lanes_pad(lane, n);
    return lanes_total(lane);
}

#endif
