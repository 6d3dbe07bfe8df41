// SPDX-License-Identifier: Apache-2.0
#include "chat/chat_message.h"

#include <stdio.h>

#include "base/utf8.h"
#include "chat/chat_json.h"
#include "jinja/jinja_json.h"

// One message on its way into the list.
struct reader {
    struct chat_messages *messages;
    size_t number; // of the message, from 1
    struct jinja_value given, out;
    locum_error *error;
};

static locum_status no_memory(locum_error *error) {
    return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for the messages");
}

static locum_status fail(const struct reader *r, const char *what) {
    return status_fail(r->error, LOCUM_E_ARGUMENT, "message %zu: %s", r->number, what);
}

static bool set(struct reader *r, const char *key, struct jinja_value value) {
    return jinja_dict_set_text(&r->messages->arena, r->out.dict, key, value);
}

// ---- content -----------------------------------------------------------------------------------
static bool is_text_type(struct slice type) {
    return slice_is(type, "text") || slice_is(type, "input_text") || slice_is(type, "output_text");
}

static locum_status read_part(struct reader *r, size_t index, struct jinja_value part,
                              struct jinja_value *out) {
    struct arena *arena = &r->messages->arena;
    struct slice type = chat_json_text(part, "type");
    const struct jinja_value *text = chat_json_item(part, "text");
    if (!is_text_type(type)) {
        return status_fail(r->error, LOCUM_E_ARGUMENT,
                           "message %zu: part %zu of the content has the type '%.*s'; only text is "
                           "supported",
                           r->number, index + 1, (int)type.size, type.size ? type.data : "");
    }
    if (!text || text->kind != JINJA_STRING) {
        return status_fail(r->error, LOCUM_E_ARGUMENT,
                           "message %zu: part %zu of the content has no text", r->number, index + 1);
    }
    return jinja_dict_new(arena, JINJA_DICT, out) &&
                   chat_json_set_text(arena, *out, "type", slice_text("text")) &&
                   jinja_dict_set_text(arena, out->dict, "text", *text)
               ? LOCUM_OK
               : no_memory(r->error);
}

static locum_status read_content(struct reader *r) {
    const struct jinja_value *given = chat_json_item(r->given, "content");
    struct jinja_value content = given ? *given : jinja_none();
    if (content.kind == JINJA_LIST) {
        struct jinja_value parts;
        if (!jinja_list_new(&r->messages->arena, JINJA_LIST, &parts)) {
            return no_memory(r->error);
        }
        for (size_t i = 0; i < content.list->count; i++) {
            struct jinja_value part;
            STATUS_TRY(read_part(r, i, content.list->items[i], &part));
            if (!jinja_list_add(&r->messages->arena, parts.list, part)) {
                return no_memory(r->error);
            }
        }
        content = parts.list->count > 0 ? parts : jinja_none();
    } else if (content.kind != JINJA_STRING && content.kind != JINJA_NONE) {
        return fail(r, "content is a text, null or a list of parts");
    }
    return set(r, "content", content) ? LOCUM_OK : no_memory(r->error);
}

static locum_status read_reasoning(struct reader *r) {
    static const char *const names[] = {"reasoning_content", "reasoning", "thinking"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct slice text = chat_json_text(r->given, names[i]);
        if (text.size == 0) {
            continue;
        }
        return set(r, "reasoning_content", *chat_json_item(r->given, names[i]))
                   ? LOCUM_OK
                   : no_memory(r->error);
    }
    return LOCUM_OK;
}

// ---- tools -------------------------------------------------------------------------------------
// Nine letters and digits, which is what the strictest templates ask for.
static bool make_id(struct reader *r, struct jinja_value *out) {
    char id[16];
    snprintf(id, sizeof id, "call%05u", ++r->messages->calls % 100000);
    return chat_json_string(&r->messages->arena, slice_text(id), out);
}

