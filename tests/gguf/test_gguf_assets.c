// SPDX-License-Identifier: Apache-2.0
#include "gguf/gguf_assets.h"

#include <stdio.h>
#include <string.h>

#include "tests/gguf/fixture.h"
#include "tests/platform/scratch.h"

#define DIGEST "0123456789abcdef0123456789ABCDEF0123456789abcdef0123456789abcdef"

static struct arena arena;
static struct gguf_assets assets;

static int setup(void **state) {
    (void)state;
    arena_init(&arena, 0);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    arena_release(&arena);
    scratch_clear();
    return 0;
}

static locum_status read_list(const char *text, locum_error *error) {
    scratch_text("m/assets.tsv", text);
    return gguf_assets_read(scratch_path("m"), &arena, &assets, error);
}

static void test_absent(void **state) {
    (void)state;
    assert_int_equal(gguf_assets_read(scratch_path("nothing"), &arena, &assets, NULL), LOCUM_OK);
    assert_null(assets.path);
}

static void test_lines(void **state) {
    (void)state;
    const char *text = "# a comment\n\nmodel.gguf\t123\t" DIGEST "\r\nexperts/0.bin\t0\t" DIGEST;
    assert_int_equal(read_list(text, NULL), LOCUM_OK);
    assert_int_equal(assets.count, 2);
    assert_string_equal(assets.items[0].name, "model.gguf");
    assert_int_equal(assets.items[0].bytes, 123);
    assert_string_equal(assets.items[0].sha256, DIGEST);
    assert_string_equal(assets.items[1].name, "experts/0.bin");
    assert_true(gguf_assets_lists(&assets, "model.gguf"));
    assert_false(gguf_assets_lists(&assets, "0.bin"));
    assert_int_equal(read_list("", NULL), LOCUM_OK);
    assert_non_null(assets.path);
    assert_int_equal(assets.count, 0);
}

static void test_refused(void **state) {
    (void)state;
    static const struct {
        const char *line, *word;
    } rows[] = {
        {"model.gguf", "second column"},
        {"model.gguf\t\t" DIGEST, "second column"},
        {"model.gguf\t12x\t" DIGEST, "second column"},
        {"model.gguf\t-1\t" DIGEST, "second column"},
        {"model.gguf\t99999999999999999999\t" DIGEST, "second column"},
        {"model.gguf\t12", "third column"},
        {"model.gguf\t12\tabc", "third column"},
        {"\t12\t" DIGEST, "inside this folder"},
        {"/etc/passwd\t12\t" DIGEST, "inside this folder"},
        {"../model.gguf\t12\t" DIGEST, "inside this folder"},
        {"a/../../b\t12\t" DIGEST, "inside this folder"},
        {"a/..\t12\t" DIGEST, "inside this folder"},
        {"a\x01\t12\t" DIGEST, "inside this folder"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[256];
        locum_error error = {0};
        snprintf(text, sizeof text, "good..name\t1\t" DIGEST "\n%s\n", rows[i].line);
        assert_int_equal(read_list(text, &error), LOCUM_E_FORMAT);
        expect_words(&error, (const char *[]){"assets.tsv, line 2:", rows[i].word, NULL});
    }
}

static void test_check(void **state) {
    (void)state;
    locum_error error = {0};
    scratch_text("m/a.gguf", "12345");
    scratch_text("m/below/b", "123");
    const char *text = "a.gguf\t5\t" DIGEST "\nbelow/b\t3\t" DIGEST "\n";
    assert_int_equal(read_list(text, NULL), LOCUM_OK);
    assert_int_equal(gguf_assets_check(&assets, &arena, &error), LOCUM_OK);
    scratch_text("m/below/b", "12");
    assert_int_equal(gguf_assets_check(&assets, &arena, &error), LOCUM_E_FORMAT);
    expect_words(&error, (const char *[]){"below/b has 2 bytes", "with 3", "incomplete", NULL});
    assert_int_equal(remove(scratch_path("m/below/b")), 0);
    assert_int_equal(gguf_assets_check(&assets, &arena, &error), LOCUM_E_NOT_FOUND);
    expect_words(&error, (const char *[]){"below/b is missing", "3 bytes", NULL});
}

static void test_too_large(void **state) {
    (void)state;
    locum_error error = {0};
    static char text[(1 << 20) + 2];
    memset(text, '#', sizeof text - 1);
    assert_int_equal(read_list(text, &error), LOCUM_E_FORMAT);
    expect_words(&error, (const char *[]){"assets.tsv has 1048577 bytes; the limit is", NULL});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_absent, setup, teardown),
        cmocka_unit_test_setup_teardown(test_lines, setup, teardown),
        cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_check, setup, teardown),
        cmocka_unit_test_setup_teardown(test_too_large, setup, teardown),
    };
    return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
