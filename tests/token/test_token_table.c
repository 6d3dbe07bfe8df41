// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "token/token_table.h"

enum { STRINGS = 5000 };

static struct slice name_of(uint32_t number, char out[32]) {
    return slice_make(out, (size_t)snprintf(out, 32, "%*u", (int)(number % 20), number));
}

static void indexed_strings_are_found(void **state) {
    (void)state;
    struct arena arena;
    struct token_table table;
    char name[32];
    arena_init(&arena, 0);
    assert_int_equal(token_table_make(&table, &arena, STRINGS, STRINGS * 20, NULL), LOCUM_OK);
    for (uint32_t i = 0; i < STRINGS; i++) {
        assert_int_equal(token_table_append(&table, name_of(i, name)), i);
        if (i % 2 == 0) {
            token_table_index(&table, i);
        }
    }
    for (uint32_t i = 0; i < STRINGS; i++) {
        struct slice string = name_of(i, name);
        assert_true(slice_equal(token_table_get(&table, i), string));
        assert_int_equal(token_table_find(&table, string), i % 2 == 0 ? (int32_t)i : -1);
    }
    assert_int_equal(token_table_find(&table, slice_text("no such string")), -1);
    assert_true(token_table_memory(&table) <= arena.bytes);
    arena_release(&arena);
}

static void of_equal_strings_the_last_indexed_is_found(void **state) {
    (void)state;
    struct arena arena;
    struct token_table table;
    arena_init(&arena, 0);
    assert_int_equal(token_table_make(&table, &arena, 4, 64, NULL), LOCUM_OK);
    for (int i = 0; i < 3; i++) {
        token_table_index(&table, token_table_append(&table, slice_text("same")));
    }
    uint32_t empty = token_table_append(&table, slice_text(""));
    assert_int_equal(token_table_find(&table, slice_text("same")), 2);
    assert_int_equal(token_table_find(&table, slice_text("")), -1);
    token_table_index(&table, empty);
    assert_int_equal(token_table_find(&table, slice_text("")), 3);
    arena_release(&arena);
}

static void no_memory_is_an_error(void **state) {
    (void)state;
    struct arena arena;
    struct token_table table;
    locum_error error;
    arena_init(&arena, 8192);
    assert_int_equal(token_table_make(&table, &arena, 100000, 100000, &error),
                     LOCUM_E_OUT_OF_MEMORY);
    arena_release(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(indexed_strings_are_found),
        cmocka_unit_test(of_equal_strings_the_last_indexed_is_found),
        cmocka_unit_test(no_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
