// SPDX-License-Identifier: Apache-2.0
#include "token_fixture.h"

#include "token/detokenizer.h"

// Ids are bytes, so that any stream of bytes can be sent. 256 is a control token, 257 a long word.
static struct fixture *byte_model(void) {
    struct fixture *f = fixture_new();
    fixture_add_bytes(f);
    fixture_add(f, "<end>", TOKEN_KIND_CONTROL, 0);
    fixture_pair(f, "o", "k");
    fixture_open(f, "gpt2", "gpt-2");
    return f;
}

static const char *push_all(const struct tokenizer *tokenizer, const locum_token *ids, size_t count,
                            uint32_t flags) {
    static char out[4096];
    struct detokenizer detokenizer;
    size_t size = 0;
    detokenizer_init(&detokenizer, tokenizer, flags);
    for (size_t i = 0; i < count; i++) {
        assert_true(sizeof out - size > detokenizer_push_max(tokenizer));
        size_t more = detokenizer_push(&detokenizer, ids[i], out + size);
        assert_true(more <= detokenizer_push_max(tokenizer));
        size += more;
    }
    size += detokenizer_flush(&detokenizer, out + size);
    assert_int_equal(detokenizer_flush(&detokenizer, out + size), 0);
    out[size] = '\0';
    return out;
}

static const char *push_bytes(const struct tokenizer *tokenizer, const char *bytes) {
    locum_token ids[64];
    size_t count = strlen(bytes);
    for (size_t i = 0; i < count; i++) {
        ids[i] = (uint8_t)bytes[i];
    }
    return push_all(tokenizer, ids, count, 0);
}

// Each character comes when its last byte does, not before, not later.
static void characters_come_whole(void **state) {
    (void)state;
    struct fixture *f = byte_model();
    static const char stream[] = "a\xC3\xA9\xF0\x9F\x98\x80z";
    static const size_t sizes[] = {1, 0, 2, 0, 0, 0, 4, 1};
    struct detokenizer detokenizer;
    char out[64];
    detokenizer_init(&detokenizer, f->tokenizer, 0);
    for (size_t i = 0; stream[i]; i++) {
        assert_int_equal(detokenizer_push(&detokenizer, (uint8_t)stream[i], out), sizes[i]);
    }
    assert_int_equal(detokenizer_flush(&detokenizer, out), 0);
    fixture_free(f);
}

