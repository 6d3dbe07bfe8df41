// SPDX-License-Identifier: Apache-2.0
//
// What a model.json beside a model promises is checked when the model is opened.
#include "tests/engine/talk.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/platform/scratch.h"

#define DIGEST "0123456789abcdef0123456789ABCDEF0123456789abcdef0123456789abcdef"

static long long model_bytes; // of m/model.gguf, a qwen3moe
static locum_error error;

static void add_model(const char *name) {
    struct toy_spec spec = toy_spec_of("qwen3moe");
    const char *path = talk_save(&spec);
    struct stat facts;
    assert_int_equal(stat(path, &facts), 0);
    model_bytes = facts.st_size;
    assert_int_equal(rename(path, scratch_path("%s", name)), 0);
}

static int set_up(void **state) {
    (void)state;
    scratch_text("m/vocabulary.bin", "12345");
    add_model("m/model.gguf");
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    if (getuid() == 0) (void)!seteuid(0);
    scratch_clear();
    return 0;
}

// A manifest that lists the model with `bytes`, after the other file.
static void write_manifest(long long bytes, const char *architecture) {
    char text[1024];
    snprintf(text, sizeof text,
             "{\"architecture\": \"%s\", \"files\": ["
             "{\"name\": \"vocabulary.bin\", \"size\": 5, \"sha256\": \"" DIGEST "\"},"
             "{\"name\": \"model.gguf\", \"size\": %lld}]}",
             architecture, bytes);
    scratch_text("m/model.json", text);
}

static void opens(const char *name, const char *expected) {
    locum_file *file;
    locum_file_info info;
    if (locum_file_open(scratch_path("%s", name), &file, &error)) fail_msg("%s", error.text);
    locum_file_get_info(file, &info);
    assert_string_equal(info.path, scratch_path("%s", expected));
    locum_file_close(file);
}

// Every one of `words` (up to NULL) is in the message.
static void refuses(const char *name, locum_status status, const char *const *words) {
    locum_file *file;
    locum_status got = locum_file_open(scratch_path("%s", name), &file, &error);
    if (got != status) fail_msg("%s: %s (%s)", name, locum_status_name(got), error.text);
    assert_null(file);
    for (; *words; words++) {
        if (!strstr(error.text, *words)) fail_msg("'%s' is not in '%s'", *words, error.text);
    }
    assert_int_equal(locum_file_open(scratch_path("%s", name), &file, NULL), status);
}
#define REFUSES(name, status, ...) refuses(name, status, (const char *const[]){__VA_ARGS__, NULL})

static void it_says_which_model_to_open(void **state) {
    (void)state;
    add_model("m/another.gguf");
    REFUSES("m", LOCUM_E_ARGUMENT, "several models");
    write_manifest(model_bytes, "qwen3moe");
    opens("m", "m/model.gguf");
    opens("m/", "m/model.gguf");
    opens("m/model.gguf", "m/model.gguf");
}

static void sizes_are_checked(void **state) {
    (void)state;
    char wanted[48], found[48];
    long long bytes = model_bytes + 1;
    snprintf(wanted, sizeof wanted, "with %lld,%03lld", bytes / 1000, bytes % 1000);
    snprintf(found, sizeof found, "has %lld,%03lld bytes", model_bytes / 1000, model_bytes % 1000);
    write_manifest(bytes, "qwen3moe");
    REFUSES("m", LOCUM_E_FORMAT, "m/model.gguf ", found, "m/model.json, files[1].size", wanted);
    REFUSES("m/model.gguf", LOCUM_E_FORMAT, "m/model.gguf ", found, wanted);
    write_manifest(model_bytes, "qwen3moe");
    scratch_text("m/vocabulary.bin", "1234");
    REFUSES("m", LOCUM_E_FORMAT, "vocabulary.bin has 4 bytes", "files[0].size", "with 5");
    assert_int_equal(remove(scratch_path("m/vocabulary.bin")), 0);
    REFUSES("m", LOCUM_E_NOT_FOUND, "vocabulary.bin is missing", "files[0].size", "5 bytes");
}

static void another_architecture_is_refused(void **state) {
    (void)state;
    write_manifest(model_bytes, "edge_35b");
    REFUSES("m", LOCUM_E_FORMAT, "model.json", "\"architecture\" is 'edge_35b'", "model.gguf",
            "'qwen3moe'");
    scratch_text("m/model.json", "{\"architecture\": \"llama\"}");
    REFUSES("m", LOCUM_E_FORMAT, "'llama'", "'qwen3moe'");
    opens("m/model.gguf", "m/model.gguf"); // it does not say that it speaks of this one
    scratch_text("m/model.json", "{\"architecture\": \"qwen3moe\", \"files\": []}");
    opens("m", "m/model.gguf");
}

static void a_manifest_of_other_models_does_not_count(void **state) {
    (void)state;
    add_model("m/another.gguf");
    write_manifest(model_bytes + 1, "llama");
    opens("m/another.gguf", "m/another.gguf");
}

// Both lists are checked where there are two.
static void a_list_in_the_other_form_counts_too(void **state) {
    (void)state;
    char text[256];
    write_manifest(model_bytes, "qwen3moe");
    snprintf(text, sizeof text, "model.gguf\t%lld\t" DIGEST "\n", model_bytes + 7);
    scratch_text("m/assets.tsv", text);
    REFUSES("m", LOCUM_E_FORMAT, "m/model.gguf has", "assets.tsv, line 1");
}

