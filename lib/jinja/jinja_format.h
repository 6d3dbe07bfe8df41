// SPDX-License-Identifier: Apache-2.0
//
// Owns:      Python's two ways to put values into a text: "%s" % x and "{}".format(x).
// Called by: jinja_arithmetic, jinja_string, jinja_filter.
// Threads:   one thread at a time.
// Errors:    as jinja_run.h. Conversions that templates do without are errors that name them.
// Not here:  values as text (jinja_print.h).
#ifndef JINJA_FORMAT_H
#define JINJA_FORMAT_H

#include "jinja/jinja_call.h"

// values: a TUPLE, a DICT for %(name)s, or one value.
bool jinja_format_percent(struct jinja_run *run, const struct jinja_string *format,
                          struct jinja_value values, struct jinja_value *out);
bool jinja_format_braces(struct jinja_run *run, const struct jinja_string *format,
                         const struct jinja_arguments *arguments, struct jinja_value *out);

#endif
