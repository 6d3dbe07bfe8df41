// SPDX-License-Identifier: Apache-2.0
//
// The scripted engine: answers are given, tokens are bytes. See locum_experimental.h.
#include "engine/engine_scripted.h"

#include "base/arena.h"
#include "engine/engine_options.h"

#include <string.h>

enum { CONTEXT_DEFAULT = 4096 };

struct scripted {
    struct engine base;
    struct arena arena;
    const char **answers;
    uint32_t count, piece, context, next;
};

struct engine_session {
    uint32_t turns;
};

static void scripted_close(struct engine *base) {
    struct scripted *s = (struct scripted *)base;
    arena_release(&s->arena);
    heap_free(s);
}

static const locum_tokenizer *scripted_tokenizer(const struct engine *base) {
    (void)base;
    return NULL;
}

static void scripted_get_plan(const struct engine *base, locum_memory_plan *out) {
    *out = (locum_memory_plan){.context = ((const struct scripted *)base)->context, .threads = 1};
}

static const char *scripted_summary(const struct engine *base) {
    (void)base;
    return "scripted: the answers are given";
}

static bool scripted_get_setting(const struct engine *base, uint32_t index, locum_setting *out) {
    (void)base, (void)index, (void)out;
    return false;
}

static locum_status scripted_session_open(struct engine *base, struct engine_session **out,
                                          locum_error *error) {
    (void)base;
    struct engine_session *session = heap_resize(NULL, sizeof *session);
    if (!session) return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for a session");
    *session = (struct engine_session){0};
    *out = session;
    return LOCUM_OK;
}

static void scripted_session_close(struct engine *base, struct engine_session *session) {
    (void)base;
    heap_free(session);
}

static void scripted_session_reset(struct engine *base, struct engine_session *session) {
    (void)base;
    session->turns = 0;
}

// One piece: its bytes as tokens, then as text. true: the host wants to stop.
static bool emit_piece(const locum_request *request, const char *text, size_t size,
                       uint32_t position) {
    if (!request->event) return false;
    for (size_t i = 0; i < size; i++) {
        locum_event token = {.kind = LOCUM_EVENT_TOKEN,
                             .token = (unsigned char)text[i],
                             .position = position + (uint32_t)i};
        if (request->event(request->user, &token)) return true;
    }
    locum_event event = {.kind = LOCUM_EVENT_TEXT, .text = text, .text_size = size};
    return request->event(request->user, &event);
}

static locum_status scripted_generate(struct engine *base, struct engine_session *session,
                                      const locum_request *request, const atomic_bool *cancel,
                                      locum_finish *finish, locum_stats *stats,
                                      locum_error *error) {
    struct scripted *s = (struct scripted *)base;
    if (request->prompt_count > s->context) {
        return status_fail(error, LOCUM_E_CONTEXT,
                           "the prompt has %zu tokens, the context holds %u", request->prompt_count,
                           s->context);
    }
    const char *answer = s->answers[s->next];
    s->next = (s->next + 1) % s->count;
    session->turns++;
    size_t size = strlen(answer), room = s->context - request->prompt_count;
    if (room > request->predict) room = request->predict;
    size_t most = size < room ? size : room;
    *finish = most < size ? LOCUM_FINISH_LENGTH : LOCUM_FINISH_END;
    size_t done = 0;
    while (done < most) {
        if (atomic_load(cancel))
            return status_fail(error, LOCUM_E_CANCELLED, "the request was cancelled");
        size_t piece = most - done < s->piece ? most - done : s->piece;
        bool stop =
            emit_piece(request, answer + done, piece, (uint32_t)(request->prompt_count + done));
        done += piece;
        if (!stop) continue;
        *finish = LOCUM_FINISH_STOPPED;
        break;
    }
    if (stats) {
        *stats = (locum_stats){.prompt_tokens = request->prompt_count,
                               .computed_tokens = request->prompt_count,
                               .generated_tokens = done};
    }
    return LOCUM_OK;
}

static const struct engine_methods scripted_methods = {
    .close = scripted_close,
    .tokenizer = scripted_tokenizer,
    .get_plan = scripted_get_plan,
    .summary = scripted_summary,
    .get_setting = scripted_get_setting,
    .session_open = scripted_session_open,
    .session_close = scripted_session_close,
    .session_reset = scripted_session_reset,
    .generate = scripted_generate,
};

static locum_status copy_answers(struct scripted *s, const locum_script *script,
                                 locum_error *error) {
    s->answers = arena_array(&s->arena, script->answer_count, sizeof *s->answers);
    for (uint32_t i = 0; s->answers && i < script->answer_count; i++) {
        s->answers[i] = arena_copy_text(&s->arena, script->answers[i], strlen(script->answers[i]));
        if (!s->answers[i]) s->answers = NULL;
    }
    return s->answers ? LOCUM_OK
                      : status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for the script");
}

locum_status engine_scripted_open(const locum_script *script, struct engine **out,
                                  locum_error *error) {
    if (!script->answers || script->answer_count == 0 || script->piece_bytes == 0) {
        return status_fail(error, LOCUM_E_ARGUMENT,
                           "locum_script: answers and piece_bytes must be given");
    }
    struct scripted *s = heap_resize(NULL, sizeof *s);
    if (!s) return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for the script");
    *s = (struct scripted){.base = {&scripted_methods},
                           .count = script->answer_count,
                           .piece = script->piece_bytes,
                           .context = script->context ? script->context : CONTEXT_DEFAULT};
    arena_init(&s->arena, 0);
    locum_status status = copy_answers(s, script, error);
    if (status != LOCUM_OK) {
        scripted_close(&s->base);
        return status;
    }
    *out = &s->base;
    return LOCUM_OK;
}
