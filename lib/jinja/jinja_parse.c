// SPDX-License-Identifier: Apache-2.0
//
// Statements.
#include "jinja/jinja_parse.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/limits.h"

struct jinja_name {
    struct jinja_name *next;
    const char *text;
};

static locum_status parse_block(struct jinja_parser *parser, const char *const *ends,
                                struct jinja_node **out);

// --- What both halves use ------------------------------------------------------------------------

locum_status jinja_parse_fail(struct jinja_parser *parser, const struct jinja_token *at,
                              const char *format, ...) {
    char what[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return status_fail(parser->error, LOCUM_E_FORMAT, "line %u, column %u: %s", at->line,
                       at->column, what);
}

static locum_status out_of_memory(struct jinja_parser *parser) {
    return status_fail(parser->error, LOCUM_E_OUT_OF_MEMORY, "no memory for the template");
}

locum_status jinja_parse_node(struct jinja_parser *parser, enum jinja_node_kind kind,
                              const struct jinja_token *at, struct jinja_node **out) {
    struct jinja_node *node = arena_alloc(parser->arena, sizeof *node);
    if (!node) {
        return out_of_memory(parser);
    }
    *node = (struct jinja_node){.kind = kind, .line = at->line, .column = at->column};
    *out = node;
    return LOCUM_OK;
}

locum_status jinja_parse_deeper(struct jinja_parser *parser) {
    if (parser->nesting == LIMIT_JINJA_NESTING) {
        return jinja_parse_fail(parser, parser->token, "nested deeper than %d",
                                LIMIT_JINJA_NESTING);
    }
    parser->nesting++;
    return LOCUM_OK;
}

bool jinja_token_is(const struct jinja_token *token, const char *text) {
    return (token->kind == JINJA_TOKEN_OPERATOR || token->kind == JINJA_TOKEN_NAME) &&
           slice_is(token->text, text);
}

bool jinja_parse_skip(struct jinja_parser *parser, const char *text) {
    bool found = jinja_token_is(parser->token, text);
    parser->token += found;
    return found;
}

locum_status jinja_parse_expect(struct jinja_parser *parser, const char *text) {
    return jinja_parse_skip(parser, text)
               ? LOCUM_OK
               : jinja_parse_fail(parser, parser->token, "'%s' is expected", text);
}

// The one address of a name.
static locum_status intern(struct jinja_parser *parser, struct slice text, const char **out) {
    for (struct jinja_name *name = parser->names; name; name = name->next) {
        if (slice_is(text, name->text)) {
            *out = name->text;
            return LOCUM_OK;
        }
    }
    struct jinja_name *name = arena_alloc(parser->arena, sizeof *name);
    const char *copy = arena_copy_text(parser->arena, text.data, text.size);
    if (!name || !copy) {
        return out_of_memory(parser);
    }
    *name = (struct jinja_name){.next = parser->names, .text = copy};
    parser->names = name;
    *out = copy;
    return LOCUM_OK;
}

locum_status jinja_parse_name(struct jinja_parser *parser, const char **out) {
    struct slice text = parser->token->text;
    if (parser->token->kind != JINJA_TOKEN_NAME) {
        return jinja_parse_fail(parser, parser->token, "a name is expected");
    }
    parser->token++;
    return intern(parser, text, out);
}

static locum_status expect_end(struct jinja_parser *parser) {
    if (parser->token->kind != JINJA_TOKEN_BLOCK_END) {
        return jinja_parse_fail(parser, parser->token, "the end of this tag is expected");
    }
    parser->token++;
    return LOCUM_OK;
}

// The rest of a tag, and what follows up to {% with one of `ends`, whose word is left standing.
static locum_status parse_body(struct jinja_parser *parser, const char *const *ends,
                               struct jinja_node **out) {
    jinja_parse_skip(parser, ":");
    STATUS_TRY(expect_end(parser));
    return parse_block(parser, ends, out);
}

// A body that has a frame of its own: what is in it is no longer conditional.
static locum_status parse_inner(struct jinja_parser *parser, const char *const *ends,
                                struct jinja_node **out) {
    bool soft = parser->soft;
    parser->soft = false;
    STATUS_TRY(parse_body(parser, ends, out));
    parser->soft = soft;
    return LOCUM_OK;
}

// --- Statements ----------------------------------------------------------------------------------

static locum_status parse_set(struct jinja_parser *parser, struct jinja_node *node) {
    static const char *const ends[] = {"endset", NULL};
    STATUS_TRY(jinja_parse_target(parser, "=", true, &node->first));
    if (jinja_parse_skip(parser, "=")) {
        return jinja_parse_tuple(parser, false, NULL, &node->second);
    }
    node->kind = JINJA_SET_BLOCK;
    STATUS_TRY(jinja_parse_filters(parser, NULL, false, &node->second));
    STATUS_TRY(parse_inner(parser, ends, &node->body));
    parser->token++;
    return LOCUM_OK;
}

static locum_status parse_for(struct jinja_parser *parser, struct jinja_node *node) {
    static const char *const ends[] = {"endfor", "else", NULL};
    STATUS_TRY(intern(parser, slice_text("loop"), &node->name));
    const struct jinja_token *target = parser->token;
    STATUS_TRY(jinja_parse_target(parser, "in", false, &node->first));
    for (; target < parser->token; target++) {
        if (jinja_token_is(target, "loop")) {
            return jinja_parse_fail(parser, target, "'loop' cannot be the target of a loop");
        }
    }
    STATUS_TRY(jinja_parse_expect(parser, "in"));
    STATUS_TRY(jinja_parse_tuple(parser, true, "recursive", &node->second));
    if (jinja_parse_skip(parser, "if")) {
        bool soft = parser->soft;
        parser->soft = false;
        STATUS_TRY(jinja_parse_expression(parser, false, &node->third));
        parser->soft = soft;
    }
    node->operation = jinja_parse_skip(parser, "recursive");
    parser->loops++;
    STATUS_TRY(parse_inner(parser, ends, &node->body));
    parser->loops--;
    if (!jinja_parse_skip(parser, "endfor")) {
        parser->token++;
        STATUS_TRY(parse_inner(parser, ends, &node->other));
        return jinja_parse_expect(parser, "endfor");
    }
    return LOCUM_OK;
}

static locum_status parse_if(struct jinja_parser *parser, struct jinja_node *node) {
    static const char *const ends[] = {"elif", "else", "endif", NULL};
    bool soft = parser->soft;
    parser->soft = true;
    for (;;) {
        STATUS_TRY(jinja_parse_tuple(parser, true, NULL, &node->first));
        STATUS_TRY(parse_body(parser, ends, &node->body));
        if (!jinja_parse_skip(parser, "elif")) {
            break;
        }
        STATUS_TRY(jinja_parse_node(parser, JINJA_IF, parser->token, &node->other));
        node = node->other;
    }
    if (jinja_parse_skip(parser, "else")) {
        STATUS_TRY(parse_body(parser, ends + 2, &node->other));
    }
    parser->soft = soft;
    return jinja_parse_expect(parser, "endif");
}

static locum_status parse_parameters(struct jinja_parser *parser, struct jinja_node **next) {
    bool defaults = false;
    STATUS_TRY(jinja_parse_expect(parser, "("));
    while (!jinja_parse_skip(parser, ")")) {
        STATUS_TRY(jinja_parse_node(parser, JINJA_PARAMETER, parser->token, next));
        STATUS_TRY(jinja_parse_name(parser, &(*next)->name));
        if (jinja_parse_skip(parser, "=")) {
            STATUS_TRY(jinja_parse_expression(parser, false, &(*next)->first));
            defaults = true;
        } else if (defaults) {
            return jinja_parse_fail(parser, parser->token,
                                    "a parameter without a default follows one with a default");
        }
        next = &(*next)->next;
        if (!jinja_token_is(parser->token, ")")) {
            STATUS_TRY(jinja_parse_expect(parser, ","));
        }
    }
    return LOCUM_OK;
}

// Names that mean something special when the body uses them.
static void note_specials(const struct jinja_token *from, const struct jinja_token *to,
                          struct jinja_node *macro) {
    for (; from < to; from++) {
        if (from->kind == JINJA_TOKEN_NAME) {
            macro->operation |= (slice_is(from->text, "varargs") ? JINJA_TAKES_VARARGS : 0u) |
                                (slice_is(from->text, "kwargs") ? JINJA_TAKES_KWARGS : 0u) |
                                (slice_is(from->text, "caller") ? JINJA_TAKES_CALLER : 0u);
        }
    }
}

// Parameters and body of a macro or of what a call block passes on.
static locum_status parse_macro_body(struct jinja_parser *parser, const char *const *ends,
                                     struct jinja_node *macro) {
    unsigned loops = parser->loops;
    parser->loops = 0;
    const struct jinja_token *begin = parser->token;
    STATUS_TRY(parse_inner(parser, ends, &macro->body));
    note_specials(begin, parser->token, macro);
    parser->loops = loops;
    parser->token++;
    return LOCUM_OK;
}

static locum_status parse_macro(struct jinja_parser *parser, struct jinja_node *node) {
    static const char *const ends[] = {"endmacro", NULL};
    STATUS_TRY(jinja_parse_name(parser, &node->name));
    STATUS_TRY(parse_parameters(parser, &node->first));
    return parse_macro_body(parser, ends, node);
}

static locum_status parse_call_block(struct jinja_parser *parser, struct jinja_node *node) {
    static const char *const ends[] = {"endcall", NULL};
    STATUS_TRY(jinja_parse_node(parser, JINJA_MACRO, parser->token, &node->second));
    if (jinja_token_is(parser->token, "(")) {
        STATUS_TRY(parse_parameters(parser, &node->second->first));
    }
    const struct jinja_token *at = parser->token;
    STATUS_TRY(jinja_parse_expression(parser, false, &node->first));
    if (node->first->kind != JINJA_CALL) {
        return jinja_parse_fail(parser, at, "a call is expected");
    }
    return parse_macro_body(parser, ends, node->second);
}

static locum_status parse_filter_block(struct jinja_parser *parser, struct jinja_node *node) {
    static const char *const ends[] = {"endfilter", NULL};
    STATUS_TRY(jinja_parse_filters(parser, NULL, true, &node->first));
    STATUS_TRY(parse_inner(parser, ends, &node->body));
    parser->token++;
    return LOCUM_OK;
}

static locum_status parse_with(struct jinja_parser *parser, struct jinja_node *node) {
    static const char *const ends[] = {"endwith", NULL};
    struct jinja_node **next = &node->first;
    while (parser->token->kind != JINJA_TOKEN_BLOCK_END) {
        if (next != &node->first) {
            STATUS_TRY(jinja_parse_expect(parser, ","));
        }
        STATUS_TRY(jinja_parse_node(parser, JINJA_SET, parser->token, next));
        STATUS_TRY(jinja_parse_target(parser, "=", false, &(*next)->first));
        STATUS_TRY(jinja_parse_expect(parser, "="));
        STATUS_TRY(jinja_parse_expression(parser, false, &(*next)->second));
        next = &(*next)->next;
    }
    STATUS_TRY(parse_inner(parser, ends, &node->body));
    parser->token++;
    return LOCUM_OK;
}

static locum_status parse_generation(struct jinja_parser *parser, struct jinja_node *node) {
    static const char *const ends[] = {"endgeneration", NULL};
    return parse_macro_body(parser, ends, node);
}

static locum_status parse_leave(struct jinja_parser *parser, struct jinja_node *node) {
    (void)node;
    return parser->loops > 0 ? LOCUM_OK
                             : jinja_parse_fail(parser, parser->token - 1, "this is in no loop");
}

static locum_status parse_print(struct jinja_parser *parser, struct jinja_node *node) {
    STATUS_TRY(jinja_parse_expression(parser, false, &node->first));
    if (jinja_token_is(parser->token, ",")) {
        return jinja_parse_fail(parser, parser->token, "print takes one expression");
    }
    return LOCUM_OK;
}

static locum_status parse_unsupported(struct jinja_parser *parser, struct jinja_node *node) {
    const struct jinja_token *word = parser->token - 1;
    return status_fail(parser->error, LOCUM_E_UNSUPPORTED,
                       "line %u, column %u: the tag '%.*s' is not supported", node->line,
                       node->column, (int)word->text.size, word->text.data);
}

static const struct statement {
    const char *word;
    enum jinja_node_kind kind;
    locum_status (*parse)(struct jinja_parser *parser, struct jinja_node *node);
} statements[] = {
    {"set", JINJA_SET, parse_set},
    {"if", JINJA_IF, parse_if},
    {"for", JINJA_FOR, parse_for},
    {"macro", JINJA_MACRO, parse_macro},
    {"break", JINJA_BREAK, parse_leave},
    {"continue", JINJA_CONTINUE, parse_leave},
    {"generation", JINJA_GENERATION, parse_generation},
    {"call", JINJA_CALL_BLOCK, parse_call_block},
    {"filter", JINJA_FILTER_BLOCK, parse_filter_block},
    {"with", JINJA_WITH, parse_with},
    {"print", JINJA_OUTPUT, parse_print},
    {"block", JINJA_OUTPUT, parse_unsupported},
    {"extends", JINJA_OUTPUT, parse_unsupported},
    {"include", JINJA_OUTPUT, parse_unsupported},
    {"import", JINJA_OUTPUT, parse_unsupported},
    {"from", JINJA_OUTPUT, parse_unsupported},
    {"autoescape", JINJA_OUTPUT, parse_unsupported},
};

static locum_status parse_statement(struct jinja_parser *parser, struct jinja_node **out) {
    const struct jinja_token *word = parser->token;
    for (size_t i = 0; i < sizeof statements / sizeof statements[0]; i++) {
        if (word->kind == JINJA_TOKEN_NAME && slice_is(word->text, statements[i].word)) {
            STATUS_TRY(jinja_parse_node(parser, statements[i].kind, word, out));
            parser->token++;
            STATUS_TRY(jinja_parse_deeper(parser));
            STATUS_TRY(statements[i].parse(parser, *out));
            parser->nesting--;
            return expect_end(parser);
        }
    }
    return jinja_parse_fail(parser, word, "there is no tag '%.*s'", (int)word->text.size,
                            word->text.data);
}

static bool is_one_of(const struct jinja_token *token, const char *const *ends) {
    for (; ends && *ends; ends++) {
        if (jinja_token_is(token, *ends)) {
            return true;
        }
    }
    return false;
}

static locum_status parse_output(struct jinja_parser *parser, struct jinja_node **out) {
    STATUS_TRY(jinja_parse_node(parser, JINJA_OUTPUT, parser->token++, out));
    STATUS_TRY(jinja_parse_tuple(parser, false, NULL, &(*out)->first));
    if (parser->token->kind != JINJA_TOKEN_VARIABLE_END) {
        return jinja_parse_fail(parser, parser->token, "the end of this output is expected");
    }
    parser->token++;
    return LOCUM_OK;
}

static locum_status parse_data(struct jinja_parser *parser, struct jinja_node **out) {
    STATUS_TRY(jinja_parse_node(parser, JINJA_DATA_TEXT, parser->token, out));
    struct slice text = parser->token++->text;
    return jinja_string_wrap(parser->arena, text, NULL, JINJA_TEMPLATE, &(*out)->value)
               ? LOCUM_OK
               : out_of_memory(parser);
}

static locum_status parse_block(struct jinja_parser *parser, const char *const *ends,
                                struct jinja_node **out) {
    for (; parser->token->kind != JINJA_TOKEN_END; out = &(*out)->next) {
        if (parser->token->kind == JINJA_TOKEN_DATA) {
            STATUS_TRY(parse_data(parser, out));
        } else if (parser->token->kind == JINJA_TOKEN_VARIABLE_BEGIN) {
            STATUS_TRY(parse_output(parser, out));
        } else { // a block begins: nothing else stands between tags
            parser->token++;
            if (is_one_of(parser->token, ends)) {
                return LOCUM_OK;
            }
            STATUS_TRY(parse_statement(parser, out));
        }
    }
    return ends ? jinja_parse_fail(parser, parser->token, "the template ends before '%s'", *ends)
                : LOCUM_OK;
}

locum_status jinja_parse(struct slice source, struct arena *arena, struct jinja_node **out,
                         struct jinja_specials *specials, locum_error *error) {
    struct jinja_token *tokens;
    STATUS_TRY(jinja_lex(source, arena, &tokens, error));
    struct jinja_parser parser = {.arena = arena, .error = error, .token = tokens};
    *out = NULL;
    STATUS_TRY(intern(&parser, slice_text("caller"), &specials->caller));
    STATUS_TRY(intern(&parser, slice_text("kwargs"), &specials->kwargs));
    STATUS_TRY(intern(&parser, slice_text("varargs"), &specials->varargs));
    return parse_block(&parser, NULL, out);
}
