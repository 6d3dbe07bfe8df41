// SPDX-License-Identifier: Apache-2.0
#include "gguf/gguf_split.h"

#include <string.h>

#include "tests/gguf/fixture.h"

static void test_names(void **state) {
    (void)state;
    static const struct {
        const char *path;
        uint32_t number, total; // 0: no shard's name
    } rows[] = {
        {"m-00001-of-00003.gguf", 1, 3},
        {"/a/b/m-00003-of-00003.gguf", 3, 3},
        {"m-00001-of-00001.gguf", 1, 1},
        {"m-99999-of-99999.gguf", 99999, 99999},
        {"m-00001-of-00002-00002-of-00003.gguf", 2, 3},
        {"best-of-breed.gguf", 0, 0},
        {"m-00000-of-00003.gguf", 0, 0},
        {"m-00004-of-00003.gguf", 0, 0},
        {"m-1-of-3.gguf", 0, 0},
        {"m-000001-of-00003.gguf", 0, 0}, // six digits
        {"m-00001-of-000003.gguf", 0, 0},
        {"m-0000a-of-00003.gguf", 0, 0},
        {"m-+0001-of-00003.gguf", 0, 0},
        {"-00001-of-00003.gguf", 0, 0}, // nothing before it
        {"dir/-00001-of-00003.gguf", 0, 0},
        {"m-00001-of-00003.bin", 0, 0},
        {"m-00001-of-00003.gguf.part", 0, 0},
        {"m-00001-of-00003/model.gguf", 0, 0}, // a folder
        {"m-00001-in-00003.gguf", 0, 0},
        {"", 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct gguf_split split = {0};
        assert_int_equal(gguf_split_parse(rows[i].path, &split), rows[i].total != 0);
        if (rows[i].total == 0) continue;
        assert_int_equal(split.number, rows[i].number);
        assert_int_equal(split.total, rows[i].total);
    }
}

static void test_paths(void **state) {
    (void)state;
    struct arena arena;
    struct gguf_split split;
    arena_init(&arena, 0);
    const char *path = "/dir-00001-of-00002/m 7-00002-of-00012.gguf";
    assert_true(gguf_split_parse(path, &split));
    assert_string_equal(gguf_split_path(&arena, path, &split, 11),
                        "/dir-00001-of-00002/m 7-00011-of-00012.gguf");
    assert_string_equal(gguf_split_path(&arena, path, &split, 2), path);
    arena_release(&arena);
    assert_true(gguf_split_same("m-00001-of-00002.gguf", "m-00002-of-00002.gguf"));
    assert_false(gguf_split_same("m-00001-of-00002.gguf", "m-00002-of-00003.gguf"));
    assert_false(gguf_split_same("m-00001-of-00002.gguf", "n-00002-of-00002.gguf"));
    assert_false(gguf_split_same("m-00001-of-00002.gguf", "mm-00002-of-00002.gguf"));
    assert_false(gguf_split_same("m.gguf", "m.gguf"));
    assert_string_equal(gguf_split_base("a/b/c"), "c");
    assert_string_equal(gguf_split_base("c"), "c");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
