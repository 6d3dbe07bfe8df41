// SPDX-License-Identifier: Apache-2.0
#include "jinja/jinja_value.h"

#include <math.h>

#include "base/limits.h"
#include "base/utf8.h"

enum { DICT_SMALL = 8 }; // entries that are searched without an index

bool jinja_count_characters(struct slice text, size_t *count) {
    *count = 0;
    for (size_t at = 0; at < text.size; ++*count) {
        if ((unsigned char)text.data[at] < 0x80) {
            at++;
            continue;
        }
        struct utf8_step step = utf8_next(slice_from(text, at));
        if (step.kind != UTF8_CHARACTER) {
            return false;
        }
        at += step.size;
    }
    return true;
}

bool jinja_string_wrap(struct arena *arena, struct slice text, const char *marks,
                       enum jinja_origin origin, struct jinja_value *out) {
    struct jinja_string *string = arena_alloc(arena, sizeof *string);
    if (!string) {
        return false;
    }
    *string = (struct jinja_string){
        .data = text.data, .marks = marks, .size = text.size, .origin = origin};
    *out = (struct jinja_value){.kind = JINJA_STRING, .string = string};
    return jinja_count_characters(text, &string->count);
}

bool jinja_string_new(struct arena *arena, struct slice text, enum jinja_origin origin,
                      struct jinja_value *out) {
    const char *copy = arena_copy_text(arena, text.data, text.size);
    return copy && jinja_string_wrap(arena, slice_make(copy, text.size), NULL, origin, out);
}

bool jinja_big_new(struct arena *arena, struct slice digits, struct jinja_value *out) {
    bool done = jinja_string_new(arena, digits, JINJA_DATA, out);
    out->kind = JINJA_BIG;
    return done;
}

// --- Lists ---------------------------------------------------------------------------------------

bool jinja_list_new(struct arena *arena, enum jinja_kind kind, struct jinja_value *out) {
    *out = (struct jinja_value){.kind = (uint8_t)kind,
                                .list = arena_alloc(arena, sizeof(struct jinja_list))};
    return out->list;
}

bool jinja_list_add(struct arena *arena, struct jinja_list *list, struct jinja_value item) {
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 4;
        struct jinja_value *items = arena_array(arena, capacity, sizeof *items);
        if (!items) {
            return false;
        }
        if (list->count > 0) {
            memcpy(items, list->items, list->count * sizeof *items);
        }
        list->items = items;
        list->capacity = capacity;
    }
    list->items[list->count++] = item;
    return true;
}

// --- Dicts ---------------------------------------------------------------------------------------

static uint64_t mix(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 29;
}

// Equal values have equal hashes: 1, 1.0 and True are one key.
static uint64_t hash_of(struct jinja_value key, uint64_t hash) {
    double number;
    if (jinja_value_number(key, &number)) {
        uint64_t bits;
        number += 0.0; // -0.0 becomes 0.0
        memcpy(&bits, &number, sizeof bits);
        return mix(hash, bits);
    }
    if (key.kind == JINJA_STRING || key.kind == JINJA_BIG) {
        for (size_t i = 0; i < key.string->size; i++) {
            hash = mix(hash, (unsigned char)key.string->data[i]);
        }
    } else if (key.kind == JINJA_TUPLE) {
        for (size_t i = 0; i < key.list->count; i++) {
            hash = hash_of(key.list->items[i], mix(hash, i));
        }
    }
    return mix(hash, key.kind);
}

// The address is a seed that whoever writes the keys does not know. No order depends on it.
static uint64_t dict_hash(const struct jinja_dict *dict, struct jinja_value key) {
    return hash_of(key, (uint64_t)(uintptr_t)dict);
}

static void index_add(struct jinja_dict *dict, size_t entry) {
    size_t mask = dict->index_size - 1;
    size_t slot = dict_hash(dict, dict->entries[entry].key) & mask;
    while (dict->index[slot] != 0) {
        slot = (slot + 1) & mask;
    }
    dict->index[slot] = (uint32_t)(entry + 1);
}

static void index_fill(struct jinja_dict *dict) {
    memset(dict->index, 0, dict->index_size * sizeof *dict->index);
    for (size_t i = 0; i < dict->count; i++) {
        index_add(dict, i);
    }
}

static bool dict_grow(struct arena *arena, struct jinja_dict *dict) {
    size_t capacity = dict->capacity ? 2 * dict->capacity : 4;
    struct jinja_entry *entries = arena_array(arena, capacity, sizeof *entries);
    if (!entries || capacity > UINT32_MAX / 2) {
        return false;
    }
    if (dict->count > 0) {
        memcpy(entries, dict->entries, dict->count * sizeof *entries);
    }
    dict->entries = entries;
    dict->capacity = capacity;
    if (capacity > DICT_SMALL) {
        dict->index_size = 2 * capacity;
        dict->index = arena_array(arena, dict->index_size, sizeof *dict->index);
        if (!dict->index) {
            return false;
        }
        index_fill(dict);
    }
    return true;
}

