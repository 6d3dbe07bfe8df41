// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "session/session.h"

enum { POSITIONS = 300, PAGES = 5, STATE = 32 }; // 5 pages of 64; floats of a recurrent state

static struct arena arena;
static struct session_pool pool;
static uint64_t offsets[1];
static const struct exec_kv_layout layout = {.page_bytes = 4096, .offset = offsets};

static int set_up_with(uint64_t state_bytes) {
    locum_error error;
    arena_init(&arena, 0);
    locum_status status = session_pool_init(&pool, &layout, POSITIONS, state_bytes, &arena, &error);
    return status == LOCUM_OK ? 0 : -1;
}

static int set_up(void **state) {
    (void)state;
    return set_up_with(0);
}

static int set_up_recurrent(void **state) {
    (void)state;
    return set_up_with(STATE * sizeof(float));
}

static int tear_down(void **state) {
    (void)state;
    assert_int_equal(pool.free_count, PAGES); // every session gave its pages back
    assert_false(pool.state_taken);
    session_pool_release(&pool);
    arena_release(&arena);
    return 0;
}

static struct session *open_session(uint32_t context) {
    struct session *session;
    locum_error error;
    assert_int_equal(session_create(&pool, context, &session, &error), LOCUM_OK);
    return session;
}

static void grow(struct session *session, const locum_token *tokens, uint32_t count) {
    locum_error error;
    assert_int_equal(session_reserve(session, session->count + count, &error), LOCUM_OK);
    session_step(session, EXEC_NO_CHECKPOINT);
    session_append(session, tokens, count);
}

static void the_longest_computed_prefix_is_kept(void **state) {
    (void)state;
    struct session *s = open_session(256);
    locum_token text[200];
    for (int i = 0; i < 200; i++) text[i] = i;
    assert_int_equal(session_keep_prefix(s, text, 100), 0); // nothing is computed yet
    grow(s, text, 100);
    assert_int_equal(session_keep_prefix(s, text, 150), 100); // only the suffix is new
    assert_int_equal(session_keep_prefix(s, text, 100), 99);  // the last token is computed again
    text[40] = -1;
    assert_int_equal(session_keep_prefix(s, text, 200), 40); // up to the first difference
    assert_int_equal(s->count, 40);
    assert_int_equal(session_keep_prefix(s, text, 1), 0);
    session_destroy(s);
}

static void pages_come_as_the_text_grows_and_go_when_it_is_cut(void **state) {
    (void)state;
    struct session *s = open_session(256);
    locum_token text[256] = {0};
    grow(s, text, 64);
    assert_int_equal(s->page_count, 1);
    uint8_t *first = s->pages[0];
    grow(s, text, 1);
    assert_int_equal(s->page_count, 2);
    assert_ptr_equal(s->pages[0], first); // what is computed does not move
    assert_ptr_not_equal(s->pages[1], first);
    grow(s, text, 191);
    assert_int_equal(s->page_count, 4);
    session_cut(s, 64);
    assert_int_equal(s->page_count, 1);
    assert_int_equal(pool.free_count, PAGES - 1);
    session_cut(s, 0);
    assert_int_equal(s->page_count, 0);
    session_destroy(s);
}

static void pages_are_never_shared(void **state) {
    (void)state;
    struct session *a = open_session(192), *b = open_session(192);
    locum_token text[192] = {0};
    grow(a, text, 128);
    grow(b, text, 192);
    for (uint32_t i = 0; i < a->page_count; i++) {
        for (uint32_t j = 0; j < b->page_count; j++) assert_ptr_not_equal(a->pages[i], b->pages[j]);
        assert_true(a->pages[i] >= pool.region.data);
        assert_true(a->pages[i] + pool.page_bytes <= pool.region.data + pool.region.bytes_committed);
    }
    locum_error error; // the pool is used up: an error, and nothing is lost
    assert_int_equal(session_reserve(a, 192, &error), LOCUM_E_CONTEXT);
    assert_non_null(strstr(error.text, "320"));
    assert_int_equal(a->count, 128);
    session_destroy(b);
    assert_int_equal(session_reserve(a, 192, &error), LOCUM_OK);
    session_destroy(a);
    session_destroy(NULL);
}

