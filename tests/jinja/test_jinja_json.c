// SPDX-License-Identifier: Apache-2.0
#include "jinja_rig.h"

#include <stdio.h>

static void texts_come_back(void **state) {
    (void)state;
    static const struct rig_case cases[] = {
        {"{{ x|tojson }}", "{\"x\": [1, -0, -0.0, 1.0, 1e5, 1E-7, 123456789012345678901234567890]}",
         "[1, 0, -0.0, 1.0, 100000.0, 1e-07, 123456789012345678901234567890]"},
        {"{{ x|tojson }}", "{\"x\":{\"b\":1,\"a\":2,\"b\":3}}", "{\"b\": 3, \"a\": 2}"},
        {"{{ x|tojson }}", "{\"x\": \"\\ud83d\\ude00\\u0000\\b\\/\\u2028\"}",
         "\"\xF0\x9F\x98\x80\\u0000\\b/\xE2\x80\xA8\""},
        {"{{ x|tojson(true) }}", "{\"x\": \"\xF0\x9F\x98\x80\xC3\xA9\"}",
         "\"\\ud83d\\ude00\\u00e9\""},
        {"{{ x|tojson }}", " \n{\"x\" : [ ] , \"y\" : { } } \t", "[]"},
        {"{{ x|tojson }}", "{\"x\": 1e400}", "Infinity"},
    };
    RIG_EXPECT_ALL(cases);
}

static void malformed_texts_are_refused(void **state) {
    (void)state;
    static const char *const texts[] = {
        "",           "{",          "{\"a\"}",         "{\"a\":}",      "{\"a\":1,}",
        "[1,]",       "[1",         "01",              "1.",            ".5",
        "-",          "1e",         "+1",              "nul",           "NaN",
        "\"a",        "\"\\x\"",    "\"\\ud800\"",     "\"\\ud800\\u0041\"", "\"\\udc00\"",
        "\"\n\"",     "\"\xFF\"",   "\"\xED\xA0\x80\"", "{} {}",        "{1: 2}",
        "[1 2]",      "{\"a\" 1}",  "'a'",             "\"\\u12\"",     "tru",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct arena arena;
        struct jinja_value value;
        locum_error error;
        arena_init(&arena, 0);
        if (jinja_json_read(slice_text(texts[i]), &arena, JINJA_DATA, &value, &error) !=
            LOCUM_E_FORMAT) {
            fail_msg("'%s' was read", texts[i]);
        }
        assert_non_null(strstr(error.text, "JSON, byte "));
        arena_release(&arena);
    }
}

static void nesting_has_a_limit(void **state) {
    (void)state;
    char text[1000];
    struct arena arena;
    struct jinja_value value;
    locum_error error;
    memset(text, '[', sizeof text);
    arena_init(&arena, 0);
    assert_int_equal(
        jinja_json_read(slice_make(text, sizeof text), &arena, JINJA_DATA, &value, &error),
        LOCUM_E_FORMAT);
    assert_non_null(strstr(error.text, "too deep"));
    arena_release(&arena);
}

// Past a few entries a dict has an index; its order stays that of insertion.
static void large_dicts_find_their_keys(void **state) {
    (void)state;
    struct arena arena;
    struct jinja_value dict;
    char name[16];
    arena_init(&arena, 0);
    assert_true(jinja_dict_new(&arena, JINJA_DICT, &dict));
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "k%d", i * 7919 % 1000);
        assert_true(jinja_dict_set_text(&arena, dict.dict, name, jinja_int(i)));
    }
    assert_int_equal(dict.dict->count, 1000);
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "k%d", i * 7919 % 1000);
        const struct jinja_value *found = jinja_dict_get_text(dict.dict, slice_text(name));
        assert_non_null(found);
        assert_int_equal(found->integer, i);
        assert_true(slice_is(jinja_value_text(dict.dict->entries[i].key), name));
    }
    assert_null(jinja_dict_get_text(dict.dict, slice_text("k1000")));
    assert_true(jinja_dict_remove(dict.dict, dict.dict->entries[0].key));
    assert_null(jinja_dict_get_text(dict.dict, slice_text("k0")));
    assert_non_null(jinja_dict_get_text(dict.dict, slice_text("k1")));
    arena_release(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_come_back),
        cmocka_unit_test(malformed_texts_are_refused),
        cmocka_unit_test(nesting_has_a_limit),
        cmocka_unit_test(large_dicts_find_their_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
