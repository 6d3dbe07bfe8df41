// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the tree that a template is parsed to.
// Called by: jinja_parse (makes it), jinja_eval and jinja_exec (walk it).
// Threads:   never changed after parsing: any.
// Errors:    none.
// Not here:  walking it.
#ifndef JINJA_AST_H
#define JINJA_AST_H

#include "jinja/jinja_value.h"

// What a node's fields hold. LIST is a chain through `next`.
enum jinja_node_kind {
    // Expressions
    JINJA_CONST,    // value
    JINJA_NAME,     // name
    JINJA_ITEMS_OF, // operation: the kind of value (LIST or TUPLE); first: LIST of items
    JINJA_PAIRS_OF, // first: LIST of PAIR
    JINJA_PAIR,     // first: key, second: value
    JINJA_CHOICE,   // first if second else third (NULL: undefined)
    JINJA_OR,       // first, second
    JINJA_AND,      // first, second
    JINJA_NOT,      // first
    JINJA_COMPARE,  // first; second: LIST of COMPARED
    JINJA_COMPARED, // operation: enum jinja_relation; first
    JINJA_BINARY,   // operation: enum jinja_operation; first, second
    JINJA_CONCAT,   // first: LIST
    JINJA_SIGN,     // operation: 1 for minus; first
    JINJA_ATTR,     // first; value: the name
    JINJA_ITEM,     // first, second
    JINJA_SLICE,    // first[second:third:other]; each may be NULL
    JINJA_CALL,     // first; second: LIST of ARGUMENT
    JINJA_ARGUMENT, // operation: stars; name or NULL; first
    JINJA_FILTER,   // builtin or NULL, name; first (NULL: a block's text); second: LIST of ARGUMENT
    JINJA_TEST,     // as FILTER
    // Statements
    JINJA_DATA_TEXT,  // value
    JINJA_OUTPUT,     // first
    JINJA_IF,         // first: condition; body; other: LIST
    // first: target, second: what, third: filter; body; other; operation: recursive; name: "loop"
    JINJA_FOR,
    JINJA_SET,        // first: target, second
    JINJA_SET_BLOCK,  // first: target; second: FILTER or NULL; body
    JINJA_MACRO,      // name; first: LIST of PARAMETER; body; operation: enum jinja_macro_flag
    JINJA_PARAMETER,  // name; first: default or NULL
    JINJA_CALL_BLOCK, // first: CALL; second: a MACRO without a name
    JINJA_FILTER_BLOCK, // first: FILTER; body
    JINJA_WITH,       // first: LIST of SET; body
    JINJA_GENERATION, // body
    JINJA_BREAK,
    JINJA_CONTINUE,
    JINJA_MEMBER, // a target only: name.value of a namespace
    JINJA_NODE_KINDS
};

enum jinja_relation {
    JINJA_EQ,
    JINJA_NE,
    JINJA_LT,
    JINJA_LE,
    JINJA_GT,
    JINJA_GE,
    JINJA_IN,
    JINJA_NOT_IN
};

enum jinja_operation {
    JINJA_ADD,
    JINJA_SUB,
    JINJA_MUL,
    JINJA_DIV,
    JINJA_FLOOR_DIV,
    JINJA_MOD,
    JINJA_POW
};

enum jinja_macro_flag { JINJA_TAKES_VARARGS = 1, JINJA_TAKES_KWARGS = 2, JINJA_TAKES_CALLER = 4 };

// The tree's addresses of the names that a macro may find set.
struct jinja_specials {
    const char *caller, *kwargs, *varargs;
};

struct jinja_node {
    enum jinja_node_kind kind;
    uint32_t line, column;
    uint32_t operation;
    struct jinja_node *next;
    struct jinja_node *first, *second, *third, *body, *other;
    const char *name; // names that are alike have one address
    struct jinja_value value;
    const struct jinja_builtin *builtin;
};

#endif
