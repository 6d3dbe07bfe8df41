// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

// The linker sends the library's calloc and realloc here: the n-th one fails.
static int calls_left = -1; // below 0: never

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size) {
    return calls_left >= 0 && calls_left-- == 0 ? NULL : __real_calloc(count, size);
}

static void memory_is_aligned_zeroed_and_apart(void **state) {
    (void)state;
    struct arena arena;
    arena_init(&arena, 0);
    unsigned char *pieces[200];
    for (size_t i = 0; i < 200; i++) {
        size_t size = i * 37 % 3000;
        pieces[i] = arena_alloc(&arena, size);
        assert_non_null(pieces[i]);
        assert_int_equal((uintptr_t)pieces[i] % (size >= 64 ? 64 : 16), 0);
        for (size_t k = 0; k < size; k++)
            assert_int_equal(pieces[i][k], 0);
        memset(pieces[i], (int)(i + 1), size);
    }
    for (size_t i = 0; i < 200; i++) {
        for (size_t k = 0; k < i * 37 % 3000; k++)
            assert_int_equal(pieces[i][k], (unsigned char)(i + 1));
    }
    arena_release(&arena);
    assert_int_equal(arena.bytes, 0);
    assert_non_null(arena_alloc(&arena, 5)); // usable again
    arena_release(&arena);
}

static void empty_allocations_have_addresses_of_their_own(void **state) {
    (void)state;
    struct arena arena;
    arena_init(&arena, 0);
    void *a = arena_alloc(&arena, 0), *b = arena_alloc(&arena, 0);
    assert_non_null(a);
    assert_non_null(b);
    assert_ptr_not_equal(a, b);
    arena_release(&arena);
}

static void a_large_block_does_not_waste_the_current_one(void **state) {
    (void)state;
    struct arena arena;
    arena_init(&arena, 0);
    char *before = arena_alloc(&arena, 16);
    assert_non_null(arena_alloc(&arena, 10 << 20));
    size_t bytes = arena.bytes;
    assert_true(bytes < (10u << 20) + 8192);
    char *after = arena_alloc(&arena, 16);
    assert_ptr_equal(after, before + 16);
    assert_int_equal(arena.bytes, bytes);
    arena_release(&arena);
}

static void the_limit_holds_and_its_last_bytes_can_be_used(void **state) {
    (void)state;
    struct arena arena;
    arena_init(&arena, 100000);
    assert_null(arena_alloc(&arena, 100001));
    size_t count = 0;
    while (arena_alloc(&arena, 1000) != NULL)
        count++;
    assert_true(arena.bytes <= 100000);
    assert_true(count >= 85); // blocks that no longer fit in full are cut to what is needed
    arena_release(&arena);
}

static void sizes_that_wrap_are_refused(void **state) {
    (void)state;
    struct arena arena;
    arena_init(&arena, 0);
    assert_null(arena_alloc(&arena, SIZE_MAX));
    assert_null(arena_alloc(&arena, SIZE_MAX - 63));
    assert_null(arena_alloc(&arena, SIZE_MAX - 100));
    assert_null(arena_array(&arena, SIZE_MAX / 2, 3));
    assert_null(arena_copy_text(&arena, "", SIZE_MAX));
    assert_int_equal(arena.bytes, 0);
    unsigned *array = arena_array(&arena, 3, sizeof *array);
    assert_non_null(array);
    assert_int_equal(array[0] | array[1] | array[2], 0);
    arena_release(&arena);
}

static void texts_are_copied_and_formatted(void **state) {
    (void)state;
    struct arena arena;
    arena_init(&arena, 0);
    assert_string_equal(arena_copy_text(&arena, "expert", 3), "exp");
    assert_string_equal(arena_copy_text(&arena, NULL, 0), "");
    assert_string_equal(arena_format(&arena, "%s-%05d", "shard", 42), "shard-00042");
    char long_text[5000];
    memset(long_text, 'x', sizeof long_text);
    long_text[sizeof long_text - 1] = '\0';
    assert_string_equal(arena_format(&arena, "%s", long_text), long_text);
    arena_release(&arena);
}

static void a_failing_system_gives_null_and_leaves_the_arena_whole(void **state) {
    (void)state;
    for (int n = 0; n < 3; n++) {
        struct arena arena;
        arena_init(&arena, 0);
        calls_left = n;
        size_t got = 0;
        for (size_t i = 0; i < 12; i++) {
            char *memory = arena_alloc(&arena, 1500);
            if (memory != NULL) {
                memset(memory, 1, 1500);
                got++;
            }
        }
        assert_true(got >= 11); // a failing full block is tried again with just what is needed
        assert_int_equal(calls_left, -1); // it did fail
        assert_non_null(arena_alloc(&arena, 1500));
        arena_release(&arena);
    }
}

static void the_heap_grows_and_takes_null(void **state) {
    (void)state;
    char *memory = heap_resize(NULL, 0);
    assert_non_null(memory);
    memory = heap_resize(memory, 100);
    memset(memory, 7, 100);
    memory = heap_resize(memory, 100000);
    assert_int_equal(memory[99], 7);
    heap_free(memory);
    heap_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_aligned_zeroed_and_apart),
        cmocka_unit_test(empty_allocations_have_addresses_of_their_own),
        cmocka_unit_test(a_large_block_does_not_waste_the_current_one),
        cmocka_unit_test(the_limit_holds_and_its_last_bytes_can_be_used),
        cmocka_unit_test(sizes_that_wrap_are_refused),
        cmocka_unit_test(texts_are_copied_and_formatted),
        cmocka_unit_test(a_failing_system_gives_null_and_leaves_the_arena_whole),
        cmocka_unit_test(the_heap_grows_and_takes_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
