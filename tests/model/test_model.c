// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gguf/gguf_file.h"
#include "model/model.h"
#include "tests/fixtures/toy_model.h"

// ---- building -----------------------------------------------------------------------------------
struct world {
    struct toy_model *toy;
    struct buffer bytes;
    struct gguf_file *file;
    struct arena arena;
    struct model model;
    locum_error error;
};
static struct world w;

static void forget_build(void) {
    gguf_file_close(w.file);
    buffer_release(&w.bytes);
    arena_release(&w.arena);
    w.file = NULL;
}

static void forget(void) {
    forget_build();
    if (w.toy) toy_release(w.toy);
    w.toy = NULL;
}

static int tear_down(void **state) {
    (void)state;
    forget();
    return 0;
}

static struct toy_model *begin(const struct toy_spec *spec) {
    forget();
    struct toy_spec bare = *spec;
    bare.bare = true; // a model is built from the header alone
    w.toy = toy_create(&bare);
    return w.toy;
}

static struct toy_model *begin_arch(const char *arch) {
    struct toy_spec spec = toy_spec_of(arch);
    return begin(&spec);
}

static locum_status try_build(void) {
    forget_build();
    memset(&w.error, 0, sizeof w.error);
    arena_init(&w.arena, 0);
    w.bytes = toy_encode(w.toy);
    locum_status status =
        gguf_file_open_bytes(buffer_slice(&w.bytes), "toy.gguf", &w.file, &w.error);
    if (status == LOCUM_OK) status = model_build(w.file, &w.arena, &w.model, &w.error);
    return status;
}

static const struct plan *build(void) {
    if (try_build() != LOCUM_OK) fail_msg("%s", w.error.text);
    return &w.model.plan;
}

// Words: a NULL-terminated list that the message must hold.
static void refused(locum_status expected, const char *word, ...) {
    locum_status status = try_build();
    if (status != expected) fail_msg("status %d (%s)", status, w.error.text);
    assert_int_equal(w.error.status, expected);
    if (strncmp(w.error.text, "toy.gguf: ", 10) != 0) fail_msg("no file: %s", w.error.text);
    va_list words;
    va_start(words, word);
    for (; word; word = va_arg(words, const char *)) {
        if (!strstr(w.error.text, word)) fail_msg("no '%s' in: %s", word, w.error.text);
    }
    va_end(words);
}

static uint32_t count_kind(const struct plan *plan, enum plan_kind kind) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < plan->n_ops; i++)
        count += plan->ops[i].kind == kind;
    return count;
}

// The `number`-th operation of a kind.
static const struct plan_op *op_of(const struct plan *plan, enum plan_kind kind, uint32_t number) {
    for (uint32_t i = 0; i < plan->n_ops; i++) {
        if (plan->ops[i].kind == kind && number-- == 0) return &plan->ops[i];
    }
    fail_msg("too few operations '%s'", plan_kind_name(kind));
    return NULL;
}

// ---- architectures ------------------------------------------------------------------------------
static void every_architecture_builds(void **state) {
    (void)state;
    for (uint32_t i = 0; model_arch_name(i); i++) {
        const struct toy_model *toy = begin_arch(model_arch_name(i));
        const struct toy_spec *s = &toy->spec;
        const struct plan *plan = build();
        assert_string_equal(w.model.architecture, model_arch_name(i));
        assert_int_equal(w.model.unknown_tensors, 0);
        assert_int_equal(plan->layers, s->layers);
        assert_int_equal(plan->embedding, s->width);
        assert_int_equal(plan->vocabulary, s->vocabulary);
        assert_int_equal(plan->n_experts, s->experts ? s->layers : 0);
        assert_int_equal(count_kind(plan, PLAN_EXPERTS), plan->n_experts);
        assert_int_equal(count_kind(plan, PLAN_ROUTER), plan->n_experts);
        uint32_t attention = s->interval ? s->layers / s->interval : s->layers;
        assert_int_equal(count_kind(plan, PLAN_ATTENTION), attention);
        assert_int_equal(plan->n_caches, attention);
        assert_int_equal(count_kind(plan, PLAN_CONV), s->layers - attention);
        if (s->delta_heads) {
            assert_int_equal(count_kind(plan, PLAN_DELTA), s->layers - attention);
        }
        assert_int_equal(plan->n_states, (s->delta_heads ? 2 : 1) * (s->layers - attention));
        assert_int_equal(plan->buffers[plan->logits].width, s->vocabulary);
        // Every tensor is a weight or a matrix of experts; a tied one is a weight twice.
        assert_int_equal(plan->n_weights + 3 * plan->n_experts, toy->tensor_count + s->tied);
    }
}

// What every token uses is computed while the chosen experts are read.
static void shared_expert_lies_between_routing_and_experts(void **state) {
    (void)state;
    static const char *const names[] = {"qwen2moe", "qwen3moe"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        begin_arch(names[i]);
        const struct plan *plan = build();
        uint32_t between = 0, seen = 0;
        for (uint32_t k = 0, router = 0; k < plan->n_ops; k++) {
            if (plan->ops[k].kind == PLAN_ROUTER) router = k;
            if (plan->ops[k].kind != PLAN_EXPERTS) continue;
            for (uint32_t j = router + 1; j < k; j++)
                if (plan->ops[j].weight != PLAN_NONE &&
                    strstr(plan->weights[plan->ops[j].weight].name, "shexp"))
                    seen++;
            between += k - router - 1;
        }
        assert_int_equal(seen, i == 0 ? 4 * plan->layers : 0); // gate, up, down, its own gate
        assert_int_equal(between, i == 0 ? 5 * plan->layers : 0);
    }
}

static void dense_llama_and_tied_output(void **state) {
    (void)state;
    struct toy_spec spec = toy_spec_of("llama");
    spec.experts = 0;
    spec.tied = true;
    begin(&spec);
    const struct plan *plan = build();
    assert_int_equal(plan->n_experts, 0);
    assert_int_equal(count_kind(plan, PLAN_ACTIVATE), spec.layers);
    const struct plan_weight *embedding = &plan->weights[op_of(plan, PLAN_EMBED, 0)->weight];
    uint32_t last = count_kind(plan, PLAN_MATMUL) - 1;
    const struct plan_weight *output = &plan->weights[op_of(plan, PLAN_MATMUL, last)->weight];
    assert_int_equal(embedding->offset, output->offset);
    assert_string_equal(output->name, "token_embd.weight");
}