// ---- recurrent layers ---------------------------------------------------------------------------
// Stands for a step: the state becomes the number of tokens that went through it.
static void compute(struct session *s, const locum_token *tokens, uint32_t count, bool prompt) {
    locum_error error;
    uint32_t end = s->count + count;
    assert_int_equal(session_reserve(s, end, &error), LOCUM_OK);
    struct exec_sequence sequence = session_step(s, prompt ? end - 1 : EXEC_NO_CHECKPOINT);
    assert_int_equal((uintptr_t)sequence.state % 64, 0);
    for (int i = 0; i < STATE; i++) { // what the tokens before left, zeros at first
        assert_true(sequence.state[i] == (float)s->count);
        if (prompt) sequence.checkpoint[i] = (float)(end - 1);
        sequence.state[i] = (float)end;
    }
    session_append(s, tokens, count);
}

static void a_state_continues_or_goes_back_to_its_checkpoint(void **state) {
    (void)state;
    struct session *s = open_session(256);
    locum_token text[200];
    for (int i = 0; i < 200; i++)
        text[i] = i;
    assert_int_equal(session_keep_prefix(s, text, 100), 0);
    compute(s, text, 60, false); // a prompt in two steps
    compute(s, text + 60, 40, true);
    for (int i = 100; i < 120; i++)
        compute(s, text + i, 1, false);                       // an answer
    assert_int_equal(session_keep_prefix(s, text, 130), 120); // the text goes on
    compute(s, text + 120, 10, true);
    assert_int_equal(session_keep_prefix(s, text, 130), 129); // the same again
    compute(s, text + 129, 1, true);
    compute(s, text + 130, 10, false);
    text[135] = -1; // another answer: from the prompt's end
    assert_int_equal(session_keep_prefix(s, text, 150), 129);
    assert_int_equal(s->count, 129);
    assert_int_equal(s->page_count, 3);
    compute(s, text + 129, 21, true);
    text[140] = -1; // before the checkpoint: from the beginning
    assert_int_equal(session_keep_prefix(s, text, 150), 0);
    compute(s, text, 150, true);
    assert_int_equal(session_keep_prefix(s, text, 1), 0);
    compute(s, text, 1, true);
    session_destroy(s);
}

static void a_failed_step_loses_its_state(void **state) {
    (void)state;
    struct session *s = open_session(256);
    locum_error error;
    locum_token text[200];
    for (int i = 0; i < 200; i++)
        text[i] = i;
    compute(s, text, 100, true);
    compute(s, text + 100, 5, false);
    assert_int_equal(session_keep_prefix(s, text, 150), 105);
    session_step(s, EXEC_NO_CHECKPOINT).state[0] = -1; // and no session_append
    assert_int_equal(session_keep_prefix(s, text, 150), 99);
    compute(s, text + 99, 11, false);
    assert_int_equal(session_reserve(s, 120, &error), LOCUM_OK);
    struct exec_sequence broken = session_step(s, 119);
    broken.state[0] = broken.checkpoint[0] = -1;
    assert_int_equal(session_keep_prefix(s, text, 150), 0);
    compute(s, text, 10, true);
    session_destroy(s);
}

static void one_session_has_the_state(void **state) {
    (void)state;
    assert_int_equal(session_pool_state_bytes(STATE * sizeof(float)), 2 * STATE * sizeof(float));
    assert_int_equal(session_pool_state_bytes(0), 0);
    struct session *a = open_session(64), *b = open_session(64);
    locum_error error;
    locum_token text[64] = {0};
    compute(a, text, 10, true);
    assert_int_equal(session_reserve(b, 10, &error), LOCUM_E_CONTEXT);
    assert_non_null(strstr(error.text, "recurrent state"));
    assert_int_equal(session_cut(a, 0), 0);
    compute(b, text, 10, true); // zeros again
    session_destroy(b);
    compute(a, text, 10, true);
    session_destroy(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_longest_computed_prefix_is_kept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(pages_come_as_the_text_grows_and_go_when_it_is_cut, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(pages_are_never_shared, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_state_continues_or_goes_back_to_its_checkpoint,
                                        set_up_recurrent, tear_down),
        cmocka_unit_test_setup_teardown(a_failed_step_loses_its_state, set_up_recurrent, tear_down),
        cmocka_unit_test_setup_teardown(one_session_has_the_state, set_up_recurrent, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
