// SPDX-License-Identifier: Apache-2.0
#include "gguf/gguf_text.h"

#include "tests/gguf/fixture.h"

static void test_number(void **state) {
    (void)state;
    assert_string_equal(gguf_text_number(0).text, "0");
    assert_string_equal(gguf_text_number(999).text, "999");
    assert_string_equal(gguf_text_number(1000).text, "1,000");
    assert_string_equal(gguf_text_number(1234567).text, "1,234,567");
    assert_string_equal(gguf_text_number(UINT64_MAX).text, "18,446,744,073,709,551,615");
}

static void test_printable(void **state) {
    (void)state;
    assert_true(gguf_text_is_printable(slice_text("blk.0.w \xc3\xbc")));
    assert_true(gguf_text_is_printable(slice_make(NULL, 0)));
    assert_false(gguf_text_is_printable(slice_text("a\x1b[31m")));
    assert_false(gguf_text_is_printable(slice_text("a\x7f")));
    assert_false(gguf_text_is_printable(slice_text("a\xc2\x9bJ")));
    assert_false(gguf_text_is_printable(slice_text("a\xff")));
    assert_false(gguf_text_is_printable(slice_make("a\0b", 3)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_number),
        cmocka_unit_test(test_printable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
