// SPDX-License-Identifier: Apache-2.0
#include "chat/chat_stream_tools.h"

#include "chat/chat_json.h"

// The function of that name; NULL: there is none.
static const struct jinja_value *find(const struct jinja_value *tools, struct slice name) {
    for (size_t i = 0; jinja_value_is_list(*tools) && i < tools->list->count; i++) {
        const struct jinja_value *tool = &tools->list->items[i];
        const struct jinja_value *function = chat_json_item(*tool, "function");
        if (!function) function = tool;
        struct slice own = chat_json_text(*function, "name");
        if (own.data && slice_equal(own, name)) return function;
    }
    return NULL;
}

bool chat_stream_tools_has(struct jinja_value tools, struct slice name) {
    return find(&tools, name) != NULL;
}

enum { HAS_STRING = 1, HAS_NULL = 2, HAS_OTHER = 4 };

static unsigned name_bits(const struct jinja_value *name) {
    if (!name || name->kind != JINJA_STRING) return 0;
    struct slice text = slice_make(name->string->data, name->string->size);
    return slice_is(text, "string") ? HAS_STRING : slice_is(text, "null") ? HAS_NULL : HAS_OTHER;
}

static unsigned value_bits(struct jinja_value value) {
    return value.kind == JINJA_STRING ? HAS_STRING : value.kind == JINJA_NONE ? HAS_NULL : HAS_OTHER;
}

static const struct jinja_list *list_of(struct jinja_value dict, const char *key) {
    static const struct jinja_list none;
    const struct jinja_value *item = chat_json_item(dict, key);
    return item && jinja_value_is_list(*item) ? item->list : &none;
}

// Which kinds of value a schema allows, as far as it says so on its first level. 0: it does not.
static unsigned schema_bits(struct jinja_value schema) {
    static const char *const choices[] = {"anyOf", "oneOf"};
    const struct jinja_value *nullable = chat_json_item(schema, "nullable"), *only = chat_json_item(schema, "const");
    const struct jinja_list *types = list_of(schema, "type"), *values = list_of(schema, "enum");
    unsigned bits = name_bits(chat_json_item(schema, "type"));
    for (size_t i = 0; i < types->count; i++) bits |= name_bits(&types->items[i]);
    if (bits != 0) return bits | (nullable && nullable->kind == JINJA_BOOL && nullable->boolean ? HAS_NULL : 0);
    for (size_t i = 0; i < values->count; i++) bits |= value_bits(values->items[i]);
    if (only) bits |= value_bits(*only);
    for (size_t c = 0; c < sizeof choices / sizeof choices[0]; c++) {
        const struct jinja_list *schemas = list_of(schema, choices[c]);
        for (size_t i = 0; i < schemas->count; i++) bits |= name_bits(chat_json_item(schemas->items[i], "type"));
    }
    return bits;
}

enum chat_stream_type chat_stream_tools_type(struct jinja_value tools, struct slice name,
                                             struct slice parameter) {
    const struct jinja_value *function = find(&tools, name);
    const struct jinja_value *schema = function ? chat_json_item(*function, "parameters") : NULL;
    const struct jinja_value *properties = schema ? chat_json_item(*schema, "properties") : NULL;
    if (!properties || properties->kind != JINJA_DICT) return CHAT_STREAM_TYPE_UNKNOWN;
    const struct jinja_value *property = jinja_dict_get_text(properties->dict, parameter);
    switch (property ? schema_bits(*property) : 0) {
    case HAS_STRING: return CHAT_STREAM_TYPE_STRING;
    case HAS_STRING | HAS_NULL: return CHAT_STREAM_TYPE_STRING_OR_NULL;
    case HAS_NULL:
    case HAS_OTHER:
    case HAS_OTHER | HAS_NULL: return CHAT_STREAM_TYPE_OTHER;
    default: return CHAT_STREAM_TYPE_UNKNOWN;
    }
}
