// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/utf8.h"

static size_t write_character(uint32_t code, char *out) {
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t size = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = size; i-- > 1; code >>= 6) {
        out[i] = (char)(0x80 | (code & 63));
    }
    out[0] = (char)((0xF00u >> size) | code);
    return size;
}

static void every_character_is_read(void **state) {
    (void)state;
    for (uint32_t code = 0; code <= 0x10FFFF; code++) {
        char text[4];
        size_t size = write_character(code, text);
        bool surrogate = code >= 0xD800 && code <= 0xDFFF;
        struct utf8_step step = utf8_next(slice_make(text, size));
        assert_int_equal(step.kind, surrogate ? UTF8_INVALID : UTF8_CHARACTER);
        assert_int_equal(step.size, surrogate ? 1 : size);
        assert_int_equal(step.code, surrogate ? UTF8_REPLACEMENT : code);
        for (size_t cut = 1; cut < size; cut++) {
            struct utf8_step part = utf8_next(slice_make(text, cut));
            bool seen = surrogate && cut > 1; // the second byte tells
            assert_int_equal(part.kind, seen ? UTF8_INVALID : UTF8_PARTIAL);
            assert_int_equal(part.size, seen ? 1 : cut);
        }
    }
}

// Sizes of the maximal subparts, one digit each; c: a whole character of one byte.
static void invalid_bytes_fall_into_maximal_subparts(void **state) {
    (void)state;
    static const struct {
        const char *text, *sizes;
    } cases[] = {
        {"\x80", "1"},
        {"\xC0\xAF", "11"},           // overlong
        {"\xED\xA0\x80", "111"},      // surrogate
        {"\xF4\x90\x80\x80", "1111"}, // past U+10FFFF
        {"\xF5\xFE\xFF", "111"},      // bytes that UTF-8 never has
        {"\xF0\x9F"
         "A",
         "2c"}, // begun, not finished
        {"\xF0\x9F\x98"
         "A",
         "3c"},
        {"\xE1\x80\xE2\xF0\x91\x92\xF1\xBF"
         "A",
         "2132c"}, // of Unicode chapter 3, table 3-8 kind
        {"\xE0\x80\x80", "111"},
        {"\xC3"
         "(",
         "1c"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct slice text = slice_text(cases[i].text);
        for (const char *size = cases[i].sizes; *size; size++) {
            struct utf8_step step = utf8_next(text);
            if (*size == 'c') {
                assert_int_equal(step.kind, UTF8_CHARACTER);
                assert_int_equal(step.size, 1);
            } else {
                assert_int_equal(step.kind, UTF8_INVALID);
                assert_int_equal(step.size, *size - '0');
            }
            text = slice_from(text, step.size);
        }
        assert_int_equal(text.size, 0);
    }
}

static void what_people_can_be_shown(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t size;
    } rows[] = {
        {"", 0},
        {"a", 1},
        {" ", 1},
        {"~", 1},
        {"\xc2\xa0", 2},
        {"\xc3\xbc", 2},
        {"\xe2\x82\xac", 3},
        {"\xf0\x9f\x98\x80", 4},
        {"\n", 0},
        {"\x1b[31m", 0},
        {"\x7f", 0},
        {"\xc2\x80", 0}, // controls of two bytes: the first and the last
        {"\xc2\x9f", 0},
        {"\x80", 0},     // a continuation
        {"\xc3", 0},     // cut
        {"\xc0\xaf", 0}, // overlong
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(utf8_printable(slice_text(rows[i].text)), rows[i].size);
    assert_int_equal(utf8_printable(slice_make("\0", 1)), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_character_is_read),
        cmocka_unit_test(invalid_bytes_fall_into_maximal_subparts),
        cmocka_unit_test(what_people_can_be_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
