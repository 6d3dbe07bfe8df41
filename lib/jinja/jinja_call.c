// SPDX-License-Identifier: Apache-2.0
#include "jinja/jinja_call.h"

#include "jinja/jinja_eval.h"
#include "jinja/jinja_exec.h"
#include "jinja/jinja_iterate.h"
#include "jinja/jinja_loop.h"

const struct jinja_builtin *jinja_builtin_find(const struct jinja_builtin *table, size_t count,
                                               struct slice name) {
    for (size_t i = 0; i < count; i++) {
        if (slice_is(name, table[i].name)) {
            return &table[i];
        }
    }
    return NULL;
}

bool jinja_make_method(struct jinja_run *run, const struct jinja_builtin *builtin,
                       struct jinja_value self, struct jinja_value *out) {
    struct jinja_function *function = arena_alloc(&run->arena, sizeof *function);
    if (!function) {
        return jinja_fail_memory(run);
    }
    *function = (struct jinja_function){.builtin = builtin, .self = self};
    *out = (struct jinja_value){.kind = JINJA_FUNCTION, .function = function};
    return true;
}

bool jinja_make_macro(struct jinja_run *run, const struct jinja_node *macro,
                      struct jinja_value *out) {
    struct jinja_function *function = arena_alloc(&run->arena, sizeof *function);
    if (!function) {
        return jinja_fail_memory(run);
    }
    *function = (struct jinja_function){.macro = macro, .scope = run->scope};
    for (struct jinja_scope *scope = run->scope; scope; scope = scope->outer) {
        scope->captured = true;
    }
    *out = (struct jinja_value){.kind = JINJA_FUNCTION, .function = function};
    return true;
}

// --- Arguments of an expression ------------------------------------------------------------------

struct gathered {
    struct jinja_value items; // a LIST
    struct jinja_named *named;
    size_t named_count, named_capacity;
};

static bool add_named(struct jinja_run *run, struct gathered *gathered, struct slice name,
                      struct jinja_value value) {
    for (size_t i = 0; i < gathered->named_count; i++) {
        if (slice_equal(gathered->named[i].name, name)) {
            return jinja_fail(run, "the argument '%.*s' is given twice", (int)name.size, name.data);
        }
    }
    if (gathered->named_count == gathered->named_capacity) {
        size_t capacity = gathered->named_capacity ? 2 * gathered->named_capacity : 4;
        struct jinja_named *named = arena_array(&run->arena, capacity, sizeof *named);
        if (!named) {
            return jinja_fail_memory(run);
        }
        if (gathered->named_count > 0) {
            memcpy(named, gathered->named, gathered->named_count * sizeof *named);
        }
        gathered->named = named;
        gathered->named_capacity = capacity;
    }
    gathered->named[gathered->named_count++] = (struct jinja_named){name, value};
    return jinja_step(run, gathered->named_count);
}

static bool spread_list(struct jinja_run *run, struct gathered *gathered,
                        struct jinja_value value) {
    struct jinja_value list;
    if (!jinja_collect(run, value, &list)) {
        return false;
    }
    for (size_t i = 0; i < list.list->count; i++) {
        if (!jinja_add(run, gathered->items, list.list->items[i])) {
            return false;
        }
    }
    return true;
}

static bool spread_dict(struct jinja_run *run, struct gathered *gathered,
                        struct jinja_value value) {
    if (value.kind != JINJA_DICT) {
        return jinja_fail(run, "** needs a dict, not a %s", jinja_value_type(value));
    }
    for (size_t i = 0; i < value.dict->count; i++) {
        const struct jinja_entry *entry = &value.dict->entries[i];
        if (entry->key.kind != JINJA_STRING) {
            return jinja_fail(run, "** needs keys that are strings");
        }
        if (!add_named(run, gathered, jinja_value_text(entry->key), entry->value)) {
            return false;
        }
    }
    return true;
}

