// SPDX-License-Identifier: Apache-2.0
#include "chat/chat_stream_call.h"

#include "base/check.h"
#include "base/utf8.h"

enum outcome {
    GO_ON, // with the step that call->step names
    WAIT,  // for more of the stream
    FAIL,
    FINISH_CALLS,
    FINISH_REASONING,
    FINISH_ANSWER,
};

typedef enum outcome step_fn(struct chat_stream_call *call, const struct chat_stream_step *step,
                             struct chat_stream_held held);

void chat_stream_call_init(struct chat_stream_call *call, const struct chat_stream_calls *format,
                           struct jinja_value tools) {
    call->format = format;
    call->tools = tools;
    // Twice: values may grow when they become JSON strings.
    call->arguments.limit = call->text.limit = 2 * (size_t)LIMIT_CHAT_CALL;
    call->key.limit = LIMIT_CHAT_NAME;
}

void chat_stream_call_release(struct chat_stream_call *call) {
    buffer_release(&call->key);
    buffer_release(&call->arguments);
    buffer_release(&call->text);
}

bool chat_stream_call_out_of_memory(const struct chat_stream_call *call) {
    return call->key.failed || call->arguments.failed || call->text.failed;
}

static void forget_call(struct chat_stream_call *call) {
    call->id = call->name = (struct chat_stream_span){0, 0};
    call->key.size = call->arguments.size = 0;
}

void chat_stream_call_begin(struct chat_stream_call *call, uint8_t start, size_t read) {
    call->start = call->step = start;
    call->at = read;
    call->scan = call->found_count = call->text.size = 0;
    call->value.pending = call->cut = false;
    forget_call(call);
}

static struct chat_stream_held held_from(struct chat_stream_held held, size_t start) {
    LOCUM_ASSERT(start <= held.text.size);
    return (struct chat_stream_held){slice_from(held.text, start), held.marks + start};
}

int chat_stream_call_matches(struct chat_stream_held held, const char *literal, bool token) {
    size_t size = strlen(literal), have = held.text.size < size ? held.text.size : size;
    if (have == 0) return size == 0 ? 1 : -1;
    if (memcmp(held.text.data, literal, have) != 0) return 0;
    if (token && held.marks[0] != CHAT_STREAM_TOKEN) return 0;
    return have == size ? 1 : -1;
}

static bool is_token(const struct chat_stream_call *call) {
    return call->tokens >> call->step & 1;
}

static enum outcome next(struct chat_stream_call *call, size_t read) {
    call->at += read;
    call->scan = 0;
    call->step++;
    return GO_ON;
}

// --- Values of parameters ------------------------------------------------------------------------------

static struct slice kept(const struct chat_stream_call *call, struct chat_stream_span span) {
    return span.size > 0 ? slice_make(call->text.data + span.start, span.size) : slice_make(NULL, 0);
}

// What follows the last value fits: it is one of the arguments.
static void keep_value(struct chat_stream_call *call, struct chat_stream_held held) {
    if (!call->value.pending) return;
    const struct chat_stream_step *step = &call->format->steps[call->value.step];
    struct slice text = slice_make(held.text.data + call->value.at, call->value.size);
    call->value.pending = false;
    enum chat_stream_type type = CHAT_STREAM_TYPE_STRING;
    if (step->op == CHAT_STREAM_LINES && text.size > 0 && text.data[0] == '\n') text = slice_from(text, 1);
    if (step->op == CHAT_STREAM_LINES && text.size > 0 && text.data[text.size - 1] == '\n') text.size--;
    if (step->op == CHAT_STREAM_VERBATIM) type = CHAT_STREAM_TYPE_OTHER;
    bool quoted = step->op == CHAT_STREAM_CDATA && text.size >= strlen("<![CDATA[]]>") &&
                  slice_starts(text, slice_text("<![CDATA[")) &&
                  slice_is(slice_from(text, text.size - 3), "]]>");
    if (quoted) {
        text = slice_make(text.data + 9, text.size - 12);
    } else if (step->op == CHAT_STREAM_VALUE || step->op == CHAT_STREAM_LINES || step->op == CHAT_STREAM_CDATA) {
        type = chat_stream_tools_type(call->tools, kept(call, call->name), buffer_slice(&call->key));
    }
    buffer_append_text(&call->arguments, call->arguments.size == 0 ? "{" : ", ");
    chat_stream_json_quote(buffer_slice(&call->key), &call->arguments);
    buffer_append_text(&call->arguments, ": ");
    chat_stream_value_typed(text, type, &call->arguments);
}

