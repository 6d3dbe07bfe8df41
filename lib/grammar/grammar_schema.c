// SPDX-License-Identifier: Apache-2.0
#include "grammar/grammar_schema.h"

#include "base/buffer.h"
#include "base/limits.h"
#include "grammar/grammar_intern.h"
#include "grammar/grammar_regex.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// A schema that $ref names, and the rule that it became.
struct target {
    const json_t *schema;
    uint32_t rule;
};

struct reader {
    struct grammar_json *json;
    struct grammar_ast *ast;
    json_t *root;
    json_t *merged; // an array that keeps schemas that are put together from several
    struct target *targets;
    uint32_t target_count, target_capacity;
    struct buffer path; // the JSON pointer of where it reads
    unsigned depth;
    locum_status status; // the first failure
    locum_error *error;
};

static grammar_expr read_schema(struct reader *r, json_t *schema);

static grammar_expr fail(struct reader *r, locum_status status, const char *keyword,
                         const char *what) {
    const char *path = buffer_text(&r->path);
    if (r->status == LOCUM_OK)
        r->status = status_fail(r->error, status, "JSON schema, at '%s': %s%s%s",
                                path && *path ? path : "/", keyword ? keyword : "",
                                keyword ? ": " : "", what);
    return NULL;
}

static grammar_expr unsupported(struct reader *r, const char *keyword, const char *what) {
    return fail(r, LOCUM_E_UNSUPPORTED, keyword, what);
}

static grammar_expr malformed(struct reader *r, const char *keyword, const char *what) {
    return fail(r, LOCUM_E_ARGUMENT, keyword, what);
}

// Goes into a part of the schema; `leave` takes what it gave.
static size_t enter(struct reader *r, const char *name) {
    size_t size = r->path.size;
    buffer_append_byte(&r->path, '/');
    for (; *name; name++) {
        if (*name == '~') buffer_append_text(&r->path, "~0");
        else if (*name == '/') buffer_append_text(&r->path, "~1");
        else buffer_append_byte(&r->path, *name);
    }
    return size;
}

static void leave(struct reader *r, size_t size) {
    r->path.size = size;
}

static grammar_expr read_part(struct reader *r, const char *name, json_t *schema) {
    size_t mark = enter(r, name);
    grammar_expr expr = read_schema(r, schema);
    leave(r, mark);
    return expr;
}

static grammar_expr read_indexed(struct reader *r, const char *name, size_t index, json_t *schema) {
    char number[24];
    snprintf(number, sizeof number, "%zu", index);
    size_t mark = enter(r, name);
    grammar_expr expr = read_part(r, number, schema);
    leave(r, mark);
    return expr;
}

static grammar_expr *new_items(struct reader *r, size_t count) {
    grammar_expr *items = arena_array(r->ast->arena, count + 1, sizeof *items);
    if (!items) r->ast->failed = true;
    return items;
}

// ---- keywords -----------------------------------------------------------------------------------
// What cannot be kept. Keywords that are in neither table are annotations, as the standard has it.
static const char *const refused[] = {
    "not", "if", "then", "else", "dependentRequired", "dependentSchemas", "dependencies",
    "contains", "minContains", "maxContains", "unevaluatedItems", "unevaluatedProperties",
    "propertyNames", "patternProperties", "multipleOf", "minProperties", "maxProperties",
    "$dynamicRef", "$recursiveRef", "additionalItems"};

// A refused keyword that asks for nothing is fine.
static bool asks_nothing(const char *keyword, const json_t *value) {
    if (strncmp(keyword, "min", 3) == 0) return json_is_integer(value) && json_integer_value(value) == 0;
    if (strcmp(keyword, "unevaluatedProperties") == 0) return true; // only listed ones are written
    return json_is_object(value) && json_object_size(value) == 0 && strcmp(keyword, "not") != 0;
}

static bool check_keywords(struct reader *r, const json_t *schema) {
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        const json_t *value = json_object_get(schema, refused[i]);
        if (value && !asks_nothing(refused[i], value))
            return unsupported(r, refused[i], "this keyword is not supported"), false;
    }
    if (json_is_true(json_object_get(schema, "uniqueItems")))
        return unsupported(r, "uniqueItems", "this keyword is not supported"), false;
    return true;
}

// A count such as minLength; `absent` if it is not there.
static uint32_t read_count(struct reader *r, const json_t *schema, const char *keyword,
                           uint32_t absent) {
    const json_t *value = json_object_get(schema, keyword);
    if (!value) return absent;
    double number = json_number_value(value);
    if (!json_is_number(value) || number < 0 || number != floor(number))
        malformed(r, keyword, "must be a whole number from 0 on");
    return number < INT32_MAX ? (uint32_t)number : (uint32_t)INT32_MAX;
}

