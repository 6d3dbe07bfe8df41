// SPDX-License-Identifier: Apache-2.0
//
// Expressions, from the loosest binding to the tightest: choice, or, and, not, comparisons, + and -,
// ~, * / // %, **, signs, then calls, items, filters and tests.
#include "jinja/jinja_parse.h"

#include "jinja/jinja_filter.h"
#include "jinja/jinja_test.h"

typedef locum_status (*rule_fn)(struct jinja_parser *parser, struct jinja_node **out);

static locum_status parse_unary(struct jinja_parser *parser, bool filters,
                                struct jinja_node **out);

// --- Binary operators ----------------------------------------------------------------------------

struct operation {
    const char *sign;
    enum jinja_operation operation;
};

static locum_status parse_binary(struct jinja_parser *parser, rule_fn operand,
                                 const struct operation *operations, struct jinja_node **out) {
    STATUS_TRY(operand(parser, out));
    for (const struct operation *row = operations; row->sign;) {
        if (!jinja_token_is(parser->token, row->sign) ||
            parser->token->kind != JINJA_TOKEN_OPERATOR) {
            row++;
            continue;
        }
        struct jinja_node *node;
        STATUS_TRY(jinja_parse_node(parser, JINJA_BINARY, parser->token++, &node));
        node->operation = row->operation;
        node->first = *out;
        STATUS_TRY(operand(parser, &node->second));
        *out = node;
        row = operations;
    }
    return LOCUM_OK;
}

static locum_status parse_signed(struct jinja_parser *parser, struct jinja_node **out) {
    return parse_unary(parser, true, out);
}

static locum_status parse_power(struct jinja_parser *parser, struct jinja_node **out) {
    static const struct operation operations[] = {{"**", JINJA_POW}, {NULL, 0}};
    return parse_binary(parser, parse_signed, operations, out);
}

static locum_status parse_product(struct jinja_parser *parser, struct jinja_node **out) {
    static const struct operation operations[] = {
        {"*", JINJA_MUL}, {"/", JINJA_DIV}, {"//", JINJA_FLOOR_DIV}, {"%", JINJA_MOD}, {NULL, 0}};
    return parse_binary(parser, parse_power, operations, out);
}

static locum_status parse_concat(struct jinja_parser *parser, struct jinja_node **out) {
    STATUS_TRY(parse_product(parser, out));
    if (!jinja_token_is(parser->token, "~")) {
        return LOCUM_OK;
    }
    struct jinja_node *node, *last = *out;
    STATUS_TRY(jinja_parse_node(parser, JINJA_CONCAT, parser->token, &node));
    node->first = *out;
    while (jinja_parse_skip(parser, "~")) {
        STATUS_TRY(parse_product(parser, &last->next));
        last = last->next;
    }
    *out = node;
    return LOCUM_OK;
}

static locum_status parse_sum(struct jinja_parser *parser, struct jinja_node **out) {
    static const struct operation operations[] = {{"+", JINJA_ADD}, {"-", JINJA_SUB}, {NULL, 0}};
    return parse_binary(parser, parse_concat, operations, out);
}

// --- Comparisons and logic -----------------------------------------------------------------------

static const struct {
    const char *sign;
    enum jinja_relation relation;
} relations[] = {{"==", JINJA_EQ}, {"!=", JINJA_NE}, {"<", JINJA_LT}, {"<=", JINJA_LE},
                 {">", JINJA_GT},  {">=", JINJA_GE}, {"in", JINJA_IN}};

// Takes an operator of comparison. False: another token stands there.
static bool take_relation(struct jinja_parser *parser, enum jinja_relation *relation) {
    if (jinja_token_is(parser->token, "not") && jinja_token_is(parser->token + 1, "in")) {
        parser->token += 2;
        *relation = JINJA_NOT_IN;
        return true;
    }
    for (size_t i = 0; i < sizeof relations / sizeof relations[0]; i++) {
        if (jinja_parse_skip(parser, relations[i].sign)) {
            *relation = relations[i].relation;
            return true;
        }
    }
    return false;
}

