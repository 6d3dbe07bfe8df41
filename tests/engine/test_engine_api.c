// SPDX-License-Identifier: Apache-2.0
//
// The rules of locum.h that hold for every function: arguments, versioned structures, errors; and
// where settings come from.
#include "tests/engine/talk.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/platform/scratch.h"

static const char *path;
static struct house house;
static locum_options options;
static locum_error error;
static locum_token prompt[64];
static struct talk talk;

static int make_model(void **state) {
    if (scratch_create(state)) return -1;
    struct toy_spec spec = toy_spec_of("qwen3moe");
    spec.layers = 1;
    static char kept[4096];
    snprintf(kept, sizeof kept, "%s", talk_save(&spec));
    path = kept;
    return 0;
}

static int set_up(void **state) {
    (void)state;
    locum_options_init(&options);
    options.threads = 1;
    memset(&error, 0, sizeof error);
    talk_text(1, 320, prompt, 64);
    talk_init(&talk, prompt, 64);
    talk.request.predict = 3;
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    house_close(&house);
    return 0;
}

static void says(const locum_error *told, locum_status status, const char *word) {
    assert_int_equal(told->status, status);
    if (!strstr(told->text, word)) fail_msg("no '%s' in: %s", word, told->text);
    assert_null(strchr(told->text, '\n'));
}

// ---- arguments ----------------------------------------------------------------------------------
static void missing_arguments(void **state) {
    (void)state;
    locum_file *file = (locum_file *)1;
    locum_model *model = (locum_model *)1;
    locum_session *session = (locum_session *)1;
    locum_tokenizer *tokenizer = (locum_tokenizer *)1;
    locum_memory_plan plan;
    size_t count;
    assert_int_equal(locum_file_open(NULL, &file, &error), LOCUM_E_ARGUMENT);
    assert_int_equal(locum_file_open(path, NULL, &error), LOCUM_E_ARGUMENT);
    assert_int_equal(locum_file_open("no/such/file", &file, &error), LOCUM_E_NOT_FOUND);
    says(&error, LOCUM_E_NOT_FOUND, "no/such/file");
    assert_null(file);
    assert_int_equal(locum_file_open(path, &file, NULL), LOCUM_OK);
    assert_int_equal(locum_file_plan(NULL, &options, &plan, &error), LOCUM_E_ARGUMENT);
    assert_int_equal(locum_file_plan(file, &options, NULL, &error), LOCUM_E_ARGUMENT);
    assert_int_equal(locum_model_open(NULL, &options, &model, &error), LOCUM_E_ARGUMENT);
    assert_int_equal(locum_model_open(file, &options, NULL, &error), LOCUM_E_ARGUMENT);
    options.memory = 1;
    assert_int_equal(locum_model_open(file, &options, &model, NULL), LOCUM_E_BUDGET);
    assert_null(model);
    assert_int_equal(locum_session_open(NULL, &session, &error), LOCUM_E_ARGUMENT);
    assert_int_equal(locum_tokenizer_open(NULL, NULL, &tokenizer, &error), LOCUM_E_ARGUMENT);
    assert_int_equal(locum_tokenizer_open(file, NULL, NULL, &error), LOCUM_E_ARGUMENT);
    assert_int_equal(locum_tokenizer_open(file, NULL, &tokenizer, NULL), LOCUM_OK);
    assert_int_equal(locum_tokenize(NULL, "a", 1, 0, NULL, 0, &count, &error), LOCUM_E_ARGUMENT);
    assert_int_equal(locum_tokenize(tokenizer, NULL, 1, 0, NULL, 0, &count, &error),
                     LOCUM_E_ARGUMENT);
    assert_int_equal(locum_tokenize(tokenizer, "a", 1, 0, NULL, 1, &count, &error),
                     LOCUM_E_ARGUMENT);
    assert_int_equal(locum_tokenize(tokenizer, "a", 1, 0, NULL, 0, NULL, &error), LOCUM_E_ARGUMENT);
    assert_int_equal(locum_tokenize(tokenizer, "a", 1, 4, NULL, 0, &count, &error),
                     LOCUM_E_ARGUMENT);
    says(&error, LOCUM_E_ARGUMENT, "0x4");
    locum_tokenizer_close(tokenizer);
    locum_file_close(file);
    locum_tokenizer_close(NULL);
    locum_session_close(NULL);
    locum_model_close(NULL);
    locum_file_close(NULL);
}

