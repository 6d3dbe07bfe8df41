// SPDX-License-Identifier: Apache-2.0
//
// vocabulary.c and spelling.c: what a token of the file stands for, and which text may become it.
#include "token_fixture.h"

#include "token/spelling.h"
#include "token/vocabulary.h"

static void the_byte_alphabet_is_read(void **state) {
    (void)state;
    char text[4], byte;
    for (int i = 0; i < 256; i++) {
        assert_int_equal(
            spelling_read(TOKEN_SPELLING_BYTES, slice_text(fixture_byte(i, text)), &byte), 1);
        assert_int_equal((uint8_t)byte, i);
    }
    char bytes[16];
    // A space and a newline are never written as themselves; U+0144 is past the alphabet.
    assert_int_equal(spelling_read(TOKEN_SPELLING_BYTES, slice_text("a b"), bytes), SPELLING_BAD);
    assert_int_equal(spelling_read(TOKEN_SPELLING_BYTES, slice_text("\n"), bytes), SPELLING_BAD);
    assert_int_equal(spelling_read(TOKEN_SPELLING_BYTES, slice_text("\u0144"), bytes),
                     SPELLING_BAD);
    assert_int_equal(spelling_read(TOKEN_SPELLING_BYTES, slice_text("\xFF"), bytes), SPELLING_BAD);
}

static void spaces_and_bytes_are_read(void **state) {
    (void)state;
    char bytes[32];
    size_t size = spelling_read(TOKEN_SPELLING_SPACES, slice_text("\u2581the\u2581\u2581"), bytes);
    assert_int_equal(size, 6);
    assert_memory_equal(bytes, " the  ", 6);
    assert_int_equal(spelling_read(TOKEN_SPELLING_SPACES, slice_text("a b"), bytes), SPELLING_BAD);
    assert_int_equal(spelling_byte(slice_text("<0x0A>")), 10);
    assert_int_equal(spelling_byte(slice_text("<0xfF>")), 255);
    assert_int_equal(spelling_byte(slice_text("<0x0G>")), -1);
    assert_int_equal(spelling_byte(slice_text("<0x0A> ")), -1);
    assert_int_equal(spelling_byte(slice_text("")), -1);
}

static struct vocabulary build(struct fixture *f, enum token_spelling spelling) {
    struct vocabulary vocabulary;
    struct token_numbers scores = {f->count, f->scores, fixture_number};
    struct token_numbers kinds = {f->count, f->kinds, fixture_number};
    assert_int_equal(vocabulary_build(spelling, fixture_texts(f->texts, f->count), scores, kinds,
                                      &f->arena, &vocabulary, &f->error),
                     LOCUM_OK);
    vocabulary_index(&vocabulary);
    return vocabulary;
}

static void only_plain_tokens_come_out_of_text(void **state) {
    (void)state;
    struct fixture *f = fixture_new();
    fixture_add(f, "\u2581a", TOKEN_KIND_NORMAL, -1);
    fixture_add(f, "<s>", TOKEN_KIND_CONTROL, 0);
    fixture_add(f, "<think>", TOKEN_KIND_USER, 0);
    fixture_add(f, "<0x41>", TOKEN_KIND_BYTE, 0);
    fixture_add(f, "<0x42>", TOKEN_KIND_NORMAL, 0); // some converters mark bytes so
    fixture_add(f, "\u2581\u2581", TOKEN_KIND_USER, 0);
    fixture_add(f, "\n\n", TOKEN_KIND_USER, 0);
    fixture_add(f, "", TOKEN_KIND_NORMAL, 0);
    fixture_add(f, "odd", 77, 0);
    fixture_add(f, "<0x4>", TOKEN_KIND_BYTE, 0); // no byte, whatever the file says
    struct vocabulary v = build(f, TOKEN_SPELLING_SPACES);
    assert_int_equal(vocabulary_kind(&v, 9), TOKEN_KIND_NORMAL);
    assert_int_equal(v.byte_ids['<'], TOKEN_NONE);
    assert_int_equal(vocabulary_find(&v, slice_text(" a")), 0);
    assert_int_equal(vocabulary_find(&v, slice_text("<s>")), TOKEN_NONE);
    assert_int_equal(vocabulary_find(&v, slice_text("<think>")), TOKEN_NONE);
    assert_int_equal(vocabulary_find(&v, slice_text("A")), TOKEN_NONE);
    assert_int_equal(v.byte_ids['A'], 3);
    assert_int_equal(v.byte_ids['B'], 4);
    assert_int_equal(v.byte_ids['C'], TOKEN_NONE);
    assert_int_equal(vocabulary_kind(&v, 4), TOKEN_KIND_BYTE);
    assert_true(vocabulary_is_blank(&v, 5) && vocabulary_is_blank(&v, 6));
    assert_false(vocabulary_is_blank(&v, 2) || vocabulary_is_blank(&v, 0));
    assert_true(slice_is(vocabulary_bytes(&v, 5), "  "));
    assert_int_equal(vocabulary_find(&v, slice_text("  ")), TOKEN_NONE);
    assert_int_equal(vocabulary_find(&v, slice_text("")), TOKEN_NONE);
    assert_int_equal(vocabulary_kind(&v, 8), TOKEN_KIND_UNDEFINED);
    assert_int_equal(vocabulary_search(&v, slice_text("<think>")), 2);
    assert_int_equal(v.longest, 7);
    assert_int_equal(v.longest_plain, 5);
    assert_false(v.inner_blanks);
    assert_true(vocabulary_memory(&v) <= f->arena.bytes);
    fixture_free(f);
}

