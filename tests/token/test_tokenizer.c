// SPDX-License-Identifier: Apache-2.0
//
// The rules that users meet: what special tokens are, where BOS and blanks go, what ends an answer,
// what is refused. With spm.c, token_roles.c, token_output.c and token_list.c.
#include "token_fixture.h"

#include <pthread.h>

#include "token/detokenizer.h"

// The linker hands the heap to this file: the n-th resize from now on fails, and all after it.
static int resizes_left = -1; // -1: all succeed

void *__real_realloc(void *memory, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_realloc(void *memory, size_t size) {
    if (resizes_left == 0) {
        return NULL;
    }
    resizes_left -= resizes_left > 0;
    return __real_realloc(memory, size);
}

// Byte-level BPE with a few words and markers of each kind.
static struct fixture *bpe_model(const char *pre) {
    struct fixture *f = fixture_new();
    fixture_add_bytes(f);
    fixture_pair(f, "h", "i");
    fixture_pair(f, "\u0120", "hi");
    fixture_pair(f, "<", "|");
    fixture_pair(f, "|", ">");
    fixture_pair(f, "n", "d");
    fixture_pair(f, "e", "nd");
    fixture_add(f, "<bos>", TOKEN_KIND_CONTROL, 0);
    fixture_add(f, "<|im_end|>", TOKEN_KIND_CONTROL, 0);
    fixture_add(f, "<think>", TOKEN_KIND_USER, 0);
    fixture_add(f, "<plain>", TOKEN_KIND_NORMAL, 0);
    fixture_add(f, "    ", TOKEN_KIND_USER, 0);
    f->source.ids[TOKENIZER_ID_BOS] = 262;
    fixture_open(f, "gpt2", pre);
    assert_true(slice_is(tokenizer_token_bytes(f->tokenizer, 262, true), "<bos>"));
    return f;
}

// Scores: longer words are better.
static struct fixture *spm_model(void) {
    struct fixture *f = fixture_new();
    fixture_add_spm(f);
    static const char *const words[] = {"\u2581", "h", "i", "e", "l", "o", "<", "s", ">", "/"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        fixture_add(f, words[i], TOKEN_KIND_NORMAL, -100);
    }
    fixture_add(f, "hi", TOKEN_KIND_NORMAL, -1);
    fixture_add(f, "\u2581hi", TOKEN_KIND_NORMAL, -2);
    fixture_add(f, "he", TOKEN_KIND_NORMAL, -3);
    fixture_add(f, "ll", TOKEN_KIND_NORMAL, -4);
    fixture_add(f, "llo", TOKEN_KIND_NORMAL, -5);
    fixture_add(f, "hello", TOKEN_KIND_NORMAL, -6);
    fixture_add(f, "\u2581hello", TOKEN_KIND_NORMAL, -7);
    fixture_add(f, "\u2581\u2581", TOKEN_KIND_NORMAL, -8);
    fixture_add(f, "<s", TOKEN_KIND_NORMAL, -9);
    return f;
}

static const char *encode_stretches(struct fixture *f, const char *text,
                                    const struct tokenizer_stretch *stretches, size_t count) {
    const struct tokenizer_watch nobody = {NULL, NULL};
    struct token_list ids = {0};
    assert_int_equal(tokenizer_encode_stretches(f->tokenizer, slice_text(text), stretches, count, 0,
                                                &nobody, &ids, &f->error),
                     LOCUM_OK);
    const char *shown = fixture_show(f, &ids);
    token_list_release(&ids);
    return shown;
}

static void stretches_decide_where_special_tokens_are(void **state) {
    (void)state;
    struct fixture *f = bpe_model("gpt-2");
    const char text[] = "<think>hi<|im_end|><|im_end|>";
    const struct tokenizer_stretch inner[] = {{7, true}, {12, false}, {10, true}};
    assert_string_equal(encode_stretches(f, text, inner, 3),
                        "[[<think>]]|hi|<||i|m|_|end||>|[[<|im_end|>]]");
    // A marker that only both sides of a border together spell is none, in either order.
    const struct tokenizer_stretch across[] = {{3, true}, {4, false}, {12, false}, {10, true}};
    assert_string_equal(encode_stretches(f, text, across, 4),
                        "<|t|hi|n|k|>|hi|<||i|m|_|end||>|[[<|im_end|>]]");
    // Ordinary text is cut as if there were no border.
    const struct tokenizer_stretch halves[] = {{1, true}, {1, false}};
    assert_string_equal(encode_stretches(f, "hi", halves, 2), "hi");
    assert_string_equal(encode_stretches(f, "", halves, 0), "");
    fixture_free(f);
}

static void special_tokens_only_where_they_are_allowed(void **state) {
    (void)state;
    struct fixture *f = bpe_model("gpt-2");
    // Off means plain text, for control and user-defined tokens alike.
    assert_string_equal(fixture_encode(f, "hi<|im_end|>", 0), "hi|<||i|m|_|end||>");
    assert_string_equal(fixture_encode(f, "<think>hi", 0), "<|t|hi|n|k|>|hi");
    assert_string_equal(fixture_encode(f, "hi<|im_end|> hi", TOKENIZER_SPECIAL),
                        "hi|[[<|im_end|>]]| hi");
    // A marker is one id as CONTROL and USER, and follows the merges as NORMAL.
    assert_string_equal(fixture_encode(f, "<think>hi", TOKENIZER_SPECIAL), "[[<think>]]|hi");
    assert_string_equal(fixture_encode(f, "<plain>", TOKENIZER_SPECIAL), "<|p|l|a|i|n|>");
    // A run of blanks that the vocabulary has a token for is text, not a marker.
    assert_string_equal(fixture_encode(f, "    hi", 0), "[[    ]]|hi");
    fixture_free(f);
}

static void marker_kinds_in_scored_vocabularies(void **state) {
    (void)state;
    struct fixture *f = spm_model();
    fixture_open(f, "llama", "");
    // "<s" and ">" are tokens, yet what a user types does not merge into the control token <s>.
    assert_string_equal(fixture_encode(f, "<s>", 0), " |<s|>");
    assert_string_equal(fixture_encode(f, "<s>", TOKENIZER_SPECIAL), "[[<s>]]");
    assert_string_equal(fixture_encode(f, "<0x0A>", 0), " |<|\x30|\x78|\x30|\x41|>");
    fixture_free(f);
}

static void exactly_one_bos(void **state) {
    (void)state;
    static const struct {
        enum tokenizer_choice add_bos;
        const char *text, *tokens;
    } cases[] = {
        {TOKENIZER_YES, "hi", "[[<bos>]]|hi"},
        {TOKENIZER_YES, "<bos>hi", "[[<bos>]]|hi"},
        {TOKENIZER_YES, "", "[[<bos>]]"},
        {TOKENIZER_NO, "<bos>hi", "[[<bos>]]|hi"},
        {TOKENIZER_NO, "hi", "hi"},
        {TOKENIZER_UNSAID, "hi", "hi"}, // the default of gpt-2
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture *f = bpe_model("gpt-2");
        f->source.add_bos = cases[i].add_bos;
        fixture_open(f, "gpt2", "gpt-2");
        assert_string_equal(fixture_encode(f, cases[i].text, TOKENIZER_SPECIAL | TOKENIZER_BOS),
                            cases[i].tokens);
        fixture_free(f);
    }
    struct fixture *f = bpe_model("llama-bpe"); // begins with BOS unless told otherwise
    assert_string_equal(fixture_encode(f, "hi", TOKENIZER_BOS), "[[<bos>]]|hi");
    assert_string_equal(fixture_encode(f, "hi", 0), "hi");
    // Typed by a user it is no BOS, so one is added.
    assert_string_equal(fixture_encode(f, "<bos>", TOKENIZER_BOS), "[[<bos>]]|<|b|o|s|>");
    f->source.ids[TOKENIZER_ID_BOS] = TOKEN_NONE; // wanted, but there is none
    fixture_open(f, "gpt2", "llama-bpe");
    assert_string_equal(fixture_encode(f, "hi", TOKENIZER_BOS), "hi");
    fixture_free(f);
}

static void texts_continue(void **state) {
    (void)state;
    struct fixture *f = spm_model();
    struct token_list ids = {0};
    fixture_open(f, "llama", "");
    const uint32_t all = TOKENIZER_SPECIAL | TOKENIZER_BOS;
    assert_int_equal(tokenizer_encode(f->tokenizer, slice_text("hi"), all, &ids, NULL), LOCUM_OK);
    assert_int_equal(tokenizer_encode(f->tokenizer, slice_text("hi</s>"), all, &ids, NULL),
                     LOCUM_OK);
    assert_int_equal(tokenizer_encode(f->tokenizer, slice_text("hi"), all, &ids, NULL), LOCUM_OK);
    assert_string_equal(fixture_show(f, &ids), "[[<s>]]| hi|hi|[[</s>]]| hi");
    token_list_release(&ids);
    fixture_free(f);
}

static void scores_decide_and_bytes_catch(void **state) {
    (void)state;
    struct fixture *f = spm_model();
    fixture_open(f, "llama", "");
    assert_true(tokenizer_adds_space(f->tokenizer) && tokenizer_adds_bos(f->tokenizer));
    assert_string_equal(fixture_encode(f, "hello", 0), " hello");
    assert_string_equal(fixture_encode(f, "hihi", 0), " hi|hi");
    assert_string_equal(fixture_encode(f, " hi", 0), " | hi"); // two blanks (-8) come last
    assert_string_equal(fixture_encode(f, "\u00E9", 0), " |\xC3|\xA9");
    assert_string_equal(fixture_encode(f, "hi\nhi", 0), " hi|\n|hi");
    f->source.add_space_prefix = TOKENIZER_NO;
    fixture_open(f, "llama", "");
    assert_string_equal(fixture_encode(f, "hello", 0), "hello");
    assert_string_equal(fixture_encode(f, "", TOKENIZER_BOS), "[[<s>]]");
    fixture_free(f);
}

// Texts are cut before blanks only where no token spans the cut.
static void tokens_with_blanks_inside_are_found(void **state) {
    (void)state;
    struct fixture *f = spm_model();
    f->source.add_space_prefix = TOKENIZER_NO;
    fixture_open(f, "llama", "");
    assert_string_equal(fixture_encode(f, "hi hi", 0), "hi| hi");
    fixture_add(f, "hi\u2581hi", TOKEN_KIND_NORMAL, -3);
    fixture_open(f, "llama", "");
    assert_string_equal(fixture_encode(f, "hi hi", 0), "hi hi");
    fixture_free(f);
    f = fixture_new();
    fixture_add_spm(f);
    fixture_add(f, "\u2581", TOKEN_KIND_NORMAL, 0);
    fixture_add(f, "a", TOKEN_KIND_NORMAL, 0);
    fixture_pair(f, "a", "\u2581");
    fixture_pair(f, "a\u2581", "a");
    fixture_open(f, "gemma4", "");
    assert_string_equal(fixture_encode(f, "a a a", 0), "a |a a");
    fixture_free(f);
}

static void equal_scores_merge_from_the_left(void **state) {
    (void)state;
    struct fixture *f = fixture_new();
    fixture_add_spm(f);
    for (const char *c = "abc"; *c; c++) {
        fixture_add(f, (char[]){*c, 0}, TOKEN_KIND_NORMAL, -9);
    }
    fixture_add(f, "ab", TOKEN_KIND_NORMAL, -0.0);
    fixture_add(f, "bc", TOKEN_KIND_NORMAL, 0.0);
    f->source.add_space_prefix = TOKENIZER_NO;
    fixture_open(f, "llama", "");
    assert_string_equal(fixture_encode(f, "abcbc", 0), "ab|c|bc");
    fixture_add(f, "cb", TOKEN_KIND_NORMAL, 1.0); // positive scores are higher still
    fixture_open(f, "llama", "");
    assert_string_equal(fixture_encode(f, "abcbc", 0), "ab|cb|c");
    fixture_free(f);
}

static void unknown_characters_stand_as_unknown(void **state) {
    (void)state;
    struct fixture *f = fixture_new();
    struct token_list ids = {0};
    fixture_add(f, "<unk>", TOKEN_KIND_UNKNOWN, 0);
    fixture_add(f, "a", TOKEN_KIND_NORMAL, 0);
    fixture_add(f, "\u2581", TOKEN_KIND_NORMAL, 0);
    fixture_open(f, "llama", "");
    assert_string_equal(fixture_encode(f, "a\u4E2Da", 0), " |a|[[<unk>]]|a");
    assert_int_equal(tokenizer_encode(f->tokenizer, slice_text("\u4E2D!"), 0, &ids, NULL),
                     LOCUM_OK);
    assert_int_equal(ids.replaced, 2);
    token_list_release(&ids);
    fixture_free(f);
}

static void missing_bytes_stand_as_the_replacement_character(void **state) {
    (void)state;
    struct fixture *f = fixture_new();
    struct token_list ids = {0};
    char text[4];
    for (int byte = 0; byte < 256; byte++) {
        bool left_out = byte == 0x0B || byte == 0xFF;
        fixture_add(f, left_out ? "\u4E2D" : fixture_byte(byte, text), TOKEN_KIND_NORMAL, 0);
    }
    fixture_pair(f, "a", "b");
    fixture_open(f, "gpt2", "gpt-2");
    assert_string_equal(fixture_encode(f, "ab\x0B\xFF", 0), "ab|\xEF|\xBF|\xBD|\xEF|\xBF|\xBD");
    assert_int_equal(tokenizer_encode(f->tokenizer,
                                      slice_text("ab\x0B"
                                                 "ab"),
                                      0, &ids, NULL),
                     LOCUM_OK);
    assert_int_equal(ids.replaced, 1);
    fixture_free(f);
    // Without its bytes there is nothing left to say.
    f = fixture_new();
    fixture_add(f, "a", TOKEN_KIND_NORMAL, 0);
    fixture_add(f, "b", TOKEN_KIND_NORMAL, 0);
    fixture_pair(f, "a", "b");
    fixture_open(f, "gpt2", "gpt-2");
    ids.count = 1;
    assert_int_equal(tokenizer_encode(f->tokenizer, slice_text("abc"), 0, &ids, &f->error),
                     LOCUM_E_UNSUPPORTED);
    assert_int_equal(ids.count, 1);
    assert_non_null(strstr(f->error.text, "0x63"));
    token_list_release(&ids);
    fixture_free(f);
}

// A text comes back from its ids byte for byte, as it is and as characters.
static void everything_comes_back(void **state) {
    (void)state;
    static const char *const texts[] = {"hi",
                                        " hi",
                                        "  hi  ",
                                        "h\u00E9 \u00EF \u2014 123 \U0001F600",
                                        "e\u0301 \u00E9",
                                        "1 12 123 1234 123456789",
                                        "\t\t \r\n\r\n  \n",
                                        "a    b     c         d",
                                        "\xFF\xFE\x80 \xED\xA0\x80 \xC0\xAF",
                                        "\u2581 \u2581\u2581",
                                        "\u0120\u010A",
                                        "<s>hi</s>",
                                        "<0x0A>",
                                        "\u3000\u00A0\u200B",
                                        ""};
    static const char *const pres[] = {"gpt-2", "llama-bpe", "deepseek-llm", "gpt-4o", "kimi-k2"};
    for (size_t model = 0; model <= sizeof pres / sizeof pres[0]; model++) {
        bool scored = model == sizeof pres / sizeof pres[0];
        struct fixture *f = scored ? spm_model() : bpe_model(pres[model]);
        fixture_open(f, scored ? "llama" : "gpt2", scored ? "" : pres[model]);
        for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
            struct token_list ids = {0};
            char back[512];
            size_t size = 0;
            assert_int_equal(
                tokenizer_encode(f->tokenizer, slice_text(texts[i]), 0, &ids, &f->error), LOCUM_OK);
            for (size_t k = 0; k < ids.count; k++) {
                struct slice bytes = tokenizer_token_bytes(f->tokenizer, ids.ids[k], false);
                bytes = scored && k == 0 ? slice_from(bytes, 1) : bytes;
                memcpy(back + size, bytes.data, bytes.size);
                size += bytes.size;
            }
            assert_int_equal(size, strlen(texts[i]));
            assert_memory_equal(back, texts[i], size);
            assert_int_equal(ids.replaced, 0);
            token_list_release(&ids);
        }
        fixture_free(f);
    }
}