static locum_status parse_comparison(struct jinja_parser *parser, struct jinja_node **out) {
    STATUS_TRY(parse_sum(parser, out));
    const struct jinja_token *at = parser->token;
    struct jinja_node *node = NULL, **next = NULL;
    for (enum jinja_relation relation; take_relation(parser, &relation); at = parser->token) {
        if (!node) {
            STATUS_TRY(jinja_parse_node(parser, JINJA_COMPARE, at, &node));
            node->first = *out;
            next = &node->second;
        }
        STATUS_TRY(jinja_parse_node(parser, JINJA_COMPARED, at, next));
        (*next)->operation = relation;
        STATUS_TRY(parse_sum(parser, &(*next)->first));
        next = &(*next)->next;
    }
    *out = node ? node : *out;
    return LOCUM_OK;
}

static locum_status parse_not(struct jinja_parser *parser, struct jinja_node **out) {
    if (!jinja_token_is(parser->token, "not")) {
        return parse_comparison(parser, out);
    }
    STATUS_TRY(jinja_parse_node(parser, JINJA_NOT, parser->token++, out));
    STATUS_TRY(jinja_parse_deeper(parser));
    STATUS_TRY(parse_not(parser, &(*out)->first));
    parser->nesting--;
    return LOCUM_OK;
}

static locum_status parse_logic(struct jinja_parser *parser, enum jinja_node_kind kind,
                                const char *word, rule_fn operand, struct jinja_node **out) {
    STATUS_TRY(operand(parser, out));
    while (jinja_token_is(parser->token, word)) {
        struct jinja_node *node;
        STATUS_TRY(jinja_parse_node(parser, kind, parser->token++, &node));
        node->first = *out;
        STATUS_TRY(operand(parser, &node->second));
        *out = node;
    }
    return LOCUM_OK;
}

static locum_status parse_and(struct jinja_parser *parser, struct jinja_node **out) {
    return parse_logic(parser, JINJA_AND, "and", parse_not, out);
}

static locum_status parse_or(struct jinja_parser *parser, struct jinja_node **out) {
    return parse_logic(parser, JINJA_OR, "or", parse_and, out);
}

// Both sides of a choice are conditional, but the first is parsed before `if` is seen: looks ahead
// for it at the same nesting.
static bool choice_follows(const struct jinja_token *token) {
    for (int open = 0; token->kind >= JINJA_TOKEN_NAME; token++) {
        if (token->kind != JINJA_TOKEN_OPERATOR) {
            if (open == 0 && token->kind == JINJA_TOKEN_NAME && jinja_token_is(token, "if")) {
                return true;
            }
            continue;
        }
        char sign = token->text.data[0];
        open += sign == '(' || sign == '[' || sign == '{';
        open -= sign == ')' || sign == ']' || sign == '}';
        if (open < 0 || (open == 0 && sign == ',')) {
            return false;
        }
    }
    return false;
}

static locum_status parse_choice(struct jinja_parser *parser, struct jinja_node **out) {
    bool soft = parser->soft;
    parser->soft = soft || choice_follows(parser->token);
    STATUS_TRY(parse_or(parser, out));
    while (jinja_token_is(parser->token, "if")) {
        struct jinja_node *node;
        STATUS_TRY(jinja_parse_node(parser, JINJA_CHOICE, parser->token++, &node));
        node->first = *out;
        STATUS_TRY(parse_or(parser, &node->second));
        if (jinja_parse_skip(parser, "else")) {
            STATUS_TRY(jinja_parse_deeper(parser));
            STATUS_TRY(parse_choice(parser, &node->third));
            parser->nesting--;
        }
        *out = node;
    }
    parser->soft = soft;
    return LOCUM_OK;
}

locum_status jinja_parse_expression(struct jinja_parser *parser, bool without_choice,
                                    struct jinja_node **out) {
    STATUS_TRY(jinja_parse_deeper(parser));
    STATUS_TRY(without_choice ? parse_or(parser, out) : parse_choice(parser, out));
    parser->nesting--;
    return LOCUM_OK;
}

// --- Primary expressions -------------------------------------------------------------------------

static locum_status parse_constant(struct jinja_parser *parser, struct jinja_value value,
                                   struct jinja_node **out) {
    STATUS_TRY(jinja_parse_node(parser, JINJA_CONST, parser->token++, out));
    (*out)->value = value;
    return LOCUM_OK;
}

