// SPDX-License-Identifier: Apache-2.0
//
// Masks against trying every token: on random walks through grammars, with the vocabulary of a small
// byte-pair model made here. And a bound on memory that forgets states in the middle of an answer.
#include "grammar/grammar.h"
#include "grammar/grammar_matcher.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { TOKENS = 3000, TOKEN_BYTES = 40 };
enum { END = 0, MARKER = 1, NAMED = 2, TWIN = 3 };

static char bytes[TOKENS][TOKEN_BYTES];
static uint32_t sizes[TOKENS];

static uint64_t random_state = 7;
static uint32_t random_below(uint32_t n) {
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(random_state >> 33) % n;
}

// Every byte, and random joins of pieces that occur in JSON.
static void make_tokens(void) {
    static const char *const pieces[] = {"a", "b", "x", " ", "\"", ":", ",", "{", "}", "[", "]", "1",
                                         "0", ".", "\\", "\n", "name", "\": ", "\", \"", "true",
                                         "\xC3", "\xA9", "\xE2\x82", "\xAC", "  ", "-"};
    for (uint32_t i = 4; i < 260; i++) {
        bytes[i][0] = (char)(i - 4);
        sizes[i] = 1;
    }
    for (uint32_t i = 260; i < TOKENS; i++) {
        uint32_t parts = 2 + random_below(i % 20 == 0 ? 20 : 4);
        for (uint32_t part = 0; part < parts; part++) {
            const char *piece = pieces[random_below(sizeof pieces / sizeof pieces[0])];
            if (sizes[i] + strlen(piece) > TOKEN_BYTES) break;
            memcpy(bytes[i] + sizes[i], piece, strlen(piece));
            sizes[i] += (uint32_t)strlen(piece);
        }
    }
    memcpy(bytes[TWIN], bytes[300], TOKEN_BYTES);
    sizes[TWIN] = sizes[300];
    memcpy(bytes[MARKER], "<m>", 3);
    sizes[MARKER] = 3;
}

static void get_token(const void *user, uint32_t id, struct grammar_token *out) {
    (void)user;
    out->ends = id == END;
    out->bytes = id == NAMED ? slice_make(NULL, 0) : slice_make(bytes[id], sizes[id]);
    if (id == NAMED) out->name = slice_text("<n>");
    if (id == MARKER) out->name = slice_text("<m>");
}

static struct grammar_vocabulary *vocabulary;

static int setup(void **state) {
    (void)state;
    make_tokens();
    struct grammar_source source = {.size = TOKENS, .get = get_token};
    return grammar_vocabulary_create(&source, &vocabulary, NULL) != LOCUM_OK;
}

static int teardown(void **state) {
    (void)state;
    grammar_vocabulary_free(vocabulary);
    return 0;
}

static struct grammar_program *open_grammar(enum grammar_kind kind, const char *text) {
    struct grammar_request request = {.kind = kind, .text = slice_text(text)};
    struct grammar_program *program;
    locum_error error;
    if (grammar_open(&request, &program, &error) != LOCUM_OK) fail_msg("%s\n%s", text, error.text);
    return program;
}

// The mask has a token exactly if its bytes, tried one by one, keep the grammar alive.
static void compare(struct grammar_matcher *m, const uint64_t *mask) {
    for (uint32_t id = 0; id < TOKENS; id++) {
        uint32_t before = m->state;
        bool expected = id == END ? grammar_matcher_can_end(m) : grammar_matcher_take(m, id);
        m->state = before;
        bool found = (mask[id / 64] >> (id % 64)) & 1;
        if (found != expected) fail_msg("token %u: %d", id, found);
    }
}

static uint32_t choose(const uint64_t *mask) {
    uint32_t start = random_below(TOKENS);
    for (uint32_t i = 0; i < TOKENS; i++) {
        uint32_t id = (start + i) % TOKENS;
        if ((mask[id / 64] >> (id % 64)) & 1) return id;
    }
    return END;
}

