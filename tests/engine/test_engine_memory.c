// SPDX-License-Identifier: Apache-2.0
//
// The memory plan: its arithmetic to the byte, and that opening a model keeps to it.
#include "tests/engine/talk.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "engine/engine_layout.h"
#include "engine/engine_memory.h"
#include "exec/exec.h"
#include "sample/sample.h"
#include "session/session.h"
#include "tests/platform/scratch.h"

static locum_options options;
static locum_memory_plan plan;
static locum_error error;

static int set_up(void **state) {
    (void)state;
    locum_options_init(&options);
    options.memory = LOCUM_MEMORY_ALL;
    options.threads = 2;
    memset(&plan, 0xee, sizeof plan);
    memset(&error, 0, sizeof error);
    return 0;
}

static const char *moe(void) {
    struct toy_spec spec = toy_spec_of("qwen3moe");
    return talk_save(&spec);
}

static void plan_must(const char *path) {
    if (house_plan(path, &options, &plan, &error) != LOCUM_OK) fail_msg("%s", error.text);
}

static uint64_t sum(void) {
    return plan.dense + plan.kv + plan.recurrent + plan.scratch + plan.slots + plan.fixed;
}

static void says(const char *word) {
    if (!strstr(error.text, word)) fail_msg("no '%s' in: %s", word, error.text);
}

// ---- sums ---------------------------------------------------------------------------------------
static void everything_fits_into_all(void **state) {
    (void)state;
    const char *path = moe();
    plan_must(path);
    assert_false(plan.streaming);
    assert_int_equal(plan.slots, plan.experts_total);
    assert_true(sum() <= plan.budget);
    assert_true(plan.floor <= plan.recommended && plan.recommended <= plan.budget);
    assert_int_equal(plan.context, 1024);
    assert_int_equal(plan.threads, 2);
    uint64_t all = plan.budget;
    options.memory = all; // the same number, given
    plan_must(path);
    assert_int_equal(plan.slots, plan.experts_total);
    options.memory = UINT64_MAX - 1; // far more than there can be
    plan_must(path);
    assert_int_equal(plan.slots, plan.experts_total);
    assert_int_equal(plan.budget, UINT64_MAX - 1);
    assert_true(sum() <= all);
}

static void every_budget_is_kept(void **state) {
    (void)state;
    const char *path = moe();
    plan_must(path);
    uint64_t floor = plan.floor, all = plan.budget;
    uint32_t streaming = 0;
    for (int i = 0; i <= 64; i++) {
        options.memory = floor + (all - floor) / 64 * (uint64_t)i;
        plan_must(path);
        assert_int_equal(plan.floor, floor); // what is asked for does not move it
        assert_int_equal(plan.budget, options.memory);
        assert_true(sum() <= plan.budget);
        assert_true(plan.slots >= plan.slots_floor);
        if (!plan.streaming) continue;
        streaming++;
        assert_int_equal(sum(), plan.budget); // nothing is left lying about
    }
    assert_true(streaming > 10);
}

static void floor_is_exact(void **state) {
    (void)state;
    const char *path = moe();
    uint64_t floor = house_floor(path, &options);
    struct house house;
    options.memory = floor;
    plan_must(path);
    assert_int_equal(sum(), floor);
    assert_int_equal(plan.slots, plan.slots_floor);
    house_open(&house, path, &options); // and it runs
    locum_token prompt[100];
    struct talk *talk = test_malloc(sizeof *talk);
    talk_text(1, 320, prompt, 100);
    talk_init(talk, prompt, 100);
    locum_session *session = house_session(&house);
    talk_must(talk, session);
    assert_true(talk->stats.slots_bytes <= house.plan.slots);
    locum_session_close(session);
    test_free(talk);
    house_close(&house);
    options.memory = floor - 1;
    assert_int_equal(house_try(&house, path, &options), LOCUM_E_BUDGET);
    assert_null(house.model);
}

