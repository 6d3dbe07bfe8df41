// SPDX-License-Identifier: Apache-2.0
//
// Owns:      struct locum_tokenizer: a tokenizer of its own, or a model's.
// Called by: engine_*.c.
// Threads:   read-only after open.
// Errors:    as in locum.h.
// Not here:  how text becomes tokens (lib/token).
#ifndef ENGINE_ENGINE_TOKENIZER_H
#define ENGINE_ENGINE_TOKENIZER_H

#include "base/arena.h"
#include "token/tokenizer.h"

struct locum_tokenizer {
    struct arena arena; // empty when a model owns the tokenizer
    const struct tokenizer *tokenizer;
};

#endif
