// SPDX-License-Identifier: Apache-2.0
#include "jinja/jinja_loop.h"

#include "jinja/jinja_eval.h"
#include "jinja/jinja_exec.h"

bool jinja_loop_begin(struct jinja_run *run, const struct jinja_node *node,
                      struct jinja_scope *outer, struct jinja_value items, int64_t depth,
                      struct jinja_loop **out) {
    struct jinja_loop *loop = arena_alloc(&run->arena, sizeof *loop);
    if (!loop) {
        return jinja_fail_memory(run);
    }
    *loop = (struct jinja_loop){.node = node, .outer = outer, .index = -1, .depth = depth};
    *out = loop;
    return jinja_walk_begin(run, items, &loop->walk);
}

// Does the loop's filter let the item pass?
static bool passes(struct jinja_run *run, const struct jinja_loop *loop, struct jinja_value item,
                   bool *pass) {
    struct jinja_scope *scope, *inner = run->scope;
    struct jinja_value answer;
    if (!jinja_scope_push(run, loop->outer, &scope)) {
        return false;
    }
    run->scope = scope;
    bool done = jinja_assign(run, loop->node->first, item) &&
                jinja_eval(run, loop->node->third, &answer);
    run->scope = inner;
    *pass = done && jinja_value_true(answer);
    return done;
}

static bool pull(struct jinja_run *run, struct jinja_loop *loop, struct jinja_value *item,
                 bool *done) {
    for (bool pass = false; !pass;) {
        *done = loop->ended;
        if (loop->ended) {
            return true;
        }
        if (!jinja_walk_next(run, &loop->walk, item, &loop->ended)) {
            return false;
        }
        pass = !loop->ended && (!loop->node->third || loop->counted);
        if (!pass && !loop->ended && !passes(run, loop, *item, &pass)) {
            return false;
        }
    }
    *done = false;
    return true;
}

bool jinja_loop_next(struct jinja_run *run, struct jinja_loop *loop, bool *done) {
    struct jinja_value item = loop->after;
    *done = false;
    if (!loop->has_after && !pull(run, loop, &item, done)) {
        return false;
    }
    loop->has_after = false;
    if (!*done) {
        loop->index++;
        loop->before = loop->current;
        loop->current = item;
    }
    return true;
}

static bool peek(struct jinja_run *run, struct jinja_loop *loop) {
    bool done = false;
    if (loop->has_after) {
        return true;
    }
    if (!pull(run, loop, &loop->after, &done)) {
        return false;
    }
    loop->has_after = !done;
    return true;
}

// --- What `loop` has -----------------------------------------------------------------------------

bool jinja_loop_length(struct jinja_run *run, struct jinja_loop *loop, int64_t *length) {
    size_t count;
    struct jinja_value rest;
    if (loop->counted) {
        *length = loop->length;
        return true;
    }
    if (!loop->node->third && jinja_value_length(loop->walk.value, &count)) {
        *length = (int64_t)count;
        return true;
    }
    if (!jinja_make_list(run, JINJA_LIST, &rest)) {
        return false;
    }
    for (;;) {
        struct jinja_value item;
        bool done;
        if (!pull(run, loop, &item, &done)) {
            return false;
        }
        if (done) {
            break;
        }
        if (!jinja_add(run, rest, item)) {
            return false;
        }
    }
    *length = loop->index + 1 + loop->has_after + (int64_t)rest.list->count;
    loop->length = *length;
    loop->counted = true;
    loop->ended = false;
    loop->walk = (struct jinja_walk){.value = rest};
    return true;
}

enum loop_member {
    LOOP_INDEX,
    LOOP_INDEX0,
    LOOP_REVINDEX,
    LOOP_REVINDEX0,
    LOOP_LENGTH,
    LOOP_FIRST,
    LOOP_LAST,
    LOOP_PREVIOUS,
    LOOP_NEXT,
    LOOP_DEPTH,
    LOOP_DEPTH0
};

