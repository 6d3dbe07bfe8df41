// SPDX-License-Identifier: Apache-2.0
#include "grammar/grammar_gbnf.h"

#include "base/limits.h"
#include "base/utf8.h"
#include "grammar/grammar_vocabulary.h"

struct reader {
    struct slice text;
    size_t at;
    struct grammar_ast *ast;
    unsigned depth;
    locum_status status; // the first failure
    locum_error *error;
};

// Items on their way into a sequence or a choice.
struct items {
    grammar_expr *items;
    uint32_t count, capacity;
};

static grammar_expr fail(struct reader *r, size_t at, const char *what) {
    size_t line = 1, column = 1;
    if (r->status != LOCUM_OK) return NULL;
    for (size_t i = 0; i < at && i < r->text.size; i++) {
        bool newline = r->text.data[i] == '\n';
        line += newline;
        column = newline ? 1 : column + 1;
    }
    r->status = status_fail(r->error, LOCUM_E_ARGUMENT, "grammar, line %zu, column %zu: %s", line,
                            column, what);
    return NULL;
}

static char peek(const struct reader *r) {
    return r->at < r->text.size ? r->text.data[r->at] : '\0';
}

static bool take(struct reader *r, char c) {
    bool found = r->at < r->text.size && peek(r) == c;
    r->at += found;
    return found;
}

static bool is_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_newline(char c) {
    return c == '\n' || c == '\r';
}

static void skip_space(struct reader *r, bool newlines) {
    while (r->at < r->text.size) {
        char c = peek(r);
        if (c == '#') {
            while (r->at < r->text.size && !is_newline(peek(r)))
                r->at++;
        } else if (c == ' ' || c == '\t' || (newlines && is_newline(c))) {
            r->at++;
        } else {
            return;
        }
    }
}

static bool add(struct reader *r, struct items *list, grammar_expr item) {
    if (!item && r->status == LOCUM_OK)
        r->status = status_fail(r->error, LOCUM_E_OUT_OF_MEMORY, "no memory for the grammar");
    if (r->status != LOCUM_OK) return false;
    if (list->count == list->capacity) {
        uint32_t capacity = list->capacity > 0 ? 2 * list->capacity : 8;
        grammar_expr *items = arena_array(r->ast->arena, capacity, sizeof *items);
        if (!items) {
            r->status = status_fail(r->error, LOCUM_E_OUT_OF_MEMORY, "no memory for the grammar");
            return false;
        }
        if (list->count > 0) memcpy(items, list->items, list->count * sizeof *items);
        list->items = items;
        list->capacity = capacity;
    }
    list->items[list->count++] = item;
    return true;
}

// ---- characters ---------------------------------------------------------------------------------
static bool read_hex(struct reader *r, uint32_t digits, uint32_t *code) {
    *code = 0;
    for (uint32_t i = 0; i < digits; i++, r->at++) {
        char c = peek(r);
        int digit = is_digit(c)            ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0) return false;
        *code = 16 * *code + (uint32_t)digit;
    }
    return *code <= GRAMMAR_RANGES_LAST && (*code < 0xD800 || *code > 0xDFFF);
}

static const struct {
    char letter;
    uint8_t code; // 0: that many hexadecimal digits follow
    uint8_t digits;
} escapes[] = {{'x', 0, 2},    {'u', 0, 4},   {'U', 0, 8},   {'t', '\t', 0}, {'r', '\r', 0},
               {'n', '\n', 0}, {'\\', '\\', 0}, {'"', '"', 0}, {'[', '[', 0},  {']', ']', 0}};

// One character of a literal or a class, escaped or not.
static bool read_char(struct reader *r, uint32_t *code) {
    size_t begin = r->at;
    if (!take(r, '\\')) {
        struct utf8_step step = utf8_next(slice_from(r->text, r->at));
        if (step.kind != UTF8_CHARACTER) return fail(r, begin, "this is not UTF-8"), false;
        *code = step.code;
        r->at += step.size;
        return true;
    }
    char letter = peek(r);
    for (size_t i = 0; i < sizeof escapes / sizeof escapes[0]; i++) {
        if (r->at == r->text.size || escapes[i].letter != letter) continue;
        r->at++;
        *code = escapes[i].code;
        if (escapes[i].digits == 0 || read_hex(r, escapes[i].digits, code)) return true;
        return fail(r, begin, "the escape does not name a character"), false;
    }
    return fail(r, begin, "unknown escape: \\x \\u \\U \\t \\r \\n \\\\ \\\" \\[ \\] are known"),
           false;
}