// ---- given values -------------------------------------------------------------------------------
static grammar_expr read_literal_number(struct reader *r, const json_t *value) {
    char text[64];
    if (json_is_integer(value)) {
        snprintf(text, sizeof text, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    } else {
        double real = json_real_value(value);
        for (int precision = 15; precision <= 17; precision++) {
            snprintf(text, sizeof text, "%.*g", precision, real);
            if (strtod(text, NULL) == real) break;
        }
    }
    return grammar_ast_literal(r->ast, text);
}

static grammar_expr read_value(struct reader *r, const json_t *value, unsigned depth);

static grammar_expr read_object_value(struct reader *r, json_t *value, unsigned depth) {
    size_t n = 0;
    grammar_expr *items = new_items(r, 2 * json_object_size(value));
    const char *key;
    json_t *member;
    json_object_foreach(value, key, member) {
        if (!items) return NULL;
        if (n > 0)
            items[n++] = GRAMMAR_SEQ(r->ast, r->json->space, grammar_ast_literal(r->ast, ","),
                                     r->json->space);
        items[n++] = grammar_json_pair(r->json, grammar_json_quoted(r->json, slice_text(key)),
                                       read_value(r, member, depth));
    }
    return GRAMMAR_SEQ(r->ast, grammar_ast_literal(r->ast, "{"), r->json->space,
                       items ? grammar_ast_sequence(r->ast, items, (uint32_t)n) : NULL,
                       r->json->space, grammar_ast_literal(r->ast, "}"));
}

static grammar_expr read_array_value(struct reader *r, const json_t *value, unsigned depth) {
    size_t n = 0, i;
    grammar_expr *items = new_items(r, 2 * json_array_size(value));
    json_t *element;
    json_array_foreach(value, i, element) {
        if (!items) return NULL;
        if (n > 0)
            items[n++] = GRAMMAR_SEQ(r->ast, r->json->space, grammar_ast_literal(r->ast, ","),
                                     r->json->space);
        items[n++] = read_value(r, element, depth);
    }
    return GRAMMAR_SEQ(r->ast, grammar_ast_literal(r->ast, "["), r->json->space,
                       items ? grammar_ast_sequence(r->ast, items, (uint32_t)n) : NULL,
                       r->json->space, grammar_ast_literal(r->ast, "]"));
}

static grammar_expr read_value(struct reader *r, const json_t *value, unsigned depth) {
    if (depth == LIMIT_GRAMMAR_NESTING) return malformed(r, NULL, "a value is nested too deep");
    switch (json_typeof(value)) {
    case JSON_NULL: return r->json->null;
    case JSON_TRUE: return grammar_ast_literal(r->ast, "true");
    case JSON_FALSE: return grammar_ast_literal(r->ast, "false");
    case JSON_STRING:
        return grammar_json_quoted(
            r->json, slice_make(json_string_value(value), json_string_length(value)));
    case JSON_ARRAY: return read_array_value(r, value, depth + 1);
    case JSON_OBJECT: return read_object_value(r, (json_t *)(uintptr_t)value, depth + 1);
    default: return read_literal_number(r, value);
    }
}

static bool has_type(const json_t *value, const char *type) {
    static const struct {
        const char *name;
        json_type type;
    } types[] = {{"null", JSON_NULL},     {"boolean", JSON_TRUE}, {"boolean", JSON_FALSE},
                 {"string", JSON_STRING}, {"array", JSON_ARRAY},  {"object", JSON_OBJECT},
                 {"number", JSON_REAL},   {"number", JSON_INTEGER}, {"integer", JSON_INTEGER}};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (strcmp(types[i].name, type) == 0 && types[i].type == json_typeof(value)) return true;
    }
    return strcmp(type, "integer") == 0 && json_is_real(value) &&
           json_real_value(value) == floor(json_real_value(value));
}

static bool fits_type(const json_t *value, const json_t *type) {
    if (json_is_string(type)) return has_type(value, json_string_value(type));
    for (size_t i = 0; i < json_array_size(type); i++) {
        const char *name = json_string_value(json_array_get(type, i));
        if (name && has_type(value, name)) return true;
    }
    return type == NULL;
}

// enum and const: the values whose type fits too. Other demands beside them are refused.
static grammar_expr read_given(struct reader *r, const json_t *schema, const json_t *values) {
    static const char *const beside[] = {"minLength", "maxLength",  "pattern",  "minimum",
                                         "maximum",   "properties", "required", "items",
                                         "exclusiveMinimum", "exclusiveMaximum"};
    for (size_t i = 0; i < sizeof beside / sizeof beside[0]; i++) {
        if (json_object_get(schema, beside[i]))
            return unsupported(r, beside[i], "beside enum or const it is not supported");
    }
    uint32_t n = 0;
    grammar_expr *items = new_items(r, json_array_size(values));
    for (size_t i = 0; items && i < json_array_size(values); i++) {
        const json_t *value = json_array_get(values, i);
        if (fits_type(value, json_object_get(schema, "type"))) items[n++] = read_value(r, value, 0);
    }
    return items ? grammar_ast_choice(r->ast, items, n) : NULL;
}

