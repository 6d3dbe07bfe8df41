// SPDX-License-Identifier: Apache-2.0
//
// Owns:      functions as values, arguments, and how a table of built-in ones is described.
// Called by: jinja_eval and the tables of filters, tests, methods and globals.
// Threads:   one thread at a time.
// Errors:    as jinja_run.h.
// Not here:  the functions themselves.
#ifndef JINJA_CALL_H
#define JINJA_CALL_H

#include "jinja/jinja_run.h"

struct jinja_named {
    struct slice name;
    struct jinja_value value;
};

struct jinja_arguments {
    const struct jinja_value *items; // positional ones
    size_t count;
    const struct jinja_named *named;
    size_t named_count;
};

typedef bool (*jinja_builtin_fn)(struct jinja_run *run, struct jinja_value self,
                                 const struct jinja_arguments *arguments,
                                 struct jinja_value *out);

enum { JINJA_PARAMETERS_MAX = 6 };

struct jinja_builtin {
    const char *name;
    // Names of the parameters, blank between them. Those behind "|" may be left out and are then
    // ABSENT; all are positions of arguments->items. After a leading "/" they cannot be named. NULL:
    // the function gets the arguments as they were given.
    const char *parameters;
    jinja_builtin_fn call; // NULL: jinja2 has it and this engine does not
};

// Binds arguments to the parameters and calls. jinja_call_builtin counts depth.
bool jinja_call_builtin(struct jinja_run *run, const struct jinja_builtin *builtin,
                        struct jinja_value self, const struct jinja_arguments *arguments,
                        struct jinja_value *out);

// A function of a table, bound to a value, or a macro with the scope that it was written in.
struct jinja_function {
    const struct jinja_builtin *builtin; // NULL: a macro
    struct jinja_value self;
    const struct jinja_node *macro;
    struct jinja_scope *scope;
};

bool jinja_make_method(struct jinja_run *run, const struct jinja_builtin *builtin,
                       struct jinja_value self, struct jinja_value *out);
bool jinja_make_macro(struct jinja_run *run, const struct jinja_node *macro,
                      struct jinja_value *out);

// Any value that can be called: functions, macros, a recursive loop.
bool jinja_call(struct jinja_run *run, struct jinja_value callee,
                const struct jinja_arguments *arguments, struct jinja_value *out);

// Arguments as an expression's LIST of ARGUMENT gives them.
bool jinja_evaluate_arguments(struct jinja_run *run, const struct jinja_node *list,
                              struct jinja_arguments *out);

// The row of that name; NULL.
const struct jinja_builtin *jinja_builtin_find(const struct jinja_builtin *table, size_t count,
                                               struct slice name);

// Arguments of built-ins.
static inline bool jinja_given(const struct jinja_arguments *arguments, size_t index) {
    return arguments->items[index].kind != JINJA_ABSENT;
}
// False (with the error): it is no integer. `otherwise` if it was not given.
bool jinja_integer_argument(struct jinja_run *run, const struct jinja_arguments *arguments,
                            size_t index, int64_t otherwise, int64_t *out);
bool jinja_string_argument(struct jinja_run *run, const struct jinja_arguments *arguments,
                           size_t index, const struct jinja_string **out);

#endif
