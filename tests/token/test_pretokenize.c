// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "token/pretokenize.h"

// The pieces of `text` with bars between them.
static const char *cut(const char *name, const char *text) {
    static char shown[4096];
    const struct pretokenizer *pretokenizer = pretokenize_find(slice_text(name));
    assert_non_null(pretokenizer);
    struct pretokenize_cursor cursor;
    struct slice piece;
    size_t size = 0;
    pretokenize_begin(&cursor, pretokenizer, slice_text(text));
    while (pretokenize_next(&cursor, &piece)) {
        size += (size_t)snprintf(shown + size, sizeof shown - size, "%s%.*s", size ? "|" : "",
                                 (int)piece.size, piece.data);
    }
    shown[size] = '\0';
    return shown;
}

static void families_cut_as_published(void **state) {
    (void)state;
    static const struct {
        const char *name, *text, *pieces;
    } cases[] = {
        {"gpt-2", "I'm 'Re  you've 1234 x_y\n\n z \t",
         "I|'m| '|Re| | you|'ve| 1234| x|_|y|\n\n| z| \t"},
        {"gpt-2", "a\t5  ", "a|\t|5|  "},
        {"gpt-2", "naïve café e\u0301", "naïve| café| e|\u0301"},
        {"llama-bpe", "I'M 12345 (foo)\n\n  bar", "I|'M| |123|45| (|foo|)\n\n| | bar"},
        {"llama-bpe", "  \n \n  x\u3000y", "  \n \n| | x|\u3000y"},
        {"llama-bpe", "!a .b\tc", "!a| .|b|\tc"},
        {"llama-bpe", "it'\u017Fs", "it|'\u017F|s"},
        {"qwen2", "a12 3", "a|1|2| |3"},
        {"qwen2", "e\u0301t", "e|\u0301t"},
        {"qwen35", "e\u0301t \u0939\u093F\u0928", "e\u0301t| \u0939\u093F\u0928"},
        {"glm4", "1234567", "123|456|7"},
        {"bailingmoe", "we'LL 12\n\nx", "we|'LL| |1|2|\n\n|x"},
        {"gpt-4o", "camelCase HTTPServer's ID3 a/\n/b", "camel|Case| HTTPServer's| ID|3| a|/\n/|b"},
        {"gpt-4o", "ÉCOLE École \u4E2DAB", "ÉCOLE| École| \u4E2D|AB"},
        {"gpt-4o", "\u0939\u093F\u0928", "\u0939\u093F\u0928"},
        {"llama4", "don'T12345", "don'T|123|45"},
        {"tekken", "don'T12", "don|'T|1|2"},
        {"kimi-k2", "\u6211wants12345\u4E2D\u6587 ok'S", "\u6211|wants|123|45|\u4E2D\u6587| ok'S"},
        {"deepseek-v3", "x=12345;\u4F60\u597D\u3042 .foo #a b",
         "x|=|123|45|;|\u4F60\u597D\u3042| .|foo| #|a| b"},
        {"deepseek-v3",
         "a\x01\x02"
         "b",
         "a|\x01|\x02"
         "b"},
        {"deepseek-llm", "a 12\n\n \u4F60b", "a| |12|\n|\n| |\u4F60|b"},
        {"deepseek-llm", "x\u3000, y  ", "x|\u3000|,| y|  "},
        {"deepseek-coder", "if(x)12", "if|(|x|)|1|2"},
        {"smollm", "v12 is", "v|1|2| is"},
        {"command-r", "a 2024!", "a| |2|0|2|4|!"},
        {"falcon", "x==1234 `a`", "x|==|123|4| |`|a|`"},
        {"default", "x==1234 `a`", "x|==|123|4| `|a|`"},
        {"", "x==1", "x|==|1"},
        {"afmoe", "a1234567 \u4F60", "a|1|234|567| |\u4F60"},
        {"tiny_aya", "1234567 1234a", "1|234|567| |123|4|a"},
        {"seed-coder", "a1 !!\nb", "a|1| !!|\n|b"},
        {"exaone-moe", "the big dog, 12/\n\n", "the big dog|,| |1|2|/\n|\n"},
        {"minicpm5", "a1234", "a|123|4"},
        {"laguna", "a\n\n  b", "a|\n\n| | b"},
        {"youtu", "\uAC00a\u4E2D\u2014b", "\uAC00|a|\u4E2D|\u2014|b"},
        {"bloom", "ab, c|d", "ab|,| c|||d"},
        {"viking", "ab12", "ab|1|2"},
        {"gemma4", "a b\n\n\nc", "a b|\n\n\n|c"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_string_equal(cut(cases[i].name, cases[i].text), cases[i].pieces);
    }
}

static void models_that_share_a_pattern_are_known(void **state) {
    (void)state;
    static const char *const names[] = {
        "default",     "gpt-2",         "olmo",       "mpt",          "granite-docling",
        "exaone4",     "llama-bpe",     "llama3",     "lfm2",         "falcon3",
        "pixtral",     "laguna",        "qwen2",      "megrez",       "stablelm2",
        "hunyuan",     "solar-open",    "qwen35",     "glm4",         "chatglm-bpe",
        "deepseek-v3", "hunyuan-dense", "joyai-llm",  "deepseek-llm", "deepseek-coder",
        "gpt-4o",      "llama4",        "kanana2",    "minimax-m2",   "tekken",
        "bailingmoe",  "bailingmoe2",   "llada-moe",  "kimi-k2",      "starcoder",
        "refact",      "command-r",     "smollm",     "tiny_aya",     "afmoe",
        "seed-coder",  "youtu",         "exaone-moe", "gemma4",       "falcon"};
    char list[PRETOKENIZE_NAMES_BYTES];
    pretokenize_names(list);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        assert_non_null(pretokenize_find(slice_text(names[i])));
        assert_non_null(strstr(list, names[i]));
    }
    assert_null(pretokenize_find(slice_text("qwen")));
    assert_null(pretokenize_find(slice_text("qwen22")));
}