// What the families differ in.
static void rules_of_the_families(void **state) {
    (void)state;
    static const struct {
        const char *arch;
        bool neox, normalise;
        uint32_t norms_of_queries; // groups
        bool shared;
        enum kernels_gating gating;
    } rules[] = {
        {"llama", false, true, 0, false, KERNELS_GATING_SOFTMAX},
        {"qwen3moe", true, true, 4, false, KERNELS_GATING_SOFTMAX},
        {"qwen2moe", true, false, 0, true, KERNELS_GATING_SOFTMAX},
        {"olmoe", true, false, 1, false, KERNELS_GATING_SOFTMAX},
        {"gpt-oss", true, false, 0, false, KERNELS_GATING_SOFTMAX_SELECTED},
        {"deepseek2", false, true, 0, false, KERNELS_GATING_SIGMOID},
        {"glm4moe", true, true, 4, false, KERNELS_GATING_SIGMOID},
        {"dots1", true, true, 4, false, KERNELS_GATING_SIGMOID},
        {"bailingmoe2", true, true, 4, false, KERNELS_GATING_SIGMOID},
        {"minimax-m2", true, true, 1, false, KERNELS_GATING_SIGMOID},
        {"hunyuan-moe", true, true, 4, false, KERNELS_GATING_SOFTMAX},
        {.arch = "qwen3", .neox = true, .norms_of_queries = 4},
        {.arch = "gemma3", .neox = true, .norms_of_queries = 4},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        begin_arch(rules[i].arch);
        const struct plan *plan = build();
        assert_int_equal(plan->ropes[0].neox, rules[i].neox);
        if (plan->n_experts) {
            assert_int_equal(plan->experts[0].route.normalise, rules[i].normalise);
            assert_int_equal(plan->experts[0].route.gating, rules[i].gating);
            assert_int_equal(plan->experts[0].route.used, 2);
        }
        assert_int_equal(count_kind(plan, PLAN_ROW_GATE), rules[i].shared ? plan->layers : 0);
        const struct plan_op *second = op_of(plan, PLAN_NORM, 1); // of the queries, or of the FFN
        if (rules[i].norms_of_queries) {
            assert_int_equal(second->u.norm.groups, rules[i].norms_of_queries);
            assert_int_equal(second->layer, 0);
            assert_int_equal(plan->buffers[second->in].width, 64);
        }
    }
}

static void unsupported_architecture_is_named(void **state) {
    (void)state;
    begin_arch("qwen3moe");
    toy_set_text(w.toy, "general.architecture", "mamba2");
    toy_set_u32(w.toy, "mamba2.block_count", 3);
    refused(LOCUM_E_UNSUPPORTED, "'mamba2'", "deepseek2", "gemma3", "gpt-oss", "llama", "olmoe", "qwen2moe", "qwen3",
            "qwen3moe", NULL);
    assert_null(strstr(w.error.text, "corrupt"));
    toy_unset(w.toy, "general.architecture");
    refused(LOCUM_E_FORMAT, "general.architecture", NULL);
}