// ---- strings and numbers ------------------------------------------------------------------------
#define DATE_MONTHS                                                                              \
    "((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|"              \
    "02-(0[1-9]|1[0-9]|2[0-8]))"
#define DATE "[12][0-9]{3}-" DATE_MONTHS
#define TIME "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,6})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])"
#define BYTE "(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
#define LABEL "[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
#define HEX4 "[0-9a-f]{1,4}"

// 29 February is left out: a grammar that knows leap years would gain little.
static const struct {
    const char *name, *pattern;
} formats[] = {
    {"date", "^" DATE "$"},
    {"time", "^" TIME "$"},
    {"date-time", "^" DATE "T" TIME "$"},
    {"duration", "^P([0-9]{1,6}D(T[0-9]{1,6}[HMS])?|T[0-9]{1,6}[HMS]|[0-9]{1,6}[YMW])$"},
    {"uuid", "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"},
    {"ipv4", "^" BYTE "(\\." BYTE "){3}$"},
    {"ipv6", "^(" HEX4 ":){7}" HEX4 "$"},
    {"hostname", "^" LABEL "(\\." LABEL "){0,3}$"},
    {"email", "^[A-Za-z0-9_+-]{1,32}(\\.[A-Za-z0-9_+-]{1,32})?@" LABEL "(\\." LABEL "){1,3}$"},
    {"uri", "^https?://" LABEL "(\\." LABEL "){0,3}(/[A-Za-z0-9._~%+=&?#-]*)*$"},
};

static grammar_expr read_pattern(struct reader *r, const char *keyword, const char *pattern) {
    const char *why;
    grammar_expr expr = grammar_regex_read(r->json, slice_text(pattern), &why);
    if (!why) return expr;
    char text[160];
    snprintf(text, sizeof text, "it has %s", why);
    return unsupported(r, keyword, text);
}

static grammar_expr read_string(struct reader *r, const json_t *schema) {
    uint32_t least = read_count(r, schema, "minLength", 0),
             most = read_count(r, schema, "maxLength", GRAMMAR_UNBOUNDED);
    bool sized = least > 0 || most != GRAMMAR_UNBOUNDED;
    const json_t *pattern = json_object_get(schema, "pattern");
    const char *format = json_string_value(json_object_get(schema, "format"));
    if (pattern) {
        if (!json_is_string(pattern)) return malformed(r, "pattern", "must be a string");
        if (sized) return unsupported(r, "pattern", "beside minLength or maxLength it is not supported");
        return read_pattern(r, "pattern", json_string_value(pattern));
    }
    for (size_t i = 0; format && i < sizeof formats / sizeof formats[0]; i++) {
        if (strcmp(formats[i].name, format) != 0) continue;
        if (sized) return unsupported(r, "format", "beside minLength or maxLength it is not supported");
        return read_pattern(r, "format", formats[i].pattern);
    }
    return least > most ? grammar_ast_never(r->ast) : grammar_json_sized(r->json, least, most);
}

static bool read_bound(struct reader *r, const json_t *schema, const char *keyword, bool *has,
                       double *number) {
    const json_t *value = json_object_get(schema, keyword);
    *has = value != NULL;
    if (!value) return true;
    *number = json_number_value(value);
    if (!json_is_number(value)) return malformed(r, keyword, "must be a number"), false;
    if (fabs(*number) > 1e15) return unsupported(r, keyword, "bounds up to 1e15 are supported"), false;
    return true;
}

static bool read_bounds(struct reader *r, const json_t *schema, struct grammar_bounds *bounds) {
    bool has[4];
    double number[4] = {0};
    if (!read_bound(r, schema, "minimum", &has[0], &number[0]) ||
        !read_bound(r, schema, "exclusiveMinimum", &has[1], &number[1]) ||
        !read_bound(r, schema, "maximum", &has[2], &number[2]) ||
        !read_bound(r, schema, "exclusiveMaximum", &has[3], &number[3])) {
        return false;
    }
    *bounds = (struct grammar_bounds){.has_least = has[0] || has[1], .has_most = has[2] || has[3]};
    int64_t at_least = (int64_t)ceil(number[0]), above = (int64_t)floor(number[1]) + 1,
            at_most = (int64_t)floor(number[2]), below = (int64_t)ceil(number[3]) - 1;
    bounds->least = has[1] && (!has[0] || above > at_least) ? above : at_least;
    bounds->most = has[3] && (!has[2] || below < at_most) ? below : at_most;
    return true;
}

