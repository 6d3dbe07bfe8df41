// SPDX-License-Identifier: Apache-2.0
#include "grammar/grammar_program.h"

#include "base/limits.h"

#include <stdlib.h>

// ---- emitting operations ------------------------------------------------------------------------
// Expressions are compiled from their end: each is given the place where to go on.
struct compiler {
    const struct grammar_ast *ast;
    struct grammar_program *program;
    struct grammar_op *ops; // on the heap while they grow
    struct grammar_routine *routines;
    uint32_t ops_capacity, routines_capacity;
    locum_status status; // the first failure
    locum_error *error;
};

static void fail_memory(struct compiler *c) {
    if (c->status == LOCUM_OK)
        c->status = status_fail(c->error, LOCUM_E_OUT_OF_MEMORY, "no memory for the grammar");
}

static uint32_t emit(struct compiler *c, enum grammar_op_kind kind, uint32_t arg, uint32_t next) {
    struct grammar_program *p = c->program;
    if (c->status != LOCUM_OK) return GRAMMAR_AT_FAIL;
    if (p->op_count == LIMIT_GRAMMAR_OPERATIONS) {
        c->status = status_fail(c->error, LOCUM_E_ARGUMENT,
                                "the grammar is too big: more than %d operations",
                                LIMIT_GRAMMAR_OPERATIONS);
        return GRAMMAR_AT_FAIL;
    }
    if (!grammar_intern_grow((void **)&c->ops, &c->ops_capacity, p->op_count + 1,
                             sizeof *c->ops)) {
        fail_memory(c);
        return GRAMMAR_AT_FAIL;
    }
    c->ops[p->op_count] = (struct grammar_op){kind, arg, next};
    return p->op_count++;
}

static uint32_t add_routine(struct compiler *c, uint32_t least, uint32_t most) {
    struct grammar_program *p = c->program;
    if (!grammar_intern_grow((void **)&c->routines, &c->routines_capacity, p->routine_count + 1,
                             sizeof *c->routines)) {
        fail_memory(c);
        return 0;
    }
    c->routines[p->routine_count] =
        (struct grammar_routine){.entry = GRAMMAR_AT_FAIL, .least = least, .most = most};
    return p->routine_count++;
}

static void set_range(uint32_t *set, uint8_t first, uint8_t last) {
    for (uint32_t byte = first; byte <= last; byte++)
        set[byte / 32] |= 1u << (byte % 32);
}

static uint32_t emit_set(struct compiler *c, const uint32_t *set, uint32_t next) {
    uint32_t number = grammar_intern_add(&c->program->sets, set, GRAMMAR_SET_WORDS);
    if (number == GRAMMAR_INTERN_NONE) fail_memory(c);
    return emit(c, GRAMMAR_OP_SET, number, next);
}

static uint32_t emit_bytes(struct compiler *c, uint8_t first, uint8_t last, uint32_t next) {
    uint32_t set[GRAMMAR_SET_WORDS] = {0};
    set_range(set, first, last);
    return emit_set(c, set, next);
}

static uint32_t emit_text(struct compiler *c, struct slice text, uint32_t next) {
    for (size_t i = text.size; i-- > 0;)
        next = emit_bytes(c, (uint8_t)text.data[i], (uint8_t)text.data[i], next);
    return next;
}

// Characters of one byte share one operation; the others are runs of byte ranges.
static uint32_t emit_class(struct compiler *c, grammar_expr expr, uint32_t next) {
    uint32_t ascii[GRAMMAR_SET_WORDS] = {0}, entry = GRAMMAR_AT_FAIL;
    bool has_ascii = false;
    for (uint32_t i = 0; i < expr->count; i++) {
        struct grammar_range range = expr->ranges[i];
        struct grammar_bytes run;
        while (grammar_ranges_next_bytes(&range, &run)) {
            if (run.count == 1) {
                set_range(ascii, run.first[0], run.last[0]);
                has_ascii = true;
                continue;
            }
            uint32_t at = next;
            for (uint32_t j = run.count; j-- > 0;)
                at = emit_bytes(c, run.first[j], run.last[j], at);
            entry = entry == GRAMMAR_AT_FAIL ? at : emit(c, GRAMMAR_OP_SPLIT, at, entry);
        }
    }
    if (!has_ascii) return entry;
    uint32_t at = emit_set(c, ascii, next);
    return entry == GRAMMAR_AT_FAIL ? at : emit(c, GRAMMAR_OP_SPLIT, at, entry);
}

static uint32_t emit_expr(struct compiler *c, grammar_expr expr, uint32_t next);

