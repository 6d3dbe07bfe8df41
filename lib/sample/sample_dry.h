// SPDX-License-Identifier: Apache-2.0
//
// Owns:      DRY ("don't repeat yourself"): tokens that would continue a repetition lose the more, the
//            longer it is.
// Called by: sample_stage.
// Threads:   one per list.
// Errors:    none.
// Not here:  turning the texts of sequence breakers into tokens (engine_breakers).
//
// If the last n tokens of the sequence also stand earlier in it, and n >= allowed_length, the token that
// followed there loses multiplier * base^(n - allowed_length); with several such places the longest counts.
// No repetition reaches across a sequence breaker, and breakers themselves lose nothing.
#ifndef SAMPLE_DRY_H
#define SAMPLE_DRY_H

#include "sample/sample_stage.h"

bool sample_dry_is_on(const struct sample_settings *settings);
void sample_dry_apply(const struct sample_stage_input *input);

#endif