static locum_status read_call(struct reader *r, struct jinja_value given, struct jinja_value *out) {
    struct arena *arena = &r->messages->arena;
    const struct jinja_value *nested = chat_json_item(given, "function");
    struct jinja_value source = nested ? *nested : given, function, empty;
    const struct jinja_value *name = chat_json_item(source, "name");
    const struct jinja_value *arguments = chat_json_item(source, "arguments");
    const struct jinja_value *id = chat_json_item(given, "id");
    struct jinja_value own_id;
    if (!name || name->kind != JINJA_STRING) {
        return fail(r, "a tool call has no name of a function");
    }
    if (arguments && arguments->kind != JINJA_STRING && arguments->kind != JINJA_DICT) {
        return fail(r, "the arguments of a tool call are an object, or its JSON as a text");
    }
    if (!id && !make_id(r, &own_id)) {
        return no_memory(r->error);
    }
    return jinja_dict_new(arena, JINJA_DICT, out) && jinja_dict_new(arena, JINJA_DICT, &function) &&
                   jinja_dict_new(arena, JINJA_DICT, &empty) &&
                   jinja_dict_set_text(arena, out->dict, "id", id ? *id : own_id) &&
                   chat_json_set_text(arena, *out, "type", slice_text("function")) &&
                   jinja_dict_set_text(arena, function.dict, "name", *name) &&
                   jinja_dict_set_text(arena, function.dict, "arguments",
                                       arguments ? *arguments : empty) &&
                   jinja_dict_set_text(arena, out->dict, "function", function)
               ? LOCUM_OK
               : no_memory(r->error);
}

static locum_status read_calls(struct reader *r) {
    const struct jinja_value *given = chat_json_item(r->given, "tool_calls");
    struct jinja_value calls;
    if (!given || (given->kind == JINJA_LIST && given->list->count == 0)) {
        return LOCUM_OK;
    }
    if (given->kind != JINJA_LIST) {
        return fail(r, "tool_calls is a list");
    }
    if (!jinja_list_new(&r->messages->arena, JINJA_LIST, &calls)) {
        return no_memory(r->error);
    }
    for (size_t i = 0; i < given->list->count; i++) {
        struct jinja_value call;
        STATUS_TRY(read_call(r, given->list->items[i], &call));
        if (!jinja_list_add(&r->messages->arena, calls.list, call)) {
            return no_memory(r->error);
        }
    }
    return set(r, "tool_calls", calls) ? LOCUM_OK : no_memory(r->error);
}

// Tools' messages behind the last message that has calls.
static size_t answers_since(const struct chat_messages *messages, size_t *caller) {
    size_t count = chat_message_count(messages), answers = 0;
    for (*caller = count; *caller > 0; (*caller)--) {
        struct jinja_value message = chat_message_at(messages, *caller - 1);
        if (chat_json_item(message, "tool_calls")) {
            break;
        }
        answers += slice_is(chat_json_text(message, "role"), "tool");
    }
    return answers;
}

static locum_status read_call_id(struct reader *r) {
    const struct jinja_value *id = chat_json_item(r->given, "tool_call_id");
    size_t caller, answers = answers_since(r->messages, &caller);
    if (!slice_is(chat_json_text(r->out, "role"), "tool")) {
        return LOCUM_OK;
    }
    if (!id && caller > 0) {
        struct jinja_value calls =
            *chat_json_item(chat_message_at(r->messages, caller - 1), "tool_calls");
        if (answers < calls.list->count) {
            id = chat_json_item(calls.list->items[answers], "id");
        }
    }
    return !id || set(r, "tool_call_id", *id) ? LOCUM_OK : no_memory(r->error);
}

// ---- messages ----------------------------------------------------------------------------------
static locum_status read_others(struct reader *r) {
    static const char *const known[] = {"role",      "content",  "reasoning_content",
                                        "reasoning", "thinking", "tool_calls",
                                        "tool_call_id"};
    for (size_t i = 0; i < r->given.dict->count; i++) {
        struct jinja_entry entry = r->given.dict->entries[i];
        size_t at = 0;
        while (at < sizeof known / sizeof *known &&
               !slice_is(jinja_value_text(entry.key), known[at])) {
            at++;
        }
        if (at < sizeof known / sizeof *known || entry.value.kind == JINJA_NONE) {
            continue;
        }
        if (!jinja_dict_set(&r->messages->arena, r->out.dict, entry.key, entry.value)) {
            return no_memory(r->error);
        }
    }
    return LOCUM_OK;
}

static locum_status read_message(struct reader *r) {
    const struct jinja_value *role = chat_json_item(r->given, "role");
    if (r->given.kind != JINJA_DICT) {
        return fail(r, "a message is an object");
    }
    if (!role || role->kind != JINJA_STRING || role->string->size == 0) {
        return fail(r, "role is missing");
    }
    if (!jinja_dict_new(&r->messages->arena, JINJA_DICT, &r->out) || !set(r, "role", *role)) {
        return no_memory(r->error);
    }
    STATUS_TRY(read_content(r));
    STATUS_TRY(read_reasoning(r));
    STATUS_TRY(read_calls(r));
    STATUS_TRY(read_call_id(r));
    STATUS_TRY(read_others(r));
    return jinja_list_add(&r->messages->arena, r->messages->list.list, r->out)
               ? LOCUM_OK
               : no_memory(r->error);
}