static uint32_t emit_repeat(struct compiler *c, grammar_expr expr, uint32_t next) {
    grammar_expr item = expr->items[0];
    if (expr->least == 0 && expr->most == 1)
        return emit(c, GRAMMAR_OP_SPLIT, emit_expr(c, item, next), next);
    if (expr->least <= 1 && expr->most == GRAMMAR_UNBOUNDED) {
        uint32_t loop = emit(c, GRAMMAR_OP_SPLIT, GRAMMAR_AT_FAIL, next),
                 body = emit_expr(c, item, loop);
        if (c->status != LOCUM_OK) return GRAMMAR_AT_FAIL;
        c->ops[loop].arg = body;
        return expr->least == 0 ? loop : body;
    }
    uint32_t routine = add_routine(c, expr->least, expr->most),
             entry = emit_expr(c, item, GRAMMAR_AT_RETURN);
    if (c->status != LOCUM_OK) return GRAMMAR_AT_FAIL;
    c->routines[routine].entry = entry;
    c->program->counts = true;
    return emit(c, GRAMMAR_OP_REPEAT, routine, next);
}

static uint32_t emit_expr(struct compiler *c, grammar_expr expr, uint32_t next) {
    if (c->status != LOCUM_OK) return GRAMMAR_AT_FAIL;
    uint32_t entry = next;
    switch (expr->kind) {
    case GRAMMAR_EMPTY: return next;
    case GRAMMAR_NEVER: return GRAMMAR_AT_FAIL;
    case GRAMMAR_TEXT: return emit_text(c, expr->text, next);
    case GRAMMAR_BYTES: return emit_bytes(c, (uint8_t)expr->least, (uint8_t)expr->most, next);
    case GRAMMAR_CLASS: return emit_class(c, expr, next);
    case GRAMMAR_SEQUENCE:
        for (uint32_t i = expr->count; i-- > 0;)
            entry = emit_expr(c, expr->items[i], entry);
        return entry;
    case GRAMMAR_CHOICE:
        entry = emit_expr(c, expr->items[expr->count - 1], next);
        for (uint32_t i = expr->count - 1; i-- > 0;)
            entry = emit(c, GRAMMAR_OP_SPLIT, emit_expr(c, expr->items[i], next), entry);
        return entry;
    case GRAMMAR_REPEAT: return emit_repeat(c, expr, next);
    case GRAMMAR_RULE: return emit(c, GRAMMAR_OP_CALL, expr->rule, next);
    }
    return GRAMMAR_AT_FAIL;
}

static void emit_rules(struct compiler *c) {
    emit(c, GRAMMAR_OP_ACCEPT, 0, 0);
    emit(c, GRAMMAR_OP_FAIL, 0, 0);
    emit(c, GRAMMAR_OP_RETURN, 0, 0);
    c->program->rule_count = c->ast->count;
    for (uint32_t i = 0; i < c->ast->count; i++)
        add_routine(c, 1, 1);
    for (uint32_t i = 0; i < c->ast->count && c->status == LOCUM_OK; i++) {
        if (!c->ast->rules[i].expr) {
            c->status = status_fail(c->error, LOCUM_E_ARGUMENT, "rule '%s' is not defined",
                                    c->ast->rules[i].name);
            return;
        }
        uint32_t entry = emit_expr(c, c->ast->rules[i].expr, GRAMMAR_AT_RETURN);
        if (c->status == LOCUM_OK) c->routines[i].entry = entry;
    }
}

// ---- which routines match the empty text, which match any ---------------------------------------
// Operations are reached from many places, so both questions are answered by going round until
// nothing changes. An operation mostly depends on ones with lower numbers: few rounds are needed.
static bool op_productive(const struct grammar_program *p, const bool *productive,
                          const struct grammar_op *op) {
    switch (op->kind) {
    case GRAMMAR_OP_ACCEPT:
    case GRAMMAR_OP_RETURN: return true;
    case GRAMMAR_OP_FAIL: return false;
    case GRAMMAR_OP_SET: return productive[op->next];
    case GRAMMAR_OP_SPLIT: return productive[op->arg] || productive[op->next];
    case GRAMMAR_OP_CALL: return productive[op->next] && p->routines[op->arg].productive;
    case GRAMMAR_OP_REPEAT:
        return productive[op->next] &&
               (p->routines[op->arg].least == 0 || p->routines[op->arg].productive);
    }
    return false;
}

// Can the operation pass on to op->next without a byte?
static bool passes(const struct grammar_program *p, const struct grammar_op *op) {
    return op->kind == GRAMMAR_OP_SPLIT ||
           (op->kind == GRAMMAR_OP_CALL && p->routines[op->arg].nullable) ||
           (op->kind == GRAMMAR_OP_REPEAT &&
            (p->routines[op->arg].least == 0 || p->routines[op->arg].nullable));
}

