// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the value of an expression.
// Called by: jinja_exec, jinja_call.
// Threads:   one thread at a time.
// Errors:    as jinja_run.h.
// Not here:  statements (jinja_exec.h), operators (jinja_arithmetic.h), attributes (jinja_access.h).
#ifndef JINJA_EVAL_H
#define JINJA_EVAL_H

#include "jinja/jinja_run.h"

bool jinja_eval(struct jinja_run *run, const struct jinja_node *node, struct jinja_value *out);

// A FILTER node applied to a value that its tree does not name (a block's text).
bool jinja_eval_filters(struct jinja_run *run, const struct jinja_node *filter,
                        struct jinja_value subject, struct jinja_value *out);

#endif
