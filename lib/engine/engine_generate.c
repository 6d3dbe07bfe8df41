// SPDX-License-Identifier: Apache-2.0
//
// One request: the prompt in chunks, then token by token. The order for one token is: logits -> hash and
// event -> draw -> events -> (only if there is a next one) the step that computes it.
#include "engine/engine_breakers.h"
#include "engine/engine_native.h"
#include "engine/engine_stop.h"

#include "platform/clock.h"
#include "platform/memory.h"
#include "sample/sample.h"
#include "sample/sample_dry.h"
#include "token/detokenizer.h"

#include <string.h>

// A moment of the request: the time, and the store's counters.
struct mark {
    uint64_t ns;
    struct store_stats store;
};

struct answer {
    struct engine_native *native;
    struct session *session;
    const locum_request *request;
    struct sample_settings sampling;
    struct sample_mirostat mirostat;
    struct sample_breakers breakers;
    struct arena arena; // of the breakers
    const atomic_bool *cancel;
    struct detokenizer text;
    struct engine_stop stop;
    char *piece;               // room for one token's text
    bool *wants;               // [chunk]: LOCUM_LOGITS_ALL
    uint32_t *positions;       // [chunk]
    const locum_token *tokens; // of the step
    uint32_t first, count;     // position of the first of them, and how many
    locum_token next;          // drawn from the last row of logits
    float logprob;             // of it, if asked for
    locum_logprob *top;        // [request->top_logprobs]
    bool draw;                 // draw from the step's last row
    bool stopped;              // by the host's callback
    locum_status status;       // of drawing
    locum_stats stats;
    locum_error *error;
};

// ---- logits ---------------------------------------------------------------------------------------------
// Of the bits of all rows, in order (FNV-1a over 32-bit words): equal runs have equal hashes.
static uint64_t hash_row(uint64_t hash, const float *logits, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &logits[i], sizeof bits);
        hash = (hash ^ bits) * UINT64_C(0x100000001b3);
    }
    return hash;
}

// Of the likeliest tokens, for each token.
static uint32_t top_count(const struct answer *a) {
    uint32_t vocabulary = a->native->layout.model.plan.vocabulary;
    uint32_t wanted = a->request->logprobs ? a->request->top_logprobs : 0;
    return wanted < vocabulary ? wanted : vocabulary;
}

static bool emit(struct answer *a, const locum_event *event) {
    if (a->request->event && a->request->event(a->request->user, event)) a->stopped = true;
    return a->stopped;
}

static locum_status draw_next(struct answer *a, const float *logits) {
    struct engine_native *n = a->native;
    struct sample_input input = {
        .logits = logits,
        .history = {a->session->tokens, a->first, a->tokens, a->count},
        .position = a->first + a->count,
    };
    bool structured = a->request->structure != LOCUM_STRUCTURE_NONE;
    if (structured) STATUS_TRY(engine_grammar_allow(&n->grammar, &input.allowed, a->error));
    STATUS_TRY(sampler_draw(n->sampler, &a->sampling, &a->mirostat, &input, &a->next, a->error));
    if (structured) engine_grammar_take(&n->grammar, a->next);
    if (a->request->logprobs)
        sampler_logprobs(n->sampler, logits, a->next, &a->logprob, a->top, top_count(a));
    return LOCUM_OK;
}

static void on_logits(void *user, uint32_t index, const float *logits) {
    struct answer *a = user;
    uint32_t vocabulary = a->native->layout.model.plan.vocabulary;
    a->stats.logits_hash = hash_row(a->stats.logits_hash, logits, vocabulary);
    if (a->request->logits != LOCUM_LOGITS_NONE && !a->stopped) {
        locum_event event = {.kind = LOCUM_EVENT_LOGITS,
                             .position = a->first + index,
                             .logits = logits,
                             .vocabulary = vocabulary};
        emit(a, &event);
    }
    // With ALL every token of a step has a row; the answer continues the last one.
    if (!a->draw || index + 1 != a->count || a->status != LOCUM_OK) return;
    uint64_t start = clock_now_ns();
    a->status = draw_next(a, logits);
    a->stats.sample_s += (double)(clock_now_ns() - start) * 1e-9;
}

