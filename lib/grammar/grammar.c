// SPDX-License-Identifier: Apache-2.0
#include "grammar/grammar.h"

#include "grammar/grammar_gbnf.h"
#include "grammar/grammar_json.h"
#include "grammar/grammar_schema.h"
#include "grammar/grammar_until.h"

static locum_status read_gbnf(const struct grammar_request *request, struct grammar_ast *ast,
                              locum_error *error) {
    return grammar_gbnf_read(request->text, ast, error);
}

static locum_status read_schema(const struct grammar_request *request, struct grammar_ast *ast,
                                locum_error *error) {
    struct grammar_json json;
    grammar_expr expr;
    grammar_ast_add_rule(ast, "root");
    grammar_json_init(&json, ast);
    STATUS_TRY(grammar_schema_read(request->text, &json, &expr, error));
    grammar_ast_define(ast, 0, expr);
    return LOCUM_OK;
}

static locum_status read_object(const struct grammar_request *request, struct grammar_ast *ast,
                                locum_error *error) {
    (void)request, (void)error;
    struct grammar_json json;
    grammar_ast_add_rule(ast, "root");
    grammar_json_init(&json, ast);
    grammar_ast_define(ast, 0, json.object);
    return LOCUM_OK;
}

static locum_status (*const readers[GRAMMAR_KINDS])(const struct grammar_request *request,
                                                    struct grammar_ast *ast, locum_error *error) = {
    [GRAMMAR_KIND_GBNF] = read_gbnf,
    [GRAMMAR_KIND_SCHEMA] = read_schema,
    [GRAMMAR_KIND_OBJECT] = read_object};

// The old root becomes a rule of its own, behind whatever comes up to `after`.
static void put_behind(struct grammar_ast *ast, struct slice after) {
    if (ast->failed || !ast->rules[0].expr) return;
    grammar_expr strict = grammar_ast_new_rule(ast, "root", ast->rules[0].expr);
    grammar_ast_define(ast, 0, GRAMMAR_SEQ(ast, grammar_until(ast, after), strict));
}

locum_status grammar_open(const struct grammar_request *request, struct grammar_program **out,
                          locum_error *error) {
    struct arena arena;
    arena_init(&arena, 0);
    struct grammar_ast ast = {.arena = &arena};
    *out = NULL;
    locum_status status = readers[request->kind](request, &ast, error);
    if (status == LOCUM_OK && request->after.size > 0) put_behind(&ast, request->after);
    if (status == LOCUM_OK) status = grammar_program_compile(&ast, out, error);
    arena_release(&arena);
    return status;
}
