// SPDX-License-Identifier: Apache-2.0
//
// Writing; reading is in jinja_json_read.c.
#include "jinja/jinja_json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/utf8.h"
#include "jinja/jinja_number.h"
#include "jinja/jinja_print.h"
#include "jinja/jinja_string.h"

struct writer {
    struct jinja_run *run;
    const struct jinja_json_style *style;
    struct jinja_text text;
    unsigned level;
};

static bool write_value(struct writer *writer, struct jinja_value value);

static void write_escaped(struct writer *writer, uint32_t code, enum jinja_origin origin) {
    static const char plain[] = "\"\\\n\r\t\f\b", letters[] = "\"\\nrtfb";
    const char *known = code != 0 && code < 0x80 ? strchr(plain, (int)code) : NULL;
    char escape[16];
    if (known) {
        snprintf(escape, sizeof escape, "\\%c", letters[known - plain]);
    } else if (code > 0xFFFF) {
        uint32_t rest = code - 0x10000;
        snprintf(escape, sizeof escape, "\\u%04" PRIx32 "\\u%04" PRIx32, 0xD800 + (rest >> 10),
                 0xDC00 + (rest & 0x3FF));
    } else {
        snprintf(escape, sizeof escape, "\\u%04" PRIx32, code);
    }
    jinja_text_add(&writer->text, slice_text(escape), origin);
}

static bool needs_escape(const struct writer *writer, uint32_t code) {
    return code < ' ' || code == '"' || code == '\\' || (writer->style->ascii && code > 0x7E);
}

static bool write_string(struct writer *writer, const struct jinja_string *string) {
    size_t begin = 0;
    jinja_text_add_data(&writer->text, "\"");
    for (size_t at = 0; at < string->size;) {
        struct utf8_step step = utf8_next(slice_make(string->data + at, string->size - at));
        // 7F is ASCII: Python leaves it alone.
        if (needs_escape(writer, step.code) && step.code != 0x7F) {
            jinja_text_add_part(&writer->text, string, begin, at);
            write_escaped(writer, step.code, jinja_origin_at(string, at));
            begin = at + step.size;
        }
        at += step.size;
    }
    jinja_text_add_part(&writer->text, string, begin, string->size);
    jinja_text_add_data(&writer->text, "\"");
    return jinja_step(writer->run, string->size / 32);
}

static void write_float(struct writer *writer, double real) {
    char text[JINJA_NUMBER_MAX];
    if (isnan(real) || isinf(real)) {
        jinja_text_add_data(&writer->text, isnan(real) ? "NaN"
                                           : real > 0  ? "Infinity"
                                                       : "-Infinity");
        return;
    }
    jinja_float_write(real, text);
    jinja_text_add_data(&writer->text, text);
}

static bool write_scalar(struct writer *writer, struct jinja_value value) {
    switch (value.kind) {
    case JINJA_NONE:
        jinja_text_add_data(&writer->text, "null");
        return true;
    case JINJA_BOOL:
        jinja_text_add_data(&writer->text, value.boolean ? "true" : "false");
        return true;
    case JINJA_FLOAT:
        write_float(writer, value.real);
        return true;
    case JINJA_INT:
    case JINJA_BIG:
        return jinja_represent(writer->run, value, &writer->text);
    case JINJA_UNDEFINED:
        return jinja_fail_undefined(writer->run, value);
    default:
        return jinja_fail(writer->run, "a %s cannot be written as JSON", jinja_value_type(value));
    }
}

static void write_line(struct writer *writer) {
    if (writer->style->indented) {
        jinja_text_add_data(&writer->text, "\n");
        for (unsigned i = 0; i < writer->level; i++) {
            jinja_text_add_string(&writer->text, writer->style->indent.string);
        }
    }
}

static void begin_item(struct writer *writer, bool first) {
    if (!first) {
        jinja_text_add_string(&writer->text, writer->style->separators[0].string);
    }
    write_line(writer);
}

static bool write_list(struct writer *writer, const struct jinja_list *list) {
    jinja_text_add_data(&writer->text, "[");
    writer->level++;
    for (size_t i = 0; i < list->count; i++) {
        begin_item(writer, i == 0);
        if (!write_value(writer, list->items[i])) {
            return false;
        }
    }
    writer->level--;
    if (list->count > 0) {
        write_line(writer);
    }
    jinja_text_add_data(&writer->text, "]");
    return true;
}

static bool write_key(struct writer *writer, struct jinja_value key) {
    if (key.kind == JINJA_STRING) {
        return write_string(writer, key.string);
    }
    if (key.kind == JINJA_TUPLE) {
        return jinja_fail(writer->run, "a tuple cannot be a key in JSON");
    }
    jinja_text_add_data(&writer->text, "\"");
    if (!write_scalar(writer, key)) {
        return false;
    }
    jinja_text_add_data(&writer->text, "\"");
    return true;
}

