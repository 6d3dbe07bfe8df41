// SPDX-License-Identifier: Apache-2.0
#include "jinja/jinja_html.h"

#include "jinja/jinja_print.h"

static const struct {
    char byte;
    const char *entity;
} entities[] = {
    {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'\'', "&#39;"}, {'"', "&#34;"}};

static const char *entity_of(char byte) {
    for (size_t i = 0; i < sizeof entities / sizeof entities[0]; i++) {
        if (entities[i].byte == byte) {
            return entities[i].entity;
        }
    }
    return NULL;
}

bool jinja_mark_safe(struct jinja_run *run, struct jinja_value string, struct jinja_value *out) {
    struct jinja_string *copy = arena_alloc(&run->arena, sizeof *copy);
    if (!copy) {
        return jinja_fail_memory(run);
    }
    *copy = *string.string;
    copy->markup = true;
    *out = (struct jinja_value){.kind = JINJA_STRING, .string = copy};
    return true;
}

bool jinja_escape(struct jinja_run *run, struct jinja_value value, struct jinja_value *out) {
    struct jinja_value string;
    if (!jinja_to_string(run, value, &string)) {
        return false;
    }
    if (string.string->markup) {
        *out = string;
        return true;
    }
    struct jinja_text text = {0};
    for (size_t i = 0; i < string.string->size; i++) {
        const char *entity = entity_of(string.string->data[i]);
        if (entity) {
            jinja_text_add(&text, slice_text(entity), jinja_origin_at(string.string, i));
        } else {
            jinja_text_add_part(&text, string.string, i, i + 1);
        }
    }
    return jinja_finish(run, &text, &string) && jinja_mark_safe(run, string, out);
}