// ---- steps ------------------------------------------------------------------------------------------------
// Compute `count` tokens that follow what the session has. The last token of a prompt leaves a checkpoint:
// another prompt that begins alike can continue there.
static locum_status step(struct answer *a, const locum_token *tokens, uint32_t count,
                         enum store_phase phase, bool draw) {
    struct engine_native *n = a->native;
    uint32_t end = a->session->count + count;
    STATUS_TRY(session_reserve(a->session, end, a->error));
    bool last = phase == STORE_PREFILL && draw;
    struct exec_sequence sequence = session_step(a->session, last ? end - 1 : EXEC_NO_CHECKPOINT);
    a->tokens = tokens;
    a->first = a->session->count;
    a->count = count;
    for (uint32_t i = 0; i < count; i++)
        a->positions[i] = a->first + i;
    bool all = a->request->logits == LOCUM_LOGITS_ALL;
    for (uint32_t i = 0; i < count; i++)
        a->wants[i] = all || (draw && i + 1 == count);
    if (n->trace) engine_trace_step(n->trace, n->turns, phase, a->first);
    if (n->options.io_trace_path) engine_io_trace_step(&n->io_trace, n->turns, phase, a->first);
    if (n->options.metrics_path) engine_metrics_begin(&n->metrics, n->store, a->stats.sample_s);
    STATUS_TRY(engine_size_apply(&n->size, a->error));
    struct exec_batch batch = {.count = count,
                               .tokens = tokens,
                               .positions = a->positions,
                               .sequences = &sequence,
                               .wants_logits = a->wants,
                               .phase = phase};
    a->draw = draw;
    STATUS_TRY(exec_step(n->exec, &batch, a->cancel, on_logits, a, a->error));
    STATUS_TRY(a->status);
    if (n->options.metrics_path) {
        struct engine_metrics_step row = {n->turns, a->first, count, phase};
        engine_metrics_end(&n->metrics, n->store, a->stats.sample_s, &row);
    }
    session_append(a->session, tokens, count);
    return LOCUM_OK;
}

static locum_status read_prompt(struct answer *a) {
    const locum_request *r = a->request;
    struct engine_native *n = a->native;
    uint32_t total = (uint32_t)r->prompt_count,
             done = session_keep_prefix(a->session, r->prompt, total);
    a->stats.prompt_tokens = total;
    while (done < total && !a->stopped) {
        uint32_t count = total - done < n->plan.chunk ? total - done : n->plan.chunk;
        STATUS_TRY(step(a, r->prompt + done, count, STORE_PREFILL, done + count == total));
        done += count;
        a->stats.computed_tokens += count;
        if (n->options.progress &&
            n->options.progress(n->options.user, LOCUM_PHASE_PROMPT, done, total)) {
            return status_fail(a->error, LOCUM_E_CANCELLED, "the request was cancelled");
        }
    }
    return LOCUM_OK;
}

static void emit_text(struct answer *a, struct slice text) {
    if (text.size == 0 || a->stopped) return;
    locum_event event = {.kind = LOCUM_EVENT_TEXT, .text = text.data, .text_size = text.size};
    emit(a, &event);
}

static void emit_token(struct answer *a, locum_token token, uint32_t position) {
    a->stats.generated_tokens++;
    locum_event event = {.kind = LOCUM_EVENT_TOKEN,
                         .token = token,
                         .position = position,
                         .logprob = a->logprob,
                         .top = a->top,
                         .top_count = top_count(a)};
    if (emit(a, &event) || !a->piece) return;
    size_t size = detokenizer_push(&a->text, token, a->piece);
    emit_text(a, engine_stop_push(&a->stop, slice_make(a->piece, size)));
}

// What the detokenizer and the stops held back.
static void emit_rest(struct answer *a) {
    size_t size = detokenizer_flush(&a->text, a->piece);
    emit_text(a, engine_stop_push(&a->stop, slice_make(a->piece, size)));
    emit_text(a, engine_stop_rest(&a->stop));
}

static bool ends(const struct answer *a, locum_token token) {
    const struct tokenizer *tokenizer = a->native->layout.tokenizer;
    return engine_stop_is_token(&a->stop, token) ||
           (tokenizer && tokenizer_is_end(tokenizer, token));
}

