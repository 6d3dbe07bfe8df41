// SPDX-License-Identifier: Apache-2.0
//
// Owns:      a run of bytes that somebody else owns.
// Called by: every folder; parsers take slices.
// Threads:   pure.
// Errors:    none.
// Not here:  growing (buffer.h), UTF-8 (utf8.h).
#ifndef BASE_SLICE_H
#define BASE_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct slice {
    const char *data; // may be NULL when size is 0; not NUL-terminated
    size_t size;
};

static inline struct slice slice_make(const char *data, size_t size) {
    return (struct slice){data, size};
}
static inline struct slice slice_text(const char *text) {
    return (struct slice){text, strlen(text)};
}
static inline bool slice_equal(struct slice a, struct slice b) {
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}
static inline bool slice_is(struct slice a, const char *text) {
    return slice_equal(a, slice_text(text));
}
static inline bool slice_starts(struct slice a, struct slice prefix) {
    return a.size >= prefix.size &&
           (prefix.size == 0 || memcmp(a.data, prefix.data, prefix.size) == 0);
}
static inline struct slice slice_from(struct slice a, size_t start) {
    return start >= a.size ? (struct slice){a.data + a.size, 0}
                           : (struct slice){a.data + start, a.size - start};
}

#endif
