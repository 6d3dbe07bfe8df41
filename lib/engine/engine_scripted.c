// SPDX-License-Identifier: Apache-2.0
//
// The scripted engine: answers are given, tokens are bytes. See locum_experimental.h.
#include "engine/engine_scripted.h"

#include "base/arena.h"
#include "engine/engine_stop.h"
#include "token/detokenizer.h"

#include <string.h>

enum { CONTEXT_DEFAULT = 4096 };

struct scripted {
    struct engine base;
    struct arena arena;
    struct slice *answers;
    uint32_t count, piece, context, next;
    char *piece_text; // room for the text of one piece
};

// A session of this engine remembers nothing.
struct engine_session {
    char unused;
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
    *out = session;
    return LOCUM_OK;
}

static void scripted_session_close(struct engine *base, struct engine_session *session) {
    (void)base;
    heap_free(session);
}

static void scripted_session_reset(struct engine *base, struct engine_session *session) {
    (void)base, (void)session;
}

struct answer {
    struct scripted *scripted;
    const locum_request *request;
    struct detokenizer text;
    struct engine_stop stop;
    uint32_t position; // of the next token
    uint32_t generated;
    bool stopped; // by the host's callback
};

static void emit(struct answer *a, const locum_event *event) {
    if (a->request->event && a->request->event(a->request->user, event)) a->stopped = true;
}

static void emit_text(struct answer *a, struct slice text) {
    if (text.size == 0 || a->stopped) return;
    locum_event event = {.kind = LOCUM_EVENT_TEXT, .text = text.data, .text_size = text.size};
    emit(a, &event);
}

// size: bytes of text in the room for a piece.
static void push_text(struct answer *a, size_t size) {
    emit_text(a, engine_stop_push(&a->stop, slice_make(a->scripted->piece_text, size)));
}

// One piece: its bytes as tokens, then the text that they make complete.
static void emit_piece(struct answer *a, const char *bytes, size_t size) {
    for (size_t i = 0; i < size && !a->stopped; i++) {
        locum_event event = {
            .kind = LOCUM_EVENT_TOKEN, .token = (unsigned char)bytes[i], .position = a->position++};
        a->generated++;
        emit(a, &event);
    }
    if (a->stopped) return;
    push_text(a,
              detokenizer_push_bytes(&a->text, slice_make(bytes, size), a->scripted->piece_text));
}

static locum_status emit_answer(struct answer *a, const char *bytes, size_t size,
                                const atomic_bool *cancel, locum_error *error) {
    for (size_t done = 0; done < size && !a->stopped && !a->stop.matched;) {
        if (atomic_load(cancel))
            return status_fail(error, LOCUM_E_CANCELLED, "the request was cancelled");
        size_t piece = size - done < a->scripted->piece ? size - done : a->scripted->piece;
        emit_piece(a, bytes + done, piece);
        done += piece;
    }
    push_text(a, detokenizer_flush(&a->text, a->scripted->piece_text));
    emit_text(a, engine_stop_rest(&a->stop));
    return LOCUM_OK;
}

static locum_status scripted_generate(struct engine *base, struct engine_session *session,
                                      const locum_request *request, const atomic_bool *cancel,
                                      locum_finish *finish, locum_stats *stats,
                                      locum_error *error) {
    (void)session;
    struct scripted *s = (struct scripted *)base;
    if (request->structure != LOCUM_STRUCTURE_NONE)
        return status_fail(error, LOCUM_E_UNSUPPORTED,
                           "a scripted answer cannot be held to a structure");
    if (request->prompt_count > s->context) {
        return status_fail(error, LOCUM_E_CONTEXT,
                           "the prompt has %zu tokens, the context holds %u", request->prompt_count,
                           s->context);
    }
    struct slice answer = s->answers[s->next];
    s->next = (s->next + 1) % s->count;
    size_t room = s->context - request->prompt_count;
    if (room > request->predict) room = request->predict;
    size_t size = answer.size < room ? answer.size : room;
    struct answer a = {
        .scripted = s, .request = request, .position = (uint32_t)request->prompt_count};
    detokenizer_init(&a.text, NULL, 0);
    size_t piece = s->piece < size ? s->piece : size;
    locum_status status =
        engine_stop_open(request, detokenizer_bytes_max(piece), &a.stop, error);
    if (status == LOCUM_OK) status = emit_answer(&a, answer.data, size, cancel, error);
    engine_stop_close(&a.stop);
    *finish = a.stopped            ? LOCUM_FINISH_STOPPED
              : a.stop.matched     ? LOCUM_FINISH_STOP_TEXT
              : size < answer.size ? LOCUM_FINISH_LENGTH
                                   : LOCUM_FINISH_END;
    if (stats) {
        *stats = (locum_stats){.prompt_tokens = request->prompt_count,
                               .computed_tokens = request->prompt_count,
                               .generated_tokens = a.generated,
                               .stop = a.stop.which};
    }
    return status;
}

// It has no experts: any budget will do.
static locum_status scripted_set_memory(struct engine *base, uint64_t memory, locum_error *error) {
    (void)base, (void)memory, (void)error;
    return LOCUM_OK;
}

static const struct engine_methods scripted_methods = {
    .close = scripted_close,
    .tokenizer = scripted_tokenizer,
    .get_plan = scripted_get_plan,
    .set_memory = scripted_set_memory,
    .summary = scripted_summary,
    .get_setting = scripted_get_setting,
    .session_open = scripted_session_open,
    .session_close = scripted_session_close,
    .session_reset = scripted_session_reset,
    .generate = scripted_generate,
};

static locum_status no_memory(locum_error *error) {
    return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for the script");
}

static locum_status copy_answers(struct scripted *s, const locum_script *script,
                                 locum_error *error) {
    size_t longest = 0;
    s->answers = arena_array(&s->arena, script->answer_count, sizeof *s->answers);
    for (uint32_t i = 0; s->answers && i < script->answer_count; i++) {
        size_t size = strlen(script->answers[i]);
        const char *copy = arena_copy_text(&s->arena, script->answers[i], size);
        if (!copy) return no_memory(error);
        s->answers[i] = slice_make(copy, size);
        if (size > longest) longest = size;
    }
    size_t piece = longest < s->piece ? longest : s->piece;
    s->piece_text = arena_alloc(&s->arena, detokenizer_bytes_max(piece));
    return s->answers && s->piece_text ? LOCUM_OK : no_memory(error);
}

locum_status engine_scripted_open(const locum_script *script, struct engine **out,
                                  locum_error *error) {
    if (!script->answers || script->answer_count == 0 || script->piece_bytes == 0) {
        return status_fail(error, LOCUM_E_ARGUMENT,
                           "locum_script: answers and piece_bytes must be given");
    }
    for (uint32_t i = 0; i < script->answer_count; i++) {
        if (!script->answers[i])
            return status_fail(error, LOCUM_E_ARGUMENT, "locum_script: answer %u is NULL", i);
    }
    struct scripted *s = heap_resize(NULL, sizeof *s);
    if (!s) return no_memory(error);
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
