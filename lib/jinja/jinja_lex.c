// SPDX-License-Identifier: Apache-2.0
#include "jinja/jinja_lex.h"

#include "base/limits.h"
#include "base/utf8.h"
#include "jinja/jinja_number.h"
#include "jinja/jinja_text.h"
#include "jinja/jinja_unicode.h"

enum { OPEN_MAX = 256 }; // brackets that may be open at a time

struct lexer {
    struct arena *arena;
    locum_error *error;
    struct slice source;
    size_t at;
    // Line and column of `counted`, which only moves on.
    size_t counted;
    uint32_t line, column;
    struct jinja_token *tokens;
    size_t count, capacity;
    char open[OPEN_MAX]; // the brackets that must close, inside a tag
    size_t opened;
};

static locum_status out_of_memory(struct lexer *lexer) {
    return status_fail(lexer->error, LOCUM_E_OUT_OF_MEMORY, "no memory for the template");
}

static void locate(struct lexer *lexer, size_t at, uint32_t *line, uint32_t *column) {
    for (; lexer->counted < at; lexer->counted++) {
        unsigned char byte = (unsigned char)lexer->source.data[lexer->counted];
        if (byte == '\n') {
            lexer->line++;
            lexer->column = 1;
        } else if ((byte & 0xC0) != 0x80) {
            lexer->column++;
        }
    }
    *line = lexer->line;
    *column = lexer->column;
}

static locum_status fail_at(struct lexer *lexer, size_t at, const char *what) {
    uint32_t line, column;
    locate(lexer, at, &line, &column);
    return status_fail(lexer->error, LOCUM_E_FORMAT, "line %u, column %u: %s", line, column, what);
}

static struct jinja_token *push(struct lexer *lexer, enum jinja_token_kind kind, size_t at) {
    if (lexer->count == lexer->capacity) {
        size_t capacity = lexer->capacity ? 2 * lexer->capacity : 256;
        struct jinja_token *tokens = arena_array(lexer->arena, capacity, sizeof *tokens);
        if (!tokens) {
            return NULL;
        }
        if (lexer->count > 0) {
            memcpy(tokens, lexer->tokens, lexer->count * sizeof *tokens);
        }
        lexer->tokens = tokens;
        lexer->capacity = capacity;
    }
    struct jinja_token *token = &lexer->tokens[lexer->count++];
    *token = (struct jinja_token){.kind = kind};
    locate(lexer, at, &token->line, &token->column);
    return token;
}

static bool looking_at(const struct lexer *lexer, size_t at, const char *text) {
    return at <= lexer->source.size &&
           slice_starts(slice_from(lexer->source, at), slice_text(text));
}

static size_t skip_space(const struct lexer *lexer, size_t at) {
    size_t size;
    while (at < lexer->source.size &&
           (size = jinja_space_at(slice_from(lexer->source, at))) > 0) {
        at += size;
    }
    return at;
}

// --- Text between tags ---------------------------------------------------------------------------

// The end of a tag at `at`: "-%}", "+%}" or "%}" with what goes along. 0: it is not there.
static size_t tag_end(const struct lexer *lexer, size_t at, const char *mark) {
    bool minus = looking_at(lexer, at, "-"), plus = looking_at(lexer, at, "+");
    size_t begin = at + (minus || plus);
    if (!looking_at(lexer, begin, mark) || (plus && mark[0] == '}')) {
        return 0;
    }
    size_t end = begin + 2;
    if (minus) {
        return skip_space(lexer, end);
    }
    bool breaks = !plus && mark[0] != '}' && looking_at(lexer, end, "\n");
    return end + breaks;
}

// What is left of the text [begin, end) before a tag with this sign ('-', '+' or none).
static size_t strip_before(const struct lexer *lexer, size_t begin, size_t end, char sign,
                           bool lines) {
    const char *data = lexer->source.data;
    if (sign == '+' || (sign != '-' && !lines)) {
        return end;
    }
    size_t kept = begin, line = begin;
    for (size_t at = begin; at < end;) {
        size_t size = jinja_space_at(slice_make(data + at, end - at));
        at += size ? size : 1;
        kept = size ? kept : at;
        line = data[at - 1] == '\n' ? at : line;
    }
    if (sign == '-') {
        return kept;
    }
    // Of a line that holds nothing else before the tag.
    bool starts_line = line > begin || begin == 0 || data[begin - 1] == '\n';
    return starts_line && kept <= line ? line : end;
}

