// SPDX-License-Identifier: Apache-2.0
#include "chat/chat_stream_value.h"

#include "base/limits.h"
#include "chat/chat_stream_json.h"

static const char gemma_quote[] = "<|\"|>";

struct reader {
    struct slice text; // what is left
    struct buffer *out;
    enum chat_stream_dialect dialect;
    int depth;
};

static void skip_blanks(struct reader *reader) {
    reader->text = slice_from(reader->text, chat_stream_json_blanks(reader->text));
}

static bool take(struct reader *reader, const char *text) {
    if (!slice_starts(reader->text, slice_text(text))) return false;
    reader->text = slice_from(reader->text, strlen(text));
    return true;
}

static bool is_name(char byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
           byte == '_' || byte == '-' || byte == '.' || (unsigned char)byte >= 0x80;
}

static struct slice take_name(struct reader *reader) {
    size_t size = 0;
    while (size < reader->text.size && is_name(reader->text.data[size])) size++;
    struct slice name = slice_make(reader->text.data, size);
    reader->text = slice_from(reader->text, size);
    return name;
}

// --- Strings --------------------------------------------------------------------------------------

static bool gemma_string(struct reader *reader) {
    size_t quote = sizeof gemma_quote - 1;
    for (size_t at = quote; at + quote <= reader->text.size; at++) {
        if (memcmp(reader->text.data + at, gemma_quote, quote) != 0) continue;
        chat_stream_json_quote(slice_make(reader->text.data + quote, at - quote), reader->out);
        reader->text = slice_from(reader->text, at + quote);
        return true;
    }
    return false;
}

// The escape at the start of text as JSON; bytes of it, 0: it ends too soon, or is one of those refused for
// their rarity (\N, \U, octal but \0). Before any other letter Python leaves a backslash where it is.
static size_t python_escape(struct slice text, struct buffer *out) {
    static const struct {
        char byte;
        const char *json;
    } escapes[] = {{'"', "\\\""}, {'\\', "\\\\"},  {'n', "\\n"},     {'r', "\\r"}, {'t', "\\t"},
                   {'b', "\\b"},  {'f', "\\f"},    {'a', "\\u0007"}, {'v', "\\u000b"},
                   {'0', "\\u0000"}, {'\'', "'"}, {'\n', ""}, {'u', "\\u"}};
    if (text.size < 2) return 0;
    char byte = text.data[1];
    if (byte == 'N' || byte == 'U' || (byte >= '1' && byte <= '7')) return 0;
    if (byte == 'x' && text.size >= 4) {
        buffer_append_text(out, "\\u00");
        buffer_append(out, text.data + 2, 2); // whether they are digits is seen when all is checked
        return 4;
    }
    for (size_t i = 0; i < sizeof escapes / sizeof escapes[0]; i++) {
        if (escapes[i].byte == byte) return buffer_append_text(out, escapes[i].json) ? 2 : 0;
    }
    return buffer_append_text(out, "\\\\") ? 1 : 0;
}

static bool python_string(struct reader *reader) {
    struct slice json;
    char quote = reader->text.data[0];
    size_t whole = quote == '"' ? chat_stream_json_value(reader->text, &json) : 0;
    if (whole > 0) {
        buffer_append(reader->out, json.data, json.size);
        reader->text = slice_from(reader->text, whole);
        return true;
    }
    buffer_append_byte(reader->out, '"');
    for (reader->text = slice_from(reader->text, 1); reader->text.size > 0;) {
        char byte = reader->text.data[0];
        size_t size = 1;
        if (byte == quote) {
            reader->text = slice_from(reader->text, 1);
            return buffer_append_byte(reader->out, '"');
        }
        if (byte == '\\') {
            size = python_escape(reader->text, reader->out);
            if (size == 0) return false;
        } else if (byte == '"') {
            buffer_append_text(reader->out, "\\\"");
        } else if ((unsigned char)byte < ' ') {
            buffer_format(reader->out, "\\u%04x", (unsigned)byte);
        } else {
            buffer_append_byte(reader->out, byte);
        }
        reader->text = slice_from(reader->text, size);
    }
    return false;
}

static bool string(struct reader *reader) {
    return reader->dialect == CHAT_STREAM_DIALECT_GEMMA ? gemma_string(reader) : python_string(reader);
}

static bool at_string(const struct reader *reader) {
    if (reader->dialect == CHAT_STREAM_DIALECT_GEMMA) {
        return slice_starts(reader->text, slice_text(gemma_quote));
    }
    return reader->text.size > 0 && (reader->text.data[0] == '"' || reader->text.data[0] == '\'');
}

// --- Everything else --------------------------------------------------------------------------------

static bool literal(struct reader *reader);

