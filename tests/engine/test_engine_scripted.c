// SPDX-License-Identifier: Apache-2.0
#include "tests/engine/talk.h"

#include <stdlib.h>
#include <string.h>

#include <locum/locum_experimental.h>

static locum_script script;
static locum_model *model;
static locum_session *session;
static locum_error error;
static struct talk talk;
static const locum_token prompt[] = {1, 2, 3, 4, 5};
enum { PROMPT = 5 };

static int set_up(void **state) {
    (void)state;
    locum_script_init(&script);
    talk_init(&talk, prompt, PROMPT);
    talk.request.predict = UINT32_MAX;
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    locum_session_close(session);
    locum_model_close(model);
    session = NULL;
    model = NULL;
    return 0;
}

static void open_with(const char *const *answers, uint32_t count) {
    tear_down(NULL);
    script.answers = answers;
    script.answer_count = count;
    if (locum_model_open_scripted(&script, &model, &error)) fail_msg("%s", error.text);
    assert_int_equal(locum_session_open(model, &session, &error), LOCUM_OK);
}

static void open_one(const char *answer) {
    open_with(&answer, 1);
}

static void says(const char *expected) {
    talk_must(&talk, session);
    assert_int_equal(talk.text_size, strlen(expected));
    assert_memory_equal(talk.text, expected, talk.text_size);
}

static void answers_come_in_turn(void **state) {
    (void)state;
    const char *const answers[] = {"one", "", "three"};
    open_with(answers, 3);
    says("one");
    assert_int_equal(talk.count, 3);
    assert_int_equal(talk.ids[0], 'o');
    assert_int_equal(talk.positions[0], PROMPT);
    assert_int_equal(talk.positions[2], PROMPT + 2);
    assert_int_equal(talk.finish, LOCUM_FINISH_END);
    assert_int_equal(talk.stats.generated_tokens, 3);
    assert_int_equal(talk.stats.prompt_tokens, PROMPT);
    says("");
    assert_int_equal(talk.events, 0);
    says("three");
    says("one");
    assert_null(locum_model_tokenizer(model));
    locum_memory_plan plan;
    locum_model_get_plan(model, &plan);
    assert_int_equal(plan.context, 4096);
    locum_setting setting;
    assert_false(locum_model_get_setting(model, 0, &setting));
    assert_non_null(strstr(locum_model_summary(model), "scripted"));
}

// Whatever the pieces, the text is the same; each event holds whole characters.
static void characters_stay_whole(void **state) {
    (void)state;
    static const struct {
        const char *bytes, *text;
    } cases[] = {
        {"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
        {"a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80z", "a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80z"},
        {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {"\x80", "\xef\xbf\xbd"},
        {"\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xf0"
         "A",
         "\xef\xbf\xbd"
         "A"},
        {"ends on \xf0\x9f", "ends on \xef\xbf\xbd"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (uint32_t piece = 1; piece <= 5; piece++) {
            script.piece_bytes = piece;
            open_one(cases[i].bytes);
            says(cases[i].text);
            assert_int_equal(talk.count, strlen(cases[i].bytes)); // tokens are the raw bytes
        }
    }
    script.piece_bytes = 1;
    open_one("\xf0\x9f\x98\x80");
    says("\xf0\x9f\x98\x80");
    assert_int_equal(talk.texts, 1); // held back until it was whole
}

static void lengths(void **state) {
    (void)state;
    open_one("abcdef");
    talk.request.predict = 4;
    says("abcd");
    assert_int_equal(talk.finish, LOCUM_FINISH_LENGTH);
    talk.request.predict = 6;
    says("abcdef");
    assert_int_equal(talk.finish, LOCUM_FINISH_END);
    talk.request.predict = 0;
    says("");
    assert_int_equal(talk.finish, LOCUM_FINISH_LENGTH);
    script.context = 8; // room for three tokens
    talk.request.predict = UINT32_MAX;
    open_one("abcdef");
    says("abc");
    assert_int_equal(talk.finish, LOCUM_FINISH_LENGTH);
    script.context = 4;
    open_one("abcdef");
    assert_int_equal(talk_run(&talk, session), LOCUM_E_CONTEXT);
    assert_int_equal(talk.events, 0);
}

static void stops_and_cancels(void **state) {
    (void)state;
    script.piece_bytes = 3;
    open_one("abcdefgh"); // events: a b c "abc" d e f "def" g h "gh"
    talk.stop_at = 6;
    says("abc");
    assert_int_equal(talk.finish, LOCUM_FINISH_STOPPED);
    assert_int_equal(talk.stats.generated_tokens, 5); // what was told, not the whole piece
    talk.stop_at = 4;
    says("abc");
    assert_int_equal(talk.stats.generated_tokens, 3);
    talk.stop_at = 0;
    locum_session_cancel(session);
    assert_int_equal(talk_run(&talk, session), LOCUM_E_CANCELLED);
    assert_int_equal(talk.events, 0);
    says("abcdefgh");
    locum_session_reset(session);
    says("abcdefgh");
}

static void no_callback_is_fine(void **state) {
    (void)state;
    open_one("abc");
    talk.request.event = NULL;
    talk_must(&talk, session);
    assert_int_equal(talk.stats.generated_tokens, 3);
}

static void scripts_are_checked(void **state) {
    (void)state;
    const char *const answers[] = {"a", NULL};
    script.answers = answers;
    script.answer_count = 2;
    assert_int_equal(locum_model_open_scripted(&script, &model, &error), LOCUM_E_ARGUMENT);
    assert_non_null(strstr(error.text, "answer 1"));
    script.answer_count = 0;
    assert_int_equal(locum_model_open_scripted(&script, &model, &error), LOCUM_E_ARGUMENT);
    script.answer_count = 1;
    script.piece_bytes = 0;
    assert_int_equal(locum_model_open_scripted(&script, &model, &error), LOCUM_E_ARGUMENT);
    script.piece_bytes = 1;
    script.answers = NULL;
    assert_int_equal(locum_model_open_scripted(&script, &model, &error), LOCUM_E_ARGUMENT);
    script.struct_size = 0;
    assert_int_equal(locum_model_open_scripted(&script, &model, &error), LOCUM_E_ARGUMENT);
    assert_int_equal(locum_model_open_scripted(NULL, &model, &error), LOCUM_E_ARGUMENT);
    assert_null(model);
}

int main(void) {
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(answers_come_in_turn), TEST(characters_stay_whole), TEST(lengths),
        TEST(stops_and_cancels),    TEST(no_callback_is_fine),   TEST(scripts_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
