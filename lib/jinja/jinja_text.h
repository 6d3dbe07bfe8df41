// SPDX-License-Identifier: Apache-2.0
//
// Owns:      a text that grows, with the mark of each byte.
// Called by: everything in jinja that makes strings.
// Threads:   one thread at a time.
// Errors:    sticky, as in base/buffer.h: looked at once, when the text becomes a value.
// Not here:  values (jinja_value.h).
#ifndef JINJA_TEXT_H
#define JINJA_TEXT_H

#include "base/buffer.h"
#include "jinja/jinja_value.h"

// All zero is empty.
struct jinja_text {
    struct buffer bytes, marks; // the same number of bytes
};

void jinja_text_release(struct jinja_text *text);
void jinja_text_add(struct jinja_text *text, struct slice bytes, enum jinja_origin origin);
// Bytes with their own marks, or all of one origin if marks is NULL.
void jinja_text_add_marked(struct jinja_text *text, struct slice bytes, const char *marks,
                           enum jinja_origin origin);
void jinja_text_add_string(struct jinja_text *text, const struct jinja_string *string);
// A part of a string: bytes [begin, end).
void jinja_text_add_part(struct jinja_text *text, const struct jinja_string *string, size_t begin,
                         size_t end);
// What nobody spelled.
void jinja_text_add_data(struct jinja_text *text, const char *bytes);
// One code point.
void jinja_text_add_code(struct jinja_text *text, uint32_t code, enum jinja_origin origin);
// A string of what was added; the text is empty afterwards, also when it fails.
bool jinja_text_finish(struct jinja_text *text, struct arena *arena, struct jinja_value *out);

// Bytes of one code point.
size_t jinja_code_write(uint32_t code, char out[4]);

static inline enum jinja_origin jinja_origin_at(const struct jinja_string *string, size_t byte) {
    return string->marks ? (enum jinja_origin)string->marks[byte] : string->origin;
}

#endif