static locum_status add_data(struct lexer *lexer, size_t begin, size_t end) {
    if (begin == end) {
        return LOCUM_OK;
    }
    struct jinja_token *token = push(lexer, JINJA_TOKEN_DATA, begin);
    if (!token) {
        return out_of_memory(lexer);
    }
    token->text = slice_make(lexer->source.data + begin, end - begin);
    return LOCUM_OK;
}

static char sign_at(const struct lexer *lexer, size_t at) {
    return looking_at(lexer, at, "-") ? '-' : looking_at(lexer, at, "+") ? '+' : '\0';
}

static locum_status lex_comment(struct lexer *lexer) {
    size_t begin = lexer->at;
    for (size_t at = begin + 2 + (sign_at(lexer, begin + 2) != 0); at < lexer->source.size; at++) {
        size_t end = tag_end(lexer, at, "#}");
        if (end > 0) {
            lexer->at = end;
            return LOCUM_OK;
        }
    }
    return fail_at(lexer, begin, "a comment does not end");
}

// The end of {% WORD %} whose {% is at `at`; 0: something else stands there.
static size_t word_tag(const struct lexer *lexer, size_t at, const char *word, bool trims) {
    if (!looking_at(lexer, at, "{%")) {
        return 0;
    }
    at = skip_space(lexer, at + 2 + (sign_at(lexer, at + 2) != 0));
    if (!looking_at(lexer, at, word)) {
        return 0;
    }
    at = skip_space(lexer, at + strlen(word));
    if (!trims && looking_at(lexer, at, "%}")) {
        return at + 2;
    }
    return trims || looking_at(lexer, at, "-") ? tag_end(lexer, at, "%}") : 0;
}

static locum_status lex_raw(struct lexer *lexer, size_t begin) {
    for (size_t at = begin; at < lexer->source.size; at++) {
        size_t end = word_tag(lexer, at, "endraw", true);
        if (end > 0) {
            lexer->at = end;
            size_t kept = strip_before(lexer, begin, at, sign_at(lexer, at + 2), true);
            return add_data(lexer, begin, kept);
        }
    }
    return fail_at(lexer, lexer->at, "a raw block does not end");
}

// --- Inside a tag --------------------------------------------------------------------------------

static int hex_of(const struct lexer *lexer, size_t at, size_t count, uint32_t *code) {
    int64_t number;
    struct slice digits = slice_from(lexer->source, at);
    if (digits.size < count || digits.data[0] == '-' || digits.data[0] == '+' ||
        !jinja_int_read(slice_make(digits.data, count), 16, &number)) {
        return false;
    }
    *code = (uint32_t)number;
    return *code <= 0x10FFFF && (*code < 0xD800 || *code > 0xDFFF);
}

static const struct {
    char letter, means;
} escapes[] = {{'\\', '\\'}, {'\'', '\''}, {'"', '"'},  {'a', '\a'}, {'b', '\b'},
               {'f', '\f'},  {'n', '\n'},  {'r', '\r'}, {'t', '\t'}, {'v', '\v'}};

