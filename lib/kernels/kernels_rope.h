// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the cosines and sines of rotary position embedding, one row per position.
// Called by: exec, once per step and kind of RoPE.
// Threads:   pure.
// Errors:    none (the model binder has checked the parameters).
// Not here:  the rotation itself (kernels.h rope_norm / rope_neox).
//
// One implementation for all tiers, in double with kmath's pow, sin, cos, rounded once to float32:
//   theta_e(i) = base^(-2i / n_rot) / factors[i] (factors NULL: 1)
//   none:   theta = pos * theta_e
//   linear: theta = pos * theta_e / factor
//   yarn:   corr(b) = n_rot * ln(n_ctx_orig / (2 pi b)) / (2 ln base)
//           low = max(0, floor(corr(beta_fast))), high = min(n_rot - 1, ceil(corr(beta_slow)));
//           untruncated: the same without floor and ceil
//           ramp(i) = 1 - clamp((i - low) / max(0.001, high - low), 0, 1)
//           theta = pos * (theta_e / factor * (1 - kept) + theta_e * kept), kept = ramp * ext_factor
//           cos and sin times attn_factor * (1 + 0.1 ln factor)   [Peng et al., YaRN, 2023]
#ifndef KERNELS_KERNELS_ROPE_H
#define KERNELS_KERNELS_ROPE_H

#include <stdbool.h>
#include <stdint.h>

enum kernels_rope_scaling { KERNELS_ROPE_NONE, KERNELS_ROPE_LINEAR, KERNELS_ROPE_YARN };

struct kernels_rope {
    uint32_t n_rot; // rotated elements of a head, even
    double base;
    enum kernels_rope_scaling scaling;
    double factor;      // > 0
    double attn_factor; // 1 unless the file says so
    double ext_factor;  // yarn: 1
    double beta_fast, beta_slow;
    bool untruncated; // yarn: its limits need not be whole pairs
    uint32_t context_original;
    const float *factors; // n_rot / 2 values or NULL
};

// theta per position 0 step: n_rot/2 doubles, and the magnitude (yarn; else 1). Once per model.
void kernels_rope_frequencies(const struct kernels_rope *rope, double *theta, double *magnitude);

// cs[2i] = cos, cs[2i+1] = sin of position * theta[i], times magnitude.
void kernels_rope_row(float *cs, const double *theta, double magnitude, uint32_t pairs,
                      uint32_t position);

#endif