// ---- items --------------------------------------------------------------------------------------
static grammar_expr read_literal(struct reader *r) {
    size_t begin = r->at - 1;
    struct items list = {0};
    while (!take(r, '"')) {
        uint32_t code;
        if (r->at == r->text.size) return fail(r, begin, "the text has no end: '\"' is missing");
        if (!read_char(r, &code) || !add(r, &list, grammar_ast_range(r->ast, code, code)))
            return NULL;
    }
    return grammar_ast_sequence(r->ast, list.items, list.count);
}

static grammar_expr read_class(struct reader *r) {
    size_t begin = r->at - 1;
    bool negated = take(r, '^');
    struct grammar_range *ranges = NULL;
    uint32_t count = 0, capacity = 0;
    while (!take(r, ']')) {
        uint32_t first, last;
        size_t here = r->at;
        if (r->at == r->text.size) return fail(r, begin, "the class has no end: ']' is missing");
        if (!read_char(r, &first)) return NULL;
        last = first;
        if (peek(r) == '-' && r->at + 1 < r->text.size && r->text.data[r->at + 1] != ']') {
            r->at++;
            if (!read_char(r, &last)) return NULL;
            if (last < first) return fail(r, here, "the range runs backwards");
        }
        if (count == capacity) {
            capacity = capacity > 0 ? 2 * capacity : 8;
            struct grammar_range *grown = arena_array(r->ast->arena, capacity, sizeof *grown);
            if (!grown) return NULL;
            if (count > 0) memcpy(grown, ranges, count * sizeof *ranges);
            ranges = grown;
        }
        ranges[count++] = (struct grammar_range){first, last};
    }
    if (count == 0) return fail(r, begin, "the class is empty");
    return grammar_ast_class(r->ast, ranges, count, negated);
}

// <name>: the control token whose name, brackets and all, this is.
static grammar_expr read_token(struct reader *r) {
    size_t begin = r->at - 1, end = begin;
    while (end < r->text.size && r->text.data[end] != '>' && !is_newline(r->text.data[end]))
        end++;
    if (end == r->text.size || r->text.data[end] != '>')
        return fail(r, begin, "the token has no end: '>' is missing");
    r->at = end + 1;
    return GRAMMAR_SEQ(r->ast,
                       grammar_ast_bytes(r->ast, GRAMMAR_NAME_BEGIN, GRAMMAR_NAME_BEGIN),
                       grammar_ast_text(r->ast, slice_make(r->text.data + begin, r->at - begin)),
                       grammar_ast_bytes(r->ast, GRAMMAR_NAME_END, GRAMMAR_NAME_END));
}

static uint32_t find_rule(struct reader *r, struct slice name) {
    for (uint32_t i = 0; i < r->ast->count; i++) {
        if (slice_is(name, r->ast->rules[i].name)) return i;
    }
    const char *text = arena_copy_text(r->ast->arena, name.data, name.size);
    return text ? grammar_ast_add_rule(r->ast, text) : UINT32_MAX;
}

static struct slice read_name(struct reader *r) {
    size_t begin = r->at;
    while (r->at < r->text.size && is_name(peek(r)))
        r->at++;
    return slice_make(r->text.data + begin, r->at - begin);
}

static grammar_expr read_choice(struct reader *r, bool nested);

static grammar_expr read_group(struct reader *r) {
    size_t begin = r->at - 1;
    if (r->depth == LIMIT_GRAMMAR_NESTING) return fail(r, begin, "groups are nested too deep");
    r->depth++;
    skip_space(r, true);
    grammar_expr choice = read_choice(r, true);
    r->depth--;
    if (r->status == LOCUM_OK && !take(r, ')')) return fail(r, r->at, "')' is expected");
    return choice;
}

// NULL without a failure: no item begins here.
static grammar_expr read_item(struct reader *r) {
    if (r->at == r->text.size) return NULL;
    if (take(r, '"')) return read_literal(r);
    if (take(r, '[')) return read_class(r);
    if (take(r, '(')) return read_group(r);
    if (take(r, '<')) return read_token(r);
    if (take(r, '.')) return grammar_ast_range(r->ast, 0, GRAMMAR_RANGES_LAST);
    if (!is_name(peek(r))) return NULL;
    return grammar_ast_rule(r->ast, find_rule(r, read_name(r)));
}