// --- Literals ---------------------------------------------------------------------------------------

static int here(const struct chat_stream_call *call, const struct chat_stream_step *step,
                struct chat_stream_held held) {
    return chat_stream_call_matches(held_from(held, call->at), step->text, is_token(call));
}

static enum outcome literal(struct chat_stream_call *call, const struct chat_stream_step *step,
                            struct chat_stream_held held) {
    int match = here(call, step, held);
    if (match < 0) return WAIT;
    if (match == 0) return FAIL;
    keep_value(call, held);
    return next(call, strlen(step->text));
}

static enum outcome closing(struct chat_stream_call *call, const struct chat_stream_step *step,
                            struct chat_stream_held held) {
    return call->start == 0 ? literal(call, step, held) : next(call, 0);
}

static enum outcome blank(struct chat_stream_call *call, const struct chat_stream_step *step,
                          struct chat_stream_held held) {
    (void)step;
    call->at += chat_stream_json_blanks(slice_from(held.text, call->at));
    return call->at == held.text.size ? WAIT : next(call, 0);
}

static enum outcome jump(struct chat_stream_call *call, const struct chat_stream_step *step,
                         struct chat_stream_held held) {
    (void)held;
    call->step = (uint8_t)(call->step + step->jump);
    return GO_ON;
}

static enum outcome try_literal(struct chat_stream_call *call, const struct chat_stream_step *step,
                                struct chat_stream_held held) {
    int match = here(call, step, held);
    if (match < 0) return WAIT;
    if (match == 0) return jump(call, step, held);
    keep_value(call, held);
    return next(call, step->op == CHAT_STREAM_TRY ? strlen(step->text) : 0);
}

// --- Names and parameters -----------------------------------------------------------------------------

static struct chat_stream_span keep(struct chat_stream_call *call, struct slice text) {
    struct chat_stream_span span = {call->text.size, text.size};
    if (!buffer_append(&call->text, text.data, text.size)) span.size = 0;
    return span;
}

// A word at `at`, up to what cannot be in one. WAIT: it has not ended.
static enum outcome word(const struct chat_stream_call *call, struct slice held, struct slice *out) {
    struct slice rest = slice_from(held, call->at);
    size_t size = 0;
    while (size < rest.size && size <= LIMIT_CHAT_NAME) {
        unsigned char byte = (unsigned char)rest.data[size];
        if (byte <= ' ' || strchr("<>[](){},\"'", byte)) break;
        size++;
    }
    *out = slice_make(rest.data, size);
    if (size > LIMIT_CHAT_NAME) return FAIL;
    if (size == rest.size) return WAIT;
    return size > 0 ? GO_ON : FAIL;
}

static enum outcome name(struct chat_stream_call *call, const struct chat_stream_step *step,
                         struct chat_stream_held held) {
    struct slice text;
    enum outcome outcome = word(call, held.text, &text);
    if (outcome != GO_ON) return outcome;
    *(step->op == CHAT_STREAM_ID ? &call->id : &call->name) = keep(call, text);
    return next(call, text.size);
}

// functions.NAME:NUMBER; as models leave out either end, so may the text.
static enum outcome path(struct chat_stream_call *call, const struct chat_stream_step *step,
                         struct chat_stream_held held) {
    struct slice text, prefix = slice_text("functions."), inner;
    (void)step;
    enum outcome outcome = word(call, held.text, &text);
    if (outcome != GO_ON) return outcome;
    inner = slice_starts(text, prefix) ? slice_from(text, prefix.size) : text;
    size_t digits = 0;
    while (digits < inner.size && inner.data[inner.size - digits - 1] >= '0' &&
           inner.data[inner.size - digits - 1] <= '9') {
        digits++;
    }
    if (digits > 0 && digits < inner.size && inner.data[inner.size - digits - 1] == ':') {
        inner.size -= digits + 1;
    }
    if (inner.size == 0) return FAIL;
    call->id = keep(call, text);
    call->name = keep(call, inner);
    return next(call, text.size);
}

