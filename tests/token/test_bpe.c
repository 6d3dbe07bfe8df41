// SPDX-License-Identifier: Apache-2.0
#include "token_fixture.h"

#include "token/bpe.h"

static void build(struct fixture *f, enum token_spelling spelling, bool by_id, struct vocabulary *v,
                  struct bpe *bpe) {
    struct token_numbers none = {0}, kinds = {f->count, f->kinds, fixture_number};
    assert_int_equal(vocabulary_build(spelling, fixture_texts(f->texts, f->count), none, kinds,
                                      &f->arena, v, &f->error),
                     LOCUM_OK);
    vocabulary_index(v);
    if (bpe_build(v, fixture_texts(f->merges, f->merge_count), by_id, &f->arena, bpe, &f->error) !=
        LOCUM_OK) {
        fail_msg("%s", f->error.text);
    }
}

static const char *encode(struct fixture *f, const struct bpe *bpe, const char *text, bool whole) {
    struct merge merge = {0};
    struct token_list ids = {0};
    struct token_output out = {
        .vocabulary = bpe->vocabulary, .unknown = TOKEN_NONE, .ids = &ids, .lost = -1};
    bpe_encode(bpe, slice_text(text), whole, &merge, &out);
    size_t size = 0;
    for (size_t i = 0; i < ids.count; i++) {
        struct slice bytes = vocabulary_bytes(bpe->vocabulary, ids.ids[i]);
        size += (size_t)snprintf(f->shown + size, sizeof f->shown - size, "%s%.*s", i ? "|" : "",
                                 (int)bytes.size, bytes.data);
    }
    f->shown[size] = '\0';
    merge_release(&merge);
    token_list_release(&ids);
    return f->shown;
}

static void lower_ranks_merge_first(void **state) {
    (void)state;
    struct fixture *f = fixture_new();
    struct vocabulary v;
    struct bpe bpe;
    fixture_add_bytes(f);
    fixture_pair(f, "b", "c");
    fixture_pair(f, "a", "b");
    fixture_pair(f, "bc", "d");
    fixture_pair(f, "\u0120", "a"); // a blank in the byte alphabet
    build(f, TOKEN_SPELLING_BYTES, false, &v, &bpe);
    assert_string_equal(encode(f, &bpe, "abcd", false), "a|bcd");
    assert_string_equal(encode(f, &bpe, "abd", false), "ab|d");
    assert_string_equal(encode(f, &bpe, " ab", false), " |ab");
    assert_string_equal(encode(f, &bpe, " a", false), " a");
    assert_string_equal(encode(f, &bpe, "\u00E9", false), "\xC3|\xA9");
    assert_string_equal(encode(f, &bpe, "", false), "");
    fixture_free(f);
}

static void equal_ranks_merge_from_the_left(void **state) {
    (void)state;
    struct fixture *f = fixture_new();
    struct vocabulary v;
    struct bpe bpe;
    fixture_add_bytes(f);
    fixture_pair(f, "a", "a");
    fixture_pair(f, "b", "c");
    fixture_pair(f, "c", "d");
    fixture_merge(f, "b c"); // again, later: the first counts
    build(f, TOKEN_SPELLING_BYTES, false, &v, &bpe);
    assert_string_equal(encode(f, &bpe, "aaaaa", false), "aa|aa|a");
    assert_string_equal(encode(f, &bpe, "bcd", false), "bc|d");
    fixture_free(f);
}

static void whole_pieces_skip_merging(void **state) {
    (void)state;
    struct fixture *f = fixture_new();
    struct vocabulary v;
    struct bpe bpe;
    fixture_add_bytes(f);
    fixture_pair(f, "a", "b");
    fixture_add(f, "xyz", TOKEN_KIND_NORMAL, 0); // no merges lead there
    build(f, TOKEN_SPELLING_BYTES, false, &v, &bpe);
    assert_string_equal(encode(f, &bpe, "xyz", true), "xyz");
    assert_string_equal(encode(f, &bpe, "xyz", false), "x|y|z");
    assert_string_equal(encode(f, &bpe, "abx", true), "ab|x");
    fixture_free(f);
}

// A merge may go through a text that is no token; what ends there falls back to bytes.
static void merges_through_no_token(void **state) {
    (void)state;
    struct fixture *f = fixture_new();
    struct vocabulary v;
    struct bpe bpe;
    fixture_add_bytes(f);
    fixture_merge(f, "a b");
    fixture_merge(f, "ab c");
    fixture_add(f, "abc", TOKEN_KIND_NORMAL, 0);
    build(f, TOKEN_SPELLING_BYTES, false, &v, &bpe);
    assert_string_equal(encode(f, &bpe, "abc", false), "abc");
    assert_string_equal(encode(f, &bpe, "abd", false), "a|b|d");
    fixture_free(f);
}

static void without_merges_the_lower_id_merges_first(void **state) {
    (void)state;
    struct fixture *f = fixture_new();
    struct vocabulary v;
    struct bpe bpe;
    fixture_add_bytes(f);
    fixture_add(f, "bc", TOKEN_KIND_NORMAL, 0);
    fixture_add(f, "ab", TOKEN_KIND_NORMAL, 0);
    fixture_add(f, "abc", TOKEN_KIND_NORMAL, 0);
    build(f, TOKEN_SPELLING_BYTES, true, &v, &bpe);
    assert_string_equal(encode(f, &bpe, "abc", false), "abc");
    assert_string_equal(encode(f, &bpe, "abcc", false), "abc|c");
    assert_string_equal(encode(f, &bpe, "dbcab", false), "d|bc|ab");
    fixture_free(f);
}

static void characters_merge_where_spaces_are_spelled(void **state) {
    (void)state;
    struct fixture *f = fixture_new();
    struct vocabulary v;
    struct bpe bpe;
    fixture_add_spm(f);
    for (const char *c = "abc"; *c; c++) {
        fixture_add(f, (char[]){*c, 0}, TOKEN_KIND_NORMAL, 0);
    }
    fixture_add(f, "\u2581", TOKEN_KIND_NORMAL, 0);
    fixture_add(f, "\u4E2D", TOKEN_KIND_NORMAL, 0);
    fixture_pair(f, "\u2581", "a");
    fixture_pair(f, "\u2581a", "\u4E2D");
    build(f, TOKEN_SPELLING_SPACES, false, &v, &bpe);
    assert_string_equal(encode(f, &bpe, "b a\u4E2D", false), "b| a\u4E2D");
    assert_string_equal(encode(f, &bpe, "a\u4E2E\xFF", false), "a|\xE4|\xB8|\xAE|\xFF");
    assert_false(bpe.inner_blanks);
    fixture_free(f);
}

static void bad_merges_are_refused(void **state) {
    (void)state;
    static const char *const bad[] = {"ab", "", " ", "a"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct fixture *f = fixture_new();
        fixture_add_bytes(f);
        fixture_pair(f, "a", "b");
        fixture_merge(f, bad[i]);
        assert_int_equal(fixture_try(f, "gpt2", "gpt-2"), LOCUM_E_FORMAT);
        assert_non_null(strstr(f->error.text, "merge 1"));
        fixture_free(f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lower_ranks_merge_first),
        cmocka_unit_test(equal_ranks_merge_from_the_left),
        cmocka_unit_test(whole_pieces_skip_merging),
        cmocka_unit_test(merges_through_no_token),
        cmocka_unit_test(without_merges_the_lower_id_merges_first),
        cmocka_unit_test(characters_merge_where_spaces_are_spelled),
        cmocka_unit_test(bad_merges_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
