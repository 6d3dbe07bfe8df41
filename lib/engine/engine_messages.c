// SPDX-License-Identifier: Apache-2.0
#include "engine/engine_messages.h"

#include <locum/locum_experimental.h>

#include "chat/chat_json.h"

static locum_status no_memory(locum_error *error) {
    return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for the messages");
}

locum_status locum_messages_create(locum_messages **out, locum_error *error) {
    if (!out) return status_fail(error, LOCUM_E_ARGUMENT, "locum_messages_create: out is NULL");
    *out = NULL;
    struct locum_messages *messages = heap_resize(NULL, sizeof *messages);
    if (!messages) return no_memory(error);
    *messages = (struct locum_messages){0};
    locum_status status = chat_message_open(&messages->messages, error);
    if (status != LOCUM_OK) {
        locum_messages_close(messages);
        return status;
    }
    *out = messages;
    return LOCUM_OK;
}

void locum_messages_close(locum_messages *messages) {
    if (!messages) return;
    chat_message_close(&messages->messages);
    buffer_release(&messages->shown);
    heap_free(messages);
}

locum_status locum_messages_add(locum_messages *messages, const char *role, const char *text,
                                size_t text_size, const char *reasoning, size_t reasoning_size,
                                locum_error *error) {
    if (!messages || !role || (!text && text_size > 0) || (!reasoning && reasoning_size > 0))
        return status_fail(error, LOCUM_E_ARGUMENT, "locum_messages_add: an argument is NULL");
    return chat_message_add(&messages->messages, slice_text(role), slice_make(text, text_size),
                            slice_make(reasoning, reasoning_size), error);
}

locum_status locum_messages_read(locum_messages *messages, const char *json, size_t size,
                                 locum_error *error) {
    if (!messages || !json)
        return status_fail(error, LOCUM_E_ARGUMENT, "locum_messages_read: an argument is NULL");
    return chat_message_read(&messages->messages, slice_make(json, size), error);
}

uint32_t locum_messages_count(const locum_messages *messages) {
    return (uint32_t)chat_message_count(&messages->messages);
}

void locum_messages_truncate(locum_messages *messages, uint32_t count) {
    chat_message_truncate(&messages->messages, count);
}

// Four texts, each terminated: role, text, reasoning, calls. Where each begins goes to `at`.
static locum_status show(struct locum_messages *messages, struct jinja_value message, size_t at[5],
                         locum_error *error) {
    static const char *const keys[] = {"role", "content", "reasoning_content", "tool_calls"};
    struct buffer *out = &messages->shown;
    out->size = 0;
    for (size_t i = 0; i < 4; i++) {
        const struct jinja_value *value = chat_json_item(message, keys[i]);
        at[i] = out->size;
        if (value && i < 3) chat_message_text(*value, out);
        if (value && i == 3) STATUS_TRY(chat_json_write(*value, out, error));
        buffer_append_byte(out, '\0');
    }
    at[4] = out->size;
    return out->failed ? no_memory(error) : LOCUM_OK;
}

locum_status locum_messages_get(locum_messages *messages, uint32_t index, locum_message *out,
                                locum_error *error) {
    if (!messages || !out || index >= locum_messages_count(messages))
        return status_fail(error, LOCUM_E_ARGUMENT, "locum_messages_get: there is no message %u",
                           index);
    size_t at[5];
    STATUS_TRY(show(messages, chat_message_at(&messages->messages, index), at, error));
    const char *data = messages->shown.data;
    *out = (locum_message){.role = data + at[0],
                           .text = data + at[1],
                           .reasoning = data + at[2],
                           .text_size = at[2] - at[1] - 1,
                           .reasoning_size = at[3] - at[2] - 1,
                           .tool_calls = data + at[3]};
    return LOCUM_OK;
}

locum_status locum_messages_write(locum_messages *messages, const char **json, size_t *size,
                                  locum_error *error) {
    if (!messages || !json || !size)
        return status_fail(error, LOCUM_E_ARGUMENT, "locum_messages_write: an argument is NULL");
    messages->shown.size = 0;
    STATUS_TRY(chat_message_write(&messages->messages, &messages->shown, error));
    *json = buffer_text(&messages->shown);
    *size = messages->shown.size;
    return *json ? LOCUM_OK : no_memory(error);
}
