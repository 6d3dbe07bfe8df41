// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/buffer.h"

static bool heap_fails;

void *__real_realloc(void *memory, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_realloc(void *memory, size_t size) {
    return heap_fails ? NULL : __real_realloc(memory, size);
}

static void it_holds_what_was_appended(void **state) {
    (void)state;
    struct buffer buffer = {0};
    for (int i = 0; i < 1000; i++)
        assert_true(buffer_format(&buffer, "%d,", i));
    assert_true(buffer_append(&buffer, "\0z", 2));
    assert_true(buffer_append(&buffer, NULL, 0));
    assert_true(buffer_append_text(&buffer, "end"));
    assert_true(buffer_append_byte(&buffer, '.'));
    assert_int_equal(buffer.size, 10 * 2 + 90 * 3 + 900 * 4 + 2 + 4);
    assert_memory_equal(buffer.data, "0,1,2,", 6);
    assert_memory_equal(buffer.data + buffer.size - 10, "999,\0zend.", 10);
    assert_string_equal(buffer_text(&buffer) + buffer.size - 4, "end.");
    assert_true(slice_starts(buffer_slice(&buffer), slice_text("0,1")));
    buffer_release(&buffer);
    assert_null(buffer.data);
}

static void the_limit_is_sticky(void **state) {
    (void)state;
    struct buffer buffer = {.limit = 10};
    assert_true(buffer_append(&buffer, "12345678", 8));
    assert_false(buffer_append(&buffer, "123", 3));
    assert_true(buffer.failed);
    assert_false(buffer_append(&buffer, "1", 1)); // although it would fit
    assert_null(buffer_text(&buffer));
    assert_int_equal(buffer.size, 8);
    buffer_release(&buffer);
    assert_false(buffer.failed);
    assert_true(buffer_append(&buffer, "1234567890", 10)); // exactly the limit
    buffer_release(&buffer);
}

static void no_memory_is_sticky_and_keeps_the_bytes(void **state) {
    (void)state;
    struct buffer buffer = {0};
    assert_true(buffer_append(&buffer, "kept", 4));
    heap_fails = true;
    assert_false(buffer_reserve(&buffer, 1 << 20));
    assert_false(buffer_format(&buffer, "%s", "more"));
    heap_fails = false;
    assert_true(buffer.failed);
    assert_memory_equal(buffer.data, "kept", 4);
    buffer_release(&buffer);
}

static void sizes_that_wrap_are_refused(void **state) {
    (void)state;
    struct buffer buffer = {0};
    assert_true(buffer_append(&buffer, "x", 1));
    assert_false(buffer_reserve(&buffer, SIZE_MAX));
    buffer_release(&buffer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_holds_what_was_appended),
        cmocka_unit_test(the_limit_is_sticky),
        cmocka_unit_test(no_memory_is_sticky_and_keeps_the_bytes),
        cmocka_unit_test(sizes_that_wrap_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