// ---- tensors ------------------------------------------------------------------------------------
static bool ends(const char *text, const char *end) {
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static bool is_optional(const char *arch, const char *name) {
    bool needed = strcmp(arch, "gpt-oss") == 0 || ends(name, ".ssm_dt.bias");
    if (strcmp(arch, "gemma4") == 0 && (ends(name, ".attn_v.weight") || // then keys are values
                                        ends(name, ".ffn_down_exps.scale") ||
                                        ends(name, ".layer_output_scale.weight")))
        return true;
    if (!needed && ends(name, ".bias")) return true;
    if (strcmp(arch, "glm4moe") == 0 && ends(name, ".attn_q_norm.weight")) return true;
    return strcmp(name, "output.weight") == 0;
}

// Take each tensor away in turn: its name is in the message, unless the model can do without.
static void missing_tensors_are_named(void **state) {
    (void)state;
    for (uint32_t i = 0; model_arch_name(i); i++) {
        struct toy_spec spec = toy_spec_of(model_arch_name(i));
        spec.layers = 1;
        begin(&spec);
        uint32_t count = w.toy->tensor_count;
        for (uint32_t t = 0; t < count; t++) {
            begin(&spec);
            char name[LIMIT_GGUF_NAME];
            memcpy(name, w.toy->tensors[t].name, sizeof name);
            toy_remove(w.toy, name);
            if (is_optional(spec.arch, name))
                build();
            else
                refused(LOCUM_E_FORMAT, name, "is missing", NULL);
        }
    }
}

static void missing_expert_of_many_is_named(void **state) {
    (void)state;
    struct toy_spec spec = toy_spec_of("llama");
    spec.form = TOY_EACH;
    begin(&spec);
    toy_remove(w.toy, "blk.1.ffn_up.5.weight");
    refused(LOCUM_E_FORMAT, "'blk.1.ffn_up.5.weight' is missing", "'llama'", NULL);
    begin(&spec);
    for (uint32_t e = 0; e < spec.experts; e++) {
        char name[LIMIT_GGUF_NAME];
        snprintf(name, sizeof name, "blk.1.ffn_up.%u.weight", e);
        toy_remove(w.toy, name);
    }
    refused(LOCUM_E_FORMAT, "'blk.1.ffn_up_exps.weight' is missing", NULL);
}

// One element more in one direction: both shapes are in the message.
static void wrong_shapes_are_named(void **state) {
    (void)state;
    for (uint32_t i = 0; model_arch_name(i); i++) {
        struct toy_spec spec = toy_spec_of(model_arch_name(i));
        spec.layers = 1;
        begin(&spec);
        uint32_t count = w.toy->tensor_count;
        for (uint32_t t = 0; t < 4 * count; t++) {
            struct toy_tensor *tensor = &w.toy->tensors[t / 4];
            uint64_t *size = &tensor->shape[t % 4];
            uint32_t dims = tensor->dims;
            if (t % 4 >= dims) tensor->dims = t % 4 + 1;
            ++*size;
            refused(LOCUM_E_FORMAT, tensor->name, NULL);
            --*size;
            tensor->dims = dims;
        }
    }
}

static void unsupported_types_are_named(void **state) {
    (void)state;
    struct toy_spec spec = toy_spec_of("qwen2moe");
    spec.width = spec.ff = spec.expert_ff = spec.shared_ff = 256; // blocks of 256 fit
    spec.head_size = 64;
    spec.layers = 1;
    begin(&spec);
    uint32_t count = w.toy->tensor_count;
    for (uint32_t t = 0; t < count; t++) {
        struct toy_tensor *tensor = &w.toy->tensors[t];
        bool vector = tensor->dims == 1;
        tensor->type = vector ? DTYPE_F16 : DTYPE_IQ2_XXS;
        refused(LOCUM_E_UNSUPPORTED, tensor->name, vector ? "F16" : "IQ2_XXS", NULL);
        tensor->type = DTYPE_F32;
    }
    build();
}

static void experts_of_two_types_are_refused(void **state) {
    (void)state;
    struct toy_spec spec = toy_spec_of("llama");
    spec.form = TOY_EACH;
    begin(&spec);
    toy_tensor(w.toy, "blk.2.ffn_down.3.weight")->type = DTYPE_F16;
    refused(LOCUM_E_UNSUPPORTED, "'blk.2.ffn_down.3.weight'", "F16", "F32", NULL);
    for (uint32_t e = 0; e < spec.experts; e++) // another type for a whole layer is fine
        toy_tensor(w.toy, "blk.2.ffn_down.%u.weight", e)->type = DTYPE_F16;
    const struct plan *plan = build();
    assert_int_equal(plan->experts[2].matrix[PLAN_DOWN].dtype, DTYPE_F16);
    assert_int_equal(plan->experts[1].matrix[PLAN_DOWN].dtype, DTYPE_F32);
}

// Vectors are used in place as float32: an address that is no multiple of 4 is refused in words.
static void vectors_of_odd_places(void **state) {
    (void)state;
    uint32_t good = 0;
    for (size_t more = 0; more < 4; more++) {
        begin_arch("qwen3moe");
        w.toy->alignment = 1;
        toy_set_text(w.toy, "general.name", &"aaa"[3 - more]); // moves the data
        if (try_build() == LOCUM_OK)
            good++;
        else
            refused(LOCUM_E_UNSUPPORTED, "multiple of 4", ".weight'", NULL);
    }
    assert_int_equal(good, 1);
}

// ---- three forms of experts, one model ----------------------------------------------------------
static void forms_of_experts(void **state) {
    (void)state;
    struct toy_spec spec = toy_spec_of("llama");
    begin(&spec);
    struct plan_experts stacked = build()->experts[1];
    uint32_t ops = w.model.plan.n_ops, weights = w.model.plan.n_weights;
    spec.form = TOY_EACH;
    begin(&spec);
    const struct plan *plan = build();
    assert_int_equal(plan->n_ops, ops);
    assert_int_equal(plan->n_weights, weights);
    for (int m = 0; m < PLAN_EXPERT_MATRICES; m++) {
        const struct plan_expert_matrix *a = &stacked.matrix[m], *b = &plan->experts[1].matrix[m];
        assert_int_equal(a->bytes, b->bytes);
        assert_int_equal(a->row_bytes, b->row_bytes);
        assert_int_equal(a->rows, b->rows);
        assert_int_equal(a->stride, a->bytes);
        assert_null(a->each);
        assert_non_null(b->each);
        assert_int_equal(b->each[0].offset, b->place.offset);
        for (uint32_t e = 1; e < spec.experts; e++)
            assert_true(b->each[e].offset >= b->each[e - 1].offset + b->bytes);
    }
    spec.form = TOY_FUSED;
    begin(&spec);
    plan = build();
    const struct plan_experts *fused = &plan->experts[1];
    assert_true(fused->fused);
    assert_int_equal(plan->n_ops, ops);
    assert_int_equal(fused->matrix[PLAN_GATE].rows, 2 * spec.expert_ff);
    assert_int_equal(fused->matrix[PLAN_UP].bytes, 0);
    assert_int_equal(plan_expert_bytes(fused), plan_expert_bytes(&stacked));
}

// ---- what is in the file and not in the plan ----------------------------------------------------
static void unknown_tensors(void **state) {
    (void)state;
    begin_arch("qwen3moe");
    const uint64_t shape[] = {8, 2};
    for (int i = 0; i < 10; i++)
        toy_add(w.toy, 1, 2, shape, "v.blk.%d.attn_q.weight", i);
    build();
    assert_int_equal(w.model.unknown_tensors, 10);
    toy_add(w.toy, 1, 1, shape, "blk.0.attn_q.scale");
    refused(LOCUM_E_UNSUPPORTED, "'blk.0.attn_q.scale'", "not supported", NULL);
}

static void blocks_for_prediction_are_left_out(void **state) {
    (void)state;
    begin_arch("qwen3moe");
    toy_set_u32(w.toy, ".nextn_predict_layers", 1);
    const struct plan *plan = build();
    assert_int_equal(plan->layers, 2);
    assert_int_equal(plan->n_experts, 2);
    assert_int_equal(w.model.unknown_tensors, 0); // they are known, and not used
    toy_set_u32(w.toy, ".nextn_predict_layers", 3);
    refused(LOCUM_E_FORMAT, "qwen3moe.nextn_predict_layers", NULL);
}

static void vocabulary_and_embedding_agree(void **state) {
    (void)state;
    begin_arch("qwen3moe");
    toy_tensor(w.toy, "token_embd.weight")->shape[1] = 319;
    refused(LOCUM_E_FORMAT, "tokenizer.ggml.tokens has 320", "'token_embd.weight' has 319", NULL);
    struct toy_spec spec = toy_spec_of("qwen3moe");
    spec.tokens = TOY_NO_VOCABULARY; // then the embedding alone counts
    spec.vocabulary = 100;
    begin(&spec);
    assert_int_equal(build()->vocabulary, 100);
}

static void vocabulary_alone_can_only_tokenize(void **state) {
    (void)state;
    begin_arch("llama");
    w.toy->tensor_count = 0;
    refused(LOCUM_E_UNSUPPORTED, "vocabulary", "tokenize", NULL);
}

// ---- hyper-parameters ---------------------------------------------------------------------------
static void bad_numbers_are_named(void **state) {
    (void)state;
    static const struct {
        const char *key;
        uint32_t value;
    } numbers[] = {
        {".block_count", 0},
        {".block_count", LIMIT_LAYERS + 1},
        {".context_length", 0},
        {".context_length", LIMIT_CONTEXT + 1},
        {".embedding_length", 0},
        {".embedding_length", UINT32_MAX},
        {".attention.head_count", 0},
        {".attention.head_count", LIMIT_HEADS + 1},
        {".attention.head_count_kv", 0},
        {".attention.head_count_kv", 3},
        {".attention.key_length", 0},
        {".attention.key_length", LIMIT_HEAD_SIZE + 1},
        {".attention.value_length", 4},
        {".rope.dimension_count", 3},
        {".rope.dimension_count", 18}, // more than a head has
        {".expert_count", LIMIT_EXPERTS + 1},
        {".expert_used_count", 0},
        {".expert_used_count", 9},
        {".expert_feed_forward_length", 0},
        {".expert_gating_func", 9},
        {".expert_weights_norm", 2},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        begin_arch("qwen3moe");
        toy_set_u32(w.toy, numbers[i].key, numbers[i].value);
        refused(LOCUM_E_FORMAT, strrchr(numbers[i].key, '.') + 1, "qwen3moe.", NULL);
    }
}

static void bad_floats_are_named(void **state) {
    (void)state;
    static const struct {
        const char *key;
        float value;
    } numbers[] = {
        {".attention.layer_norm_rms_epsilon", 0},
        {".attention.layer_norm_rms_epsilon", -1},
        {".rope.freq_base", 0},
        {".rope.scaling.factor", -1},
        {".expert_weights_scale", -1},
        {".final_logit_softcapping", -30},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        begin_arch("qwen3moe");
        toy_set_f32(w.toy, numbers[i].key, numbers[i].value);
        refused(LOCUM_E_FORMAT, numbers[i].key + 1, NULL);
        uint32_t nan = 0x7fc00000;
        float value;
        memcpy(&value, &nan, sizeof value);
        toy_set_f32(w.toy, numbers[i].key, value);
        refused(LOCUM_E_FORMAT, numbers[i].key + 1, NULL);
    }
}

static void missing_numbers_are_named(void **state) {
    (void)state;
    static const char *const keys[] = {
        ".block_count",          ".context_length",    ".embedding_length",
        ".attention.head_count", ".expert_used_count", ".attention.layer_norm_rms_epsilon",
        ".expert_count",
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        begin_arch("qwen3moe");
        toy_unset(w.toy, keys[i]);
        refused(LOCUM_E_FORMAT, keys[i] + 1, NULL);
    }
    struct toy_spec dense = toy_spec_of("qwen3");
    begin(&dense);
    toy_unset(w.toy, ".feed_forward_length");
    refused(LOCUM_E_FORMAT, "qwen3.feed_forward_length", "missing", NULL);
}

static void odd_heads_are_unsupported(void **state) {
    (void)state;
    struct toy_spec spec = toy_spec_of("qwen3moe");
    spec.head_size = 12;
    begin(&spec);
    refused(LOCUM_E_UNSUPPORTED, "12", "multiples of 8", NULL);
}

// ---- recurrent layers ---------------------------------------------------------------------------
static void recurrent_numbers_are_checked(void **state) {
    (void)state;
    static const struct {
        const char *key;
        uint32_t value;
        locum_status status;
    } numbers[] = {
        {".ssm.conv_kernel", 1, LOCUM_E_FORMAT},
        {".ssm.conv_kernel", 9, LOCUM_E_FORMAT},
        {".ssm.time_step_rank", 0, LOCUM_E_FORMAT},
        {".ssm.time_step_rank", 5, LOCUM_E_FORMAT}, // no multiple of the key heads
        {".ssm.group_count", 3, LOCUM_E_FORMAT},
        {".ssm.inner_size", 161, LOCUM_E_FORMAT}, // no multiple of the heads
        {".ssm.state_size", LIMIT_HEAD_SIZE + 8, LOCUM_E_FORMAT},
        {".full_attention_interval", 0, LOCUM_E_FORMAT},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        begin_arch("qwen35moe");
        toy_set_u32(w.toy, numbers[i].key, numbers[i].value);
        refused(numbers[i].status, strrchr(numbers[i].key, '.') + 1, "qwen35moe.", NULL);
        if (strncmp(numbers[i].key, ".ssm", 4) != 0) continue; // the others have a default
        toy_unset(w.toy, numbers[i].key);
        refused(LOCUM_E_FORMAT, numbers[i].key, NULL);
    }
    begin_arch("qwen35moe");
    toy_set_u32(w.toy, ".ssm.state_size", 20);
    refused(LOCUM_E_UNSUPPORTED, "recurrent heads of 20 (keys) and 40 (values)", NULL);
    toy_set_u32(w.toy, ".ssm.state_size", 16);
    toy_set_u32(w.toy, ".ssm.inner_size", 4 * 36);
    refused(LOCUM_E_UNSUPPORTED, "recurrent heads of 16 (keys) and 36 (values)", NULL);
    begin_arch("qwen35moe"); // the gate takes the place of a value
    toy_set_u32(w.toy, ".attention.value_length", 24);
    refused(LOCUM_E_UNSUPPORTED, "16 and 24", NULL);
}

// A list over all blocks goes before the interval.
static void recurrent_layers_by_list(void **state) {
    (void)state;
    struct toy_spec spec = toy_spec_of("qwen35");
    begin(&spec);
    const uint8_t list[] = {1, 0, 1};
    toy_set_u32(w.toy, ".full_attention_interval", 3);
    toy_set_array(w.toy, ".attention.recurrent_layers", GGUF_BOOL, list, 3);
    const struct plan *plan = build();
    assert_int_equal(op_of(plan, PLAN_ATTENTION, 0)->layer, 1);
    toy_set_array(w.toy, ".attention.recurrent_layers", GGUF_BOOL, list, 2);
    refused(LOCUM_E_FORMAT, "recurrent_layers", NULL);
}

static void heads_of_keys_are_shared_in_two_ways(void **state) {
    (void)state;
    begin_arch("qwen35moe");
    assert_false(op_of(build(), PLAN_DELTA, 0)->u.recurrent.grouped);
    begin_arch("qwen3next");
    const struct plan *plan = build();
    const struct plan_op *delta = op_of(plan, PLAN_DELTA, 1);
    assert_true(delta->u.recurrent.grouped);
    assert_int_equal(delta->layer, 2);
    assert_int_equal(delta->u.recurrent.key_size, 16);
    assert_int_equal(delta->u.recurrent.value_size, 40);
    assert_int_equal(plan->states[delta->u.recurrent.state].parts, 4 * 2);
    // Half of each head turns; the gate of attention is a sigmoid.
    assert_int_equal(plan->ropes[0].rope.n_rot, 8);
    assert_int_equal(op_of(plan, PLAN_ACTIVATE, 2)->u.act, PLAN_ACT_SIGMOID);
}

// Keys that files may leave out.
static void defaults(void **state) {
    (void)state;
    begin_arch("llama");
    toy_unset(w.toy, ".attention.key_length");
    toy_unset(w.toy, ".attention.value_length");
    toy_set_u32(w.toy, ".expert_feed_forward_length", 32); // llama may have it too
    build();
    assert_int_equal(w.model.params.head_size_k, 16);
    assert_int_equal(w.model.params.heads_kv[0], 2);
    struct toy_spec spec = toy_spec_of("qwen3moe");
    spec.heads_kv = spec.heads;
    begin(&spec);
    toy_unset(w.toy, ".attention.head_count_kv");
    toy_unset(w.toy, ".expert_feed_forward_length");
    toy_set_u32(w.toy, ".feed_forward_length", 64); // = used * width
    const struct plan *plan = build();
    assert_int_equal(w.model.params.heads_kv[2], 4);
    assert_int_equal(plan->experts[0].width, 32);
    assert_true(plan->ropes[0].rope.base == 10000);
    assert_int_equal(plan->ropes[0].rope.scaling, KERNELS_ROPE_NONE);
}

static void numbers_per_layer(void **state) {
    (void)state;
    begin_arch("qwen3");
    const int32_t heads_kv[] = {2, 4, 1};
    const uint64_t ff[] = {96, 32, 64};
    toy_set_array(w.toy, ".attention.head_count_kv", GGUF_I32, heads_kv, 3);
    toy_set_array(w.toy, ".feed_forward_length", GGUF_U64, ff, 3);
    for (uint32_t i = 0; i < 3; i++) {
        toy_tensor(w.toy, "blk.%u.attn_k.weight", i)->shape[1] = 16 * (uint64_t)heads_kv[i];
        toy_tensor(w.toy, "blk.%u.attn_v.weight", i)->shape[1] = 16 * (uint64_t)heads_kv[i];
        toy_tensor(w.toy, "blk.%u.ffn_gate.weight", i)->shape[1] = ff[i];
        toy_tensor(w.toy, "blk.%u.ffn_up.weight", i)->shape[1] = ff[i];
        toy_tensor(w.toy, "blk.%u.ffn_down.weight", i)->shape[0] = ff[i];
    }
    const struct plan *plan = build();
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(plan->caches[i].heads_kv, heads_kv[i]);
        assert_int_equal(plan->buffers[op_of(plan, PLAN_ACTIVATE, i)->out].width, ff[i]);
    }
    assert_int_equal(plan_kv_bytes_per_token(plan, 2), 2 * 16 * (2 + 4 + 1) * 2);
    toy_set_array(w.toy, ".attention.head_count_kv", GGUF_I32, heads_kv, 2);
    refused(LOCUM_E_FORMAT, "qwen3.attention.head_count_kv", "2", "3", NULL);
    const int32_t odd[] = {2, 3, 1};
    toy_set_array(w.toy, ".attention.head_count_kv", GGUF_I32, odd, 3);
    refused(LOCUM_E_FORMAT, "head_count_kv (3)", "layer 1", NULL);
}

