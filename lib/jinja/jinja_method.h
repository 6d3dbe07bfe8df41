// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the names of methods by kind of value; methods of lists and dicts.
// Called by: jinja_access.
// Threads:   constant tables; calls as jinja_run.h.
// Errors:    as jinja_run.h.
// Not here:  methods of strings (jinja_string.h).
#ifndef JINJA_METHOD_H
#define JINJA_METHOD_H

#include "jinja/jinja_call.h"

struct jinja_method {
    struct jinja_builtin builtin;
    bool changes; // the value that it belongs to: see struct jinja_options
};

// NULL: values of this kind have no such method. One without a function is Python's and not ours.
const struct jinja_method *jinja_method_find(struct jinja_value object, struct slice name);

#endif
