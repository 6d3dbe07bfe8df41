// SPDX-License-Identifier: Apache-2.0
#include "chat/chat_stream_json.h"

#include "base/check.h"

enum state {
    VALUE,        // a value must come
    ELEMENT,      // a value or ]
    MEMBER,       // a key or }
    KEY,          // a key
    COLON,        // the : behind a key
    AFTER,        // , or the end of the container
    STRING,       // inside a string
    ESCAPE,       // behind a backslash
    HEX,          // in \uXXXX
    LITERAL,      // in true, false, null
    NUMBER_MINUS, // a digit must come
    NUMBER_ZERO,  // 0: no further digit
    NUMBER_WHOLE,
    NUMBER_POINT, // a digit must come
    NUMBER_PART,
    NUMBER_E,    // a sign or a digit
    NUMBER_SIGN, // a digit
    NUMBER_POWER,
    DONE,
};

static bool is_blank(char byte) {
    return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

static bool is_digit(char byte) {
    return byte >= '0' && byte <= '9';
}

void chat_stream_json_init(struct chat_stream_json *json) {
    *json = (struct chat_stream_json){.state = VALUE};
}

static bool in_object(const struct chat_stream_json *json) {
    unsigned at = json->depth - 1u;
    return json->objects[at / 8] >> (at % 8) & 1;
}

static enum chat_stream_json_step value_ended(struct chat_stream_json *json) {
    json->state = json->depth > 0 ? AFTER : DONE;
    return json->depth > 0 ? CHAT_STREAM_JSON_MORE : CHAT_STREAM_JSON_DONE;
}

static enum chat_stream_json_step go(struct chat_stream_json *json, enum state state) {
    json->state = (uint8_t)state;
    return CHAT_STREAM_JSON_MORE;
}

static enum chat_stream_json_step open_container(struct chat_stream_json *json, bool object) {
    if (json->depth == LIMIT_CHAT_NESTING) return CHAT_STREAM_JSON_BAD;
    uint8_t *bits = &json->objects[json->depth / 8];
    unsigned bit = 1u << (json->depth % 8);
    *bits = (uint8_t)(object ? *bits | bit : *bits & ~bit);
    json->depth++;
    return go(json, object ? MEMBER : ELEMENT);
}

static enum chat_stream_json_step close_container(struct chat_stream_json *json) {
    json->depth--;
    return value_ended(json);
}

static enum chat_stream_json_step begin_string(struct chat_stream_json *json, bool key) {
    json->key = key;
    return go(json, STRING);
}

static enum chat_stream_json_step begin_literal(struct chat_stream_json *json, const char *rest) {
    json->rest = rest;
    return go(json, LITERAL);
}

static enum chat_stream_json_step begin_value(struct chat_stream_json *json, char byte) {
    if (is_digit(byte)) return go(json, byte == '0' ? NUMBER_ZERO : NUMBER_WHOLE);
    switch (byte) {
    case '{': return open_container(json, true);
    case '[': return open_container(json, false);
    case '"': return begin_string(json, false);
    case '-': return go(json, NUMBER_MINUS);
    case 't': return begin_literal(json, "rue");
    case 'f': return begin_literal(json, "alse");
    case 'n': return begin_literal(json, "ull");
    default: return CHAT_STREAM_JSON_BAD;
    }
}

// Between tokens, where blanks may stand.
static enum chat_stream_json_step structure(struct chat_stream_json *json, char byte) {
    if (is_blank(byte)) return CHAT_STREAM_JSON_MORE;
    switch ((enum state)json->state) {
    case ELEMENT:
        if (byte == ']') return close_container(json);
        return begin_value(json, byte);
    case MEMBER:
        if (byte == '}') return close_container(json);
        return byte == '"' ? begin_string(json, true) : CHAT_STREAM_JSON_BAD;
    case KEY: return byte == '"' ? begin_string(json, true) : CHAT_STREAM_JSON_BAD;
    case COLON: return byte == ':' ? go(json, VALUE) : CHAT_STREAM_JSON_BAD;
    case AFTER:
        if (byte == ',') return go(json, in_object(json) ? KEY : VALUE);
        return byte == (in_object(json) ? '}' : ']') ? close_container(json) : CHAT_STREAM_JSON_BAD;
    default: return begin_value(json, byte);
    }
}

// The last digit of \uXXXX: halves of surrogate pairs come in twos, the high one first.
static enum chat_stream_json_step code_ended(struct chat_stream_json *json) {
    bool low = json->code >= 0xDC00 && json->code < 0xE000;
    if (low != json->half) return CHAT_STREAM_JSON_BAD;
    json->half = json->code >= 0xD800 && json->code < 0xDC00;
    return go(json, STRING);
}

static enum chat_stream_json_step hex_byte(struct chat_stream_json *json, char byte) {
    bool letter = (byte >= 'a' && byte <= 'f') || (byte >= 'A' && byte <= 'F');
    if (!letter && !is_digit(byte)) return CHAT_STREAM_JSON_BAD;
    json->code = (uint16_t)(json->code << 4 | (letter ? (byte | 0x20) - 'a' + 10 : byte - '0'));
    return --json->left == 0 ? code_ended(json) : CHAT_STREAM_JSON_MORE;
}

static enum chat_stream_json_step string_byte(struct chat_stream_json *json, char byte) {
    if (json->state == HEX) return hex_byte(json, byte);
    if (json->state == ESCAPE && byte == 'u') {
        json->left = 4;
        return go(json, HEX);
    }
    if (json->state == STRING && byte == '\\') return go(json, ESCAPE);
    if (json->half) return CHAT_STREAM_JSON_BAD;
    if (json->state == ESCAPE) {
        return byte != '\0' && strchr("\"\\/bfnrt", byte) ? go(json, STRING) : CHAT_STREAM_JSON_BAD;
    }
    if (byte != '"') return (unsigned char)byte < ' ' ? CHAT_STREAM_JSON_BAD : CHAT_STREAM_JSON_MORE;
    return json->key ? go(json, COLON) : value_ended(json);
}

// Which state a byte leads to inside a number; DONE: it does not belong to the number.
static enum state number_next(enum state state, char byte) {
    bool e = byte == 'e' || byte == 'E';
    switch (state) {
    case NUMBER_MINUS: return byte == '0' ? NUMBER_ZERO : is_digit(byte) ? NUMBER_WHOLE : DONE;
    case NUMBER_ZERO: return byte == '.' ? NUMBER_POINT : e ? NUMBER_E : DONE;
    case NUMBER_WHOLE:
        return is_digit(byte) ? NUMBER_WHOLE : byte == '.' ? NUMBER_POINT : e ? NUMBER_E : DONE;
    case NUMBER_POINT: return is_digit(byte) ? NUMBER_PART : DONE;
    case NUMBER_PART: return is_digit(byte) ? NUMBER_PART : e ? NUMBER_E : DONE;
    case NUMBER_E:
        return byte == '+' || byte == '-' ? NUMBER_SIGN : is_digit(byte) ? NUMBER_POWER : DONE;
    default: return is_digit(byte) ? NUMBER_POWER : DONE; // a sign or the power
    }
}

static bool number_may_end(enum state state) {
    return state == NUMBER_ZERO || state == NUMBER_WHOLE || state == NUMBER_PART || state == NUMBER_POWER;
}

static enum chat_stream_json_step number_byte(struct chat_stream_json *json, char byte) {
    enum state next = number_next((enum state)json->state, byte);
    if (next != DONE) return go(json, next);
    if (!number_may_end((enum state)json->state) || json->depth == 0) return CHAT_STREAM_JSON_BAD;
    json->state = AFTER;
    return structure(json, byte);
}

enum chat_stream_json_step chat_stream_json_byte(struct chat_stream_json *json, char byte) {
    enum state state = (enum state)json->state;
    if (state == DONE) return CHAT_STREAM_JSON_BAD;
    if (state >= NUMBER_MINUS) return number_byte(json, byte);
    if (state >= STRING && state <= HEX) return string_byte(json, byte);
    if (state != LITERAL) return structure(json, byte);
    if (byte != *json->rest) return CHAT_STREAM_JSON_BAD;
    return *++json->rest == '\0' ? value_ended(json) : CHAT_STREAM_JSON_MORE;
}

size_t chat_stream_json_blanks(struct slice text) {
    size_t size = 0;
    while (size < text.size && is_blank(text.data[size])) size++;
    return size;
}

size_t chat_stream_json_value(struct slice text, struct slice *value) {
    struct chat_stream_json json;
    size_t start = chat_stream_json_blanks(text);
    chat_stream_json_init(&json);
    for (size_t at = start; at < text.size; at++) {
        // A number at the top ends where something else begins.
        enum state before = (enum state)json.state;
        enum chat_stream_json_step step = chat_stream_json_byte(&json, text.data[at]);
        if (step == CHAT_STREAM_JSON_MORE) continue;
        bool number = before >= NUMBER_MINUS && json.depth == 0;
        if (step == CHAT_STREAM_JSON_BAD && !(number && number_may_end(before))) return 0;
        size_t end = step == CHAT_STREAM_JSON_DONE ? at + 1 : at;
        *value = slice_make(text.data + start, end - start);
        return end;
    }
    if (json.depth > 0 || !number_may_end((enum state)json.state)) return 0;
    *value = slice_from(text, start);
    return text.size;
}

bool chat_stream_json_whole(struct slice text, struct slice *value) {
    size_t size = chat_stream_json_value(text, value);
    return size > 0 && size + chat_stream_json_blanks(slice_from(text, size)) == text.size;
}

bool chat_stream_json_next(struct slice *rest, struct slice *key, struct slice *value) {
    // At the opening bracket, a comma, or the closing bracket; the text is known to be JSON.
    *rest = slice_from(*rest, chat_stream_json_blanks(*rest));
    if (rest->size == 0) return false;
    *rest = slice_from(*rest, 1);
    if (key) {
        size_t size = chat_stream_json_value(*rest, key);
        if (size == 0) return false;
        *rest = slice_from(*rest, size);
        *rest = slice_from(*rest, chat_stream_json_blanks(*rest) + 1); // the colon
    }
    size_t size = chat_stream_json_value(*rest, value);
    *rest = slice_from(*rest, size);
    return size > 0;
}

// --- Strings --------------------------------------------------------------------------------------

static uint32_t hex4(const char *digits) {
    uint32_t code = 0;
    for (int i = 0; i < 4; i++) {
        char c = digits[i];
        code = code << 4 | (uint32_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return code;
}

static void append_code(uint32_t code, struct buffer *out) {
    if (code < 0x80) {
        buffer_append_byte(out, (char)code);
        return;
    }
    int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const unsigned char lead[] = {0, 0xC0, 0xE0, 0xF0};
    buffer_append_byte(out, (char)(lead[more] | code >> (6 * more)));
    while (more-- > 0) buffer_append_byte(out, (char)(0x80 | (code >> (6 * more) & 0x3F)));
}

// The \uXXXX (two of them for a pair) at the start of text; bytes of it.
static size_t unescape_code(const char *text, struct buffer *out) {
    uint32_t code = hex4(text + 2);
    bool pair = code >= 0xD800 && code < 0xDC00;
    if (pair) code = 0x10000 + ((code - 0xD800) << 10) + (hex4(text + 8) - 0xDC00);
    append_code(code, out);
    return pair ? 12 : 6;
}

void chat_stream_json_unquote(struct slice literal, struct buffer *out) {
    static const char names[] = "bfnrt", bytes[] = "\b\f\n\r\t";
    LOCUM_ASSERT(literal.size >= 2);
    const char *at = literal.data + 1, *end = literal.data + literal.size - 1;
    while (at < end) {
        if (*at != '\\') {
            buffer_append_byte(out, *at++);
        } else if (at[1] == 'u') {
            at += unescape_code(at, out);
        } else {
            const char *name = strchr(names, at[1]);
            buffer_append_byte(out, name ? bytes[name - names] : at[1]);
            at += 2;
        }
    }
}

void chat_stream_json_quote(struct slice text, struct buffer *out) {
    static const char names[] = "\"\\nrt", bytes[] = "\"\\\n\r\t";
    buffer_append_byte(out, '"');
    for (size_t i = 0; i < text.size; i++) {
        char byte = text.data[i];
        const char *found = byte != '\0' ? strchr(bytes, byte) : NULL;
        if (found) {
            buffer_append_byte(out, '\\');
            buffer_append_byte(out, names[found - bytes]);
        } else if ((unsigned char)byte < ' ') {
            buffer_format(out, "\\u%04x", (unsigned)byte);
        } else {
            buffer_append_byte(out, byte);
        }
    }
    buffer_append_byte(out, '"');
}