// Numbers with a fraction, between whole bounds: every whole number between them that has room for
// a fraction behind it may have one. So [0,1] is "0", "0.25", "1" and no exponents.
static grammar_expr read_number(struct reader *r, const json_t *schema) {
    static const char *const keywords[] = {"minimum", "maximum", "exclusiveMinimum",
                                           "exclusiveMaximum"};
    struct grammar_bounds bounds;
    if (!read_bounds(r, schema, &bounds)) return NULL;
    if (!bounds.has_least && !bounds.has_most) return r->json->number;
    for (size_t i = 0; i < 4; i++) {
        double value = json_number_value(json_object_get(schema, keywords[i]));
        if (value != floor(value))
            return unsupported(r, keywords[i], "of a number only a whole bound is supported");
    }
    struct grammar_bounds below = bounds, above = bounds;
    // -3.5 is above -4 and needs no -4 of its own; 3.5 is below 4.
    below.least = bounds.least + 1;
    below.has_most = true;
    below.most = bounds.has_most && bounds.most < 0 ? bounds.most : -1;
    above.has_least = true;
    above.least = bounds.has_least && bounds.least > 0 ? bounds.least : 0;
    above.most = bounds.most - 1;
    grammar_expr fraction = GRAMMAR_SEQ(
        r->ast, grammar_ast_literal(r->ast, "."),
        grammar_ast_repeat(r->ast, grammar_ast_range(r->ast, '0', '9'), 1, 16));
    grammar_expr zero = grammar_ast_never(r->ast);
    if ((!bounds.has_least || bounds.least < 0) && (!bounds.has_most || bounds.most >= 0))
        zero = GRAMMAR_SEQ(r->ast, grammar_ast_literal(r->ast, "-0"), fraction);
    return GRAMMAR_ANY_OF(r->ast, grammar_json_integer(r->json, &bounds), zero,
                          GRAMMAR_SEQ(r->ast, grammar_json_integer(r->json, &below), fraction),
                          GRAMMAR_SEQ(r->ast, grammar_json_integer(r->json, &above), fraction));
}

static grammar_expr read_integer(struct reader *r, const json_t *schema) {
    struct grammar_bounds bounds;
    if (!read_bounds(r, schema, &bounds)) return NULL;
    if (bounds.has_least && bounds.has_most && bounds.least > bounds.most)
        return grammar_ast_never(r->ast);
    return grammar_json_integer(r->json, &bounds);
}

// ---- arrays -------------------------------------------------------------------------------------
static grammar_expr read_tuple(struct reader *r, json_t *prefix, json_t *items, uint32_t least,
                               uint32_t most) {
    struct grammar_ast *ast = r->ast;
    uint32_t count = (uint32_t)json_array_size(prefix);
    grammar_expr comma = GRAMMAR_SEQ(ast, r->json->space, grammar_ast_literal(ast, ","),
                                     r->json->space),
                 tail = grammar_ast_empty(ast);
    bool more = most > count && !json_is_false(items);
    if (more) {
        grammar_expr item = items ? read_part(r, "items", items) : r->json->value;
        tail = grammar_ast_repeat(ast, GRAMMAR_SEQ(ast, comma, item),
                                  least > count ? least - count : 0,
                                  most == GRAMMAR_UNBOUNDED ? most : most - count);
    } else if (least > count) {
        return grammar_ast_never(ast);
    }
    if (most < count) count = most;
    for (uint32_t i = count; i-- > 0;) {
        grammar_expr item = read_indexed(r, "prefixItems", i, json_array_get(prefix, i));
        tail = GRAMMAR_SEQ(ast, i > 0 ? comma : grammar_ast_empty(ast), item, tail);
        if (i >= least) tail = grammar_ast_repeat(ast, tail, 0, 1);
    }
    return GRAMMAR_SEQ(ast, grammar_ast_literal(ast, "["), r->json->space, tail, r->json->space,
                       grammar_ast_literal(ast, "]"));
}

static grammar_expr read_array(struct reader *r, const json_t *schema) {
    uint32_t least = read_count(r, schema, "minItems", 0),
             most = read_count(r, schema, "maxItems", GRAMMAR_UNBOUNDED);
    json_t *items = json_object_get(schema, "items"), *prefix = json_object_get(schema, "prefixItems");
    if (least > most) return grammar_ast_never(r->ast);
    if (json_is_array(items)) { // as drafts before 2020 have it
        prefix = items;
        items = NULL;
    }
    if (json_array_size(prefix) > 0) return read_tuple(r, prefix, items, least, most);
    if (json_is_false(items)) most = 0;
    if (least > most) return grammar_ast_never(r->ast);
    grammar_expr item = items && most > 0 ? read_part(r, "items", items) : r->json->value;
    return grammar_json_list(r->json, "[", item, least, most, "]");
}

// ---- objects ------------------------------------------------------------------------------------
static bool is_required(const json_t *required, const char *name) {
    for (size_t i = 0; i < json_array_size(required); i++) {
        const char *text = json_string_value(json_array_get(required, i));
        if (text && strcmp(text, name) == 0) return true;
    }
    return false;
}

// Names that are none of the schema's: a way through the tree of those names that leaves it.
struct names {
    const char **names;
    size_t count;
};