static size_t dict_find(const struct jinja_dict *dict, struct jinja_value key) {
    if (!dict->index) {
        for (size_t i = 0; i < dict->count; i++) {
            if (jinja_value_equal(dict->entries[i].key, key)) {
                return i;
            }
        }
        return SIZE_MAX;
    }
    size_t mask = dict->index_size - 1;
    for (size_t slot = dict_hash(dict, key) & mask; dict->index[slot]; slot = (slot + 1) & mask) {
        size_t entry = dict->index[slot] - 1;
        if (jinja_value_equal(dict->entries[entry].key, key)) {
            return entry;
        }
    }
    return SIZE_MAX;
}

bool jinja_dict_new(struct arena *arena, enum jinja_kind kind, struct jinja_value *out) {
    *out = (struct jinja_value){.kind = (uint8_t)kind,
                                .dict = arena_alloc(arena, sizeof(struct jinja_dict))};
    return out->dict;
}

bool jinja_dict_set(struct arena *arena, struct jinja_dict *dict, struct jinja_value key,
                    struct jinja_value value) {
    size_t found = dict_find(dict, key);
    if (found != SIZE_MAX) {
        dict->entries[found].value = value;
        return true;
    }
    if (dict->count == dict->capacity && !dict_grow(arena, dict)) {
        return false;
    }
    dict->entries[dict->count++] = (struct jinja_entry){key, value};
    if (dict->index) {
        index_add(dict, dict->count - 1);
    }
    return true;
}

bool jinja_dict_set_text(struct arena *arena, struct jinja_dict *dict, const char *key,
                         struct jinja_value value) {
    struct jinja_value name;
    return jinja_string_new(arena, slice_text(key), JINJA_DATA, &name) &&
           jinja_dict_set(arena, dict, name, value);
}

const struct jinja_value *jinja_dict_get(const struct jinja_dict *dict, struct jinja_value key) {
    size_t found = dict_find(dict, key);
    return found == SIZE_MAX ? NULL : &dict->entries[found].value;
}

const struct jinja_value *jinja_dict_get_text(const struct jinja_dict *dict, struct slice key) {
    struct jinja_string string = {.data = key.data, .size = key.size};
    return jinja_dict_get(dict, (struct jinja_value){.kind = JINJA_STRING, .string = &string});
}

bool jinja_dict_remove(struct jinja_dict *dict, struct jinja_value key) {
    size_t found = dict_find(dict, key);
    if (found == SIZE_MAX) {
        return false;
    }
    dict->count--;
    memmove(dict->entries + found, dict->entries + found + 1,
            (dict->count - found) * sizeof *dict->entries);
    if (dict->index) {
        index_fill(dict);
    }
    return true;
}

// --- What values are -----------------------------------------------------------------------------

bool jinja_value_true(struct jinja_value value) {
    size_t length;
    switch (value.kind) {
    case JINJA_UNDEFINED:
    case JINJA_NONE:
        return false;
    case JINJA_BOOL:
        return value.boolean;
    case JINJA_INT:
        return value.integer != 0;
    case JINJA_FLOAT:
        return value.real != 0;
    default:
        return !jinja_value_length(value, &length) || length > 0;
    }
}

bool jinja_value_length(struct jinja_value value, size_t *length) {
    switch (value.kind) {
    case JINJA_UNDEFINED:
        *length = 0;
        return true;
    case JINJA_STRING:
        *length = value.string->count;
        return true;
    case JINJA_LIST:
    case JINJA_TUPLE:
    case JINJA_RANGE:
        *length = value.list->count;
        return true;
    case JINJA_DICT:
    case JINJA_VIEW:
        *length = value.dict->count;
        return true;
    default:
        return false;
    }
}

bool jinja_value_integer(struct jinja_value value, int64_t *integer) {
    *integer = value.kind == JINJA_BOOL ? value.boolean : value.integer;
    return value.kind == JINJA_BOOL || value.kind == JINJA_INT;
}

bool jinja_value_number(struct jinja_value value, double *number) {
    int64_t integer;
    if (value.kind == JINJA_FLOAT) {
        *number = value.real;
        return true;
    }
    if (!jinja_value_integer(value, &integer)) {
        return false;
    }
    *number = (double)integer;
    return true;
}

bool jinja_value_hashable(struct jinja_value value) {
    if (value.kind == JINJA_TUPLE) {
        for (size_t i = 0; i < value.list->count; i++) {
            if (!jinja_value_hashable(value.list->items[i])) {
                return false;
            }
        }
    }
    return value.kind != JINJA_LIST && value.kind != JINJA_DICT && value.kind != JINJA_VIEW;
}

static const char *const type_names[JINJA_KINDS] = {
    [JINJA_ABSENT] = "nothing",
    [JINJA_UNDEFINED] = "Undefined",
    [JINJA_NONE] = "NoneType",
    [JINJA_BOOL] = "bool",
    [JINJA_INT] = "int",
    [JINJA_BIG] = "int",
    [JINJA_FLOAT] = "float",
    [JINJA_STRING] = "str",
    [JINJA_LIST] = "list",
    [JINJA_TUPLE] = "tuple",
    [JINJA_RANGE] = "range",
    [JINJA_DICT] = "dict",
    [JINJA_VIEW] = "view of a dict",
    [JINJA_NAMESPACE] = "Namespace",
    [JINJA_ITERATOR] = "generator",
    [JINJA_LOOP] = "LoopContext",
    [JINJA_FUNCTION] = "function",
};