static locum_status answer_tokens(struct answer *a, locum_finish *finish) {
    const locum_request *r = a->request;
    *finish = LOCUM_FINISH_LENGTH;
    while (!a->stopped && a->stats.generated_tokens < r->predict) {
        locum_token token = a->next;
        if (!r->ignore_end && ends(a, token)) {
            *finish = LOCUM_FINISH_END;
            return LOCUM_OK;
        }
        emit_token(a, token, a->session->count);
        if (a->stopped || a->stop.matched) break;
        if (r->structure != LOCUM_STRUCTURE_NONE && engine_grammar_is_done(&a->native->grammar)) {
            *finish = LOCUM_FINISH_END;
            return LOCUM_OK;
        }
        if (a->stats.generated_tokens == r->predict || a->session->count == a->session->context)
            return LOCUM_OK;
        STATUS_TRY(step(a, &token, 1, STORE_DECODE, true));
        a->stats.decode_steps++;
    }
    if (a->stopped) *finish = LOCUM_FINISH_STOPPED;
    return LOCUM_OK;
}

// ---- accounts -----------------------------------------------------------------------------------------------
static double seconds(uint64_t ns) {
    return (double)ns * 1e-9;
}

static struct mark mark_now(const struct engine_native *n) {
    struct mark mark = {.ns = clock_now_ns()};
    if (n->store) store_get_stats(n->store, &mark.store);
    return mark;
}

static void account_residents(const struct engine_native *n, uint64_t slots, locum_stats *s) {
    s->resident_dense = n->layout.weights.region.bytes;
    s->resident_kv = (uint64_t)(n->pool.pages - n->pool.free_count) * n->pool.page_bytes;
    s->resident_slots = slots;
}

static void account(struct answer *a, const struct mark *start, const struct mark *prompt_end,
                    const struct mark *end) {
    struct engine_native *n = a->native;
    locum_stats *s = &a->stats;
    s->seed = a->sampling.seed;
    s->load_s = n->load_s;
    s->prefill_s = seconds(prompt_end->ns - start->ns);
    s->decode_s = seconds(end->ns - prompt_end->ns);
    s->first_token_s = s->prefill_s;
    const struct store_stats *first = &start->store, *middle = &prompt_end->store,
                             *last = &end->store;
    s->hits_prefill = last->hits[STORE_PREFILL] - first->hits[STORE_PREFILL];
    s->misses_prefill = last->misses[STORE_PREFILL] - first->misses[STORE_PREFILL];
    s->hits_decode = last->hits[STORE_DECODE] - first->hits[STORE_DECODE];
    s->misses_decode = last->misses[STORE_DECODE] - first->misses[STORE_DECODE];
    s->bytes_read_prefill = middle->bytes_read - first->bytes_read;
    s->bytes_read_decode = last->bytes_read - middle->bytes_read;
    s->bytes_read = s->bytes_read_prefill + s->bytes_read_decode;
    s->io_wait_prefill_s = seconds(middle->wait_ns - first->wait_ns);
    s->io_wait_decode_s = seconds(last->wait_ns - middle->wait_ns);
    s->io_wait_s = s->io_wait_prefill_s + s->io_wait_decode_s;
    s->slots_bytes = last->pool_bytes;
    s->reads = last->reads - first->reads;
    s->reads_at_once = last->in_flight_most;
    s->reading_s = seconds(last->reading_ns - first->reading_ns);
    s->evictions = last->evictions - first->evictions;
    s->verified = last->verified - first->verified;
    s->warmed = last->warmed;
    s->read_ahead = last->hinted - first->hinted;
    s->read_ahead_used = last->hinted_used - first->hinted_used;
    s->read_ahead_wasted = last->hinted_wasted - first->hinted_wasted;
    const struct plan *plan = &n->layout.model.plan;
    for (uint32_t i = 0; i < plan->n_experts; i++) {
        s->demand_bytes_per_token += plan_expert_bytes(&plan->experts[i]) * plan->experts[i].used;
    }
    s->compute_s = s->prefill_s + s->decode_s - s->io_wait_s - s->sample_s;
    if (s->compute_s < 0) s->compute_s = 0;
    account_residents(n, last->resident_bytes, s);
    struct memory_process process;
    if (memory_process_read(&process, NULL) == LOCUM_OK) s->peak_rss = process.resident_peak;
}

