// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the items of a for loop and what `loop` tells of them.
// Called by: jinja_exec, jinja_access, jinja_call.
// Threads:   one thread at a time.
// Errors:    as jinja_run.h.
// Not here:  the body (jinja_exec.h).
//
// Items are taken when they are needed, and the filter of a loop is asked then: it may depend on what
// the body did. loop.last, loop.nextitem and loop.length look ahead.
#ifndef JINJA_LOOP_H
#define JINJA_LOOP_H

#include "jinja/jinja_iterate.h"

struct jinja_loop {
    const struct jinja_node *node; // the FOR
    struct jinja_scope *outer;     // of the statement
    struct jinja_walk walk;
    struct jinja_value before, current, after, changed;
    bool has_after, ended, counted; // counted: the walk is over items that passed the filter
    int64_t length;                 // once counted
    int64_t index; // from 0
    int64_t depth; // of recursion, from 0
};

bool jinja_loop_begin(struct jinja_run *run, const struct jinja_node *node,
                      struct jinja_scope *outer, struct jinja_value items, int64_t depth,
                      struct jinja_loop **out);
// The next item is loop->current; *done at the end.
bool jinja_loop_next(struct jinja_run *run, struct jinja_loop *loop, bool *done);
// All items, seen and to come; those to come are taken now.
bool jinja_loop_length(struct jinja_run *run, struct jinja_loop *loop, int64_t *length);
bool jinja_loop_member(struct jinja_run *run, struct jinja_value loop, struct slice name,
                       struct jinja_value *out, bool *found);

#endif
