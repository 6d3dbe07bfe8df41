// SPDX-License-Identifier: Apache-2.0
//
// What can be said about a file without loading it, also about files that cannot be run.
#include "tests/engine/talk.h"

#include <stdio.h>
#include <string.h>

#include "tests/platform/scratch.h"

static locum_file *file;
static locum_file_info info;
static locum_error error;

static int tear_down(void **state) {
    (void)state;
    locum_file_close(file);
    file = NULL;
    return 0;
}

static void open_path(const char *path) {
    tear_down(NULL);
    if (locum_file_open(path, &file, &error) != LOCUM_OK) fail_msg("%s", error.text);
    locum_file_get_info(file, &info);
}

static void open_toy(struct toy_model *toy) {
    open_path(talk_save_toy(toy));
}

static void open_spec(const struct toy_spec *spec) {
    open_toy(toy_create(spec));
}

// ---- numbers ------------------------------------------------------------------------------------
static void numbers_of_a_mixture(void **state) {
    (void)state;
    struct toy_spec s = toy_spec_of("qwen3moe");
    open_spec(&s);
    assert_string_equal(info.architecture, "qwen3moe");
    assert_string_equal(info.name, "toy");
    assert_string_equal(info.quantisation, "F32 100 %");
    assert_string_equal(info.tokenizer, "gpt2 / qwen2");
    assert_null(info.unsupported);
    assert_int_equal(info.shards, 1);
    assert_int_equal(info.gguf_version, 3);
    assert_int_equal(info.layers, 3);
    assert_int_equal(info.moe_layers, 3);
    assert_int_equal(info.embedding, 64);
    assert_int_equal(info.context_trained, 1024);
    assert_int_equal(info.vocabulary, 320);
    assert_int_equal(info.heads, 4);
    assert_int_equal(info.heads_kv, 2);
    assert_int_equal(info.head_size, 16);
    assert_int_equal(info.experts, 8);
    assert_int_equal(info.experts_used, 2);
    assert_int_equal(info.unknown_tensors, 0);
    assert_false(info.has_chat_template);
    uint64_t expert = 3 * 32 * 64;
    assert_int_equal(info.expert_bytes_max, expert * 4);
    assert_int_equal(info.expert_bytes_total, 3 * 8 * expert * 4);
    assert_int_equal(info.demand_bytes_per_token, 3 * 2 * expert * 4);
    uint64_t attention = 64 + 64 * 64 + 2 * 32 * 64 + 64 * 64 + 2 * 16, router = 64 + 8 * 64;
    uint64_t dense = 2 * 320 * 64 + 64 + 3 * (attention + router);
    assert_int_equal(info.parameters_total, dense + 3 * 8 * expert);
    assert_int_equal(info.dense_bytes, dense * 4);
    // Of the embedding one row; all of the output; two experts a layer.
    assert_int_equal(info.parameters_active, dense - 319 * 64 + 3 * 2 * expert);
    assert_int_equal(info.kv_bytes_per_token, 3 * 2 * 2 * 16 * 2);
}

static void forms_of_experts_count_the_same(void **state) {
    (void)state;
    struct toy_spec s = toy_spec_of("llama");
    open_spec(&s);
    locum_file_info stacked = info;
    static const enum toy_form forms[] = {TOY_EACH, TOY_FUSED};
    for (size_t i = 0; i < 2; i++) {
        s.form = forms[i];
        open_spec(&s);
        assert_int_equal(info.parameters_total, stacked.parameters_total);
        assert_int_equal(info.parameters_active, stacked.parameters_active);
        assert_int_equal(info.dense_bytes, stacked.dense_bytes);
        assert_int_equal(info.expert_bytes_total, stacked.expert_bytes_total);
        assert_int_equal(info.expert_bytes_max, stacked.expert_bytes_max);
        assert_int_equal(info.demand_bytes_per_token, stacked.demand_bytes_per_token);
        assert_int_equal(info.moe_layers, stacked.moe_layers);
    }
}

// The embedding of a tied model is its output matrix as well: all of it is used.
static void tied_and_dense(void **state) {
    (void)state;
    struct toy_spec s = toy_spec_of("llama");
    s.tied = true;
    s.experts = 0;
    open_spec(&s);
    assert_int_equal(info.parameters_active, info.parameters_total);
    assert_int_equal(info.moe_layers, 0);
    assert_int_equal(info.demand_bytes_per_token, 0);
    assert_int_equal(info.expert_bytes_max, 0);
}

static void mix_of_types(void **state) {
    (void)state;
    struct toy_spec s = toy_spec_of("qwen3moe");
    struct toy_model *toy = toy_create(&s);
    for (uint32_t i = 0; i < 3; i++) {
        toy_tensor(toy, "blk.%u.ffn_gate_exps.weight", i)->type = DTYPE_Q8_0;
        toy_tensor(toy, "blk.%u.ffn_up_exps.weight", i)->type = DTYPE_Q8_0;
        toy_tensor(toy, "blk.%u.ffn_down_exps.weight", i)->type = DTYPE_F16;
    }
    toy_set_text(toy, "tokenizer.chat_template", "{{ x }}");
    open_toy(toy);
    unsigned parts[3];
    char names[3][8];
    assert_int_equal(sscanf(info.quantisation, "%7s %u %%, %7s %u %%, %7s %u %%", names[0],
                            &parts[0], names[1], &parts[1], names[2], &parts[2]),
                     6);
    assert_string_equal(names[0], "F32"); // the largest first
    assert_true(parts[0] >= parts[1] && parts[1] >= parts[2]);
    assert_in_range(parts[0] + parts[1] + parts[2], 98, 102);
    assert_true(info.has_chat_template);
}

