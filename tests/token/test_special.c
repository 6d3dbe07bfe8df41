// SPDX-License-Identifier: Apache-2.0
#include "token_fixture.h"

#include "token/special.h"

static bool is_user(const struct vocabulary *vocabulary, locum_token id) {
    return vocabulary_kind(vocabulary, id) == TOKEN_KIND_USER;
}

static void build(struct fixture *f, struct vocabulary *v, struct special *special) {
    struct token_numbers none = {0}, kinds = {f->count, f->kinds, fixture_number};
    assert_int_equal(vocabulary_build(TOKEN_SPELLING_SPACES, fixture_texts(f->texts, f->count),
                                      none, kinds, &f->arena, v, &f->error),
                     LOCUM_OK);
    vocabulary_index(v);
    assert_int_equal(special_build(v, is_user, &f->arena, special, &f->error), LOCUM_OK);
}

static void the_longest_is_found(void **state) {
    (void)state;
    struct fixture *f = fixture_new();
    struct vocabulary v;
    struct special special;
    fixture_add(f, "<a>", TOKEN_KIND_USER, 0);
    fixture_add(f, "<a>b", TOKEN_KIND_USER, 0);
    fixture_add(f, "<", TOKEN_KIND_NORMAL, 0);
    fixture_add(f, "<ab>cdef", TOKEN_KIND_USER, 0);
    fixture_add(f, "", TOKEN_KIND_USER, 0);
    fixture_add(f, "\xFF\xFE", TOKEN_KIND_USER, 0);
    fixture_add(f, "<a>", TOKEN_KIND_USER, 0); // again: the last counts
    build(f, &v, &special);
    assert_int_equal(special.count, 5);
    static const struct {
        const char *text;
        locum_token id;
        size_t begin;
    } cases[] = {{"x<a>y", 6, 1},    {"<a>b", 1, 0},         {"<a>cb", 6, 0},
                 {"<ab>cde", -1, 7}, {"<<ab>cdef", 3, 1},    {"", -1, 0},
                 {"<a", -1, 2},      {"\xFF\xFF\xFE", 5, 1}, {"no", -1, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t begin;
        assert_int_equal(special_next(&special, slice_text(cases[i].text), &begin), cases[i].id);
        assert_int_equal(begin, cases[i].begin);
    }
    fixture_free(f);
}

// Against a plain search, with names that are beginnings of each other.
static void many_names_are_told_apart(void **state) {
    (void)state;
    struct fixture *f = fixture_new();
    struct vocabulary v;
    struct special special;
    uint32_t random = 5;
    char text[512];
    for (int i = 0; i < 300; i++) {
        size_t size = 1 + (size_t)i % 7;
        for (size_t k = 0; k < size; k++) {
            random = random * 1664525u + 1013904223u;
            text[k] = "abc"[(random >> 24) % 3];
        }
        text[size] = '\0';
        fixture_add(f, text, TOKEN_KIND_USER, 0);
    }
    build(f, &v, &special);
    for (size_t i = 0; i < sizeof text; i++) {
        random = random * 1664525u + 1013904223u;
        text[i] = "abcd"[random >> 30];
    }
    for (size_t i = 0; i < sizeof text; i++) {
        struct slice rest = slice_make(text + i, sizeof text - i);
        locum_token best = TOKEN_NONE;
        for (locum_token id = 0; id < 300; id++) {
            struct slice name = vocabulary_bytes(&v, id);
            if (slice_starts(rest, name) &&
                (best == TOKEN_NONE || name.size >= vocabulary_bytes(&v, best).size)) {
                best = id;
            }
        }
        assert_int_equal(special_at(&special, rest), best);
    }
    fixture_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_longest_is_found),
        cmocka_unit_test(many_names_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
