// SPDX-License-Identifier: Apache-2.0
//
// Filters that take or make sequences.
#include "jinja/jinja_filter.h"

#include "jinja/jinja_access.h"
#include "jinja/jinja_arithmetic.h"
#include "jinja/jinja_iterate.h"
#include "jinja/jinja_print.h"
#include "jinja/jinja_string.h"
#include "jinja/jinja_test.h"

#define FILTER(name)                                                                               \
    static bool filter_##name(struct jinja_run *run, struct jinja_value self,                      \
                              const struct jinja_arguments *arguments, struct jinja_value *out)

// --- map, select and their kin: items are computed when they are asked for -----------------------

static const struct jinja_arguments no_arguments;

static struct jinja_arguments arguments_from(const struct jinja_arguments *arguments, size_t from) {
    struct jinja_arguments rest = *arguments;
    rest.items += from;
    rest.count -= from;
    return rest;
}

static bool next_changed(struct jinja_run *run, struct jinja_iterator *iterator,
                         struct jinja_value *item, bool *done) {
    if (!iterator->started) {
        iterator->started = true;
        // Not even looked at if it is falsy.
        struct jinja_value source = jinja_value_true(iterator->source)
                                        ? iterator->source
                                        : jinja_undefined(JINJA_MISSING_OTHER, "");
        if (!jinja_walk_begin(run, source, &iterator->walk)) {
            return false;
        }
    }
    for (bool keep = false; !keep;) {
        if (!jinja_walk_next(run, &iterator->walk, item, done)) {
            return false;
        }
        if (*done) {
            return true;
        }
        if (!iterator->change(run, iterator, item, &keep)) {
            return false;
        }
    }
    return true;
}

// Looked up when the first item needs it: without items a wrong name goes unnoticed, as in jinja2.
static bool find_by_name(struct jinja_run *run, struct jinja_iterator *iterator, const char *what,
                         const struct jinja_builtin *(*find)(struct slice)) {
    if (iterator->name.kind != JINJA_STRING) {
        return jinja_fail(run, "the name of a %s is a str", what);
    }
    struct slice name = jinja_value_text(iterator->name);
    iterator->builtin = iterator->builtin ? iterator->builtin : find(name);
    return iterator->builtin ||
           jinja_fail(run, "there is no %s '%.*s'", what, (int)name.size, name.data);
}

static bool change_map(struct jinja_run *run, struct jinja_iterator *iterator,
                       struct jinja_value *item, bool *keep) {
    *keep = true;
    if (iterator->name.kind == JINJA_ABSENT) {
        return jinja_get_path(run, *item, iterator->attribute, iterator->otherwise, item);
    }
    return find_by_name(run, iterator, "filter", jinja_filter_find) &&
           jinja_call_builtin(run, iterator->builtin, *item, &iterator->arguments, item);
}

static bool change_select(struct jinja_run *run, struct jinja_iterator *iterator,
                          struct jinja_value *item, bool *keep) {
    struct jinja_value answer;
    if (!jinja_get_path(run, *item, iterator->attribute, (struct jinja_value){0}, &answer)) {
        return false;
    }
    if (iterator->name.kind != JINJA_ABSENT &&
        (!find_by_name(run, iterator, "test", jinja_test_find) ||
         !jinja_call_builtin(run, iterator->builtin, answer, &iterator->arguments, &answer))) {
        return false;
    }
    *keep = jinja_value_true(answer) != iterator->reject;
    return true;
}

static bool new_changed(struct jinja_run *run, struct jinja_value source, struct jinja_value *out) {
    if (!jinja_new_iterator(run, out)) {
        return false;
    }
    out->iterator->next = next_changed;
    out->iterator->source = source;
    return true;
}

FILTER(map) {
    if (!new_changed(run, self, out)) {
        return false;
    }
    struct jinja_iterator *iterator = out->iterator;
    iterator->change = change_map;
    if (arguments->count > 0) {
        iterator->arguments = arguments_from(arguments, 1);
        iterator->name = arguments->items[0];
        return true;
    }
    bool attribute = false;
    for (size_t i = 0; i < arguments->named_count; i++) {
        const struct jinja_named *named = &arguments->named[i];
        if (slice_is(named->name, "attribute")) {
            iterator->attribute = named->value;
            attribute = true;
        } else if (slice_is(named->name, "default")) {
            iterator->otherwise = named->value;
        } else {
            return jinja_fail(run, "map takes no argument '%.*s'", (int)named->name.size,
                              named->name.data);
        }
    }
    return attribute || jinja_fail(run, "map needs a filter or an attribute");
}