// Looks for the literal from `scan` on. GO_ON: *text is what stands before it, and scan its size.
static enum outcome until(struct chat_stream_call *call, const struct chat_stream_step *step,
                          struct chat_stream_held held, struct slice *text) {
    struct chat_stream_held rest = held_from(held, call->at);
    for (; call->scan < rest.text.size; call->scan++) {
        const char *found = memchr(rest.text.data + call->scan, step->text[0], rest.text.size - call->scan);
        call->scan = found ? (size_t)(found - rest.text.data) : rest.text.size;
        int match = chat_stream_call_matches(held_from(rest, call->scan), step->text, is_token(call));
        if (match < 0) return WAIT;
        if (match == 0) continue;
        *text = slice_make(rest.text.data, call->scan);
        return GO_ON;
    }
    return WAIT;
}

static enum outcome key(struct chat_stream_call *call, const struct chat_stream_step *step,
                        struct chat_stream_held held) {
    struct slice text;
    enum outcome outcome = until(call, step, held, &text);
    size_t size = outcome == GO_ON ? text.size : held.text.size - call->at;
    if (size > LIMIT_CHAT_NAME + (outcome == GO_ON ? 0 : strlen(step->text))) return FAIL;
    if (outcome != GO_ON) return outcome;
    if (text.size == 0) return FAIL;
    call->key.size = 0;
    buffer_append(&call->key, text.data, text.size);
    return next(call, text.size + strlen(step->text));
}

static enum outcome value(struct chat_stream_call *call, const struct chat_stream_step *step,
                          struct chat_stream_held held) {
    struct slice text;
    enum outcome outcome = until(call, step, held, &text);
    if (outcome != GO_ON) return outcome;
    call->value.pending = true;
    call->value.final = is_token(call);
    call->value.step = call->step;
    call->value.at = call->at;
    call->value.size = text.size;
    return next(call, text.size + strlen(step->text));
}

// --- Values with an end of their own ------------------------------------------------------------------

static bool end_call(struct chat_stream_call *call, struct slice arguments) {
    struct slice whole;
    if (call->found_count == LIMIT_CHAT_CALLS || call->name.size == 0) return false;
    if (!chat_stream_json_whole(arguments, &whole) || whole.data[0] != '{') return false;
    for (struct slice rest = whole; rest.size > 0;) {
        struct utf8_step character = utf8_next(rest);
        if (character.kind != UTF8_CHARACTER) return false;
        rest = slice_from(rest, character.size);
    }
    struct chat_stream_found *found = &call->found[call->found_count++];
    *found = (struct chat_stream_found){call->id, call->name, keep(call, whole)};
    forget_call(call);
    return !chat_stream_call_out_of_memory(call);
}

static struct chat_stream_span keep_string(struct chat_stream_call *call, struct slice json) {
    struct chat_stream_span span = {call->text.size, 0};
    if (json.data[0] == '"') {
        chat_stream_json_unquote(json, &call->text);
    } else {
        buffer_append(&call->text, json.data, json.size); // an id may be a number
    }
    span.size = call->text.size - span.start;
    return span;
}

static bool is_one_of(struct slice key, const char *const *names) {
    for (; *names; names++) {
        if (key.size == strlen(*names) + 2 && memcmp(key.data + 1, *names, key.size - 2) == 0) return true;
    }
    return false;
}

// An object {"name": ..., "arguments": {...}, "id": ...}, under the names that models know, or of some {NAME: {...}}.
// The arguments may be JSON in a string, or be absent.
static bool take_object(struct chat_stream_call *call, struct slice object) {
    static const char *const names[] = {"name", "tool_name", NULL}, *const ids[] = {"id", "tool_call_id", NULL},
                             *const values[] = {"arguments", "parameters", NULL}, *const types[] = {"type", NULL};
    struct slice rest = object, key_text, value_text, arguments = {0};
    struct slice only = {0}, only_value = {0};
    size_t members = 0, unknown = 0;
    if (object.size == 0 || object.data[0] != '{') return false;
    for (; chat_stream_json_next(&rest, &key_text, &value_text); members++) {
        bool string = value_text.data[0] == '"';
        if (is_one_of(key_text, names) && string) {
            call->name = keep_string(call, value_text);
        } else if (is_one_of(key_text, ids)) {
            call->id = keep_string(call, value_text);
        } else if (is_one_of(key_text, values)) {
            arguments = value_text;
        } else if (!is_one_of(key_text, types)) {
            only = key_text;
            only_value = value_text;
            unknown++;
        }
    }
    if (call->format->flags & CHAT_STREAM_KEYED && members == 1 && unknown == 1) {
        call->name = keep_string(call, only);
        arguments = only_value;
        unknown = 0;
    }
    if (unknown > 0 || call->name.size > LIMIT_CHAT_NAME || call->id.size > LIMIT_CHAT_NAME) return false;
    if (arguments.size == 0) arguments = slice_text("{}");
    if (arguments.data[0] != '"') return end_call(call, arguments);
    chat_stream_json_unquote(arguments, &call->arguments);
    return end_call(call, buffer_slice(&call->arguments));
}

