// SPDX-License-Identifier: Apache-2.0
#include "jinja/jinja_eval.h"

#include "jinja/jinja_access.h"
#include "jinja/jinja_arithmetic.h"
#include "jinja/jinja_call.h"
#include "jinja/jinja_global.h"
#include "jinja/jinja_print.h"

static bool eval_const(struct jinja_run *run, const struct jinja_node *node,
                       struct jinja_value *out) {
    (void)run;
    *out = node->value;
    return true;
}

static bool eval_name(struct jinja_run *run, const struct jinja_node *node,
                      struct jinja_value *out) {
    for (const struct jinja_scope *scope = run->scope; scope; scope = scope->outer) {
        for (size_t i = 0; i < scope->count; i++) {
            if (scope->bindings[i].name == node->name) {
                *out = scope->bindings[i].value;
                return true;
            }
        }
    }
    const struct jinja_value *given =
        jinja_dict_get_text(run->variables, slice_text(node->name));
    if (given) {
        *out = *given;
        return true;
    }
    const struct jinja_builtin *global = jinja_global_find(slice_text(node->name));
    if (global && !global->call) {
        return jinja_fail(run, "'%s' is not supported", node->name);
    }
    if (global) {
        return jinja_make_method(run, global, jinja_none(), out);
    }
    *out = jinja_undefined(JINJA_MISSING_VARIABLE, node->name);
    return true;
}

static bool eval_items_of(struct jinja_run *run, const struct jinja_node *node,
                          struct jinja_value *out) {
    if (!jinja_make_list(run, (enum jinja_kind)node->operation, out)) {
        return false;
    }
    for (const struct jinja_node *item = node->first; item; item = item->next) {
        struct jinja_value value;
        if (!jinja_eval(run, item, &value) || !jinja_add(run, *out, value)) {
            return false;
        }
    }
    return true;
}

static bool eval_pairs_of(struct jinja_run *run, const struct jinja_node *node,
                          struct jinja_value *out) {
    if (!jinja_dict_new(&run->arena, JINJA_DICT, out)) {
        return jinja_fail_memory(run);
    }
    for (const struct jinja_node *pair = node->first; pair; pair = pair->next) {
        struct jinja_value key, value;
        if (!jinja_eval(run, pair->first, &key) || !jinja_eval(run, pair->second, &value) ||
            !jinja_set(run, *out, key, value)) {
            return false;
        }
    }
    return true;
}

static bool eval_choice(struct jinja_run *run, const struct jinja_node *node,
                        struct jinja_value *out) {
    struct jinja_value condition;
    if (!jinja_eval(run, node->second, &condition)) {
        return false;
    }
    if (jinja_value_true(condition)) {
        return jinja_eval(run, node->first, out);
    }
    if (node->third) {
        return jinja_eval(run, node->third, out);
    }
    *out = jinja_undefined(JINJA_MISSING_OTHER,
                           "the inline if-expression evaluated to false and has no else");
    return true;
}

static bool eval_or(struct jinja_run *run, const struct jinja_node *node, struct jinja_value *out) {
    return jinja_eval(run, node->first, out) &&
           (jinja_value_true(*out) || jinja_eval(run, node->second, out));
}

static bool eval_and(struct jinja_run *run, const struct jinja_node *node,
                     struct jinja_value *out) {
    return jinja_eval(run, node->first, out) &&
           (!jinja_value_true(*out) || jinja_eval(run, node->second, out));
}

static bool eval_not(struct jinja_run *run, const struct jinja_node *node,
                     struct jinja_value *out) {
    if (!jinja_eval(run, node->first, out)) {
        return false;
    }
    *out = jinja_bool(!jinja_value_true(*out));
    return true;
}

static bool eval_compare(struct jinja_run *run, const struct jinja_node *node,
                         struct jinja_value *out) {
    struct jinja_value left, right;
    if (!jinja_eval(run, node->first, &left)) {
        return false;
    }
    for (const struct jinja_node *next = node->second; next; next = next->next, left = right) {
        bool holds;
        if (!jinja_eval(run, next->first, &right)) {
            return false;
        }
        run->at = next;
        if (!jinja_relate(run, (enum jinja_relation)next->operation, left, right, &holds)) {
            return false;
        }
        *out = jinja_bool(holds);
        if (!holds) {
            break;
        }
    }
    return true;
}

static bool eval_binary(struct jinja_run *run, const struct jinja_node *node,
                        struct jinja_value *out) {
    struct jinja_value left, right;
    if (!jinja_eval(run, node->first, &left) || !jinja_eval(run, node->second, &right)) {
        return false;
    }
    run->at = node;
    return jinja_operate(run, (enum jinja_operation)node->operation, left, right, out);
}

static bool eval_concat(struct jinja_run *run, const struct jinja_node *node,
                        struct jinja_value *out) {
    struct jinja_value part;
    if (!jinja_make_string(run, slice_make("", 0), JINJA_TEMPLATE, out)) {
        return false;
    }
    for (const struct jinja_node *item = node->first; item; item = item->next) {
        if (!jinja_eval(run, item, &part)) {
            return false;
        }
        run->at = node;
        if (!jinja_to_string(run, part, &part) ||
            !jinja_join_strings(run, out->string, part.string, out)) {
            return false;
        }
    }
    return true;
}

