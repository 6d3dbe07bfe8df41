// SPDX-License-Identifier: Apache-2.0
//
// Owns:      a template's text as tokens; white space around tags.
// Called by: jinja_parse.
// Threads:   pure, with the caller's arena.
// Errors:    E_FORMAT with line and column; E_OUT_OF_MEMORY.
// Not here:  what tokens mean (jinja_parse.h).
//
// As jinja2 with trim_blocks and lstrip_blocks: a line break right after a block or comment goes, and
// so do the blanks before one that begins its line. `-` takes all white space on its side, `+` none.
#ifndef JINJA_LEX_H
#define JINJA_LEX_H

#include "base/status.h"
#include "jinja/jinja_value.h"

enum jinja_token_kind {
    JINJA_TOKEN_END,
    JINJA_TOKEN_DATA,
    JINJA_TOKEN_VARIABLE_BEGIN,
    JINJA_TOKEN_VARIABLE_END,
    JINJA_TOKEN_BLOCK_BEGIN,
    JINJA_TOKEN_BLOCK_END,
    JINJA_TOKEN_NAME,
    JINJA_TOKEN_STRING,
    JINJA_TOKEN_NUMBER,
    JINJA_TOKEN_OPERATOR
};

struct jinja_token {
    enum jinja_token_kind kind;
    uint32_t line, column; // from 1; a column is a character
    struct slice text;     // DATA, NAME, OPERATOR as they stand; STRING unescaped
    struct jinja_value value; // NUMBER
};

// The tokens, END last. They point into the arena alone.
locum_status jinja_lex(struct slice source, struct arena *arena, struct jinja_token **out,
                       locum_error *error);

#endif