static void fields_of_another_kind(void **state) {
    (void)state;
    static const struct {
        const char *text, *word;
    } rows[] = {
        {"", "line 1"},
        {"{", "line 1"},
        {"{}x", "line 1"},
        {"{\n\"files\": [1, }", "line 2"},
        {"not JSON", "line 1"},
        {"[]", "must be a JSON object"},
        {"{\"architecture\": 1}", "\"architecture\" must be a string"},
        {"{\"architecture\": \"\xff\"}", "line 1"},
        {"{\"files\": 1}", "\"files\" must be an array"},
        {"{\"files\": [\"model.gguf\"]}", "files[0] must be an object"},
        {"{\"files\": [{\"size\": 1}]}", "files[0].name"},
        {"{\"files\": [{\"name\": \"../a\", \"size\": 1}]}", "files[0].name"},
        {"{\"files\": [{\"name\": \"/a\", \"size\": 1}]}", "files[0].name"},
        {"{\"files\": [{\"name\": \"a\"}]}", "files[0].size"},
        {"{\"files\": [{\"name\": \"a\", \"size\": \"1\"}]}", "files[0].size"},
        {"{\"files\": [{\"name\": \"a\", \"size\": -1}]}", "files[0].size"},
        {"{\"files\": [{\"name\": \"a\", \"size\": 1.5}]}", "files[0].size"},
        {"{\"files\": [{\"name\": \"a\", \"size\": 99999999999999999999}]}", "line 1"},
        {"{\"files\": [{\"name\": \"a\", \"size\": 1e999}]}", "line 1"},
        {"{\"files\": [{\"name\": \"a\", \"size\": 1, \"sha256\": \"ab\"}]}", "files[0].sha256"},
        {"{\"files\": [], \"files\": []}", "line 1"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        scratch_text("m/model.json", rows[i].text);
        REFUSES("m", LOCUM_E_FORMAT, "m/model.json", rows[i].word);
        opens("m/model.gguf", "m/model.gguf"); // another program's file does not stand in the way
    }
}

static void hostile_sizes_and_depths(void **state) {
    (void)state;
    enum { DEPTH = 100000, LARGE = 300000 };
    static char text[LARGE];
    memset(text, '[', DEPTH);
    scratch_write("m/model.json", text, DEPTH);
    REFUSES("m", LOCUM_E_FORMAT, "m/model.json, line 1", "depth");
    memset(text, ' ', LARGE);
    scratch_write("m/model.json", text, LARGE);
    REFUSES("m", LOCUM_E_FORMAT, "m/model.json has 300000 bytes");
    assert_int_equal(remove(scratch_path("m/model.json")), 0);
    assert_int_equal(mkdir(scratch_path("m/model.json"), 0777), 0);
    opens("m", "m/model.gguf");
}

// ---- what is not used is said when the model is loaded --------------------------------------------
static char said[1024];

static void listen(void *user, locum_log_level level, const char *text) {
    (void)user;
    if (level >= LOCUM_LOG_NOTICE && strstr(text, "not used"))
        snprintf(said, sizeof said, "%s", text);
}

static const char *notice_of(const char *path) {
    struct house house;
    locum_options options;
    locum_options_init(&options);
    options.log = listen;
    options.context = 64;
    said[0] = '\0';
    house_open(&house, scratch_path("%s", path), &options);
    house_close(&house);
    return said;
}

static void what_is_not_used_is_said(void **state) {
    (void)state;
    write_manifest(model_bytes, "qwen3moe");
    assert_string_equal(notice_of("m"), "");
    scratch_text("m/model.json", "{\"model_name\": \"toy\", \"settings\": {\"top_p\": 0.5}}");
    assert_non_null(strstr(notice_of("m"), "m/model.json: not used: model_name, settings"));
    assert_string_equal(notice_of("m/model.gguf"), ""); // it does not list this file
    scratch_text("m/model.json", "{\"files\": [\"model.gguf\"]}");
    assert_non_null(strstr(notice_of("m/model.gguf"), "not used: "));
    assert_non_null(strstr(said, "m/model.json: files[0] must be an object"));
}

static void one_that_may_not_be_read(void **state) {
    (void)state;
    enum { NOBODY = 65534 };
    chmod(scratch_text("m/model.json", "{}"), 0);
    if (geteuid() == 0) { // who reads everything
        chmod(scratch_path("%s", ""), 0755);
        chmod(scratch_path("m"), 0755);
        chmod(scratch_path("m/model.gguf"), 0644);
        if (seteuid(NOBODY) != 0 ||
            faccessat(AT_FDCWD, scratch_path("m/model.gguf"), R_OK, AT_EACCESS) != 0) {
            print_message("SKIP a closed manifest: root cannot become a user who may read the model\n");
            skip();
        }
    }
    opens("m/model.gguf", "m/model.gguf"); // somebody else's: the user named another file
    assert_non_null(strstr(notice_of("m/model.gguf"), "not used: "));
    assert_non_null(strstr(said, "m/model.json: "));
    REFUSES("m", LOCUM_E_NOT_FOUND, "m/model.json: ");
}

int main(void) {
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(it_says_which_model_to_open),
        TEST(sizes_are_checked),
        TEST(another_architecture_is_refused),
        TEST(a_manifest_of_other_models_does_not_count),
        TEST(a_list_in_the_other_form_counts_too),
        TEST(fields_of_another_kind),
        TEST(hostile_sizes_and_depths),
        TEST(what_is_not_used_is_said),
        TEST(one_that_may_not_be_read),
    };
    return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
