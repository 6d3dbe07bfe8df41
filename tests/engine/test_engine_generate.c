// SPDX-License-Identifier: Apache-2.0
//
// Answers of the native engine through the public API.
#include "tests/engine/talk.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sample/sample.h"
#include "tests/fixtures/toy_forward.h"
#include "tests/platform/scratch.h"
#include "token/detokenizer.h"

enum { PROMPT = 100, WORDS = 320 };

static struct house house;
static locum_options options;
static locum_token prompt[TALK_TOKENS];
static struct talk base, talk; // large: not on the stack
static const char *moe_path;   // of the usual model

static int make_model(void **state) {
    if (scratch_create(state)) return -1;
    struct toy_spec spec = toy_spec_of("qwen3moe");
    static char path[4096];
    snprintf(path, sizeof path, "%s", talk_save(&spec));
    moe_path = path;
    return 0;
}

static int set_up(void **state) {
    (void)state;
    locum_options_init(&options);
    options.threads = 1;
    options.memory = LOCUM_MEMORY_ALL;
    talk_text(1, WORDS, prompt, TALK_TOKENS);
    talk_init(&base, prompt, PROMPT);
    talk_init(&talk, prompt, PROMPT);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    house_close(&house);
    return 0;
}

static void sampled(struct talk *t, uint64_t seed) {
    t->sampling.temperature = 1;
    t->sampling.top_k = 0;
    t->sampling.top_p = 1;
    t->sampling.min_p = 0;
    t->sampling.has_seed = true;
    t->sampling.seed = seed;
}

// A session of its own for one request.
static void run_alone(struct talk *t) {
    locum_session *session = house_session(&house);
    talk_must(t, session);
    locum_session_close(session);
}

// ---- numbers ------------------------------------------------------------------------------------
static const double *definition; // of the prompt's rows
static double worst, largest;

static void compare_row(struct talk *t, const locum_event *event) {
    (void)t;
    if (event->kind != LOCUM_EVENT_LOGITS || event->position >= PROMPT) return;
    for (uint32_t k = 0; k < WORDS; k++) {
        double expected = definition[event->position * WORDS + k];
        worst = fmax(worst, fabs(expected - (double)event->logits[k]));
        largest = fmax(largest, fabs(expected));
    }
}

static void logits_are_those_of_the_definition(void **state) {
    (void)state;
    static const char *const archs[] = {"gemma3",   "llama", "olmoe",
                                        "qwen2moe", "qwen3", "qwen3moe"};
    static double rows[PROMPT * WORDS];
    definition = rows;
    options.kv_type = LOCUM_KV_F32;
    for (size_t i = 0; i < sizeof archs / sizeof *archs; i++) {
        struct toy_spec spec = toy_spec_of(archs[i]);
        struct toy_model *toy = toy_create(&spec);
        toy_forward(toy, prompt, PROMPT, rows);
        house_open(&house, talk_save_toy(toy), &options);
        worst = largest = 0;
        talk.request.logits = LOCUM_LOGITS_ALL;
        talk.on_event = compare_row;
        run_alone(&talk);
        if (!(worst < 2e-4 * largest)) fail_msg("%s: off by %g of %g", archs[i], worst, largest);
        house_close(&house);
    }
}

static void forms_of_experts_are_one_model(void **state) {
    (void)state;
    struct toy_spec spec = toy_spec_of("llama");
    for (int form = TOY_STACKED; form <= TOY_EACH; form++) {
        spec.form = (enum toy_form)form;
        house_open(&house, talk_save(&spec), &options);
        run_alone(form == TOY_STACKED ? &base : &talk);
        if (form != TOY_STACKED) talk_same(&base, &talk, "another form of experts");
        house_close(&house);
    }
}

// Each token is what lib/sample draws from the row before it, at the token's own position.
static struct sampler *sampler;
static struct sample_settings drawing;

static void draw_too(struct talk *t, const locum_event *event) {
    static locum_token expected;
    if (event->kind == LOCUM_EVENT_TOKEN) assert_int_equal(event->token, expected);
    if (event->kind != LOCUM_EVENT_LOGITS) return;
    struct sample_mirostat unused = {0};
    struct sample_input input = {.logits = event->logits, .position = event->position + 1};
    assert_int_equal(sampler_draw(sampler, &drawing, &unused, &input, &expected, &t->error),
                     LOCUM_OK);
}

static void tokens_are_drawn_at_their_positions(void **state) {
    (void)state;
    struct kernels_table kernels;
    struct kernels_cpu none = {false, false, false, false};
    assert_true(kernels_init(&kernels, KERNELS_TIER_REF, &none));
    assert_int_equal(sampler_create(WORDS, 100, &kernels, &sampler, NULL), LOCUM_OK);
    drawing = sample_settings_off();
    drawing.seed = 77;
    house_open(&house, moe_path, &options);
    sampled(&talk, 77);
    talk.on_event = draw_too;
    run_alone(&talk);
    assert_int_equal(talk.count, 40);
    sampler_destroy(sampler);
}