static void unknown_pre_tokenizers_are_refused(void **state) {
    (void)state;
    struct fixture *f = bpe_model("gpt-2");
    assert_int_equal(fixture_try(f, "gpt2", "indic-9"), LOCUM_E_UNSUPPORTED);
    assert_non_null(strstr(f->error.text, "fixture.gguf"));
    assert_non_null(strstr(f->error.text, "'indic-9'"));
    assert_non_null(strstr(f->error.text, "llama-bpe"));
    assert_non_null(strstr(f->error.text, "qwen2"));
    assert_int_equal(fixture_try(f, "bert", ""), LOCUM_E_UNSUPPORTED);
    assert_non_null(strstr(f->error.text, "'bert'"));
    // A file that says nothing is read, and the host is told.
    fixture_open(f, "gpt2", "");
    assert_non_null(strstr(tokenizer_notice(f->tokenizer), "'default'"));
    assert_string_equal(tokenizer_name(f->tokenizer), "gpt2 / default");
    fixture_open(f, "gpt2", "qwen2");
    assert_null(tokenizer_notice(f->tokenizer));
    assert_string_equal(tokenizer_name(f->tokenizer), "gpt2 / qwen2");
    fixture_free(f);
}

static void incomplete_files_are_refused(void **state) {
    (void)state;
    struct fixture *f = fixture_new();
    fixture_add_bytes(f);
    assert_int_equal(fixture_try(f, "gpt2", "gpt-2"), LOCUM_E_FORMAT);
    assert_non_null(strstr(f->error.text, "merges"));
    assert_int_equal(fixture_try(f, "gpt2", "kimi-k2"), LOCUM_OK); // needs none
    fixture_try(f, "llama", "");
    f->source.scores.count = 0;
    assert_int_equal(tokenizer_open(&f->source, &f->arena, &f->tokenizer, &f->error),
                     LOCUM_E_FORMAT);
    assert_non_null(strstr(f->error.text, "scores"));
    fixture_free(f);
}