static bool eval_sign(struct jinja_run *run, const struct jinja_node *node,
                      struct jinja_value *out) {
    struct jinja_value value;
    if (!jinja_eval(run, node->first, &value)) {
        return false;
    }
    run->at = node;
    return jinja_sign(run, node->operation == 1, value, out);
}

static bool eval_attr(struct jinja_run *run, const struct jinja_node *node,
                      struct jinja_value *out) {
    struct jinja_value object;
    if (!jinja_eval(run, node->first, &object)) {
        return false;
    }
    run->at = node;
    return jinja_get_attribute(run, object, node->value, out);
}

static bool eval_item(struct jinja_run *run, const struct jinja_node *node,
                      struct jinja_value *out) {
    struct jinja_value object, key;
    if (!jinja_eval(run, node->first, &object) || !jinja_eval(run, node->second, &key)) {
        return false;
    }
    run->at = node;
    return jinja_get_item(run, object, key, out);
}

static bool eval_slice(struct jinja_run *run, const struct jinja_node *node,
                       struct jinja_value *out) {
    const struct jinja_node *parts[3] = {node->second, node->third, node->other};
    struct jinja_value object, bounds[3];
    if (!jinja_eval(run, node->first, &object)) {
        return false;
    }
    for (int i = 0; i < 3; i++) {
        bounds[i] = jinja_none();
        if (parts[i] && !jinja_eval(run, parts[i], &bounds[i])) {
            return false;
        }
    }
    run->at = node;
    return jinja_get_slice(run, object, bounds, out);
}

static bool eval_call(struct jinja_run *run, const struct jinja_node *node,
                      struct jinja_value *out) {
    struct jinja_value callee;
    struct jinja_arguments arguments;
    if (!jinja_eval(run, node->first, &callee) ||
        !jinja_evaluate_arguments(run, node->second, &arguments)) {
        return false;
    }
    run->at = node;
    return jinja_call(run, callee, &arguments, out);
}

static bool apply_builtin(struct jinja_run *run, const struct jinja_node *node, const char *what,
                          struct jinja_value subject, struct jinja_value *out) {
    struct jinja_arguments arguments;
    if (!jinja_evaluate_arguments(run, node->second, &arguments)) {
        return false;
    }
    run->at = node;
    if (!node->builtin) {
        return jinja_fail(run, "there is no %s '%s'", what, node->name);
    }
    return jinja_call_builtin(run, node->builtin, subject, &arguments, out);
}

static bool eval_filter(struct jinja_run *run, const struct jinja_node *node,
                        struct jinja_value *out) {
    struct jinja_value subject;
    return jinja_eval(run, node->first, &subject) &&
           apply_builtin(run, node, "filter", subject, out);
}

static bool eval_test(struct jinja_run *run, const struct jinja_node *node,
                      struct jinja_value *out) {
    struct jinja_value subject;
    if (!jinja_eval(run, node->first, &subject) ||
        !apply_builtin(run, node, "test", subject, out)) {
        return false;
    }
    *out = jinja_bool(jinja_value_true(*out));
    return true;
}

bool jinja_eval_filters(struct jinja_run *run, const struct jinja_node *filter,
                        struct jinja_value subject, struct jinja_value *out) {
    if (!filter) {
        *out = subject;
        return true;
    }
    return jinja_enter(run) && (jinja_eval_filters(run, filter->first, subject, &subject) &&
                                apply_builtin(run, filter, "filter", subject, out)) &&
           (run->depth--, true);
}

typedef bool (*eval_fn)(struct jinja_run *run, const struct jinja_node *node,
                        struct jinja_value *out);

static const eval_fn evaluators[JINJA_NODE_KINDS] = {
    [JINJA_CONST] = eval_const,
    [JINJA_NAME] = eval_name,
    [JINJA_ITEMS_OF] = eval_items_of,
    [JINJA_PAIRS_OF] = eval_pairs_of,
    [JINJA_CHOICE] = eval_choice,
    [JINJA_OR] = eval_or,
    [JINJA_AND] = eval_and,
    [JINJA_NOT] = eval_not,
    [JINJA_COMPARE] = eval_compare,
    [JINJA_BINARY] = eval_binary,
    [JINJA_CONCAT] = eval_concat,
    [JINJA_SIGN] = eval_sign,
    [JINJA_ATTR] = eval_attr,
    [JINJA_ITEM] = eval_item,
    [JINJA_SLICE] = eval_slice,
    [JINJA_CALL] = eval_call,
    [JINJA_FILTER] = eval_filter,
    [JINJA_TEST] = eval_test,
};

bool jinja_eval(struct jinja_run *run, const struct jinja_node *node, struct jinja_value *out) {
    run->at = node;
    if (!jinja_enter(run)) {
        return false;
    }
    bool done = evaluators[node->kind](run, node, out);
    run->depth--;
    return done;
}
