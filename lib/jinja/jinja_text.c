// SPDX-License-Identifier: Apache-2.0
#include "jinja/jinja_text.h"

void jinja_text_release(struct jinja_text *text) {
    buffer_release(&text->bytes);
    buffer_release(&text->marks);
}

void jinja_text_add_marked(struct jinja_text *text, struct slice bytes, const char *marks,
                           enum jinja_origin origin) {
    if (!buffer_append(&text->bytes, bytes.data, bytes.size) ||
        !buffer_reserve(&text->marks, bytes.size) || bytes.size == 0) {
        return;
    }
    if (marks) {
        memcpy(text->marks.data + text->marks.size, marks, bytes.size);
    } else {
        memset(text->marks.data + text->marks.size, origin, bytes.size);
    }
    text->marks.size += bytes.size;
}

void jinja_text_add(struct jinja_text *text, struct slice bytes, enum jinja_origin origin) {
    jinja_text_add_marked(text, bytes, NULL, origin);
}

void jinja_text_add_part(struct jinja_text *text, const struct jinja_string *string, size_t begin,
                         size_t end) {
    jinja_text_add_marked(text, slice_make(string->data + begin, end - begin),
                          string->marks ? string->marks + begin : NULL, string->origin);
}

void jinja_text_add_string(struct jinja_text *text, const struct jinja_string *string) {
    jinja_text_add_part(text, string, 0, string->size);
}

void jinja_text_add_data(struct jinja_text *text, const char *bytes) {
    jinja_text_add(text, slice_text(bytes), JINJA_DATA);
}

size_t jinja_code_write(uint32_t code, char out[4]) {
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t size = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = size; i-- > 1; code >>= 6) {
        out[i] = (char)(0x80 | (code & 0x3F));
    }
    out[0] = (char)((0xF00 >> size & 0xF0) | code);
    return size;
}

void jinja_text_add_code(struct jinja_text *text, uint32_t code, enum jinja_origin origin) {
    char bytes[4];
    size_t size = jinja_code_write(code, bytes);
    jinja_text_add(text, slice_make(bytes, size), origin);
}

bool jinja_text_finish(struct jinja_text *text, struct arena *arena, struct jinja_value *out) {
    bool done = !text->bytes.failed && !text->marks.failed;
    size_t size = text->bytes.size;
    if (done) {
        const char *marks = text->marks.data;
        enum jinja_origin origin = size > 0 ? (enum jinja_origin)marks[0] : JINJA_TEMPLATE;
        bool alike = size == 0 || !memchr(marks, !origin, size);
        const char *data = arena_copy_text(arena, text->bytes.data, size);
        const char *kept = alike ? NULL : arena_copy_text(arena, marks, size);
        done = data && (alike || kept) &&
               jinja_string_wrap(arena, slice_make(data, size), kept, origin, out);
    }
    jinja_text_release(text);
    return done;
}
