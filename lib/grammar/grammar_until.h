// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the expression "any bytes, up to and with the first place where this text stands".
// Called by: grammar (what comes before an answer's strict part).
// Threads:   as grammar_ast.
// Errors:    as grammar_ast.
// Not here:  what comes behind it.
#ifndef GRAMMAR_UNTIL_H
#define GRAMMAR_UNTIL_H

#include "grammar/grammar_ast.h"

// text.size > 0.
grammar_expr grammar_until(struct grammar_ast *ast, struct slice text);

#endif
