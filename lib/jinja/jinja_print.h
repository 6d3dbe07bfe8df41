// SPDX-License-Identifier: Apache-2.0
//
// Owns:      values as text: Python's str() and repr().
// Called by: output, ~, and whatever needs a string.
// Threads:   one thread at a time.
// Errors:    as jinja_run.h. What Python prints with an address in it is an error.
// Not here:  JSON (jinja_json.h).
#ifndef JINJA_PRINT_H
#define JINJA_PRINT_H

#include "jinja/jinja_run.h"

// str(): strings as they are.
bool jinja_print(struct jinja_run *run, struct jinja_value value, struct jinja_text *out);
// repr(): strings with quotes and escapes.
bool jinja_represent(struct jinja_run *run, struct jinja_value value, struct jinja_text *out);
// str() as a value: a string is given back as it is.
bool jinja_to_string(struct jinja_run *run, struct jinja_value value, struct jinja_value *out);

#endif
