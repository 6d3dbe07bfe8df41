// SPDX-License-Identifier: Apache-2.0
#include "jinja/jinja_format.h"

#include <inttypes.h>
#include <stdio.h>

#include "jinja/jinja_access.h"
#include "jinja/jinja_number.h"
#include "jinja/jinja_print.h"

// One conversion: [fill][align][sign][0][width][.precision][type]. 0 is "not given" for the letters.
struct spec {
    char fill, align, sign, type;
    bool zero;
    int64_t width, precision; // -1: not given
};

static size_t read_count(const struct jinja_string *string, size_t at, int64_t *count) {
    for (*count = -1; at < string->size && string->data[at] >= '0' && string->data[at] <= '9';
         at++) {
        *count = *count < 0 ? 0 : *count;
        *count = *count < 100000 ? 10 * *count + (string->data[at] - '0') : *count;
    }
    return at;
}

static size_t read_precision(const struct jinja_string *string, size_t at, struct spec *spec) {
    spec->precision = -1;
    if (at < string->size && string->data[at] == '.') {
        at = read_count(string, at + 1, &spec->precision);
        spec->precision = spec->precision < 0 ? 0 : spec->precision;
    }
    return at;
}

// --- One value -----------------------------------------------------------------------------------

static bool write_integer(struct jinja_run *run, struct jinja_value value, const struct spec *spec,
                          struct jinja_text *digits, bool *negative) {
    char text[80];
    int64_t integer;
    if (!jinja_value_integer(value, &integer)) {
        double real;
        if (!jinja_value_number(value, &real) || spec->type == 'x' || spec->type == 'X' ||
            spec->type == 'o' || real >= 0x1p63 || real < -0x1p63 || real != real) {
            return jinja_fail(run, "%%%c needs an integer, not a %s", spec->type,
                              jinja_value_type(value));
        }
        integer = (int64_t)real;
    }
    uint64_t size = integer < 0 ? -(uint64_t)integer : (uint64_t)integer;
    *negative = integer < 0;
    if (spec->type == 'x') {
        snprintf(text, sizeof text, "%" PRIx64, size);
    } else if (spec->type == 'X') {
        snprintf(text, sizeof text, "%" PRIX64, size);
    } else if (spec->type == 'o') {
        snprintf(text, sizeof text, "%" PRIo64, size);
    } else {
        snprintf(text, sizeof text, "%" PRIu64, size);
    }
    jinja_text_add_data(digits, text);
    return true;
}

static bool write_float(struct jinja_run *run, struct jinja_value value, const struct spec *spec,
                        struct jinja_text *digits, bool *negative) {
    char text[400];
    double real;
    if (!jinja_value_number(value, &real)) {
        return jinja_fail(run, "%%%c needs a number, not a %s", spec->type,
                          jinja_value_type(value));
    }
    if (spec->precision > 40) {
        return jinja_fail(run, "a precision above 40 is not supported");
    }
    *negative = real < 0;
    int precision = spec->precision < 0 ? 6 : (int)spec->precision;
    jinja_float_fixed(*negative ? -real : real, precision, text, sizeof text);
    jinja_text_add_data(digits, text);
    return true;
}

static bool write_text(struct jinja_run *run, struct jinja_value value, const struct spec *spec,
                       struct jinja_text *text) {
    struct jinja_value string;
    bool done = spec->type == 'r' ? jinja_represent(run, value, text)
                                  : jinja_print(run, value, text);
    if (!done || !jinja_finish(run, text, &string)) {
        return false;
    }
    size_t end = string.string->size;
    if (spec->precision >= 0) {
        end = jinja_byte_of(string.string, (size_t)spec->precision);
    }
    jinja_text_add_part(text, string.string, 0, end);
    return true;
}

static void add_fill(struct jinja_text *out, char fill, int64_t count) {
    for (; count > 0; count--) {
        jinja_text_add(out, slice_make(&fill, 1), JINJA_DATA);
    }
}

// sign, digits or text, and what fills them up to the width.
static bool put(struct jinja_run *run, const struct spec *spec, bool number, bool negative,
                struct jinja_text *body, struct jinja_text *out) {
    struct jinja_value string;
    if (!jinja_finish(run, body, &string)) {
        return false;
    }
    const char *sign = !number ? "" : negative ? "-" : spec->sign == '+' ? "+"
                                                   : spec->sign == ' '   ? " "
                                                                         : "";
    int64_t missing = spec->width - (int64_t)strlen(sign) - (int64_t)string.string->count;
    missing = missing > 0 ? missing : 0;
    char align = spec->align ? spec->align : spec->zero && number ? '=' : number ? '>' : '<';
    char fill = spec->fill ? spec->fill : spec->zero && number ? '0' : ' ';
    int64_t left = align == '<' || align == '=' ? 0 : align == '^' ? missing / 2 : missing;
    add_fill(out, fill, left);
    jinja_text_add_data(out, sign);
    add_fill(out, fill, align == '=' ? missing : 0);
    jinja_text_add_string(out, string.string);
    add_fill(out, fill, align == '=' ? 0 : missing - left);
    return jinja_step(run, (uint64_t)missing);
}

