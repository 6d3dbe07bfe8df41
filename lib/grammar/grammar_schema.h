// SPDX-License-Identifier: Apache-2.0
//
// Owns:      JSON schemas as grammars: every text that the grammar accepts is valid.
// Called by: grammar.
// Threads:   as grammar_ast.
// Errors:    E_ARGUMENT: not JSON, or a malformed schema; E_UNSUPPORTED: what the schema demands
//            cannot be kept. Both name the JSON pointer, and the keyword.
// Not here:  JSON itself (grammar_json), regular expressions (grammar_regex).
//
// docs/structured-output.md says which keywords are known, and what is narrower than the schema:
// properties come in the schema's order, and an object with `properties` has no others unless
// additionalProperties is given.
#ifndef GRAMMAR_SCHEMA_H
#define GRAMMAR_SCHEMA_H

#include "base/status.h"
#include "grammar/grammar_json.h"

// The expression of all values that the schema allows, NULL on failure. The ast has its root rule
// already, which may be undefined yet.
locum_status grammar_schema_read(struct slice text, struct grammar_json *json, grammar_expr *out,
                                 locum_error *error);

#endif