bool jinja_evaluate_arguments(struct jinja_run *run, const struct jinja_node *list,
                              struct jinja_arguments *out) {
    *out = (struct jinja_arguments){0};
    if (!list) {
        return true;
    }
    struct gathered gathered = {0};
    if (!jinja_make_list(run, JINJA_LIST, &gathered.items)) {
        return false;
    }
    for (; list; list = list->next) {
        struct jinja_value value;
        if (!jinja_eval(run, list->first, &value)) {
            return false;
        }
        run->at = list;
        bool done = list->operation == 1   ? spread_list(run, &gathered, value)
                    : list->operation == 2 ? spread_dict(run, &gathered, value)
                    : list->name ? add_named(run, &gathered, slice_text(list->name), value)
                                 : jinja_add(run, gathered.items, value);
        if (!done) {
            return false;
        }
    }
    *out = (struct jinja_arguments){gathered.items.list->items, gathered.items.list->count,
                                    gathered.named, gathered.named_count};
    return true;
}

// --- Built-in functions --------------------------------------------------------------------------

// The parameter's number in a list of names, or -1.
static int parameter_at(const char *parameters, struct slice name) {
    int index = 0;
    for (const char *at = parameters; *at != '\0';) {
        size_t size = strcspn(at, " ");
        if (*at != '|' && *at != '/') {
            if (slice_equal(slice_make(at, size), name)) {
                return index;
            }
            index++;
        }
        at += size;
        at += strspn(at, " ");
    }
    return -1;
}

static void count_parameters(const char *parameters, size_t *all, size_t *needed) {
    bool optional = false;
    *all = *needed = 0;
    for (const char *at = parameters; *at != '\0';) {
        size_t size = strcspn(at, " ");
        optional = optional || *at == '|';
        if (*at != '|' && *at != '/') {
            ++*all;
            *needed += !optional;
        }
        at += size;
        at += strspn(at, " ");
    }
}

static bool bind(struct jinja_run *run, const struct jinja_builtin *builtin,
                 const struct jinja_arguments *given, struct jinja_value *bound, size_t *count) {
    size_t needed;
    count_parameters(builtin->parameters, count, &needed);
    if (given->count > *count) {
        return jinja_fail(run, "'%s' takes at most %zu arguments, not %zu", builtin->name, *count,
                          given->count);
    }
    if (given->count > 0) {
        memcpy(bound, given->items, given->count * sizeof *bound);
    }
    for (size_t i = 0; i < given->named_count; i++) {
        struct slice name = given->named[i].name;
        int at = builtin->parameters[0] == '/' ? -1 : parameter_at(builtin->parameters, name);
        if (at < 0) {
            return jinja_fail(run, "'%s' takes no argument '%.*s'", builtin->name, (int)name.size,
                              name.data);
        }
        if (bound[at].kind != JINJA_ABSENT) {
            return jinja_fail(run, "'%s' gets the argument '%.*s' twice", builtin->name,
                              (int)name.size, name.data);
        }
        bound[at] = given->named[i].value;
    }
    for (size_t i = 0; i < needed; i++) {
        if (bound[i].kind == JINJA_ABSENT) {
            return jinja_fail(run, "'%s' needs %zu arguments", builtin->name, needed);
        }
    }
    return true;
}

bool jinja_call_builtin(struct jinja_run *run, const struct jinja_builtin *builtin,
                        struct jinja_value self, const struct jinja_arguments *arguments,
                        struct jinja_value *out) {
    struct jinja_value bound[JINJA_PARAMETERS_MAX] = {{.kind = JINJA_ABSENT}};
    struct jinja_arguments own = {.items = bound};
    if (!builtin->call) {
        return jinja_fail(run, "'%s' is not supported", builtin->name);
    }
    if (builtin->parameters) {
        if (!bind(run, builtin, arguments, bound, &own.count)) {
            return false;
        }
        arguments = &own;
    }
    if (!jinja_enter(run)) {
        return false;
    }
    bool done = builtin->call(run, self, arguments, out);
    run->depth--;
    return done;
}