static void routing_keys(void **state) {
    (void)state;
    begin_arch("qwen3moe");
    toy_set_u32(w.toy, ".expert_gating_func", 2);
    toy_set_bool(w.toy, ".expert_weights_norm", false);
    toy_set_f32(w.toy, ".expert_weights_scale", 2.5f);
    const uint64_t experts = 8;
    toy_add(w.toy, 0.1, 1, &experts, "blk.1.exp_probs_b.bias");
    const struct plan *plan = build();
    assert_int_equal(plan->experts[1].route.gating, KERNELS_GATING_SIGMOID);
    assert_false(plan->experts[1].route.normalise);
    assert_true(plan->experts[1].route.scale == 2.5f);
    assert_int_equal(plan->experts[0].route_bias, PLAN_NONE);
    assert_string_equal(plan->weights[plan->experts[1].route_bias].name, "blk.1.exp_probs_b.bias");
    assert_int_equal(w.model.unknown_tensors, 0);
    toy_set_f32(w.toy, ".expert_weights_scale", 0);
    assert_true(build()->experts[1].route.scale == 1);
}

static void biases_are_used_where_they_are(void **state) {
    (void)state;
    begin_arch("qwen3moe");
    const uint64_t width = 64, experts = 8, words = 320;
    toy_add(w.toy, 1, 1, &width, "blk.2.attn_output.bias");
    toy_add(w.toy, 1, 1, &experts, "blk.0.ffn_gate_inp.bias");
    toy_add(w.toy, 1, 1, &words, "output.bias");
    const struct plan *plan = build();
    assert_int_equal(w.model.unknown_tensors, 0);
    uint32_t biases = 0;
    for (uint32_t i = 0; i < plan->n_ops; i++)
        biases += plan->ops[i].bias != PLAN_NONE;
    assert_int_equal(biases, 3);
}

