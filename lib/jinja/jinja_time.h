// SPDX-License-Identifier: Apache-2.0
//
// Owns:      strftime over a clock that is given, in the C locale.
// Called by: jinja_global.
// Threads:   pure.
// Errors:    as jinja_run.h; a conversion that it does not know is one.
// Not here:  reading a clock.
#ifndef JINJA_TIME_H
#define JINJA_TIME_H

#include "jinja/jinja_run.h"

bool jinja_strftime(struct jinja_run *run, const struct jinja_string *format,
                    const struct jinja_clock *now, struct jinja_value *out);

#endif
