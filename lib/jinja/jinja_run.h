// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the state of one rendering: memory, limits, scopes, where it is.
// Called by: everything that evaluates.
// Threads:   one thread at a time.
// Errors:    functions that return bool are false once jinja_fail has written the error.
// Not here:  what is evaluated (jinja_eval.h, jinja_exec.h).
#ifndef JINJA_RUN_H
#define JINJA_RUN_H

#include "base/status.h"
#include "jinja/jinja.h"
#include "jinja/jinja_ast.h"
#include "jinja/jinja_text.h"

struct jinja_binding {
    const char *name; // of the tree: names that are alike have one address
    struct jinja_value value;
};

// Variables of a body; what it does not have is looked for in the one around it.
struct jinja_scope {
    struct jinja_scope *outer;
    struct jinja_binding *bindings;
    size_t count, capacity;
    bool captured; // a macro refers to it: it must stay
};

struct jinja_run {
    struct arena arena; // everything that the rendering makes
    const struct jinja_options *options;
    const struct jinja_specials *specials;
    const struct jinja_dict *variables;
    struct jinja_scope *scope;
    struct jinja_text *out;
    const struct jinja_node *at; // for messages
    uint64_t steps;
    unsigned depth;
    locum_status status;
    locum_error *error;
};

// Writes the error with line and column; false.
bool jinja_fail(struct jinja_run *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
bool jinja_fail_memory(struct jinja_run *run);
// "'x' is undefined", as what was undone with it.
bool jinja_fail_undefined(struct jinja_run *run, struct jinja_value value);
// Counts work; false past the limit.
bool jinja_step(struct jinja_run *run, uint64_t steps);
// Recursion; false past the limit. Each true is followed by run->depth--.
bool jinja_enter(struct jinja_run *run);

bool jinja_scope_push(struct jinja_run *run, struct jinja_scope *outer, struct jinja_scope **out);
bool jinja_scope_set(struct jinja_run *run, struct jinja_scope *scope, const char *name,
                     struct jinja_value value);

// As the functions of jinja_value.h and jinja_text.h, with the run's memory and error.
bool jinja_make_string(struct jinja_run *run, struct slice text, enum jinja_origin origin,
                       struct jinja_value *out);
bool jinja_make_part(struct jinja_run *run, const struct jinja_string *string, size_t begin,
                     size_t end, struct jinja_value *out); // bytes
bool jinja_make_list(struct jinja_run *run, enum jinja_kind kind, struct jinja_value *out);
bool jinja_make_pair(struct jinja_run *run, struct jinja_value a, struct jinja_value b,
                     struct jinja_value *out);
bool jinja_add(struct jinja_run *run, struct jinja_value list, struct jinja_value item);
bool jinja_set(struct jinja_run *run, struct jinja_value dict, struct jinja_value key,
               struct jinja_value value); // fails for keys that cannot be keys
bool jinja_finish(struct jinja_run *run, struct jinja_text *text, struct jinja_value *out);

#endif