// One U+FFFD for each maximal subpart, the rest intact.
static void bad_bytes_are_replaced(void **state) {
    (void)state;
    struct fixture *f = byte_model();
    static const struct {
        const char *bytes, *text;
    } cases[] = {
        {"\xED\xA0\x80", "\uFFFD\uFFFD\uFFFD"},
        {"\x80", "\uFFFD"},
        {"\xC0\xAF", "\uFFFD\uFFFD"},
        {"\xF0"
         "A",
         "\uFFFD"
         "A"},
        {"a\xF0\x9F", "a\uFFFD"},
        {"\xF0\x9F\xF0\x9F\x98\x80", "\uFFFD\U0001F600"},
        {"\xE1\x80\xE2\xF0\x91\x92\xF1\xBF"
         "A",
         "\uFFFD\uFFFD\uFFFD\uFFFD"
         "A"},
        {"\xF4\x91\x92\x93\xFF"
         "A\x80\xBF"
         "B",
         "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD"
         "A\uFFFD\uFFFD"
         "B"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_string_equal(push_bytes(f->tokenizer, cases[i].bytes), cases[i].text);
    }
    // The raw bytes are still to be had.
    assert_int_equal((uint8_t)tokenizer_token_bytes(f->tokenizer, 0xED, false).data[0], 0xED);
    fixture_free(f);
}

// Text by the same rule, from the whole at once.
static size_t text_of(struct slice bytes, char *out) {
    size_t size = 0;
    while (bytes.size > 0) {
        struct utf8_step step = utf8_next(bytes);
        bool is_character = step.kind == UTF8_CHARACTER;
        memcpy(out + size, is_character ? bytes.data : "\uFFFD", is_character ? step.size : 3);
        size += is_character ? step.size : 3;
        bytes = slice_from(bytes, step.size);
    }
    return size;
}

// Any way to cut the same bytes into tokens gives the same text.
static void any_cut_gives_the_same_text(void **state) {
    (void)state;
    enum { BYTES = 12, WORDS = 700 };
    static const char alphabet[] = "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\xFF";
    struct fixture *f = fixture_new();
    uint32_t random = 3;
    char text[4] = "";
    fixture_add_bytes(f);
    fixture_pair(f, "a", "b");
    char pieces[WORDS][8];
    for (int word = 0; word < WORDS; word++) { // words of two to four bytes
        char spelled[32] = "";
        int size = 2 + word % 3, used = 0;
        for (int i = 0; i < size; i++) {
            random = random * 1664525u + 1013904223u;
            pieces[word][i] = alphabet[(random >> 16) % (sizeof alphabet - 1)];
            used += snprintf(spelled + used, sizeof spelled - (size_t)used, "%s",
                             fixture_byte((uint8_t)pieces[word][i], text));
        }
        pieces[word][size] = '\0';
        fixture_add(f, spelled, TOKEN_KIND_NORMAL, 0);
    }
    fixture_open(f, "gpt2", "gpt-2");
    for (int round = 0; round < 2000; round++) {
        locum_token ids[BYTES];
        char bytes[BYTES * 4 + 1] = "", wanted[sizeof bytes * 3];
        size_t size = 0;
        for (int i = 0; i < BYTES; i++) {
            random = random * 1664525u + 1013904223u;
            int word = (int)((random >> 8) % WORDS);
            ids[i] = 257 + word;
            memcpy(bytes + size, pieces[word], strlen(pieces[word]));
            size += strlen(pieces[word]);
        }
        bytes[size] = '\0';
        wanted[text_of(slice_make(bytes, size), wanted)] = '\0';
        assert_string_equal(push_all(f->tokenizer, ids, BYTES, 0), wanted);
        assert_string_equal(push_bytes(f->tokenizer, bytes), wanted);
    }
    fixture_free(f);
}

static void control_tokens_are_silent_unless_asked(void **state) {
    (void)state;
    struct fixture *f = byte_model();
    static const locum_token ids[] = {'a', 256, 257, 999999, -1};
    assert_string_equal(push_all(f->tokenizer, ids, 3, 0), "aok");
    assert_string_equal(push_all(f->tokenizer, ids, 3, DETOKENIZER_SPECIAL), "a<end>ok");
    assert_string_equal(push_all(f->tokenizer, ids, 5, 0), "aok\uFFFD\uFFFD"); // no such tokens
    // A silent token does not break a character in two.
    static const locum_token split[] = {0xC3, 256, 0xA9};
    assert_string_equal(push_all(f->tokenizer, split, 3, 0), "\u00E9");
    fixture_free(f);
}

static void the_blank_of_the_beginning_goes(void **state) {
    (void)state;
    struct fixture *f = fixture_new();
    fixture_add_spm(f);
    fixture_add(f, "\u2581", TOKEN_KIND_NORMAL, -2);
    fixture_add(f, "a", TOKEN_KIND_NORMAL, -2);
    fixture_add(f, "\u2581a", TOKEN_KIND_NORMAL, -1);
    fixture_add(f, "<|x|>", TOKEN_KIND_USER, 0);
    fixture_add(f, "  ", TOKEN_KIND_USER, 0);                 // a run of blanks, as it is
    fixture_add(f, "\u2581\u2581\u2581", TOKEN_KIND_USER, 0); // and spelled
    fixture_open(f, "llama", "");
    static const char *const texts[] = {"a", " a",       "  a a", "",
                                        " ", "\u00E9 a", "  ",    "a   a    a"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct token_list ids = {0};
        assert_int_equal(
            tokenizer_encode(f->tokenizer, slice_text(texts[i]), TOKENIZER_BOS, &ids, NULL),
            LOCUM_OK);
        assert_string_equal(push_all(f->tokenizer, ids.ids, ids.count, DETOKENIZER_START),
                            texts[i]);
        token_list_release(&ids);
    }
    // In the middle of a text the blank is one.
    assert_string_equal(push_all(f->tokenizer, (locum_token[]){261}, 1, 0), " a");
    // Encoding puts one behind each special token too, and it goes with it.
    struct token_list ids = {0};
    const char *marked = "a<s>a <|x|> a</s>";
    assert_int_equal(
        tokenizer_encode(f->tokenizer, slice_text(marked), TOKENIZER_SPECIAL, &ids, NULL),
        LOCUM_OK);
    assert_string_equal(
        push_all(f->tokenizer, ids.ids, ids.count, DETOKENIZER_START | DETOKENIZER_SPECIAL),
        marked);
    token_list_release(&ids);
    fixture_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(characters_come_whole),
        cmocka_unit_test(bad_bytes_are_replaced),
        cmocka_unit_test(any_cut_gives_the_same_text),
        cmocka_unit_test(control_tokens_are_silent_unless_asked),
        cmocka_unit_test(the_blank_of_the_beginning_goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
