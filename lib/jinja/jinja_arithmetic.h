// SPDX-License-Identifier: Apache-2.0
//
// Owns:      operators and comparisons, as Python has them.
// Called by: jinja_eval, jinja_filter, jinja_test.
// Threads:   one thread at a time.
// Errors:    as jinja_run.h. Integers have 64 bits: what does not fit is an error.
// Not here:  equality and order as such (jinja_value.h).
#ifndef JINJA_ARITHMETIC_H
#define JINJA_ARITHMETIC_H

#include "jinja/jinja_run.h"

bool jinja_operate(struct jinja_run *run, enum jinja_operation operation, struct jinja_value left,
                   struct jinja_value right, struct jinja_value *out);
bool jinja_sign(struct jinja_run *run, bool minus, struct jinja_value value,
                struct jinja_value *out);
bool jinja_relate(struct jinja_run *run, enum jinja_relation relation, struct jinja_value left,
                  struct jinja_value right, bool *holds);
bool jinja_contains(struct jinja_run *run, struct jinja_value container, struct jinja_value item,
                    bool *holds);
// Both, one behind the other. *out may be where a or b came from.
bool jinja_join_strings(struct jinja_run *run, const struct jinja_string *a,
                        const struct jinja_string *b, struct jinja_value *out);
// Where `part` begins in `text` at or behind `from`; SIZE_MAX.
size_t jinja_find(struct slice text, struct slice part, size_t from);

#endif