// The strings of an engine's options and its own tables must not move the floor.
static void floor_of_the_plan_is_the_floor_of_the_engine(void **state) {
    (void)state;
    const char *trace = scratch_path("trace-%0200d.csv", 1); // a long one
    for (uint32_t experts = 2; experts < 40; experts += 3) { // tables of many sizes
        struct toy_spec spec = toy_spec_of("qwen3moe");
        spec.experts = experts;
        spec.layers = 1;
        const char *path = talk_save(&spec);
        options.memory = house_floor(path, &options);
        options.trace_path = trace;
        options.cpu = "ref";
        struct house house;
        house_open(&house, path, &options);
        house_close(&house);
    }
}

static void refusal_has_the_arithmetic(void **state) {
    (void)state;
    const char *path = moe();
    uint64_t floor = house_floor(path, &options);
    options.memory = floor - 1;
    assert_int_equal(house_plan(path, &options, &plan, &error), LOCUM_E_BUDGET);
    says(path);
    says("dense weights");
    says("KV cache of 1024 tokens");
    says("scratch");
    says("slots");
    says("fixed");
    says("the largest context that fits is ");
    assert_int_equal(plan.floor, floor);
    assert_int_equal(sum(), floor); // *out holds what the text says
    assert_int_equal(plan.budget, floor - 1);
    char folder[4096];
    snprintf(folder, sizeof folder, "%s", scratch_path("%0200d", 1)); // a path of a thousand bytes
    for (int i = 0; i < 4; i++) {
        assert_int_equal(mkdir(folder, 0777), 0);
        size_t length = strlen(folder);
        snprintf(folder + length, sizeof folder - length, "/%0200d", i);
    }
    assert_int_equal(rename(path, folder), 0);
    assert_int_equal(house_plan(folder, &options, &plan, &error), LOCUM_E_BUDGET);
    says(folder + strlen(folder) - 300);
    says("the largest context that fits is ");
    path = folder;
    options.memory = 1;
    assert_int_equal(house_plan(path, &options, &plan, &error), LOCUM_E_BUDGET);
    says("no context fits");
    assert_int_equal(plan.context_max, 0);
}

// ---- context ------------------------------------------------------------------------------------
static void largest_context_is_the_largest(void **state) {
    (void)state;
    struct toy_spec spec = toy_spec_of("qwen3moe");
    spec.context = 5000; // no multiple of a page
    const char *path = talk_save(&spec);
    options.context = 64;
    uint64_t low = house_floor(path, &options);
    options.context = 5000;
    uint64_t high = house_floor(path, &options);
    for (uint32_t i = 0; i < 40; i++) {
        options.context = 5000;
        options.memory = low + (high - low) * i / 40 + i;
        assert_int_equal(house_plan(path, &options, &plan, &error), LOCUM_E_BUDGET);
        uint32_t most = plan.context_max;
        char words[64];
        snprintf(words, sizeof words, "that fits is %u tokens", most);
        says(words);
        assert_true(most >= 64 && most < 5000);
        options.context = most;
        plan_must(path);
        assert_int_equal(plan.context_max, most);
        options.context = most + 1;
        assert_int_equal(house_plan(path, &options, &plan, &error), LOCUM_E_BUDGET);
    }
    options.memory = high;
    options.context = 0; // 4096
    plan_must(path);
    assert_int_equal(plan.context, 4096);
    assert_int_equal(plan.context_max, 5000);
}

static void default_context(void **state) {
    (void)state;
    static const uint32_t trained[] = {1, 63, 1000, 4096, 4097, 131072};
    for (size_t i = 0; i < sizeof trained / sizeof *trained; i++) {
        struct toy_spec spec = toy_spec_of("qwen3moe");
        spec.context = trained[i];
        spec.layers = 1;
        plan_must(talk_save(&spec));
        assert_int_equal(plan.context, trained[i] < 4096 ? trained[i] : 4096);
        assert_int_equal(plan.context_max, trained[i] > 4096 ? plan.context_max : trained[i]);
    }
    options.context = 3000; // more than trained: allowed, with a warning when it is opened
    plan_must(moe());
    assert_int_equal(plan.context, 3000);
    assert_int_equal(plan.context_max, 3000);
    options.context = LIMIT_CONTEXT + 1;
    assert_int_equal(house_plan(moe(), &options, &plan, &error), LOCUM_E_ARGUMENT);
    says("context is 4194305");
}