static void tokens_outside_the_alphabet_are_literal(void **state) {
    (void)state;
    struct fixture *f = fixture_new();
    fixture_add(f, "  ", TOKEN_KIND_NORMAL, 0);           // two blanks as they are
    fixture_add(f, "\u0120\u0120", TOKEN_KIND_NORMAL, 0); // two blanks in the alphabet
    fixture_add(f, "\u4E2D", TOKEN_KIND_NORMAL, 0);
    struct vocabulary v = build(f, TOKEN_SPELLING_BYTES);
    assert_int_equal(vocabulary_find(&v, slice_text("  ")), 1);
    assert_int_equal(vocabulary_find(&v, slice_text("\u4E2D")), TOKEN_NONE);
    assert_true(slice_is(vocabulary_bytes(&v, 2), "\u4E2D"));
    assert_true(slice_is(vocabulary_bytes(&v, 0), "  "));
    fixture_free(f);
}

static void bad_vocabularies_are_refused(void **state) {
    (void)state;
    struct fixture *f = fixture_new();
    struct vocabulary v;
    struct token_numbers none = {0};
    char big[LIMIT_TOKEN_BYTES + 2];
    memset(big, 'a', sizeof big);
    big[sizeof big - 1] = '\0';
    struct token_texts texts = fixture_texts(f->texts, 0);
    assert_int_equal(
        vocabulary_build(TOKEN_SPELLING_SPACES, texts, none, none, &f->arena, &v, &f->error),
        LOCUM_E_FORMAT);
    fixture_add(f, "a", TOKEN_KIND_NORMAL, 0);
    texts = fixture_texts(f->texts, 1);
    texts.count = (uint64_t)LIMIT_VOCABULARY + 1;
    assert_int_equal(
        vocabulary_build(TOKEN_SPELLING_SPACES, texts, none, none, &f->arena, &v, &f->error),
        LOCUM_E_FORMAT);
    texts.count = 2; // says two, has one
    assert_int_equal(
        vocabulary_build(TOKEN_SPELLING_SPACES, texts, none, none, &f->arena, &v, &f->error),
        LOCUM_E_FORMAT);
    fixture_add(f, big, TOKEN_KIND_NORMAL, 0);
    texts = fixture_texts(f->texts, 2);
    assert_int_equal(
        vocabulary_build(TOKEN_SPELLING_SPACES, texts, none, none, &f->arena, &v, &f->error),
        LOCUM_E_FORMAT);
    assert_non_null(strstr(f->error.text, "token 1"));
    double bad[] = {0, (double)NAN};
    struct token_numbers scores = {2, bad, fixture_number};
    f->texts[1] = slice_text("b");
    assert_int_equal(
        vocabulary_build(TOKEN_SPELLING_SPACES, texts, scores, none, &f->arena, &v, &f->error),
        LOCUM_E_FORMAT);
    assert_non_null(strstr(f->error.text, "token 1"));
    scores.count = 1;
    assert_int_equal(
        vocabulary_build(TOKEN_SPELLING_SPACES, texts, scores, none, &f->arena, &v, &f->error),
        LOCUM_E_FORMAT);
    fixture_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_byte_alphabet_is_read),
        cmocka_unit_test(spaces_and_bytes_are_read),
        cmocka_unit_test(only_plain_tokens_come_out_of_text),
        cmocka_unit_test(tokens_outside_the_alphabet_are_literal),
        cmocka_unit_test(bad_vocabularies_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
