// SPDX-License-Identifier: Apache-2.0
#include "jinja/jinja_exec.h"

#include "base/limits.h"
#include "jinja/jinja_call.h"
#include "jinja/jinja_eval.h"
#include "jinja/jinja_loop.h"
#include "jinja/jinja_print.h"

static enum jinja_flow go_on(bool done) {
    return done ? JINJA_GOES_ON : JINJA_FAILED;
}

// --- Names ---------------------------------------------------------------------------------------

static bool assign_parts(struct jinja_run *run, const struct jinja_node *target,
                         struct jinja_value value) {
    struct jinja_value parts;
    if (value.kind == JINJA_UNDEFINED) {
        return jinja_fail_undefined(run, value);
    }
    if (!jinja_collect(run, value, &parts)) {
        return false;
    }
    size_t at = 0;
    for (const struct jinja_node *part = target->first; part; part = part->next, at++) {
        if (at == parts.list->count) {
            return jinja_fail(run, "not enough values for these names: %zu", at);
        }
        if (!jinja_assign(run, part, parts.list->items[at])) {
            return false;
        }
    }
    return at == parts.list->count || jinja_fail(run, "too many values for %zu names", at);
}

static bool assign_member(struct jinja_run *run, const struct jinja_node *target,
                          struct jinja_value value) {
    struct jinja_value space;
    struct jinja_node name = {.kind = JINJA_NAME,
                              .line = target->line,
                              .column = target->column,
                              .name = target->name};
    if (!jinja_eval(run, &name, &space)) {
        return false;
    }
    run->at = target;
    if (space.kind != JINJA_NAMESPACE) {
        return jinja_fail(run, "'%s' is a %s, and only a namespace's members can be set",
                          target->name, jinja_value_type(space));
    }
    return jinja_set(run, space, target->value, value);
}

bool jinja_assign(struct jinja_run *run, const struct jinja_node *target,
                  struct jinja_value value) {
    run->at = target;
    switch (target->kind) {
    case JINJA_NAME:
        return jinja_scope_set(run, run->scope, target->name, value);
    case JINJA_MEMBER:
        return assign_member(run, target, value);
    default:
        return assign_parts(run, target, value);
    }
}

static enum jinja_flow exec_set(struct jinja_run *run, const struct jinja_node *node) {
    struct jinja_value value;
    return go_on(jinja_eval(run, node->second, &value) && jinja_assign(run, node->first, value));
}

// --- Bodies --------------------------------------------------------------------------------------

bool jinja_execute_apart(struct jinja_run *run, const struct jinja_node *list,
                         struct jinja_scope *scope, struct jinja_value *out,
                         enum jinja_flow *flow) {
    struct jinja_scope *outer = run->scope;
    struct jinja_text *above = run->out, text = {.bytes.limit = 2u * LIMIT_JINJA_OUTPUT};
    run->scope = scope;
    run->out = &text;
    *flow = jinja_execute(run, list);
    run->scope = outer;
    run->out = above;
    if (*flow != JINJA_FAILED) {
        return jinja_finish(run, &text, out);
    }
    jinja_text_release(&text);
    return false;
}

// The text of a body with a scope of its own, filtered.
static enum jinja_flow body_text(struct jinja_run *run, const struct jinja_node *body,
                                 const struct jinja_node *filter, struct jinja_value *out) {
    enum jinja_flow flow = JINJA_FAILED;
    struct jinja_scope *scope;
    if (!jinja_scope_push(run, run->scope, &scope) ||
        !jinja_execute_apart(run, body, scope, out, &flow)) {
        return JINJA_FAILED;
    }
    if (flow == JINJA_GOES_ON && !jinja_eval_filters(run, filter, *out, out)) {
        return JINJA_FAILED;
    }
    return flow; // left by break or continue: what was written goes nowhere
}

static enum jinja_flow exec_set_block(struct jinja_run *run, const struct jinja_node *node) {
    struct jinja_value text;
    enum jinja_flow flow = body_text(run, node->body, node->second, &text);
    return flow == JINJA_GOES_ON ? go_on(jinja_assign(run, node->first, text)) : flow;
}