static bool select_by(struct jinja_run *run, struct jinja_value self,
                      const struct jinja_arguments *arguments, bool attribute, bool reject,
                      struct jinja_value *out) {
    if (!new_changed(run, self, out)) {
        return false;
    }
    struct jinja_iterator *iterator = out->iterator;
    iterator->change = change_select;
    iterator->reject = reject;
    iterator->arguments = no_arguments;
    if (attribute) {
        if (arguments->count == 0) {
            return jinja_fail(run, "the name of an attribute is missing");
        }
        iterator->attribute = arguments->items[0];
    }
    if (arguments->count > attribute) {
        iterator->arguments = arguments_from(arguments, 1u + attribute);
        iterator->name = arguments->items[attribute];
    }
    return true;
}

FILTER(select) {
    return select_by(run, self, arguments, false, false, out);
}

FILTER(reject) {
    return select_by(run, self, arguments, false, true, out);
}

FILTER(selectattr) {
    return select_by(run, self, arguments, true, false, out);
}

FILTER(rejectattr) {
    return select_by(run, self, arguments, true, true, out);
}

// --- Whole sequences -----------------------------------------------------------------------------

FILTER(list) {
    (void)arguments;
    return jinja_collect(run, self, out);
}

FILTER(items) {
    (void)arguments;
    struct jinja_value list, view = {.kind = JINJA_VIEW, .part = JINJA_ITEMS, .dict = self.dict};
    if (self.kind != JINJA_DICT && self.kind != JINJA_UNDEFINED) {
        return jinja_fail(run, "items needs a dict, not a %s", jinja_value_type(self));
    }
    return jinja_collect(run, self.kind == JINJA_DICT ? view : self, &list) &&
           jinja_make_iterator(run, list, out);
}

FILTER(first) {
    (void)arguments;
    struct jinja_walk walk;
    bool done;
    if (!jinja_walk_begin(run, self, &walk) || !jinja_walk_next(run, &walk, out, &done)) {
        return false;
    }
    *out = done ? jinja_undefined(JINJA_MISSING_OTHER, "there is no first item") : *out;
    return true;
}

FILTER(last) {
    (void)arguments;
    struct jinja_value list;
    if (self.kind == JINJA_ITERATOR) {
        return jinja_fail(run, "a generator has no last item");
    }
    if (!jinja_collect(run, self, &list)) {
        return false;
    }
    *out = list.list->count > 0
               ? list.list->items[list.list->count - 1]
               : jinja_undefined(JINJA_MISSING_OTHER, "there is no last item");
    return true;
}

FILTER(reverse) {
    (void)arguments;
    struct jinja_value list;
    if (self.kind == JINJA_STRING) {
        const struct jinja_value bounds[3] = {jinja_none(), jinja_none(), jinja_int(-1)};
        return jinja_get_slice(run, self, bounds, out);
    }
    if (!jinja_collect(run, self, &list)) {
        return false;
    }
    for (size_t i = 0, k = list.list->count; i + 1 < k--; i++) {
        struct jinja_value item = list.list->items[i];
        list.list->items[i] = list.list->items[k];
        list.list->items[k] = item;
    }
    *out = list;
    // What can be gone over backwards gives an iterator, what cannot a list.
    return self.kind == JINJA_ITERATOR || jinja_make_iterator(run, list, out);
}

FILTER(join) {
    struct jinja_walk walk;
    struct jinja_value separator, item;
    struct jinja_text text = {.bytes.limit = run->arena.limit};
    bool done, first = true;
    if (!jinja_given(arguments, 0)) {
        if (!jinja_make_string(run, slice_make("", 0), JINJA_TEMPLATE, &separator)) {
            return false;
        }
    } else if (!jinja_to_string(run, arguments->items[0], &separator)) {
        return false;
    }
    if (!jinja_walk_begin(run, self, &walk)) {
        return false;
    }
    for (;; first = false) {
        if (!jinja_walk_next(run, &walk, &item, &done)) {
            break;
        }
        if (done) {
            return jinja_finish(run, &text, out);
        }
        if (!first) {
            jinja_text_add_string(&text, separator.string);
        }
        if (!jinja_get_path(run, item, arguments->items[1], (struct jinja_value){0}, &item) ||
            !jinja_print(run, item, &text)) {
            break;
        }
    }
    jinja_text_release(&text);
    return false;
}