static void requests_are_checked(void **state) {
    (void)state;
    house_open(&house, path, &options);
    locum_session *session = house_session(&house);
    assert_int_equal(locum_generate(NULL, &talk.request, NULL, NULL, &error), LOCUM_E_ARGUMENT);
    assert_int_equal(locum_generate(session, NULL, NULL, NULL, &error), LOCUM_E_ARGUMENT);
    static const struct {
        locum_token id;
        const char *word;
    } ids[] = {
        {-1, "is -1"}, {320, "is 320"}, {INT32_MIN, "-2147483648"}, {INT32_MAX, "2147483647"}};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        prompt[17] = ids[i].id;
        assert_int_equal(talk_run(&talk, session), LOCUM_E_ARGUMENT);
        says(&talk.error, LOCUM_E_ARGUMENT, ids[i].word);
        says(&talk.error, LOCUM_E_ARGUMENT, "token 17");
        says(&talk.error, LOCUM_E_ARGUMENT, "0 to 319");
    }
    prompt[17] = 0;
    talk.request.prompt = NULL;
    assert_int_equal(talk_run(&talk, session), LOCUM_E_ARGUMENT);
    talk.request.prompt = prompt;
    talk.request.prompt_count = 0;
    assert_int_equal(talk_run(&talk, session), LOCUM_E_ARGUMENT);
    says(&talk.error, LOCUM_E_ARGUMENT, "empty");
    talk.request.prompt_count = (size_t)UINT32_MAX + 2; // 1, if it were cut to 32 bits
    assert_int_equal(talk_run(&talk, session), LOCUM_E_CONTEXT);
    says(&talk.error, LOCUM_E_CONTEXT, "4294967297");
    talk.request.prompt_count = 64;
    talk.request.logits = (locum_logits)7;
    assert_int_equal(talk_run(&talk, session), LOCUM_E_ARGUMENT);
    says(&talk.error, LOCUM_E_ARGUMENT, "logits");
    talk.request.logits = LOCUM_LOGITS_NONE;
    talk.request.event = NULL; // nobody listens
    assert_int_equal(locum_generate(session, &talk.request, NULL, NULL, NULL), LOCUM_OK);
    assert_int_equal(talk.events, 0);
    locum_session_close(session);
}