static enum jinja_flow exec_filter_block(struct jinja_run *run, const struct jinja_node *node) {
    struct jinja_value text;
    enum jinja_flow flow = body_text(run, node->body, node->first, &text);
    return flow == JINJA_GOES_ON ? go_on(jinja_print(run, text, run->out)) : flow;
}

static enum jinja_flow exec_generation(struct jinja_run *run, const struct jinja_node *node) {
    struct jinja_value text;
    enum jinja_flow flow = body_text(run, node->body, NULL, &text);
    return flow == JINJA_GOES_ON ? go_on(jinja_print(run, text, run->out)) : flow;
}

static enum jinja_flow exec_with(struct jinja_run *run, const struct jinja_node *node) {
    struct jinja_scope *outer = run->scope, *scope;
    if (!jinja_scope_push(run, outer, &scope)) {
        return JINJA_FAILED;
    }
    for (const struct jinja_node *set = node->first; set; set = set->next) {
        struct jinja_value value;
        run->scope = outer;
        bool done = jinja_eval(run, set->second, &value);
        run->scope = scope;
        if (!done || !jinja_assign(run, set->first, value)) {
            run->scope = outer;
            return JINJA_FAILED;
        }
    }
    run->scope = scope;
    enum jinja_flow flow = jinja_execute(run, node->body);
    run->scope = outer;
    return flow;
}

// --- Conditions and loops ------------------------------------------------------------------------

static enum jinja_flow exec_if(struct jinja_run *run, const struct jinja_node *node) {
    struct jinja_value condition;
    if (!jinja_eval(run, node->first, &condition)) {
        return JINJA_FAILED;
    }
    return jinja_execute(run, jinja_value_true(condition) ? node->body : node->other);
}

static bool set_loop(struct jinja_run *run, struct jinja_loop *loop) {
    struct jinja_value value = {.kind = JINJA_LOOP, .loop = loop};
    return jinja_scope_set(run, run->scope, loop->node->name, value);
}

static enum jinja_flow run_loop(struct jinja_run *run, struct jinja_loop *loop) {
    struct jinja_scope *scope = NULL;
    for (bool done = false;;) {
        if (!jinja_loop_next(run, loop, &done)) {
            return JINJA_FAILED;
        }
        if (done) {
            return JINJA_GOES_ON;
        }
        // Each item has a scope of its own; without a macro in it, it can be used again.
        if ((!scope || scope->captured) && !jinja_scope_push(run, loop->outer, &scope)) {
            return JINJA_FAILED;
        }
        scope->count = 0;
        run->scope = scope;
        if (!set_loop(run, loop) || !jinja_assign(run, loop->node->first, loop->current)) {
            return JINJA_FAILED;
        }
        enum jinja_flow flow = jinja_execute(run, loop->node->body);
        if (flow == JINJA_FAILED || flow == JINJA_BREAKS) {
            return flow;
        }
    }
}

enum jinja_flow jinja_execute_for(struct jinja_run *run, const struct jinja_node *node,
                                  struct jinja_value items, int64_t depth) {
    struct jinja_scope *outer = run->scope, *scope;
    struct jinja_loop *loop;
    run->at = node;
    if (!jinja_loop_begin(run, node, outer, items, depth, &loop)) {
        return JINJA_FAILED;
    }
    enum jinja_flow flow = run_loop(run, loop);
    run->scope = outer;
    if (flow == JINJA_FAILED || loop->index >= 0 || !node->other) {
        return flow == JINJA_FAILED ? flow : JINJA_GOES_ON;
    }
    if (!jinja_scope_push(run, outer, &scope)) {
        return JINJA_FAILED;
    }
    run->scope = scope;
    flow = jinja_execute(run, node->other);
    run->scope = outer;
    return flow;
}

static enum jinja_flow exec_for(struct jinja_run *run, const struct jinja_node *node) {
    struct jinja_value items;
    if (!jinja_eval(run, node->second, &items)) {
        return JINJA_FAILED;
    }
    return jinja_execute_for(run, node, items, 0);
}