// ---- settings -----------------------------------------------------------------------------------
static void answer_does_not_depend_on_settings(void **state) {
    (void)state;
    uint64_t floor = house_floor(moe_path, &options);
    const struct {
        const char *what;
        locum_options set;
    } cases[] = {
        {"2 threads", {.threads = 2, .memory = LOCUM_MEMORY_ALL}},
        {"more threads than processors, auto", {.threads = 7, .memory = LOCUM_MEMORY_AUTO}},
        {"floor", {.threads = 1, .memory = floor}},
        {"a little more, 2 threads", {.threads = 2, .memory = floor + 300000}},
        {"chunk 1", {.threads = 1, .chunk = 1, .memory = floor * 2}},
        {"chunk 7, buffered",
         {.threads = 1, .chunk = 7, .memory = floor * 2, .io = LOCUM_IO_BUFFERED}},
        {"chunk 64, C kernels", {.threads = 2, .chunk = 64, .memory = floor * 2, .cpu = "ref"}},
        {"a smaller context", {.threads = 1, .context = 200, .memory = LOCUM_MEMORY_ALL}},
    };
    sampled(&base, 42);
    sampled(&talk, 42);
    house_open(&house, moe_path, &options);
    run_alone(&base);
    assert_int_equal(base.count, 40);
    house_close(&house);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        locum_options set = cases[i].set;
        set.struct_size = sizeof set;
        house_open(&house, moe_path, &set);
        run_alone(&talk);
        talk_same(&base, &talk, cases[i].what);
        house_close(&house);
    }
}

static void seeds(void **state) {
    (void)state;
    house_open(&house, moe_path, &options);
    sampled(&base, 1);
    sampled(&talk, 1);
    run_alone(&base);
    run_alone(&talk);
    talk_same(&base, &talk, "the same seed");
    assert_int_equal(talk.stats.seed, 1);
    sampled(&talk, 2);
    run_alone(&talk);
    assert_memory_not_equal(base.ids, talk.ids, base.count * sizeof *base.ids);
    talk.sampling.has_seed = false; // drawn, told, and then the same again
    run_alone(&talk);
    sampled(&base, talk.stats.seed);
    run_alone(&base);
    talk_same(&base, &talk, "a seed that was drawn");
    uint64_t first = talk.stats.seed;
    talk.sampling.has_seed = false;
    run_alone(&talk);
    assert_true(talk.stats.seed != first);
}

// ---- sessions -----------------------------------------------------------------------------------
// What a session has computed is a prefix: only the rest is computed, with the bits of a cold run.
static void prefix_is_reused(void **state) {
    (void)state;
    house_open(&house, moe_path, &options);
    locum_session *session = house_session(&house);
    base.request.predict = 20;
    talk_must(&base, session);
    assert_int_equal(base.stats.computed_tokens, PROMPT);
    // The answer and ten tokens more. The last token of the answer was not computed yet.
    memcpy(prompt + PROMPT, base.ids, 20 * sizeof *prompt);
    talk.request.prompt_count = PROMPT + 20 + 10;
    talk_must(&talk, session);
    assert_int_equal(talk.stats.prompt_tokens, PROMPT + 30);
    assert_int_equal(talk.stats.computed_tokens, 11);
    talk_init(&base, prompt, PROMPT + 30);
    run_alone(&base); // cold
    assert_int_equal(base.stats.computed_tokens, PROMPT + 30);
    talk_same(&base, &talk, "a warm prefix");
    talk_must(&talk, session); // the same prompt: its last token alone
    assert_int_equal(talk.stats.computed_tokens, 1);
    talk_same(&base, &talk, "the same prompt again");
    prompt[40] ^= 1; // an edit in the middle
    talk_must(&talk, session);
    assert_int_equal(talk.stats.computed_tokens, PROMPT + 30 - 40);
    run_alone(&base);
    talk_same(&base, &talk, "an edit in the middle");
    talk.request.prompt_count = base.request.prompt_count = 10; // a shorter one
    talk_must(&talk, session);
    assert_int_equal(talk.stats.computed_tokens, 1);
    run_alone(&base);
    talk_same(&base, &talk, "cut back");
    locum_session_reset(session);
    talk_must(&talk, session);
    assert_int_equal(talk.stats.computed_tokens, 10);
    talk_same(&base, &talk, "after a reset");
    locum_session_close(session);
}