static locum_status parse_string(struct jinja_parser *parser, struct jinja_node **out) {
    size_t size = 0, at = 0;
    for (const struct jinja_token *t = parser->token; t->kind == JINJA_TOKEN_STRING; t++) {
        size += t->text.size;
    }
    char *text = arena_alloc(parser->arena, size + 1);
    STATUS_TRY(parse_constant(parser, jinja_none(), out));
    for (parser->token--; text && parser->token->kind == JINJA_TOKEN_STRING; parser->token++) {
        struct slice part = parser->token->text;
        if (part.size > 0) {
            memcpy(text + at, part.data, part.size);
        }
        at += part.size;
    }
    if (!text || !jinja_string_wrap(parser->arena, slice_make(text, size), NULL, JINJA_TEMPLATE,
                                    &(*out)->value)) {
        return status_fail(parser->error, LOCUM_E_OUT_OF_MEMORY, "no memory for the template");
    }
    return LOCUM_OK;
}

static const struct {
    const char *name;
    struct jinja_value value;
} constants[] = {
    {"true", {.kind = JINJA_BOOL, .boolean = true}},
    {"True", {.kind = JINJA_BOOL, .boolean = true}},
    {"false", {.kind = JINJA_BOOL}},
    {"False", {.kind = JINJA_BOOL}},
    {"none", {.kind = JINJA_NONE}},
    {"None", {.kind = JINJA_NONE}},
};

static locum_status parse_word(struct jinja_parser *parser, struct jinja_node **out) {
    for (size_t i = 0; i < sizeof constants / sizeof constants[0]; i++) {
        if (jinja_token_is(parser->token, constants[i].name)) {
            return parse_constant(parser, constants[i].value, out);
        }
    }
    STATUS_TRY(jinja_parse_node(parser, JINJA_NAME, parser->token, out));
    return jinja_parse_name(parser, &(*out)->name);
}

// Items until `end`, which is taken; a comma may follow the last one.
static locum_status parse_items(struct jinja_parser *parser, const char *end, bool pairs,
                                struct jinja_node **next) {
    while (!jinja_parse_skip(parser, end)) {
        struct jinja_node *pair = NULL;
        if (pairs) {
            STATUS_TRY(jinja_parse_node(parser, JINJA_PAIR, parser->token, &pair));
            STATUS_TRY(jinja_parse_expression(parser, false, &pair->first));
            STATUS_TRY(jinja_parse_expect(parser, ":"));
            STATUS_TRY(jinja_parse_expression(parser, false, &pair->second));
            *next = pair;
        } else {
            STATUS_TRY(jinja_parse_expression(parser, false, next));
        }
        next = &(*next)->next;
        if (!jinja_token_is(parser->token, end)) {
            STATUS_TRY(jinja_parse_expect(parser, ","));
        }
    }
    return LOCUM_OK;
}

static locum_status parse_brackets(struct jinja_parser *parser, struct jinja_node **out) {
    const struct jinja_token *at = parser->token;
    if (jinja_parse_skip(parser, "[")) {
        STATUS_TRY(jinja_parse_node(parser, JINJA_ITEMS_OF, at, out));
        (*out)->operation = JINJA_LIST;
        return parse_items(parser, "]", false, &(*out)->first);
    }
    if (jinja_parse_skip(parser, "{")) {
        STATUS_TRY(jinja_parse_node(parser, JINJA_PAIRS_OF, at, out));
        return parse_items(parser, "}", true, &(*out)->first);
    }
    if (!jinja_parse_skip(parser, "(")) {
        return jinja_parse_fail(parser, at, "an expression is expected");
    }
    if (jinja_parse_skip(parser, ")")) {
        STATUS_TRY(jinja_parse_node(parser, JINJA_ITEMS_OF, at, out));
        (*out)->operation = JINJA_TUPLE;
        return LOCUM_OK;
    }
    STATUS_TRY(jinja_parse_tuple(parser, false, ")", out));
    return jinja_parse_expect(parser, ")");
}

static locum_status parse_primary(struct jinja_parser *parser, struct jinja_node **out) {
    switch (parser->token->kind) {
    case JINJA_TOKEN_NAME:
        return parse_word(parser, out);
    case JINJA_TOKEN_STRING:
        return parse_string(parser, out);
    case JINJA_TOKEN_NUMBER:
        return parse_constant(parser, parser->token->value, out);
    default:
        return parse_brackets(parser, out);
    }
}