static void sampling_is_checked(void **state) {
    (void)state;
    house_open(&house, path, &options);
    locum_session *session = house_session(&house);
    static const struct {
        size_t field;
        float value;
        const char *word; // NULL: fine
    } cases[] = {
        {offsetof(locum_sampling, temperature), INFINITY, "temperature"},
        {offsetof(locum_sampling, temperature), 2e6f, "temperature"},
        {offsetof(locum_sampling, temperature), -1, "temperature"},
        {offsetof(locum_sampling, temperature), NAN, NULL}, // not given
        {offsetof(locum_sampling, temperature), 1e6f, NULL},
        {offsetof(locum_sampling, temperature), 1e-30f, NULL},
        {offsetof(locum_sampling, top_p), 1.5f, "top_p"},
        {offsetof(locum_sampling, top_p), -0.5f, "top_p"},
        {offsetof(locum_sampling, top_p), 0, NULL},
        {offsetof(locum_sampling, min_p), 2, "min_p"},
        {offsetof(locum_sampling, typical_p), -INFINITY, "typical_p"},
        {offsetof(locum_sampling, repeat_penalty), 0, "repeat_penalty"},
        {offsetof(locum_sampling, repeat_penalty), 0.01f, NULL},
        {offsetof(locum_sampling, dry_base), 0.5f, "dry_base"},
        {offsetof(locum_sampling, presence_penalty), -2, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        locum_sampling_init(&talk.sampling);
        memcpy((char *)&talk.sampling + cases[i].field, &cases[i].value, sizeof(float));
        locum_status status = talk_run(&talk, session);
        if (!cases[i].word)
            assert_int_equal(status, LOCUM_OK);
        else
            says(&talk.error, LOCUM_E_ARGUMENT, cases[i].word);
    }
    locum_session_close(session);
}

static void refused(const char *word) {
    assert_int_equal(house_try(&house, path, &options), LOCUM_E_ARGUMENT);
    says(&house.error, LOCUM_E_ARGUMENT, word);
    locum_memory_plan plan;
    assert_int_equal(house_plan(path, &options, &plan, &error), LOCUM_E_ARGUMENT);
    says(&error, LOCUM_E_ARGUMENT, word);
    set_up(NULL);
}

static void options_are_checked(void **state) {
    (void)state;
    options.io = (locum_io)3;
    refused("io is 3");
    options.kv_type = (locum_kv_type)3;
    refused("kv_type is 3");
    options.cpu = "sse2";
    refused("'sse2'");
    options.threads = LIMIT_THREADS + 1;
    refused("threads is 257");
    options.context = UINT32_MAX;
    refused("context is 4294967295");
    options.chunk = UINT32_MAX;
    refused("chunk is 4294967295");
    options.cpu = "auto";
    house_open(&house, path, &options);
}

// ---- structures of other versions ---------------------------------------------------------------
static void shorter_structures_are_of_older_callers(void **state) {
    (void)state;
    options.struct_size = offsetof(locum_options, io);
    options.io = (locum_io)99; // an older caller has other bytes there
    options.cpu = "nonsense";
    house_open(&house, path, &options);
    house_close(&house);
    options.struct_size = sizeof options.struct_size;
    options.threads = 1000000;
    house_open(&house, path, &options);
    locum_session *session = house_session(&house);
    talk.request.struct_size = offsetof(locum_request, logits);
    talk.request.logits = (locum_logits)99;
    talk_must(&talk, session);
    assert_int_equal(talk.events, 0); // the callback lies behind
    locum_session_close(session);
    house_close(&house);
    assert_int_equal(house_try(&house, path, NULL), LOCUM_OK); // all defaults
}

static void longer_structures_must_say_nothing_new(void **state) {
    (void)state;
    static struct {
        locum_options options;
        unsigned char more[64];
    } newer;
    locum_file *file;
    locum_memory_plan plan;
    newer.options = options;
    newer.options.struct_size = sizeof newer;
    assert_int_equal(locum_file_open(path, &file, &error), LOCUM_OK);
    assert_int_equal(locum_file_plan(file, &newer.options, &plan, &error), LOCUM_OK);
    newer.more[9] = 1;
    assert_int_equal(locum_file_plan(file, &newer.options, &plan, &error), LOCUM_E_ARGUMENT);
    char word[32];
    snprintf(word, sizeof word, "byte %zu is set", sizeof(locum_options) + 9);
    says(&error, LOCUM_E_ARGUMENT, word);
    locum_file_close(file);
}

static void structures_that_nobody_initialised(void **state) {
    (void)state;
    static const uint32_t sizes[] = {0, 3, 5000, UINT32_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        options.struct_size = sizes[i];
        assert_int_equal(house_try(&house, path, &options), LOCUM_E_ARGUMENT);
        says(&house.error, LOCUM_E_ARGUMENT, "locum_options_init");
    }
    options.struct_size = sizeof options;
    house_open(&house, path, &options);
    locum_session *session = house_session(&house);
    talk.request.struct_size = 0;
    assert_int_equal(talk_run(&talk, session), LOCUM_E_ARGUMENT);
    says(&talk.error, LOCUM_E_ARGUMENT, "locum_request_init");
    locum_session_close(session);
}

// ---- what a model says of itself ----------------------------------------------------------------
static locum_setting setting_of(const char *name) {
    locum_setting setting = {0};
    for (uint32_t i = 0; locum_model_get_setting(house.model, i, &setting); i++)
        if (strcmp(setting.name, name) == 0) return setting;
    fail_msg("no setting '%s'", name);
    return setting;
}

static void comes_from(const char *name, const char *value, const char *source) {
    locum_setting setting = setting_of(name);
    if (value) assert_string_equal(setting.value, value);
    assert_string_equal(setting.source, source);
}

static void settings_have_sources(void **state) {
    (void)state;
    house_open(&house, path, NULL);
    static const char *const names[] = {"memory", "ctx",  "chunk", "threads", "io",   "kv-type",
                                        "cpu",    "temp", "top-k", "top-p",   "min-p"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        comes_from(names[i], NULL, "default");
    comes_from("ctx", "1024", "default");
    comes_from("temp", "0.8", "default");
    comes_from("top-k", "40", "default");
    comes_from("kv-type", "f16", "default");
    locum_setting setting;
    assert_false(locum_model_get_setting(house.model, 31, &setting));
    house_close(&house);
    struct toy_spec spec = toy_spec_of("qwen3moe");
    struct toy_model *toy = toy_create(&spec);
    toy_set_f32(toy, "general.sampling.temp", 0.25f);
    toy_set_u32(toy, "general.sampling.top_k", 7);
    options.context = 100;
    options.memory = LOCUM_MEMORY_ALL;
    options.chunk = 5;
    options.threads = 1;
    options.io = LOCUM_IO_BUFFERED;
    options.kv_type = LOCUM_KV_F32;
    options.cpu = "ref";
    house_open(&house, talk_save_toy(toy), &options);
    comes_from("ctx", "100", "given");
    comes_from("memory", NULL, "given");
    comes_from("chunk", "5", "given");
    comes_from("threads", "1", "given");
    comes_from("io", NULL, "given");
    assert_non_null(strstr(setting_of("io").value, "buffered"));
    comes_from("kv-type", "f32", "given");
    comes_from("cpu", "ref", "given");
    comes_from("temp", "0.25", "file");
    comes_from("top-k", "7", "file");
    comes_from("top-p", "0.95", "default");
}

// The file's own temperature is used when the request gives none.
static void sampling_of_the_file(void **state) {
    (void)state;
    struct toy_spec spec = toy_spec_of("qwen3moe");
    struct toy_model *toy = toy_create(&spec);
    toy_set_f32(toy, "general.sampling.temp", 0);
    house_open(&house, talk_save_toy(toy), &options);
    static struct talk greedy;
    talk_init(&greedy, prompt, 64);
    locum_session *session = house_session(&house);
    talk_must(&greedy, session);
    locum_sampling_init(&talk.sampling);
    talk.request.predict = 40;
    talk_must(&talk, session);
    assert_memory_equal(talk.ids, greedy.ids, sizeof talk.ids);
    locum_session_close(session);
    house_close(&house);
    toy = toy_create(&spec);
    toy_set_f32(toy, "general.sampling.temp", -1);
    assert_int_equal(house_try(&house, talk_save_toy(toy), &options), LOCUM_E_FORMAT);
    says(&house.error, LOCUM_E_FORMAT, "general.sampling.temp");
}

static void summary_is_one_line(void **state) {
    (void)state;
    options.threads = 2;
    options.memory = house_floor(path, &options);
    house_open(&house, path, &options);
    const char *text = locum_model_summary(house.model);
    static const char *const words[] = {"streaming", "budget", "slots",
                                        "2 threads", "I/O",    "KV of 1024"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strstr(text, words[i])) fail_msg("no '%s' in: %s", words[i], text);
    assert_null(strchr(text, '\n'));
    house_close(&house);
    options.memory = LOCUM_MEMORY_ALL;
    house_open(&house, path, &options);
    assert_non_null(strstr(locum_model_summary(house.model),
                           "all experts fit in memory, loaded when first called"));
}

// ---- the log ------------------------------------------------------------------------------------
struct told {
    char text[4096];
    locum_log_level highest;
};

static void listen(void *user, locum_log_level level, const char *text) {
    struct told *told = user;
    size_t used = strlen(told->text);
    snprintf(told->text + used, sizeof told->text - used, "%s\n", text);
    if (level > told->highest) told->highest = level;
}

static void what_is_unusual_is_told(void **state) {
    (void)state;
    struct told told = {.text = ""};
    struct toy_spec spec = toy_spec_of("qwen3moe");
    struct toy_model *toy = toy_create(&spec);
    const uint64_t shape = 8;
    for (int i = 0; i < 10; i++)
        toy_add(toy, 1, 1, &shape, "v.%d.weight", i);
    const char *odd = talk_save_toy(toy);
    options.log = listen;
    options.user = &told;
    options.io =
        LOCUM_IO_BUFFERED; // direct reads may be impossible here, and that would be told too
    house_open(&house, path, &options);
    assert_true(told.highest < LOCUM_LOG_WARN);
    house_close(&house);
    options.context = 2000;
    house_open(&house, odd, &options);
    assert_non_null(strstr(told.text, "10 tensors"));
    assert_non_null(strstr(told.text, "2000"));
    assert_non_null(strstr(told.text, "1024"));
    assert_int_equal(told.highest, LOCUM_LOG_WARN);
}

// A vocabulary of letters alone cannot say digits: one line says how many places were replaced.
static struct toy_model *letters_only(void) {
    struct toy_spec spec = toy_spec_of("llama");
    spec.tokens = TOY_SPM;
    struct toy_model *toy = toy_create(&spec);
    static int32_t kinds[320];
    for (int i = 0; i < 320; i++)
        kinds[i] = i == 0 ? 2 : i < 3 ? 3 : i < 259 ? 5 : 1; // the tokens of bytes are unused
    toy_set_array(toy, "tokenizer.ggml.token_type", GGUF_I32, kinds, 320);
    return toy;
}

static bool stop_cutting(void *user, locum_phase phase, uint64_t done, uint64_t total) {
    if (phase == LOCUM_PHASE_TOKENIZE && done < total) ++*(uint32_t *)user;
    return phase == LOCUM_PHASE_TOKENIZE;
}

static void a_long_text_is_cancelled_by_progress(void **state) {
    (void)state;
    enum { SIZE = 1 << 20 };
    uint32_t calls = 0;
    locum_file *file;
    locum_tokenizer *tokenizer;
    size_t count;
    char *text = test_malloc(SIZE);
    memset(text, 'a', SIZE);
    options.progress = stop_cutting;
    options.user = &calls;
    assert_int_equal(locum_file_open(talk_save_toy(letters_only()), &file, &error), LOCUM_OK);
    assert_int_equal(locum_tokenizer_open(file, &options, &tokenizer, &error), LOCUM_OK);
    assert_int_equal(locum_model_open(file, &options, &house.model, &error), LOCUM_OK);
    const locum_tokenizer *both[] = {tokenizer, locum_model_tokenizer(house.model)};
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(locum_tokenize(both[i], text, SIZE, 0, NULL, 0, &count, &error),
                         LOCUM_E_CANCELLED);
        assert_int_equal(calls, i + 1);
        assert_int_equal(locum_tokenize(both[i], "ab", 2, 0, NULL, 0, &count, &error), LOCUM_OK);
    }
    locum_tokenizer_close(tokenizer);
    locum_file_close(file);
    test_free(text);
}

static void replaced_text_is_told(void **state) {
    (void)state;
    struct told told = {.text = ""};
    options.log = listen;
    options.user = &told;
    locum_file *file;
    locum_tokenizer *tokenizer;
    locum_token ids[16];
    size_t count;
    const char text[] = "a7b8";
    assert_int_equal(locum_file_open(talk_save_toy(letters_only()), &file, &error), LOCUM_OK);
    assert_int_equal(locum_tokenizer_open(file, &options, &tokenizer, &error), LOCUM_OK);
    assert_int_equal(locum_tokenize(tokenizer, "ab", 2, 0, ids, 16, &count, &error), LOCUM_OK);
    assert_int_equal(locum_tokenize(tokenizer, text, 4, 0, NULL, 0, &count, &error), LOCUM_OK);
    assert_string_equal(told.text, ""); // only asked how many
    assert_int_equal(locum_tokenize(tokenizer, text, 4, 0, ids, 16, &count, &error), LOCUM_OK);
    assert_non_null(strstr(told.text, "cannot say 2 places"));
    assert_non_null(strstr(told.text, "unknown token"));
    assert_ptr_equal(strchr(told.text, '\n'), told.text + strlen(told.text) - 1);
    assert_int_equal(told.highest, LOCUM_LOG_WARN);
    // The tokenizer of a model says the same.
    told = (struct told){.text = ""};
    assert_int_equal(locum_model_open(file, &options, &house.model, &error), LOCUM_OK);
    told.text[0] = 0;
    assert_int_equal(locum_tokenize(locum_model_tokenizer(house.model), "a7", 2, 0, ids, 16, &count,
                                    &error),
                     LOCUM_OK);
    assert_non_null(strstr(told.text, "cannot say 1 place of"));
    locum_tokenizer_close(tokenizer);
    locum_file_close(file);
}

// ---- a tokenizer that the host shares -----------------------------------------------------------
static void shared_tokenizer(void **state) {
    (void)state;
    locum_file *file;
    locum_tokenizer *tokenizer;
    locum_memory_plan own, shared;
    static struct talk other;
    assert_int_equal(locum_file_open(path, &file, &error), LOCUM_OK);
    assert_int_equal(locum_tokenizer_open(file, NULL, &tokenizer, &error), LOCUM_OK);
    assert_int_equal(locum_file_plan(file, &options, &own, &error), LOCUM_OK);
    house_open(&house, path, &options);
    locum_session *session = house_session(&house);
    talk_must(&talk, session);
    locum_session_close(session);
    house_close(&house);
    options.tokenizer = tokenizer;
    assert_int_equal(locum_file_plan(file, &options, &shared, &error), LOCUM_OK);
    assert_int_equal(shared.floor, own.floor); // whoever holds it: the ceiling is one
    assert_int_equal(shared.fixed, own.fixed);
    options.memory = shared.floor;
    house_open(&house, path, &options);
    session = house_session(&house);
    talk_init(&other, prompt, 64);
    other.request.predict = 3;
    talk_must(&other, session);
    talk_same(&talk, &other, "with a shared tokenizer");
    assert_true(other.text_size > 0);
    locum_session_close(session);
    const locum_tokenizer *theirs = locum_model_tokenizer(house.model);
    assert_int_equal(locum_tokenizer_size(theirs), locum_tokenizer_size(tokenizer));
    house_close(&house); // leaves it to its owner
    assert_int_equal(locum_tokenizer_size(tokenizer), 320);
    locum_tokenizer_close(tokenizer);
    locum_file_close(file);
}

static void version(void **state) {
    (void)state;
    unsigned major, minor, patch;
    assert_int_equal(sscanf(locum_version(), "%u.%u.%u", &major, &minor, &patch), 3);
}

int main(void) {
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(missing_arguments),
        TEST(requests_are_checked),
        TEST(sampling_is_checked),
        TEST(options_are_checked),
        TEST(shorter_structures_are_of_older_callers),
        TEST(longer_structures_must_say_nothing_new),
        TEST(structures_that_nobody_initialised),
        TEST(settings_have_sources),
        TEST(sampling_of_the_file),
        TEST(summary_is_one_line),
        TEST(what_is_unusual_is_told),
        TEST(replaced_text_is_told),
        TEST(a_long_text_is_cancelled_by_progress),
        TEST(shared_tokenizer),
        TEST(version),
    };
    return cmocka_run_group_tests(tests, make_model, scratch_remove);
}
