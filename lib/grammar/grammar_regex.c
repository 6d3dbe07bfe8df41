// SPDX-License-Identifier: Apache-2.0
#include "grammar/grammar_regex.h"

#include "base/limits.h"
#include "base/utf8.h"

#include <stdio.h>

enum { RANGES_MAX = 512, ITEMS_MAX = 1024 };

struct reader {
    struct grammar_json *json;
    struct slice text;
    size_t at;
    unsigned depth;
    const char *why; // the first failure
};

struct set {
    struct grammar_range ranges[RANGES_MAX + 2];
    uint32_t count;
};

static grammar_expr fail(struct reader *r, const char *why) {
    if (!r->why) r->why = why;
    return NULL;
}

static char peek(const struct reader *r) {
    return r->at < r->text.size ? r->text.data[r->at] : '\0';
}

static bool take(struct reader *r, const char *text) {
    bool found = slice_starts(slice_from(r->text, r->at), slice_text(text));
    if (found) r->at += strlen(text);
    return found;
}

// ---- sets of characters -------------------------------------------------------------------------
static void add_range(struct reader *r, struct set *set, uint32_t first, uint32_t last) {
    if (last < first) fail(r, "a range that runs backwards");
    else if (set->count == RANGES_MAX) fail(r, "too many ranges");
    else set->ranges[set->count++] = (struct grammar_range){first, last};
}

static const struct shorthand {
    char letter;
    uint32_t count;
    struct grammar_range ranges[10];
} shorthands[] = {
    {'d', 1, {{'0', '9'}}},
    {'w', 4, {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}},
    {'s',
     10,
     {{'\t', '\r'}, {' ', ' '}, {0xA0, 0xA0}, {0x1680, 0x1680}, {0x2000, 0x200A}, {0x2028, 0x2029},
      {0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000}, {0xFEFF, 0xFEFF}}},
};

static void add_shorthand(struct reader *r, struct set *set, const struct shorthand *s,
                          bool negated) {
    struct grammar_range inverse[12];
    const struct grammar_range *ranges = negated ? inverse : s->ranges;
    uint32_t count = s->count;
    if (negated) count = grammar_ranges_complement(s->ranges, count, inverse);
    for (uint32_t i = 0; i < count; i++)
        add_range(r, set, ranges[i].first, ranges[i].last);
}

static bool read_hex(struct reader *r, uint32_t digits, uint32_t *code) {
    *code = 0;
    for (uint32_t i = 0; i < digits; i++, r->at++) {
        char c = peek(r);
        const char *hex = "0123456789abcdefABCDEF", *found = c ? strchr(hex, c) : NULL;
        if (!found) return false;
        uint32_t digit = (uint32_t)(found - hex);
        *code = 16 * *code + (digit > 15 ? digit - 6 : digit);
    }
    return *code < 0xD800 || *code > 0xDFFF;
}

// Behind a backslash: adds to the set, and gives the code where it is one character, which may then
// begin a range; else UINT32_MAX.
static uint32_t read_escape(struct reader *r, struct set *set) {
    static const char letters[] = "nrtfv0", meanings[] = "\n\r\t\f\v";
    char c = peek(r);
    uint32_t code = UINT32_MAX;
    r->at++;
    for (size_t i = 0; i < sizeof shorthands / sizeof shorthands[0]; i++) {
        bool negated = c == shorthands[i].letter - 'a' + 'A';
        if (c != shorthands[i].letter && !negated) continue;
        add_shorthand(r, set, &shorthands[i], negated);
        return UINT32_MAX;
    }
    const char *found = c ? strchr(letters, c) : NULL;
    if (found) code = (uint8_t)meanings[found - letters];
    else if (c == 'x' || c == 'u') {
        if (!read_hex(r, c == 'x' ? 2 : 4, &code)) fail(r, "a malformed escape");
    } else if (c != 0 && (uint8_t)c < 0x80 && !strchr("bBkpPcAzZ", c) && (c < '1' || c > '9')) {
        code = (uint8_t)c;
    } else {
        fail(r, "an escape that is not supported");
    }
    if (code != UINT32_MAX) add_range(r, set, code, code);
    return code;
}

static uint32_t read_char(struct reader *r, struct set *set) {
    struct utf8_step step = utf8_next(slice_from(r->text, r->at));
    r->at += step.size;
    if (step.kind != UTF8_CHARACTER) fail(r, "bytes that are not UTF-8");
    else add_range(r, set, step.code, step.code);
    return step.code;
}

// The characters of a set as JSON spells them.
static grammar_expr spell(struct reader *r, struct set *set, bool negated) {
    struct grammar_ast *ast = r->json->ast;
    struct set inverse = {.count = set->count};
    grammar_expr choices[36];
    uint32_t count = 0;
    if (r->why) return NULL;
    set->count = grammar_ranges_normalise(set->ranges, set->count);
    if (negated) {
        inverse.count = grammar_ranges_complement(set->ranges, set->count, inverse.ranges);
        set = &inverse;
    }
    for (uint32_t code = 0; code <= '\\'; code++) {
        if (code == 0x20) code = '"';
        else if (code > '"') code = '\\';
        if (!grammar_ranges_has(set->ranges, set->count, code)) continue;
        char text = (char)code;
        choices[count++] = grammar_json_spelling(r->json, slice_make(&text, 1));
    }
    struct grammar_range plain[RANGES_MAX + 8], others[RANGES_MAX + 12];
    uint32_t n = grammar_ranges_complement(set->ranges, set->count, plain);
    plain[n++] = (struct grammar_range){0, 0x1F};
    plain[n++] = (struct grammar_range){'"', '"'};
    plain[n++] = (struct grammar_range){'\\', '\\'};
    n = grammar_ranges_normalise(plain, n);
    n = grammar_ranges_complement(plain, n, others);
    if (n > 0) choices[count++] = grammar_ast_class(ast, others, n, false);
    return grammar_ast_choice(ast, choices, count);
}