// Conversations taking turns, token by token, in a pool at its floor: each has the answer that it has
// without its neighbours.
static void sessions_do_not_meet(void **state) {
    (void)state;
    enum { TURNS = 15, TALKERS = 4, STEP = 20 };
    static locum_token texts[TALKERS][PROMPT + TURNS];
    static struct talk alone[TALKERS];
    options.memory = house_floor(moe_path, &options);
    house_open(&house, moe_path, &options);
    for (uint32_t s = 0; s < TALKERS; s++) {
        talk_text(7 + s, WORDS, texts[s], PROMPT);
        talk_init(&alone[s], texts[s], PROMPT - STEP * s);
        alone[s].request.predict = TURNS;
        sampled(&alone[s], 5);
        run_alone(&alone[s]);
    }
    locum_session *sessions[TALKERS];
    for (uint32_t s = 0; s < TALKERS; s++)
        sessions[s] = house_session(&house);
    for (uint32_t turn = 0; turn < TURNS; turn++) {
        for (uint32_t s = 0; s < TALKERS; s++) {
            size_t count = PROMPT - STEP * s + turn;
            talk_init(&talk, texts[s], count);
            talk.request.predict = 1;
            sampled(&talk, 5);
            talk_must(&talk, sessions[s]);
            if (turn > 0) assert_int_equal(talk.stats.computed_tokens, 1);
            assert_int_equal(talk.ids[0], alone[s].ids[turn]);
            assert_true(talk.row_hash[0] == alone[s].row_hash[turn]);
            texts[s][count] = talk.ids[0];
        }
    }
    for (uint32_t s = 0; s < TALKERS; s++)
        locum_session_close(sessions[s]);
}

// The cache is shared by the sessions of a model; who finds it used up is told, and can go on later.
static void sessions_share_the_cache(void **state) {
    (void)state;
    options.context = 256;
    house_open(&house, moe_path, &options);
    locum_session *first = house_session(&house), *second = house_session(&house);
    base.request.predict = talk.request.predict = 1;
    base.request.prompt_count = 190; // three of four pages
    talk_must(&base, first);
    talk.request.prompt_count = 65;
    assert_int_equal(talk_run(&talk, second), LOCUM_E_CONTEXT);
    assert_non_null(strstr(talk.error.text, "256"));
    talk.request.prompt_count = 64;
    talk_must(&talk, second);
    locum_session_close(first);
    talk.request.prompt_count = 65;
    talk_must(&talk, second);
    locum_session_close(second);
}

// ---- ends ---------------------------------------------------------------------------------------
static void host_stops_an_answer(void **state) {
    (void)state;
    house_open(&house, moe_path, &options);
    base.request.logits = talk.request.logits = LOCUM_LOGITS_ALL;
    run_alone(&base);
    assert_int_equal(base.finish, LOCUM_FINISH_LENGTH);
    // In the middle of the prompt's rows, at a row, a token and a text of the answer.
    static const uint32_t places[] = {1,          50,         PROMPT,     PROMPT + 1,
                                      PROMPT + 2, PROMPT + 3, PROMPT + 20};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        locum_session *session = house_session(&house);
        talk.stop_at = places[i];
        talk_must(&talk, session);
        assert_int_equal(talk.finish, LOCUM_FINISH_STOPPED);
        assert_int_equal(talk.events, places[i]); // and none after it
        assert_int_equal(talk.stats.generated_tokens, talk.count);
        assert_memory_equal(talk.ids, base.ids, talk.count * sizeof *base.ids);
        talk.stop_at = 0;
        talk.request.logits = LOCUM_LOGITS_SAMPLED;
        talk_must(&talk, session); // the session is as good as any
        assert_memory_equal(talk.ids, base.ids, base.count * sizeof *base.ids);
        talk.request.logits = LOCUM_LOGITS_ALL;
        locum_session_close(session);
    }
}

static void end_tokens(void **state) {
    (void)state;
    house_open(&house, moe_path, &options);
    run_alone(&base);
    house_close(&house);
    uint32_t at = 10;
    for (uint32_t i = 0; i < at; i++) // the first time that it comes
        if (base.ids[i] == base.ids[at]) at++, i = 0;
    assert_true(at < base.count);
    struct toy_spec spec = toy_spec_of("qwen3moe");
    struct toy_model *toy = toy_create(&spec);
    toy_set_u32(toy, "tokenizer.ggml.eos_token_id", (uint32_t)base.ids[at]);
    house_open(&house, talk_save_toy(toy), &options);
    talk.request.ignore_end = false;
    run_alone(&talk);
    assert_int_equal(talk.finish, LOCUM_FINISH_END);
    assert_int_equal(talk.count, at); // the end token itself is no part of the answer
    assert_int_equal(talk.stats.generated_tokens, at);
    assert_memory_equal(talk.ids, base.ids, at * sizeof *base.ids);
    talk.request.ignore_end = true;
    run_alone(&talk);
    assert_int_equal(talk.count, base.count);
    assert_int_equal(talk.finish, LOCUM_FINISH_LENGTH);
    assert_memory_equal(talk.ids, base.ids, base.count * sizeof *base.ids);
}