bool jinja_integer_argument(struct jinja_run *run, const struct jinja_arguments *arguments,
                            size_t index, int64_t otherwise, int64_t *out) {
    *out = otherwise;
    return !jinja_given(arguments, index) || jinja_value_integer(arguments->items[index], out) ||
           jinja_fail(run, "an argument is a %s and should be an int",
                      jinja_value_type(arguments->items[index]));
}

bool jinja_string_argument(struct jinja_run *run, const struct jinja_arguments *arguments,
                           size_t index, const struct jinja_string **out) {
    *out = arguments->items[index].string;
    return arguments->items[index].kind == JINJA_STRING ||
           jinja_fail(run, "an argument is a %s and should be a str",
                      jinja_value_type(arguments->items[index]));
}

// --- Macros --------------------------------------------------------------------------------------

struct invocation {
    const struct jinja_node *macro;
    const struct jinja_arguments *given;
    struct jinja_scope *scope;
    size_t parameters;
    bool own_caller; // `caller` is an ordinary parameter
};

static const struct jinja_named *named_argument(const struct jinja_arguments *given,
                                                const char *name) {
    for (size_t i = 0; i < given->named_count; i++) {
        if (slice_is(given->named[i].name, name)) {
            return &given->named[i];
        }
    }
    return NULL;
}

// Parameters that were given, by position or name; of the others the default.
static bool bind_parameters(struct jinja_run *run, struct invocation *call) {
    size_t at = 0;
    for (const struct jinja_node *p = call->macro->first; p; p = p->next, at++) {
        const struct jinja_named *named = named_argument(call->given, p->name);
        struct jinja_value value = jinja_undefined(JINJA_MISSING_VARIABLE, p->name);
        call->own_caller = call->own_caller || strcmp(p->name, "caller") == 0;
        if (at < call->given->count) {
            value = call->given->items[at];
        } else if (named) {
            value = named->value;
        } else if (p->first) {
            continue;
        }
        if (!jinja_scope_set(run, call->scope, p->name, value)) {
            return false;
        }
    }
    call->parameters = at;
    at = 0;
    for (const struct jinja_node *p = call->macro->first; p; p = p->next, at++) {
        struct jinja_value value;
        if (p->first && at >= call->given->count && !named_argument(call->given, p->name) &&
            (!jinja_eval(run, p->first, &value) ||
             !jinja_scope_set(run, call->scope, p->name, value))) {
            return false;
        }
    }
    return true;
}

static bool is_parameter(const struct invocation *call, struct slice name) {
    size_t at = 0;
    for (const struct jinja_node *p = call->macro->first; p; p = p->next, at++) {
        if (at >= call->given->count && slice_is(name, p->name)) {
            return true;
        }
    }
    return false;
}

static bool takes_caller(const struct invocation *call) {
    return (call->macro->operation & JINJA_TAKES_CALLER) && !call->own_caller;
}

// Named arguments that are no parameter.
static bool bind_rest_named(struct jinja_run *run, struct invocation *call,
                            struct jinja_value kwargs) {
    for (size_t i = 0; i < call->given->named_count; i++) {
        const struct jinja_named *named = &call->given->named[i];
        struct jinja_value key;
        if (is_parameter(call, named->name) ||
            (takes_caller(call) && slice_is(named->name, "caller"))) {
            continue;
        }
        if (!(call->macro->operation & JINJA_TAKES_KWARGS)) {
            return jinja_fail(run, "the macro '%s' takes no argument '%.*s'",
                              call->macro->name ? call->macro->name : "caller",
                              (int)named->name.size, named->name.data);
        }
        if (!jinja_make_string(run, named->name, JINJA_TEMPLATE, &key) ||
            !jinja_set(run, kwargs, key, named->value)) {
            return false;
        }
    }
    return true;
}

