// SPDX-License-Identifier: Apache-2.0
#include "chat/chat_stream_tools.h"

#include <jansson.h>

#include "base/arena.h"

struct chat_stream_tools {
    json_t *list;
};

locum_status chat_stream_tools_open(struct slice json, struct chat_stream_tools **out,
                                    locum_error *error) {
    json_error_t where;
    *out = NULL;
    if (json.size == 0) return LOCUM_OK;
    json_t *list = json_loadb(json.data, json.size, JSON_ALLOW_NUL, &where);
    if (!list) {
        return status_fail(error, LOCUM_E_ARGUMENT, "tools: %s at byte %d", where.text, where.position);
    }
    if (!json_is_array(list)) {
        json_decref(list);
        return status_fail(error, LOCUM_E_ARGUMENT, "tools: not a list");
    }
    *out = json_array_size(list) > 0 ? heap_resize(NULL, sizeof **out) : NULL;
    if (!*out) {
        bool none = json_array_size(list) == 0;
        json_decref(list);
        return none ? LOCUM_OK : status_fail(error, LOCUM_E_OUT_OF_MEMORY, "tools: no memory");
    }
    (*out)->list = list;
    return LOCUM_OK;
}

void chat_stream_tools_close(struct chat_stream_tools *tools) {
    if (tools) json_decref(tools->list);
    heap_free(tools);
}

// The function of that name, NULL: there is none. Tools without the wrapper "function" are taken as well.
static const json_t *find(const struct chat_stream_tools *tools, struct slice name) {
    size_t count = tools ? json_array_size(tools->list) : 0;
    for (size_t i = 0; i < count; i++) {
        const json_t *tool = json_array_get(tools->list, i), *function = json_object_get(tool, "function");
        const json_t *own = json_object_get(function ? function : tool, "name");
        if (json_is_string(own) &&
            slice_equal(slice_make(json_string_value(own), json_string_length(own)), name)) {
            return function ? function : tool;
        }
    }
    return NULL;
}

bool chat_stream_tools_has(const struct chat_stream_tools *tools, struct slice name) {
    return find(tools, name) != NULL;
}

enum { HAS_STRING = 1, HAS_NULL = 2, HAS_OTHER = 4 };

static unsigned name_bits(const json_t *name) {
    const char *text = json_string_value(name);
    if (!text) return 0;
    return strcmp(text, "string") == 0 ? HAS_STRING : strcmp(text, "null") == 0 ? HAS_NULL : HAS_OTHER;
}

static unsigned value_bits(const json_t *value) {
    return json_is_string(value) ? HAS_STRING : json_is_null(value) ? HAS_NULL : HAS_OTHER;
}

// Which kinds of value a schema allows, as far as it says so on its first level. 0: it does not.
static unsigned schema_bits(const json_t *schema) {
    static const char *const choices[] = {"anyOf", "oneOf"};
    const json_t *type = json_object_get(schema, "type"), *values = json_object_get(schema, "enum");
    const json_t *only = json_object_get(schema, "const");
    unsigned bits = name_bits(type);
    for (size_t i = 0; i < json_array_size(type); i++) bits |= name_bits(json_array_get(type, i));
    if (bits != 0) return bits | (json_is_true(json_object_get(schema, "nullable")) ? HAS_NULL : 0);
    for (size_t i = 0; i < json_array_size(values); i++) bits |= value_bits(json_array_get(values, i));
    if (only) bits |= value_bits(only);
    for (size_t c = 0; c < sizeof choices / sizeof choices[0]; c++) {
        const json_t *schemas = json_object_get(schema, choices[c]);
        for (size_t i = 0; i < json_array_size(schemas); i++) {
            const json_t *inner = json_array_get(schemas, i);
            bits |= name_bits(json_object_get(inner, "type"));
        }
    }
    return bits;
}

enum chat_stream_type chat_stream_tools_type(const struct chat_stream_tools *tools,
                                             struct slice name, struct slice parameter) {
    const json_t *schema = json_object_get(find(tools, name), "parameters");
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)json_object_get(schema, "properties"), key, value) {
        if (!slice_is(parameter, key)) continue;
        switch (schema_bits(value)) {
        case HAS_STRING: return CHAT_STREAM_TYPE_STRING;
        case HAS_STRING | HAS_NULL: return CHAT_STREAM_TYPE_STRING_OR_NULL;
        case HAS_NULL:
        case HAS_OTHER:
        case HAS_OTHER | HAS_NULL: return CHAT_STREAM_TYPE_OTHER;
        default: return CHAT_STREAM_TYPE_UNKNOWN;
        }
    }
    return CHAT_STREAM_TYPE_UNKNOWN;
}
