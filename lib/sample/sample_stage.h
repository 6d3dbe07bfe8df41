// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the stages of sampling, as a table of functions over the list of candidates.
// Called by: sample.
// Threads:   one per list.
// Errors:    none; a stage leaves at least one candidate.
// Not here:  their order (sample_settings.h), DRY's search (sample_dry.h), mirostat.
#ifndef SAMPLE_STAGE_H
#define SAMPLE_STAGE_H

#include "sample/sample_list.h"

// The tokens of the sequence so far, the newest last, in two pieces of which either may be empty.
struct sample_history {
    const locum_token *older;
    uint32_t older_count;
    const locum_token *newer;
    uint32_t newer_count;
};
static inline uint32_t sample_history_count(const struct sample_history *history) {
    return history->older_count + history->newer_count;
}
// back: 0 is the newest token.
static inline locum_token sample_history_at(const struct sample_history *history, uint32_t back) {
    return back < history->newer_count
               ? history->newer[history->newer_count - 1 - back]
               : history->older[history->older_count - 1 - (back - history->newer_count)];
}

struct sample_stage_input {
    struct sample_list *list;
    const struct sample_settings *settings;
    const struct sample_history *history;
    uint32_t position;
    uint32_t *repeats; // [window], for DRY
    uint32_t window;   // tokens of a sequence at most
};

struct sample_stage_entry {
    bool (*is_on)(const struct sample_settings *settings);
    void (*apply)(const struct sample_stage_input *input);
    bool keeps_best; // the best candidate stays the best: nothing to do where only that one counts
    bool changes_logits; // other than all by the same amount: they must be looked at again
};
extern const struct sample_stage_entry sample_stage_table[SAMPLE_STAGES];

// Divides the logits, or keeps the best one where the temperature is not above 0 (or 1 / it is not finite).
void sample_stage_heat(struct sample_list *list, float temperature);
bool sample_stage_is_greedy(float temperature);

#endif