static bool op_nullable(const struct grammar_program *p, const bool *nullable,
                        const struct grammar_op *op) {
    return op->kind == GRAMMAR_OP_RETURN || (passes(p, op) && nullable[op->next]) ||
           (op->kind == GRAMMAR_OP_SPLIT && nullable[op->arg]);
}

static void find_properties(struct grammar_program *p, bool *productive, bool *nullable) {
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < p->op_count; i++) {
            bool a = op_productive(p, productive, &p->ops[i]),
                 b = op_nullable(p, nullable, &p->ops[i]);
            changed |= a != productive[i] || b != nullable[i];
            productive[i] = a;
            nullable[i] = b;
        }
        for (uint32_t i = 0; i < p->routine_count; i++) {
            p->routines[i].productive = productive[p->routines[i].entry];
            p->routines[i].nullable = nullable[p->routines[i].entry];
        }
    }
    // A body that may be empty makes up for rounds that are missing.
    for (uint32_t i = 0; i < p->routine_count; i++) {
        if (p->routines[i].nullable) p->routines[i].least = 0;
    }
}

// ---- which routine calls which before any byte --------------------------------------------------
struct call {
    uint32_t caller, callee;
};

struct ranking {
    struct grammar_program *program;
    struct call *calls;  // [op_count] at most: an operation belongs to one routine
    uint32_t call_count;
    uint32_t *todo;      // [op_count]
    uint32_t *seen;      // [op_count]: 1 + the routine that saw it last
    uint32_t *waiting;   // [routine_count]: callers without a rank
    uint32_t *ready;     // [routine_count]
};

// The calls that the routine reaches without a byte.
static void find_calls(struct ranking *r, uint32_t routine) {
    const struct grammar_program *p = r->program;
    uint32_t count = 0, entry = p->routines[routine].entry;
    r->todo[count++] = entry;
    r->seen[entry] = routine + 1;
    while (count > 0) {
        const struct grammar_op *op = &p->ops[r->todo[--count]];
        uint32_t next[2], n = 0;
        if (op->kind == GRAMMAR_OP_SPLIT) next[n++] = op->arg;
        if (passes(p, op)) next[n++] = op->next;
        if (op->kind == GRAMMAR_OP_CALL || op->kind == GRAMMAR_OP_REPEAT)
            r->calls[r->call_count++] = (struct call){routine, op->arg};
        for (uint32_t i = 0; i < n; i++) {
            if (r->seen[next[i]] == routine + 1 || next[i] <= GRAMMAR_AT_RETURN) continue;
            r->seen[next[i]] = routine + 1;
            r->todo[count++] = next[i];
        }
    }
}

static int by_caller(const void *a, const void *b) {
    const struct call *x = a, *y = b;
    return (x->caller > y->caller) - (x->caller < y->caller);
}

// A rule on a cycle of routines that wait for each other.
static locum_status left_recursive(const struct ranking *r, const struct grammar_ast *ast,
                                   locum_error *error) {
    uint32_t at = 0, *waits_for = r->ready;
    for (uint32_t i = 0; i < r->call_count; i++) {
        if (r->waiting[r->calls[i].caller] == 0) continue;
        at = r->calls[i].callee;
        waits_for[at] = r->calls[i].caller;
    }
    for (uint32_t i = 0; i < r->program->routine_count; i++)
        at = waits_for[at]; // now surely on the cycle
    while (at >= r->program->rule_count)
        at = waits_for[at];
    return status_fail(error, LOCUM_E_ARGUMENT,
                       "rule '%s' is left-recursive: it can come to itself before any character",
                       ast->rules[at].name);
}

// Callers before callees; what is left over waits for itself.
static locum_status rank(struct ranking *r, const struct grammar_ast *ast, locum_error *error) {
    struct grammar_program *p = r->program;
    for (uint32_t i = 0; i < p->routine_count; i++)
        find_calls(r, i);
    if (r->call_count > 1) qsort(r->calls, r->call_count, sizeof *r->calls, by_caller);
    uint32_t *first = r->todo; // [routine]: its first call; op_count > routine_count
    for (uint32_t i = r->call_count; i-- > 0;) {
        first[r->calls[i].caller] = i;
        r->waiting[r->calls[i].callee]++;
    }
    uint32_t ready = 0, done = 0;
    for (uint32_t i = 0; i < p->routine_count; i++) {
        if (r->waiting[i] == 0) r->ready[ready++] = i;
    }
    while (done < ready) {
        uint32_t routine = r->ready[done];
        p->routines[routine].rank = done++;
        for (uint32_t i = first[routine];
             i < r->call_count && r->calls[i].caller == routine; i++) {
            if (--r->waiting[r->calls[i].callee] == 0) r->ready[ready++] = r->calls[i].callee;
        }
    }
    return done == p->routine_count ? LOCUM_OK : left_recursive(r, ast, error);
}

