// SPDX-License-Identifier: Apache-2.0
#include "jinja/jinja_filter.h"

#include <math.h>

#include "base/utf8.h"
#include "jinja/jinja_access.h"
#include "jinja/jinja_arithmetic.h"
#include "jinja/jinja_format.h"
#include "jinja/jinja_html.h"
#include "jinja/jinja_json.h"
#include "jinja/jinja_number.h"
#include "jinja/jinja_print.h"
#include "jinja/jinja_string.h"

#define FILTER(name)                                                                               \
    static bool filter_##name(struct jinja_run *run, struct jinja_value self,                      \
                              const struct jinja_arguments *arguments, struct jinja_value *out)

// --- Text ----------------------------------------------------------------------------------------

FILTER(string) {
    (void)arguments;
    return jinja_to_string(run, self, out);
}

FILTER(upper) {
    (void)arguments;
    return jinja_to_string(run, self, &self) &&
           jinja_string_case(run, self.string, JINJA_UPPER, out);
}

FILTER(lower) {
    (void)arguments;
    return jinja_to_string(run, self, &self) &&
           jinja_string_case(run, self.string, JINJA_LOWER, out);
}

FILTER(capitalize) {
    (void)arguments;
    return jinja_to_string(run, self, &self) && jinja_string_capitalize(run, self.string, out);
}

// Words begin behind white space and - ( { [ <, and nowhere else: "it's" has one.
static bool between_words(struct slice text) {
    return memchr("-({[<", text.data[0], 5) || jinja_space_at(text) > 0;
}

FILTER(title) {
    (void)arguments;
    struct jinja_text text = {0};
    if (!jinja_to_string(run, self, &self)) {
        return false;
    }
    struct slice whole = jinja_value_text(self);
    for (size_t at = 0; at < whole.size;) {
        size_t size = utf8_next(slice_from(whole, at)).size, end = at + size;
        while (end < whole.size && between_words(slice_from(whole, at)) ==
                                       between_words(slice_from(whole, end))) {
            end += utf8_next(slice_from(whole, end)).size;
        }
        struct jinja_value first, rest;
        if (!jinja_make_part(run, self.string, at, at + size, &first) ||
            !jinja_make_part(run, self.string, at + size, end, &rest) ||
            !jinja_string_case(run, first.string, JINJA_UPPER, &first) ||
            !jinja_string_case(run, rest.string, JINJA_LOWER, &rest)) {
            jinja_text_release(&text);
            return false;
        }
        jinja_text_add_string(&text, first.string);
        jinja_text_add_string(&text, rest.string);
        at = end;
    }
    return jinja_finish(run, &text, out);
}

FILTER(trim) {
    const struct jinja_string *chars = NULL;
    bool given = jinja_given(arguments, 0) && arguments->items[0].kind != JINJA_NONE;
    return jinja_to_string(run, self, &self) &&
           (!given || jinja_string_argument(run, arguments, 0, &chars)) &&
           jinja_string_strip(run, self.string, chars, JINJA_BOTH, out);
}

FILTER(replace) {
    struct jinja_value old, by;
    int64_t count = -1;
    bool given = jinja_given(arguments, 2) && arguments->items[2].kind != JINJA_NONE;
    return jinja_to_string(run, self, &self) && jinja_to_string(run, arguments->items[0], &old) &&
           jinja_to_string(run, arguments->items[1], &by) &&
           (!given || jinja_integer_argument(run, arguments, 2, -1, &count)) &&
           jinja_string_replace(run, self.string, old.string, by.string, count, out);
}

FILTER(center) {
    int64_t width;
    return jinja_to_string(run, self, &self) &&
           jinja_integer_argument(run, arguments, 0, 80, &width) &&
           jinja_string_pad(run, self.string, width, JINJA_BOTH, NULL, out);
}

// What stands before each line: the argument, or so many blanks.
static bool indention(struct jinja_run *run, const struct jinja_arguments *arguments,
                      struct jinja_value *out) {
    static const struct jinja_string empty = {.data = ""};
    int64_t width;
    if (arguments->items[0].kind == JINJA_STRING) {
        *out = arguments->items[0];
        return true;
    }
    return jinja_integer_argument(run, arguments, 0, 4, &width) &&
           jinja_string_pad(run, &empty, width, JINJA_RIGHT, NULL, out);
}