// Those of experts: a row for each, and in the order of the rows where gate and up are one matrix.
static void biases_of_experts(void **state) {
    (void)state;
    begin_arch("llama");
    for (int m = 0; m < PLAN_EXPERT_MATRICES; m++)
        assert_int_equal(build()->experts[1].bias[m], PLAN_NONE);
    struct toy_spec spec = toy_spec_of("gpt-oss");
    spec.form = TOY_FUSED;
    begin(&spec);
    const struct plan *plan = build();
    assert_int_equal(w.model.unknown_tensors, 0);
    const uint32_t *bias = plan->experts[1].bias;
    assert_string_equal(plan->weights[bias[PLAN_GATE]].name, "blk.1.ffn_gate_up_exps.bias");
    assert_int_equal(bias[PLAN_UP], PLAN_NONE);
    assert_int_equal(plan->weights[bias[PLAN_DOWN]].rows, spec.experts);
    toy_tensor(w.toy, "blk.1.ffn_down_exps.bias")->type = DTYPE_F16;
    refused(LOCUM_E_UNSUPPORTED, "'blk.1.ffn_down_exps.bias'", "F16", NULL);
}

// ---- RoPE ---------------------------------------------------------------------------------------
static void rope_scaling(void **state) {
    (void)state;
    begin_arch("llama");
    toy_set_f32(w.toy, ".rope.scaling.factor", 4); // without a type: linear
    assert_int_equal(build()->ropes[0].rope.scaling, KERNELS_ROPE_LINEAR);
    assert_true(w.model.plan.ropes[0].rope.factor == 4);
    toy_set_text(w.toy, ".rope.scaling.type", "yarn");
    toy_set_u32(w.toy, ".rope.scaling.original_context_length", 256);
    const struct kernels_rope *rope = &build()->ropes[0].rope;
    assert_int_equal(rope->scaling, KERNELS_ROPE_YARN);
    assert_int_equal(rope->context_original, 256);
    assert_true(rope->beta_fast == 32 && rope->beta_slow == 1 && rope->ext_factor == 1);
    toy_set_text(w.toy, ".rope.scaling.type", "none");
    assert_int_equal(build()->ropes[0].rope.scaling, KERNELS_ROPE_NONE);
    assert_true(w.model.plan.ropes[0].rope.factor == 1);
    toy_set_text(w.toy, ".rope.scaling.type", "longrope");
    refused(LOCUM_E_UNSUPPORTED, "llama.rope.scaling.type", "'longrope'", "yarn", NULL);
    toy_unset(w.toy, ".rope.scaling.type");
    toy_unset(w.toy, ".rope.scaling.factor");
    toy_set_f32(w.toy, ".rope.scale_linear", 2); // the oldest spelling
    assert_true(build()->ropes[0].rope.factor == 2);
}

