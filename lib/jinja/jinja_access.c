// SPDX-License-Identifier: Apache-2.0
#include "jinja/jinja_access.h"

#include "base/utf8.h"
#include "jinja/jinja_loop.h"
#include "jinja/jinja_method.h"
#include "jinja/jinja_number.h"
#include "jinja/jinja_print.h"

size_t jinja_byte_of(const struct jinja_string *string, size_t index) {
    if (string->count == string->size) {
        return index < string->size ? index : string->size;
    }
    size_t at = 0;
    for (; index > 0 && at < string->size; index--) {
        at += utf8_next(slice_make(string->data + at, string->size - at)).size;
    }
    return at;
}

// What is not there. The name is kept for the message.
static bool missing(struct jinja_run *run, struct jinja_value name, struct jinja_value *out) {
    const char *text = "this index";
    if (name.kind == JINJA_STRING) {
        text = arena_copy_text(&run->arena, name.string->data, name.string->size);
    }
    *out = jinja_undefined(JINJA_MISSING_ATTRIBUTE, text);
    return text || jinja_fail_memory(run);
}

// A method or a property. *found is false if there is none of that name.
static bool member(struct jinja_run *run, struct jinja_value object, struct jinja_value name,
                   struct jinja_value *out, bool *found) {
    struct slice text = jinja_value_text(name);
    *found = true;
    if (object.kind == JINJA_LOOP) {
        return jinja_loop_member(run, object, text, out, found);
    }
    if (object.kind == JINJA_NAMESPACE) {
        const struct jinja_value *value = jinja_dict_get(object.dict, name);
        *found = value;
        *out = value ? *value : jinja_none();
        return true;
    }
    const struct jinja_method *method = jinja_method_find(object, text);
    if (!method) {
        *found = false;
        return true;
    }
    if (method->changes && !run->options->extended) {
        *out = jinja_undefined(JINJA_MISSING_OTHER,
                               arena_format(&run->arena,
                                            "'%s' would change a %s, which templates may not",
                                            method->builtin.name, jinja_value_type(object)));
        return out->name || jinja_fail_memory(run);
    }
    if (!method->builtin.call) {
        return jinja_fail(run, "'%s' of a %s is not supported", method->builtin.name,
                          jinja_value_type(object));
    }
    return jinja_make_method(run, &method->builtin, object, out);
}

static bool list_item(struct jinja_value list, int64_t index, struct jinja_value *out) {
    int64_t count = (int64_t)list.list->count;
    index += index < 0 ? count : 0;
    if (index < 0 || index >= count) {
        return false;
    }
    *out = list.list->items[index];
    return true;
}

// An item by its key. *found is false if there is none, or if there can be none.
static bool item(struct jinja_run *run, struct jinja_value object, struct jinja_value key,
                 struct jinja_value *out, bool *found) {
    int64_t index;
    *found = false;
    if (object.kind == JINJA_DICT) {
        const struct jinja_value *value =
            jinja_value_hashable(key) ? jinja_dict_get(object.dict, key) : NULL;
        *found = value;
        *out = value ? *value : jinja_none();
    } else if (jinja_value_integer(key, &index)) {
        if (jinja_value_is_list(object)) {
            *found = list_item(object, index, out);
        } else if (object.kind == JINJA_STRING) {
            int64_t count = (int64_t)object.string->count;
            index += index < 0 ? count : 0;
            *found = index >= 0 && index < count;
            if (*found) {
                size_t begin = jinja_byte_of(object.string, (size_t)index);
                struct slice rest = slice_from(jinja_value_text(object), begin);
                return jinja_make_part(run, object.string, begin, begin + utf8_next(rest).size,
                                       out);
            }
        }
    }
    return true;
}

bool jinja_get_attribute(struct jinja_run *run, struct jinja_value object, struct jinja_value name,
                         struct jinja_value *out) {
    bool found;
    if (object.kind == JINJA_UNDEFINED) {
        return jinja_fail_undefined(run, object);
    }
    if (!member(run, object, name, out, &found)) {
        return false;
    }
    if (!found && !item(run, object, name, out, &found)) {
        return false;
    }
    return found || missing(run, name, out);
}

bool jinja_get_item(struct jinja_run *run, struct jinja_value object, struct jinja_value key,
                    struct jinja_value *out) {
    bool found;
    if (object.kind == JINJA_UNDEFINED) {
        return jinja_fail_undefined(run, object);
    }
    if (!item(run, object, key, out, &found)) {
        return false;
    }
    if (!found && key.kind == JINJA_STRING && !member(run, object, key, out, &found)) {
        return false;
    }
    return found || missing(run, key, out);
}

// --- Slices --------------------------------------------------------------------------------------