static bool take_list(struct chat_stream_call *call, struct slice list) {
    struct slice rest = list, element;
    if (list.data[0] == '{') return take_object(call, list);
    while (chat_stream_json_next(&rest, NULL, &element)) {
        if (!take_object(call, element)) return false;
    }
    return call->found_count > 0;
}

static bool take_json(struct chat_stream_call *call, const struct chat_stream_step *step, struct slice text) {
    if (step->op == CHAT_STREAM_CALLS) return take_list(call, text);
    if (step->op == CHAT_STREAM_CALL) {
        return take_object(call, text) &&
               (!(call->format->flags & CHAT_STREAM_KNOWN) || call->start == 0 ||
                chat_stream_tools_has(call->tools, kept(call, call->found[call->found_count - 1].name)));
    }
    call->arguments.size = 0;
    buffer_append(&call->arguments, text.data, text.size);
    return text.data[0] == '{';
}

static enum outcome json(struct chat_stream_call *call, const struct chat_stream_step *step,
                         struct chat_stream_held held) {
    struct slice rest = slice_from(held.text, call->at);
    if (call->scan == 0) chat_stream_json_init(&call->json);
    while (call->scan < rest.size) {
        enum chat_stream_json_step outcome = chat_stream_json_byte(&call->json, rest.data[call->scan]);
        bool other = call->scan == 0 && rest.data[0] != '{' && rest.data[0] != '[';
        if (outcome == CHAT_STREAM_JSON_BAD || other) {
            call->at += call->scan;
            return FAIL;
        }
        call->scan++;
        if (outcome != CHAT_STREAM_JSON_DONE) continue;
        bool good = take_json(call, step, slice_make(rest.data, call->scan));
        next(call, call->scan);
        return good ? GO_ON : FAIL;
    }
    return WAIT;
}

static bool take_python(struct chat_stream_call *call, struct slice text) {
    bool list = text.data[0] == '[';
    struct slice rest = list ? slice_make(text.data + 1, text.size - 2) : text, tool, method = slice_text(".call");
    do {
        if (call->found_count > 0) rest = slice_from(rest, 1); // the comma
        call->arguments.size = 0;
        if (!chat_stream_value_python_call(&rest, &tool, &call->arguments)) return false;
        if (!list && tool.size > method.size && slice_equal(slice_from(tool, tool.size - method.size), method)) {
            tool.size -= method.size; // of Llama's built-in tools
        }
        if (tool.size > LIMIT_CHAT_NAME) return false;
        call->name = keep(call, tool);
        if (!end_call(call, buffer_slice(&call->arguments))) return false;
        rest = slice_from(rest, chat_stream_json_blanks(rest));
    } while (list && rest.size > 0 && rest.data[0] == ',');
    return rest.size == 0;
}

static bool take_gemma(struct chat_stream_call *call, struct slice text) {
    return chat_stream_value_literal(&text, CHAT_STREAM_DIALECT_GEMMA, &call->arguments) && text.size == 0;
}