// ---- files that run refuses ---------------------------------------------------------------------
static void architecture_that_is_not_supported(void **state) {
    (void)state;
    struct toy_spec s = toy_spec_of("qwen3moe");
    struct toy_model *toy = toy_create(&s);
    toy_set_text(toy, "general.architecture", "mamba2");
    toy_set_u32(toy, "mamba2.block_count", 3);
    open_toy(toy);
    assert_string_equal(info.architecture, "mamba2");
    assert_non_null(strstr(info.unsupported, "'mamba2' is not supported"));
    assert_non_null(strstr(info.unsupported, "qwen3moe"));
    assert_int_equal(info.layers, 3);
    assert_int_equal(info.tensors, 2 + 1 + 3 * 12);
    locum_model *model;
    locum_memory_plan plan;
    assert_int_equal(locum_file_plan(file, NULL, &plan, &error), LOCUM_E_UNSUPPORTED);
    assert_int_equal(locum_model_open(file, NULL, &model, &error), LOCUM_E_UNSUPPORTED);
    assert_non_null(strstr(error.text, "'mamba2'"));
    assert_null(model);
}

static void tensor_that_is_missing(void **state) {
    (void)state;
    struct toy_spec s = toy_spec_of("qwen3moe");
    struct toy_model *toy = toy_create(&s);
    toy_remove(toy, "blk.1.attn_k.weight");
    open_toy(toy);
    assert_non_null(strstr(info.unsupported, "'blk.1.attn_k.weight' is missing"));
    assert_null(strstr(info.unsupported, "corrupt"));
    assert_null(strstr(info.unsupported, "truncated"));
}

static void extra_tensors_are_counted(void **state) {
    (void)state;
    struct toy_spec s = toy_spec_of("qwen3moe");
    struct toy_model *toy = toy_create(&s);
    const uint64_t shape[] = {16, 4};
    for (int i = 0; i < 10; i++)
        toy_add(toy, 1, 2, shape, "v.blk.%d.ffn_up.weight", i);
    open_toy(toy);
    assert_null(info.unsupported);
    assert_int_equal(info.unknown_tensors, 10);
}

static void vocabulary_alone(void **state) {
    (void)state;
    struct toy_spec s = toy_spec_of("llama");
    struct toy_model *toy = toy_create(&s);
    toy->tensor_count = 0;
    open_toy(toy);
    assert_non_null(strstr(info.unsupported, "tokenize"));
    assert_int_equal(info.vocabulary, 320);
    assert_int_equal(info.tensors, 0);
    assert_int_equal(info.parameters_total, 0);
    assert_null(info.quantisation);
    locum_tokenizer *tokenizer;
    assert_int_equal(locum_tokenizer_open(file, NULL, &tokenizer, &error), LOCUM_OK);
    assert_int_equal(locum_tokenizer_size(tokenizer), 320);
    locum_tokenizer_close(tokenizer);
}

// Values of the wrong type, or none at all, are no reason to refuse a description.
static void description_is_patient(void **state) {
    (void)state;
    struct toy_spec s = toy_spec_of("qwen3moe");
    struct toy_model *toy = toy_create(&s);
    toy_set_text(toy, ".block_count", "three");
    toy_set_f32(toy, ".expert_count", 8);
    toy_unset(toy, ".attention.head_count");
    toy_set_u32(toy, "general.name", 5);
    toy_set_u32(toy, ".nextn_predict_layers", UINT32_MAX);
    toy_set_array(toy, ".attention.head_count_kv", GGUF_U32, "", 0);
    open_toy(toy);
    assert_non_null(info.unsupported);
    assert_null(info.name);
    assert_int_equal(info.layers, 0);
    assert_int_equal(info.heads, 0);
    assert_int_equal(info.heads_kv, 0);
}

// Numbers for each layer: what the layers have that have any.
static void description_of_unequal_layers(void **state) {
    (void)state;
    struct toy_spec s = toy_spec_of("lfm2moe"); // the first layer has no heads of keys
    struct toy_model *toy = toy_create(&s);
    open_toy(toy);
    assert_null(info.unsupported);
    assert_int_equal(info.heads, s.heads);
    assert_int_equal(info.heads_kv, s.heads_kv);
}