// ---- auto ---------------------------------------------------------------------------------------
static void auto_takes_what_is_needed(void **state) {
    (void)state;
    const char *path = moe();
    plan_must(path);
    uint64_t all = plan.budget;
    options.memory = LOCUM_MEMORY_AUTO;
    plan_must(path); // a toy fits anywhere
    assert_int_equal(plan.budget, all);
    assert_false(plan.streaming);
}

// A tenth stays free, at least 512 MiB but no more than half; 32 MiB more are code and libraries.
static void auto_leaves_headroom(void **state) {
    (void)state;
    const uint64_t mib = 1 << 20, gib = 1 << 30;
    static const uint64_t no_limit = UINT64_MAX;
    const struct {
        uint64_t available, limit, budget;
    } cases[] = {
        {100 * gib, no_limit, 90 * gib - 32 * mib}, // a large machine
        {no_limit, 100 * gib, 90 * gib - 32 * mib}, // a container's limit counts the same
        {100 * gib, 40 * gib, 36 * gib - 32 * mib}, // the smaller one is taken
        {40 * gib, 100 * gib, 36 * gib - 32 * mib},
        {5 * gib, no_limit, 5 * gib - 544 * mib},          // where a tenth is 512 MiB
        {2 * gib, no_limit, 2 * gib - 544 * mib},          // a tenth would be too little
        {1 * gib, no_limit, 480 * mib},                    // half of it
        {600 * mib, 300 * mib, 118 * mib},                 // half of a small container
        {64 * mib, no_limit, 0},                           // the process takes what there is
        {10 * mib, no_limit, 0},
        {0, no_limit, 0},
        {16 * gib, 0, 0}, // a container that is full
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t budget = engine_memory_auto(cases[i].available, cases[i].limit);
        if (budget != cases[i].budget)
            fail_msg("case %zu: %llu", i, (unsigned long long)budget);
    }
    // More memory never gives a smaller budget, and something is always left.
    uint64_t before = 0;
    for (uint64_t bytes = 0; bytes < 8 * gib; bytes += 13 * mib) {
        uint64_t budget = engine_memory_auto(bytes, no_limit);
        assert_true(budget >= before && budget <= bytes - bytes / 10);
        before = budget;
    }
}

// ---- chunk --------------------------------------------------------------------------------------
static void chunk_follows_the_budget(void **state) {
    (void)state;
    const char *path = moe();
    plan_must(path);
    uint64_t all = plan.budget;
    assert_int_equal(plan.chunk, 512); // it takes nothing from the experts
    options.memory = plan.floor;
    plan_must(path);
    assert_int_equal(plan.chunk, 8);
    options.memory = all - 1;
    plan_must(path);
    assert_true(plan.chunk < 512 && plan.slots >= plan.slots_floor);
    options.memory = LOCUM_MEMORY_ALL;
    options.chunk = 100;
    plan_must(path);
    assert_int_equal(plan.chunk, 100);
    uint64_t scratch = plan.scratch;
    options.memory = plan.floor; // a chunk that is asked for is part of the floor
    plan_must(path);
    assert_int_equal(plan.chunk, 100);
    assert_int_equal(plan.scratch, scratch);
    options.chunk = LIMIT_CHUNK + 1;
    assert_int_equal(house_plan(path, &options, &plan, &error), LOCUM_E_ARGUMENT);
    says("chunk is 4097");
}

// A step is no larger than the context, so neither is what it is given room for.
static void chunk_is_no_larger_than_the_context(void **state) {
    (void)state;
    const char *path = moe();
    for (uint32_t context = 5; context < 500; context += 99) {
        options.context = context;
        options.chunk = context;
        plan_must(path);
        uint64_t scratch = plan.scratch, floor = plan.floor, recommended = plan.recommended;
        options.chunk = LIMIT_CHUNK;
        plan_must(path);
        assert_int_equal(plan.chunk, context);
        assert_int_equal(plan.scratch, scratch);
        assert_int_equal(plan.floor, floor);
        assert_int_equal(plan.recommended, recommended);
        options.chunk = 0; // nor is one that the plan chooses
        plan_must(path);
        assert_true(plan.chunk <= context && plan.scratch <= scratch);
    }
    // The largest context that fits counts the steps that it would have.
    options.context = 1000;
    options.chunk = LIMIT_CHUNK;
    options.memory = house_floor(path, &options);
    options.context = 50;
    plan_must(path);
    assert_int_equal(plan.context_max, 1000);
}