static void rope_factors(void **state) {
    (void)state;
    begin_arch("llama");
    const uint64_t pairs = 8;
    toy_add(w.toy, 1, 1, &pairs, "rope_freqs.weight");
    const struct plan *plan = build();
    assert_int_equal(w.model.unknown_tensors, 0);
    assert_string_equal(plan->weights[plan->ropes[0].factors].name, "rope_freqs.weight");
    toy_tensor(w.toy, "rope_freqs.weight")->shape[0] = 7;
    refused(LOCUM_E_FORMAT, "'rope_freqs.weight'", NULL);
}

// Hostile numbers that are in range one by one.
static void rope_of_base_one(void **state) {
    (void)state;
    begin_arch("llama");
    toy_set_f32(w.toy, ".rope.freq_base", 1);
    toy_set_text(w.toy, ".rope.scaling.type", "yarn");
    toy_set_f32(w.toy, ".rope.scaling.factor", 2);
    const struct kernels_rope *rope = &build()->ropes[0].rope;
    double theta[8], magnitude;
    kernels_rope_frequencies(rope, theta, &magnitude); // no conversion of what is no number
    assert_true(theta[0] > 0 && theta[0] <= 1);
}

// ---- gemma3 -------------------------------------------------------------------------------------
static void expect_windows(const char *expected) {
    const struct plan *plan = build();
    for (uint32_t i = 0; i < plan->layers; i++) {
        const struct plan_op *op = op_of(plan, PLAN_ATTENTION, i);
        assert_int_equal(op->u.attention.window, expected[i] == 'w' ? 48 : 0);
        const struct plan_op *rope = op_of(plan, PLAN_ROPE, 2 * i);
        assert_true(plan->ropes[rope->u.rope.table].rope.base ==
                    (expected[i] == 'w' ? 10000 : 1e6));
    }
}

static void windows_of_gemma3(void **state) {
    (void)state;
    begin_arch("gemma3");
    toy_set_f32(w.toy, ".rope.freq_base", 1e6f);
    expect_windows("wwwww.w");
    toy_set_u32(w.toy, ".attention.sliding_window_pattern", 2);
    expect_windows("w.w.w.w");
    const uint8_t list[] = {0, 1, 1, 0, 0, 1, 0};
    toy_set_array(w.toy, ".attention.sliding_window_pattern", GGUF_BOOL, list, 7);
    expect_windows(".ww..w.");
    toy_set_array(w.toy, ".attention.sliding_window_pattern", GGUF_BOOL, list, 6);
    refused(LOCUM_E_FORMAT, "gemma3.attention.sliding_window_pattern", NULL);
    toy_set_u32(w.toy, ".attention.sliding_window_pattern", 0);
    refused(LOCUM_E_FORMAT, "gemma3.attention.sliding_window_pattern", NULL);
}

// Scaling stretches only the layers that see everything.
static void scaling_of_gemma3(void **state) {
    (void)state;
    begin_arch("gemma3");
    toy_set_text(w.toy, ".rope.scaling.type", "linear");
    toy_set_f32(w.toy, ".rope.scaling.factor", 8);
    toy_set_f32(w.toy, ".rope.freq_base_swa", 5000);
    const struct plan *plan = build();
    const struct kernels_rope *local = &plan->ropes[op_of(plan, PLAN_ROPE, 0)->u.rope.table].rope;
    const struct kernels_rope *global = &plan->ropes[op_of(plan, PLAN_ROPE, 10)->u.rope.table].rope;
    assert_int_equal(local->scaling, KERNELS_ROPE_NONE);
    assert_true(local->factor == 1 && local->base == 5000);
    assert_int_equal(global->scaling, KERNELS_ROPE_LINEAR);
    assert_true(global->factor == 8 && global->base == 10000);
}

static void scores_of_gemma3(void **state) {
    (void)state;
    struct toy_spec spec = toy_spec_of("gemma3");
    spec.width = 96;
    begin(&spec);
    assert_true(op_of(build(), PLAN_ATTENTION, 3)->u.attention.scale == 0.25f); // 1 / sqrt(16)
    spec.layers = 62; // the largest one divides by sqrt(width / heads)
    spec.heads_kv = 1;
    begin(&spec);
    float scale = op_of(build(), PLAN_ATTENTION, 3)->u.attention.scale;
    assert_true(scale * scale > 1 / 24.01f && scale * scale < 1 / 23.99f);
}

// ---- gemma4 -------------------------------------------------------------------------------------
static void layers_of_gemma4(void **state) {
    (void)state;
    begin_arch("gemma4"); // windows in layers 0 and 2
    const struct plan *plan = build();
    static const uint32_t sizes[] = {8, 16, 8};
    for (uint32_t i = 0; i < 3; i++) {
        const struct plan_op *op = op_of(plan, PLAN_ATTENTION, i);
        assert_int_equal(op->u.attention.window, i == 1 ? 0 : 48);
        assert_true(op->u.attention.scale == 1);
        assert_int_equal(plan->caches[op->u.attention.cache].head_size_k, sizes[i]);
        assert_int_equal(plan->experts[i].scale != PLAN_NONE, true);
    }
    const struct plan_op *rope = op_of(plan, PLAN_ROPE, 2); // of the layer that sees everything
    assert_string_equal(plan->weights[plan->ropes[rope->u.rope.table].factors].name,
                        "rope_freqs.weight");
    assert_int_equal(plan->ropes[op_of(plan, PLAN_ROPE, 0)->u.rope.table].factors, PLAN_NONE);
}

// The last layers look into the caches of the last ones of their kind that have any.
static void shared_caches_of_gemma4(void **state) {
    (void)state;
    struct toy_spec spec = toy_spec_of("gemma4");
    spec.layers = 5;
    begin(&spec);
    toy_set_u32(w.toy, ".attention.shared_kv_layers", 2);
    toy_remove(w.toy, "blk.3.attn_k.weight");
    toy_remove(w.toy, "blk.4.attn_k.weight");
    const struct plan *plan = build();
    assert_int_equal(plan->n_caches, 3);
    assert_int_equal(op_of(plan, PLAN_ATTENTION, 3)->u.attention.cache, 1);
    assert_int_equal(op_of(plan, PLAN_ATTENTION, 4)->u.attention.cache, 2);
    toy_set_u32(w.toy, ".attention.shared_kv_layers", 4);
    refused(LOCUM_E_FORMAT, "layer 1 shares keys and values", NULL);
    const uint32_t heads[] = {4, 4, 4, 3, 4}, heads_kv[] = {2, 2, 2, 1, 2};
    toy_set_u32(w.toy, ".attention.shared_kv_layers", 2);
    toy_set_array(w.toy, ".attention.head_count", GGUF_U32, heads, 5);
    toy_set_array(w.toy, ".attention.head_count_kv", GGUF_U32, heads_kv, 5);
    refused(LOCUM_E_FORMAT, "layer 3 has 3 heads, no multiple of the 2", NULL);
    toy_set_u32(w.toy, ".attention.shared_kv_layers", 5);
    refused(LOCUM_E_FORMAT, "gemma4.attention.shared_kv_layers", NULL);
}

