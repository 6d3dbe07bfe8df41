// SPDX-License-Identifier: Apache-2.0
#include "grammar/grammar_json.h"

#include "base/utf8.h"

#include <inttypes.h>
#include <stdio.h>

enum { DIGITS_MAX = 16, EXPONENT_MAX = 3, BLANKS_MAX = 40 };

static grammar_expr digit_range(struct grammar_ast *ast, char first, char last) {
    return grammar_ast_range(ast, (uint32_t)first, (uint32_t)last);
}

static grammar_expr optional(struct grammar_ast *ast, grammar_expr item) {
    return grammar_ast_repeat(ast, item, 0, 1);
}

static grammar_expr digits(struct grammar_ast *ast, uint32_t least, uint32_t most) {
    return grammar_ast_repeat(ast, digit_range(ast, '0', '9'), least, most);
}

// ---- strings ------------------------------------------------------------------------------------
static grammar_expr hex_digits(struct grammar_ast *ast, uint32_t count) {
    static const struct grammar_range hex[] = {{'0', '9'}, {'A', 'F'}, {'a', 'f'}};
    return grammar_ast_repeat(ast, grammar_ast_class(ast, hex, 3, false), count, count);
}

// \uXXXX: any but a surrogate, or both halves of a pair.
static grammar_expr unicode_escape(struct grammar_ast *ast) {
    static const struct grammar_range others[] = {{'0', '9'}, {'A', 'C'}, {'E', 'F'},
                                              {'a', 'c'}, {'e', 'f'}};
    static const struct grammar_range d[] = {{'D', 'D'}, {'d', 'd'}};
    static const struct grammar_range high[] = {{'8', '9'}, {'A', 'B'}, {'a', 'b'}};
    static const struct grammar_range low[] = {{'C', 'F'}, {'c', 'f'}};
    grammar_expr first = grammar_ast_class(ast, d, 2, false);
    return GRAMMAR_ANY_OF(
        ast, GRAMMAR_SEQ(ast, grammar_ast_class(ast, others, 5, false), hex_digits(ast, 3)),
        GRAMMAR_SEQ(ast, first, digit_range(ast, '0', '7'), hex_digits(ast, 2)),
        GRAMMAR_SEQ(ast, first, grammar_ast_class(ast, high, 3, false), hex_digits(ast, 2),
                    grammar_ast_literal(ast, "\\u"), first, grammar_ast_class(ast, low, 2, false),
                    hex_digits(ast, 2)));
}

static grammar_expr character(struct grammar_ast *ast) {
    static const struct grammar_range special[] = {{0, 0x1F}, {'"', '"'}, {'\\', '\\'}};
    static const struct grammar_range letters[] = {{'"', '"'}, {'/', '/'}, {'\\', '\\'}, {'b', 'b'},
                                               {'f', 'f'}, {'n', 'n'}, {'r', 'r'},   {'t', 't'}};
    return GRAMMAR_ANY_OF(
        ast, grammar_ast_class(ast, special, 3, true),
        GRAMMAR_SEQ(ast, grammar_ast_literal(ast, "\\"),
                    GRAMMAR_ANY_OF(ast, grammar_ast_class(ast, letters, 8, false),
                                   GRAMMAR_SEQ(ast, grammar_ast_literal(ast, "u"),
                                               unicode_escape(ast)))));
}

grammar_expr grammar_json_sized(struct grammar_json *json, uint32_t least, uint32_t most) {
    if (least == 0 && most == GRAMMAR_UNBOUNDED && json->string) return json->string;
    grammar_expr quote = grammar_ast_literal(json->ast, "\"");
    return GRAMMAR_SEQ(json->ast, quote,
                       grammar_ast_repeat(json->ast, json->character, least, most), quote);
}

