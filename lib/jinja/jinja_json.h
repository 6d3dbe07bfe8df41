// SPDX-License-Identifier: Apache-2.0
//
// Owns:      JSON text to values, and values to JSON text byte for byte as Python's json.dumps.
// Called by: whoever has variables as JSON; the filters tojson and from_json.
// Threads:   pure, with the caller's arena.
// Errors:    E_FORMAT with the byte; E_OUT_OF_MEMORY. Writing: as jinja_run.h.
// Not here:  JSON of the public API.
//
// Integers of any length are kept; 1.0 stays a float. Of equal keys the last one's value counts, at the
// place of the first. A lone surrogate (\ud800) is refused.
#ifndef JINJA_JSON_H
#define JINJA_JSON_H

#include "base/status.h"
#include "jinja/jinja_call.h"

// All strings are of `origin`. The lists and dicts are fixed: a template cannot change them.
locum_status jinja_json_read(struct slice text, struct arena *arena, enum jinja_origin origin,
                             struct jinja_value *out, locum_error *error);

struct jinja_json_style {
    bool ascii, sort_keys, indented;
    struct jinja_value indent, separators[2]; // STRINGs; indent if indented
};
// ensure_ascii, indent, separators, sort_keys: in this order in arguments->items.
bool jinja_json_style_of(struct jinja_run *run, const struct jinja_arguments *arguments,
                         struct jinja_json_style *out);
bool jinja_json_write(struct jinja_run *run, struct jinja_value value,
                      const struct jinja_json_style *style, struct jinja_value *out);

#endif