static void ids_that_the_file_lacks_are_no_ids(void **state) {
    (void)state;
    struct fixture *f = bpe_model("gpt-2");
    f->source.ids[TOKENIZER_ID_EOS] = 4294967295;
    f->source.ids[TOKENIZER_ID_PADDING] = 5;
    fixture_open(f, "gpt2", "gpt-2");
    assert_int_equal(tokenizer_id(f->tokenizer, TOKENIZER_ID_EOS), TOKEN_NONE);
    assert_int_equal(tokenizer_id(f->tokenizer, TOKENIZER_ID_PADDING), 5);
    assert_int_equal(tokenizer_id(f->tokenizer, TOKENIZER_ID_EOT), TOKEN_NONE);
    assert_non_null(strstr(tokenizer_notice(f->tokenizer), "4294967295"));
    assert_false(tokenizer_is_valid(f->tokenizer, -1));
    assert_false(tokenizer_is_valid(f->tokenizer, (locum_token)tokenizer_size(f->tokenizer)));
    fixture_free(f);
}

// ---------------------------------------------------------------------------------------------
// What ends an answer
// ---------------------------------------------------------------------------------------------
static bool ends(struct fixture *f, const char *name) {
    locum_token id = tokenizer_search(f->tokenizer, slice_text(name));
    assert_int_not_equal(id, TOKEN_NONE);
    return tokenizer_is_end(f->tokenizer, id);
}

