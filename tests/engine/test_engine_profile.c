// SPDX-License-Identifier: Apache-2.0
//
// What is kept between runs: counts come back, damage is told, answers never change.
#include "tests/engine/talk.h"

#include "engine/engine_file.h"
#include "engine/engine_profile.h"
#include "platform/file.h"
#include "tests/platform/scratch.h"

#include <stdlib.h>
#include <string.h>

enum { LAYERS = 3, EXPERTS = 12 };

static struct locum_file *file;
static struct engine_profile profile;

static void open_profile(const char *folder) {
    struct toy_spec spec = toy_spec_of("qwen3moe");
    locum_error error;
    if (locum_file_open(talk_save(&spec), &file, &error) != LOCUM_OK) fail_msg("%s", error.text);
    if (engine_profile_open(&profile, file->gguf, folder, LAYERS, EXPERTS, &error) != LOCUM_OK)
        fail_msg("%s", error.text);
}

static void close_profile(void) {
    engine_profile_close(&profile);
    locum_file_close(file);
}

static void test_counts_come_back(void **state) {
    (void)state;
    scratch_clear();
    open_profile(scratch_path("a/b"));
    uint32_t steps[LAYERS] = {7, 0, 40000}, uses[EXPERTS] = {1, 7, 0, [9] = 1, [10] = 40000}, s[LAYERS], u[EXPERTS];
    bool found;
    assert_int_equal(engine_profile_load(&profile, s, u, &found, NULL), LOCUM_OK);
    assert_false(found);
    assert_int_equal(engine_profile_save(&profile, steps, uses, NULL), LOCUM_OK);
    assert_int_equal(engine_profile_load(&profile, s, u, &found, NULL), LOCUM_OK);
    assert_true(found);
    // Halved until the most is small; what was used stays known.
    assert_true(s[2] == 10000 && u[10] == 10000);
    assert_true(s[0] == 2 && s[1] == 0 && u[0] == 1 && u[1] == 2 && u[2] == 0 && u[9] == 1);
    close_profile();
}

static void test_damage_is_told(void **state) {
    (void)state;
    scratch_clear();
    open_profile(scratch_path("."));
    uint32_t steps[LAYERS] = {7, 8, 9}, uses[EXPERTS] = {1, 2, 3}, s[LAYERS], u[EXPERTS];
    bool found;
    struct arena arena;
    struct slice whole;
    arena_init(&arena, 0);
    assert_int_equal(engine_profile_save(&profile, steps, uses, NULL), LOCUM_OK);
    assert_int_equal(file_read_whole(profile.path, 4096, &arena, &whole, NULL), LOCUM_OK);
    const char *name = strrchr(profile.path, '/') + 1;
    char *bytes = malloc(whole.size);
    assert_non_null(bytes);
    for (size_t i = 0; i < whole.size; i++) { // each byte, and each length
        memcpy(bytes, whole.data, whole.size);
        scratch_write(name, bytes, i);
        assert_int_equal(engine_profile_load(&profile, s, u, &found, NULL), LOCUM_E_FORMAT);
        bytes[i] ^= 1;
        scratch_write(name, bytes, whole.size);
        locum_error error;
        assert_int_equal(engine_profile_load(&profile, s, u, &found, &error), LOCUM_E_FORMAT);
        assert_false(found);
        assert_non_null(strstr(error.text, name));
    }
    free(bytes);
    arena_release(&arena);
    close_profile();
}

static void test_another_model_has_another_file(void **state) {
    (void)state;
    scratch_clear();
    open_profile(scratch_path("."));
    uint64_t key = profile.key;
    close_profile();
    open_profile(scratch_path("."));
    assert_int_equal(profile.key, key);
    close_profile();
    struct toy_spec other = toy_spec_of("qwen3moe");
    other.vocabulary += 1;
    assert_int_equal(locum_file_open(talk_save(&other), &file, NULL), LOCUM_OK);
    assert_int_equal(engine_profile_open(&profile, file->gguf, ".", 1, 1, NULL), LOCUM_OK);
    assert_int_not_equal(profile.key, key);
    close_profile();
}

static void ask(const char *model, const locum_options *options, struct talk *talk) {
    struct house house;
    locum_token prompt[20];
    house_open(&house, model, options);
    talk_text(3, 40, prompt, 20);
    talk_init(talk, prompt, 20);
    locum_session *session = house_session(&house);
    talk_must(talk, session);
    locum_session_close(session);
    house_close(&house);
}

static void test_a_second_run_is_warm(void **state) {
    (void)state;
    scratch_clear();
    struct toy_spec spec = toy_spec_of("qwen3moe");
    locum_options options;
    locum_options_init(&options);
    const char *model = talk_save(&spec);
    char *folder = strdup(scratch_path("cache"));
    options.cache_path = folder;
    options.memory = LOCUM_MEMORY_ALL;
    static struct talk first, second, without;
    ask(model, &options, &first);
    ask(model, &options, &second);
    options.no_profile = true;
    ask(model, &options, &without);
    talk_same(&first, &second, "a warm run");
    talk_same(&first, &without, "a run without a profile");
    assert_true(first.stats.warmed == 0 && without.stats.warmed == 0);
    assert_true(second.stats.warmed > 0);
    free(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts_come_back),
        cmocka_unit_test(test_damage_is_told),
        cmocka_unit_test(test_another_model_has_another_file),
        cmocka_unit_test(test_a_second_run_is_warm),
    };
    return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
