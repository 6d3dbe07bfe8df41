// SPDX-License-Identifier: Apache-2.0
#include "chat/chat_fit.h"

#include "chat/chat_json.h"
#include "jinja/jinja_json.h"

struct fit {
    const struct chat_traits *traits;
    struct arena *arena;
    struct slice suffix; // of the message
    locum_error *error;
};

static locum_status no_memory(const struct fit *f) {
    return status_fail(f->error, LOCUM_E_OUT_OF_MEMORY, "no memory for the messages");
}

static locum_status new_dict(const struct fit *f, struct jinja_value *out) {
    if (!jinja_dict_new(f->arena, JINJA_DICT, out)) {
        return no_memory(f);
    }
    out->dict->fixed = true;
    return LOCUM_OK;
}

static locum_status new_list(const struct fit *f, struct jinja_value *out) {
    if (!jinja_list_new(f->arena, JINJA_LIST, out)) {
        return no_memory(f);
    }
    out->list->fixed = true;
    return LOCUM_OK;
}

static locum_status set(const struct fit *f, struct jinja_value dict, const char *key,
                        struct jinja_value value) {
    return jinja_dict_set_text(f->arena, dict.dict, key, value) ? LOCUM_OK : no_memory(f);
}

static locum_status take_text(const struct fit *f, struct buffer *text, struct jinja_value *out) {
    bool made = !text->failed && chat_json_string(f->arena, buffer_slice(text), out);
    buffer_release(text);
    return made ? LOCUM_OK : no_memory(f);
}

// ---- content -----------------------------------------------------------------------------------
static locum_status text_content(const struct fit *f, struct jinja_value content,
                                 struct jinja_value *out) {
    struct buffer text = {0};
    chat_message_text(content, &text);
    buffer_append(&text, f->suffix.data, f->suffix.size);
    return take_text(f, &text, out);
}

static locum_status add_part(const struct fit *f, struct jinja_value list, struct jinja_value text) {
    struct jinja_value part, type;
    STATUS_TRY(new_dict(f, &part));
    if (!chat_json_string(f->arena, slice_text("text"), &type)) {
        return no_memory(f);
    }
    STATUS_TRY(set(f, part, "type", type));
    STATUS_TRY(set(f, part, "text", text));
    return jinja_list_add(f->arena, list.list, part) ? LOCUM_OK : no_memory(f);
}

static locum_status part_content(const struct fit *f, struct jinja_value content,
                                 struct jinja_value *out) {
    bool list = content.kind == JINJA_LIST;
    size_t count = list ? content.list->count : 1;
    STATUS_TRY(new_list(f, out));
    for (size_t i = 0; i < count; i++) {
        struct jinja_value text = content;
        if (list) {
            text = *chat_json_item(content.list->items[i], "text");
        }
        if (i + 1 == count && (f->suffix.size > 0 || text.kind != JINJA_STRING)) {
            STATUS_TRY(text_content(f, text, &text));
        }
        STATUS_TRY(add_part(f, *out, text));
    }
    return LOCUM_OK;
}

static locum_status fit_content(const struct fit *f, struct jinja_value message, bool calls,
                                struct jinja_value *out) {
    const struct jinja_value *given = chat_json_item(message, "content");
    struct jinja_value content = given ? *given : jinja_none();
    bool empty = !given || (given->kind == JINJA_STRING && given->string->size == 0);
    bool parts = content.kind == JINJA_LIST;
    if (calls && empty && f->suffix.size == 0 && f->traits->calls_need_null) {
        *out = jinja_none();
        return LOCUM_OK;
    }
    if (f->traits->takes_parts && (parts || !f->traits->takes_text)) {
        return part_content(f, content, out);
    }
    if (content.kind == JINJA_STRING && f->suffix.size == 0) {
        *out = content;
        return LOCUM_OK;
    }
    return text_content(f, content, out);
}

// ---- tool calls --------------------------------------------------------------------------------
static locum_status fit_arguments(const struct fit *f, struct jinja_value given,
                                  struct jinja_value *out) {
    const struct chat_traits *traits = f->traits;
    *out = given;
    if (given.kind == JINJA_DICT && !traits->object_arguments && traits->text_arguments) {
        struct buffer text = {0};
        locum_status status = chat_json_write(given, &text, f->error);
        if (status != LOCUM_OK) {
            buffer_release(&text);
            return status;
        }
        return take_text(f, &text, out);
    }
    if (given.kind == JINJA_STRING && !traits->text_arguments && traits->object_arguments) {
        // Text that is no object stays: the template shows it or says what is wrong with it.
        struct slice text = jinja_value_text(given);
        struct jinja_value parsed;
        locum_error ignored;
        if (jinja_json_read(text.size ? text : slice_text("{}"), f->arena, JINJA_DATA, &parsed,
                            &ignored) == LOCUM_OK &&
            parsed.kind == JINJA_DICT) {
            *out = parsed;
        }
    }
    return LOCUM_OK;
}