static const char *const member_names[] = {
    [LOOP_INDEX] = "index",       [LOOP_INDEX0] = "index0",     [LOOP_REVINDEX] = "revindex",
    [LOOP_REVINDEX0] = "revindex0", [LOOP_LENGTH] = "length",   [LOOP_FIRST] = "first",
    [LOOP_LAST] = "last",         [LOOP_PREVIOUS] = "previtem", [LOOP_NEXT] = "nextitem",
    [LOOP_DEPTH] = "depth",       [LOOP_DEPTH0] = "depth0",
};

static bool loop_cycle(struct jinja_run *run, struct jinja_value self,
                       const struct jinja_arguments *arguments, struct jinja_value *out) {
    if (arguments->count == 0 || arguments->named_count > 0) {
        return jinja_fail(run, "loop.cycle takes the values to choose from");
    }
    *out = arguments->items[(size_t)self.loop->index % arguments->count];
    return true;
}

static bool loop_changed(struct jinja_run *run, struct jinja_value self,
                         const struct jinja_arguments *arguments, struct jinja_value *out) {
    struct jinja_value now;
    if (!jinja_make_list(run, JINJA_TUPLE, &now)) {
        return false;
    }
    for (size_t i = 0; i < arguments->count; i++) {
        if (!jinja_add(run, now, arguments->items[i])) {
            return false;
        }
    }
    *out = jinja_bool(!jinja_value_equal(now, self.loop->changed));
    self.loop->changed = now;
    return true;
}

static const struct jinja_builtin loop_methods[] = {
    {"cycle", NULL, loop_cycle},
    {"changed", NULL, loop_changed},
};

static bool counted_member(struct jinja_run *run, struct jinja_loop *loop, enum loop_member which,
                           struct jinja_value *out) {
    int64_t length = 0;
    bool needs_length =
        which == LOOP_LENGTH || which == LOOP_REVINDEX || which == LOOP_REVINDEX0;
    if (needs_length && !jinja_loop_length(run, loop, &length)) {
        return false;
    }
    const int64_t values[] = {
        [LOOP_INDEX] = loop->index + 1,         [LOOP_INDEX0] = loop->index,
        [LOOP_REVINDEX] = length - loop->index, [LOOP_REVINDEX0] = length - loop->index - 1,
        [LOOP_LENGTH] = length,                 [LOOP_DEPTH] = loop->depth + 1,
        [LOOP_DEPTH0] = loop->depth,
    };
    *out = jinja_int(values[which]);
    return true;
}

static bool item_member(struct jinja_run *run, struct jinja_loop *loop, enum loop_member which,
                        struct jinja_value *out) {
    if ((which == LOOP_LAST || which == LOOP_NEXT) && !peek(run, loop)) {
        return false;
    }
    if (which == LOOP_FIRST || which == LOOP_LAST) {
        *out = jinja_bool(which == LOOP_FIRST ? loop->index == 0 : !loop->has_after);
    } else if (which == LOOP_PREVIOUS) {
        *out = loop->index > 0
                   ? loop->before
                   : jinja_undefined(JINJA_MISSING_OTHER, "there is no previous item");
    } else {
        *out = loop->has_after ? loop->after
                               : jinja_undefined(JINJA_MISSING_OTHER, "there is no next item");
    }
    return true;
}

bool jinja_loop_member(struct jinja_run *run, struct jinja_value loop, struct slice name,
                       struct jinja_value *out, bool *found) {
    const struct jinja_builtin *method = jinja_builtin_find(
        loop_methods, sizeof loop_methods / sizeof loop_methods[0], name);
    if (method) {
        return jinja_make_method(run, method, loop, out);
    }
    for (size_t i = 0; i < sizeof member_names / sizeof member_names[0]; i++) {
        if (slice_is(name, member_names[i])) {
            enum loop_member which = (enum loop_member)i;
            bool items = which == LOOP_FIRST || which == LOOP_LAST || which == LOOP_PREVIOUS ||
                         which == LOOP_NEXT;
            return items ? item_member(run, loop.loop, which, out)
                         : counted_member(run, loop.loop, which, out);
        }
    }
    *found = false;
    return true;
}
