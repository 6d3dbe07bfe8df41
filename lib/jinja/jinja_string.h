// SPDX-License-Identifier: Apache-2.0
//
// Owns:      methods of strings, as Python has them. Every character keeps its mark.
// Called by: jinja_method; jinja_filter for what filters share with them.
// Threads:   one thread at a time.
// Errors:    as jinja_run.h.
// Not here:  format() (jinja_format.h), single characters (jinja_unicode.h).
#ifndef JINJA_STRING_H
#define JINJA_STRING_H

#include "jinja/jinja_method.h"
#include "jinja/jinja_unicode.h"

const struct jinja_method *jinja_string_methods(size_t *count);

enum jinja_side { JINJA_LEFT = 1, JINJA_RIGHT = 2, JINJA_BOTH = 3 };

bool jinja_string_case(struct jinja_run *run, const struct jinja_string *string,
                       enum jinja_case to, struct jinja_value *out);
bool jinja_string_capitalize(struct jinja_run *run, const struct jinja_string *string,
                             struct jinja_value *out);
// chars: which characters go; NULL: white space.
bool jinja_string_strip(struct jinja_run *run, const struct jinja_string *string,
                        const struct jinja_string *chars, enum jinja_side side,
                        struct jinja_value *out);
// At most `count` times; negative: everywhere.
bool jinja_string_replace(struct jinja_run *run, const struct jinja_string *string,
                          const struct jinja_string *old, const struct jinja_string *by,
                          int64_t count, struct jinja_value *out);
// The lines as a LIST, without their ends.
bool jinja_string_lines(struct jinja_run *run, const struct jinja_string *string, bool keep_ends,
                        struct jinja_value *out);
// Padded with blanks (or `fill`) to `width` characters.
bool jinja_string_pad(struct jinja_run *run, const struct jinja_string *string, int64_t width,
                      enum jinja_side side, const struct jinja_string *fill,
                      struct jinja_value *out);
// Every character is of the class, and there is one.
bool jinja_string_all(const struct jinja_string *string, enum jinja_class kind);
// There is a cased character and all of those are of the class (islower, isupper).
bool jinja_string_cased(const struct jinja_string *string, enum jinja_class kind);

#endif