static grammar_expr other_names(struct reader *r, const struct names *all, size_t from, size_t to,
                                size_t depth) {
    struct grammar_ast *ast = r->ast;
    grammar_expr choices[256], rest = grammar_ast_repeat(ast, r->json->character, 0,
                                                         GRAMMAR_UNBOUNDED);
    struct grammar_range taken[256];
    uint32_t n = 0, ranges = 0;
    static const struct grammar_range never[] = {{0, 0x1F}, {'"', '"'}, {'\\', '\\'}};
    bool ends = all->names[from][depth] == '\0';
    if (ends) from++;
    while (from < to) {
        unsigned char first = (unsigned char)all->names[from][depth];
        size_t next = from;
        while (next < to && (unsigned char)all->names[next][depth] == first)
            next++;
        if (first < 0x20 || first >= 0x7F || first == '"' || first == '\\')
            return unsupported(r, "additionalProperties",
                               "beside names that are not ASCII it is not supported");
        taken[ranges++] = (struct grammar_range){first, first};
        choices[n++] = GRAMMAR_SEQ(ast, grammar_ast_range(ast, first, first),
                                   other_names(r, all, from, next, depth + 1));
        from = next;
    }
    memcpy(taken + ranges, never, sizeof never);
    choices[n++] =
        GRAMMAR_SEQ(ast, grammar_ast_class(ast, taken, ranges + 3, true), rest);
    if (!ends) choices[n++] = grammar_ast_empty(ast);
    return grammar_ast_choice(ast, choices, n);
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static grammar_expr other_name(struct reader *r, json_t *properties) {
    struct names all = {.count = 0};
    const char *name;
    json_t *unused;
    if (json_object_size(properties) == 0) return r->json->key;
    all.names = arena_array(r->ast->arena, json_object_size(properties), sizeof *all.names);
    if (!all.names) return NULL;
    json_object_foreach(properties, name, unused) {
        if (strlen(name) > LIMIT_GRAMMAR_NESTING)
            return unsupported(r, "additionalProperties", "beside so long a name it is not supported");
        all.names[all.count++] = name;
    }
    qsort(all.names, all.count, sizeof *all.names, by_name);
    grammar_expr quote = grammar_ast_literal(r->ast, "\"");
    return GRAMMAR_SEQ(r->ast, quote, other_names(r, &all, 0, all.count, 0), quote);
}

// Behind the properties: any number of others. `first`: nothing stands before them.
static grammar_expr others(struct reader *r, grammar_expr pair, bool first) {
    struct grammar_ast *ast = r->ast;
    grammar_expr comma = GRAMMAR_SEQ(ast, r->json->space, grammar_ast_literal(ast, ","),
                                     r->json->space);
    if (!pair) return grammar_ast_empty(ast);
    grammar_expr more = grammar_ast_repeat(ast, GRAMMAR_SEQ(ast, comma, pair), 0, GRAMMAR_UNBOUNDED);
    return first ? grammar_ast_repeat(ast, GRAMMAR_SEQ(ast, pair, more), 0, 1) : more;
}

// From the last property to the first: what may follow when something stands before it (`behind`),
// and when nothing does (`first`). Both are rules, so the grammar grows with the properties only.
static grammar_expr read_members(struct reader *r, json_t *properties, const json_t *required,
                                 grammar_expr other) {
    struct grammar_ast *ast = r->ast;
    size_t count = json_object_size(properties), n = 0;
    grammar_expr *pairs = new_items(r, count), behind = others(r, other, false),
                 first = others(r, other, true);
    const char **names = arena_array(ast->arena, count + 1, sizeof *names);
    grammar_expr comma = GRAMMAR_SEQ(ast, r->json->space, grammar_ast_literal(ast, ","),
                                     r->json->space);
    const char *name;
    json_t *schema;
    if (!pairs || !names) return NULL;
    size_t mark = enter(r, "properties");
    json_object_foreach(properties, name, schema) {
        grammar_expr key = grammar_json_quoted(r->json, slice_text(name)),
                     value = read_part(r, name, schema);
        names[n] = name;
        pairs[n++] = grammar_ast_new_rule(ast, name, grammar_json_pair(r->json, key, value));
    }
    leave(r, mark);
    while (n-- > 0 && r->status == LOCUM_OK) {
        bool must = is_required(required, names[n]);
        grammar_expr with_comma = GRAMMAR_SEQ(ast, comma, pairs[n], behind),
                     without = GRAMMAR_SEQ(ast, pairs[n], behind);
        behind = grammar_ast_new_rule(ast, names[n],
                                      must ? with_comma : GRAMMAR_ANY_OF(ast, with_comma, behind));
        first = grammar_ast_new_rule(ast, names[n],
                                     must ? without : GRAMMAR_ANY_OF(ast, without, first));
    }
    return first;
}

static grammar_expr read_object(struct reader *r, const json_t *schema) {
    struct grammar_ast *ast = r->ast;
    json_t *properties = json_object_get(schema, "properties"),
           *required = json_object_get(schema, "required"),
           *additional = json_object_get(schema, "additionalProperties");
    if (properties && !json_is_object(properties))
        return malformed(r, "properties", "must be an object");
    if (required && !json_is_array(required)) return malformed(r, "required", "must be an array");
    bool open = additional ? !json_is_false(additional) : properties == NULL;
    for (size_t i = 0; i < json_array_size(required); i++) {
        const char *name = json_string_value(json_array_get(required, i));
        if (!name) return malformed(r, "required", "must hold strings");
        if (!json_object_get(properties, name))
            return unsupported(r, "required", "it names a property that has no schema");
    }
    grammar_expr other = NULL;
    if (open) {
        bool any = !json_is_object(additional);
        other = grammar_json_pair(r->json, other_name(r, properties),
                                  any ? r->json->value
                                      : read_part(r, "additionalProperties", additional));
        other = grammar_ast_new_rule(ast, "additionalProperties", other);
    }
    grammar_expr members = read_members(r, properties, required, other);
    return GRAMMAR_SEQ(ast, grammar_ast_literal(ast, "{"), r->json->space, members,
                       r->json->space, grammar_ast_literal(ast, "}"));
}

// ---- schemas that are put together from several -------------------------------------------------
static bool is_annotation(const char *keyword) {
    static const char *const names[] = {"title",    "description", "default",    "examples",
                                        "$comment", "$schema",     "$id",        "$defs",
                                        "$anchor",  "definitions", "deprecated", "readOnly",
                                        "writeOnly", "discriminator"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(names[i], keyword) == 0) return true;
    }
    return false;
}

