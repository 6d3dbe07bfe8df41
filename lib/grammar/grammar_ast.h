// SPDX-License-Identifier: Apache-2.0
//
// Owns:      a grammar as rules over expressions, before it is compiled.
// Called by: the readers of grammars (grammar_gbnf, grammar_schema, ...); grammar_program compiles.
// Threads:   one thread at a time.
// Errors:    sticky: with no memory `failed` is set and expressions are NULL, which every function
//            takes as an argument. Check once, at the end.
// Not here:  what a text means (the readers), automata (grammar_program).
//
// Expressions are immutable and may be shared; sharing costs a copy in the program each, a rule
// does not.
#ifndef GRAMMAR_AST_H
#define GRAMMAR_AST_H

#include "base/arena.h"
#include "base/slice.h"
#include "grammar/grammar_ranges.h"

#define GRAMMAR_UNBOUNDED UINT32_MAX

enum grammar_expr_kind {
    GRAMMAR_EMPTY,  // the empty text
    GRAMMAR_NEVER,  // no text at all
    GRAMMAR_TEXT,   // these bytes
    GRAMMAR_BYTES,  // any byte of a range
    GRAMMAR_CLASS,  // one character of a set
    GRAMMAR_SEQUENCE,
    GRAMMAR_CHOICE,
    GRAMMAR_REPEAT, // items[0], least to most times
    GRAMMAR_RULE
};

struct grammar_expr {
    enum grammar_expr_kind kind;
    uint32_t count;                          // of ranges or items
    uint32_t least, most;                    // REPEAT; BYTES: first and last
    uint32_t rule;                           // RULE
    struct slice text;                       // TEXT
    const struct grammar_range *ranges;      // CLASS, normalised
    const struct grammar_expr *const *items; // SEQUENCE, CHOICE, REPEAT
};
typedef const struct grammar_expr *grammar_expr;

struct grammar_rule {
    const char *name;  // for messages
    grammar_expr expr; // NULL: not defined (yet)
};

struct grammar_ast {
    struct arena *arena;
    struct grammar_rule *rules; // the first one is the root
    uint32_t count, capacity;
    bool failed;
};

grammar_expr grammar_ast_empty(struct grammar_ast *ast);
grammar_expr grammar_ast_never(struct grammar_ast *ast);
grammar_expr grammar_ast_text(struct grammar_ast *ast, struct slice text); // copied
grammar_expr grammar_ast_literal(struct grammar_ast *ast, const char *text);
grammar_expr grammar_ast_bytes(struct grammar_ast *ast, uint8_t first, uint8_t last);
grammar_expr grammar_ast_class(struct grammar_ast *ast, const struct grammar_range *ranges,
                               uint32_t count, bool negated);
grammar_expr grammar_ast_range(struct grammar_ast *ast, uint32_t first, uint32_t last);
// items are copied.
grammar_expr grammar_ast_sequence(struct grammar_ast *ast, const grammar_expr *items,
                                  uint32_t count);
grammar_expr grammar_ast_choice(struct grammar_ast *ast, const grammar_expr *items,
                                uint32_t count);
grammar_expr grammar_ast_repeat(struct grammar_ast *ast, grammar_expr item, uint32_t least,
                                uint32_t most);

// A new rule without an expression, name copied; UINT32_MAX without memory.
uint32_t grammar_ast_add_rule(struct grammar_ast *ast, const char *name);
void grammar_ast_define(struct grammar_ast *ast, uint32_t rule, grammar_expr expr);
grammar_expr grammar_ast_rule(struct grammar_ast *ast, uint32_t rule);
// A new rule with this expression, and a reference to it.
grammar_expr grammar_ast_new_rule(struct grammar_ast *ast, const char *name, grammar_expr expr);

#define GRAMMAR_COUNT(...) (sizeof((grammar_expr[]){__VA_ARGS__}) / sizeof(grammar_expr))
#define GRAMMAR_SEQ(ast, ...)                                                                     \
    grammar_ast_sequence(ast, (grammar_expr[]){__VA_ARGS__}, GRAMMAR_COUNT(__VA_ARGS__))
#define GRAMMAR_ANY_OF(ast, ...)                                                                  \
    grammar_ast_choice(ast, (grammar_expr[]){__VA_ARGS__}, GRAMMAR_COUNT(__VA_ARGS__))

#endif