static enum token_kind kind(struct fixture *f, const char *name) {
    return tokenizer_token_kind(f->tokenizer, tokenizer_search(f->tokenizer, slice_text(name)));
}

static struct fixture *with_tokens(const char *const names[], enum token_kind kind_of_all) {
    struct fixture *f = fixture_new();
    fixture_add_bytes(f);
    fixture_pair(f, "a", "b");
    for (size_t i = 0; names[i]; i++) {
        fixture_add(f, names[i], kind_of_all, 0);
    }
    return f;
}

static void end_tokens_are_found_by_id_and_by_name(void **state) {
    (void)state;
    static const char *const names[] = {
        "<|endoftext|>", "<|im_end|>", "<|user|>", "<|observation|>", "<stop>", "<|other|>", NULL};
    struct fixture *f = with_tokens(names, TOKEN_KIND_CONTROL);
    f->source.ids[TOKENIZER_ID_EOT] = 259;
    f->source.ids[TOKENIZER_ID_EOM] = 260;
    f->source.ids[TOKENIZER_ID_EOS] = 261;
    fixture_open(f, "gpt2", "glm4");
    for (int i = 0; i < 5; i++) {
        assert_true(ends(f, names[i]));
    }
    assert_false(ends(f, "<|other|>"));
    assert_false(tokenizer_is_end(f->tokenizer, 'a'));
    fixture_free(f);
}