FILTER(sum) {
    struct jinja_walk walk;
    bool done;
    *out = jinja_given(arguments, 1) ? arguments->items[1] : jinja_int(0);
    if (out->kind == JINJA_STRING) {
        return jinja_fail(run, "sum does not add strings");
    }
    if (!jinja_walk_begin(run, self, &walk)) {
        return false;
    }
    for (;;) {
        struct jinja_value item;
        if (!jinja_walk_next(run, &walk, &item, &done)) {
            return false;
        }
        if (done) {
            return true;
        }
        if (!jinja_get_path(run, item, arguments->items[0], (struct jinja_value){0}, &item) ||
            !jinja_operate(run, JINJA_ADD, *out, item, out)) {
            return false;
        }
    }
}

// --- Order ---------------------------------------------------------------------------------------

// What an item is compared by: an attribute of it (or several, with commas: a list), in lower case
// unless the case counts.
static bool key_of(struct jinja_run *run, struct jinja_value item, struct jinja_value attribute,
                   bool case_sensitive, struct jinja_value *key) {
    return jinja_get_path(run, item, attribute, (struct jinja_value){0}, key) &&
           (case_sensitive || key->kind != JINJA_STRING ||
            jinja_string_case(run, key->string, JINJA_LOWER, key));
}

static bool keys_of(struct jinja_run *run, struct jinja_value item, struct jinja_value attribute,
                    bool case_sensitive, struct jinja_value *key) {
    size_t begin = 0;
    if (attribute.kind != JINJA_STRING) {
        return key_of(run, item, attribute, case_sensitive, key);
    }
    if (!jinja_make_list(run, JINJA_LIST, key)) {
        return false;
    }
    for (size_t end = 0; end <= attribute.string->size; end++) {
        struct jinja_value part, value;
        if (end < attribute.string->size && attribute.string->data[end] != ',') {
            continue;
        }
        if (!jinja_make_part(run, attribute.string, begin, end, &part) ||
            !key_of(run, item, part, case_sensitive, &value) || !jinja_add(run, *key, value)) {
            return false;
        }
        begin = end + 1;
    }
    return true;
}

struct sorted {
    struct jinja_value key, item;
};

// Is a to stand behind b? Equal ones keep their order.
static bool behind(struct jinja_run *run, const struct sorted *a, const struct sorted *b,
                   bool reverse, bool *is) {
    int order;
    *is = false;
    if (jinja_value_equal(a->key, b->key)) {
        return true;
    }
    if (!jinja_value_order(a->key, b->key, &order)) {
        return jinja_fail(run, "a %s and a %s have no order", jinja_value_type(a->key),
                          jinja_value_type(b->key));
    }
    *is = reverse ? order < 0 : order > 0;
    return true;
}

// A stable merge of [0, middle) and [middle, count) of `from` into `to`.
static bool merge(struct jinja_run *run, const struct sorted *from, size_t middle, size_t count,
                  bool reverse, struct sorted *to) {
    for (size_t left = 0, right = middle, at = 0; at < count; at++) {
        bool take_right = left == middle;
        if (left < middle && right < count &&
            !behind(run, &from[left], &from[right], reverse, &take_right)) {
            return false;
        }
        to[at] = take_right ? from[right++] : from[left++];
    }
    return jinja_step(run, count);
}

static bool sort(struct jinja_run *run, struct sorted *rows, size_t count, bool reverse) {
    struct sorted *other = arena_array(&run->arena, count, sizeof *other);
    if (!other) {
        return jinja_fail_memory(run);
    }
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t at = 0; at < count; at += 2 * width) {
            size_t left = count - at, size = left < 2 * width ? left : 2 * width;
            size_t middle = width < size ? width : size;
            if (!merge(run, rows + at, middle, size, reverse, other + at)) {
                return false;
            }
        }
        memcpy(rows, other, count * sizeof *rows);
    }
    return true;
}

typedef bool (*key_fn)(struct jinja_run *run, struct jinja_value item, struct jinja_value attribute,
                       bool case_sensitive, struct jinja_value *key);