locum_status jinja_parse_tuple(struct jinja_parser *parser, bool without_choice, const char *end,
                               struct jinja_node **out) {
    const struct jinja_token *at = parser->token;
    STATUS_TRY(jinja_parse_expression(parser, without_choice, out));
    if (!jinja_token_is(parser->token, ",")) {
        return LOCUM_OK;
    }
    struct jinja_node *tuple, *last = *out;
    STATUS_TRY(jinja_parse_node(parser, JINJA_ITEMS_OF, at, &tuple));
    tuple->operation = JINJA_TUPLE;
    tuple->first = *out;
    while (jinja_parse_skip(parser, ",")) {
        enum jinja_token_kind kind = parser->token->kind;
        if (kind == JINJA_TOKEN_BLOCK_END || kind == JINJA_TOKEN_VARIABLE_END ||
            jinja_token_is(parser->token, ")") || (end && jinja_token_is(parser->token, end))) {
            break;
        }
        STATUS_TRY(jinja_parse_expression(parser, without_choice, &last->next));
        last = last->next;
    }
    *out = tuple;
    return LOCUM_OK;
}

// --- What follows a primary expression -----------------------------------------------------------

static locum_status parse_argument(struct jinja_parser *parser, struct jinja_node **out) {
    STATUS_TRY(jinja_parse_node(parser, JINJA_ARGUMENT, parser->token, out));
    struct jinja_node *argument = *out;
    if (jinja_parse_skip(parser, "*")) {
        argument->operation = 1;
    } else if (jinja_parse_skip(parser, "**")) {
        argument->operation = 2;
    } else if (parser->token->kind == JINJA_TOKEN_NAME &&
               jinja_token_is(parser->token + 1, "=")) {
        STATUS_TRY(jinja_parse_name(parser, &argument->name));
        parser->token++;
    }
    return jinja_parse_expression(parser, false, &argument->first);
}

// Positional arguments, names, *, **: each kind behind the one before. 1 and 2 stand once.
static int argument_rank(const struct jinja_node *argument) {
    return argument->operation == 2 ? 3 : argument->operation == 1 ? 2 : argument->name ? 1 : 0;
}

locum_status jinja_parse_arguments(struct jinja_parser *parser, struct jinja_node **out) {
    const struct jinja_token *begin = parser->token;
    struct jinja_node **next = out;
    int rank = 0;
    bool star = false;
    STATUS_TRY(jinja_parse_expect(parser, "("));
    while (!jinja_parse_skip(parser, ")")) {
        STATUS_TRY(parse_argument(parser, next));
        int own = argument_rank(*next);
        bool out_of_order = rank == 3 || (own == 0 && rank > 0) || (own == 2 && star);
        if (out_of_order) {
            return jinja_parse_fail(parser, begin, "the arguments of this call are out of order");
        }
        star = star || own == 2;
        rank = own > rank ? own : rank;
        next = &(*next)->next;
        if (!jinja_token_is(parser->token, ")")) {
            STATUS_TRY(jinja_parse_expect(parser, ","));
        }
    }
    return LOCUM_OK;
}

// The bounds behind [ up to ]; a plain item leaves *is_slice false and is in out[0].
static locum_status parse_bounds(struct jinja_parser *parser, struct jinja_node *out[3],
                                 bool *is_slice) {
    for (int i = 0; i < 3; i++) {
        bool absent = jinja_token_is(parser->token, ":") || jinja_token_is(parser->token, "]");
        if (!absent) {
            STATUS_TRY(jinja_parse_expression(parser, false, &out[i]));
        }
        if (i == 2 || !jinja_token_is(parser->token, ":")) {
            break;
        }
        *is_slice = true;
        parser->token++;
    }
    return LOCUM_OK;
}

static locum_status parse_item(struct jinja_parser *parser, struct jinja_node **node) {
    struct jinja_node *item, *bounds[3] = {NULL, NULL, NULL};
    bool is_slice = false;
    STATUS_TRY(jinja_parse_node(parser, JINJA_ITEM, parser->token++, &item));
    STATUS_TRY(parse_bounds(parser, bounds, &is_slice));
    if (jinja_token_is(parser->token, ",")) {
        return jinja_parse_fail(parser, parser->token, "an item is one expression");
    }
    STATUS_TRY(jinja_parse_expect(parser, "]"));
    if (!is_slice && !bounds[0]) {
        return jinja_parse_fail(parser, parser->token - 1, "an expression is expected");
    }
    item->kind = is_slice ? JINJA_SLICE : JINJA_ITEM;
    item->first = *node;
    item->second = bounds[0];
    item->third = bounds[1];
    item->other = bounds[2];
    *node = item;
    return LOCUM_OK;
}