// Marked as an ordinary token, it ends the answer all the same, and is not shown.
static void end_tokens_of_the_wrong_kind(void **state) {
    (void)state;
    static const char *const names[] = {"<|im_end|>", "<\uFF5Cend\u2581of\u2581sentence\uFF5C>",
                                        "[e~[", NULL};
    struct fixture *f = with_tokens(names, TOKEN_KIND_NORMAL);
    fixture_open(f, "gpt2", "qwen2");
    for (int i = 0; names[i]; i++) {
        assert_true(ends(f, names[i]));
        assert_int_equal(kind(f, names[i]), TOKEN_KIND_CONTROL);
        assert_int_equal(tokenizer_token_bytes(f->tokenizer,
                                               tokenizer_search(f->tokenizer, slice_text(names[i])),
                                               false)
                             .size,
                         0);
    }
    assert_string_equal(fixture_encode(f, "a<|im_end|>", TOKENIZER_SPECIAL), "a|[[<|im_end|>]]");
    fixture_free(f);
}

static void harmony_ends_and_markers(void **state) {
    (void)state;
    static const char *const names[] = {"<|return|>",  "<|call|>",  "<|end|>",       "<|channel|>",
                                        "<|message|>", "<|start|>", "<|constrain|>", NULL};
    struct fixture *f = with_tokens(names, TOKEN_KIND_CONTROL);
    fixture_open(f, "gpt2", "gpt-4o");
    assert_true(ends(f, "<|return|>") && ends(f, "<|call|>"));
    for (int i = 2; names[i]; i++) {
        assert_false(ends(f, names[i]));
        assert_int_equal(kind(f, names[i]), TOKEN_KIND_USER); // whoever parses the answer sees it
    }
    fixture_free(f);
    static const char *const phi[] = {"<|end|>", "<|call|>", NULL};
    f = with_tokens(phi, TOKEN_KIND_CONTROL);
    fixture_open(f, "gpt2", "gpt-4o");
    assert_true(ends(f, "<|end|>"));
    fixture_free(f);
}