static void bytes_that_are_no_text_are_kept(void **state) {
    (void)state;
    assert_string_equal(cut("llama-bpe", "a\xFF\xF0\x9Fz"), "a|\xFF\xF0\x9F|z");
    assert_string_equal(cut("llama-bpe", "a \xF0z"), "a| \xF0|z");
    assert_string_equal(cut("llama-bpe", "a\xF0z"), "a|\xF0z");
    assert_string_equal(cut("gpt-2", "\xE4\xBD"), "\xE4\xBD");
}

// ---------------------------------------------------------------------------------------------
// Long runs
// ---------------------------------------------------------------------------------------------
enum { RUN = 200000, SHORT_RUN = 5000 };

// What a run or a mixture may cost: characters looked at for each character of the text. Six
// passes, and within a pass a piece is looked at a few times (its gap, its lead, its two cased
// forms).
enum { LOOKS_MAX = 60 };

// The first ones are run in full length too.
enum { LONG_ROWS = 6 };
static const char *const repeated[] = {
    "A",      ".",     " ",      "\n",     "\u4E2D", "0",    "a",  "\t",      "\r\n",
    "\u00BD", "'",     "\u0301", "\u3000", "\xFF",   "\x01", "Aa", "\u4E2DA", "\u4E2D\u4E2DA",
    " a",     "a ",    " \n",    "\n ",    " 1",     "1 ",   "1.", "1a",      "'s",
    "a'",     "\x01 ", ".\n",    "/\r"};

static size_t count_characters(struct slice text) {
    size_t count = 0;
    for (size_t i = 0; i < text.size; i++) {
        count += ((uint8_t)text.data[i] & 0xC0) != 0x80;
    }
    return count;
}

