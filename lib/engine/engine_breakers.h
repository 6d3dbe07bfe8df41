// SPDX-License-Identifier: Apache-2.0
//
// Owns:      from the texts that DRY does not look across to tokens: those that hold such a text, and those
//            that end with the beginning of one, with the tokens that complete it.
// Called by: engine_generate.
// Threads:   pure.
// Errors:    LOCUM_E_OUT_OF_MEMORY; LOCUM_E_ARGUMENT for an empty text or one beyond the limit.
// Not here:  what DRY does with them (sample_dry.h).
#ifndef ENGINE_ENGINE_BREAKERS_H
#define ENGINE_ENGINE_BREAKERS_H

#include "base/arena.h"
#include "sample/sample_settings.h"
#include "token/tokenizer.h"

enum { ENGINE_BREAKER_BYTES = 40, ENGINE_BREAKERS = 64 }; // of a text; texts

// texts NULL: the usual ones. Everything is kept in `arena`.
locum_status engine_breakers_make(const struct tokenizer *tokenizer, uint32_t vocabulary,
                                  const char *const *texts, size_t count, struct arena *arena,
                                  struct sample_breakers *out, locum_error *error);

#endif