static void nothing_to_predict(void **state) {
    (void)state;
    house_open(&house, moe_path, &options);
    talk.request.predict = 0;
    run_alone(&talk);
    assert_int_equal(talk.finish, LOCUM_FINISH_LENGTH);
    assert_int_equal(talk.count, 0);
    assert_int_equal(talk.stats.generated_tokens, 0);
    assert_int_equal(talk.stats.computed_tokens, PROMPT);
    assert_int_equal(talk.stats.decode_steps, 0);
    assert_int_equal(talk.rows, 1); // of the prompt's last token
}

static void answer_until_the_context_is_full(void **state) {
    (void)state;
    options.context = 128;
    house_open(&house, moe_path, &options);
    talk.request.predict = UINT32_MAX;
    run_alone(&talk);
    assert_int_equal(talk.finish, LOCUM_FINISH_LENGTH);
    assert_int_equal(talk.count, 128 - PROMPT + 1); // the last one is drawn, but has no place
    assert_int_equal(talk.positions[talk.count - 1], 128);
    talk.request.prompt_count = 128; // full from the start
    run_alone(&talk);
    assert_int_equal(talk.count, 1);
    assert_int_equal(talk.finish, LOCUM_FINISH_LENGTH);
}

static void prompt_that_does_not_fit(void **state) {
    (void)state;
    options.context = 128;
    house_open(&house, moe_path, &options);
    locum_session *session = house_session(&house);
    talk_must(&base, session);
    talk.request.prompt_count = 129;
    assert_int_equal(talk_run(&talk, session), LOCUM_E_CONTEXT);
    assert_non_null(strstr(talk.error.text, "129"));
    assert_non_null(strstr(talk.error.text, "128"));
    assert_int_equal(talk.events, 0);
    assert_int_equal(talk.stats.computed_tokens, 0);
    talk.request.prompt_count = PROMPT; // nothing was computed, nothing was lost
    talk_must(&talk, session);
    assert_int_equal(talk.stats.computed_tokens, 1);
    locum_session_close(session);
}

// ---- cancelling ---------------------------------------------------------------------------------
struct canceller {
    locum_session *session;
    atomic_int asked, done; // the main thread asks, the other one cancels
};

static void *cancel_thread(void *user) {
    struct canceller *c = user;
    while (!atomic_load(&c->asked))
        sched_yield();
    locum_session_cancel(c->session);
    atomic_store(&c->done, 1);
    return NULL;
}

static void ask(struct canceller *c) {
    if (atomic_exchange(&c->asked, 1)) return;
    while (!atomic_load(&c->done))
        sched_yield();
}

static bool ask_in_prompt(void *user, locum_phase phase, uint64_t done, uint64_t total) {
    struct canceller *c = user;
    assert_true(done <= total);
    if (phase == LOCUM_PHASE_PROMPT && done >= 32 && c->session) ask(c);
    return false;
}

static void ask_in_answer(struct talk *t, const locum_event *event) {
    if (event->kind == LOCUM_EVENT_TOKEN && t->count == 10) ask(t->user);
}

static void cancelled_by_another_thread(void **state) {
    (void)state;
    struct canceller c = {0};
    options.chunk = 16;
    options.threads = 2;
    options.progress = ask_in_prompt;
    options.user = &c;
    house_open(&house, moe_path, &options);
    run_alone(&base);
    for (int in_answer = 0; in_answer < 2; in_answer++) {
        locum_session *session = house_session(&house);
        struct canceller second = {.session = session};
        pthread_t thread;
        if (!in_answer) c = second;
        struct canceller *used = in_answer ? &second : &c;
        assert_int_equal(pthread_create(&thread, NULL, cancel_thread, used), 0);
        talk_init(&talk, prompt, PROMPT);
        talk.user = used;
        talk.on_event = in_answer ? ask_in_answer : NULL;
        assert_int_equal(talk_run(&talk, session), LOCUM_E_CANCELLED);
        pthread_join(thread, NULL);
        assert_int_equal(talk.error.status, LOCUM_E_CANCELLED);
        assert_int_equal(talk.count, in_answer ? 10 : 0);
        // Told how far it came.
        assert_int_equal(talk.stats.computed_tokens, in_answer ? PROMPT : 32);
        assert_int_equal(talk.stats.generated_tokens, talk.count);
        talk.on_event = NULL;
        talk_must(&talk, session); // the flag is down again, what was computed is still there
        assert_int_equal(talk.stats.computed_tokens, in_answer ? 1 : PROMPT - 32);
        talk_same(&base, &talk, in_answer ? "after an answer" : "after a prompt");
        locum_session_close(session);
        c.session = NULL;
    }
}

