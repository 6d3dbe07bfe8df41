// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "session/session.h"

enum { POSITIONS = 300, PAGES = 5 }; // 5 pages of 64

static struct arena arena;
static struct session_pool pool;
static uint64_t offsets[1];
static const struct exec_kv_layout layout = {.page_bytes = 4096, .offset = offsets};

static int set_up(void **state) {
    (void)state;
    locum_error error;
    arena_init(&arena, 0);
    return session_pool_init(&pool, &layout, POSITIONS, &arena, &error) == LOCUM_OK ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    assert_int_equal(pool.free_count, PAGES); // every session gave its pages back
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_longest_computed_prefix_is_kept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(pages_come_as_the_text_grows_and_go_when_it_is_cut, set_up, tear_down),
        cmocka_unit_test_setup_teardown(pages_are_never_shared, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