static void bad_gemma4(void **state) {
    (void)state;
    begin_arch("gemma4");
    toy_set_u32(w.toy, ".attention.value_length_swa", 16);
    refused(LOCUM_E_UNSUPPORTED, "heads of 16 and 8 (keys) and 16 and 16 (values)", NULL);
    begin_arch("gemma4");
    toy_set_u32(w.toy, ".rope.dimension_count_swa", 7);
    refused(LOCUM_E_FORMAT, "gemma4.rope.dimension_count_swa is 7", NULL);
    begin_arch("gemma4");
    toy_unset(w.toy, ".attention.key_length_swa");
    refused(LOCUM_E_FORMAT, "gemma4.attention.key_length_swa", NULL);
    begin_arch("gemma4");
    toy_unset(w.toy, ".attention.sliding_window");
    refused(LOCUM_E_FORMAT, "gemma4.attention.sliding_window", NULL);
    begin_arch("gemma4");
    toy_set_u32(w.toy, ".embedding_length_per_layer_input", 4);
    refused(LOCUM_E_FORMAT, "'per_layer_token_embd.weight' is missing", NULL);
}

// ---- llama4 -------------------------------------------------------------------------------------
static void layers_of_llama4(void **state) {
    (void)state;
    begin_arch("llama4");
    const struct plan *plan = build();
    for (uint32_t i = 0; i < plan->layers; i++) {
        const struct plan_op *op = op_of(plan, PLAN_ATTENTION, i);
        assert_int_equal(op->u.attention.chunk, i == 3 ? 0 : 48);
        assert_int_equal(op->u.attention.window, 0);
        assert_true(plan->experts[i].weighs_input && plan->experts[i].route.by_logits);
    }
    assert_int_equal(count_kind(plan, PLAN_ROPE), 6); // of queries and keys, three times
    assert_int_equal(count_kind(plan, PLAN_WEIGH), 4);
    assert_int_equal(op_of(plan, PLAN_TEMPER, 0)->layer, 3);
    assert_int_equal(op_of(plan, PLAN_TEMPER, 0)->u.temper.span, TOY_TEMPERATURE_SPAN);
    toy_unset(w.toy, ".attention.sliding_window");
    toy_unset(w.toy, ".attention.temperature_length");
    plan = build();
    assert_int_equal(op_of(plan, PLAN_ATTENTION, 0)->u.attention.chunk, 8192);
    assert_int_equal(op_of(plan, PLAN_TEMPER, 0)->u.temper.span, 8192);
    toy_set_u32(w.toy, ".attention.sliding_window", 0); // all layers see everything and rotate
    plan = build();
    assert_int_equal(count_kind(plan, PLAN_ROPE), 8);
    assert_int_equal(count_kind(plan, PLAN_TEMPER), 0);
    toy_set_u32(w.toy, ".expert_used_count", 2);
    refused(LOCUM_E_UNSUPPORTED, "2 experts per token", NULL);
}

// A factor for what the down matrix gives cannot be put behind a bias.
static void scaled_experts_with_biases(void **state) {
    (void)state;
    begin_arch("gpt-oss");
    const uint64_t experts = 8;
    toy_add(w.toy, 1, 1, &experts, "blk.0.ffn_down_exps.scale");
    refused(LOCUM_E_UNSUPPORTED, "'blk.0.ffn_down_exps.scale'", NULL);
}

// ---- deepseek2 ----------------------------------------------------------------------------------
static void rules_of_deepseek2(void **state) {
    (void)state;
    begin_arch("deepseek2");
    const struct plan *plan = build();
    // One vector of 32 + 8 for all heads and for keys and values alike.
    assert_int_equal(plan_kv_bytes_per_token(plan, 2), 3 * 40 * 2);
    assert_true(plan->caches[0].values_in_keys);
    const struct plan_op *attend = op_of(plan, PLAN_ATTENTION, 0);
    float scale = attend->u.attention.scale;
    assert_true(scale * scale > 1 / 40.01f && scale * scale < 1 / 39.99f);
    assert_false(op_of(plan, PLAN_HEAD_MATMUL, 0)->u.head_matmul.transposed);
    assert_int_equal(count_kind(plan, PLAN_ROW_GATE), 0);
    const struct kernels_route *route = &plan->experts[0].route;
    assert_int_equal(route->groups, 4);
    assert_int_equal(route->groups_used, 2);
    assert_true(route->group_best_two);
    toy_set_u32(w.toy, ".expert_gating_func", 1);
    assert_false(build()->experts[0].route.group_best_two);
    // YaRN stretches scores and leaves lengths as they are: (1 + 0.1 ln 40)^2, 1.8739
    toy_set_text(w.toy, ".rope.scaling.type", "yarn");
    toy_set_f32(w.toy, ".rope.scaling.factor", 40);
    toy_set_f32(w.toy, ".rope.scaling.yarn_log_multiplier", 0.1f);
    plan = build();
    float stretched = op_of(plan, PLAN_ATTENTION, 0)->u.attention.scale / scale;
    assert_true(stretched > 1.8738f && stretched < 1.8741f);
    double theta[4], magnitude;
    kernels_rope_frequencies(&plan->ropes[0].rope, theta, &magnitude);
    assert_true(magnitude > 0.999999 && magnitude < 1.000001);
}

