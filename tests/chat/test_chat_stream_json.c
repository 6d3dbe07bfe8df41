// SPDX-License-Identifier: Apache-2.0
#include "chat/chat_stream_json.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "chat/chat_stream_value.h"

static const char *const good[] = {
    "{}", "[]", " [1, -0.5e+3, 0, 10E-2 ] ", "\"a\\u00e9\\ud83d\\ude00\\n\\/\"", "true", "null", "-1", "[[[{}]]]",
    "{\"a\": {\"b\": [false, \"}\"]}, \"c\": \"\\\\\"}", "\"\xC3\xA9\"", "[0.0]", "[1e5]"};
static const char *const bad[] = {
    "", "{", "[1,]",
    "{\"a\" 1}", "{\"a\": 1,}", "{a: 1}", "[01]", "[1.]", "[-]", "[.5]", "[1e]", "[+1]", "tru", "[nul]",
    "\"\\x\"", "\"\\u12g4\"", "\"a", "\"\n\"", "[1] 2", "{\"a\": 1]", "\"\\ud800\"", "\"\\udc00\"", "\"\\ud800x\"",
    "\"\\ud800\\n\"", "\"\\ud800\\ud800\"", "'a'", "nan", "[1 2]", ","};

// Byte by byte the same answer as jansson's.
static void test_same_as_jansson(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct slice value;
        json_t *tree = json_loads(good[i], JSON_DECODE_ANY, NULL);
        assert_non_null(tree);
        assert_true(chat_stream_json_whole(slice_text(good[i]), &value));
        json_decref(tree);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct slice value;
        assert_null(json_loads(bad[i], JSON_DECODE_ANY, NULL));
        assert_false(chat_stream_json_whole(slice_text(bad[i]), &value));
    }
}

static uint32_t draw(uint32_t *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

// Pieces of JSON put together by chance: what jansson takes and what not.
static void test_same_as_jansson_by_chance(void **state) {
    (void)state;
    static const char *const parts[] = {"{", "}", "[", "]", ",", ":", "\"a\"", "\"\\u00e9\"", "1", "-", "0", ".5", "e1",
                                        "true", "null", " ", "\\", "\""};
    uint32_t seed = 3;
    int taken = 0;
    for (int round = 0; round < 20000; round++) {
        struct buffer text = {0};
        struct slice value;
        for (uint32_t n = 1 + draw(&seed) % 6; n > 0; n--) {
            buffer_append_text(&text, parts[draw(&seed) % (sizeof parts / sizeof parts[0])]);
        }
        json_t *tree = json_loadb(text.data, text.size, JSON_DECODE_ANY, NULL);
        assert_int_equal(chat_stream_json_whole(buffer_slice(&text), &value), tree != NULL);
        taken += tree != NULL;
        json_decref(tree);
        buffer_release(&text);
    }
    assert_true(taken > 500);
}

static void test_nesting_is_bounded(void **state) {
    (void)state;
    for (size_t depth = LIMIT_CHAT_NESTING; depth <= LIMIT_CHAT_NESTING + 1; depth++) {
        char text[2 * (LIMIT_CHAT_NESTING + 1)];
        struct buffer out = {0};
        struct slice value, rest = slice_make(text, 2 * depth);
        memset(text, '[', depth);
        memset(text + depth, ']', depth);
        assert_int_equal(chat_stream_json_whole(rest, &value), depth == LIMIT_CHAT_NESTING);
        assert_int_equal(chat_stream_value_literal(&rest, CHAT_STREAM_DIALECT_PYTHON, &out),
                         depth == LIMIT_CHAT_NESTING);
        buffer_release(&out);
    }
}

static void test_strings(void **state) {
    (void)state;
    struct buffer out = {0};
    chat_stream_json_unquote(slice_text("\"a\\n\\\"\\\\\\/\\u00e9\\u20ac\\ud83d\\ude00\""), &out);
    assert_true(slice_is(buffer_slice(&out), "a\n\"\\/\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"));
    out.size = 0;
    chat_stream_json_quote(slice_text("a\n\"\\\x01\t\xC3\xA9"), &out);
    assert_true(slice_is(buffer_slice(&out), "\"a\\n\\\"\\\\\\u0001\\t\xC3\xA9\""));
    buffer_release(&out);
}

static void test_members(void **state) {
    (void)state;
    struct slice rest = slice_text("{\"a\" : [1, 2] , \"b\":\"}\"}"), key, value;
    assert_true(chat_stream_json_next(&rest, &key, &value));
    assert_true(slice_is(key, "\"a\"") && slice_is(value, "[1, 2]"));
    struct slice inner = value;
    assert_true(chat_stream_json_next(&rest, &key, &value));
    assert_true(slice_is(key, "\"b\"") && slice_is(value, "\"}\""));
    assert_false(chat_stream_json_next(&rest, &key, &value));
    assert_true(chat_stream_json_next(&inner, NULL, &value) && slice_is(value, "1"));
    assert_true(chat_stream_json_next(&inner, NULL, &value) && slice_is(value, "2"));
    assert_false(chat_stream_json_next(&inner, NULL, &value));
}

static void test_bare_values(void **state) {
    (void)state;
    static const struct {
        const char *raw;
        enum chat_stream_type type;
        const char *json;
    } cases[] = {
        {"3", CHAT_STREAM_TYPE_STRING, "\"3\""},
        {"3", CHAT_STREAM_TYPE_OTHER, "3"},
        {"3", CHAT_STREAM_TYPE_UNKNOWN, "3"},
        {"\"a\"", CHAT_STREAM_TYPE_UNKNOWN, "\"\\\"a\\\"\""},
        {"\"a\"", CHAT_STREAM_TYPE_OTHER, "\"a\""},
        {"True", CHAT_STREAM_TYPE_OTHER, "true"},
        {"True", CHAT_STREAM_TYPE_UNKNOWN, "\"True\""},
        {"null", CHAT_STREAM_TYPE_STRING_OR_NULL, "null"},
        {"null", CHAT_STREAM_TYPE_STRING, "\"null\""},
        {" [1, {\"a\": null}] ", CHAT_STREAM_TYPE_OTHER, "[1, {\"a\": null}]"},
        {"{'a': (1, 2.5), 'b': [None, False, 'it\\'s \\x41']}", CHAT_STREAM_TYPE_OTHER,
         "{\"a\": [1, 2.5], \"b\": [null, false, \"it's \\u0041\"]}"},
        {"01", CHAT_STREAM_TYPE_OTHER, "\"01\""},
        {"no value", CHAT_STREAM_TYPE_OTHER, "\"no value\""},
        {"{'a': '\\xzz'}", CHAT_STREAM_TYPE_OTHER, "\"{'a': '\\\\xzz'}\""},
        {"", CHAT_STREAM_TYPE_OTHER, "\"\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct buffer out = {0};
        chat_stream_value_typed(slice_text(cases[i].raw), cases[i].type, &out);
        if (!slice_is(buffer_slice(&out), cases[i].json)) {
            fail_msg("%s gave %.*s, not %s", cases[i].raw, (int)out.size, out.data, cases[i].json);
        }
        buffer_release(&out);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_as_jansson),    cmocka_unit_test(test_same_as_jansson_by_chance),
        cmocka_unit_test(test_nesting_is_bounded), cmocka_unit_test(test_strings),
        cmocka_unit_test(test_members),            cmocka_unit_test(test_bare_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
