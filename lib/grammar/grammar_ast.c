// SPDX-License-Identifier: Apache-2.0
#include "grammar/grammar_ast.h"

static const struct grammar_expr empty_expr = {.kind = GRAMMAR_EMPTY};
static const struct grammar_expr never_expr = {.kind = GRAMMAR_NEVER};

// The expression in the arena, or NULL.
static grammar_expr keep(struct grammar_ast *ast, const struct grammar_expr *expr) {
    struct grammar_expr *kept = arena_alloc(ast->arena, sizeof *kept);
    if (!kept) {
        ast->failed = true;
        return NULL;
    }
    *kept = *expr;
    return kept;
}

grammar_expr grammar_ast_empty(struct grammar_ast *ast) {
    (void)ast;
    return &empty_expr;
}

grammar_expr grammar_ast_never(struct grammar_ast *ast) {
    (void)ast;
    return &never_expr;
}

grammar_expr grammar_ast_text(struct grammar_ast *ast, struct slice text) {
    if (text.size == 0) return &empty_expr;
    char *copy = arena_copy_text(ast->arena, text.data, text.size);
    if (!copy) ast->failed = true;
    return copy ? keep(ast, &(struct grammar_expr){.kind = GRAMMAR_TEXT,
                                                   .text = slice_make(copy, text.size)})
                : NULL;
}

grammar_expr grammar_ast_literal(struct grammar_ast *ast, const char *text) {
    return grammar_ast_text(ast, slice_text(text));
}

grammar_expr grammar_ast_bytes(struct grammar_ast *ast, uint8_t first, uint8_t last) {
    return keep(ast, &(struct grammar_expr){.kind = GRAMMAR_BYTES, .least = first, .most = last});
}

grammar_expr grammar_ast_class(struct grammar_ast *ast, const struct grammar_range *ranges,
                               uint32_t count, bool negated) {
    struct grammar_range *copy = arena_array(ast->arena, (size_t)count + 2, sizeof *copy),
                         *inverse = copy;
    if (copy && negated) inverse = arena_array(ast->arena, (size_t)count + 3, sizeof *copy);
    if (!copy || !inverse) {
        ast->failed = true;
        return NULL;
    }
    if (count > 0) memcpy(copy, ranges, count * sizeof *ranges);
    count = grammar_ranges_normalise(copy, count);
    if (negated) count = grammar_ranges_complement(copy, count, inverse);
    if (count == 0) return &never_expr;
    return keep(ast,
                &(struct grammar_expr){.kind = GRAMMAR_CLASS, .count = count, .ranges = inverse});
}

grammar_expr grammar_ast_range(struct grammar_ast *ast, uint32_t first, uint32_t last) {
    return grammar_ast_class(ast, &(struct grammar_range){first, last}, 1, false);
}

static grammar_expr combine(struct grammar_ast *ast, const struct grammar_expr *head,
                            const grammar_expr *items, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (!items[i]) return NULL;
    }
    grammar_expr *copy = arena_array(ast->arena, count, sizeof *copy);
    if (!copy) {
        ast->failed = true;
        return NULL;
    }
    memcpy(copy, items, count * sizeof *items);
    struct grammar_expr expr = *head;
    expr.count = count;
    expr.items = copy;
    return keep(ast, &expr);
}

grammar_expr grammar_ast_sequence(struct grammar_ast *ast, const grammar_expr *items,
                                  uint32_t count) {
    if (count == 0) return &empty_expr;
    if (count == 1) return items[0];
    return combine(ast, &(struct grammar_expr){.kind = GRAMMAR_SEQUENCE}, items, count);
}

grammar_expr grammar_ast_choice(struct grammar_ast *ast, const grammar_expr *items,
                                uint32_t count) {
    if (count == 0) return &never_expr;
    if (count == 1) return items[0];
    return combine(ast, &(struct grammar_expr){.kind = GRAMMAR_CHOICE}, items, count);
}

grammar_expr grammar_ast_repeat(struct grammar_ast *ast, grammar_expr item, uint32_t least,
                                uint32_t most) {
    if (most == 0) return &empty_expr;
    if (least == 1 && most == 1) return item;
    return combine(ast,
                   &(struct grammar_expr){.kind = GRAMMAR_REPEAT, .least = least, .most = most},
                   &item, 1);
}

uint32_t grammar_ast_add_rule(struct grammar_ast *ast, const char *name) {
    if (ast->count == ast->capacity) {
        uint32_t capacity = ast->capacity > 0 ? 2 * ast->capacity : 32;
        struct grammar_rule *rules = arena_array(ast->arena, capacity, sizeof *rules);
        if (!rules) {
            ast->failed = true;
            return UINT32_MAX;
        }
        if (ast->count > 0) memcpy(rules, ast->rules, ast->count * sizeof *rules);
        ast->rules = rules;
        ast->capacity = capacity;
    }
    const char *copy = arena_copy_text(ast->arena, name, strlen(name));
    if (!copy) {
        ast->failed = true;
        return UINT32_MAX;
    }
    ast->rules[ast->count] = (struct grammar_rule){.name = copy};
    return ast->count++;
}

void grammar_ast_define(struct grammar_ast *ast, uint32_t rule, grammar_expr expr) {
    if (rule < ast->count) ast->rules[rule].expr = expr;
}

grammar_expr grammar_ast_rule(struct grammar_ast *ast, uint32_t rule) {
    return keep(ast, &(struct grammar_expr){.kind = GRAMMAR_RULE, .rule = rule});
}

grammar_expr grammar_ast_new_rule(struct grammar_ast *ast, const char *name, grammar_expr expr) {
    uint32_t rule = grammar_ast_add_rule(ast, name);
    grammar_ast_define(ast, rule, expr);
    return grammar_ast_rule(ast, rule);
}