static void html_is_no_end_where_gemma_has_it(void **state) {
    (void)state;
    static const char *const gemma[] = {"<|tool_response>", "</s>", "<turn|>", NULL};
    struct fixture *f = with_tokens(gemma, TOKEN_KIND_USER);
    fixture_open(f, "gpt2", "gpt-2");
    assert_true(ends(f, "<|tool_response>") && ends(f, "<turn|>"));
    assert_false(ends(f, "</s>"));
    fixture_free(f);
    f = with_tokens(gemma + 1, TOKEN_KIND_USER);
    fixture_open(f, "gpt2", "gpt-2");
    assert_true(ends(f, "</s>"));
    fixture_free(f);
}

static void files_without_kinds_still_have_special_ids(void **state) {
    (void)state;
    struct fixture *f = bpe_model("gpt-2");
    fixture_try(f, "gpt2", "gpt-2");
    f->source.kinds.count = 0;
    assert_int_equal(tokenizer_open(&f->source, &f->arena, &f->tokenizer, &f->error), LOCUM_OK);
    assert_int_equal(kind(f, "<bos>"), TOKEN_KIND_CONTROL);
    assert_int_equal(kind(f, "<think>"), TOKEN_KIND_NORMAL);
    fixture_free(f);
}

static void blanks_belong_to_the_markers_of_phi(void **state) {
    (void)state;
    struct fixture *f = spm_model();
    fixture_add(f, "<|user|>", TOKEN_KIND_CONTROL, 0);
    fixture_add(f, "    ", TOKEN_KIND_USER, 0);
    f->source.strip_after_special = true;
    f->source.add_space_prefix = TOKENIZER_NO;
    fixture_open(f, "llama", "");
    // What is no marker keeps what follows it.
    assert_string_equal(fixture_encode(f, "    \nhi", 0), "[[    ]]|\n|hi");
    f->source.add_space_prefix = TOKENIZER_UNSAID;
    fixture_open(f, "llama", "");
    assert_string_equal(fixture_encode(f, "<|user|>\n hi</s> \nhi<s> hi", TOKENIZER_SPECIAL),
                        "[[<|user|>]]| hi|[[</s>]]| hi|[[<s>]]| | hi");
    fixture_free(f);
}

// ---------------------------------------------------------------------------------------------
// Gemma 4: merges over characters, spaces spelled
// ---------------------------------------------------------------------------------------------
static void gemma4_rules(void **state) {
    (void)state;
    struct fixture *f = fixture_new();
    fixture_add_spm(f);
    fixture_add(f, "\u2581", TOKEN_KIND_NORMAL, 0);
    fixture_add(f, "h", TOKEN_KIND_NORMAL, 0);
    fixture_add(f, "i", TOKEN_KIND_NORMAL, 0);
    fixture_add(f, "\n", TOKEN_KIND_NORMAL, 0);
    fixture_add(f, "\n\n\n", TOKEN_KIND_NORMAL, 0); // no merges lead there
    fixture_pair(f, "h", "i");
    fixture_pair(f, "\u2581", "hi");
    f->source.ids[TOKENIZER_ID_BOS] = 1;
    f->source.add_bos = TOKENIZER_NO;
    fixture_open(f, "gemma4", "ignored");
    assert_string_equal(fixture_encode(f, "hi hi", TOKENIZER_BOS),
                        "[[<s>]]|hi| hi"); // BOS is forced
    assert_string_equal(fixture_encode(f, "hi\n\n\nhi\n\n", 0), "hi|\n\n\n|hi|\n|\n");
    assert_string_equal(fixture_encode(f, "\u2581\u00E9", 0), "\xE2|\x96|\x81|\xC3|\xA9");
    assert_string_equal(tokenizer_name(f->tokenizer), "gemma4");
    fixture_free(f);
}

