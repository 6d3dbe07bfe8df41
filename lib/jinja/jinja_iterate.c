// SPDX-License-Identifier: Apache-2.0
#include "jinja/jinja_iterate.h"

#include "base/utf8.h"

bool jinja_iterable(struct jinja_value value) {
    return value.kind == JINJA_UNDEFINED || value.kind == JINJA_STRING ||
           jinja_value_is_list(value) || value.kind == JINJA_DICT || value.kind == JINJA_VIEW ||
           value.kind == JINJA_ITERATOR;
}

bool jinja_walk_begin(struct jinja_run *run, struct jinja_value value, struct jinja_walk *walk) {
    *walk = (struct jinja_walk){.value = value};
    return jinja_iterable(value) ||
           jinja_fail(run, "a %s has no items to go over", jinja_value_type(value));
}

static bool next_of_dict(struct jinja_run *run, struct jinja_walk *walk, struct jinja_value *item) {
    const struct jinja_entry *entry = &walk->value.dict->entries[walk->at++];
    enum jinja_part part =
        walk->value.kind == JINJA_DICT ? JINJA_KEYS : (enum jinja_part)walk->value.part;
    if (part == JINJA_ITEMS) {
        return jinja_make_pair(run, entry->key, entry->value, item);
    }
    *item = part == JINJA_KEYS ? entry->key : entry->value;
    return true;
}

bool jinja_walk_next(struct jinja_run *run, struct jinja_walk *walk, struct jinja_value *item,
                     bool *done) {
    *done = false;
    if (walk->value.kind == JINJA_ITERATOR) {
        return jinja_step(run, 1) &&
               walk->value.iterator->next(run, walk->value.iterator, item, done);
    }
    if (walk->value.kind == JINJA_STRING) {
        const struct jinja_string *string = walk->value.string;
        *done = walk->at == string->size;
        size_t begin = walk->at;
        if (!*done) {
            walk->at += utf8_next(slice_make(string->data + begin, string->size - begin)).size;
        }
        return *done || (jinja_step(run, 1) && jinja_make_part(run, string, begin, walk->at, item));
    }
    if (walk->value.kind == JINJA_DICT || walk->value.kind == JINJA_VIEW) {
        *done = walk->at >= walk->value.dict->count;
        return jinja_step(run, 1) && (*done || next_of_dict(run, walk, item));
    }
    *done = walk->value.kind == JINJA_UNDEFINED || walk->at >= walk->value.list->count;
    if (!*done) {
        *item = walk->value.list->items[walk->at++];
    }
    return jinja_step(run, 1);
}

bool jinja_collect(struct jinja_run *run, struct jinja_value value, struct jinja_value *list) {
    struct jinja_walk walk;
    if (!jinja_walk_begin(run, value, &walk) || !jinja_make_list(run, JINJA_LIST, list)) {
        return false;
    }
    for (;;) {
        struct jinja_value item;
        bool done;
        if (!jinja_walk_next(run, &walk, &item, &done)) {
            return false;
        }
        if (done) {
            return true;
        }
        if (!jinja_add(run, *list, item)) {
            return false;
        }
    }
}

bool jinja_new_iterator(struct jinja_run *run, struct jinja_value *out) {
    *out = (struct jinja_value){.kind = JINJA_ITERATOR,
                                .iterator = arena_alloc(&run->arena, sizeof *out->iterator)};
    return out->iterator || jinja_fail_memory(run);
}

static bool next_of_list(struct jinja_run *run, struct jinja_iterator *iterator,
                         struct jinja_value *item, bool *done) {
    return jinja_walk_next(run, &iterator->walk, item, done);
}

bool jinja_make_iterator(struct jinja_run *run, struct jinja_value list, struct jinja_value *out) {
    if (!jinja_new_iterator(run, out)) {
        return false;
    }
    out->iterator->next = next_of_list;
    out->iterator->walk = (struct jinja_walk){.value = list};
    return true;
}
