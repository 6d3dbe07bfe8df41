// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the values that a template works with, and building them in an arena.
// Called by: whoever renders a template (its messages and tools), and all of jinja.
// Threads:   a value belongs to its arena; reading it from several threads is fine while none
//            changes it. Rendering never changes a value that it was given.
// Errors:    false: the arena has no memory, or the text is not UTF-8.
// Not here:  JSON text (jinja_json.h), what a template does with values (jinja_eval.h).
//
// Provenance. Each byte of a string is marked: it was spelled by the template (its text or a literal
// in it), or it came from data. Whatever a string goes through, a character keeps its mark: slices,
// trim, split, join, replace (what is put in has its own marks), upper and so on. What an operation
// adds that nobody spelled is data: digits of a number, quotes and brackets of a printed list or of
// tojson, padding. So a mark says "template" only for what the template's author wrote down.
#ifndef JINJA_VALUE_H
#define JINJA_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/slice.h"

enum jinja_kind {
    JINJA_ABSENT, // an argument that was not given; no template sees it
    JINJA_UNDEFINED,
    JINJA_NONE,
    JINJA_BOOL,
    JINJA_INT,
    JINJA_BIG, // an integer of data that 64 bits cannot hold: it can be printed and compared
    JINJA_FLOAT,
    JINJA_STRING,
    JINJA_LIST,
    JINJA_TUPLE,
    JINJA_RANGE, // a list that remembers its bounds
    JINJA_DICT,
    JINJA_VIEW, // keys, values or items of a dict
    JINJA_NAMESPACE,
    JINJA_ITERATOR, // gives each item once
    JINJA_LOOP,
    JINJA_FUNCTION,
    JINJA_KINDS
};

enum jinja_origin { JINJA_DATA, JINJA_TEMPLATE };

struct jinja_string;
struct jinja_list;
struct jinja_dict;

struct jinja_value {
    uint8_t kind; // enum jinja_kind
    uint8_t part; // JINJA_VIEW: enum jinja_part; JINJA_UNDEFINED: enum jinja_missing
    union {
        bool boolean;
        int64_t integer;
        double real;
        const struct jinja_string *string; // STRING and BIG
        struct jinja_list *list;           // LIST, TUPLE, RANGE
        struct jinja_dict *dict;           // DICT, VIEW, NAMESPACE
        struct jinja_iterator *iterator;
        struct jinja_loop *loop;
        const struct jinja_function *function;
        const char *name; // UNDEFINED: of what is missing
    };
};

enum jinja_part { JINJA_KEYS, JINJA_VALUES, JINJA_ITEMS };
enum jinja_missing { JINJA_MISSING_VARIABLE, JINJA_MISSING_ATTRIBUTE, JINJA_MISSING_OTHER };

// Valid UTF-8, never changed.
struct jinja_string {
    const char *data;
    const char *marks; // [size] enum jinja_origin of each byte; NULL: all are `origin`
    size_t size;       // bytes
    size_t count;      // characters
    enum jinja_origin origin;
    bool markup;            // went through `safe` or `escape`: what is added to it is escaped
    struct jinja_room *room; // behind data, for appending in place; NULL: none
};

struct jinja_list {
    struct jinja_value *items;
    size_t count, capacity;
    bool fixed;       // given to the template, which must not change it
    int64_t range[3]; // RANGE: start, stop, step
};

struct jinja_entry {
    struct jinja_value key, value;
};

// In order of insertion.
struct jinja_dict {
    struct jinja_entry *entries;
    uint32_t *index; // hash table of entry numbers + 1; NULL while there are few
    size_t count, capacity, index_size;
    bool fixed;
};

static inline struct jinja_value jinja_none(void) {
    return (struct jinja_value){.kind = JINJA_NONE};
}
static inline struct jinja_value jinja_bool(bool boolean) {
    return (struct jinja_value){.kind = JINJA_BOOL, .boolean = boolean};
}
static inline struct jinja_value jinja_int(int64_t integer) {
    return (struct jinja_value){.kind = JINJA_INT, .integer = integer};
}
static inline struct jinja_value jinja_float(double real) {
    return (struct jinja_value){.kind = JINJA_FLOAT, .real = real};
}
static inline struct jinja_value jinja_undefined(enum jinja_missing missing, const char *name) {
    return (struct jinja_value){.kind = JINJA_UNDEFINED, .part = (uint8_t)missing, .name = name};
}

// Copies the text.
bool jinja_string_new(struct arena *arena, struct slice text, enum jinja_origin origin,
                      struct jinja_value *out);
// Takes the text as it is; marks may be NULL. The caller knows that it is UTF-8.
bool jinja_string_wrap(struct arena *arena, struct slice text, const char *marks,
                       enum jinja_origin origin, struct jinja_value *out);
// An integer of any length, as JSON spells it.
bool jinja_big_new(struct arena *arena, struct slice digits, struct jinja_value *out);
bool jinja_list_new(struct arena *arena, enum jinja_kind kind, struct jinja_value *out);
bool jinja_list_add(struct arena *arena, struct jinja_list *list, struct jinja_value item);
bool jinja_dict_new(struct arena *arena, enum jinja_kind kind, struct jinja_value *out);
// The key must be hashable (jinja_value_hashable). A key that is there keeps its place.
bool jinja_dict_set(struct arena *arena, struct jinja_dict *dict, struct jinja_value key,
                    struct jinja_value value);
bool jinja_dict_set_text(struct arena *arena, struct jinja_dict *dict, const char *key,
                         struct jinja_value value);
// NULL: there is no such key.
const struct jinja_value *jinja_dict_get(const struct jinja_dict *dict, struct jinja_value key);
const struct jinja_value *jinja_dict_get_text(const struct jinja_dict *dict, struct slice key);
// False: there is none.
bool jinja_dict_remove(struct jinja_dict *dict, struct jinja_value key);

static inline bool jinja_value_is_list(struct jinja_value value) {
    return value.kind == JINJA_LIST || value.kind == JINJA_TUPLE || value.kind == JINJA_RANGE;
}
static inline struct slice jinja_value_text(struct jinja_value string) {
    return slice_make(string.string->data, string.string->size);
}

bool jinja_value_true(struct jinja_value value); // as Python's bool()
bool jinja_value_hashable(struct jinja_value value);
// As Python's ==; values nested deeper than the limit are unequal.
bool jinja_value_equal(struct jinja_value a, struct jinja_value b);
// As Python's <: *order is negative, 0 or positive. False: the two cannot be ordered.
bool jinja_value_order(struct jinja_value a, struct jinja_value b, int *order);
// As Python's len(). False: it has none.
bool jinja_value_length(struct jinja_value value, size_t *length);
// Python's name of its type, for messages.
const char *jinja_value_type(struct jinja_value value);
// INT, BOOL and FLOAT as a number.
bool jinja_value_number(struct jinja_value value, double *number);
bool jinja_value_integer(struct jinja_value value, int64_t *integer); // INT and BOOL

// Characters of a text; false: it is not UTF-8.
bool jinja_count_characters(struct slice text, size_t *count);

#endif
