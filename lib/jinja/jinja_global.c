// SPDX-License-Identifier: Apache-2.0
#include "jinja/jinja_global.h"

#include "base/limits.h"
#include "jinja/jinja_iterate.h"
#include "jinja/jinja_print.h"
#include "jinja/jinja_time.h"

#define GLOBAL(name)                                                                               \
    static bool global_##name(struct jinja_run *run, struct jinja_value self,                      \
                              const struct jinja_arguments *arguments, struct jinja_value *out)

GLOBAL(range) {
    (void)self;
    int64_t range[3] = {0, 0, 1};
    if (!jinja_integer_argument(run, arguments, 0, 0, &range[0]) ||
        !jinja_integer_argument(run, arguments, 1, 0, &range[1]) ||
        !jinja_integer_argument(run, arguments, 2, 1, &range[2])) {
        return false;
    }
    if (!jinja_given(arguments, 1)) {
        range[1] = range[0];
        range[0] = 0;
    }
    if (range[2] == 0) {
        return jinja_fail(run, "the step of a range is zero");
    }
    if (!jinja_make_list(run, JINJA_RANGE, out)) {
        return false;
    }
    memcpy(out->list->range, range, sizeof range);
    for (int64_t i = range[0]; range[2] > 0 ? i < range[1] : i > range[1];) {
        if (out->list->count == LIMIT_JINJA_RANGE) {
            return jinja_fail(run, "a range has at most %d numbers", LIMIT_JINJA_RANGE);
        }
        if (!jinja_add(run, *out, jinja_int(i))) {
            return false;
        }
        if (__builtin_add_overflow(i, range[2], &i)) {
            break;
        }
    }
    return true;
}

// What dict(...) and namespace(...) hold: another dict or pairs, then the named arguments.
static bool fill_from(struct jinja_run *run, struct jinja_value source, struct jinja_value dict) {
    struct jinja_value list, pair;
    struct jinja_value items = source;
    if (source.kind == JINJA_DICT) {
        items = (struct jinja_value){.kind = JINJA_VIEW, .part = JINJA_ITEMS, .dict = source.dict};
    }
    if (!jinja_collect(run, items, &list)) {
        return false;
    }
    for (size_t i = 0; i < list.list->count; i++) {
        if (!jinja_collect(run, list.list->items[i], &pair)) {
            return false;
        }
        if (pair.list->count != 2) {
            return jinja_fail(run, "a dict is made of pairs");
        }
        if (!jinja_set(run, dict, pair.list->items[0], pair.list->items[1])) {
            return false;
        }
    }
    return true;
}

static bool make_dict(struct jinja_run *run, const struct jinja_arguments *arguments,
                      enum jinja_kind kind, struct jinja_value *out) {
    if (arguments->count > 1) {
        return jinja_fail(run, "a dict is made of at most one other");
    }
    if (!jinja_dict_new(&run->arena, kind, out)) {
        return jinja_fail_memory(run);
    }
    if (arguments->count == 1 && !fill_from(run, arguments->items[0], *out)) {
        return false;
    }
    for (size_t i = 0; i < arguments->named_count; i++) {
        struct jinja_value key;
        if (!jinja_make_string(run, arguments->named[i].name, JINJA_TEMPLATE, &key) ||
            !jinja_set(run, *out, key, arguments->named[i].value)) {
            return false;
        }
    }
    return true;
}

GLOBAL(dict) {
    (void)self;
    return make_dict(run, arguments, JINJA_DICT, out);
}

GLOBAL(namespace) {
    (void)self;
    return make_dict(run, arguments, JINJA_NAMESPACE, out);
}

GLOBAL(raise_exception) {
    (void)self;
    struct jinja_value text;
    (void)out;
    return jinja_to_string(run, arguments->items[0], &text) &&
           jinja_fail(run, "%.*s", (int)text.string->size, text.string->data);
}

GLOBAL(strftime_now) {
    (void)self;
    const struct jinja_string *format;
    return jinja_string_argument(run, arguments, 0, &format) &&
           jinja_strftime(run, format, &run->options->now, out);
}

static const struct jinja_builtin globals[] = {
    {"range", "/ start | stop step", global_range},
    {"dict", NULL, global_dict},
    {"namespace", NULL, global_namespace},
    {"raise_exception", "message", global_raise_exception},
    {"strftime_now", "format", global_strftime_now},
    {"self", NULL, NULL},
    {"lipsum", NULL, NULL},
    {"cycler", NULL, NULL},
    {"joiner", NULL, NULL},
};

const struct jinja_builtin *jinja_global_find(struct slice name) {
    return jinja_builtin_find(globals, sizeof globals / sizeof globals[0], name);
}