static void cancelled_before_it_began(void **state) {
    (void)state;
    house_open(&house, moe_path, &options);
    locum_session *session = house_session(&house);
    run_alone(&base);
    locum_session_cancel(session);
    assert_int_equal(talk_run(&talk, session), LOCUM_E_CANCELLED);
    assert_int_equal(talk.events, 0);
    talk_must(&talk, session);
    talk_same(&base, &talk, "after a request that did not begin");
    locum_session_close(session);
}

static bool stop_in_prompt(void *user, locum_phase phase, uint64_t done, uint64_t total) {
    (void)total;
    return phase == *(const locum_phase *)user && done >= 32;
}

static void cancelled_by_progress(void **state) {
    (void)state;
    locum_phase phase = LOCUM_PHASE_PROMPT;
    options.chunk = 16;
    options.progress = stop_in_prompt;
    options.user = &phase;
    house_open(&house, moe_path, &options);
    locum_session *session = house_session(&house);
    assert_int_equal(talk_run(&talk, session), LOCUM_E_CANCELLED);
    assert_int_equal(talk.stats.computed_tokens, 32);
    locum_session_close(session);
    house_close(&house);
    phase = LOCUM_PHASE_LOAD;
    assert_int_equal(house_try(&house, moe_path, &options), LOCUM_E_CANCELLED);
    assert_null(house.model);
}

// ---- events -------------------------------------------------------------------------------------
static void rows_of_logits(void **state) {
    (void)state;
    house_open(&house, moe_path, &options);
    talk.request.logits = LOCUM_LOGITS_NONE;
    run_alone(&talk);
    assert_int_equal(talk.rows, 0);
    uint64_t none = talk.stats.logits_hash;
    run_alone(&base);                            // SAMPLED
    assert_true(base.stats.logits_hash == none); // of what was computed, asked for or not
    assert_int_equal(base.rows, base.count);
    for (uint32_t i = 0; i < base.rows; i++)
        assert_int_equal(base.row_position[i], PROMPT - 1 + i);
    talk.request.logits = LOCUM_LOGITS_ALL;
    run_alone(&talk);
    assert_int_equal(talk.rows, PROMPT - 1 + base.rows);
    for (uint32_t i = 0; i < talk.rows; i++)
        assert_int_equal(talk.row_position[i], i);
    assert_memory_equal(talk.row_hash + PROMPT - 1, base.row_hash,
                        base.rows * sizeof *base.row_hash);
    assert_memory_equal(talk.ids, base.ids, base.count * sizeof *base.ids);
    for (uint32_t i = 0; i < base.count; i++)
        assert_int_equal(base.positions[i], PROMPT + i);
}

// Bytes that are left of a character that begins with `lead`, -1: no character begins so.
static int bytes_after(unsigned char lead) {
    return lead < 0x80   ? 0
           : lead < 0xc2 ? -1
           : lead < 0xe0 ? 1
           : lead < 0xf0 ? 2
           : lead < 0xf5 ? 3
                         : -1;
}

static void whole_characters(struct talk *t, const locum_event *event) {
    (void)t;
    if (event->kind != LOCUM_EVENT_TEXT) return;
    for (size_t i = 0; i < event->text_size;) {
        int left = bytes_after((unsigned char)event->text[i++]);
        assert_true(left >= 0);
        for (; left > 0; left--, i++) {
            assert_true(i < event->text_size);
            assert_int_equal(event->text[i] & 0xc0, 0x80);
        }
    }
}

// A toy writes random bytes: most of them are no characters.
static void text_is_whole_characters(void **state) {
    (void)state;
    house_open(&house, moe_path, &options);
    talk.request.predict = 600;
    talk.on_event = whole_characters;
    sampled(&talk, 11);
    run_alone(&talk);
    assert_true(talk.texts > 100);
    talk.text[talk.text_size] = 0;
    assert_non_null(strstr(talk.text, "\xef\xbf\xbd"));
    // Bytes of the tokens below 128 come through as they are, in order.
    const locum_tokenizer *tokenizer = locum_model_tokenizer(house.model);
    size_t at = 0;
    for (uint32_t i = 0; i < talk.count; i++) {
        const char *bytes;
        size_t size = locum_token_bytes(tokenizer, talk.ids[i], false, &bytes);
        for (size_t k = 0; k < size; k++) {
            if ((unsigned char)bytes[k] >= 0x80) continue;
            while (at < talk.text_size && talk.text[at] != bytes[k]) {
                assert_true((unsigned char)talk.text[at] >= 0x80);
                at++;
            }
            assert_true(at++ < talk.text_size);
        }
    }
}

