// SPDX-License-Identifier: Apache-2.0
#include "engine/engine_stop.h"

#include "base/limits.h"
#include "base/utf8.h"

// A text that stops inside a character, or is none, would match inside characters.
static bool is_utf8(struct slice text) {
    while (text.size > 0) {
        struct utf8_step step = utf8_next(text);
        if (step.kind != UTF8_CHARACTER) return false;
        text = slice_from(text, step.size);
    }
    return true;
}

static locum_status check(const locum_request *r, size_t *longest, locum_error *error) {
    *longest = 0;
    if (r->stop_count > LIMIT_STOPS || r->end_count > LIMIT_STOPS) {
        return status_fail(error, LOCUM_E_ARGUMENT, "locum_request: more than %d stops or ends",
                           LIMIT_STOPS);
    }
    if ((r->stop_count > 0 && !r->stops) || (r->end_count > 0 && !r->ends)) {
        return status_fail(error, LOCUM_E_ARGUMENT, "locum_request: stops or ends is NULL");
    }
    for (uint32_t i = 0; i < r->stop_count; i++) {
        size_t size = r->stops[i] ? strlen(r->stops[i]) : 0;
        if (size == 0 || size > LIMIT_STOP_BYTES || !is_utf8(slice_make(r->stops[i], size))) {
            return status_fail(error, LOCUM_E_ARGUMENT,
                               "locum_request: stop text %u is empty, longer than %d bytes or not "
                               "UTF-8",
                               i, LIMIT_STOP_BYTES);
        }
        if (size > *longest) *longest = size;
    }
    return LOCUM_OK;
}

locum_status engine_stop_open(const locum_request *request, size_t piece_max,
                              struct engine_stop *out, locum_error *error) {
    *out = (struct engine_stop){.texts = request->stops,
                                .count = request->stop_count,
                                .tokens = request->ends,
                                .token_count = request->end_count};
    size_t longest;
    STATUS_TRY(check(request, &longest, error));
    if (out->count > 0 && !buffer_reserve(&out->held, longest + piece_max))
        return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for the stop texts");
    return LOCUM_OK;
}

void engine_stop_close(struct engine_stop *stop) {
    buffer_release(&stop->held);
}

// Whether the held text has the stop at a place; with `partly`, or ends inside it.
static bool fits(struct slice held, const char *stop, bool partly) {
    size_t size = strlen(stop), common = held.size < size ? held.size : size;
    return (partly || common == size) && memcmp(held.data, stop, common) == 0;
}

static bool is_stop(struct engine_stop *stop, size_t at, bool partly) {
    struct slice rest = slice_from(buffer_slice(&stop->held), at);
    for (uint32_t i = 0; i < stop->count; i++) {
        if (!fits(rest, stop->texts[i], partly)) continue;
        stop->which = i;
        return true;
    }
    return false;
}

static void drop_given(struct engine_stop *stop) {
    stop->held.size -= stop->given;
    if (stop->held.size > 0)
        memmove(stop->held.data, stop->held.data + stop->given, stop->held.size);
    stop->given = 0;
}

struct slice engine_stop_push(struct engine_stop *stop, struct slice text) {
    if (stop->count == 0) return text;
    if (stop->matched) return slice_make("", 0);
    drop_given(stop);
    buffer_append(&stop->held, text.data, text.size);
    size_t at = 0, size = stop->held.size;
    while (at < size && !(stop->matched = is_stop(stop, at, false)))
        at++;
    if (!stop->matched) {
        at = 0;
        while (at < size && !is_stop(stop, at, true))
            at++;
    }
    stop->given = at;
    return slice_make(stop->held.data, at);
}

struct slice engine_stop_rest(struct engine_stop *stop) {
    if (stop->count == 0 || stop->matched) return slice_make("", 0);
    drop_given(stop);
    stop->given = stop->held.size;
    return buffer_slice(&stop->held);
}

bool engine_stop_is_token(const struct engine_stop *stop, locum_token token) {
    for (uint32_t i = 0; i < stop->token_count; i++) {
        if (stop->tokens[i] == token) return true;
    }
    return false;
}