// The entries in the order of their keys.
static bool sorted_entries(struct writer *writer, const struct jinja_dict *dict,
                           const struct jinja_entry **out) {
    struct jinja_entry *entries =
        arena_array(&writer->run->arena, dict->count, sizeof *entries);
    if (!entries) {
        return jinja_fail_memory(writer->run);
    }
    for (size_t i = 0; i < dict->count; i++) {
        size_t at = i;
        for (int order = -1; at > 0; at--) {
            if (!jinja_value_order(dict->entries[i].key, entries[at - 1].key, &order)) {
                return jinja_fail(writer->run, "these keys have no order");
            }
            if (order >= 0) {
                break;
            }
            entries[at] = entries[at - 1];
        }
        entries[at] = dict->entries[i];
        if (!jinja_step(writer->run, i - at + 1)) {
            return false;
        }
    }
    *out = entries;
    return true;
}

static bool write_dict(struct writer *writer, const struct jinja_dict *dict) {
    const struct jinja_entry *entries = dict->entries;
    if (writer->style->sort_keys && !sorted_entries(writer, dict, &entries)) {
        return false;
    }
    jinja_text_add_data(&writer->text, "{");
    writer->level++;
    for (size_t i = 0; i < dict->count; i++) {
        begin_item(writer, i == 0);
        if (!write_key(writer, entries[i].key)) {
            return false;
        }
        jinja_text_add_string(&writer->text, writer->style->separators[1].string);
        if (!write_value(writer, entries[i].value)) {
            return false;
        }
    }
    writer->level--;
    if (dict->count > 0) {
        write_line(writer);
    }
    jinja_text_add_data(&writer->text, "}");
    return true;
}

static bool write_value(struct writer *writer, struct jinja_value value) {
    bool list = value.kind == JINJA_LIST || value.kind == JINJA_TUPLE;
    if (value.kind == JINJA_STRING) {
        return write_string(writer, value.string);
    }
    if (!list && value.kind != JINJA_DICT) {
        return write_scalar(writer, value);
    }
    if (!jinja_enter(writer->run)) {
        return false;
    }
    bool done = list ? write_list(writer, value.list) : write_dict(writer, value.dict);
    writer->run->depth--;
    return done;
}

bool jinja_json_write(struct jinja_run *run, struct jinja_value value,
                      const struct jinja_json_style *style, struct jinja_value *out) {
    struct writer writer = {.run = run, .style = style, .text.bytes.limit = run->arena.limit};
    if (!write_value(&writer, value)) {
        jinja_text_release(&writer.text);
        return false;
    }
    return jinja_finish(run, &writer.text, out);
}

// --- Style ---------------------------------------------------------------------------------------

static bool style_indent(struct jinja_run *run, struct jinja_value indent,
                         struct jinja_json_style *out) {
    static const struct jinja_string empty = {.data = ""};
    int64_t width;
    out->indented = indent.kind != JINJA_ABSENT && indent.kind != JINJA_NONE;
    out->indent = indent;
    if (!out->indented || indent.kind == JINJA_STRING) {
        return true;
    }
    return jinja_value_integer(indent, &width)
               ? jinja_string_pad(run, &empty, width, JINJA_RIGHT, NULL, &out->indent)
               : jinja_fail(run, "the indent of tojson is an int, a str or none");
}

bool jinja_json_style_of(struct jinja_run *run, const struct jinja_arguments *arguments,
                         struct jinja_json_style *out) {
    struct jinja_value separators = arguments->items[2];
    out->ascii = jinja_given(arguments, 0) && jinja_value_true(arguments->items[0]);
    out->sort_keys = jinja_given(arguments, 3) && jinja_value_true(arguments->items[3]);
    if (!style_indent(run, arguments->items[1], out)) {
        return false;
    }
    if (separators.kind == JINJA_ABSENT || separators.kind == JINJA_NONE) {
        return jinja_make_string(run, slice_text(out->indented ? "," : ", "), JINJA_DATA,
                                 &out->separators[0]) &&
               jinja_make_string(run, slice_text(": "), JINJA_DATA, &out->separators[1]);
    }
    bool pair = (separators.kind == JINJA_LIST || separators.kind == JINJA_TUPLE) &&
                separators.list->count == 2 && separators.list->items[0].kind == JINJA_STRING &&
                separators.list->items[1].kind == JINJA_STRING;
    if (!pair) {
        return jinja_fail(run, "the separators of tojson are two strings");
    }
    out->separators[0] = separators.list->items[0];
    out->separators[1] = separators.list->items[1];
    return true;
}