// The text of the first `count` tokens, all their bytes at once.
static size_t text_of(const struct talk *t, uint32_t count, char *text) {
    const locum_tokenizer *tokenizer = locum_model_tokenizer(house.model);
    struct detokenizer d;
    size_t used = 0;
    detokenizer_init(&d, NULL, 0);
    for (uint32_t i = 0; i < count; i++) {
        const char *bytes;
        size_t size = locum_token_bytes(tokenizer, t->ids[i], false, &bytes);
        if (size) used += detokenizer_push_bytes(&d, slice_make(bytes, size), text + used);
    }
    return used + detokenizer_flush(&d, text + used);
}

// An answer may end in the middle of a character: what is left of it becomes U+FFFD.
static void text_that_ends_anywhere(void **state) {
    (void)state;
    static char expected[TALK_TEXT];
    house_open(&house, moe_path, &options);
    sampled(&base, 11);
    run_alone(&base);
    uint32_t early = 0;
    for (uint32_t count = 1; count <= base.count; count++) {
        sampled(&talk, 11);
        talk.request.predict = count;
        run_alone(&talk);
        size_t size = text_of(&base, count, expected);
        assert_int_equal(talk.text_size, size);
        assert_memory_equal(talk.text, expected, size);
        const char *bytes;
        bool one = locum_token_bytes(locum_model_tokenizer(house.model), base.ids[count - 1], false,
                                     &bytes) == 1;
        early += one && bytes_after((unsigned char)bytes[0]) > 0;
    }
    assert_true(early > 3); // it did end in the middle, several times
}

static void model_without_a_vocabulary(void **state) {
    (void)state;
    struct toy_spec spec = toy_spec_of("qwen3moe");
    spec.tokens = TOY_NO_VOCABULARY;
    house_open(&house, talk_save(&spec), &options);
    assert_null(locum_model_tokenizer(house.model));
    talk.request.ignore_end = false;
    run_alone(&talk);
    assert_int_equal(talk.count, 40);
    assert_int_equal(talk.texts, 0);
}

// ---- structures ---------------------------------------------------------------------------------
static void ask_for(struct talk *t, const char *grammar) {
    t->request.structure = LOCUM_STRUCTURE_GRAMMAR;
    t->request.structure_text = grammar;
    t->request.structure_size = strlen(grammar);
    t->request.ignore_end = false;
}

static void answer_keeps_its_grammar(void **state) {
    (void)state;
    house_open(&house, moe_path, &options);
    for (uint64_t seed = 1; seed < 9; seed++) {
        sampled(&talk, seed);
        ask_for(&talk, "root ::= (\"yes\" | \"no\") [0-9]{3,5} \";\"");
        run_alone(&talk);
        talk.text[talk.text_size] = 0;
        const char *number = talk.text + (talk.text[0] == 'y' ? 3 : 2);
        size_t digits = strspn(number, "0123456789");
        assert_true(strncmp(talk.text, talk.text[0] == 'y' ? "yes" : "no", 2) == 0);
        assert_true(digits >= 3 && digits <= 5);
        assert_string_equal(number + digits, ";");
        assert_int_equal(talk.finish, LOCUM_FINISH_END);
    }
    ask_for(&talk, "root ::= \"a");
    locum_session *session = house_session(&house);
    assert_int_equal(talk_run(&talk, session), LOCUM_E_ARGUMENT);
    locum_session_close(session);
}

// Opens the model with that budget; how the request ends that comes first with a structure, after one without.
static locum_status structure_with(uint64_t memory, locum_session **session, uint64_t *slots) {
    options.memory = memory;
    house_open(&house, moe_path, &options);
    *session = house_session(&house);
    talk.request.structure = LOCUM_STRUCTURE_NONE;
    talk_must(&talk, *session);
    *slots = talk.stats.slots_bytes;
    ask_for(&talk, "root ::= [a-z]{20}");
    return talk_run(&talk, *session);
}

// What a structure needs comes out of the budget: at the floor there is nothing to take, with a little more the
// experts make room, and later budgets count it.
static void structures_take_their_memory(void **state) {
    (void)state;
    uint64_t memory = house_floor(moe_path, &options), slots;
    uint64_t most = memory + (8 << 20);
    locum_session *session;
    while (structure_with(memory, &session, &slots) != LOCUM_OK) {
        assert_int_equal(talk.status, LOCUM_E_BUDGET);
        assert_non_null(strstr(talk.error.text, "held to a structure needs"));
        talk.request.structure = LOCUM_STRUCTURE_NONE; // the session lives
        talk_must(&talk, session);
        locum_session_close(session);
        house_close(&house);
        memory += 64 << 10;
        assert_true(memory < most);
    }
    assert_true(memory > house_floor(moe_path, &options) + (512 << 10));
    assert_int_equal(talk.text_size, 20);
    assert_true(talk.stats.slots_bytes < slots);
    locum_error error;
    unsigned long long least;
    assert_int_equal(locum_model_set_memory(house.model, 1000, &error), LOCUM_E_BUDGET);
    assert_int_equal(
        sscanf(error.text, "1000 bytes are too little: this model needs %llu (", &least), 1);
    assert_true(least <= memory && least + (128 << 10) > memory);
    assert_int_equal(locum_model_set_memory(house.model, least, &error), LOCUM_OK);
    talk_must(&talk, session);
    locum_session_close(session);
}