// One escape, as Python's unicode-escape has them; `at` is behind the backslash. False: malformed.
static bool unescape(const struct lexer *lexer, size_t *at, struct jinja_text *text) {
    char letter = lexer->source.data[*at];
    uint32_t code = 0;
    for (size_t i = 0; i < sizeof escapes / sizeof escapes[0]; i++) {
        if (escapes[i].letter == letter) {
            jinja_text_add(text, slice_make(&escapes[i].means, 1), JINJA_TEMPLATE);
            ++*at;
            return true;
        }
    }
    if (letter >= '0' && letter <= '7') {
        for (int i = 0; i < 3 && *at < lexer->source.size; i++, ++*at) {
            char digit = lexer->source.data[*at];
            if (digit < '0' || digit > '7') {
                break;
            }
            code = 8 * code + (uint32_t)(digit - '0');
        }
    } else if (letter == 'x' || letter == 'u' || letter == 'U') {
        size_t digits = letter == 'x' ? 2 : letter == 'u' ? 4 : 8;
        if (!hex_of(lexer, *at + 1, digits, &code)) {
            return false;
        }
        *at += 1 + digits;
    } else if (letter == '\n') {
        ++*at;
        return true;
    } else {
        jinja_text_add(text, slice_text("\\"), JINJA_TEMPLATE);
        return letter != 'N'; // a character's name
    }
    jinja_text_add_code(text, code, JINJA_TEMPLATE);
    return true;
}

static locum_status lex_string(struct lexer *lexer) {
    size_t begin = lexer->at, at = begin + 1;
    char quote = lexer->source.data[begin];
    struct jinja_text text = {0};
    while (at < lexer->source.size && lexer->source.data[at] != quote) {
        size_t escape = at;
        if (lexer->source.data[at] != '\\') {
            jinja_text_add(&text, slice_make(lexer->source.data + at, 1), JINJA_TEMPLATE);
            at++;
        } else if (++at == lexer->source.size || !unescape(lexer, &at, &text)) {
            jinja_text_release(&text);
            return fail_at(lexer, escape, "an escape in a string is malformed");
        }
    }
    struct jinja_value value;
    bool done = jinja_text_finish(&text, lexer->arena, &value);
    if (at == lexer->source.size) {
        return fail_at(lexer, begin, "a string does not end");
    }
    struct jinja_token *token = push(lexer, JINJA_TOKEN_STRING, begin);
    if (!token || !done) {
        return out_of_memory(lexer);
    }
    token->text = jinja_value_text(value);
    lexer->at = at + 1;
    return LOCUM_OK;
}

static bool is_digit(const struct lexer *lexer, size_t at) {
    return at < lexer->source.size && lexer->source.data[at] >= '0' &&
           lexer->source.data[at] <= '9';
}

// Digits with single underscores between them.
static size_t skip_digits(const struct lexer *lexer, size_t at) {
    while (is_digit(lexer, at) || (looking_at(lexer, at, "_") && is_digit(lexer, at + 1))) {
        at++;
    }
    return at;
}

static size_t skip_exponent(const struct lexer *lexer, size_t at) {
    if (!looking_at(lexer, at, "e") && !looking_at(lexer, at, "E")) {
        return at;
    }
    size_t digits = at + 1 + (sign_at(lexer, at + 1) != 0);
    return is_digit(lexer, digits) ? skip_digits(lexer, digits) : at;
}

static bool is_name(char byte, bool first) {
    return byte == '_' || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (!first && byte >= '0' && byte <= '9');
}

// Digits of [begin, end) without their underscores, as a number.
static locum_status push_number(struct lexer *lexer, size_t begin, size_t digits, size_t end,
                                int base, bool whole) {
    char *plain = arena_alloc(lexer->arena, end - digits + 1);
    struct jinja_token *token = push(lexer, JINJA_TOKEN_NUMBER, begin);
    size_t size = 0;
    if (!token || !plain) {
        return out_of_memory(lexer);
    }
    for (size_t i = digits; i < end; i++) {
        plain[size] = lexer->source.data[i];
        size += lexer->source.data[i] != '_';
    }
    struct slice text = slice_make(plain, size);
    token->text = slice_make(lexer->source.data + begin, end - begin);
    token->value = whole ? jinja_int(0) : jinja_float(0);
    bool read = whole ? jinja_int_read(text, base, &token->value.integer)
                      : jinja_float_read(text, &token->value.real);
    if (!read && (!whole || base != 10)) {
        return fail_at(lexer, begin, "this number is malformed or too large");
    }
    if (!read && !jinja_big_new(lexer->arena, text, &token->value)) {
        return out_of_memory(lexer);
    }
    lexer->at = end;
    return LOCUM_OK;
}

