// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the grammar language GBNF, in llama.cpp's dialect.
// Called by: grammar.
// Threads:   pure.
// Errors:    E_ARGUMENT with line and column; E_OUT_OF_MEMORY.
// Not here:  rules that are missing or left-recursive (grammar_program names them).
//
// Differences from that dialect: a rule that is defined twice, an empty class, a range that runs
// backwards, and text that is no UTF-8 are errors. A control token is written <name> or <[id]> there;
// here <name>, and not negated.
#ifndef GRAMMAR_GBNF_H
#define GRAMMAR_GBNF_H

#include "base/status.h"
#include "grammar/grammar_ast.h"

// ast is empty; afterwards its first rule is `root`.
locum_status grammar_gbnf_read(struct slice text, struct grammar_ast *ast, locum_error *error);

#endif