// Python's slice.indices for a sequence of `count`.
static bool slice_bounds(struct jinja_run *run, const struct jinja_value bounds[3], int64_t count,
                         int64_t out[3]) {
    for (int i = 0; i < 3; i++) {
        if (bounds[i].kind != JINJA_NONE && !jinja_value_integer(bounds[i], &out[i])) {
            return jinja_fail(run, "the bounds of a slice are integers, not %s",
                              jinja_value_type(bounds[i]));
        }
    }
    int64_t step = bounds[2].kind == JINJA_NONE ? 1 : out[2];
    if (step == 0) {
        return jinja_fail(run, "the step of a slice is zero");
    }
    out[2] = step < -INT64_MAX ? -INT64_MAX : step;
    int64_t lowest = step < 0 ? -1 : 0, highest = step < 0 ? count - 1 : count;
    for (int i = 0; i < 2; i++) {
        if (bounds[i].kind == JINJA_NONE) {
            out[i] = (i == 0) == (step > 0) ? lowest : highest;
            continue;
        }
        int64_t bound = out[i] < 0 && out[i] >= -count ? out[i] + count : out[i];
        out[i] = bound < lowest ? lowest : bound > highest ? highest : bound;
    }
    return true;
}

static bool slice_string(struct jinja_run *run, const struct jinja_string *string,
                         const int64_t bounds[3], struct jinja_value *out) {
    if (bounds[2] == 1) {
        int64_t end = bounds[1] > bounds[0] ? bounds[1] : bounds[0];
        size_t begin = jinja_byte_of(string, (size_t)bounds[0]);
        return jinja_make_part(run, string, begin, jinja_byte_of(string, (size_t)end), out);
    }
    // Bytes of every character: characters are met in any order.
    uint32_t *starts = arena_array(&run->arena, string->count + 1, sizeof *starts);
    if (!starts || string->size > UINT32_MAX) {
        return jinja_fail_memory(run);
    }
    for (size_t i = 0, at = 0; i < string->count; i++) {
        at += utf8_next(slice_make(string->data + at, string->size - at)).size;
        starts[i + 1] = (uint32_t)at;
    }
    struct jinja_text text = {0};
    for (int64_t i = bounds[0]; bounds[2] > 0 ? i < bounds[1] : i > bounds[1];) {
        jinja_text_add_part(&text, string, starts[i], starts[i + 1]);
        if (__builtin_add_overflow(i, bounds[2], &i)) {
            break;
        }
    }
    return jinja_finish(run, &text, out) && jinja_step(run, string->count);
}

static bool slice_list(struct jinja_run *run, struct jinja_value list, const int64_t bounds[3],
                       struct jinja_value *out) {
    struct jinja_value part;
    enum jinja_kind kind = list.kind == JINJA_TUPLE ? JINJA_TUPLE : JINJA_LIST;
    if (!jinja_make_list(run, kind, &part)) {
        return false;
    }
    for (int64_t i = bounds[0]; bounds[2] > 0 ? i < bounds[1] : i > bounds[1];) {
        if (!jinja_add(run, part, list.list->items[i])) {
            return false;
        }
        if (__builtin_add_overflow(i, bounds[2], &i)) {
            break;
        }
    }
    *out = part;
    return true;
}

bool jinja_get_slice(struct jinja_run *run, struct jinja_value object,
                     const struct jinja_value bounds[3], struct jinja_value *out) {
    int64_t range[3] = {0, 0, 0};
    size_t count;
    bool list = object.kind == JINJA_LIST || object.kind == JINJA_TUPLE;
    if (object.kind == JINJA_UNDEFINED) {
        return jinja_fail_undefined(run, object);
    }
    if (!list && object.kind != JINJA_STRING) {
        return jinja_fail(run, "a %s cannot be sliced", jinja_value_type(object));
    }
    return jinja_value_length(object, &count) &&
           slice_bounds(run, bounds, (int64_t)count, range) &&
           (list ? slice_list(run, object, range, out)
                 : slice_string(run, object.string, range, out));
}

// --- Paths ---------------------------------------------------------------------------------------

static bool path_part(struct jinja_run *run, struct jinja_value *object, struct jinja_value part,
                      struct jinja_value otherwise) {
    struct slice text = part.kind == JINJA_STRING ? jinja_value_text(part) : slice_make(NULL, 0);
    int64_t index;
    bool digits = text.size > 0;
    for (size_t i = 0; i < text.size; i++) {
        digits = digits && text.data[i] >= '0' && text.data[i] <= '9';
    }
    if (digits && jinja_int_read(text, 10, &index)) {
        part = jinja_int(index);
    }
    if (!jinja_get_item(run, *object, part, object)) {
        return false;
    }
    bool replaced = object->kind == JINJA_UNDEFINED && otherwise.kind != JINJA_ABSENT &&
                    otherwise.kind != JINJA_NONE;
    *object = replaced ? otherwise : *object;
    return true;
}

bool jinja_get_path(struct jinja_run *run, struct jinja_value object, struct jinja_value path,
                    struct jinja_value otherwise, struct jinja_value *out) {
    *out = object;
    if (path.kind == JINJA_ABSENT || path.kind == JINJA_NONE) {
        return true;
    }
    if (path.kind != JINJA_STRING) {
        return path_part(run, out, path, otherwise);
    }
    size_t begin = 0;
    for (size_t end = 0; end <= path.string->size; end++) {
        if (end < path.string->size && path.string->data[end] != '.') {
            continue;
        }
        struct jinja_value part;
        if (!jinja_make_part(run, path.string, begin, end, &part) ||
            !path_part(run, out, part, otherwise)) {
            return false;
        }
        begin = end + 1;
    }
    return true;
}
