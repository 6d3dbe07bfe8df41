// SPDX-License-Identifier: Apache-2.0
//
// Owns:      what ends an answer beside the vocabulary's own tokens: texts, also across the borders of tokens,
//            and further tokens.
// Called by: engine_generate.c, engine_scripted.c.
// Threads:   one at a time.
// Errors:    E_ARGUMENT naming the text; E_OUT_OF_MEMORY. Once open, a push of at most piece_max bytes
//            allocates nothing.
// Not here:  the end tokens of the vocabulary (token/tokenizer.h).
//
// Text is held back as long as it can be the beginning of a stop: no part of a stop is ever given on.
#ifndef ENGINE_ENGINE_STOP_H
#define ENGINE_ENGINE_STOP_H

#include "base/buffer.h"
#include "base/status.h"

struct engine_stop {
    const char *const *texts;
    uint32_t count;
    const locum_token *tokens;
    uint32_t token_count;
    struct buffer held;
    size_t given; // bytes at its beginning that were given on
    bool matched;
    uint32_t which; // if matched
};

// What a request asks for. piece_max: bytes of one push.
locum_status engine_stop_open(const locum_request *request, size_t piece_max,
                              struct engine_stop *out, locum_error *error);
void engine_stop_close(struct engine_stop *stop);

// Takes a text of whole characters; what can be given on now, valid until the next call. After a match
// nothing more is.
struct slice engine_stop_push(struct engine_stop *stop, struct slice text);
// What was held back when the answer ended otherwise.
struct slice engine_stop_rest(struct engine_stop *stop);

bool engine_stop_is_token(const struct engine_stop *stop, locum_token token);

#endif
