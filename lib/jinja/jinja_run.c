// SPDX-License-Identifier: Apache-2.0
#include "jinja/jinja_run.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/limits.h"

bool jinja_fail(struct jinja_run *run, const char *format, ...) {
    char what[LOCUM_ERROR_TEXT_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    if (run->status == LOCUM_OK) { // the first one is the cause
        run->status = status_fail(run->error, LOCUM_E_ARGUMENT, "line %u, column %u: %s",
                                  run->at ? run->at->line : 1, run->at ? run->at->column : 1, what);
    }
    return false;
}

bool jinja_fail_memory(struct jinja_run *run) {
    if (run->status == LOCUM_OK) {
        run->status = status_fail(run->error, LOCUM_E_OUT_OF_MEMORY,
                                  "no memory for what the template makes (at most %d MiB)",
                                  LIMIT_JINJA_MEMORY >> 20);
    }
    return false;
}

bool jinja_fail_undefined(struct jinja_run *run, struct jinja_value value) {
    switch ((enum jinja_missing)value.part) {
    case JINJA_MISSING_VARIABLE:
        return jinja_fail(run, "'%s' is undefined", value.name);
    case JINJA_MISSING_ATTRIBUTE:
        return jinja_fail(run, "nothing here has the attribute or item '%s'", value.name);
    default:
        return jinja_fail(run, "%s", value.name);
    }
}

bool jinja_step(struct jinja_run *run, uint64_t steps) {
    run->steps += steps;
    return run->steps <= LIMIT_JINJA_STEPS ||
           jinja_fail(run, "the template takes more than %d steps", LIMIT_JINJA_STEPS);
}

bool jinja_enter(struct jinja_run *run) {
    if (run->depth == LIMIT_JINJA_DEPTH) {
        return jinja_fail(run, "the template recurses deeper than %d", LIMIT_JINJA_DEPTH);
    }
    run->depth++;
    return jinja_step(run, 1) || (run->depth--, false);
}

bool jinja_scope_push(struct jinja_run *run, struct jinja_scope *outer, struct jinja_scope **out) {
    *out = arena_alloc(&run->arena, sizeof **out);
    if (!*out) {
        return jinja_fail_memory(run);
    }
    **out = (struct jinja_scope){.outer = outer};
    return true;
}

bool jinja_scope_set(struct jinja_run *run, struct jinja_scope *scope, const char *name,
                     struct jinja_value value) {
    for (size_t i = 0; i < scope->count; i++) {
        if (scope->bindings[i].name == name) {
            scope->bindings[i].value = value;
            return true;
        }
    }
    if (scope->count == scope->capacity) {
        size_t capacity = scope->capacity ? 2 * scope->capacity : 4;
        struct jinja_binding *bindings = arena_array(&run->arena, capacity, sizeof *bindings);
        if (!bindings) {
            return jinja_fail_memory(run);
        }
        if (scope->count > 0) {
            memcpy(bindings, scope->bindings, scope->count * sizeof *bindings);
        }
        scope->bindings = bindings;
        scope->capacity = capacity;
    }
    scope->bindings[scope->count++] = (struct jinja_binding){name, value};
    return true;
}

bool jinja_make_string(struct jinja_run *run, struct slice text, enum jinja_origin origin,
                       struct jinja_value *out) {
    return jinja_string_new(&run->arena, text, origin, out) || jinja_fail_memory(run);
}

bool jinja_make_part(struct jinja_run *run, const struct jinja_string *string, size_t begin,
                     size_t end, struct jinja_value *out) {
    struct jinja_string *part = arena_alloc(&run->arena, sizeof *part);
    if (!part) {
        return jinja_fail_memory(run);
    }
    *part = (struct jinja_string){.data = string->data + begin,
                                  .marks = string->marks ? string->marks + begin : NULL,
                                  .size = end - begin,
                                  .origin = string->origin,
                                  .markup = string->markup};
    if (string->count == string->size) { // ASCII
        part->count = part->size;
    } else {
        jinja_count_characters(slice_make(part->data, part->size), &part->count);
    }
    *out = (struct jinja_value){.kind = JINJA_STRING, .string = part};
    return jinja_step(run, part->size / 256);
}

bool jinja_make_list(struct jinja_run *run, enum jinja_kind kind, struct jinja_value *out) {
    return jinja_list_new(&run->arena, kind, out) || jinja_fail_memory(run);
}

bool jinja_add(struct jinja_run *run, struct jinja_value list, struct jinja_value item) {
    return jinja_step(run, 1) &&
           (jinja_list_add(&run->arena, list.list, item) || jinja_fail_memory(run));
}

bool jinja_make_pair(struct jinja_run *run, struct jinja_value a, struct jinja_value b,
                     struct jinja_value *out) {
    return jinja_make_list(run, JINJA_TUPLE, out) && jinja_add(run, *out, a) &&
           jinja_add(run, *out, b);
}

bool jinja_set(struct jinja_run *run, struct jinja_value dict, struct jinja_value key,
               struct jinja_value value) {
    if (!jinja_value_hashable(key)) {
        return jinja_fail(run, "a %s cannot be a key", jinja_value_type(key));
    }
    return jinja_step(run, 1) &&
           (jinja_dict_set(&run->arena, dict.dict, key, value) || jinja_fail_memory(run));
}

bool jinja_finish(struct jinja_run *run, struct jinja_text *text, struct jinja_value *out) {
    uint64_t steps = text->bytes.size / 64;
    return (jinja_text_finish(text, &run->arena, out) || jinja_fail_memory(run)) &&
           jinja_step(run, steps);
}