static locum_status parse_attribute(struct jinja_parser *parser, struct jinja_node **node) {
    struct jinja_node *attribute;
    STATUS_TRY(jinja_parse_node(parser, JINJA_ATTR, parser->token++, &attribute));
    attribute->first = *node;
    *node = attribute;
    if (parser->token->kind == JINJA_TOKEN_NUMBER && parser->token->value.kind == JINJA_INT) {
        attribute->kind = JINJA_ITEM;
        return parse_constant(parser, parser->token->value, &attribute->second);
    }
    STATUS_TRY(jinja_parse_name(parser, &attribute->name));
    if (!jinja_string_wrap(parser->arena, slice_text(attribute->name), NULL, JINJA_TEMPLATE,
                           &attribute->value)) {
        return status_fail(parser->error, LOCUM_E_OUT_OF_MEMORY, "no memory for the template");
    }
    return LOCUM_OK;
}

static locum_status parse_call(struct jinja_parser *parser, struct jinja_node **node) {
    struct jinja_node *call;
    STATUS_TRY(jinja_parse_node(parser, JINJA_CALL, parser->token, &call));
    call->first = *node;
    *node = call;
    return jinja_parse_arguments(parser, &call->second);
}

static locum_status parse_postfix(struct jinja_parser *parser, struct jinja_node **node) {
    while (parser->token->kind == JINJA_TOKEN_OPERATOR) {
        char sign = parser->token->text.data[0];
        if (sign == '.') {
            STATUS_TRY(parse_attribute(parser, node));
        } else if (sign == '[') {
            STATUS_TRY(parse_item(parser, node));
        } else if (sign == '(') {
            STATUS_TRY(parse_call(parser, node));
        } else {
            break;
        }
    }
    return LOCUM_OK;
}

// The name of a filter or test, which may have points in it.
static locum_status parse_long_name(struct jinja_parser *parser, const char **name) {
    STATUS_TRY(jinja_parse_name(parser, name));
    while (jinja_parse_skip(parser, ".")) {
        const char *rest;
        STATUS_TRY(jinja_parse_name(parser, &rest));
        *name = arena_format(parser->arena, "%s.%s", *name, rest);
        if (!*name) {
            return status_fail(parser->error, LOCUM_E_OUT_OF_MEMORY, "no memory for the template");
        }
    }
    return LOCUM_OK;
}

locum_status jinja_parse_filters(struct jinja_parser *parser, struct jinja_node *subject,
                                 bool first_has_no_bar, struct jinja_node **out) {
    while (first_has_no_bar || jinja_parse_skip(parser, "|")) {
        const struct jinja_token *at = parser->token;
        struct jinja_node *filter;
        first_has_no_bar = false;
        STATUS_TRY(jinja_parse_node(parser, JINJA_FILTER, at, &filter));
        STATUS_TRY(parse_long_name(parser, &filter->name));
        filter->first = subject;
        filter->builtin = jinja_filter_find(slice_text(filter->name));
        if (!filter->builtin && !parser->soft) {
            return jinja_parse_fail(parser, at, "there is no filter '%s'", filter->name);
        }
        if (jinja_token_is(parser->token, "(")) {
            STATUS_TRY(jinja_parse_arguments(parser, &filter->second));
        }
        subject = filter;
    }
    *out = subject;
    return LOCUM_OK;
}

static bool test_argument_follows(const struct jinja_token *token) {
    if (token->kind == JINJA_TOKEN_NAME) {
        return !jinja_token_is(token, "else") && !jinja_token_is(token, "or") &&
               !jinja_token_is(token, "and");
    }
    return token->kind == JINJA_TOKEN_STRING || token->kind == JINJA_TOKEN_NUMBER ||
           jinja_token_is(token, "[") || jinja_token_is(token, "{");
}

