// SPDX-License-Identifier: Apache-2.0
#include "gguf/gguf_index.h"

#include <stdio.h>
#include <string.h>

#include "tests/gguf/fixture.h"

static void test_add_and_find(void **state) {
    (void)state;
    enum { N = 20000 };
    static char names[N][16];
    struct arena arena;
    struct gguf_index index;
    int64_t before;
    arena_init(&arena, 0);
    assert_int_equal(gguf_index_init(&index, N, &arena, NULL), LOCUM_OK);
    for (uint32_t i = 0; i < N; i++) {
        snprintf(names[i], sizeof names[i], "blk.%u.w", i);
        struct slice name = slice_text(names[i]);
        assert_int_equal(gguf_index_find(&index, name), GGUF_INDEX_NONE);
        assert_int_equal(gguf_index_add(&index, name, i, &before, NULL), LOCUM_OK);
        assert_int_equal(before, GGUF_INDEX_NONE);
    }
    for (uint32_t i = 0; i < N; i++) {
        char copy[16];
        memcpy(copy, names[i], sizeof copy);
        assert_int_equal(gguf_index_find(&index, slice_text(copy)), i);
        assert_int_equal(gguf_index_add(&index, slice_text(copy), 7, &before, NULL), LOCUM_OK);
        assert_int_equal(before, i);
    }
    assert_int_equal(index.count, N);
    arena_release(&arena);
}

static void test_empty(void **state) {
    (void)state;
    struct gguf_index zeroed = {0}, none;
    struct arena arena;
    arena_init(&arena, 0);
    assert_int_equal(gguf_index_find(&zeroed, slice_text("x")), GGUF_INDEX_NONE);
    assert_int_equal(gguf_index_init(&none, 0, &arena, NULL), LOCUM_OK);
    assert_int_equal(gguf_index_find(&none, slice_text("x")), GGUF_INDEX_NONE);
    arena_release(&arena);
}

static void test_no_memory(void **state) {
    (void)state;
    struct gguf_index index;
    struct arena arena;
    locum_error error = {0};
    arena_init(&arena, 8192);
    assert_int_equal(gguf_index_init(&index, 100000, &arena, &error), LOCUM_E_OUT_OF_MEMORY);
    assert_int_equal(error.status, LOCUM_E_OUT_OF_MEMORY);
    arena_release(&arena);
}

// The hash of gguf_index.c, as somebody who builds names that collide would compute it.
static uint32_t attackers_hash(const char *name) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *name != '\0'; name++)
        hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    hash ^= hash >> 32;
    hash *= UINT64_C(0xd6e8feb86659fd93);
    return (uint32_t)(hash >> 32);
}

// Names that all belong into one place are refused before they make the table quadratic.
static void test_collisions(void **state) {
    (void)state;
    enum { CAPACITY = 4096, MOST = 2048 };
    static char names[MOST + 1][16];
    struct arena arena;
    struct gguf_index index;
    locum_error error = {0};
    int64_t before;
    arena_init(&arena, 0);
    assert_int_equal(gguf_index_init(&index, CAPACITY, &arena, NULL), LOCUM_OK);
    uint32_t found = 0;
    for (uint32_t i = 0; found <= MOST; i++) {
        snprintf(names[found], sizeof names[0], "%x", i);
        found += (attackers_hash(names[found]) & index.mask) == 5;
    }
    for (uint32_t i = 0; i < MOST; i++)
        assert_int_equal(gguf_index_add(&index, slice_text(names[i]), i, &before, NULL), LOCUM_OK);
    assert_int_equal(gguf_index_find(&index, slice_text(names[MOST - 1])), MOST - 1);
    assert_int_equal(gguf_index_add(&index, slice_text(names[MOST]), 7, &before, &error),
                     LOCUM_E_FORMAT);
    expect_words(&error, (const char *[]){"names share one hash value", NULL});
    assert_int_equal(gguf_index_find(&index, slice_text(names[MOST])), GGUF_INDEX_NONE);
    arena_release(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_add_and_find),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_collisions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
