// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the grammar: a template's text to its tree.
// Called by: jinja.
// Threads:   pure, with the caller's arena.
// Errors:    E_FORMAT with line and column for what is malformed, E_UNSUPPORTED for what jinja2 has
//            and this engine does not; E_OUT_OF_MEMORY.
// Not here:  tokens (jinja_lex.h), walking the tree (jinja_exec.h).
#ifndef JINJA_PARSE_H
#define JINJA_PARSE_H

#include "base/status.h"
#include "jinja/jinja_ast.h"
#include "jinja/jinja_lex.h"

// The tree lives in the arena.
locum_status jinja_parse(struct slice source, struct arena *arena, struct jinja_node **out,
                         struct jinja_specials *specials, locum_error *error);

// For the two halves of the parser (expressions and statements).
struct jinja_parser {
    struct arena *arena;
    locum_error *error;
    const struct jinja_token *token; // the current one
    struct jinja_name *names;        // every name once
    unsigned nesting, loops;         // loops: whose body this is, for break and continue
    bool soft; // inside a condition: a filter that nobody has fails only when it is used
};

locum_status jinja_parse_fail(struct jinja_parser *parser, const struct jinja_token *at,
                              const char *format, ...) STATUS_PRINTF(3, 4);
locum_status jinja_parse_node(struct jinja_parser *parser, enum jinja_node_kind kind,
                              const struct jinja_token *at, struct jinja_node **out);
locum_status jinja_parse_name(struct jinja_parser *parser, const char **out); // takes a name
locum_status jinja_parse_deeper(struct jinja_parser *parser); // counts; the caller counts back

bool jinja_token_is(const struct jinja_token *token, const char *text); // an operator or a name
bool jinja_parse_skip(struct jinja_parser *parser, const char *text);
locum_status jinja_parse_expect(struct jinja_parser *parser, const char *text);

// One expression; without_choice: `x if y` is left standing.
locum_status jinja_parse_expression(struct jinja_parser *parser, bool without_choice,
                                    struct jinja_node **out);
// One, or several with commas: a tuple, which ends before `end` (may be NULL).
locum_status jinja_parse_tuple(struct jinja_parser *parser, bool without_choice, const char *end,
                               struct jinja_node **out);
// What may stand left of `=` or of `in`.
locum_status jinja_parse_target(struct jinja_parser *parser, const char *end, bool members,
                                struct jinja_node **out);
// name(arguments)|name..., applied to `subject` (may be NULL).
locum_status jinja_parse_filters(struct jinja_parser *parser, struct jinja_node *subject,
                                 bool first_has_no_bar, struct jinja_node **out);
locum_status jinja_parse_arguments(struct jinja_parser *parser, struct jinja_node **out);

#endif
