// SPDX-License-Identifier: Apache-2.0
//
// Owns:      attributes, items and slices: what stands behind `.` and in `[]`.
// Called by: jinja_eval, jinja_filter.
// Threads:   one thread at a time.
// Errors:    as jinja_run.h. What is not there is undefined, not an error.
// Not here:  the methods (jinja_string.h, jinja_method.h).
#ifndef JINJA_ACCESS_H
#define JINJA_ACCESS_H

#include "jinja/jinja_run.h"

// x.name: methods first, then items. name: a STRING.
bool jinja_get_attribute(struct jinja_run *run, struct jinja_value object, struct jinja_value name,
                         struct jinja_value *out);
// x[key]: items first, then methods.
bool jinja_get_item(struct jinja_run *run, struct jinja_value object, struct jinja_value key,
                    struct jinja_value *out);
// x[a:b:c]; bounds are INT or NONE.
bool jinja_get_slice(struct jinja_run *run, struct jinja_value object,
                     const struct jinja_value bounds[3], struct jinja_value *out);
// Attributes with points between them, as filters name them ("function.name", "0").
bool jinja_get_path(struct jinja_run *run, struct jinja_value object, struct jinja_value path,
                    struct jinja_value otherwise, struct jinja_value *out);
// The byte where character `index` begins.
size_t jinja_byte_of(const struct jinja_string *string, size_t index);

#endif