static void dense_models_have_no_slots(void **state) {
    (void)state;
    struct toy_spec spec = toy_spec_of("gemma3");
    const char *path = talk_save(&spec);
    plan_must(path);
    assert_int_equal(plan.slots, 0);
    assert_int_equal(plan.slots_floor, 0);
    assert_false(plan.streaming);
    assert_int_equal(plan.chunk, 512);
    assert_int_equal(sum(), plan.budget);
}

// Fewer experts than are held at once.
static void model_of_one_expert(void **state) {
    (void)state;
    struct toy_spec spec = toy_spec_of("qwen3moe");
    spec.experts = spec.used = spec.layers = 1;
    const char *path = talk_save(&spec);
    plan_must(path);
    assert_true(plan.slots_floor <= plan.slots);
    assert_true(sum() <= plan.budget);
    options.memory = plan.floor;
    struct house house;
    house_open(&house, path, &options);
    house_close(&house);
}

// ---- parts --------------------------------------------------------------------------------------
static void parts_are_those_of_the_layers(void **state) {
    (void)state;
    const char *path = moe();
    locum_file *file;
    struct engine_layout layout;
    assert_int_equal(locum_file_open(path, &file, &error), LOCUM_OK);
    assert_int_equal(engine_layout_make(file, &options, &layout, &error), LOCUM_OK);
    plan_must(path);
    assert_int_equal(plan.dense, layout.weights.bytes);
    assert_int_equal(plan.kv, session_pool_bytes(&layout.kv, 1024));
    assert_int_equal(plan.kv - 1024 / 64 * 4,
                     1024ull * plan_kv_bytes_per_token(&layout.model.plan, 2));
    assert_int_equal(plan.scratch, exec_workspace_bytes(&layout.model.plan, &layout.kv, 512, 4, 2));
    assert_int_equal(plan.fixed, engine_layout_fixed(&layout, 1024));
    engine_layout_release(&layout);
    locum_file_close(file);
    uint64_t kv = plan.kv;
    options.kv_type = LOCUM_KV_F32;
    plan_must(path);
    assert_int_equal(plan.kv - 64, 2 * (kv - 64));
}

// What a larger vocabulary costs: its tables, its share of the file's directory, the sampler.
static void fixed_counts_the_vocabulary(void **state) {
    (void)state;
    uint64_t fixed[2], tables[2], directory[2];
    static const uint32_t sizes[2] = {320, 4000};
    for (int i = 0; i < 2; i++) {
        struct toy_spec spec = toy_spec_of("qwen3moe");
        spec.vocabulary = sizes[i];
        locum_file *file;
        struct engine_layout layout;
        const char *path = talk_save(&spec);
        assert_int_equal(locum_file_open(path, &file, &error), LOCUM_OK);
        assert_int_equal(engine_layout_make(file, &options, &layout, &error), LOCUM_OK);
        plan_must(path);
        fixed[i] = plan.fixed;
        tables[i] = layout.arena.bytes + layout.tokenizer_arena.bytes;
        directory[i] = gguf_file_memory(file->gguf) + file->arena.bytes;
        engine_layout_release(&layout);
        locum_file_close(file);
    }
    assert_true(tables[1] > tables[0] + 10000 && directory[1] > directory[0] + 10000);
    assert_int_equal(fixed[1] - fixed[0], tables[1] - tables[0] + directory[1] - directory[0] +
                                              sampler_bytes(4000, 0) - sampler_bytes(320, 0));
}

static void sizes_for_people(void **state) {
    (void)state;
    char text[ENGINE_SIZE_TEXT];
    assert_string_equal(engine_size_text(0, text), "0 bytes");
    assert_string_equal(engine_size_text(10239, text), "10239 bytes");
    assert_string_equal(engine_size_text(10240, text), "10.0 KiB");
    assert_string_equal(engine_size_text(UINT64_C(6) << 30, text), "6.00 GiB");
    assert_string_equal(engine_size_text(UINT64_C(123) << 20, text), "123 MiB");
    assert_string_equal(engine_size_text(UINT64_MAX - 1, text), "16777216 TiB");
}