static bool has_demands(json_t *schema, const char *apart_from) {
    const char *key;
    json_t *value;
    json_object_foreach(schema, key, value) {
        if (strcmp(key, apart_from) != 0 && !is_annotation(key)) return true;
    }
    return false;
}

// A new schema that lives as long as the reading. NULL: no memory.
static json_t *keep(struct reader *r, json_t *made) {
    if (made && json_array_append_new(r->merged, made) == 0) return made;
    r->ast->failed = true;
    return NULL;
}

static json_t *copy_without(struct reader *r, json_t *schema, const char *keyword) {
    json_t *copy = keep(r, json_copy(schema));
    if (copy) json_object_del(copy, keyword);
    return copy;
}

static void merge_properties(struct reader *r, json_t *into, json_t *from) {
    json_t *joined = json_copy(json_object_get(into, "properties"));
    const char *name;
    json_t *theirs;
    json_object_foreach(from, name, theirs) {
        json_t *ours = json_object_get(joined, name);
        json_t *value = !ours || json_equal(ours, theirs)
                            ? json_incref(theirs)
                            : json_pack("{s:[OO]}", "allOf", ours, theirs);
        json_object_set_new(joined, name, value);
    }
    if (json_object_set_new(into, "properties", joined) != 0) r->ast->failed = true;
}

static void merge_types(json_t *into, json_t *theirs) {
    json_t *ours = json_object_get(into, "type"), *both = json_array(), *name;
    json_t *list = json_is_array(theirs) ? json_incref(theirs) : json_pack("[O]", theirs);
    size_t i;
    json_array_foreach(list, i, name) {
        const char *text = json_string_value(name);
        bool whole = text && strcmp(text, "integer") == 0;
        json_t *one = json_is_array(ours) ? NULL : ours;
        bool found = one && json_equal(one, name);
        for (size_t j = 0; j < json_array_size(ours); j++)
            found |= json_equal(json_array_get(ours, j), name);
        found |= whole && one && strcmp(json_string_value(one), "number") == 0;
        if (found) json_array_append(both, name);
    }
    json_decref(list);
    json_object_set_new(into, "type", both);
}

// The stricter of two limits.
static bool merge_limit(json_t *into, const char *key, json_t *theirs) {
    static const char *const lower[] = {"minimum", "exclusiveMinimum", "minLength", "minItems"};
    static const char *const upper[] = {"maximum", "exclusiveMaximum", "maxLength", "maxItems"};
    double ours = json_number_value(json_object_get(into, key)), other = json_number_value(theirs);
    for (size_t i = 0; i < 4; i++) {
        bool low = strcmp(lower[i], key) == 0, high = strcmp(upper[i], key) == 0;
        if (!low && !high) continue;
        if (low ? other > ours : other < ours) json_object_set(into, key, theirs);
        return true;
    }
    return false;
}

// Both must hold: what `from` demands is added to `into`.
static bool merge(struct reader *r, json_t *into, json_t *from, const char *keyword) {
    const char *key;
    json_t *theirs;
    json_object_foreach(from, key, theirs) {
        json_t *ours = json_object_get(into, key);
        if (!ours) json_object_set(into, key, theirs);
        else if (is_annotation(key) || json_equal(ours, theirs)) continue;
        else if (strcmp(key, "properties") == 0) merge_properties(r, into, theirs);
        else if (strcmp(key, "required") == 0 || strcmp(key, "allOf") == 0) {
            json_t *joined = json_copy(ours);
            json_array_extend(joined, theirs);
            json_object_set_new(into, key, joined);
        } else if (strcmp(key, "type") == 0 && (json_is_string(ours) || json_is_array(ours))) {
            merge_types(into, theirs);
        } else if (!merge_limit(into, key, theirs)) {
            char text[120];
            snprintf(text, sizeof text, "two different '%.40s' that must both hold", key);
            return unsupported(r, keyword, text), false;
        }
    }
    return true;
}