// ---- repetitions --------------------------------------------------------------------------------
static bool read_count(struct reader *r, uint32_t *count) {
    uint64_t value = 0;
    size_t begin = r->at;
    if (!is_digit(peek(r))) return fail(r, r->at, "a number is expected"), false;
    for (; is_digit(peek(r)); r->at++) {
        value = 10 * value + (uint64_t)(peek(r) - '0');
        if (value > INT32_MAX) return fail(r, begin, "the number is too large"), false;
    }
    *count = (uint32_t)value;
    return true;
}

static bool read_bounds(struct reader *r, uint32_t *least, uint32_t *most) {
    size_t begin = r->at - 1;
    skip_space(r, false);
    if (!read_count(r, least)) return false;
    *most = *least;
    skip_space(r, false);
    if (take(r, ',')) {
        skip_space(r, false);
        *most = GRAMMAR_UNBOUNDED;
        if (is_digit(peek(r)) && !read_count(r, most)) return false;
        skip_space(r, false);
    }
    if (!take(r, '}')) return fail(r, r->at, "'}' is expected"), false;
    if (*most < *least) return fail(r, begin, "the bounds run backwards"), false;
    return true;
}

// The operators behind an item; each repeats what stands before it.
static grammar_expr read_operators(struct reader *r, grammar_expr item) {
    for (;;) {
        uint32_t least = 0, most = GRAMMAR_UNBOUNDED;
        if (take(r, '?')) most = 1;
        else if (take(r, '+')) least = 1;
        else if (take(r, '{')) {
            if (!read_bounds(r, &least, &most)) return NULL;
        } else if (!take(r, '*')) {
            return item;
        }
        item = grammar_ast_repeat(r->ast, item, least, most);
    }
}

// ---- sequences, choices, rules ------------------------------------------------------------------
static grammar_expr read_sequence(struct reader *r, bool nested) {
    struct items list = {0};
    for (;;) {
        size_t begin = r->at;
        grammar_expr item = read_item(r);
        if (!item && r->status == LOCUM_OK && !r->ast->failed && r->at == begin) break;
        if (item) item = read_operators(r, item);
        if (!add(r, &list, item)) return NULL;
        skip_space(r, nested);
    }
    if (r->at < r->text.size && memchr("*+?{", peek(r), 4))
        return fail(r, r->at, "there is nothing to repeat before this");
    return grammar_ast_sequence(r->ast, list.items, list.count);
}

static grammar_expr read_choice(struct reader *r, bool nested) {
    struct items list = {0};
    do {
        skip_space(r, nested || list.count > 0);
        if (!add(r, &list, read_sequence(r, nested))) return NULL;
    } while (take(r, '|'));
    return grammar_ast_choice(r->ast, list.items, list.count);
}

static void read_rule(struct reader *r) {
    size_t begin = r->at;
    struct slice name = read_name(r);
    if (name.size == 0) {
        fail(r, begin, "the name of a rule is expected");
        return;
    }
    if (r->ast->count > LIMIT_GRAMMAR_RULES) {
        fail(r, begin, "there are too many rules");
        return;
    }
    uint32_t rule = find_rule(r, name);
    skip_space(r, false);
    if (!slice_starts(slice_from(r->text, r->at), slice_text("::="))) {
        fail(r, r->at, "'::=' is expected");
        return;
    }
    r->at += 3;
    skip_space(r, true);
    grammar_expr expr = read_choice(r, false);
    if (r->status != LOCUM_OK) return;
    if (r->at < r->text.size && !is_newline(peek(r))) {
        fail(r, r->at, "a new line or the end is expected");
    } else if (rule < r->ast->count && r->ast->rules[rule].expr) {
        fail(r, begin, "the rule is defined twice");
    }
    grammar_ast_define(r->ast, rule, expr);
}

locum_status grammar_gbnf_read(struct slice text, struct grammar_ast *ast, locum_error *error) {
    struct reader r = {.text = text, .ast = ast, .error = error};
    if (text.size > LIMIT_GRAMMAR_SOURCE)
        return status_fail(error, LOCUM_E_ARGUMENT, "the grammar has more than %d bytes",
                           LIMIT_GRAMMAR_SOURCE);
    grammar_ast_add_rule(ast, "root");
    skip_space(&r, true);
    while (r.at < text.size && r.status == LOCUM_OK) {
        read_rule(&r);
        skip_space(&r, true);
    }
    if (r.status == LOCUM_OK && ast->failed)
        return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for the grammar");
    return r.status;
}