// ---- the largest numbers ------------------------------------------------------------------------
// Sparse files with the headers of models as large as the limits allow: sizes are huge, never wrapped.
static const char *save_bare(const struct toy_spec *spec) {
    const char *path = scratch_path("bare.gguf");
    struct toy_spec bare = *spec;
    bare.bare = true;
    bare.tokens = TOY_NO_VOCABULARY;
    struct toy_model *toy = toy_create(&bare);
    toy_save_bare(toy, path);
    toy_release(toy);
    return path;
}

static void largest_heads_and_context(void **state) {
    (void)state;
    struct toy_spec spec = toy_spec_of("llama");
    spec.experts = 0;
    spec.layers = 40;
    spec.heads = spec.heads_kv = LIMIT_HEADS;
    spec.head_size = LIMIT_HEAD_SIZE;
    spec.context = LIMIT_CONTEXT;
    spec.type = DTYPE_Q8_0;
    const char *path = save_bare(&spec);
    options.context = LIMIT_CONTEXT;
    options.chunk = LIMIT_CHUNK;
    options.kv_type = LOCUM_KV_F32;
    options.threads = LIMIT_THREADS;
    plan_must(path);
    uint64_t kv = UINT64_C(40) * LIMIT_HEADS * 2 * LIMIT_HEAD_SIZE * 4 * LIMIT_CONTEXT;
    assert_int_equal(plan.kv, kv + LIMIT_CONTEXT / 64 * 4);
    uint64_t row = (uint64_t)LIMIT_HEADS * LIMIT_HEAD_SIZE * 4;
    assert_true(plan.scratch > 4 * row * LIMIT_CHUNK); // q, k, v, a
    assert_true(sum() <= plan.budget);
    options.memory = UINT64_C(1) << 40;
    assert_int_equal(house_plan(path, &options, &plan, &error), LOCUM_E_BUDGET);
    options.memory = LOCUM_MEMORY_AUTO;
    assert_int_equal(house_plan(path, &options, &plan, &error), LOCUM_E_BUDGET);
}

static void largest_vocabulary_and_experts(void **state) {
    (void)state;
    struct toy_spec spec = toy_spec_of("qwen3moe");
    spec.vocabulary = LIMIT_VOCABULARY;
    spec.experts = LIMIT_EXPERTS;
    spec.used = LIMIT_EXPERTS_USED;
    spec.expert_ff = 1 << 16;
    spec.type = DTYPE_Q8_0;
    spec.context = LIMIT_CHUNK; // a chunk is no larger
    const char *path = save_bare(&spec);
    options.chunk = LIMIT_CHUNK;
    plan_must(path);
    uint64_t expert = 3ull * (64 / 32 * 34) * (1 << 16); // three matrices of Q8_0
    assert_true(plan.slots >= 3 * LIMIT_EXPERTS * expert);
    assert_true(plan.scratch > 4ull * LIMIT_VOCABULARY * 4);
    assert_true(plan.scratch > (uint64_t)LIMIT_CHUNK * 2 * spec.expert_ff * 4);
    assert_true(sum() <= plan.budget);
}

int main(void) {
#define TEST(function) cmocka_unit_test_setup(function, set_up)
    const struct CMUnitTest tests[] = {
        TEST(everything_fits_into_all),
        TEST(every_budget_is_kept),
        TEST(floor_is_exact),
        TEST(floor_of_the_plan_is_the_floor_of_the_engine),
        TEST(refusal_has_the_arithmetic),
        TEST(largest_context_is_the_largest),
        TEST(default_context),
        TEST(auto_takes_what_is_needed),
        TEST(auto_leaves_headroom),
        TEST(chunk_follows_the_budget),
        TEST(chunk_is_no_larger_than_the_context),
        TEST(dense_models_have_no_slots),
        TEST(model_of_one_expert),
        TEST(parts_are_those_of_the_layers),
        TEST(fixed_counts_the_vocabulary),
        TEST(sizes_for_people),
        TEST(largest_heads_and_context),
        TEST(largest_vocabulary_and_experts),
    };
    return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