static bool convert(struct jinja_run *run, struct jinja_value value, const struct spec *spec,
                    struct jinja_text *out) {
    struct jinja_text body = {0};
    bool negative = false, number = true, done = false;
    switch (spec->type) {
    case 'd':
    case 'i':
    case 'u':
    case 'x':
    case 'X':
    case 'o':
        done = write_integer(run, value, spec, &body, &negative);
        break;
    case 'f':
    case 'F':
        done = write_float(run, value, spec, &body, &negative);
        break;
    case 's':
    case 'r':
        number = false;
        done = write_text(run, value, spec, &body);
        break;
    default:
        jinja_fail(run, "the conversion '%c' is not supported", spec->type);
    }
    if (done && put(run, spec, number, negative, &body, out)) {
        return true;
    }
    jinja_text_release(&body);
    return false;
}

// --- % -------------------------------------------------------------------------------------------

struct percent {
    const struct jinja_string *format;
    struct jinja_value values;
    size_t at, used;
};

static bool percent_value(struct jinja_run *run, struct percent *percent,
                          struct jinja_value *value) {
    const struct jinja_string *format = percent->format;
    if (percent->at < format->size && format->data[percent->at] == '(') {
        const char *end =
            memchr(format->data + percent->at, ')', format->size - percent->at);
        if (!end || percent->values.kind != JINJA_DICT) {
            return jinja_fail(run, "%%(name) needs a dict");
        }
        size_t begin = percent->at + 1;
        percent->at = (size_t)(end - format->data) + 1;
        const struct jinja_value *found = jinja_dict_get_text(
            percent->values.dict, slice_make(format->data + begin, percent->at - 1 - begin));
        *value = found ? *found : jinja_none();
        return found || jinja_fail(run, "the dict lacks a name of this format");
    }
    bool several = percent->values.kind == JINJA_TUPLE;
    if (percent->used >= (several ? percent->values.list->count : 1)) {
        return jinja_fail(run, "there are not enough values for this format");
    }
    *value = several ? percent->values.list->items[percent->used] : percent->values;
    percent->used++;
    return true;
}

static bool percent_conversion(struct jinja_run *run, struct percent *percent,
                               struct jinja_text *out) {
    const struct jinja_string *format = percent->format;
    struct jinja_value value;
    struct spec spec = {0};
    if (percent->at < format->size && format->data[percent->at] == '%') {
        jinja_text_add_part(out, format, percent->at, percent->at + 1);
        percent->at++;
        return true;
    }
    if (!percent_value(run, percent, &value)) {
        return false;
    }
    for (; percent->at < format->size && memchr("-+ 0", format->data[percent->at], 4);
         percent->at++) {
        char flag = format->data[percent->at];
        spec.align = flag == '-' ? '<' : spec.align;
        spec.sign = flag == '+' || (flag == ' ' && !spec.sign) ? flag : spec.sign;
        spec.zero = spec.zero || flag == '0';
    }
    percent->at = read_count(format, percent->at, &spec.width);
    percent->at = read_precision(format, percent->at, &spec);
    if (percent->at == format->size) {
        return jinja_fail(run, "the format ends in a conversion");
    }
    spec.type = format->data[percent->at++];
    bool text = spec.type == 's' || spec.type == 'r';
    spec.align = text && !spec.align ? '>' : spec.align;
    return convert(run, value, &spec, out);
}

bool jinja_format_percent(struct jinja_run *run, const struct jinja_string *format,
                          struct jinja_value values, struct jinja_value *out) {
    struct percent percent = {.format = format, .values = values};
    struct jinja_text text = {.bytes.limit = run->arena.limit};
    while (percent.at < format->size) {
        const char *found = memchr(format->data + percent.at, '%', format->size - percent.at);
        size_t end = found ? (size_t)(found - format->data) : format->size;
        jinja_text_add_part(&text, format, percent.at, end);
        percent.at = end + (found != NULL);
        if (found && !percent_conversion(run, &percent, &text)) {
            jinja_text_release(&text);
            return false;
        }
    }
    size_t given = values.kind == JINJA_TUPLE ? values.list->count : 1;
    if (percent.used < given && values.kind != JINJA_DICT && !jinja_value_is_list(values)) {
        jinja_text_release(&text);
        return jinja_fail(run, "not all values are used by this format");
    }
    if (values.kind == JINJA_TUPLE && percent.used < given) {
        jinja_text_release(&text);
        return jinja_fail(run, "not all values are used by this format");
    }
    return jinja_finish(run, &text, out);
}

// --- {} ------------------------------------------------------------------------------------------

struct braces {
    const struct jinja_string *format;
    const struct jinja_arguments *arguments;
    size_t at, next;
    bool counted, numbered; // {} and {0} do not go together
};

