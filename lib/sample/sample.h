// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the way from one row of logits to one token, and the log-probabilities of a row.
// Called by: engine.
// Threads:   one sampler per thread; its buffers serve any sequence. State belongs to a sequence.
// Errors:    LOCUM_E_NUMERIC when a logit is NaN or +infinity, or nothing that may be drawn is above
//            -infinity: never a token in silence.
// Not here:  what the stages do (sample_stage.h), ranges and defaults (engine), grammars: they come as a
//            bit for each token that is allowed.
//
// Order and meaning are llama.cpp's, so that settings carry over (docs/sampling.md):
//   allowed tokens   the others become -infinity before anything else is done, so that every stage truncates
//                    what may be drawn. A token of the whole distribution that happens to be allowed would
//                    not do: its chances are other ones wherever a stage truncates.
//   biases           are added
//   the chain        of stages, or with mirostat only the temperature and mirostat
//   draw             by sample_rng at (seed, sequence, position)
// Temperature 0 (or below, or so small that 1 / t is not finite) is greedy: the best candidate that the stages
// before it leave, the lowest id on ties; stages that cannot change which one that is are skipped.
#ifndef SAMPLE_SAMPLE_H
#define SAMPLE_SAMPLE_H

#include "base/status.h"
#include "kernels/kernels.h"
#include "sample/sample_mirostat.h"
#include "sample/sample_settings.h"
#include "sample/sample_stage.h"

struct sampler;
// Bytes that sampler_create takes. window: most tokens of a sequence.
uint64_t sampler_bytes(uint32_t vocabulary, uint32_t window);
locum_status sampler_create(uint32_t vocabulary, uint32_t window,
                            const struct kernels_table *kernels, struct sampler **out,
                            locum_error *error);
void sampler_destroy(struct sampler *sampler); // NULL is fine

struct sample_input {
    const float *logits;           // one row
    const uint64_t *allowed;       // a bit for each token of the vocabulary; NULL: all
    struct sample_history history; // what the logits follow, prompt included
    uint32_t position;             // of the token that is being drawn
};
// state: of the sequence, from sample_mirostat_begin; used with mirostat alone.
locum_status sampler_draw(struct sampler *sampler, const struct sample_settings *settings,
                          struct sample_mirostat *state, const struct sample_input *input,
                          locum_token *out, locum_error *error);

// Log-probabilities of the model's own distribution: at temperature 1, before mask, biases and stages, as
// the servers of OpenAI and llama.cpp report them. *own: of `token`; top[0..count-1]: of the likeliest, best
// first, count at most the vocabulary. logits: a row that sampler_draw has accepted.
void sampler_logprobs(struct sampler *sampler, const float *logits, locum_token token, float *own,
                      locum_logprob *top, uint32_t count);

// For tests and comparisons: the candidates that the last draw chose from, in the list's order, with
// probabilities that add up to 1. (A greedy draw leaves one, unless sampler_logprobs came after.)
struct sample_candidates {
    uint32_t count;
    const locum_token *ids;
    const float *probabilities;
};
struct sample_candidates sampler_candidates(struct sampler *sampler);

#endif