static locum_status check(struct grammar_program *p, const struct grammar_ast *ast,
                          locum_error *error) {
    struct arena arena;
    arena_init(&arena, 0);
    bool *productive = arena_alloc(&arena, p->op_count),
         *nullable = arena_alloc(&arena, p->op_count);
    struct ranking r = {
        .program = p,
        .calls = arena_array(&arena, p->op_count, sizeof *r.calls),
        .todo = arena_array(&arena, (size_t)p->op_count + p->routine_count, sizeof *r.todo),
        .seen = arena_array(&arena, p->op_count, sizeof *r.seen),
        .waiting = arena_array(&arena, p->routine_count, sizeof *r.waiting),
        .ready = arena_array(&arena, p->routine_count, sizeof *r.ready)};
    locum_status status = LOCUM_OK;
    if (!productive || !nullable || !r.calls || !r.todo || !r.seen || !r.waiting || !r.ready) {
        status = status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for the grammar");
    } else {
        find_properties(p, productive, nullable);
        status = rank(&r, ast, error);
    }
    for (uint32_t i = 0; status == LOCUM_OK && i < p->op_count; i++) {
        if (!productive[i]) p->ops[i] = (struct grammar_op){.kind = GRAMMAR_OP_FAIL};
    }
    if (status == LOCUM_OK && !p->routines[0].productive)
        status = status_fail(error, LOCUM_E_ARGUMENT, "rule '%s' has no end: no text can match it",
                             ast->rules[0].name);
    arena_release(&arena);
    return status;
}

// ---- the whole ----------------------------------------------------------------------------------
// Sets split the bytes into classes: bytes of one class behave alike everywhere.
static void find_classes(struct grammar_program *p) {
    p->class_count = 1;
    for (uint32_t set = 0; set < p->sets.count; set++) {
        uint32_t moved[256] = {0}, kept[256] = {0}; // members of each class that are in, and not
        for (uint32_t byte = 0; byte < 256; byte++) {
            uint32_t *side = grammar_program_in_set(p, set, (uint8_t)byte) ? moved : kept;
            side[p->class_of[byte]]++;
        }
        uint32_t renamed[256], old_count = p->class_count;
        for (uint32_t i = 0; i < old_count; i++)
            renamed[i] = moved[i] > 0 && kept[i] > 0 ? p->class_count++ : i;
        for (uint32_t byte = 0; byte < 256; byte++) {
            if (grammar_program_in_set(p, set, (uint8_t)byte))
                p->class_of[byte] = (uint8_t)renamed[p->class_of[byte]];
        }
    }
    for (uint32_t byte = 256; byte-- > 0;)
        p->class_byte[p->class_of[byte]] = (uint8_t)byte;
}

// From the heap, where they grew, into the arena.
static void keep_arrays(struct compiler *c) {
    struct grammar_program *p = c->program;
    p->ops = arena_array(&p->arena, p->op_count, sizeof *p->ops);
    p->routines = arena_array(&p->arena, p->routine_count, sizeof *p->routines);
    if (!p->ops || !p->routines) {
        fail_memory(c);
        return;
    }
    memcpy(p->ops, c->ops, p->op_count * sizeof *p->ops);
    memcpy(p->routines, c->routines, p->routine_count * sizeof *p->routines);
}

locum_status grammar_program_compile(const struct grammar_ast *ast, struct grammar_program **out,
                                     locum_error *error) {
    struct grammar_program *program = heap_resize(NULL, sizeof *program);
    *out = NULL;
    if (!program || ast->failed || ast->count == 0) {
        heap_free(program);
        return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for the grammar");
    }
    *program = (struct grammar_program){0};
    arena_init(&program->arena, 0);
    struct compiler c = {.ast = ast, .program = program, .error = error};
    emit_rules(&c);
    if (c.status == LOCUM_OK) keep_arrays(&c);
    if (c.status == LOCUM_OK) c.status = check(program, ast, error);
    if (c.status == LOCUM_OK) find_classes(program);
    heap_free(c.ops);
    heap_free(c.routines);
    if (c.status != LOCUM_OK) {
        grammar_program_free(program);
        return c.status;
    }
    *out = program;
    return LOCUM_OK;
}

void grammar_program_free(struct grammar_program *program) {
    if (!program) return;
    grammar_intern_release(&program->sets);
    arena_release(&program->arena);
    heap_free(program);
}

size_t grammar_program_bytes(const struct grammar_program *program) {
    return sizeof *program + program->arena.bytes + grammar_intern_bytes(&program->sets);
}