// ---------------------------------------------------------------------------------------------
// Watched: long texts can be broken off
// ---------------------------------------------------------------------------------------------
struct watched {
    size_t calls, stop_at, done, total;
};

static bool on_progress(void *user, size_t done, size_t total) {
    struct watched *w = user;
    assert_true(done >= w->done && done <= total);
    w->done = done;
    w->total = total;
    return ++w->calls == w->stop_at;
}

// `unit` again and again, a MiB of it, behind an id that is there already. stop_at 0: to the end.
static locum_status encode_watched(struct fixture *f, const char *unit, size_t stop_at,
                                   struct watched *w) {
    enum { SIZE = 1 << 20 };
    char *text = malloc(SIZE);
    assert_non_null(text);
    size_t size = strlen(unit);
    for (size_t i = 0; i < SIZE; i++)
        text[i] = unit[i % size];
    *w = (struct watched){.stop_at = stop_at, .total = SIZE};
    struct token_list ids = {0};
    token_list_push(&ids, 3);
    struct tokenizer_watch watch = {on_progress, w};
    locum_status status = tokenizer_encode_watched(f->tokenizer, slice_make(text, SIZE),
                                                   TOKENIZER_SPECIAL, &watch, &ids, &f->error);
    assert_int_equal(w->total, SIZE);
    assert_int_equal(ids.ids[0], 3);
    assert_int_equal(ids.count > 1, status == LOCUM_OK);
    token_list_release(&ids);
    free(text);
    return status;
}

static void a_long_text_can_be_broken_off(void **state) {
    (void)state;
    // Words that are merged, one piece without end, special tokens, words that are tokens.
    static const char *const units[] = {"hi hi! ", "h", "<|im_end|>", "\n"};
    struct fixture *models[] = {bpe_model("llama-bpe"), bpe_model("gpt-2"), spm_model()};
    fixture_open(models[2], "llama", "");
    for (size_t m = 0; m < sizeof models / sizeof models[0]; m++) {
        for (size_t u = 0; u < sizeof units / sizeof units[0]; u++) {
            struct watched all, some;
            assert_int_equal(encode_watched(models[m], units[u], 0, &all), LOCUM_OK);
            assert_true(all.calls > 0);
            assert_true(u > 0 || all.done > 0); // a piece counts when it is whole
            for (size_t at = 1; at <= all.calls; at += 1 + all.calls / 4) {
                assert_int_equal(encode_watched(models[m], units[u], at, &some), LOCUM_E_CANCELLED);
                assert_int_equal(some.calls, at); // not asked again
            }
        }
        fixture_free(models[m]);
    }
}

// ---------------------------------------------------------------------------------------------
// Size: long runs, memory
// ---------------------------------------------------------------------------------------------
static void *encode_runs(void *user) {
    const struct tokenizer *tokenizer = user;
    enum { RUN = 200000 };
    char *text = malloc(RUN);
    assert_non_null(text);
    for (const char *byte = "h. \n0"; *byte; byte++) {
        struct token_list ids = {0}, few = {0};
        memset(text, *byte, RUN);
        assert_int_equal(tokenizer_encode(tokenizer, slice_make(text, RUN), 0, &ids, NULL),
                         LOCUM_OK);
        assert_int_equal(tokenizer_encode(tokenizer, slice_make(text, 200), 0, &few, NULL),
                         LOCUM_OK);
        size_t size = 0;
        for (size_t i = 0; i < ids.count; i++) {
            size += tokenizer_token_bytes(tokenizer, ids.ids[i], false).size;
        }
        assert_int_equal(size, RUN + (tokenizer_adds_space(tokenizer) ? 1 : 0));
        for (size_t i = 0; i + 4 < few.count;
             i++) { // the end of a run may differ, its rule does not
            assert_int_equal(few.ids[i], ids.ids[i]);
        }
        token_list_release(&ids);
        token_list_release(&few);
    }
    free(text);
    return user;
}

static void runs_on_a_small_stack(void **state) {
    (void)state;
    struct fixture *models[] = {bpe_model("llama-bpe"), bpe_model("deepseek-llm"), spm_model()};
    fixture_open(models[2], "llama", "");
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        pthread_attr_t attributes;
        pthread_t thread;
        void *result = NULL;
        assert_int_equal(pthread_attr_init(&attributes), 0);
        assert_int_equal(pthread_attr_setstacksize(&attributes, 256 * 1024), 0);
        assert_int_equal(pthread_create(&thread, &attributes, encode_runs,
                                        (void *)(uintptr_t)models[i]->tokenizer),
                         0);
        assert_int_equal(pthread_join(thread, &result), 0);
        assert_ptr_equal(result, models[i]->tokenizer);
        pthread_attr_destroy(&attributes);
        fixture_free(models[i]);
    }
}

