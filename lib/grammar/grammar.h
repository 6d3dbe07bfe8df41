// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the ways to ask for a grammar: a text in GBNF, a JSON schema, any JSON object.
// Called by: engine.
// Threads:   pure.
// Errors:    E_ARGUMENT naming the place; E_UNSUPPORTED naming the keyword of a schema that cannot be
//            kept, and its JSON pointer; E_OUT_OF_MEMORY.
// Not here:  how each is read (grammar_gbnf, grammar_schema), running it (grammar_matcher).
#ifndef GRAMMAR_H
#define GRAMMAR_H

#include "grammar/grammar_program.h"

enum grammar_kind { GRAMMAR_KIND_GBNF, GRAMMAR_KIND_SCHEMA, GRAMMAR_KIND_OBJECT, GRAMMAR_KINDS };

// A text that must come before the grammar begins: all is free until it, it is part of the answer.
// An answer that never has it is not allowed to end. Size 0: the grammar begins at once.
struct grammar_request {
    enum grammar_kind kind;
    struct slice text; // of GBNF and SCHEMA
    struct slice after;
};

locum_status grammar_open(const struct grammar_request *request, struct grammar_program **out,
                          locum_error *error);

#endif
