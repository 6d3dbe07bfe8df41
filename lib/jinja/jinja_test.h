// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the tests: x is name(arguments).
// Called by: jinja_parse (finds them), jinja_eval and select (apply them).
// Threads:   constant table; calls as jinja_run.h.
// Errors:    as jinja_run.h.
// Not here:  comparisons (jinja_arithmetic.h).
#ifndef JINJA_TEST_H
#define JINJA_TEST_H

#include "jinja/jinja_call.h"

// NULL: there is none of that name. The result of a test is true or false by its truth.
const struct jinja_builtin *jinja_test_find(struct slice name);

#endif