static grammar_expr read_class(struct reader *r) {
    struct set set = {.count = 0};
    bool negated = take(r, "^");
    while (!r->why && !take(r, "]")) {
        if (r->at >= r->text.size) return fail(r, "a class without ']'");
        uint32_t first = take(r, "\\") ? read_escape(r, &set) : read_char(r, &set);
        if (first == UINT32_MAX || peek(r) != '-' || r->at + 1 >= r->text.size ||
            r->text.data[r->at + 1] == ']') {
            continue;
        }
        r->at++;
        uint32_t last = take(r, "\\") ? read_escape(r, &set) : read_char(r, &set);
        if (last == UINT32_MAX) return fail(r, "a range that ends in a set");
        add_range(r, &set, first, last);
    }
    return spell(r, &set, negated);
}

// ---- items --------------------------------------------------------------------------------------
static grammar_expr read_choice(struct reader *r, bool top);

static grammar_expr read_group(struct reader *r) {
    if (!take(r, "?:") && peek(r) == '?') return fail(r, "look-around or a named group");
    if (r->depth == LIMIT_GRAMMAR_NESTING) return fail(r, "groups that are nested too deep");
    r->depth++;
    grammar_expr choice = read_choice(r, false);
    r->depth--;
    return take(r, ")") ? choice : fail(r, "a group without ')'");
}

static grammar_expr read_item(struct reader *r) {
    struct set set = {.count = 0};
    if (take(r, "(")) return read_group(r);
    if (take(r, "[")) return read_class(r);
    if (take(r, ".")) {
        add_range(r, &set, '\n', '\n');
        add_range(r, &set, '\r', '\r');
        add_range(r, &set, 0x2028, 0x2029);
        return spell(r, &set, true);
    }
    if (strchr("*+?{^$", peek(r))) return fail(r, "an anchor inside, or nothing to repeat");
    if (take(r, "\\")) read_escape(r, &set);
    else read_char(r, &set);
    return spell(r, &set, false);
}

static bool read_number(struct reader *r, uint32_t *number) {
    size_t begin = r->at;
    for (*number = 0; peek(r) >= '0' && peek(r) <= '9' && *number < 100000000; r->at++)
        *number = 10 * *number + (uint32_t)(peek(r) - '0');
    return r->at > begin;
}

static grammar_expr read_operator(struct reader *r, grammar_expr item) {
    uint32_t least = 0, most = GRAMMAR_UNBOUNDED;
    if (take(r, "?")) most = 1;
    else if (take(r, "+")) least = 1;
    else if (take(r, "{")) {
        bool good = read_number(r, &least);
        most = least;
        if (good && take(r, ",") && !read_number(r, &most)) most = GRAMMAR_UNBOUNDED;
        if (!good || !take(r, "}") || most < least) return fail(r, "malformed bounds");
    } else if (!take(r, "*")) {
        return item;
    }
    if (!take(r, "?") && peek(r) == '+') return fail(r, "a possessive repetition");
    return grammar_ast_repeat(r->json->ast, item, least, most);
}

// One alternative. At the top, what is not anchored may have anything around it.
static grammar_expr read_sequence(struct reader *r, bool top) {
    struct grammar_ast *ast = r->json->ast;
    grammar_expr items[ITEMS_MAX + 2],
        any = grammar_ast_repeat(ast, r->json->character, 0, GRAMMAR_UNBOUNDED);
    uint32_t count = 0;
    bool ended = false;
    if (top && !take(r, "^")) items[count++] = any;
    while (!r->why && !ended && r->at < r->text.size && peek(r) != '|' && peek(r) != ')') {
        ended = top && take(r, "$");
        if (ended) break;
        if (count == ITEMS_MAX) return fail(r, "an alternative that is too long");
        items[count++] = read_operator(r, read_item(r));
    }
    if (top && !ended) items[count++] = any;
    return r->why ? NULL : grammar_ast_sequence(ast, items, count);
}

static grammar_expr read_choice(struct reader *r, bool top) {
    grammar_expr choices[ITEMS_MAX];
    uint32_t count = 0;
    do {
        if (count == ITEMS_MAX) return fail(r, "too many alternatives");
        choices[count++] = read_sequence(r, top);
    } while (!r->why && take(r, "|"));
    return r->why ? NULL : grammar_ast_choice(r->json->ast, choices, count);
}

grammar_expr grammar_regex_read(struct grammar_json *json, struct slice pattern, const char **why) {
    struct reader r = {.json = json, .text = pattern};
    grammar_expr quote = grammar_ast_literal(json->ast, "\"");
    grammar_expr choice = read_choice(&r, true);
    if (!r.why && r.at < pattern.size) fail(&r, "text behind '$', or a ')' too many");
    *why = r.why;
    return r.why ? NULL : GRAMMAR_SEQ(json->ast, quote, choice, quote);
}