static void the_file_is_not_needed_after_open(void **state) {
    (void)state;
    struct fixture *f = bpe_model("gpt-2");
    memset(f->pool, 'x', sizeof f->pool);
    memset(f->texts, 0, sizeof f->texts);
    memset(f->merges, 0, sizeof f->merges);
    assert_string_equal(fixture_encode(f, " hi<|im_end|>", TOKENIZER_SPECIAL),
                        " hi|[[<|im_end|>]]");
    fixture_free(f);
}

static void memory_is_counted_and_may_run_out(void **state) {
    (void)state;
    struct fixture *f = bpe_model("gpt-2");
    size_t needed = tokenizer_bytes(f->tokenizer);
    assert_true(needed <= f->arena.bytes);
    for (size_t limit = 4096; limit < f->arena.bytes; limit += 4096) {
        arena_release(&f->arena);
        arena_init(&f->arena, limit);
        if (fixture_try(f, "gpt2", "gpt-2") == LOCUM_OK) {
            assert_true(limit >= needed);
            fixture_free(f);
            return;
        }
        assert_int_equal(f->error.status, LOCUM_E_OUT_OF_MEMORY);
    }
    fixture_free(f);
}

// Fails the n-th allocation of encoding, for every n until none fails.
static void encoding_may_run_out_of_memory(void **state) {
    (void)state;
    struct fixture *models[] = {bpe_model("llama-bpe"), spm_model()};
    fixture_open(models[1], "llama", "");
    char text[2000];
    memset(text, 'h', sizeof text);
    memcpy(text + 1000, "<s>", 3);
    for (size_t i = 0; i < 2; i++) {
        struct token_list wanted = {0};
        const struct tokenizer *tokenizer = models[i]->tokenizer;
        const uint32_t flags = TOKENIZER_SPECIAL | TOKENIZER_BOS;
        struct slice all = slice_make(text, sizeof text);
        assert_int_equal(tokenizer_encode(tokenizer, all, flags, &wanted, NULL), LOCUM_OK);
        int fails = 0;
        for (locum_status status = LOCUM_E_OUT_OF_MEMORY; status != LOCUM_OK; fails++) {
            struct token_list ids = {0};
            resizes_left = fails;
            status = tokenizer_encode(tokenizer, all, flags, &ids, &models[i]->error);
            resizes_left = -1;
            assert_true(status == LOCUM_OK || status == LOCUM_E_OUT_OF_MEMORY);
            assert_int_equal(ids.count, status == LOCUM_OK ? wanted.count : 0);
            token_list_release(&ids);
        }
        assert_true(fails > 5);
        token_list_release(&wanted);
        fixture_free(models[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(special_tokens_only_where_they_are_allowed),
        cmocka_unit_test(stretches_decide_where_special_tokens_are),
        cmocka_unit_test(marker_kinds_in_scored_vocabularies),
        cmocka_unit_test(exactly_one_bos),
        cmocka_unit_test(texts_continue),
        cmocka_unit_test(scores_decide_and_bytes_catch),
        cmocka_unit_test(tokens_with_blanks_inside_are_found),
        cmocka_unit_test(equal_scores_merge_from_the_left),
        cmocka_unit_test(unknown_characters_stand_as_unknown),
        cmocka_unit_test(missing_bytes_stand_as_the_replacement_character),
        cmocka_unit_test(everything_comes_back),
        cmocka_unit_test(unknown_pre_tokenizers_are_refused),
        cmocka_unit_test(incomplete_files_are_refused),
        cmocka_unit_test(ids_that_the_file_lacks_are_no_ids),
        cmocka_unit_test(end_tokens_are_found_by_id_and_by_name),
        cmocka_unit_test(end_tokens_of_the_wrong_kind),
        cmocka_unit_test(harmony_ends_and_markers),
        cmocka_unit_test(html_is_no_end_where_gemma_has_it),
        cmocka_unit_test(files_without_kinds_still_have_special_ids),
        cmocka_unit_test(blanks_belong_to_the_markers_of_phi),
        cmocka_unit_test(gemma4_rules),
        cmocka_unit_test(a_long_text_can_be_broken_off),
        cmocka_unit_test(runs_on_a_small_stack),
        cmocka_unit_test(the_file_is_not_needed_after_open),
        cmocka_unit_test(memory_is_counted_and_may_run_out),
        cmocka_unit_test(encoding_may_run_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
