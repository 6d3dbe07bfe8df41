// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the way from one row of logits to one token: a table of stages over a list of candidates.
// Called by: engine.
// Threads:   one sampler per thread.
// Errors:    LOCUM_E_NUMERIC when a logit is NaN or +infinity, or none is above -infinity: never a token
//            in silence.
// Not here:  penalties, grammars, log-probabilities (rows still to come in the same table).
//
// Order and meaning of the stages are llama.cpp's, so that settings carry over:
//   top-k        keep the k largest logits (0, negative or beyond the vocabulary: off)
//   top-p        keep the smallest prefix of the sorted probabilities with sum >= p (1 or more: off)
//   min-p        keep p_i >= min_p * p_max (0 or less: off)
//   temperature  divide the logits; applied after the truncations
//   draw         by sample_rng at (seed, sequence, position)
// temperature 0 (or below, or so small that 1 / t is not finite) is greedy: the largest logit, the lowest
// id on ties; the stages are then skipped.
#ifndef SAMPLE_SAMPLE_H
#define SAMPLE_SAMPLE_H

#include "base/status.h"
#include "kernels/kernels.h"

struct sample_settings {
    float temperature;
    int32_t top_k;
    float top_p, min_p;
    uint64_t seed, sequence;
};

struct sampler;
// Bytes that sampler_create takes for a vocabulary of that size.
uint64_t sampler_bytes(uint32_t vocabulary);
locum_status sampler_create(uint32_t vocabulary, const struct kernels_table *kernels,
                            struct sampler **out, locum_error *error);
void sampler_destroy(struct sampler *sampler); // NULL is fine

// logits: one row. position: of the token that is being drawn.
locum_status sampler_draw(struct sampler *sampler, const struct sample_settings *settings,
                          const float *logits, uint32_t position, locum_token *out,
                          locum_error *error);

// For tests and comparisons: the candidates that the last draw chose from, best first, with their
// probabilities (empty after a greedy draw).
struct sample_candidate {
    float logit;
    locum_token id;
};
uint32_t sampler_candidates(const struct sampler *sampler,
                            const struct sample_candidate **candidates,
                            const float **probabilities);

#endif