static void text_is_looked_at_a_bounded_number_of_times(const struct pretokenizer *pretokenizer,
                                                        struct slice text) {
    size_t characters = count_characters(text);
    struct pretokenize_cursor cursor;
    struct slice piece;
    size_t end = 0;
    pretokenize_begin(&cursor, pretokenizer, text);
    while (pretokenize_next(&cursor, &piece)) {
        assert_ptr_equal(piece.data, text.data + end); // nothing is left out, nothing comes twice
        assert_true(piece.size > 0);
        end += piece.size;
    }
    assert_int_equal(end, text.size);
    if (cursor.scan.examined > LOOKS_MAX * (uint64_t)characters) {
        fail_msg("%s: %llu looks at %zu characters of \"%.8s\"", pretokenizer->name,
                 (unsigned long long)cursor.scan.examined, characters, text.data);
    }
}

// Rows that share their passes need only one try.
static bool is_first_with_passes(size_t row) {
    for (size_t i = 0; i < row; i++) {
        if (pretokenize_at(i)->passes == pretokenize_at(row)->passes) {
            return false;
        }
    }
    return true;
}

// With another end the run is no longer all there is: a rule may fail at its very end.
static void cut_run(const char *unit, size_t count, const char *end) {
    size_t size = count * strlen(unit), end_size = strlen(end);
    char *text = malloc(size + end_size);
    assert_non_null(text);
    for (size_t i = 0; i < size; i++) {
        text[i] = unit[i % strlen(unit)];
    }
    memcpy(text + size, end, end_size);
    for (size_t row = 0; pretokenize_at(row); row++) {
        if (is_first_with_passes(row)) {
            text_is_looked_at_a_bounded_number_of_times(pretokenize_at(row),
                                                        slice_make(text, size + end_size));
        }
    }
    free(text);
}

static void *cut_runs(void *user) {
    for (size_t i = 0; i < sizeof repeated / sizeof repeated[0]; i++) {
        cut_run(repeated[i], SHORT_RUN, "");
        cut_run(repeated[i], SHORT_RUN, "Zz");
        cut_run(repeated[i], SHORT_RUN, "0");
        if (i < LONG_ROWS) {
            cut_run(repeated[i], RUN, "Zz");
        }
    }
    return user;
}

static void runs_take_linear_time_on_a_small_stack(void **state) {
    (void)state;
    pthread_attr_t attributes;
    pthread_t thread;
    int done = 0;
    void *result = NULL;
    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_setstacksize(&attributes, 256 * 1024), 0);
    assert_int_equal(pthread_create(&thread, &attributes, cut_runs, &done), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_ptr_equal(result, &done);
    pthread_attr_destroy(&attributes);
}

// The pieces of a long run are those of a short one, repeated.
static void long_runs_follow_the_rule_of_short_ones(void **state) {
    (void)state;
    static const struct {
        const char *name;
        char byte;
        size_t piece; // bytes of each
    } cases[] = {{"llama-bpe", 'A', RUN},   {"llama-bpe", '0', 3}, {"llama-bpe", ' ', RUN},
                 {"qwen2", '0', 1},         {"gpt-2", '0', RUN},   {"deepseek-v3", '0', 3},
                 {"deepseek-v3", '.', RUN}, {"falcon", '.', RUN},  {"deepseek-llm", '\n', 1},
                 {"gpt-4o", 'A', RUN},      {"gemma4", '\n', RUN}};
    char *text = malloc(RUN);
    assert_non_null(text);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        memset(text, cases[i].byte, RUN);
        struct pretokenize_cursor cursor;
        struct slice piece;
        size_t left = RUN;
        pretokenize_begin(&cursor, pretokenize_find(slice_text(cases[i].name)),
                          slice_make(text, RUN));
        while (pretokenize_next(&cursor, &piece)) {
            assert_int_equal(piece.size, left < cases[i].piece ? left : cases[i].piece);
            left -= piece.size;
        }
        assert_int_equal(left, 0);
    }
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(families_cut_as_published),
        cmocka_unit_test(models_that_share_a_pattern_are_known),
        cmocka_unit_test(bytes_that_are_no_text_are_kept),
        cmocka_unit_test(runs_take_linear_time_on_a_small_stack),
        cmocka_unit_test(long_runs_follow_the_rule_of_short_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
