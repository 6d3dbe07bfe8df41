// SPDX-License-Identifier: Apache-2.0
//
// Owns:      what sampling is told: numbers, the order of the stages, biases, sequence breakers; names and
//            order of the stages.
// Called by: every file of sample; engine, which fills them from request, file and defaults.
// Threads:   read only.
// Errors:    a name that no stage has.
// Not here:  ranges, defaults and where a value came from (engine), what a stage does (sample_stage.c).
#ifndef SAMPLE_SETTINGS_H
#define SAMPLE_SETTINGS_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// In the order in which they usually run. The names are llama.cpp's.
#define SAMPLE_STAGE_LIST(X)      \
    X(PENALTIES, "penalties")     \
    X(DRY, "dry")                 \
    X(TOP_N_SIGMA, "top_n_sigma") \
    X(TOP_K, "top_k")             \
    X(TYPICAL_P, "typ_p")         \
    X(TOP_P, "top_p")             \
    X(MIN_P, "min_p")             \
    X(XTC, "xtc")                 \
    X(TEMPERATURE, "temperature")

enum sample_stage {
#define SAMPLE_STAGE_ENUM(name, text) SAMPLE_##name,
    SAMPLE_STAGE_LIST(SAMPLE_STAGE_ENUM)
#undef SAMPLE_STAGE_ENUM
        SAMPLE_STAGES
};
const char *sample_stage_name(enum sample_stage stage);

enum { SAMPLE_CHAIN_MAX = 16 }; // nine stages; one may stand there twice

struct sample_chain {
    uint32_t count;
    uint8_t stages[SAMPLE_CHAIN_MAX]; // enum sample_stage
};
// "top_k;top_p;temperature": separated by ; or , with - for _ as well. An empty text: no stage.
locum_status sample_chain_parse(const char *text, struct sample_chain *out, locum_error *error);
struct sample_chain sample_chain_usual(void);

// What DRY does not repeat across: these tokens, and these sequences of tokens.
enum { SAMPLE_BREAKER_TAIL = 20 };
struct sample_breaker {
    locum_token head;
    uint32_t tail_count; // at least 1
    locum_token tail[SAMPLE_BREAKER_TAIL];
};
struct sample_breakers {
    uint64_t *single; // a bit for each token of the vocabulary that breaks by itself
    struct sample_breaker *sequences; // ascending head
    size_t sequence_count;
};

struct sample_settings {
    float temperature, dynatemp_range, dynatemp_exponent;
    float top_p, min_p, typical_p, top_n_sigma;
    float xtc_probability, xtc_threshold;
    float repeat_penalty, frequency_penalty, presence_penalty;
    float dry_multiplier, dry_base;
    float mirostat_tau, mirostat_eta;
    int32_t top_k, penalty_last_n, dry_allowed_length, dry_penalty_last_n, mirostat, min_keep;
    struct sample_chain chain;
    const locum_logit_bias *biases; // tokens of the vocabulary; finite, or -infinity
    size_t bias_count;
    const struct sample_breakers *breakers; // NULL: none
    uint64_t seed, sequence;
};
// Temperature 1, every other stage off, in the usual order.
struct sample_settings sample_settings_off(void);

#endif