FILTER(indent) {
    struct jinja_value by, lines;
    struct jinja_text text = {.bytes.limit = run->arena.limit};
    bool first = jinja_given(arguments, 1) && jinja_value_true(arguments->items[1]);
    bool blank = jinja_given(arguments, 2) && jinja_value_true(arguments->items[2]);
    if (self.kind != JINJA_STRING) {
        return self.kind == JINJA_UNDEFINED
                   ? jinja_fail_undefined(run, self)
                   : jinja_fail(run, "indent needs a str, not a %s", jinja_value_type(self));
    }
    if (!indention(run, arguments, &by) ||
        !jinja_string_lines(run, self.string, false, &lines)) {
        return false;
    }
    // A line break at the end begins one more line, and so does no text at all.
    struct slice whole = jinja_value_text(self);
    size_t last = whole.size > 0 ? whole.size - 1 : 0;
    while (last > 0 && ((unsigned char)whole.data[last] & 0xC0) == 0x80) {
        last--;
    }
    bool open = whole.size == 0 || (jinja_line_break_at(slice_from(whole, last)) > 0 &&
                                    whole.data[last] != '\r');
    for (size_t i = 0; i < lines.list->count + open; i++) {
        static const struct jinja_string none = {.data = ""};
        const struct jinja_string *line =
            i < lines.list->count ? lines.list->items[i].string : &none;
        jinja_text_add_data(&text, i > 0 ? "\n" : "");
        if (i == 0 ? first : blank || line->size > 0) {
            jinja_text_add_string(&text, by.string);
        }
        jinja_text_add_string(&text, line);
    }
    return jinja_finish(run, &text, out);
}

FILTER(truncate) {
    int64_t length, leeway;
    static const struct jinja_string dots = {.data = "...", .size = 3, .count = 3};
    const struct jinja_string *end = &dots;
    if (self.kind != JINJA_STRING || !jinja_integer_argument(run, arguments, 0, 255, &length) ||
        (jinja_given(arguments, 2) && !jinja_string_argument(run, arguments, 2, &end)) ||
        !jinja_integer_argument(run, arguments, 3, 5, &leeway)) {
        return jinja_fail(run, "truncate needs a str");
    }
    if (length < (int64_t)end->count || leeway < 0) {
        return jinja_fail(run, "truncate needs a length for its end at least");
    }
    *out = self;
    if ((int64_t)self.string->count <= length + leeway) {
        return true;
    }
    size_t kept = jinja_byte_of(self.string, (size_t)length - end->count);
    if (!jinja_given(arguments, 1) || !jinja_value_true(arguments->items[1])) {
        size_t blank = kept;
        while (blank > 0 && self.string->data[blank - 1] != ' ') {
            blank--;
        }
        kept = blank > 0 ? blank - 1 : kept;
    }
    struct jinja_text text = {0};
    jinja_text_add_part(&text, self.string, 0, kept);
    jinja_text_add_string(&text, end);
    return jinja_finish(run, &text, out);
}

FILTER(wordcount) {
    (void)arguments;
    int64_t count = 0;
    bool inside = false;
    if (!jinja_to_string(run, self, &self)) {
        return false;
    }
    for (size_t at = 0; at < self.string->size;) {
        struct utf8_step step = utf8_next(slice_from(jinja_value_text(self), at));
        bool word = step.code == '_' || jinja_is(step.code, JINJA_IS_ALPHA) ||
                    jinja_is(step.code, JINJA_IS_NUMERIC);
        count += word && !inside;
        inside = word;
        at += step.size;
    }
    *out = jinja_int(count);
    return true;
}

