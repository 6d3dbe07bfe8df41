// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/message.h"

static size_t __attribute__((format(printf, 3, 4)))
write_message(char *out, size_t max, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    size_t size = message_write(out, max, format, arguments);
    va_end(arguments);
    assert_int_equal(size, strlen(out));
    return size;
}

static void good_text_is_untouched(void **state) {
    (void)state;
    static const char *const texts[] = {
        "",
        "plain",
        "Загрузки/模型 x/ü.gguf",
        "\xf0\x9f\x98\x80",
        "\xf4\x8f\xbf\xbf \xed\x9f\xbf \xee\x80\x80",
    };
    char out[100];
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        write_message(out, sizeof out, "%s", texts[i]);
        assert_string_equal(out, texts[i]);
    }
}

static void bytes_that_are_no_text_become_question_marks(void **state) {
    (void)state;
    static const struct {
        const char *in, *out;
    } rows[] = {
        {"a\nb\tc\x1b[31m\x7f", "a?b?c?[31m?"}, // a name must not write to the terminal
        {"\xc2\x9bJ", "??J"},                   // the same order in one character, U+009B
        {"\x80", "?"},                          // continuation alone
        {"\xc0\xaf", "??"},                     // overlong
        {"\xe0\x80\xaf", "???"},
        {"\xed\xa0\x80", "???"},      // surrogate
        {"\xf4\x90\x80\x80", "????"}, // above U+10FFFF
        {"\xf0\x9f\x98", "???"},      // cut at the end
        {"\xc3(", "?("},
        {"\xff\xfe", "??"},
    };
    char out[100];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        write_message(out, sizeof out, "%s", rows[i].in);
        assert_string_equal(out, rows[i].out);
    }
}

static void long_text_is_cut_between_characters(void **state) {
    (void)state;
    // Each size in turn, over a text of 1-, 2-, 3- and 4-byte characters: valid, and as long as
    // possible.
    const char *text = "aéb模c\xf0\x9f\x98\x80"
                       "dü模e";
    char whole[100];
    size_t size = write_message(whole, sizeof whole, "%s", text);
    for (size_t max = 8; max <= size + 2; max++) {
        char out[100];
        memset(out, 'Z', sizeof out);
        size_t got = write_message(out, max, "%s", text);
        assert_int_equal(out[max], 'Z');
        if (max > size) {
            assert_string_equal(out, text);
            continue;
        }
        assert_true(got >= max - 1 - 3 && got <= max - 1);
        assert_string_equal(out + got - 3, "...");
        assert_memory_equal(out, text, got - 3);
        assert_null(strchr(out, '?'));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_text_is_untouched),
        cmocka_unit_test(bytes_that_are_no_text_become_question_marks),
        cmocka_unit_test(long_text_is_cut_between_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
