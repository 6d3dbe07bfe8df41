// SPDX-License-Identifier: Apache-2.0
//
// Owns:      regular expressions, as JSON schemas write them, as what a JSON string may hold.
// Called by: grammar_schema (pattern, format).
// Threads:   as grammar_ast.
// Errors:    `why` is set to what the expression has that is not supported; NULL is given then, and
//            without memory.
// Not here:  matching (it is part of the grammar).
//
// Supported: characters, escapes, classes, '.', groups, '|', ? * + {m} {m,} {m,n} and their lazy
// forms, \d \D \w \W \s \S, ^ and $ at the ends of the whole or of one of its alternatives. As in
// schemas, what is not tied to an end by ^ or $ may have any text there. Not supported: look-around,
// references to groups, \b \B, \p. A character is spelled in one way: escaped only where JSON must.
#ifndef GRAMMAR_REGEX_H
#define GRAMMAR_REGEX_H

#include "grammar/grammar_json.h"

grammar_expr grammar_regex_read(struct grammar_json *json, struct slice pattern, const char **why);

#endif