static const struct {
    enum grammar_kind kind;
    const char *text;
} grammars[] = {
    {GRAMMAR_KIND_OBJECT, ""},
    {GRAMMAR_KIND_GBNF, "root ::= \"<m>\" [^\"]{3,40} <n> \"x\" <m> .*"},
    {GRAMMAR_KIND_GBNF, "root ::= ([a-x] | \" \"{2,9} | \"\xC3\xA9\"){4,400}"},
    {GRAMMAR_KIND_GBNF, "root ::= (\"a\" | \"aa\" | \"ab\"){20,60} | (\"[\" root \"]\"){0,5}"},
    {GRAMMAR_KIND_SCHEMA, "{\"type\": \"array\", \"minItems\": 30, \"maxItems\": 1000,"
                          " \"items\": {\"type\": \"string\", \"maxLength\": 60}}"},
    {GRAMMAR_KIND_SCHEMA, "{\"properties\": {\"name\": {\"type\": \"string\", \"minLength\": 50},"
                          " \"a\": {\"enum\": [\"x\", \"xa\", 10]}}, \"required\": [\"name\"],"
                          " \"additionalProperties\": {\"type\": \"integer\"}}"},
};

static void walk(size_t grammar, size_t bytes_max, uint32_t steps, bool *trimmed) {
    struct grammar_program *program = open_grammar(grammars[grammar].kind, grammars[grammar].text);
    struct grammar_matcher *matcher;
    locum_error error;
    const uint64_t *mask;
    assert_int_equal(grammar_matcher_create(program, vocabulary, bytes_max, &matcher, &error),
                     LOCUM_OK);
    for (uint32_t round = 0; round < 3; round++) {
        grammar_matcher_reset(matcher);
        for (uint32_t i = 0; i < steps; i++) {
            if (grammar_matcher_mask(matcher, &mask, &error) != LOCUM_OK) fail_msg("%s", error.text);
            compare(matcher, mask);
            uint32_t token = choose(mask);
            if (token == END) break;
            assert_true(grammar_matcher_take(matcher, token));
        }
    }
    *trimmed |= matcher->counts.trims > 0;
    grammar_matcher_free(matcher);
    grammar_program_free(program);
}

static void test_masks_equal_trying(void **state) {
    (void)state;
    bool trimmed = false;
    for (size_t i = 0; i < sizeof grammars / sizeof grammars[0]; i++)
        walk(i, GRAMMAR_MATCHER_BYTES, 60, &trimmed);
    assert_false(trimmed);
}

static void test_little_memory(void **state) {
    (void)state;
    bool trimmed = false;
    for (size_t i = 0; i < sizeof grammars / sizeof grammars[0]; i++)
        walk(i, 600 << 10, 40, &trimmed);
    assert_true(trimmed);
}

// The 500th item has the mask of the 400th: one walk serves all.
static void test_counts_share_masks(void **state) {
    (void)state;
    struct grammar_program *program =
        open_grammar(GRAMMAR_KIND_SCHEMA, "{\"type\": \"array\", \"items\": {\"type\": \"string\","
                                          " \"maxLength\": 65536}, \"minItems\": 1000}");
    struct grammar_matcher *matcher;
    const uint64_t *mask;
    assert_int_equal(
        grammar_matcher_create(program, vocabulary, GRAMMAR_MATCHER_BYTES, &matcher, NULL),
        LOCUM_OK);
    assert_true(grammar_matcher_take_bytes(matcher, slice_text("[")));
    for (uint32_t i = 0; i < 900; i++) {
        assert_int_equal(grammar_matcher_mask(matcher, &mask, NULL), LOCUM_OK);
        assert_true(grammar_matcher_take_bytes(matcher, slice_text("\"a")));
        assert_int_equal(grammar_matcher_mask(matcher, &mask, NULL), LOCUM_OK);
        assert_true(grammar_matcher_take_bytes(matcher, slice_text("\",")));
    }
    assert_true(matcher->counts.walks < 20);
    grammar_matcher_free(matcher);
    grammar_program_free(program);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_masks_equal_trying),
        cmocka_unit_test(test_little_memory),
        cmocka_unit_test(test_counts_share_masks),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