// ---- references ---------------------------------------------------------------------------------
// "#", or a JSON pointer behind it.
static json_t *find_target(struct reader *r, const char *ref) {
    json_t *at = r->root;
    if (*ref++ != '#') return NULL;
    while (at && *ref == '/') {
        char name[256];
        size_t size = 0;
        for (ref++; *ref && *ref != '/'; ref++) {
            if (size == sizeof name - 1) return NULL;
            if (ref[0] == '~' && (ref[1] == '0' || ref[1] == '1')) {
                name[size++] = *++ref == '0' ? '~' : '/';
            } else {
                name[size++] = *ref;
            }
        }
        name[size] = '\0';
        at = json_is_array(at) ? json_array_get(at, (size_t)strtoul(name, NULL, 10))
                               : json_object_get(at, name);
    }
    return *ref == '\0' ? at : NULL;
}

static grammar_expr read_target(struct reader *r, json_t *schema, const char *ref) {
    for (uint32_t i = 0; i < r->target_count; i++) {
        if (r->targets[i].schema == schema) return grammar_ast_rule(r->ast, r->targets[i].rule);
    }
    if (!grammar_intern_grow((void **)&r->targets, &r->target_capacity, r->target_count + 1,
                             sizeof *r->targets)) {
        r->ast->failed = true;
        return NULL;
    }
    uint32_t rule = grammar_ast_add_rule(r->ast, ref);
    r->targets[r->target_count++] = (struct target){schema, rule};
    grammar_ast_define(r->ast, rule, read_schema(r, schema));
    return grammar_ast_rule(r->ast, rule);
}

static grammar_expr read_ref(struct reader *r, json_t *schema) {
    const char *ref = json_string_value(json_object_get(schema, "$ref"));
    if (!ref) return malformed(r, "$ref", "must be a string");
    json_t *target = find_target(r, ref);
    if (!target && *ref != '#')
        return unsupported(r, "$ref", "only references within the schema are supported");
    if (!target) return malformed(r, "$ref", "it names nothing");
    if (!has_demands(schema, "$ref") || json_is_boolean(target)) return read_target(r, target, ref);
    json_t *both = copy_without(r, schema, "$ref");
    return both && merge(r, both, target, "$ref") ? read_schema(r, both) : NULL;
}

static grammar_expr read_all_of(struct reader *r, json_t *schema) {
    json_t *parts = json_object_get(schema, "allOf"), *part;
    json_t *both = copy_without(r, schema, "allOf");
    size_t i;
    if (!json_is_array(parts)) return malformed(r, "allOf", "must be an array");
    json_array_foreach(parts, i, part) {
        for (unsigned hops = 0; json_is_string(json_object_get(part, "$ref")); hops++) {
            if (hops == LIMIT_GRAMMAR_NESTING)
                return malformed(r, "allOf", "a reference leads to itself");
            json_t *target = find_target(r, json_string_value(json_object_get(part, "$ref")));
            if (!target || has_demands(part, "$ref"))
                return unsupported(r, "allOf", "a $ref beside other demands, or to nothing");
            part = target;
        }
        if (json_is_true(part)) continue;
        if (!json_is_object(part)) return grammar_ast_never(r->ast);
        if (!both || !merge(r, both, part, "allOf")) return NULL;
    }
    return both ? read_schema(r, both) : NULL;
}

static grammar_expr read_any_of(struct reader *r, json_t *schema, const char *keyword) {
    json_t *parts = json_object_get(schema, keyword), *part;
    bool alone = !has_demands(schema, keyword);
    size_t i;
    if (!json_is_array(parts) || json_array_size(parts) == 0)
        return malformed(r, keyword, "must be an array that is not empty");
    grammar_expr *items = new_items(r, json_array_size(parts));
    if (!items) return NULL;
    json_array_foreach(parts, i, part) {
        json_t *both = part;
        if (!alone && json_is_object(part)) {
            both = copy_without(r, schema, keyword);
            json_t *all = json_object_get(part, "$ref") || json_object_get(part, keyword)
                              ? keep(r, json_pack("{s:[O]}", "allOf", part))
                              : part;
            if (!both || !all || !merge(r, both, all, keyword)) return NULL;
        } else if (!alone && json_is_true(part)) {
            both = copy_without(r, schema, keyword);
        }
        items[i] = both ? read_indexed(r, keyword, i, both) : NULL;
    }
    return grammar_ast_choice(r->ast, items, (uint32_t)json_array_size(parts));
}

// ---- types --------------------------------------------------------------------------------------
static grammar_expr read_boolean(struct reader *r, const json_t *schema) {
    (void)schema;
    return r->json->boolean;
}