static bool key(struct reader *reader) {
    if (at_string(reader)) return string(reader);
    struct slice name = {0};
    if (reader->dialect == CHAT_STREAM_DIALECT_GEMMA) {
        const char *colon = memchr(reader->text.data, ':', reader->text.size);
        if (!colon) return false;
        name = slice_make(reader->text.data, (size_t)(colon - reader->text.data));
        reader->text = slice_from(reader->text, name.size);
    }
    if (name.size == 0 || name.size > LIMIT_CHAT_NAME) return false;
    chat_stream_json_quote(name, reader->out);
    return true;
}

// Behind the opening bracket: elements, or members of an object, up to `end`.
static bool items(struct reader *reader, bool object, char end) {
    const char close[] = {end, '\0'};
    buffer_append_byte(reader->out, object ? '{' : '[');
    for (bool first = true;; first = false) {
        skip_blanks(reader);
        if (take(reader, close)) return buffer_append_byte(reader->out, object ? '}' : ']');
        if (!first) {
            if (!take(reader, ",")) return false;
            skip_blanks(reader);
            if (take(reader, close)) return buffer_append_byte(reader->out, object ? '}' : ']');
            buffer_append_text(reader->out, ", ");
        }
        if (object) {
            if (!key(reader)) return false;
            skip_blanks(reader);
            if (!take(reader, ":")) return false;
            buffer_append_text(reader->out, ": ");
        }
        if (!literal(reader)) return false;
    }
}

static bool word(struct reader *reader) {
    static const char *const words[][2] = {{"None", "null"},   {"True", "true"}, {"False", "false"},
                                           {"null", "null"}, {"true", "true"}, {"false", "false"}};
    struct slice number;
    size_t size = chat_stream_json_value(reader->text, &number);
    if (size > 0 && (number.data[0] == '-' || (number.data[0] >= '0' && number.data[0] <= '9'))) {
        reader->text = slice_from(reader->text, size);
        return buffer_append(reader->out, number.data, number.size);
    }
    struct slice name = take_name(reader);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (slice_is(name, words[i][0])) return buffer_append_text(reader->out, words[i][1]);
    }
    return false;
}

static bool container(struct reader *reader, bool object, char end) {
    if (reader->depth == LIMIT_CHAT_NESTING) return false;
    reader->text = slice_from(reader->text, 1);
    reader->depth++;
    bool good = items(reader, object, end);
    reader->depth--;
    return good;
}

static bool literal(struct reader *reader) {
    skip_blanks(reader);
    if (reader->text.size == 0) return false;
    if (at_string(reader)) return string(reader);
    switch (reader->text.data[0]) {
    case '{': return container(reader, true, '}');
    case '[': return container(reader, false, ']');
    case '(': return reader->dialect == CHAT_STREAM_DIALECT_PYTHON && container(reader, false, ')');
    default: return word(reader);
    }
}

bool chat_stream_value_literal(struct slice *text, enum chat_stream_dialect dialect,
                               struct buffer *out) {
    struct reader reader = {*text, out, dialect, 0};
    if (!literal(&reader)) return false;
    *text = reader.text;
    return !out->failed;
}

bool chat_stream_value_python_call(struct slice *text, struct slice *name, struct buffer *out) {
    struct reader reader = {*text, out, CHAT_STREAM_DIALECT_PYTHON, 0};
    skip_blanks(&reader);
    *name = take_name(&reader);
    if (name->size == 0 || !take(&reader, "(")) return false;
    buffer_append_byte(out, '{');
    for (bool first = true;; first = false) {
        skip_blanks(&reader);
        if (take(&reader, ")")) break;
        if (!first) {
            if (!take(&reader, ",")) return false;
            buffer_append_text(out, ", ");
            skip_blanks(&reader);
        }
        struct slice parameter = take_name(&reader);
        skip_blanks(&reader);
        if (parameter.size == 0 || !take(&reader, "=")) return false;
        chat_stream_json_quote(parameter, out);
        buffer_append_text(out, ": ");
        if (!literal(&reader)) return false;
    }
    *text = reader.text;
    return buffer_append_byte(out, '}');
}

void chat_stream_value_typed(struct slice raw, enum chat_stream_type type, struct buffer *out) {
    struct slice value, rest = raw;
    size_t before = out->size;
    bool null = slice_is(raw, "null") || slice_is(raw, "None");
    if (type == CHAT_STREAM_TYPE_STRING_OR_NULL && null) {
        buffer_append_text(out, "null");
        return;
    }
    bool other = type == CHAT_STREAM_TYPE_OTHER || type == CHAT_STREAM_TYPE_UNKNOWN;
    if (other && chat_stream_json_whole(raw, &value) &&
        (value.data[0] != '"' || type == CHAT_STREAM_TYPE_OTHER)) {
        buffer_append(out, value.data, value.size);
        return;
    }
    if (type == CHAT_STREAM_TYPE_OTHER && chat_stream_value_literal(&rest, CHAT_STREAM_DIALECT_PYTHON, out) &&
        chat_stream_json_blanks(rest) == rest.size &&
        chat_stream_json_whole(slice_make(out->data + before, out->size - before), &value)) {
        return;
    }
    if (!out->failed) out->size = before;
    chat_stream_json_quote(raw, out);
}