grammar_expr grammar_json_spelling(struct grammar_json *json, struct slice text) {
    static const char plain[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    grammar_expr result = grammar_ast_empty(json->ast);
    for (size_t begin = 0, i = 0; i <= text.size; i++) {
        unsigned char c = i < text.size ? (unsigned char)text.data[i] : 0;
        if (i < text.size && c >= 0x20 && c != '"' && c != '\\') continue;
        grammar_expr run = grammar_ast_text(json->ast, slice_make(text.data + begin, i - begin));
        begin = i + 1;
        if (i == text.size) {
            result = GRAMMAR_SEQ(json->ast, result, run);
            break;
        }
        const char *found = c != 0 ? strchr(plain, c) : NULL;
        char escape[8];
        if (found) snprintf(escape, sizeof escape, "\\%c", letters[found - plain]);
        else snprintf(escape, sizeof escape, "\\u%04x", c);
        result = GRAMMAR_SEQ(json->ast, result, run, grammar_ast_literal(json->ast, escape));
    }
    return result;
}

grammar_expr grammar_json_quoted(struct grammar_json *json, struct slice text) {
    grammar_expr quote = grammar_ast_literal(json->ast, "\"");
    return GRAMMAR_SEQ(json->ast, quote, grammar_json_spelling(json, text), quote);
}

// ---- lists --------------------------------------------------------------------------------------
grammar_expr grammar_json_list(struct grammar_json *json, const char *open, grammar_expr item,
                               uint32_t least, uint32_t most, const char *close) {
    struct grammar_ast *ast = json->ast;
    grammar_expr begin = GRAMMAR_SEQ(ast, grammar_ast_literal(ast, open), json->space),
                 end = GRAMMAR_SEQ(ast, json->space, grammar_ast_literal(ast, close)),
                 none = grammar_ast_literal(ast, close);
    if (most == 0) return GRAMMAR_SEQ(ast, begin, none);
    grammar_expr comma = GRAMMAR_SEQ(ast, json->space, grammar_ast_literal(ast, ","), json->space),
                 more = grammar_ast_repeat(ast, GRAMMAR_SEQ(ast, comma, item),
                                           least > 0 ? least - 1 : 0,
                                           most == GRAMMAR_UNBOUNDED ? most : most - 1),
                 some = GRAMMAR_SEQ(ast, item, more, end);
    return GRAMMAR_SEQ(ast, begin, least > 0 ? some : GRAMMAR_ANY_OF(ast, none, some));
}

grammar_expr grammar_json_pair(struct grammar_json *json, grammar_expr key, grammar_expr value) {
    return GRAMMAR_SEQ(json->ast, key, json->space, grammar_ast_literal(json->ast, ":"),
                       json->space, value);
}

// ---- whole numbers between bounds ---------------------------------------------------------------
enum side { AT_LEAST, AT_MOST };

// Digit strings as long as `bound` and not below (above) it.
static grammar_expr beyond(struct grammar_ast *ast, const char *bound, enum side side) {
    char d = bound[0], end = side == AT_LEAST ? '9' : '0';
    uint32_t rest = (uint32_t)strlen(bound) - 1;
    grammar_expr same = rest == 0 ? digit_range(ast, d, d)
                                  : GRAMMAR_SEQ(ast, digit_range(ast, d, d),
                                                beyond(ast, bound + 1, side));
    if (d == end) return same;
    grammar_expr past = side == AT_LEAST ? digit_range(ast, (char)(d + 1), '9')
                                         : digit_range(ast, '0', (char)(d - 1));
    return GRAMMAR_ANY_OF(ast, same, GRAMMAR_SEQ(ast, past, digits(ast, rest, rest)));
}

// Digit strings from low to high, which are of one length.
static grammar_expr between(struct grammar_ast *ast, const char *low, const char *high) {
    uint32_t rest = (uint32_t)strlen(low) - 1;
    if (low[0] == high[0]) {
        grammar_expr first = digit_range(ast, low[0], low[0]);
        return rest == 0 ? first : GRAMMAR_SEQ(ast, first, between(ast, low + 1, high + 1));
    }
    if (rest == 0) return digit_range(ast, low[0], high[0]);
    grammar_expr lower = GRAMMAR_SEQ(ast, digit_range(ast, low[0], low[0]),
                                     beyond(ast, low + 1, AT_LEAST)),
                 upper = GRAMMAR_SEQ(ast, digit_range(ast, high[0], high[0]),
                                     beyond(ast, high + 1, AT_MOST)),
                 middle = grammar_ast_never(ast);
    if (high[0] - low[0] > 1)
        middle = GRAMMAR_SEQ(ast, digit_range(ast, (char)(low[0] + 1), (char)(high[0] - 1)),
                             digits(ast, rest, rest));
    return GRAMMAR_ANY_OF(ast, lower, middle, upper);
}

// From low to high without a sign.
static grammar_expr magnitudes(struct grammar_ast *ast, uint64_t low, uint64_t high) {
    grammar_expr lengths[20];
    uint32_t count = 0;
    if (low > high) return grammar_ast_never(ast);
    uint64_t first = 0, last = 9; // of the numbers with one digit more each time
    for (;;) {
        uint64_t from = low > first ? low : first, to = high < last ? high : last;
        if (from <= to) {
            char a[24], b[24];
            snprintf(a, sizeof a, "%" PRIu64, from);
            snprintf(b, sizeof b, "%" PRIu64, to);
            lengths[count++] = between(ast, a, b);
        }
        if (high <= last || last > UINT64_MAX / 10) break;
        first = last + 1;
        last = 10 * last + 9;
    }
    return grammar_ast_choice(ast, lengths, count);
}

grammar_expr grammar_json_integer(struct grammar_json *json, const struct grammar_bounds *bounds) {
    struct grammar_ast *ast = json->ast;
    const uint64_t largest = UINT64_C(9999999999999999); // DIGITS_MAX nines
    if (!bounds->has_least && !bounds->has_most) return json->integer;
    bool negative = !bounds->has_least || bounds->least < 0,
         positive = !bounds->has_most || bounds->most >= 0;
    grammar_expr below = grammar_ast_never(ast), above = grammar_ast_never(ast);
    if (negative) {
        uint64_t low = bounds->has_most && bounds->most < 0 ? 0 - (uint64_t)bounds->most : 1,
                 high = bounds->has_least ? 0 - (uint64_t)bounds->least : largest;
        if (!bounds->has_least && low > high) high = low;
        below = GRAMMAR_SEQ(ast, grammar_ast_literal(ast, "-"), magnitudes(ast, low, high));
    }
    if (positive) {
        uint64_t low = bounds->has_least && bounds->least > 0 ? (uint64_t)bounds->least : 0,
                 high = bounds->has_most ? (uint64_t)bounds->most : largest;
        if (!bounds->has_most && low > high) high = low;
        above = magnitudes(ast, low, high);
    }
    return GRAMMAR_ANY_OF(ast, below, above);
}

// ---- the shared rules ---------------------------------------------------------------------------
static void init_numbers(struct grammar_json *json) {
    struct grammar_ast *ast = json->ast;
    static const struct grammar_range e[] = {{'E', 'E'}, {'e', 'e'}},
                                      signs[] = {{'+', '+'}, {'-', '-'}};
    grammar_expr whole = GRAMMAR_ANY_OF(
        ast, grammar_ast_literal(ast, "0"),
        GRAMMAR_SEQ(ast, digit_range(ast, '1', '9'), digits(ast, 0, DIGITS_MAX - 1)));
    grammar_expr minus = optional(ast, grammar_ast_literal(ast, "-"));
    json->integer = grammar_ast_new_rule(ast, "integer", GRAMMAR_SEQ(ast, minus, whole));
    grammar_expr fraction = GRAMMAR_SEQ(ast, grammar_ast_literal(ast, "."),
                                        digits(ast, 1, DIGITS_MAX)),
                 exponent = GRAMMAR_SEQ(ast, grammar_ast_class(ast, e, 2, false),
                                        optional(ast, grammar_ast_class(ast, signs, 2, false)),
                                        digits(ast, 1, EXPONENT_MAX));
    json->number = grammar_ast_new_rule(
        ast, "number",
        GRAMMAR_SEQ(ast, json->integer, optional(ast, fraction), optional(ast, exponent)));
}

void grammar_json_init(struct grammar_json *json, struct grammar_ast *ast) {
    static const struct grammar_range blanks[] = {{'\t', '\t'}, {' ', ' '}};
    *json = (struct grammar_json){.ast = ast};
    grammar_expr line = GRAMMAR_SEQ(
        ast, grammar_ast_literal(ast, "\n"),
        grammar_ast_repeat(ast, grammar_ast_class(ast, blanks, 2, false), 0, BLANKS_MAX));
    json->space = grammar_ast_new_rule(
        ast, "space",
        GRAMMAR_ANY_OF(ast, grammar_ast_empty(ast), grammar_ast_literal(ast, " "), line));
    json->character = grammar_ast_new_rule(ast, "character", character(ast));
    json->string =
        grammar_ast_new_rule(ast, "string", grammar_json_sized(json, 0, GRAMMAR_UNBOUNDED));
    json->key = json->string;
    init_numbers(json);
    json->boolean = GRAMMAR_ANY_OF(ast, grammar_ast_literal(ast, "true"),
                                   grammar_ast_literal(ast, "false"));
    json->null = grammar_ast_literal(ast, "null");
    uint32_t value = grammar_ast_add_rule(ast, "value");
    json->value = grammar_ast_rule(ast, value);
    json->object = grammar_ast_new_rule(
        ast, "object",
        grammar_json_list(json, "{", grammar_json_pair(json, json->key, json->value), 0,
                          GRAMMAR_UNBOUNDED, "}"));
    json->array = grammar_ast_new_rule(
        ast, "array", grammar_json_list(json, "[", json->value, 0, GRAMMAR_UNBOUNDED, "]"));
    grammar_ast_define(ast, value,
                       GRAMMAR_ANY_OF(ast, json->object, json->array, json->string, json->number,
                                      json->boolean, json->null));
}