// 0x1f, 0o17, 0b11; 0 is the base of any other number.
static int base_at(const struct lexer *lexer, size_t at) {
    static const struct {
        const char *prefix;
        int base;
    } prefixes[] = {{"0x", 16}, {"0X", 16}, {"0o", 8}, {"0O", 8}, {"0b", 2}, {"0B", 2}};
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        if (looking_at(lexer, at, prefixes[i].prefix)) {
            return prefixes[i].base;
        }
    }
    return 0;
}

static locum_status lex_number(struct lexer *lexer) {
    size_t begin = lexer->at, whole = skip_digits(lexer, begin), at = whole;
    int base = base_at(lexer, begin);
    if (base > 0) {
        for (at = begin + 2; at < lexer->source.size && is_name(lexer->source.data[at], false);) {
            at++;
        }
        return push_number(lexer, begin, begin + 2, at, base, true);
    }
    if (begin == 0 || lexer->source.data[begin - 1] != '.') { // x.0.1 is two items
        if (looking_at(lexer, at, ".") && is_digit(lexer, at + 1)) {
            at = skip_digits(lexer, at + 1);
        }
        at = skip_exponent(lexer, at);
    }
    size_t zeros = begin;
    while (zeros < whole && memchr("0_", lexer->source.data[zeros], 2)) {
        zeros++;
    }
    if (at == whole && zeros > begin && zeros < whole) {
        return fail_at(lexer, begin, "a number has leading zeros");
    }
    return push_number(lexer, begin, begin, at, 10, at == whole);
}

// Longest first.
static const char *const operators[] = {"//", "**", "==", "!=", ">=", "<=", "+", "-", "*", "/", "%",
                                        "~",  "[",  "]",  "(",  ")",  "{",  "}", ">", "<", "=", ".",
                                        ":",  "|",  ",",  ";"};

static const char *operator_at(const struct lexer *lexer) {
    for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++) {
        if (looking_at(lexer, lexer->at, operators[i])) {
            return operators[i];
        }
    }
    return NULL;
}

static locum_status lex_operator(struct lexer *lexer) {
    const char *found = operator_at(lexer);
    if (!found) {
        return fail_at(lexer, lexer->at, "this character means nothing here");
    }
    static const char pairs[] = "()[]{}";
    const char *pair = found[1] == '\0' ? strchr(pairs, found[0]) : NULL;
    if (pair && (pair - pairs) % 2 == 0) {
        if (lexer->opened == OPEN_MAX) {
            return fail_at(lexer, lexer->at, "too many brackets are open");
        }
        lexer->open[lexer->opened++] = pair[1];
    } else if (pair) {
        if (lexer->opened == 0 || lexer->open[lexer->opened - 1] != found[0]) {
            return fail_at(lexer, lexer->at, "this bracket closes nothing");
        }
        lexer->opened--;
    }
    struct jinja_token *token = push(lexer, JINJA_TOKEN_OPERATOR, lexer->at);
    if (!token) {
        return out_of_memory(lexer);
    }
    token->text = slice_text(found);
    lexer->at += token->text.size;
    return LOCUM_OK;
}

static locum_status lex_name(struct lexer *lexer) {
    size_t begin = lexer->at, at = begin;
    while (at < lexer->source.size && is_name(lexer->source.data[at], at == begin)) {
        at++;
    }
    struct jinja_token *token = push(lexer, JINJA_TOKEN_NAME, begin);
    if (!token) {
        return out_of_memory(lexer);
    }
    token->text = slice_make(lexer->source.data + begin, at - begin);
    lexer->at = at;
    return LOCUM_OK;
}

