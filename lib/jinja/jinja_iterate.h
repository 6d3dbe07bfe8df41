// SPDX-License-Identifier: Apache-2.0
//
// Owns:      going over the items of a value, once.
// Called by: loops, filters, methods.
// Threads:   one thread at a time.
// Errors:    as jinja_run.h.
// Not here:  which filter makes which items (jinja_filter_list.c).
#ifndef JINJA_ITERATE_H
#define JINJA_ITERATE_H

#include "jinja/jinja_call.h"

// Gives one item; *done at the end. It may fail.
typedef bool (*jinja_next_fn)(struct jinja_run *run, struct jinja_iterator *iterator,
                              struct jinja_value *item, bool *done);

// Walks a value from left to right; what is added to a list meanwhile is met, too.
struct jinja_walk {
    struct jinja_value value;
    size_t at; // item, or byte of a string
};

// Made by filters like map: items are computed when they are asked for.
struct jinja_iterator {
    jinja_next_fn next;
    struct jinja_value source;
    struct jinja_walk walk;
    bool started;
    bool (*change)(struct jinja_run *run, struct jinja_iterator *iterator, struct jinja_value *item,
                   bool *keep);
    struct jinja_value name;             // of the filter or test to apply; ABSENT: none
    const struct jinja_builtin *builtin; // that one, once it was needed
    struct jinja_arguments arguments;
    struct jinja_value attribute, otherwise;
    bool reject;
};

bool jinja_walk_begin(struct jinja_run *run, struct jinja_value value, struct jinja_walk *walk);
bool jinja_walk_next(struct jinja_run *run, struct jinja_walk *walk, struct jinja_value *item,
                     bool *done);
bool jinja_iterable(struct jinja_value value);
// All items that are left, as a new list.
bool jinja_collect(struct jinja_run *run, struct jinja_value value, struct jinja_value *list);
// An iterator over a list.
bool jinja_make_iterator(struct jinja_run *run, struct jinja_value list, struct jinja_value *out);
// An empty one, to be filled in.
bool jinja_new_iterator(struct jinja_run *run, struct jinja_value *out);

#endif