// ---- checks -------------------------------------------------------------------------------------------------
static locum_status check(const struct engine_native *n, const locum_request *r,
                          locum_error *error) {
    if (!r->prompt || r->prompt_count == 0) {
        return status_fail(error, LOCUM_E_ARGUMENT,
                           "the prompt is empty: at least one token is needed");
    }
    if (r->prompt_count > n->plan.context) {
        return status_fail(error, LOCUM_E_CONTEXT,
                           "the prompt has %zu tokens, the context holds %u", r->prompt_count,
                           n->plan.context);
    }
    uint32_t vocabulary = n->layout.model.plan.vocabulary;
    for (size_t i = 0; i < r->prompt_count; i++) {
        if (r->prompt[i] >= 0 && (uint32_t)r->prompt[i] < vocabulary) continue;
        return status_fail(error, LOCUM_E_ARGUMENT,
                           "token %zu of the prompt is %d; ids are 0 to %u", i, r->prompt[i],
                           vocabulary - 1);
    }
    return LOCUM_OK;
}

static void release(struct answer *a) {
    arena_release(&a->arena);
    heap_free(a->top);
    heap_free(a->piece);
    heap_free(a->wants);
    heap_free(a->positions);
    engine_stop_close(&a->stop);
}

static locum_status prepare(struct answer *a) {
    struct engine_native *n = a->native;
    const struct tokenizer *tokenizer = n->layout.tokenizer;
    a->wants = heap_resize(NULL, n->plan.chunk * sizeof *a->wants);
    a->positions = heap_resize(NULL, n->plan.chunk * sizeof *a->positions);
    a->top = heap_resize(NULL, (top_count(a) + 1) * sizeof *a->top);
    if (tokenizer) {
        a->piece = heap_resize(NULL, detokenizer_push_max(tokenizer));
        detokenizer_init(&a->text, tokenizer, 0);
    }
    if (!a->wants || !a->positions || !a->top || (tokenizer && !a->piece)) {
        return status_fail(a->error, LOCUM_E_OUT_OF_MEMORY, "no memory for the request");
    }
    a->mirostat = sample_mirostat_begin(&a->sampling);
    if (tokenizer && sample_dry_is_on(&a->sampling)) {
        const locum_sampling *given = a->request->sampling;
        STATUS_TRY(engine_breakers_make(
            tokenizer, n->layout.model.plan.vocabulary, given ? given->dry_breakers : NULL,
            given ? given->dry_breaker_count : 0, &a->arena, &a->breakers, a->error));
        a->sampling.breakers = &a->breakers;
    }
    size_t most = tokenizer ? detokenizer_push_max(tokenizer) : 0;
    return engine_stop_open(a->request, most, &a->stop, a->error);
}

static locum_status run(struct answer *a, locum_finish *finish) {
    struct mark start = mark_now(a->native);
    locum_status status = read_prompt(a);
    struct mark prompt_end = mark_now(a->native);
    if (status == LOCUM_OK) status = answer_tokens(a, finish);
    if (status == LOCUM_OK && a->piece) emit_rest(a);
    if (status == LOCUM_OK && a->stop.matched && !a->stopped) {
        *finish = LOCUM_FINISH_STOP_TEXT;
        a->stats.stop = a->stop.which;
    }
    struct mark end = mark_now(a->native);
    account(a, &start, &prompt_end, &end);
    return status;
}

locum_status engine_generate(struct engine *engine, struct engine_session *session,
                             const locum_request *request, const atomic_bool *cancel,
                             locum_finish *finish, locum_stats *stats, locum_error *error) {
    struct engine_native *n = (struct engine_native *)engine;
    STATUS_TRY(check(n, request, error));
    struct answer a = {.native = n,
                       .session = session->session,
                       .request = request,
                       .cancel = cancel,
                       .error = error,
                       .stats = {.logits_hash = UINT64_C(0xcbf29ce484222325)}};
    arena_init(&a.arena, 0);
    STATUS_TRY(engine_sampling_resolve(&n->sampling, request->sampling,
                                       n->layout.model.plan.vocabulary, &n->log, &a.sampling,
                                       error));
    if (request->structure != LOCUM_STRUCTURE_NONE)
        STATUS_TRY(engine_grammar_begin(&n->grammar, n->layout.tokenizer, request,
                                        n->layout.model.plan.vocabulary, &n->size, error));
    locum_status status = prepare(&a);
    if (status == LOCUM_OK) status = run(&a, finish);
    release(&a);
    n->turns++;
    if (stats) *stats = a.stats;
    return status;
}
