// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the messages of a conversation: reading them in the shape of OpenAI's API, keeping them in one
//            canonical form, writing them back.
// Called by: engine (the public locum_messages), chat_template, chat_probe.
// Threads:   one at a time; reading from several is fine.
// Errors:    E_ARGUMENT naming the message and the field; E_FORMAT for what is no JSON; E_OUT_OF_MEMORY.
//            After an error the list is as before.
// Not here:  what a template wants to see (chat_fit.h).
//
// The canonical form of a message, a dict:
//   role               a text
//   content            a text, a list of parts {"type": "text", "text": ...}, or none
//   reasoning_content  a text; read as reasoning_content, reasoning or thinking; absent when empty
//   tool_calls         a list of at least one {"id", "type": "function", "function": {"name", "arguments"}};
//                      arguments are a dict or a text, whichever was given
//   tool_call_id       of a tool's message
//   ...                whatever else was given and is not null
// Calls without an id get one; a tool's message without one answers the first call that is not answered.
#ifndef CHAT_MESSAGE_H
#define CHAT_MESSAGE_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/slice.h"
#include "base/status.h"
#include "jinja/jinja_value.h"

struct chat_messages {
    struct arena arena;
    struct jinja_value list; // LIST of DICT
    uint32_t calls;          // that were given an id
};

locum_status chat_message_open(struct chat_messages *out, locum_error *error);
void chat_message_close(struct chat_messages *messages);

static inline size_t chat_message_count(const struct chat_messages *messages) {
    return messages->list.list->count;
}
static inline struct jinja_value chat_message_at(const struct chat_messages *messages,
                                                 size_t index) {
    return messages->list.list->items[index];
}

// A message of text. reasoning may be empty.
locum_status chat_message_add(struct chat_messages *messages, struct slice role,
                              struct slice content, struct slice reasoning, locum_error *error);
// Appends a list of messages, the list "messages" of an object, or one message.
locum_status chat_message_read(struct chat_messages *messages, struct slice json,
                               locum_error *error);
// Keeps the first ones.
void chat_message_truncate(struct chat_messages *messages, size_t count);
// A JSON list, a line for each message. Appends to out.
locum_status chat_message_write(const struct chat_messages *messages, struct buffer *out,
                                locum_error *error);
// The text of a message, parts joined by newlines. Appends to out; false: no memory.
bool chat_message_text(struct jinja_value content, struct buffer *out);

#endif
