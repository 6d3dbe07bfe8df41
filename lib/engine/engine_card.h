// SPDX-License-Identifier: Apache-2.0
//
// Owns:      what the makers of models recommend for sampling, a table with the page each row is from.
// Called by: engine_sampling.
// Threads:   constants.
// Errors:    none.
// Not here:  which of a card's values count (engine_sampling.h).
#ifndef ENGINE_ENGINE_CARD_H
#define ENGINE_ENGINE_CARD_H

#include "base/slice.h"

#include <locum/locum.h>

enum { ENGINE_CARD_VALUES = 6 };
struct engine_card {
    const char *name;        // words that the model's name holds, in this order
    locum_thinking thinking; // the way to answer that it is for; UNKNOWN: both
    struct {
        const char *setting; // as in engine_sampling; NULL: end
        float value;
    } values[ENGINE_CARD_VALUES];
    const char *source;
};

// The row for a model of that name (general.name), NULL: none. thinking UNKNOWN: the way in which the
// model answers by itself.
const struct engine_card *engine_card_find(struct slice name, locum_thinking thinking);

#endif
