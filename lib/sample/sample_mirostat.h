// SPDX-License-Identifier: Apache-2.0
//
// Owns:      mirostat 1 and 2 (Basu et al. 2021): truncation that steers the surprise of the tokens drawn
//            towards tau, with what it has to remember.
// Called by: sample.
// Threads:   one per list and state.
// Errors:    none.
// Not here:  the temperature, which is applied before.
#ifndef SAMPLE_MIROSTAT_H
#define SAMPLE_MIROSTAT_H

#include "sample/sample_list.h"

// Surprise in bits that a token may have now. It belongs to a sequence, from its beginning.
struct sample_mirostat {
    float mu;
};
struct sample_mirostat sample_mirostat_begin(const struct sample_settings *settings);
// Truncates, as settings->mirostat (1 or 2) says.
void sample_mirostat_apply(const struct sample_mirostat *state,
                           const struct sample_settings *settings, struct sample_list *list);
// A token of this probability was drawn.
void sample_mirostat_learn(struct sample_mirostat *state, const struct sample_settings *settings,
                           double probability);

#endif
