// SPDX-License-Identifier: Apache-2.0
#include "jinja/jinja_json.h"

#include "base/limits.h"
#include "jinja/jinja_number.h"

struct reader {
    struct slice text;
    size_t at;
    struct arena *arena;
    enum jinja_origin origin;
    unsigned depth;
    locum_error *error;
};

static locum_status read_value(struct reader *reader, struct jinja_value *out);

static locum_status fail(struct reader *reader, const char *what) {
    return status_fail(reader->error, LOCUM_E_FORMAT, "JSON, byte %zu: %s", reader->at, what);
}

static locum_status out_of_memory(struct reader *reader) {
    return status_fail(reader->error, LOCUM_E_OUT_OF_MEMORY, "no memory for JSON values");
}

static char peek(const struct reader *reader) {
    return reader->at < reader->text.size ? reader->text.data[reader->at] : '\0';
}

static bool take(struct reader *reader, char byte) {
    bool found = reader->at < reader->text.size && peek(reader) == byte;
    reader->at += found;
    return found;
}

static void skip_space(struct reader *reader) {
    while (reader->at < reader->text.size && memchr(" \t\r\n", peek(reader), 4)) {
        reader->at++;
    }
}

// --- Strings -------------------------------------------------------------------------------------

static bool read_hex(struct reader *reader, uint32_t *code) {
    *code = 0;
    for (int i = 0; i < 4; i++, reader->at++) {
        char c = peek(reader);
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0) {
            return false;
        }
        *code = 16 * *code + (uint32_t)digit;
    }
    return true;
}

static bool read_code(struct reader *reader, uint32_t *code) {
    uint32_t low;
    if (!read_hex(reader, code)) {
        return false;
    }
    if (*code < 0xD800 || *code > 0xDFFF) {
        return true;
    }
    if (*code > 0xDBFF || !take(reader, '\\') || !take(reader, 'u') || !read_hex(reader, &low) ||
        low < 0xDC00 || low > 0xDFFF) {
        return false;
    }
    *code = 0x10000 + ((*code - 0xD800) << 10) + (low - 0xDC00);
    return true;
}

static bool read_escape(struct reader *reader, struct jinja_text *text) {
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    char letter = peek(reader);
    const char *known = letter != '\0' ? strchr(letters, letter) : NULL;
    reader->at++;
    if (known) {
        jinja_text_add(text, slice_make(meanings + (known - letters), 1), reader->origin);
        return true;
    }
    uint32_t code;
    if (letter != 'u' || !read_code(reader, &code)) {
        return false;
    }
    jinja_text_add_code(text, code, reader->origin);
    return true;
}

static locum_status read_string(struct reader *reader, struct jinja_value *out) {
    struct jinja_text text = {0};
    size_t characters;
    if (!take(reader, '"')) {
        return fail(reader, "a string is expected");
    }
    while (peek(reader) != '"') {
        size_t begin = reader->at;
        while (reader->at < reader->text.size && (unsigned char)peek(reader) >= ' ' &&
               peek(reader) != '"' && peek(reader) != '\\') {
            reader->at++;
        }
        struct slice plain = slice_make(reader->text.data + begin, reader->at - begin);
        if (!jinja_count_characters(plain, &characters)) {
            jinja_text_release(&text);
            return fail(reader, "a string is not UTF-8");
        }
        jinja_text_add(&text, plain, reader->origin);
        if (peek(reader) != '"' && !(take(reader, '\\') && read_escape(reader, &text))) {
            jinja_text_release(&text);
            return fail(reader, "a string is malformed");
        }
    }
    reader->at++;
    return jinja_text_finish(&text, reader->arena, out) ? LOCUM_OK : out_of_memory(reader);
}

// --- Numbers and words ---------------------------------------------------------------------------

static size_t digits(struct reader *reader) {
    size_t begin = reader->at;
    while (peek(reader) >= '0' && peek(reader) <= '9') {
        reader->at++;
    }
    return reader->at - begin;
}