// The value that a field's first word names.
static bool braces_first(struct jinja_run *run, struct braces *braces, struct slice word,
                         struct jinja_value *value) {
    int64_t index;
    if (word.size == 0) {
        index = (int64_t)braces->next++;
        braces->counted = true;
    } else if (jinja_int_read(word, 10, &index)) {
        braces->numbered = true;
    } else {
        for (size_t i = 0; i < braces->arguments->named_count; i++) {
            if (slice_equal(braces->arguments->named[i].name, word)) {
                *value = braces->arguments->named[i].value;
                return true;
            }
        }
        return jinja_fail(run, "format has no argument '%.*s'", (int)word.size, word.data);
    }
    if (braces->counted && braces->numbered) {
        return jinja_fail(run, "a format has either {} or numbers");
    }
    if (index < 0 || (size_t)index >= braces->arguments->count) {
        return jinja_fail(run, "format has no argument number %" PRId64, index);
    }
    *value = braces->arguments->items[index];
    return true;
}

static size_t word_end(const struct jinja_string *format, size_t at, const char *stops) {
    while (at < format->size && !memchr(stops, format->data[at], strlen(stops))) {
        at++;
    }
    return at;
}

static bool braces_value(struct jinja_run *run, struct braces *braces, struct jinja_value *value) {
    const struct jinja_string *format = braces->format;
    size_t end = word_end(format, braces->at, ".[!:}{");
    if (!braces_first(run, braces, slice_make(format->data + braces->at, end - braces->at),
                      value)) {
        return false;
    }
    while (end < format->size && (format->data[end] == '.' || format->data[end] == '[')) {
        bool item = format->data[end] == '[';
        size_t begin = end + 1;
        struct jinja_value name;
        int64_t index;
        end = word_end(format, begin, item ? "]" : ".[!:}{");
        if (!jinja_make_part(run, format, begin, end, &name)) {
            return false;
        }
        if (item && jinja_int_read(jinja_value_text(name), 10, &index)) {
            name = jinja_int(index);
        }
        if (item ? !jinja_get_item(run, *value, name, value)
                 : !jinja_get_attribute(run, *value, name, value)) {
            return false;
        }
        end += item && end < format->size;
    }
    braces->at = end;
    return true;
}

static size_t read_spec(const struct jinja_string *format, size_t at, struct spec *spec) {
    size_t left = format->size - at;
    const char *text = format->data + at;
    if (left > 1 && memchr("<>=^", text[1], 4) && (unsigned char)text[0] < 0x80) {
        spec->fill = text[0];
        spec->align = text[1];
        at += 2;
    } else if (left > 0 && memchr("<>=^", text[0], 4)) {
        spec->align = text[0];
        at++;
    }
    if (at < format->size && memchr("+- ", format->data[at], 3)) {
        spec->sign = format->data[at++];
    }
    if (at < format->size && format->data[at] == '0') {
        spec->zero = true;
        at++;
    }
    at = read_count(format, at, &spec->width);
    return read_precision(format, at, spec);
}

static bool braces_field(struct jinja_run *run, struct braces *braces, struct jinja_text *out) {
    const struct jinja_string *format = braces->format;
    struct jinja_value value;
    struct spec spec = {.width = -1, .precision = -1};
    if (!braces_value(run, braces, &value)) {
        return false;
    }
    bool represented = false;
    if (braces->at + 1 < format->size && format->data[braces->at] == '!') {
        represented = format->data[braces->at + 1] == 'r';
        if (!represented && format->data[braces->at + 1] != 's') {
            return jinja_fail(run, "the conversion '!%c' is not supported",
                              format->data[braces->at + 1]);
        }
        braces->at += 2;
    }
    bool has_spec = braces->at < format->size && format->data[braces->at] == ':';
    if (has_spec) {
        braces->at = read_spec(format, braces->at + 1, &spec);
        if (braces->at < format->size && format->data[braces->at] != '}') {
            spec.type = format->data[braces->at++];
        }
    }
    if (braces->at >= format->size || format->data[braces->at] != '}') {
        return jinja_fail(run, "a field of this format is malformed or not supported");
    }
    braces->at++;
    int64_t integer;
    bool whole = !represented && jinja_value_integer(value, &integer) && value.kind == JINJA_INT;
    if (has_spec && spec.type == 0 && value.kind == JINJA_FLOAT && !represented) {
        return jinja_fail(run, "a float needs the type 'f' in a format");
    }
    spec.type = spec.type     ? spec.type
                : represented ? 'r'
                : whole       ? 'd'
                              : 's';
    return convert(run, value, &spec, out);
}

bool jinja_format_braces(struct jinja_run *run, const struct jinja_string *format,
                         const struct jinja_arguments *arguments, struct jinja_value *out) {
    struct braces braces = {.format = format, .arguments = arguments};
    struct jinja_text text = {.bytes.limit = run->arena.limit};
    while (braces.at < format->size) {
        size_t end = word_end(format, braces.at, "{}");
        jinja_text_add_part(&text, format, braces.at, end);
        braces.at = end;
        if (end == format->size) {
            break;
        }
        bool twice = end + 1 < format->size && format->data[end + 1] == format->data[end];
        braces.at += 1 + twice;
        if (twice) {
            jinja_text_add_part(&text, format, end, end + 1);
        } else if (format->data[end] == '}' || !braces_field(run, &braces, &text)) {
            jinja_text_release(&text);
            return jinja_fail(run, "a single '}' in a format");
        }
    }
    return jinja_finish(run, &text, out);
}