// ---- lists --------------------------------------------------------------------------------------
static void tensors_are_listed(void **state) {
    (void)state;
    struct toy_spec s = toy_spec_of("qwen3moe");
    struct toy_model *toy = toy_create(&s);
    toy_tensor(toy, "output.weight")->type = DTYPE_F16;
    open_toy(toy);
    locum_tensor_info tensor;
    uint64_t bytes = 0, end = 0, i = 0;
    for (; locum_file_get_tensor(file, i, &tensor); i++) {
        bytes += tensor.bytes;
        assert_true(tensor.offset >= end);
        end = tensor.offset + tensor.bytes;
        if (strcmp(tensor.name, "output.weight")) continue;
        assert_string_equal(tensor.type, "F16");
        assert_int_equal(tensor.dims, 2);
        assert_int_equal(tensor.shape[0], 64);
        assert_int_equal(tensor.shape[1], 320);
        assert_int_equal(tensor.bytes, 64 * 320 * 2);
    }
    assert_int_equal(i, info.tensors);
    assert_int_equal(bytes, info.dense_bytes + info.expert_bytes_total);
    assert_true(end <= info.file_bytes);
}

static void metadata_are_listed(void **state) {
    (void)state;
    struct toy_spec s = toy_spec_of("qwen3moe");
    open_spec(&s);
    const char *key;
    char value[200];
    uint64_t i = 0, seen = 0;
    for (; locum_file_get_metadata(file, i, &key, value, sizeof value); i++) {
        if (strcmp(key, "qwen3moe.block_count") == 0) {
            assert_string_equal(value, "3");
            seen++;
        }
        if (strcmp(key, "tokenizer.ggml.tokens") == 0) {
            assert_non_null(strstr(value, "320"));
            seen++;
        }
    }
    assert_int_equal(i, info.metadata_count);
    assert_int_equal(seen, 2);
    char one[1] = {'x'};
    assert_true(locum_file_get_metadata(file, 0, &key, one, 1));
    assert_int_equal(one[0], 0);
    assert_true(locum_file_get_metadata(file, 0, &key, NULL, 0));
}

// ---- the tokenizer of a file --------------------------------------------------------------------
static void tokenizer_counts_and_cuts(void **state) {
    (void)state;
    struct toy_spec s = toy_spec_of("qwen3moe");
    open_spec(&s);
    locum_tokenizer *tokenizer;
    assert_int_equal(locum_tokenizer_open(file, NULL, &tokenizer, &error), LOCUM_OK);
    tear_down(NULL); // the tokenizer does not need the file
    locum_token ids[16] = {0};
    size_t count = 99, again = 99;
    const char text[] = "wxyz<|im_end|>";
    assert_int_equal(locum_tokenize(tokenizer, text, strlen(text), 0, NULL, 0, &count, &error), 0);
    assert_true(count > 5);
    assert_int_equal(locum_tokenize(tokenizer, text, strlen(text), 0, ids, 2, &again, &error), 0);
    assert_int_equal(again, count);
    assert_int_equal(ids[2], 0); // no more than there was room for
    assert_int_equal(locum_tokenize(tokenizer, text, strlen(text), LOCUM_TOKENIZE_SPECIAL, ids, 16,
                                    &again, &error),
                     0);
    assert_int_equal(ids[again - 1], 319);
    assert_true(locum_token_ends_answer(tokenizer, 319));
    assert_false(locum_token_ends_answer(tokenizer, ids[0]));
    assert_false(locum_token_ends_answer(tokenizer, -1));
    assert_false(locum_token_ends_answer(tokenizer, 320));
    const char *bytes;
    assert_int_equal(locum_token_bytes(tokenizer, 319, false, &bytes), 0);
    assert_int_equal(locum_token_bytes(tokenizer, 319, true, &bytes), 10);
    assert_memory_equal(bytes, "<|im_end|>", 10);
    assert_int_equal(locum_token_bytes(tokenizer, 320, true, &bytes), 0);
    assert_int_equal(locum_tokenize(tokenizer, NULL, 0, 0, NULL, 0, &count, &error), LOCUM_OK);
    assert_int_equal(count, 0);
    locum_tokenizer_close(tokenizer);
}

static void file_without_a_tokenizer(void **state) {
    (void)state;
    struct toy_spec s = toy_spec_of("qwen3moe");
    s.tokens = TOY_NO_VOCABULARY;
    open_spec(&s);
    locum_tokenizer *tokenizer;
    assert_int_equal(locum_tokenizer_open(file, NULL, &tokenizer, &error), LOCUM_E_UNSUPPORTED);
    assert_null(tokenizer);
    assert_non_null(strstr(error.text, "tokenizer.ggml.model"));
}

int main(void) {
#define TEST(function) cmocka_unit_test_teardown(function, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(numbers_of_a_mixture),
        TEST(forms_of_experts_count_the_same),
        TEST(tied_and_dense),
        TEST(mix_of_types),
        TEST(architecture_that_is_not_supported),
        TEST(tensor_that_is_missing),
        TEST(extra_tensors_are_counted),
        TEST(vocabulary_alone),
        TEST(description_is_patient),
        TEST(description_of_unequal_layers),
        TEST(tensors_are_listed),
        TEST(metadata_are_listed),
        TEST(tokenizer_counts_and_cuts),
        TEST(file_without_a_tokenizer),
    };
    return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