static locum_status read_number(struct reader *reader, struct jinja_value *out) {
    size_t begin = reader->at;
    bool whole = true, good;
    take(reader, '-');
    good = take(reader, '0') || digits(reader) > 0;
    if (good && take(reader, '.')) {
        whole = false;
        good = digits(reader) > 0;
    }
    if (good && (take(reader, 'e') || take(reader, 'E'))) {
        whole = false;
        if (!take(reader, '-')) {
            take(reader, '+');
        }
        good = digits(reader) > 0;
    }
    struct slice text = slice_make(reader->text.data + begin, reader->at - begin);
    *out = whole ? jinja_int(0) : jinja_float(0);
    if (!good || (!whole && !jinja_float_read(text, &out->real))) {
        return fail(reader, "a value is expected");
    }
    if (whole && !jinja_int_read(text, 10, &out->integer) &&
        !jinja_big_new(reader->arena, text, out)) {
        return out_of_memory(reader);
    }
    return LOCUM_OK;
}

static const struct {
    const char *word;
    struct jinja_value value;
} words[] = {{"null", {.kind = JINJA_NONE}},
             {"true", {.kind = JINJA_BOOL, .boolean = true}},
             {"false", {.kind = JINJA_BOOL}}};

static bool read_word(struct reader *reader, struct jinja_value *out) {
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        struct slice word = slice_text(words[i].word);
        if (slice_starts(slice_from(reader->text, reader->at), word)) {
            reader->at += word.size;
            *out = words[i].value;
            return true;
        }
    }
    return false;
}

// --- Lists and dicts -----------------------------------------------------------------------------

static locum_status read_list(struct reader *reader, struct jinja_value *out) {
    if (!jinja_list_new(reader->arena, JINJA_LIST, out)) {
        return out_of_memory(reader);
    }
    out->list->fixed = true;
    skip_space(reader);
    if (take(reader, ']')) {
        return LOCUM_OK;
    }
    do {
        struct jinja_value item;
        STATUS_TRY(read_value(reader, &item));
        if (!jinja_list_add(reader->arena, out->list, item)) {
            return out_of_memory(reader);
        }
        skip_space(reader);
    } while (take(reader, ','));
    return take(reader, ']') ? LOCUM_OK : fail(reader, "',' or ']' is expected");
}

static locum_status read_dict(struct reader *reader, struct jinja_value *out) {
    if (!jinja_dict_new(reader->arena, JINJA_DICT, out)) {
        return out_of_memory(reader);
    }
    out->dict->fixed = true;
    skip_space(reader);
    if (take(reader, '}')) {
        return LOCUM_OK;
    }
    do {
        struct jinja_value key, value;
        skip_space(reader);
        STATUS_TRY(read_string(reader, &key));
        skip_space(reader);
        if (!take(reader, ':')) {
            return fail(reader, "':' is expected");
        }
        STATUS_TRY(read_value(reader, &value));
        if (!jinja_dict_set(reader->arena, out->dict, key, value)) {
            return out_of_memory(reader);
        }
        skip_space(reader);
    } while (take(reader, ','));
    return take(reader, '}') ? LOCUM_OK : fail(reader, "',' or '}' is expected");
}

static locum_status read_value(struct reader *reader, struct jinja_value *out) {
    skip_space(reader);
    if (peek(reader) == '"') {
        return read_string(reader, out);
    }
    if (read_word(reader, out)) {
        return LOCUM_OK;
    }
    bool list = peek(reader) == '[';
    if (!list && peek(reader) != '{') {
        return read_number(reader, out);
    }
    if (reader->depth == LIMIT_JINJA_NESTING) {
        return fail(reader, "values are nested too deep");
    }
    reader->at++;
    reader->depth++;
    STATUS_TRY(list ? read_list(reader, out) : read_dict(reader, out));
    reader->depth--;
    return LOCUM_OK;
}

locum_status jinja_json_read(struct slice text, struct arena *arena, enum jinja_origin origin,
                             struct jinja_value *out, locum_error *error) {
    struct reader reader = {.text = text, .arena = arena, .origin = origin, .error = error};
    STATUS_TRY(read_value(&reader, out));
    skip_space(&reader);
    return reader.at == text.size ? LOCUM_OK : fail(&reader, "the text goes on");
}