FILTER(format) {
    struct jinja_value values;
    if (!jinja_to_string(run, self, &self)) {
        return false;
    }
    if (arguments->count > 0 && arguments->named_count > 0) {
        return jinja_fail(run, "format takes arguments with or without names, not both");
    }
    if (arguments->named_count > 0) {
        if (!jinja_dict_new(&run->arena, JINJA_DICT, &values)) {
            return jinja_fail_memory(run);
        }
        for (size_t i = 0; i < arguments->named_count; i++) {
            struct jinja_value key;
            if (!jinja_make_string(run, arguments->named[i].name, JINJA_TEMPLATE, &key) ||
                !jinja_set(run, values, key, arguments->named[i].value)) {
                return false;
            }
        }
    } else {
        if (!jinja_make_list(run, JINJA_TUPLE, &values)) {
            return false;
        }
        for (size_t i = 0; i < arguments->count; i++) {
            if (!jinja_add(run, values, arguments->items[i])) {
                return false;
            }
        }
    }
    return jinja_format_percent(run, self.string, values, out);
}

FILTER(safe) {
    (void)arguments;
    return jinja_to_string(run, self, &self) && jinja_mark_safe(run, self, out);
}

FILTER(escape) {
    (void)arguments;
    return jinja_escape(run, self, out);
}

FILTER(forceescape) {
    (void)arguments;
    struct jinja_value plain;
    if (!jinja_to_string(run, self, &self) ||
        !jinja_make_part(run, self.string, 0, self.string->size, &plain)) {
        return false;
    }
    struct jinja_string copy = *plain.string;
    copy.markup = false;
    plain.string = &copy;
    return jinja_escape(run, plain, out);
}

// --- Numbers -------------------------------------------------------------------------------------

FILTER(abs) {
    (void)arguments;
    int order;
    if (!jinja_value_order(self, jinja_int(0), &order)) {
        return self.kind == JINJA_UNDEFINED
                   ? jinja_fail_undefined(run, self)
                   : jinja_fail(run, "abs needs a number, not a %s", jinja_value_type(self));
    }
    return jinja_sign(run, order < 0, self, out);
}

// The text of a number as Python reads it: without white space around and single underscores inside.
static bool stripped(struct jinja_run *run, struct jinja_value string, struct slice *text) {
    if (!jinja_string_strip(run, string.string, NULL, JINJA_BOTH, &string)) {
        return false;
    }
    *text = jinja_value_text(string);
    char *plain = arena_alloc(&run->arena, text->size);
    size_t size = 0;
    for (size_t i = 0; plain && i < text->size; i++) {
        bool joins = text->data[i] == '_' && i > 0 && i + 1 < text->size &&
                     text->data[i - 1] != '_' && text->data[i + 1] != '_';
        plain[size] = text->data[i];
        size += !joins;
    }
    *text = slice_make(plain, size);
    return plain || jinja_fail_memory(run);
}

// int("0x1f", 16): the prefix of the base may be there.
static struct slice without_prefix(struct slice text, int64_t base) {
    char letter = base == 16 ? 'x' : base == 8 ? 'o' : base == 2 ? 'b' : '\0';
    bool has = letter != '\0' && text.size > 2 && text.data[0] == '0' &&
               (text.data[1] == letter || text.data[1] == letter - 'a' + 'A');
    return has ? slice_from(text, 2) : text;
}

// float("..."), also "inf" and "nan" as Python has them.
static bool float_of_text(struct slice text, double *out) {
    static const struct {
        const char *word;
        double value;
    } words[] = {{"inf", INFINITY},   {"infinity", INFINITY},   {"+inf", INFINITY},
                 {"-inf", -INFINITY}, {"-infinity", -INFINITY}, {"nan", NAN}};
    char lower[16];
    if (text.size < sizeof lower) {
        for (size_t i = 0; i < text.size; i++) {
            lower[i] = (char)(text.data[i] >= 'A' && text.data[i] <= 'Z' ? text.data[i] + 32
                                                                         : text.data[i]);
        }
        for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
            if (slice_is(slice_make(lower, text.size), words[i].word)) {
                *out = words[i].value;
                return true;
            }
        }
    }
    return jinja_float_read(text, out);
}