// Brackets and strings are followed to the end of the outermost bracket; what stands between them is looked at
// then.
static enum outcome loose(struct chat_stream_call *call, const struct chat_stream_step *step,
                          struct chat_stream_held held) {
    static const char gemma_quote[] = "<|\"|>";
    struct chat_stream_held rest = held_from(held, call->at);
    bool gemma = step->op == CHAT_STREAM_GEMMA;
    if (call->scan == 0) memset(&call->loose, 0, sizeof call->loose);
    for (; call->scan < rest.text.size; call->scan++) {
        char byte = rest.text.data[call->scan];
        bool outside = call->loose.quote == '\0';
        if (gemma && call->scan == 0 && byte != '{') return FAIL;
        if (call->loose.escaped) {
            call->loose.escaped = false;
        } else if (gemma && byte == '<') {
            int match = chat_stream_call_matches(held_from(rest, call->scan), gemma_quote, false);
            if (match < 0) return WAIT;
            if (match > 0) {
                call->loose.quote = outside ? '"' : '\0';
                call->scan += sizeof gemma_quote - 2;
            }
        } else if (!gemma && !outside && (byte == '\\' || byte == call->loose.quote)) {
            call->loose.escaped = byte == '\\';
            if (byte != '\\') call->loose.quote = '\0';
        } else if (!gemma && outside && (byte == '"' || byte == '\'')) {
            call->loose.quote = byte;
        } else if (outside && strchr("([{", byte) && byte != '\0') {
            call->loose.depth++;
        } else if (outside && call->loose.depth == 0 && ((unsigned char)byte <= ' ' || strchr("<)]}", byte))) {
            return FAIL; // no name before the first bracket
        } else if (outside && strchr(")]}", byte) && byte != '\0' && --call->loose.depth == 0) {
            struct slice text = slice_make(rest.text.data, call->scan + 1);
            next(call, text.size);
            return (gemma ? take_gemma(call, text) : take_python(call, text)) ? GO_ON : FAIL;
        }
    }
    return WAIT;
}

// {"name" or one of the other beginnings, blanks between them or not.
static enum outcome bare(struct chat_stream_call *call, const struct chat_stream_step *step,
                         struct chat_stream_held held) {
    static const char *const beginnings[] = {"\"name\"", "\"type\"", "\"parameters\"", "\"arguments\""};
    struct chat_stream_held rest = held_from(held, call->at);
    (void)step;
    if (!jinja_value_is_list(call->tools) || rest.text.data[0] != '{') return FAIL;
    size_t blanks = 1 + chat_stream_json_blanks(slice_from(rest.text, 1));
    if (blanks > LIMIT_CHAT_BLANKS) return FAIL;
    if (blanks == rest.text.size) return WAIT;
    bool wait = false;
    for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++) {
        int match = chat_stream_call_matches(held_from(rest, blanks), beginnings[i], false);
        if (match > 0) return next(call, 0);
        wait |= match < 0;
    }
    return wait ? WAIT : FAIL;
}

// --- Headers of messages ------------------------------------------------------------------------------

// The text behind `mark` in a header up to a blank or a bracket; empty: the mark is not there.
static struct slice behind(struct slice header, const char *mark) {
    struct slice wanted = slice_text(mark), rest = header;
    for (; rest.size >= wanted.size; rest = slice_from(rest, 1)) {
        if (!slice_starts(rest, wanted)) continue;
        rest = slice_from(rest, wanted.size);
        size_t size = 0;
        while (size < rest.size && (unsigned char)rest.data[size] > ' ' && rest.data[size] != '<') size++;
        return slice_make(rest.data, size);
    }
    return slice_make(NULL, 0);
}

// Could this be a header, from its opening mark on?
static bool may_be_header(struct chat_stream_held held) {
    static const char *const beginnings[] = {"<|channel|>", "<|start|>", "to=", "assistant", "<|constrain|>"};
    struct chat_stream_held rest = held_from(held, chat_stream_json_blanks(held.text));
    for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++) {
        if (chat_stream_call_matches(rest, beginnings[i], false) != 0) return true;
    }
    return false;
}

// [<|start|>][assistant][ to=RECIPIENT]<|channel|>CHANNEL[ to=RECIPIENT][ [<|constrain|>]json]<|message|>
static enum outcome header(struct chat_stream_call *call, const struct chat_stream_step *step,
                           struct chat_stream_held held) {
    struct slice text, prefix = slice_text("functions.");
    if (!may_be_header(held)) return FAIL;
    enum outcome outcome = until(call, step, held, &text);
    if (outcome != GO_ON) {
        return held.text.size > LIMIT_CHAT_NAME + strlen(step->text) ? FAIL : outcome;
    }
    size_t size = call->at + text.size;
    if (size > LIMIT_CHAT_NAME) return FAIL;
    struct slice whole = slice_make(held.text.data, size);
    struct slice channel = behind(whole, "<|channel|>"), recipient = behind(whole, " to=");
    if (recipient.size == 0 && slice_starts(whole, slice_text("to="))) recipient = behind(whole, "to=");
    if (recipient.size > 0) {
        if (slice_starts(recipient, prefix)) recipient = slice_from(recipient, prefix.size);
        call->name = keep(call, recipient);
        return recipient.size > 0 ? next(call, text.size + strlen(step->text)) : FAIL;
    }
    bool reasoning = slice_is(channel, "analysis");
    if (!reasoning && !slice_is(channel, "final") && !slice_is(channel, "commentary")) return FAIL;
    next(call, text.size + strlen(step->text));
    return reasoning ? FINISH_REASONING : FINISH_ANSWER;
}