// The first layer is dense, queries are not compressed, and the heads' matrices are one tensor.
static void older_deepseek2(void **state) {
    (void)state;
    begin_arch("deepseek2");
    const uint64_t both[] = {32, 4 * 64}, q[] = {64, 160}, ff[] = {64, 96}, down[] = {96, 64};
    toy_set_u32(w.toy, ".leading_dense_block_count", 1);
    toy_set_u32(w.toy, ".attention.q_lora_rank", 0);
    toy_set_u32(w.toy, ".attention.key_length", 40);
    toy_set_u32(w.toy, ".attention.value_length", 32);
    toy_unset(w.toy, ".attention.key_length_mla");
    toy_unset(w.toy, ".attention.value_length_mla");
    for (uint32_t i = 0; i < 3; i++) {
        toy_add(w.toy, 1, 2, q, "blk.%u.attn_q.weight", i);
        toy_add(w.toy, 1, 2, both, "blk.%u.attn_kv_b.weight", i);
        toy_remove(w.toy, toy_tensor(w.toy, "blk.%u.attn_k_b.weight", i)->name);
    }
    toy_add(w.toy, 1, 2, ff, "blk.0.ffn_gate.weight");
    toy_add(w.toy, 1, 2, ff, "blk.0.ffn_up.weight");
    toy_add(w.toy, 1, 2, down, "blk.0.ffn_down.weight");
    const struct plan *plan = build();
    assert_int_equal(plan->n_experts, 2);
    assert_int_equal(plan_kv_bytes_per_token(plan, 2), 3 * 40 * 2);
    const struct plan_op *in = op_of(plan, PLAN_HEAD_MATMUL, 0);
    const struct plan_op *out = op_of(plan, PLAN_HEAD_MATMUL, 1);
    assert_true(in->u.head_matmul.transposed && !out->u.head_matmul.transposed);
    assert_int_equal(in->weight, out->weight);
    assert_int_equal(out->u.head_matmul.w_first, 32);
    toy_remove(w.toy, "blk.2.attn_kv_b.weight");
    refused(LOCUM_E_FORMAT, "'blk.2.attn_k_b.weight' is missing", NULL);
}

static void numbers_of_deepseek2_are_checked(void **state) {
    (void)state;
    static const struct {
        const char *key;
        uint32_t value;
        locum_status status;
        const char *says;
    } numbers[] = {
        {".attention.kv_lora_rank", 0, LOCUM_E_FORMAT, "kv_lora_rank"},
        {".attention.kv_lora_rank", 36, LOCUM_E_UNSUPPORTED, "compressed keys of 36"},
        {".attention.kv_lora_rank", 1024, LOCUM_E_UNSUPPORTED, "1024 and 8"},
        {".attention.key_length_mla", 8, LOCUM_E_FORMAT, "leaves nothing of keys of 8"},
        {".rope.dimension_count", 7, LOCUM_E_FORMAT, "rope.dimension_count"},
        {".rope.dimension_count", 6, LOCUM_E_UNSUPPORTED, "6 rotated values"},
        {".expert_group_count", 3, LOCUM_E_FORMAT, "expert_group_count (3)"},
        {".expert_group_count", 8, LOCUM_E_FORMAT, "groups of 2 or more"},
        {".expert_group_used_count", 5, LOCUM_E_FORMAT, "expert_group_used_count"},
        {".expert_used_count", 5, LOCUM_E_FORMAT, "2 groups of 2 experts"},
        {".expert_used_count", 9, LOCUM_E_FORMAT, "expert_used_count"},
        {".expert_gating_func", 7, LOCUM_E_FORMAT, "expert_gating_func"},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        begin_arch("deepseek2");
        toy_set_u32(w.toy, numbers[i].key, numbers[i].value);
        refused(numbers[i].status, numbers[i].says, NULL);
    }
    begin_arch("deepseek2");
    toy_unset(w.toy, ".attention.kv_lora_rank");
    refused(LOCUM_E_FORMAT, "deepseek2.attention.kv_lora_rank", NULL);
    begin_arch("deepseek2");
    toy_unset(w.toy, ".expert_group_used_count");
    refused(LOCUM_E_FORMAT, "deepseek2.expert_group_used_count", NULL);
}

// ---- gpt-oss ------------------------------------------------------------------------------------
static void rules_of_gpt_oss(void **state) {
    (void)state;
    begin_arch("gpt-oss");
    const struct plan *plan = build();
    for (uint32_t i = 0; i < plan->layers; i++) {
        const struct plan_op *op = op_of(plan, PLAN_ATTENTION, i);
        assert_int_equal(op->u.attention.window, i % 2 ? 0 : 48);
        assert_true(ends(plan->weights[op->weight].name, ".attn_sinks.weight"));
        assert_int_equal(op_of(plan, PLAN_EXPERTS, i)->u.experts.act, PLAN_ACT_SWIGLU_OAI);
    }
    assert_true(plan->ropes[0].rope.untruncated);
    toy_unset(w.toy, ".attention.sliding_window");
    refused(LOCUM_E_FORMAT, "gpt-oss.attention.sliding_window", "missing", NULL);
    begin_arch("gpt-oss");
    toy_tensor(w.toy, "blk.1.attn_sinks.weight")->type = DTYPE_BF16;
    refused(LOCUM_E_UNSUPPORTED, "'blk.1.attn_sinks.weight'", "BF16", NULL);
}

int main(void) {
#define TEST(function) cmocka_unit_test_teardown(function, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(every_architecture_builds),
        TEST(shared_expert_lies_between_routing_and_experts),
        TEST(dense_llama_and_tied_output),
        TEST(rules_of_the_families),
        TEST(unsupported_architecture_is_named),
        TEST(missing_tensors_are_named),
        TEST(missing_expert_of_many_is_named),
        TEST(wrong_shapes_are_named),
        TEST(unsupported_types_are_named),
        TEST(experts_of_two_types_are_refused),
        TEST(vectors_of_odd_places),
        TEST(forms_of_experts),
        TEST(unknown_tensors),
        TEST(blocks_for_prediction_are_left_out),
        TEST(vocabulary_and_embedding_agree),
        TEST(vocabulary_alone_can_only_tokenize),
        TEST(bad_numbers_are_named),
        TEST(bad_floats_are_named),
        TEST(missing_numbers_are_named),
        TEST(odd_heads_are_unsupported),
        TEST(recurrent_numbers_are_checked),
        TEST(recurrent_layers_by_list),
        TEST(heads_of_keys_are_shared_in_two_ways),
        TEST(defaults),
        TEST(numbers_per_layer),
        TEST(routing_keys),
        TEST(biases_are_used_where_they_are),
        TEST(biases_of_experts),
        TEST(rope_scaling),
        TEST(rope_factors),
        TEST(rope_of_base_one),
        TEST(windows_of_gemma3),
        TEST(scaling_of_gemma3),
        TEST(scores_of_gemma3),
        TEST(layers_of_llama4),
        TEST(layers_of_gemma4),
        TEST(shared_caches_of_gemma4),
        TEST(bad_gemma4),
        TEST(scaled_experts_with_biases),
        TEST(rules_of_deepseek2),
        TEST(older_deepseek2),
        TEST(numbers_of_deepseek2_are_checked),
        TEST(rules_of_gpt_oss),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
