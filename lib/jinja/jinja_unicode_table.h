// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the data behind jinja_unicode.
// Called by: jinja_unicode.
// Threads:   constant data.
// Errors:    none.
// Not here:  searching it.
#ifndef JINJA_UNICODE_TABLE_H
#define JINJA_UNICODE_TABLE_H

#include "jinja/jinja_unicode.h"

// Code points first, first + step, ... last become themselves + delta.
struct jinja_case_range {
    uint32_t first, last;
    int32_t delta;
    uint32_t step;
};
struct jinja_case_special {
    uint32_t code, becomes[3]; // 0 where there are fewer
};
struct jinja_case_table {
    const struct jinja_case_range *ranges;
    const struct jinja_case_special *specials;
    uint32_t range_count, special_count;
};
extern const struct jinja_case_table jinja_case_tables[JINJA_CASES];

struct jinja_class_range {
    uint32_t first, last;
};
struct jinja_class_table {
    const struct jinja_class_range *ranges; // sorted
    uint32_t count;
};
extern const struct jinja_class_table jinja_class_tables[JINJA_CLASSES];

#endif