static locum_status fit_call(const struct fit *f, struct jinja_value given,
                             struct jinja_value *out) {
    struct jinja_value from = *chat_json_item(given, "function"), function, arguments;
    STATUS_TRY(fit_arguments(f, *chat_json_item(from, "arguments"), &arguments));
    STATUS_TRY(new_dict(f, &function));
    STATUS_TRY(set(f, function, "name", *chat_json_item(from, "name")));
    STATUS_TRY(set(f, function, "arguments", arguments));
    STATUS_TRY(new_dict(f, out));
    STATUS_TRY(set(f, *out, "id", *chat_json_item(given, "id")));
    STATUS_TRY(set(f, *out, "type", *chat_json_item(given, "type")));
    return set(f, *out, "function", function);
}

static locum_status fit_calls(const struct fit *f, struct jinja_value given,
                              struct jinja_value *out) {
    STATUS_TRY(new_list(f, out));
    for (size_t i = 0; i < given.list->count; i++) {
        struct jinja_value call;
        STATUS_TRY(fit_call(f, given.list->items[i], &call));
        if (!jinja_list_add(f->arena, out->list, call)) {
            return no_memory(f);
        }
    }
    return LOCUM_OK;
}

// ---- messages ----------------------------------------------------------------------------------
static locum_status set_reasoning(const struct fit *f, struct jinja_value out,
                                  struct jinja_value reasoning) {
    if (f->traits->reasoning_name) {
        return set(f, out, "reasoning_content", reasoning);
    }
    STATUS_TRY(set(f, out, "thinking", reasoning));
    return set(f, out, "reasoning", reasoning);
}

// The text goes to the end of the reasoning.
static locum_status join_reasoning(const struct fit *f, struct jinja_value message,
                                   struct jinja_value *reasoning) {
    struct buffer text = {0};
    chat_message_text(*reasoning, &text);
    buffer_append_byte(&text, '\n');
    chat_message_text(*chat_json_item(message, "content"), &text);
    return take_text(f, &text, reasoning);
}

static locum_status fit_field(const struct fit *f, struct jinja_value message,
                              struct jinja_entry entry, struct jinja_value out) {
    struct slice key = jinja_value_text(entry.key);
    struct jinja_value value = entry.value;
    bool calls = chat_json_item(message, "tool_calls"), reasons = chat_json_item(message, "reasoning_content");
    bool joins = f->traits->joins_reasoning && calls && reasons && chat_json_item(message, "content");
    if (slice_is(key, "role") && slice_is(jinja_value_text(value), "developer") &&
        !f->traits->developer) {
        return chat_json_set_text(f->arena, out, "role", slice_text("system")) ? LOCUM_OK
                                                                              : no_memory(f);
    }
    if (slice_is(key, "content")) {
        STATUS_TRY(joins ? text_content(f, jinja_none(), &value)
                         : fit_content(f, message, calls, &value));
    } else if (slice_is(key, "tool_calls")) {
        STATUS_TRY(fit_calls(f, value, &value));
    } else if (slice_is(key, "reasoning_content")) {
        if (joins) {
            STATUS_TRY(join_reasoning(f, message, &value));
        }
        return set_reasoning(f, out, value);
    }
    return jinja_dict_set(f->arena, out.dict, entry.key, value) ? LOCUM_OK : no_memory(f);
}

locum_status chat_fit(const struct chat_messages *messages, const struct chat_traits *traits,
                      struct slice suffix, struct arena *arena, struct jinja_value *out,
                      locum_error *error) {
    struct fit fit = {traits, arena, {NULL, 0}, error};
    size_t count = chat_message_count(messages);
    STATUS_TRY(new_list(&fit, out));
    for (size_t i = 0; i < count; i++) {
        struct jinja_value message = chat_message_at(messages, i), made;
        fit.suffix = i + 1 == count ? suffix : slice_make(NULL, 0);
        STATUS_TRY(new_dict(&fit, &made));
        for (size_t j = 0; j < message.dict->count; j++) {
            STATUS_TRY(fit_field(&fit, message, message.dict->entries[j], made));
        }
        if (!jinja_list_add(arena, out->list, made)) {
            return no_memory(&fit);
        }
    }
    return LOCUM_OK;
}