// From behind the tag's beginning to behind its end.
static locum_status lex_tag(struct lexer *lexer, size_t begin, const char *mark,
                            enum jinja_token_kind end_kind) {
    lexer->opened = 0;
    for (;;) {
        size_t end = lexer->opened == 0 ? tag_end(lexer, lexer->at, mark) : 0;
        if (end > 0) {
            struct jinja_token *token = push(lexer, end_kind, lexer->at);
            lexer->at = end;
            return token ? LOCUM_OK : out_of_memory(lexer);
        }
        size_t at = skip_space(lexer, lexer->at);
        if (at == lexer->source.size) {
            return fail_at(lexer, begin, "a tag does not end");
        }
        if (at != lexer->at) {
            lexer->at = at;
            continue;
        }
        char byte = lexer->source.data[at];
        locum_status (*lex)(struct lexer *) = is_digit(lexer, at)           ? lex_number
                                              : is_name(byte, true)         ? lex_name
                                              : byte == '"' || byte == '\'' ? lex_string
                                                                            : lex_operator;
        STATUS_TRY(lex(lexer));
    }
}

// --- The whole -----------------------------------------------------------------------------------

static size_t next_tag(const struct lexer *lexer, size_t at) {
    for (; at + 1 < lexer->source.size; at++) {
        if (lexer->source.data[at] == '{' && memchr("{%#", lexer->source.data[at + 1], 3)) {
            return at;
        }
    }
    return lexer->source.size;
}

static locum_status lex_next(struct lexer *lexer) {
    size_t begin = lexer->at, tag = next_tag(lexer, begin);
    if (tag == lexer->source.size) {
        lexer->at = tag;
        return add_data(lexer, begin, tag);
    }
    char kind = lexer->source.data[tag + 1], sign = sign_at(lexer, tag + 2);
    STATUS_TRY(add_data(lexer, begin, strip_before(lexer, begin, tag, sign, kind != '{')));
    lexer->at = tag;
    if (kind == '#') {
        return lex_comment(lexer);
    }
    size_t raw = kind == '%' ? word_tag(lexer, tag, "raw", false) : 0;
    if (raw > 0) {
        return lex_raw(lexer, raw);
    }
    bool block = kind == '%';
    if (!push(lexer, block ? JINJA_TOKEN_BLOCK_BEGIN : JINJA_TOKEN_VARIABLE_BEGIN, tag)) {
        return out_of_memory(lexer);
    }
    lexer->at = tag + 2 + (sign != '\0');
    return lex_tag(lexer, tag, block ? "%}" : "}}",
                   block ? JINJA_TOKEN_BLOCK_END : JINJA_TOKEN_VARIABLE_END);
}

// A copy in which every line ends with \n, without the last one's.
static locum_status copy_source(struct lexer *lexer, struct slice source) {
    if (source.size > LIMIT_JINJA_SOURCE) {
        return status_fail(lexer->error, LOCUM_E_UNSUPPORTED,
                           "the template has %zu bytes, at most %d are read", source.size,
                           LIMIT_JINJA_SOURCE);
    }
    char *copy = arena_copy_text(lexer->arena, source.data, source.size);
    if (!copy) {
        return out_of_memory(lexer);
    }
    size_t size = 0;
    for (size_t i = 0; i < source.size; i++) {
        bool pair = source.data[i] == '\r' && i + 1 < source.size && source.data[i + 1] == '\n';
        if (!pair) {
            copy[size++] = source.data[i] == '\r' ? '\n' : source.data[i];
        }
    }
    lexer->source = slice_make(copy, size > 0 && copy[size - 1] == '\n' ? size - 1 : size);
    for (size_t at = 0; at < size;) {
        struct utf8_step step = utf8_next(slice_make(copy + at, size - at));
        if (step.kind != UTF8_CHARACTER) {
            return fail_at(lexer, at, "the template is not UTF-8");
        }
        at += step.size;
    }
    return LOCUM_OK;
}

locum_status jinja_lex(struct slice source, struct arena *arena, struct jinja_token **out,
                       locum_error *error) {
    struct lexer lexer = {.arena = arena, .error = error, .line = 1, .column = 1};
    STATUS_TRY(copy_source(&lexer, source));
    while (lexer.at < lexer.source.size) {
        STATUS_TRY(lex_next(&lexer));
    }
    if (!push(&lexer, JINJA_TOKEN_END, lexer.source.size)) {
        return out_of_memory(&lexer);
    }
    *out = lexer.tokens;
    return LOCUM_OK;
}