locum_status chat_message_open(struct chat_messages *out, locum_error *error) {
    *out = (struct chat_messages){0};
    arena_init(&out->arena, 0);
    return jinja_list_new(&out->arena, JINJA_LIST, &out->list) ? LOCUM_OK : no_memory(error);
}

void chat_message_close(struct chat_messages *messages) {
    arena_release(&messages->arena);
}

void chat_message_truncate(struct chat_messages *messages, size_t count) {
    if (count < chat_message_count(messages)) {
        messages->list.list->count = count;
    }
}

static locum_status append(struct chat_messages *messages, struct jinja_value given,
                           locum_error *error) {
    size_t before = chat_message_count(messages);
    bool one = given.kind != JINJA_LIST;
    size_t count = one ? 1 : given.list->count;
    for (size_t i = 0; i < count; i++) {
        struct reader reader = {.messages = messages,
                                .number = before + i + 1,
                                .given = one ? given : given.list->items[i],
                                .error = error};
        locum_status status = read_message(&reader);
        if (status != LOCUM_OK) {
            chat_message_truncate(messages, before);
            return status;
        }
    }
    return LOCUM_OK;
}

locum_status chat_message_read(struct chat_messages *messages, struct slice json,
                               locum_error *error) {
    struct jinja_value value;
    STATUS_TRY(jinja_json_read(json, &messages->arena, JINJA_DATA, &value, error));
    const struct jinja_value *inner = chat_json_item(value, "messages");
    if (inner) {
        if (inner->kind != JINJA_LIST) {
            return status_fail(error, LOCUM_E_ARGUMENT, "messages is a list");
        }
        value = *inner;
    }
    return append(messages, value, error);
}

// Where a text stops being UTF-8; its size if it does not.
static size_t bad_byte(struct slice text) {
    size_t at = 0;
    while (at < text.size) {
        struct utf8_step step = utf8_next(slice_from(text, at));
        if (step.kind != UTF8_CHARACTER) {
            break;
        }
        at += step.size;
    }
    return at;
}

locum_status chat_message_add(struct chat_messages *messages, struct slice role,
                              struct slice content, struct slice reasoning, locum_error *error) {
    const struct {
        const char *key;
        struct slice text;
    } fields[] = {{"role", role}, {"content", content}, {"reasoning_content", reasoning}};
    struct jinja_value message;
    if (!jinja_dict_new(&messages->arena, JINJA_DICT, &message)) {
        return no_memory(error);
    }
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        size_t bad = bad_byte(fields[i].text);
        if (bad < fields[i].text.size) {
            return status_fail(error, LOCUM_E_ARGUMENT, "message %zu: %s is not UTF-8 (byte %zu)",
                               chat_message_count(messages) + 1, fields[i].key, bad);
        }
        if (!chat_json_set_text(&messages->arena, message, fields[i].key, fields[i].text)) {
            return no_memory(error);
        }
    }
    return append(messages, message, error);
}

locum_status chat_message_write(const struct chat_messages *messages, struct buffer *out,
                                locum_error *error) {
    size_t count = chat_message_count(messages);
    buffer_append_text(out, "[");
    for (size_t i = 0; i < count; i++) {
        buffer_append_text(out, i > 0 ? ",\n" : "\n");
        STATUS_TRY(chat_json_write(chat_message_at(messages, i), out, error));
    }
    return buffer_append_text(out, count > 0 ? "\n]\n" : "]\n") ? LOCUM_OK : no_memory(error);
}

bool chat_message_text(struct jinja_value content, struct buffer *out) {
    if (content.kind == JINJA_STRING) {
        buffer_append(out, content.string->data, content.string->size);
    }
    for (size_t i = 0; content.kind == JINJA_LIST && i < content.list->count; i++) {
        struct slice text = chat_json_text(content.list->items[i], "text");
        if (i > 0) {
            buffer_append_byte(out, '\n');
        }
        buffer_append(out, text.data, text.size);
    }
    return !out->failed;
}
