// SPDX-License-Identifier: Apache-2.0
//
// From a file that holds a vocabulary and no tensors to a tokenizer.
#include "token_fixture.h"

#include "gguf/gguf_file.h"
#include "gguf/gguf_writer.h"
#include "token/token_gguf.h"

enum { TOKENS = 262 };

struct file_case {
    struct gguf_writer *writer;
    struct slice names[TOKENS];
    char spelled[256][4];
    struct buffer bytes;
    struct gguf_file *file;
    struct tokenizer_source source;
    struct arena arena;
    const struct tokenizer *tokenizer;
    locum_error error;
};

static struct file_case *begin(void) {
    struct file_case *c = calloc(1, sizeof *c);
    assert_non_null(c);
    arena_init(&c->arena, 0);
    c->writer = gguf_writer_create(32);
    gguf_writer_add_text(c->writer, "general.architecture", "llama");
    return c;
}

static void add_vocabulary(struct file_case *c) {
    static const char *const others[TOKENS - 256] = {"ab", "<s>", "<end>", "<user>", "cd", "abcd"};
    static const char *const merges[] = {"a b", "c d", "ab cd"};
    struct slice pairs[3];
    int32_t kinds[TOKENS];
    for (int i = 0; i < TOKENS; i++) {
        c->names[i] = slice_text(i < 256 ? fixture_byte(i, c->spelled[i]) : others[i - 256]);
        kinds[i] = i == 257 || i == 258 ? 3 : i == 259 ? 4 : 1;
    }
    for (int i = 0; i < 3; i++) {
        pairs[i] = slice_text(merges[i]);
    }
    gguf_writer_add_text(c->writer, "tokenizer.ggml.model", "gpt2");
    gguf_writer_add_text(c->writer, "tokenizer.ggml.pre", "llama-bpe");
    gguf_writer_add_strings(c->writer, "tokenizer.ggml.tokens", c->names, TOKENS);
    gguf_writer_add_strings(c->writer, "tokenizer.ggml.merges", pairs, 3);
    struct gguf_value types = {GGUF_I32, true, TOKENS, {(const char *)kinds, sizeof kinds}, NULL};
    gguf_writer_add_value(c->writer, "tokenizer.ggml.token_type", &types);
}

static locum_status read(struct file_case *c) {
    assert_int_equal(gguf_writer_begin(c->writer, gguf_writer_to_buffer(&c->bytes), &c->error),
                     LOCUM_OK);
    assert_int_equal(gguf_writer_end(c->writer, &c->error), LOCUM_OK);
    assert_int_equal(gguf_file_open_bytes(buffer_slice(&c->bytes), "v.gguf", &c->file, &c->error),
                     LOCUM_OK);
    return token_gguf_read(gguf_file_meta(c->file), &c->source, &c->error);
}

static void end(struct file_case *c) {
    gguf_file_close(c->file);
    gguf_writer_close(c->writer);
    buffer_release(&c->bytes);
    arena_release(&c->arena);
    free(c);
}

static void a_vocabulary_alone_is_enough(void **state) {
    (void)state;
    struct file_case *c = begin();
    add_vocabulary(c);
    gguf_writer_add_u32(c->writer, "tokenizer.ggml.bos_token_id", 257);
    gguf_writer_add_u64(c->writer, "tokenizer.ggml.eos_token_id", 258); // any integer type
    gguf_writer_add_bool(c->writer, "tokenizer.ggml.add_bos_token", false);
    assert_int_equal(read(c), LOCUM_OK);
    assert_int_equal(c->source.add_bos, TOKENIZER_NO);
    assert_int_equal(c->source.add_space_prefix, TOKENIZER_UNSAID);
    assert_int_equal(tokenizer_open(&c->source, &c->arena, &c->tokenizer, &c->error), LOCUM_OK);
    // Nothing of the file is used any more.
    gguf_file_close(c->file);
    c->file = NULL;
    memset(c->bytes.data, 0, c->bytes.size);
    assert_int_equal(tokenizer_size(c->tokenizer), TOKENS);
    assert_int_equal(tokenizer_id(c->tokenizer, TOKENIZER_ID_BOS), 257);
    assert_true(tokenizer_is_end(c->tokenizer, 258));
    assert_int_equal(tokenizer_token_kind(c->tokenizer, 259), TOKEN_KIND_USER);
    struct token_list ids = {0};
    assert_int_equal(tokenizer_encode(c->tokenizer, slice_text("abcd<s>ab"),
                                      TOKENIZER_SPECIAL | TOKENIZER_BOS, &ids, &c->error),
                     LOCUM_OK);
    assert_int_equal(ids.count, 3);
    assert_int_equal(ids.ids[0], 261);
    assert_int_equal(ids.ids[1], 257);
    assert_int_equal(ids.ids[2], 256);
    token_list_release(&ids);
    end(c);
}

static void expect_refused(struct file_case *c, locum_status status, const char *word) {
    locum_status got = read(c);
    if (got == LOCUM_OK) {
        got = tokenizer_open(&c->source, &c->arena, &c->tokenizer, &c->error);
    }
    assert_int_equal(got, status);
    assert_non_null(strstr(c->error.text, "v.gguf"));
    if (!strstr(c->error.text, word)) {
        fail_msg("'%s' lacks '%s'", c->error.text, word);
    }
    end(c);
}

static void files_without_a_vocabulary_say_so(void **state) {
    (void)state;
    struct file_case *c = begin();
    expect_refused(c, LOCUM_E_UNSUPPORTED, "no vocabulary");
    c = begin();
    gguf_writer_add_text(c->writer, "tokenizer.ggml.model", "none");
    expect_refused(c, LOCUM_E_UNSUPPORTED, "no vocabulary");
    c = begin();
    gguf_writer_add_text(c->writer, "tokenizer.ggml.model", "gpt2");
    expect_refused(c, LOCUM_E_FORMAT, "tokenizer.ggml.tokens");
}

static void bad_keys_are_named(void **state) {
    (void)state;
    static const float scores[3] = {0, 1, 2};
    struct gguf_value few = {GGUF_F32, true, 3, {(const char *)scores, sizeof scores}, NULL};
    struct file_case *c = begin();
    add_vocabulary(c);
    gguf_writer_add_value(c->writer, "tokenizer.ggml.scores", &few);
    expect_refused(c, LOCUM_E_FORMAT, "tokenizer.ggml.scores");
    c = begin();
    add_vocabulary(c);
    gguf_writer_add_text(c->writer, "tokenizer.ggml.add_bos_token", "yes");
    expect_refused(c, LOCUM_E_FORMAT, "tokenizer.ggml.add_bos_token");
    c = begin();
    add_vocabulary(c);
    gguf_writer_add_f32(c->writer, "tokenizer.ggml.eos_token_id", 2.5f);
    expect_refused(c, LOCUM_E_FORMAT, "tokenizer.ggml.eos_token_id");
}

static void phi3_is_known_by_its_name(void **state) {
    (void)state;
    static const struct {
        const char *name;
        bool strips;
    } cases[] = {{"Phi-3-mini", true}, {"My PHI3 tune", true}, {"Phi 4", false}, {"", false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct file_case *c = begin();
        add_vocabulary(c);
        gguf_writer_add_text(c->writer, "general.name", cases[i].name);
        assert_int_equal(read(c), LOCUM_OK);
        assert_int_equal(c->source.strip_after_special, cases[i].strips);
        end(c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_vocabulary_alone_is_enough),
        cmocka_unit_test(files_without_a_vocabulary_say_so),
        cmocka_unit_test(bad_keys_are_named),
        cmocka_unit_test(phi3_is_known_by_its_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
