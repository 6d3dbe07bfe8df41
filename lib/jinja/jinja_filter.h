// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the filters: |name(arguments).
// Called by: jinja_parse (finds them), jinja_eval and map (apply them).
// Threads:   constant tables; calls as jinja_run.h.
// Errors:    as jinja_run.h.
// Not here:  what strings can do by themselves (jinja_string.h).
//
// Filters of single values are in jinja_filter.c, those of sequences in jinja_filter_list.c.
#ifndef JINJA_FILTER_H
#define JINJA_FILTER_H

#include "jinja/jinja_call.h"

// NULL: jinja2 has none of that name either. A row without a function is jinja2's and not ours.
const struct jinja_builtin *jinja_filter_find(struct slice name);

// The second table, for jinja_filter.c.
const struct jinja_builtin *jinja_filter_list_table(size_t *count);

#endif
