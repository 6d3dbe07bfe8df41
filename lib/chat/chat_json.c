// SPDX-License-Identifier: Apache-2.0
#include "chat/chat_json.h"

#include "base/limits.h"
#include "jinja/jinja_json.h"

locum_status chat_json_write(struct jinja_value value, struct buffer *out, locum_error *error) {
    const struct jinja_options options = {0};
    struct jinja_run run = {.options = &options, .error = error};
    struct jinja_json_style style = {0};
    struct jinja_value text;
    arena_init(&run.arena, LIMIT_JINJA_MEMORY);
    bool written = jinja_make_string(&run, slice_text(", "), JINJA_DATA, &style.separators[0]) &&
                   jinja_make_string(&run, slice_text(": "), JINJA_DATA, &style.separators[1]) &&
                   jinja_json_write(&run, value, &style, &text);
    if (written && !buffer_append(out, text.string->data, text.string->size)) {
        run.status = status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for JSON text");
    }
    arena_release(&run.arena);
    return run.status;
}

const struct jinja_value *chat_json_item(struct jinja_value dict, const char *key) {
    if (dict.kind != JINJA_DICT) {
        return NULL;
    }
    const struct jinja_value *item = jinja_dict_get_text(dict.dict, slice_text(key));
    return item && item->kind != JINJA_NONE ? item : NULL;
}

struct slice chat_json_text(struct jinja_value dict, const char *key) {
    const struct jinja_value *item = chat_json_item(dict, key);
    return item && item->kind == JINJA_STRING ? jinja_value_text(*item) : slice_make(NULL, 0);
}

bool chat_json_string(struct arena *arena, struct slice text, struct jinja_value *out) {
    return jinja_string_new(arena, text, JINJA_DATA, out);
}

bool chat_json_set_text(struct arena *arena, struct jinja_value dict, const char *key,
                        struct slice text) {
    struct jinja_value value;
    return chat_json_string(arena, text, &value) &&
           jinja_dict_set_text(arena, dict.dict, key, value);
}
