// SPDX-License-Identifier: Apache-2.0
//
// Owns:      what Python's str methods know of characters: white space, case, classes.
// Called by: jinja_lex, jinja_string, jinja_print.
// Threads:   constant data.
// Errors:    none.
// Not here:  categories (token/unicode.h is for tokenizers, whose version of Unicode is fixed).
//
// The tables (jinja_unicode_table.c) are made by tools/ucd/jinja_unicode_table.py.
#ifndef JINJA_UNICODE_H
#define JINJA_UNICODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"

// Bytes of the white space at the beginning of a text; 0: there is none.
size_t jinja_space_at(struct slice text);
// Bytes of the line break at the beginning (str.splitlines); 0: there is none.
size_t jinja_line_break_at(struct slice text);

enum jinja_case { JINJA_LOWER, JINJA_UPPER, JINJA_TITLE, JINJA_CASES };
// The characters that one becomes (at most 3), and how many.
unsigned jinja_change_case(uint32_t code, enum jinja_case to, uint32_t out[3]);

enum jinja_class {
    JINJA_IS_PRINTABLE,
    JINJA_IS_ALPHA,
    JINJA_IS_DECIMAL,
    JINJA_IS_DIGIT,
    JINJA_IS_NUMERIC,
    JINJA_IS_LOWER,
    JINJA_IS_UPPER,
    JINJA_IS_TITLE,
    JINJA_IS_CASED,
    JINJA_IS_IGNORABLE, // for case: what may stand between a word's letters
    JINJA_CLASSES
};
bool jinja_is(uint32_t code, enum jinja_class kind);

#endif