static bool sorted(struct jinja_run *run, struct jinja_value values, struct jinja_value attribute,
                   bool case_sensitive, bool reverse, key_fn key, struct jinja_value *out) {
    struct jinja_value list;
    if (!jinja_collect(run, values, &list)) {
        return false;
    }
    size_t count = list.list->count;
    struct sorted *rows = arena_array(&run->arena, count, sizeof *rows);
    if (!rows) {
        return jinja_fail_memory(run);
    }
    for (size_t i = 0; i < count; i++) {
        rows[i].item = list.list->items[i];
        if (!key(run, rows[i].item, attribute, case_sensitive, &rows[i].key)) {
            return false;
        }
    }
    if (!sort(run, rows, count, reverse)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        list.list->items[i] = rows[i].item;
    }
    *out = list;
    return true;
}

static bool flag(const struct jinja_arguments *arguments, size_t index) {
    return jinja_given(arguments, index) && jinja_value_true(arguments->items[index]);
}

FILTER(sort) {
    return sorted(run, self, arguments->items[2], flag(arguments, 1), flag(arguments, 0), keys_of,
                  out);
}

FILTER(dictsort) {
    struct jinja_value view = {.kind = JINJA_VIEW, .part = JINJA_ITEMS, .dict = self.dict};
    struct slice by = slice_text("key");
    if (self.kind != JINJA_DICT) {
        return self.kind == JINJA_UNDEFINED
                   ? jinja_fail_undefined(run, self)
                   : jinja_fail(run, "dictsort needs a dict, not a %s", jinja_value_type(self));
    }
    if (jinja_given(arguments, 1) && arguments->items[1].kind == JINJA_STRING) {
        by = jinja_value_text(arguments->items[1]);
    }
    if (!slice_is(by, "key") && !slice_is(by, "value")) {
        return jinja_fail(run, "dictsort sorts by \"key\" or \"value\"");
    }
    return sorted(run, view, jinja_int(slice_is(by, "value")), flag(arguments, 0),
                  flag(arguments, 2), key_of, out);
}

static bool extreme(struct jinja_run *run, struct jinja_value self,
                    const struct jinja_arguments *arguments, bool largest,
                    struct jinja_value *out) {
    struct jinja_walk walk;
    struct sorted best = {.item = jinja_undefined(JINJA_MISSING_OTHER,
                                                  "there is no item in an empty sequence")};
    if (!jinja_walk_begin(run, self, &walk)) {
        return false;
    }
    for (bool first = true;; first = false) {
        struct sorted row;
        bool done, better = true;
        if (!jinja_walk_next(run, &walk, &row.item, &done)) {
            return false;
        }
        if (done) {
            *out = best.item;
            return true;
        }
        if (!key_of(run, row.item, arguments->items[1], flag(arguments, 0), &row.key) ||
            (!first && !behind(run, &best, &row, largest, &better))) {
            return false;
        }
        best = better ? row : best;
    }
}

FILTER(min) {
    return extreme(run, self, arguments, false, out);
}

FILTER(max) {
    return extreme(run, self, arguments, true, out);
}

FILTER(unique) {
    struct jinja_walk walk;
    struct jinja_value seen, list;
    if (!jinja_walk_begin(run, self, &walk) || !jinja_make_list(run, JINJA_LIST, &list)) {
        return false;
    }
    if (!jinja_dict_new(&run->arena, JINJA_DICT, &seen)) {
        return jinja_fail_memory(run);
    }
    for (;;) {
        struct jinja_value item, key;
        bool done;
        if (!jinja_walk_next(run, &walk, &item, &done)) {
            return false;
        }
        if (done) {
            return jinja_make_iterator(run, list, out);
        }
        size_t count = seen.dict->count;
        if (!key_of(run, item, arguments->items[1], flag(arguments, 0), &key) ||
            !jinja_set(run, seen, key, jinja_none()) ||
            (seen.dict->count > count && !jinja_add(run, list, item))) {
            return false;
        }
    }
}

// --- Groups --------------------------------------------------------------------------------------