// ---- accounts -----------------------------------------------------------------------------------
static void statistics_add_up(void **state) {
    (void)state;
    options.memory = house_floor(moe_path, &options) + 200000;
    house_open(&house, moe_path, &options);
    assert_true(house.plan.streaming);
    run_alone(&base);
    run_alone(&talk); // counts of one request, not of all
    for (int i = 0; i < 2; i++) {
        const locum_stats *s = i ? &talk.stats : &base.stats;
        assert_int_equal(s->prompt_tokens, PROMPT);
        assert_int_equal(s->generated_tokens, 40);
        assert_int_equal(s->decode_steps, 39);
        assert_int_equal(s->hits_decode + s->misses_decode, 39 * 3 * 2); // layers, experts each
        assert_true(s->misses_prefill > 0 && s->misses_decode > 0);
        assert_int_equal(s->bytes_read, s->bytes_read_prefill + s->bytes_read_decode);
        uint64_t expert = 3 * 32 * 64 * 4; // at least its weights, at most a block around each
        assert_true(s->bytes_read_decode >= s->misses_decode * expert);
        assert_true(s->bytes_read_decode <=
                    (s->misses_decode + s->read_ahead) * (expert + 6 * 4096));
        assert_true(s->read_ahead_used <= s->hits_prefill + s->hits_decode);
        assert_int_equal(s->demand_bytes_per_token, 3 * 2 * expert);
        assert_true(s->slots_bytes <= house.plan.slots);
        assert_true(s->prefill_s > 0 && s->decode_s > 0 && s->compute_s > 0 && s->peak_rss > 0);
        assert_true(s->io_wait_s <= s->prefill_s + s->decode_s);
        double difference = s->io_wait_s - s->io_wait_prefill_s - s->io_wait_decode_s;
        assert_true(difference < 1e-9 && difference > -1e-9);
    }
}

// The budget falls to the least and rises again while an answer is written.
static uint64_t least_memory;

static void change_memory(struct talk *t, const locum_event *event) {
    locum_error error;
    if (event->kind != LOCUM_EVENT_TOKEN || t->count % 10 != 0) return;
    uint64_t memory = t->count % 20 == 0 ? LOCUM_MEMORY_ALL : least_memory;
    if (locum_model_set_memory(house.model, memory, &error) != LOCUM_OK) fail_msg("%s", error.text);
}

static void memory_can_change_while_it_answers(void **state) {
    (void)state;
    house_open(&house, moe_path, &options);
    run_alone(&base);
    locum_error error;
    assert_int_equal(locum_model_set_memory(house.model, LOCUM_MEMORY_AUTO, &error),
                     LOCUM_E_ARGUMENT);
    assert_int_equal(locum_model_set_memory(house.model, 1000, &error), LOCUM_E_BUDGET);
    unsigned long long least;
    assert_int_equal(
        sscanf(error.text, "1000 bytes are too little: this model needs %llu (", &least), 1);
    least_memory = least;
    assert_int_equal(locum_model_set_memory(house.model, least - 1, &error), LOCUM_E_BUDGET);
    talk.on_event = change_memory;
    run_alone(&talk);
    talk_same(&base, &talk, "a budget that changes");
    assert_true(talk.stats.evictions > 0);
    assert_int_equal(locum_model_set_memory(house.model, least, &error), LOCUM_OK);
    talk.on_event = NULL;
    run_alone(&talk);
    talk_same(&base, &talk, "the least budget");
    assert_true(talk.stats.slots_bytes < base.stats.slots_bytes / 2);
    assert_true(talk.stats.resident_slots <= talk.stats.slots_bytes);
}