static locum_status parse_test(struct jinja_parser *parser, struct jinja_node **node) {
    struct jinja_node *test;
    const struct jinja_token *is = parser->token++;
    bool negated = jinja_parse_skip(parser, "not");
    const struct jinja_token *at = parser->token;
    STATUS_TRY(jinja_parse_node(parser, JINJA_TEST, at, &test));
    STATUS_TRY(parse_long_name(parser, &test->name));
    test->first = *node;
    test->builtin = jinja_test_find(slice_text(test->name));
    if (!test->builtin && !parser->soft) {
        return jinja_parse_fail(parser, at, "there is no test '%s'", test->name);
    }
    if (jinja_token_is(parser->token, "(")) {
        STATUS_TRY(jinja_parse_arguments(parser, &test->second));
    } else if (test_argument_follows(parser->token)) {
        if (jinja_token_is(parser->token, "is")) {
            return jinja_parse_fail(parser, parser->token, "tests cannot be chained with 'is'");
        }
        STATUS_TRY(jinja_parse_node(parser, JINJA_ARGUMENT, parser->token, &test->second));
        STATUS_TRY(parse_primary(parser, &test->second->first));
        STATUS_TRY(parse_postfix(parser, &test->second->first));
    }
    *node = test;
    if (negated) {
        STATUS_TRY(jinja_parse_node(parser, JINJA_NOT, is, node));
        (*node)->first = test;
    }
    return LOCUM_OK;
}

static locum_status parse_filters_and_tests(struct jinja_parser *parser, struct jinja_node **node) {
    for (;;) {
        if (jinja_token_is(parser->token, "|")) {
            STATUS_TRY(jinja_parse_filters(parser, *node, false, node));
        } else if (parser->token->kind == JINJA_TOKEN_NAME &&
                   jinja_token_is(parser->token, "is")) {
            STATUS_TRY(parse_test(parser, node));
        } else if (jinja_token_is(parser->token, "(")) {
            STATUS_TRY(parse_call(parser, node));
        } else {
            return LOCUM_OK;
        }
    }
}

static locum_status parse_unary(struct jinja_parser *parser, bool filters,
                                struct jinja_node **out) {
    bool minus = jinja_token_is(parser->token, "-");
    if (minus || jinja_token_is(parser->token, "+")) {
        STATUS_TRY(jinja_parse_node(parser, JINJA_SIGN, parser->token++, out));
        (*out)->operation = minus;
        STATUS_TRY(jinja_parse_deeper(parser));
        STATUS_TRY(parse_unary(parser, false, &(*out)->first));
        parser->nesting--;
    } else {
        STATUS_TRY(parse_primary(parser, out));
    }
    STATUS_TRY(parse_postfix(parser, out));
    return filters ? parse_filters_and_tests(parser, out) : LOCUM_OK;
}

// --- Targets -------------------------------------------------------------------------------------

static locum_status parse_target_part(struct jinja_parser *parser, bool members,
                                      struct jinja_node **out) {
    const struct jinja_token *at = parser->token;
    if (jinja_parse_skip(parser, "(")) {
        STATUS_TRY(jinja_parse_deeper(parser));
        STATUS_TRY(jinja_parse_target(parser, ")", false, out));
        parser->nesting--;
        return jinja_parse_expect(parser, ")");
    }
    if (members && at->kind == JINJA_TOKEN_NAME && jinja_token_is(at + 1, ".")) {
        STATUS_TRY(jinja_parse_node(parser, JINJA_MEMBER, at, out));
        STATUS_TRY(jinja_parse_name(parser, &(*out)->name));
        parser->token++;
        const char *member;
        STATUS_TRY(jinja_parse_name(parser, &member));
        if (!jinja_string_new(parser->arena, slice_text(member), JINJA_TEMPLATE, &(*out)->value)) {
            return status_fail(parser->error, LOCUM_E_OUT_OF_MEMORY, "no memory for the template");
        }
        return LOCUM_OK;
    }
    STATUS_TRY(at->kind == JINJA_TOKEN_NAME ? parse_word(parser, out)
                                            : jinja_parse_fail(parser, at, "a name is expected"));
    return (*out)->kind == JINJA_NAME ? LOCUM_OK
                                      : jinja_parse_fail(parser, at, "this cannot be set");
}

locum_status jinja_parse_target(struct jinja_parser *parser, const char *end, bool members,
                                struct jinja_node **out) {
    const struct jinja_token *at = parser->token;
    STATUS_TRY(parse_target_part(parser, members, out));
    if (!jinja_token_is(parser->token, ",")) {
        return LOCUM_OK;
    }
    struct jinja_node *tuple, *last = *out;
    STATUS_TRY(jinja_parse_node(parser, JINJA_ITEMS_OF, at, &tuple));
    tuple->operation = JINJA_TUPLE;
    tuple->first = *out;
    while (jinja_parse_skip(parser, ",") && !jinja_token_is(parser->token, end)) {
        STATUS_TRY(parse_target_part(parser, members, &last->next));
        last = last->next;
    }
    *out = tuple;
    return LOCUM_OK;
}