static grammar_expr read_null(struct reader *r, const json_t *schema) {
    (void)schema;
    return r->json->null;
}

static const struct type {
    const char *name;
    grammar_expr (*read)(struct reader *r, const json_t *schema);
    const char *keywords[5]; // that mean this type where `type` is absent
} types[] = {
    {"object", read_object, {"properties", "required", "additionalProperties"}},
    {"array", read_array, {"items", "prefixItems", "minItems", "maxItems"}},
    {"string", read_string, {"minLength", "maxLength", "pattern", "format"}},
    {"number", read_number, {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}},
    {"integer", read_integer, {NULL}},
    {"boolean", read_boolean, {NULL}},
    {"null", read_null, {NULL}},
};
enum { TYPES = sizeof types / sizeof types[0] };

static grammar_expr read_type(struct reader *r, const json_t *schema, const char *name) {
    for (size_t i = 0; name && i < TYPES; i++) {
        if (strcmp(types[i].name, name) == 0) return types[i].read(r, schema);
    }
    return malformed(r, "type", "an unknown type");
}

static grammar_expr read_types(struct reader *r, const json_t *schema) {
    const json_t *type = json_object_get(schema, "type");
    grammar_expr items[TYPES + 16];
    uint32_t n = 0;
    if (json_array_size(type) > 16) return malformed(r, "type", "too many types");
    for (size_t i = 0; i < json_array_size(type); i++)
        items[n++] = read_type(r, schema, json_string_value(json_array_get(type, i)));
    if (type && !json_is_array(type)) items[n++] = read_type(r, schema, json_string_value(type));
    for (size_t i = 0; !type && i < TYPES; i++) {
        bool meant = false;
        for (size_t j = 0; j < 4 && types[i].keywords[j]; j++)
            meant |= json_object_get(schema, types[i].keywords[j]) != NULL;
        if (meant) items[n++] = types[i].read(r, schema);
    }
    if (!type && n == 0) return r->json->value;
    if (json_is_true(json_object_get(schema, "nullable"))) items[n++] = r->json->null;
    return grammar_ast_choice(r->ast, items, n);
}

static grammar_expr read_object_schema(struct reader *r, json_t *schema) {
    json_t *values = json_object_get(schema, "enum"), *value = json_object_get(schema, "const");
    if (!check_keywords(r, schema)) return NULL;
    if (json_object_get(schema, "$ref")) return read_ref(r, schema);
    if (json_object_get(schema, "allOf")) return read_all_of(r, schema);
    if (json_object_get(schema, "anyOf")) return read_any_of(r, schema, "anyOf");
    if (json_object_get(schema, "oneOf")) return read_any_of(r, schema, "oneOf");
    if (value && values) return unsupported(r, "const", "beside enum it is not supported");
    if (value) values = keep(r, json_pack("[O]", value));
    if (values && !json_is_array(values)) return malformed(r, "enum", "must be an array");
    return values ? read_given(r, schema, values) : read_types(r, schema);
}

static grammar_expr read_schema(struct reader *r, json_t *schema) {
    if (r->status != LOCUM_OK) return NULL;
    if (json_is_true(schema)) return r->json->value;
    if (json_is_false(schema)) return grammar_ast_never(r->ast);
    if (!json_is_object(schema)) return malformed(r, NULL, "a schema must be an object or a boolean");
    if (r->depth == LIMIT_GRAMMAR_NESTING) return malformed(r, NULL, "schemas are nested too deep");
    r->depth++;
    grammar_expr expr = read_object_schema(r, schema);
    r->depth--;
    return expr;
}

static json_t *load(struct slice text, locum_error *error) {
    json_error_t problem;
    if (text.size > LIMIT_GRAMMAR_SOURCE) {
        status_fail(error, LOCUM_E_ARGUMENT, "the JSON schema has more than %d bytes",
                    LIMIT_GRAMMAR_SOURCE);
        return NULL;
    }
    json_t *root = json_loadb(text.data ? text.data : "", text.size, JSON_DECODE_ANY, &problem);
    if (!root)
        status_fail(error, LOCUM_E_ARGUMENT, "the JSON schema is not JSON: line %d, column %d: %s",
                    problem.line, problem.column, problem.text);
    return root;
}

locum_status grammar_schema_read(struct slice text, struct grammar_json *json, grammar_expr *out,
                                 locum_error *error) {
    struct reader r = {.json = json, .ast = json->ast, .error = error};
    *out = NULL;
    r.root = load(text, error);
    if (!r.root) return LOCUM_E_ARGUMENT;
    r.merged = json_array();
    if (!r.merged) r.ast->failed = true;
    *out = r.merged ? read_target(&r, r.root, "#") : NULL;
    if (r.status == LOCUM_OK && (r.ast->failed || r.path.failed || !*out))
        r.status = status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for the JSON schema");
    json_decref(r.merged);
    json_decref(r.root);
    heap_free(r.targets);
    buffer_release(&r.path);
    return r.status;
}