// int(x) of a float. False: it is none (nan, infinite).
static bool int_of_float(struct jinja_run *run, double real, struct jinja_value *out, bool *is) {
    *is = isfinite(real);
    if (*is && (real >= 0x1p63 || real < -0x1p63)) {
        return jinja_fail(run, "an integer does not fit in 64 bits");
    }
    *out = jinja_int(*is ? (int64_t)real : 0);
    return true;
}

static bool digits_only(struct slice text) {
    size_t at = text.size > 0 && (text.data[0] == '-' || text.data[0] == '+');
    for (size_t i = at; i < text.size; i++) {
        if (text.data[i] < '0' || text.data[i] > '9') {
            return false;
        }
    }
    return at < text.size;
}

FILTER(int) {
    struct slice text;
    double real;
    int64_t base;
    bool is = false;
    struct jinja_value otherwise = jinja_given(arguments, 0) ? arguments->items[0] : jinja_int(0);
    *out = jinja_int(0);
    if (self.kind == JINJA_UNDEFINED) {
        return jinja_fail_undefined(run, self);
    }
    if (!jinja_integer_argument(run, arguments, 1, 10, &base)) {
        return false;
    }
    if (self.kind == JINJA_STRING) {
        if (!stripped(run, self, &text)) {
            return false;
        }
        if (base < 2 || base > 36) {
            return jinja_fail(run, "int supports bases from 2 to 36");
        }
        if (jinja_int_read(without_prefix(text, base), (int)base, &out->integer)) {
            return true;
        }
        if (base == 10 && digits_only(text)) {
            return jinja_big_new(&run->arena, text, out) || jinja_fail_memory(run);
        }
        if (float_of_text(text, &real) && !int_of_float(run, real, out, &is)) {
            return false;
        }
    } else if (self.kind == JINJA_BIG) {
        *out = self;
        is = true;
    } else if (jinja_value_integer(self, &out->integer)) {
        is = true;
    } else if (self.kind == JINJA_FLOAT && !int_of_float(run, self.real, out, &is)) {
        return false;
    }
    *out = is ? *out : otherwise;
    return true;
}

FILTER(float) {
    struct slice text;
    double real = 0;
    bool is = jinja_value_number(self, &real);
    if (self.kind == JINJA_UNDEFINED) {
        return jinja_fail_undefined(run, self);
    }
    if (self.kind == JINJA_STRING || self.kind == JINJA_BIG) {
        if (!stripped(run, self, &text)) {
            return false;
        }
        is = float_of_text(text, &real);
    }
    *out = is                         ? jinja_float(real)
           : jinja_given(arguments, 0) ? arguments->items[0]
                                       : jinja_float(0);
    return true;
}

FILTER(round) {
    int64_t digits;
    const struct jinja_string *method = NULL;
    double real;
    if (!jinja_value_number(self, &real) ||
        !jinja_integer_argument(run, arguments, 0, 0, &digits) ||
        (jinja_given(arguments, 1) && !jinja_string_argument(run, arguments, 1, &method))) {
        return self.kind == JINJA_UNDEFINED
                   ? jinja_fail_undefined(run, self)
                   : jinja_fail(run, "round needs a number, not a %s", jinja_value_type(self));
    }
    struct slice name = method ? slice_make(method->data, method->size) : slice_text("common");
    bool up = slice_is(name, "ceil"), down = slice_is(name, "floor");
    if (!up && !down && !slice_is(name, "common")) {
        return jinja_fail(run, "round knows common, ceil and floor");
    }
    if (digits < -300 || digits > 300) {
        return jinja_fail(run, "round has at most 300 digits");
    }
    if (!up && !down) {
        int64_t integer;
        if (jinja_value_integer(self, &integer)) {
            *out = jinja_int(integer);
            return digits >= 0 || jinja_fail(run, "round with negative digits is not supported");
        }
        *out = jinja_float(jinja_float_round(real, (int)digits));
        return true;
    }
    double unit = 1;
    for (int64_t i = 0; i < (digits < 0 ? -digits : digits); i++) {
        unit *= 10;
    }
    double scaled = digits < 0 ? real / unit : real * unit;
    double whole = up ? ceil(scaled) : floor(scaled);
    *out = jinja_float(digits < 0 ? whole * unit : whole / unit);
    return true;
}