static enum outcome done(struct chat_stream_call *call, const struct chat_stream_step *step,
                         struct chat_stream_held held) {
    (void)step, (void)held;
    if (call->name.size > 0) {
        if (call->arguments.size == 0) buffer_append_byte(&call->arguments, '{');
        if (call->key.size > 0 || call->arguments.size == 1) buffer_append_byte(&call->arguments, '}');
        if (!end_call(call, buffer_slice(&call->arguments))) return FAIL;
    }
    return call->found_count > 0 ? FINISH_CALLS : FAIL;
}

// --- The machine ---------------------------------------------------------------------------------------

static step_fn *const operations[] = {
    [CHAT_STREAM_TEXT] = literal, [CHAT_STREAM_CLOSE] = closing, [CHAT_STREAM_BLANK] = blank,
    [CHAT_STREAM_TRY] = try_literal, [CHAT_STREAM_SEE] = try_literal, [CHAT_STREAM_JUMP] = jump,
    [CHAT_STREAM_NAME] = name, [CHAT_STREAM_ID] = name, [CHAT_STREAM_PATH] = path,
    [CHAT_STREAM_KEY] = key, [CHAT_STREAM_VALUE] = value, [CHAT_STREAM_LINES] = value,
    [CHAT_STREAM_CDATA] = value, [CHAT_STREAM_STRING] = value, [CHAT_STREAM_VERBATIM] = value,
    [CHAT_STREAM_JSON] = json, [CHAT_STREAM_CALL] = json, [CHAT_STREAM_CALLS] = json,
    [CHAT_STREAM_PYTHON] = loose, [CHAT_STREAM_GEMMA] = loose, [CHAT_STREAM_BARE] = bare,
    [CHAT_STREAM_HEADER] = header, [CHAT_STREAM_DONE] = done,
};

// What follows the last value does not fit: its end was a part of it, unless it was a control token.
static bool go_back(struct chat_stream_call *call) {
    if (!call->value.pending || call->value.final) return false;
    call->value.pending = false;
    call->step = call->value.step;
    call->at = call->value.at;
    call->scan = call->value.size + 1;
    return true;
}

enum chat_stream_result chat_stream_call_run(struct chat_stream_call *call, struct chat_stream_held held) {
    for (;;) {
        const struct chat_stream_step *step = &call->format->steps[call->step];
        switch (operations[step->op](call, step, held)) {
        case GO_ON: break;
        case WAIT: return CHAT_STREAM_MORE;
        case FINISH_CALLS: return CHAT_STREAM_FOUND;
        case FINISH_REASONING: return CHAT_STREAM_REASONING;
        case FINISH_ANSWER: return CHAT_STREAM_ANSWER;
        case FAIL:
            if (!go_back(call)) return CHAT_STREAM_FAILED;
        }
    }
}

enum chat_stream_result chat_stream_call_finish(struct chat_stream_call *call, struct chat_stream_held held) {
    for (;; call->step++) {
        const struct chat_stream_step *step = &call->format->steps[call->step];
        switch (step->op) {
        case CHAT_STREAM_BLANK: break; // the stream ended with or after it
        case CHAT_STREAM_TRY:
        case CHAT_STREAM_SEE:
        case CHAT_STREAM_JUMP: call->step = (uint8_t)(call->step + step->jump - 1); break;
        case CHAT_STREAM_CLOSE: call->cut |= call->start == 0; break;
        case CHAT_STREAM_DONE:
            return done(call, step, held) == FINISH_CALLS ? CHAT_STREAM_FOUND : CHAT_STREAM_FAILED;
        default: return CHAT_STREAM_FAILED;
        }
    }
}