static bool bind_specials(struct jinja_run *run, struct invocation *call,
                          const struct jinja_specials *names) {
    struct jinja_value varargs, kwargs;
    if (!jinja_make_list(run, JINJA_TUPLE, &varargs)) {
        return false;
    }
    if (!jinja_dict_new(&run->arena, JINJA_DICT, &kwargs)) {
        return jinja_fail_memory(run);
    }
    if (call->given->count > call->parameters &&
        !(call->macro->operation & JINJA_TAKES_VARARGS)) {
        return jinja_fail(run, "the macro '%s' takes at most %zu arguments, not %zu",
                          call->macro->name ? call->macro->name : "caller", call->parameters,
                          call->given->count);
    }
    for (size_t i = call->parameters; i < call->given->count; i++) {
        if (!jinja_add(run, varargs, call->given->items[i])) {
            return false;
        }
    }
    if (!bind_rest_named(run, call, kwargs)) {
        return false;
    }
    const struct jinja_named *caller = named_argument(call->given, "caller");
    struct jinja_value none = jinja_undefined(JINJA_MISSING_OTHER, "no caller was given");
    return (!takes_caller(call) ||
            jinja_scope_set(run, call->scope, names->caller, caller ? caller->value : none)) &&
           (!(call->macro->operation & JINJA_TAKES_KWARGS) ||
            jinja_scope_set(run, call->scope, names->kwargs, kwargs)) &&
           (!(call->macro->operation & JINJA_TAKES_VARARGS) ||
            jinja_scope_set(run, call->scope, names->varargs, varargs));
}

static bool call_macro(struct jinja_run *run, const struct jinja_function *function,
                       const struct jinja_arguments *given, struct jinja_value *out) {
    struct invocation call = {.macro = function->macro, .given = given};
    struct jinja_scope *outer = run->scope;
    enum jinja_flow flow;
    if (!jinja_scope_push(run, function->scope, &call.scope)) {
        return false;
    }
    run->scope = call.scope;
    bool done = bind_parameters(run, &call) && bind_specials(run, &call, run->specials) &&
                jinja_execute_apart(run, call.macro->body, call.scope, out, &flow);
    run->scope = outer;
    return done;
}

// loop(items) of a recursive loop: what its body writes for these.
static bool call_loop(struct jinja_run *run, struct jinja_loop *loop,
                      const struct jinja_arguments *given, struct jinja_value *out) {
    if (loop->node->operation == 0) {
        return jinja_fail(run, "only a loop that is marked recursive can be called");
    }
    if (given->count != 1 || given->named_count > 0) {
        return jinja_fail(run, "a loop is called with one argument");
    }
    struct jinja_text *above = run->out, text = {0};
    struct jinja_scope *outer = run->scope;
    run->scope = loop->outer;
    run->out = &text;
    enum jinja_flow flow =
        jinja_execute_for(run, loop->node, given->items[0], loop->depth + 1);
    run->scope = outer;
    run->out = above;
    if (flow == JINJA_FAILED) {
        jinja_text_release(&text);
        return false;
    }
    return jinja_finish(run, &text, out);
}

bool jinja_call(struct jinja_run *run, struct jinja_value callee,
                const struct jinja_arguments *arguments, struct jinja_value *out) {
    if (callee.kind == JINJA_UNDEFINED) {
        return jinja_fail_undefined(run, callee);
    }
    if (callee.kind != JINJA_FUNCTION && callee.kind != JINJA_LOOP) {
        return jinja_fail(run, "a %s cannot be called", jinja_value_type(callee));
    }
    if (callee.kind == JINJA_FUNCTION && callee.function->builtin) {
        return jinja_call_builtin(run, callee.function->builtin, callee.function->self, arguments,
                                  out);
    }
    if (!jinja_enter(run)) {
        return false;
    }
    const struct jinja_node *at = run->at;
    bool done = callee.kind == JINJA_LOOP ? call_loop(run, callee.loop, arguments, out)
                                          : call_macro(run, callee.function, arguments, out);
    run->at = done ? at : run->at;
    run->depth--;
    return done;
}
