// SPDX-License-Identifier: Apache-2.0
#include "jinja/jinja_print.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/utf8.h"
#include "jinja/jinja_call.h"
#include "jinja/jinja_loop.h"
#include "jinja/jinja_number.h"
#include "jinja/jinja_unicode.h"

// --- Strings with quotes -------------------------------------------------------------------------

static const char *short_escape(uint32_t code) {
    return code == '\n' ? "\\n" : code == '\r' ? "\\r" : code == '\t' ? "\\t" : NULL;
}

static void represent_code(uint32_t code, char quote, enum jinja_origin origin,
                           struct jinja_text *out) {
    char escape[16];
    const char *known = short_escape(code);
    if (code == '\\' || code == (unsigned char)quote) {
        snprintf(escape, sizeof escape, "\\%c", (char)code);
    } else if (known) {
        snprintf(escape, sizeof escape, "%s", known);
    } else if (jinja_is(code, JINJA_IS_PRINTABLE)) {
        jinja_text_add_code(out, code, origin);
        return;
    } else if (code < 0x100) {
        snprintf(escape, sizeof escape, "\\x%02" PRIx32, code);
    } else if (code < 0x10000) {
        snprintf(escape, sizeof escape, "\\u%04" PRIx32, code);
    } else {
        snprintf(escape, sizeof escape, "\\U%08" PRIx32, code);
    }
    jinja_text_add(out, slice_text(escape), origin);
}

static bool represent_string(struct jinja_run *run, const struct jinja_string *string,
                             struct jinja_text *out) {
    bool single = string->size > 0 && memchr(string->data, '\'', string->size);
    bool both = single && memchr(string->data, '"', string->size);
    const char *quote = single && !both ? "\"" : "'";
    jinja_text_add_data(out, string->markup ? "Markup(" : "");
    jinja_text_add_data(out, quote);
    for (size_t at = 0; at < string->size;) {
        struct utf8_step step = utf8_next(slice_make(string->data + at, string->size - at));
        represent_code(step.code, *quote, jinja_origin_at(string, at), out);
        at += step.size;
    }
    jinja_text_add_data(out, quote);
    jinja_text_add_data(out, string->markup ? ")" : "");
    return jinja_step(run, string->size / 16);
}

// --- Values that hold others ---------------------------------------------------------------------

static bool represent_list(struct jinja_run *run, struct jinja_value value,
                           struct jinja_text *out) {
    bool tuple = value.kind == JINJA_TUPLE;
    jinja_text_add_data(out, tuple ? "(" : "[");
    for (size_t i = 0; i < value.list->count; i++) {
        jinja_text_add_data(out, i > 0 ? ", " : "");
        if (!jinja_represent(run, value.list->items[i], out)) {
            return false;
        }
    }
    jinja_text_add_data(out, tuple && value.list->count == 1 ? ",)" : tuple ? ")" : "]");
    return true;
}

static bool represent_range(struct jinja_run *run, struct jinja_value value,
                            struct jinja_text *out) {
    char text[96];
    const int64_t *range = value.list->range;
    int size = snprintf(text, sizeof text, "range(%" PRId64 ", %" PRId64, range[0], range[1]);
    if (range[2] != 1) {
        size += snprintf(text + size, sizeof text - (size_t)size, ", %" PRId64, range[2]);
    }
    snprintf(text + size, sizeof text - (size_t)size, ")");
    jinja_text_add_data(out, text);
    return jinja_step(run, 1);
}

static bool represent_entries(struct jinja_run *run, const struct jinja_dict *dict,
                              struct jinja_text *out) {
    jinja_text_add_data(out, "{");
    for (size_t i = 0; i < dict->count; i++) {
        jinja_text_add_data(out, i > 0 ? ", " : "");
        if (!jinja_represent(run, dict->entries[i].key, out)) {
            return false;
        }
        jinja_text_add_data(out, ": ");
        if (!jinja_represent(run, dict->entries[i].value, out)) {
            return false;
        }
    }
    jinja_text_add_data(out, "}");
    return true;
}

static bool represent_dict(struct jinja_run *run, struct jinja_value value,
                           struct jinja_text *out) {
    bool namespace = value.kind == JINJA_NAMESPACE;
    jinja_text_add_data(out, namespace ? "<Namespace " : "");
    if (!represent_entries(run, value.dict, out)) {
        return false;
    }
    jinja_text_add_data(out, namespace ? ">" : "");
    return true;
}

