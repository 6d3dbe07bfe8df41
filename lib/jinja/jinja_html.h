// SPDX-License-Identifier: Apache-2.0
//
// Owns:      escaping for HTML, and strings that are marked as escaped (markupsafe's Markup).
// Called by: jinja_arithmetic, jinja_filter.
// Threads:   one thread at a time.
// Errors:    as jinja_run.h.
// Not here:  autoescaping: chat templates have none.
#ifndef JINJA_HTML_H
#define JINJA_HTML_H

#include "jinja/jinja_run.h"

// & < > ' " become entities unless the string is markup; the result is.
bool jinja_escape(struct jinja_run *run, struct jinja_value value, struct jinja_value *out);
// The same string, as markup.
bool jinja_mark_safe(struct jinja_run *run, struct jinja_value string, struct jinja_value *out);

#endif
