// SPDX-License-Identifier: Apache-2.0
//
// Owns:      a growable run of bytes.
// Called by: writers of text and files (gguf writer, JSON, templates, detokenizer).
// Threads:   one thread at a time.
// Errors:    sticky: once an append found no memory (or passed the limit), `failed` stays set,
//            further appends do nothing and return false. Check once, at the end.
// Not here:  bytes that somebody else owns (slice.h).
#ifndef BASE_BUFFER_H
#define BASE_BUFFER_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/slice.h"

// All zero is an empty buffer. Callers may read the fields and lower `size`.
struct buffer {
    char *data; // NULL while nothing was appended; not NUL-terminated
    size_t size, capacity;
    size_t limit; // most bytes that it may hold, 0: none
    bool failed;
};

void buffer_release(struct buffer *buffer); // empty again, the limit stays

bool buffer_reserve(struct buffer *buffer, size_t more); // room for `more` bytes after size
bool buffer_append(struct buffer *buffer, const void *data, size_t size);
bool buffer_append_text(struct buffer *buffer, const char *text);
bool buffer_append_byte(struct buffer *buffer, char byte);
bool buffer_format(struct buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// The bytes so far as text: terminated behind the end. NULL when the buffer has failed.
const char *buffer_text(struct buffer *buffer);

static inline struct slice buffer_slice(const struct buffer *buffer) {
    return slice_make(buffer->data, buffer->size);
}

#endif
