// SPDX-License-Identifier: Apache-2.0
//
// Owns:      struct locum_tokenizer: a tokenizer of its own, or a model's; what is told about it.
// Called by: engine_*.c.
// Threads:   read-only after open.
// Errors:    as in locum.h.
// Not here:  how text becomes tokens (lib/token).
#ifndef ENGINE_ENGINE_TOKENIZER_H
#define ENGINE_ENGINE_TOKENIZER_H

#include "base/arena.h"
#include "base/log.h"
#include "gguf/gguf_meta.h"
#include "token/tokenizer.h"

struct locum_tokenizer {
    struct arena arena; // empty when a model owns the tokenizer
    const struct tokenizer *tokenizer;
    size_t bytes;               // of the arena that holds it, whoever owns that
    struct log_sink log;        // is told what texts lose
    locum_progress_fn progress; // of long texts, with log.user; NULL: none
};

// As the file says; everything is kept in `arena`.
locum_status engine_tokenizer_read(const struct gguf_meta *meta, struct arena *arena,
                                   const struct tokenizer **out, locum_error *error);
// What a host must show of a tokenizer that was opened.
void engine_tokenizer_notice(const struct tokenizer *tokenizer, const struct log_sink *log);

#endif
