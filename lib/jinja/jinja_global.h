// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the functions that every template can call: range, dict, namespace, raise_exception,
//            strftime_now.
// Called by: jinja_eval.
// Threads:   constant table; calls as jinja_run.h.
// Errors:    as jinja_run.h; raise_exception's is the template's own text.
// Not here:  macros.
#ifndef JINJA_GLOBAL_H
#define JINJA_GLOBAL_H

#include "jinja/jinja_call.h"

// NULL: there is none of that name. A row without a function is jinja2's and not ours.
const struct jinja_builtin *jinja_global_find(struct slice name);

#endif
