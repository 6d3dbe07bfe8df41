// SPDX-License-Identifier: Apache-2.0
//
// Owns:      JSON texts as expressions: spaces, strings, numbers, any value.
// Called by: grammar_schema, grammar.
// Threads:   as grammar_ast.
// Errors:    as grammar_ast.
// Not here:  schemas.
//
// What a model may write is bounded where a careless one would never stop: spaces are none, one
// blank, or one new line and up to 40 blanks or tabs; numbers have at most 16 digits before and
// after the point and 3 in the exponent.
#ifndef GRAMMAR_JSON_H
#define GRAMMAR_JSON_H

#include "grammar/grammar_ast.h"

// Rules that every schema shares.
struct grammar_json {
    struct grammar_ast *ast;
    grammar_expr space;
    grammar_expr character; // of a string, escaped or not; one code point
    grammar_expr string, key, integer, number, boolean, null, value, object, array;
};

void grammar_json_init(struct grammar_json *json, struct grammar_ast *ast);

// `text` as it stands between quotes: each character in its one usual spelling.
grammar_expr grammar_json_spelling(struct grammar_json *json, struct slice text);
grammar_expr grammar_json_quoted(struct grammar_json *json, struct slice text);
// A string of least to most characters.
grammar_expr grammar_json_sized(struct grammar_json *json, uint32_t least, uint32_t most);

// open, then items of which the first has no comma before it, least to most of them, then close.
grammar_expr grammar_json_list(struct grammar_json *json, const char *open, grammar_expr item,
                               uint32_t least, uint32_t most, const char *close);
// "key": value
grammar_expr grammar_json_pair(struct grammar_json *json, grammar_expr key, grammar_expr value);

// A whole number from least to most, each of which may be absent (has_...).
struct grammar_bounds {
    bool has_least, has_most;
    int64_t least, most;
};
grammar_expr grammar_json_integer(struct grammar_json *json, const struct grammar_bounds *bounds);

#endif