static enum jinja_flow exec_break(struct jinja_run *run, const struct jinja_node *node) {
    (void)run, (void)node;
    return JINJA_BREAKS;
}

static enum jinja_flow exec_continue(struct jinja_run *run, const struct jinja_node *node) {
    (void)run, (void)node;
    return JINJA_CONTINUES;
}

// --- Output and macros ---------------------------------------------------------------------------

static enum jinja_flow exec_data(struct jinja_run *run, const struct jinja_node *node) {
    return go_on(jinja_print(run, node->value, run->out));
}

static enum jinja_flow exec_output(struct jinja_run *run, const struct jinja_node *node) {
    struct jinja_value value;
    if (!jinja_eval(run, node->first, &value)) {
        return JINJA_FAILED;
    }
    run->at = node;
    return go_on(jinja_print(run, value, run->out));
}

static enum jinja_flow exec_macro(struct jinja_run *run, const struct jinja_node *node) {
    struct jinja_value macro;
    return go_on(jinja_make_macro(run, node, &macro) &&
                 jinja_scope_set(run, run->scope, node->name, macro));
}

static enum jinja_flow exec_call_block(struct jinja_run *run, const struct jinja_node *node) {
    struct jinja_value caller, callee, text;
    struct jinja_arguments given;
    if (!jinja_make_macro(run, node->second, &caller) ||
        !jinja_eval(run, node->first->first, &callee) ||
        !jinja_evaluate_arguments(run, node->first->second, &given)) {
        return JINJA_FAILED;
    }
    struct jinja_named *named =
        arena_array(&run->arena, given.named_count + 1, sizeof *named);
    if (!named) {
        return go_on(jinja_fail_memory(run));
    }
    if (given.named_count > 0) {
        memcpy(named, given.named, given.named_count * sizeof *named);
    }
    named[given.named_count++] = (struct jinja_named){slice_text("caller"), caller};
    given.named = named;
    run->at = node;
    return go_on(jinja_call(run, callee, &given, &text) && jinja_print(run, text, run->out));
}

typedef enum jinja_flow (*exec_fn)(struct jinja_run *run, const struct jinja_node *node);

static const exec_fn executors[JINJA_NODE_KINDS] = {
    [JINJA_DATA_TEXT] = exec_data,
    [JINJA_OUTPUT] = exec_output,
    [JINJA_IF] = exec_if,
    [JINJA_FOR] = exec_for,
    [JINJA_SET] = exec_set,
    [JINJA_SET_BLOCK] = exec_set_block,
    [JINJA_MACRO] = exec_macro,
    [JINJA_CALL_BLOCK] = exec_call_block,
    [JINJA_FILTER_BLOCK] = exec_filter_block,
    [JINJA_WITH] = exec_with,
    [JINJA_GENERATION] = exec_generation,
    [JINJA_BREAK] = exec_break,
    [JINJA_CONTINUE] = exec_continue,
};

static bool output_fits(struct jinja_run *run) {
    if (run->out->bytes.failed || run->out->marks.failed) {
        return jinja_fail_memory(run);
    }
    return run->out->bytes.size <= LIMIT_JINJA_OUTPUT ||
           jinja_fail(run, "the template writes more than %d MiB", LIMIT_JINJA_OUTPUT >> 20);
}

enum jinja_flow jinja_execute(struct jinja_run *run, const struct jinja_node *list) {
    enum jinja_flow flow = JINJA_GOES_ON;
    run->at = list ? list : run->at;
    if (!jinja_enter(run)) {
        return JINJA_FAILED;
    }
    for (; list && flow == JINJA_GOES_ON; list = list->next) {
        run->at = list;
        flow = jinja_step(run, 1) ? executors[list->kind](run, list) : JINJA_FAILED;
        if (flow != JINJA_FAILED && !output_fits(run)) {
            flow = JINJA_FAILED;
        }
    }
    run->depth--;
    return flow;
}