static bool represent_view(struct jinja_run *run, struct jinja_value value,
                           struct jinja_text *out) {
    static const char *const names[] = {
        [JINJA_KEYS] = "dict_keys([", [JINJA_VALUES] = "dict_values([", [JINJA_ITEMS] = "dict_items(["};
    jinja_text_add_data(out, names[value.part]);
    for (size_t i = 0; i < value.dict->count; i++) {
        const struct jinja_entry *entry = &value.dict->entries[i];
        struct jinja_value item = value.part == JINJA_KEYS ? entry->key : entry->value;
        jinja_text_add_data(out, i > 0 ? ", " : "");
        if (value.part == JINJA_ITEMS && !jinja_make_pair(run, entry->key, entry->value, &item)) {
            return false;
        }
        if (!jinja_represent(run, item, out)) {
            return false;
        }
    }
    jinja_text_add_data(out, "])");
    return true;
}

// --- All kinds -----------------------------------------------------------------------------------

static bool represent_plain(struct jinja_run *run, struct jinja_value value,
                            struct jinja_text *out) {
    char text[JINJA_NUMBER_MAX];
    switch (value.kind) {
    case JINJA_UNDEFINED:
        jinja_text_add_data(out, "Undefined");
        return true;
    case JINJA_NONE:
        jinja_text_add_data(out, "None");
        return true;
    case JINJA_BOOL:
        jinja_text_add_data(out, value.boolean ? "True" : "False");
        return true;
    case JINJA_INT:
        snprintf(text, sizeof text, "%" PRId64, value.integer);
        jinja_text_add_data(out, text);
        return true;
    case JINJA_BIG:
        jinja_text_add_string(out, value.string);
        return true;
    case JINJA_FLOAT:
        jinja_float_write(value.real, text);
        jinja_text_add_data(out, text);
        return true;
    case JINJA_FUNCTION:
        if (!value.function->builtin && value.function->macro->name) {
            jinja_text_add_data(out, "<Macro '");
            jinja_text_add_data(out, value.function->macro->name);
            jinja_text_add_data(out, "'>");
            return true;
        }
        break;
    default:
        break;
    }
    return jinja_fail(run, "a %s cannot be printed", jinja_value_type(value));
}

static bool represent_loop(struct jinja_run *run, struct jinja_value value,
                           struct jinja_text *out) {
    char text[64];
    int64_t length;
    if (!jinja_loop_length(run, value.loop, &length)) {
        return false;
    }
    snprintf(text, sizeof text, "<LoopContext %" PRId64 "/%" PRId64 ">", value.loop->index + 1,
             length);
    jinja_text_add_data(out, text);
    return true;
}

typedef bool (*represent_fn)(struct jinja_run *run, struct jinja_value value,
                             struct jinja_text *out);

static const represent_fn representers[JINJA_KINDS] = {
    [JINJA_LIST] = represent_list,       [JINJA_TUPLE] = represent_list,
    [JINJA_RANGE] = represent_range,     [JINJA_DICT] = represent_dict,
    [JINJA_NAMESPACE] = represent_dict,  [JINJA_VIEW] = represent_view,
    [JINJA_LOOP] = represent_loop,
};

bool jinja_represent(struct jinja_run *run, struct jinja_value value, struct jinja_text *out) {
    if (value.kind == JINJA_STRING) {
        return represent_string(run, value.string, out);
    }
    if (!representers[value.kind]) {
        return represent_plain(run, value, out);
    }
    if (!jinja_enter(run)) {
        return false;
    }
    bool done = representers[value.kind](run, value, out);
    run->depth--;
    return done;
}

bool jinja_print(struct jinja_run *run, struct jinja_value value, struct jinja_text *out) {
    if (value.kind == JINJA_STRING) {
        jinja_text_add_string(out, value.string);
        return jinja_step(run, value.string->size / 64);
    }
    return value.kind == JINJA_UNDEFINED || jinja_represent(run, value, out);
}

bool jinja_to_string(struct jinja_run *run, struct jinja_value value, struct jinja_value *out) {
    if (value.kind == JINJA_STRING) {
        *out = value;
        return true;
    }
    struct jinja_text text = {0};
    if (!jinja_print(run, value, &text)) {
        jinja_text_release(&text);
        return false;
    }
    return jinja_finish(run, &text, out);
}