// Residents are counted where they are, so they follow what happens: the floor's few slots are full,
// with room for all there is as much as was called for, and pages come with tokens.
static void residents_are_what_memory_holds(void **state) {
    (void)state;
    options.memory = house_floor(moe_path, &options);
    house_open(&house, moe_path, &options);
    run_alone(&base);
    assert_true(base.stats.evictions > 0);
    assert_true(base.stats.resident_slots > 0);
    assert_true(base.stats.resident_slots <= base.stats.slots_bytes);
    assert_int_equal(base.stats.resident_dense, house.plan.dense);
    assert_true(base.stats.reads > 0 && base.stats.reading_s > 0);
    uint64_t misses = base.stats.misses_prefill + base.stats.misses_decode;
    // gate, up, down: never in pieces
    assert_true(base.stats.reads <= (misses + base.stats.read_ahead) * 3);
    assert_true(base.stats.read_ahead_used > 0);
    assert_true(base.stats.reads_at_once > 1);
    house_close(&house);
    options.memory = LOCUM_MEMORY_ALL;
    house_open(&house, moe_path, &options);
    locum_session *session = house_session(&house);
    talk.request.prompt_count = talk.request.predict = 1;
    talk_must(&talk, session);
    locum_stats first = talk.stats;
    assert_int_equal(first.evictions, 0);
    assert_true(first.resident_slots < house.plan.slots / 2); // one token's experts
    talk.request.prompt_count = PROMPT;
    talk.request.predict = 200;
    talk_must(&talk, session);
    assert_true(talk.stats.resident_kv > first.resident_kv && first.resident_kv > 0);
    assert_true(talk.stats.resident_kv <= house.plan.kv);
    assert_true(talk.stats.resident_slots > first.resident_slots);
    assert_true(talk.stats.resident_slots <= talk.stats.slots_bytes);
    uint64_t slots = talk.stats.resident_slots;
    talk_must(&talk, session); // called again: nothing new
    assert_int_equal(talk.stats.misses_prefill + talk.stats.misses_decode, 0);
    assert_int_equal(talk.stats.resident_slots, slots);
    assert_int_equal(talk.stats.reads, 0);
    locum_session_close(session);
}

static void failed_arguments_leave_no_statistics(void **state) {
    (void)state;
    house_open(&house, moe_path, &options);
    locum_session *session = house_session(&house);
    memset(&talk.stats, 0xee, sizeof talk.stats);
    talk.request.prompt_count = 0;
    assert_int_equal(talk_run(&talk, session), LOCUM_E_ARGUMENT);
    assert_int_equal(talk.stats.generated_tokens, 0);
    assert_int_equal(talk.stats.bytes_read, 0);
    locum_session_close(session);
}

// ---- numbers that are none ----------------------------------------------------------------------
static void numeric_error_of_a_request(void **state) {
    (void)state;
    house_open(&house, moe_path, &options);
    run_alone(&base);
    house_close(&house);
    struct toy_spec spec = toy_spec_of("qwen3moe");
    struct toy_model *toy = toy_create(&spec);
    static const uint32_t bits = 0x7fc00000;
    memcpy(&toy_tensor(toy, "token_embd.weight")->values[319 * spec.width], &bits, sizeof bits);
    house_open(&house, talk_save_toy(toy), &options);
    for (uint32_t i = 0; i < PROMPT; i++)
        assert_int_not_equal(prompt[i], 319);
    locum_session *session = house_session(&house);
    talk_must(&talk, session); // nobody said 319
    talk_same(&base, &talk, "before");
    prompt[60] = 319;
    assert_int_equal(talk_run(&talk, session), LOCUM_E_NUMERIC);
    assert_non_null(strstr(talk.error.text, "layer 0"));
    talk_text(1, WORDS, prompt, PROMPT);
    talk_must(&talk, session);
    assert_true(talk.stats.computed_tokens <= PROMPT - 60 + 1);
    talk_same(&base, &talk, "after");
    locum_session_close(session);
}

int main(void) {
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(logits_are_those_of_the_definition),
        TEST(forms_of_experts_are_one_model),
        TEST(tokens_are_drawn_at_their_positions),
        TEST(answer_does_not_depend_on_settings),
        TEST(seeds),
        TEST(prefix_is_reused),
        TEST(sessions_do_not_meet),
        TEST(sessions_share_the_cache),
        TEST(host_stops_an_answer),
        TEST(end_tokens),
        TEST(nothing_to_predict),
        TEST(answer_until_the_context_is_full),
        TEST(prompt_that_does_not_fit),
        TEST(cancelled_by_another_thread),
        TEST(cancelled_before_it_began),
        TEST(cancelled_by_progress),
        TEST(rows_of_logits),
        TEST(text_is_whole_characters),
        TEST(text_that_ends_anywhere),
        TEST(model_without_a_vocabulary),
        TEST(answer_keeps_its_grammar),
        TEST(structures_take_their_memory),
        TEST(statistics_add_up),
        TEST(memory_can_change_while_it_answers),
        TEST(residents_are_what_memory_holds),
        TEST(failed_arguments_leave_no_statistics),
        TEST(numeric_error_of_a_request),
    };
    return cmocka_run_group_tests(tests, make_model, scratch_remove);
}