FILTER(batch) {
    struct jinja_value list, batches, batch = {0};
    int64_t size;
    if (!jinja_integer_argument(run, arguments, 0, 0, &size) || !jinja_collect(run, self, &list) ||
        !jinja_make_list(run, JINJA_LIST, &batches)) {
        return false;
    }
    if (size < 1) {
        return jinja_fail(run, "a batch has one item at least");
    }
    for (size_t i = 0; i < list.list->count; i++) {
        if (i % (size_t)size == 0 && (!jinja_make_list(run, JINJA_LIST, &batch) ||
                                      !jinja_add(run, batches, batch))) {
            return false;
        }
        if (!jinja_add(run, batch, list.list->items[i])) {
            return false;
        }
    }
    bool fill = jinja_given(arguments, 1) && arguments->items[1].kind != JINJA_NONE;
    while (fill && list.list->count > 0 && batch.list->count < (size_t)size) {
        if (!jinja_add(run, batch, arguments->items[1])) {
            return false;
        }
    }
    return jinja_make_iterator(run, batches, out);
}

FILTER(slice) {
    struct jinja_value list, slices;
    int64_t count;
    if (!jinja_integer_argument(run, arguments, 0, 0, &count) || !jinja_collect(run, self, &list) ||
        !jinja_make_list(run, JINJA_LIST, &slices)) {
        return false;
    }
    if (count < 1) {
        return jinja_fail(run, "there is one slice at least");
    }
    size_t each = list.list->count / (size_t)count, more = list.list->count % (size_t)count;
    bool fill = jinja_given(arguments, 1) && arguments->items[1].kind != JINJA_NONE;
    for (size_t i = 0, at = 0; i < (size_t)count; i++) {
        struct jinja_value slice;
        if (!jinja_make_list(run, JINJA_LIST, &slice) || !jinja_add(run, slices, slice)) {
            return false;
        }
        for (size_t end = at + each + (i < more); at < end; at++) {
            if (!jinja_add(run, slice, list.list->items[at])) {
                return false;
            }
        }
        if (fill && i >= more && !jinja_add(run, slice, arguments->items[1])) {
            return false;
        }
    }
    return jinja_make_iterator(run, slices, out);
}

FILTER(groupby) {
    struct jinja_value list = {0}, groups, group = {0}, last = {0};
    struct jinja_value attribute = arguments->items[0], otherwise = arguments->items[1];
    if (jinja_given(arguments, 1)) {
        return jinja_fail(run, "groupby with a default is not supported");
    }
    if (!sorted(run, self, attribute, flag(arguments, 2), false, key_of, &list) ||
        !jinja_make_list(run, JINJA_LIST, &groups)) {
        return false;
    }
    for (size_t i = 0; i < list.list->count; i++) {
        struct jinja_value item = list.list->items[i], key, shown, pair;
        if (!key_of(run, item, attribute, flag(arguments, 2), &key)) {
            return false;
        }
        if ((i == 0 || !jinja_value_equal(key, last)) &&
            (!jinja_get_path(run, item, attribute, otherwise, &shown) ||
             !jinja_make_list(run, JINJA_LIST, &group) ||
             !jinja_make_pair(run, shown, group, &pair) || !jinja_add(run, groups, pair))) {
            return false;
        }
        last = key;
        if (!jinja_add(run, group, item)) {
            return false;
        }
    }
    *out = groups;
    return true;
}

static const struct jinja_builtin filters[] = {
    {"items", "", filter_items},
    {"list", "", filter_list},
    {"join", "| d attribute", filter_join},
    {"map", NULL, filter_map},
    {"select", NULL, filter_select},
    {"reject", NULL, filter_reject},
    {"selectattr", NULL, filter_selectattr},
    {"rejectattr", NULL, filter_rejectattr},
    {"first", "", filter_first},
    {"last", "", filter_last},
    {"reverse", "", filter_reverse},
    {"sort", "| reverse case_sensitive attribute", filter_sort},
    {"dictsort", "| case_sensitive by reverse", filter_dictsort},
    {"unique", "| case_sensitive attribute", filter_unique},
    {"min", "| case_sensitive attribute", filter_min},
    {"max", "| case_sensitive attribute", filter_max},
    {"sum", "| attribute start", filter_sum},
    {"batch", "linecount | fill_with", filter_batch},
    {"slice", "slices | fill_with", filter_slice},
    {"groupby", "attribute | default case_sensitive", filter_groupby},
};

const struct jinja_builtin *jinja_filter_list_table(size_t *count) {
    *count = sizeof filters / sizeof filters[0];
    return filters;
}