// --- Any value -----------------------------------------------------------------------------------

FILTER(default) {
    bool falsy = jinja_given(arguments, 1) && jinja_value_true(arguments->items[1]) &&
                 !jinja_value_true(self);
    *out = self;
    if (self.kind == JINJA_UNDEFINED || falsy) {
        *out = arguments->items[0];
        if (!jinja_given(arguments, 0)) {
            return jinja_make_string(run, slice_make("", 0), JINJA_TEMPLATE, out);
        }
    }
    return true;
}

FILTER(length) {
    (void)arguments;
    size_t length;
    if (!jinja_value_length(self, &length)) {
        return jinja_fail(run, "a %s has no length", jinja_value_type(self));
    }
    *out = jinja_int((int64_t)length);
    return true;
}

FILTER(attr) {
    const struct jinja_string *name;
    if (!jinja_string_argument(run, arguments, 0, &name)) {
        return false;
    }
    if (self.kind == JINJA_DICT) { // attributes only: items are none
        const struct jinja_method *method =
            jinja_method_find(self, slice_make(name->data, name->size));
        if (!method) {
            *out = jinja_undefined(JINJA_MISSING_OTHER, "a dict has no such attribute");
            return true;
        }
    }
    return jinja_get_attribute(run, self, arguments->items[0], out);
}

FILTER(tojson) {
    struct jinja_json_style style = {0};
    return jinja_json_style_of(run, arguments, &style) && jinja_json_write(run, self, &style, out);
}

FILTER(from_json) {
    (void)arguments;
    locum_error error;
    if (!run->options->extended) {
        return jinja_fail(run, "there is no filter 'from_json'");
    }
    if (self.kind != JINJA_STRING) {
        return jinja_fail(run, "from_json needs a str, not a %s", jinja_value_type(self));
    }
    locum_status status =
        jinja_json_read(jinja_value_text(self), &run->arena, JINJA_DATA, out, &error);
    return status == LOCUM_OK || (status == LOCUM_E_OUT_OF_MEMORY
                                      ? jinja_fail_memory(run)
                                      : jinja_fail(run, "from_json: %s", error.text));
}

static const struct jinja_builtin filters[] = {
    {"tojson", "| ensure_ascii indent separators sort_keys", filter_tojson},
    {"from_json", "", filter_from_json},
    {"length", "", filter_length},
    {"count", "", filter_length},
    {"trim", "| chars", filter_trim},
    {"string", "", filter_string},
    {"default", "| default_value boolean", filter_default},
    {"d", "| default_value boolean", filter_default},
    {"safe", "", filter_safe},
    {"upper", "", filter_upper},
    {"lower", "", filter_lower},
    {"capitalize", "", filter_capitalize},
    {"title", "", filter_title},
    {"replace", "old new | count", filter_replace},
    {"indent", "| width first blank", filter_indent},
    {"int", "| default base", filter_int},
    {"float", "| default", filter_float},
    {"round", "| precision method", filter_round},
    {"abs", "", filter_abs},
    {"attr", "name", filter_attr},
    {"escape", "", filter_escape},
    {"e", "", filter_escape},
    {"forceescape", "", filter_forceescape},
    {"format", NULL, filter_format},
    {"center", "| width", filter_center},
    {"truncate", "| length killwords end leeway", filter_truncate},
    {"wordcount", "", filter_wordcount},
    {"filesizeformat", NULL, NULL},
    {"pprint", NULL, NULL},
    {"random", NULL, NULL},
    {"striptags", NULL, NULL},
    {"urlencode", NULL, NULL},
    {"urlize", NULL, NULL},
    {"wordwrap", NULL, NULL},
    {"xmlattr", NULL, NULL},
};

const struct jinja_builtin *jinja_filter_find(struct slice name) {
    size_t count;
    const struct jinja_builtin *lists = jinja_filter_list_table(&count);
    const struct jinja_builtin *found =
        jinja_builtin_find(filters, sizeof filters / sizeof filters[0], name);
    return found ? found : jinja_builtin_find(lists, count, name);
}