const char *jinja_value_type(struct jinja_value value) {
    return type_names[value.kind];
}

// --- Comparing -----------------------------------------------------------------------------------

static bool equal_at(struct jinja_value a, struct jinja_value b, unsigned depth);

static bool lists_equal(const struct jinja_list *a, const struct jinja_list *b, unsigned depth) {
    if (a->count != b->count) {
        return false;
    }
    for (size_t i = 0; i < a->count; i++) {
        if (!equal_at(a->items[i], b->items[i], depth)) {
            return false;
        }
    }
    return true;
}

static bool dicts_equal(const struct jinja_dict *a, const struct jinja_dict *b, unsigned depth) {
    if (a->count != b->count) {
        return false;
    }
    for (size_t i = 0; i < a->count; i++) {
        const struct jinja_value *other = jinja_dict_get(b, a->entries[i].key);
        if (!other || !equal_at(a->entries[i].value, *other, depth)) {
            return false;
        }
    }
    return true;
}

static bool equal_at(struct jinja_value a, struct jinja_value b, unsigned depth) {
    int64_t i, j;
    double x, y;
    if (jinja_value_integer(a, &i) && jinja_value_integer(b, &j)) {
        return i == j;
    }
    if (jinja_value_number(a, &x) && jinja_value_number(b, &y)) {
        int order;
        return jinja_value_order(a, b, &order) && order == 0 && x == y;
    }
    if (a.kind != b.kind || depth == 0) {
        return false;
    }
    switch (a.kind) {
    case JINJA_UNDEFINED:
    case JINJA_NONE:
        return true;
    case JINJA_STRING:
    case JINJA_BIG:
        return slice_equal(jinja_value_text(a), jinja_value_text(b));
    case JINJA_LIST:
    case JINJA_TUPLE:
    case JINJA_RANGE:
        return a.list == b.list || lists_equal(a.list, b.list, depth - 1);
    case JINJA_DICT:
        return a.dict == b.dict || dicts_equal(a.dict, b.dict, depth - 1);
    default:
        return a.dict == b.dict && a.part == b.part; // the same thing
    }
}

bool jinja_value_equal(struct jinja_value a, struct jinja_value b) {
    return equal_at(a, b, LIMIT_JINJA_NESTING);
}

static int order_text(struct slice a, struct slice b) {
    size_t common = a.size < b.size ? a.size : b.size;
    int order = common > 0 ? memcmp(a.data, b.data, common) : 0; // UTF-8 sorts as code points do
    return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

// An integer and a float, exactly: 2**53 + 1 is not 2.0**53.
static int order_mixed(int64_t integer, double real) {
    if (real >= 0x1p63) {
        return -1;
    }
    if (real < -0x1p63) {
        return 1;
    }
    int64_t whole = (int64_t)real;
    if (integer != whole) {
        return integer < whole ? -1 : 1;
    }
    double rest = real - (double)whole;
    return (rest < 0) - (rest > 0);
}

static bool order_numbers(struct jinja_value a, struct jinja_value b, int *order) {
    int64_t i, j;
    double x, y;
    bool whole_a = jinja_value_integer(a, &i), whole_b = jinja_value_integer(b, &j);
    if (!jinja_value_number(a, &x) || !jinja_value_number(b, &y)) {
        return false;
    }
    if (whole_a && whole_b) {
        *order = (i > j) - (i < j);
    } else if (isnan(x) || isnan(y)) {
        return false;
    } else if (whole_a) {
        *order = order_mixed(i, y);
    } else if (whole_b) {
        *order = -order_mixed(j, x);
    } else {
        *order = (x > y) - (x < y);
    }
    return true;
}

static bool order_at(struct jinja_value a, struct jinja_value b, unsigned depth, int *order) {
    if (order_numbers(a, b, order)) {
        return true;
    }
    if (a.kind != b.kind || depth == 0) {
        return false;
    }
    if (a.kind == JINJA_STRING) {
        *order = order_text(jinja_value_text(a), jinja_value_text(b));
        return true;
    }
    if (a.kind != JINJA_LIST && a.kind != JINJA_TUPLE) {
        return false;
    }
    for (size_t i = 0; i < a.list->count && i < b.list->count; i++) {
        if (!equal_at(a.list->items[i], b.list->items[i], depth - 1)) {
            return order_at(a.list->items[i], b.list->items[i], depth - 1, order);
        }
    }
    *order = (a.list->count > b.list->count) - (a.list->count < b.list->count);
    return true;
}

bool jinja_value_order(struct jinja_value a, struct jinja_value b, int *order) {
    return order_at(a, b, LIMIT_JINJA_NESTING, order);
}
