// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the names of the GGUF keys that describe a tokenizer.
// Called by: engine.
// Threads:   pure.
// Errors:    E_FORMAT naming file and key; E_UNSUPPORTED: a file without a vocabulary.
// Not here:  what the values mean (tokenizer.h).
#ifndef TOKEN_GGUF_H
#define TOKEN_GGUF_H

#include "gguf/gguf_meta.h"
#include "token/tokenizer.h"

// Fills *out, which points into `meta`: it must stay until tokenizer_open has returned, not longer.
locum_status token_gguf_read(const struct gguf_meta *meta, struct tokenizer_source *out,
                             locum_error *error);

#endif
