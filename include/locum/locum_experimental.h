// SPDX-License-Identifier: Apache-2.0
//
// What may still change. Same rules as locum.h.
#ifndef LOCUM_LOCUM_EXPERIMENTAL_H
#define LOCUM_LOCUM_EXPERIMENTAL_H

#include <locum/locum.h>

#ifdef __cplusplus
extern "C" {
#endif

// An engine without a model: its answers are given. For tests of everything that stands above the engine
// (event handling, rendering, stream parsers, servers). Tokens are bytes: id = value of the byte, 256 ends
// the answer. Each locum_generate gives the next answer, then starts again from the first.
typedef struct locum_script {
    uint32_t struct_size;
    const char *const *answers; // NUL-terminated; may hold any bytes but zero
    uint32_t answer_count;      // >= 1
    uint32_t piece_bytes;       // bytes per token event, >= 1
    uint32_t context;           // tokens; 0: 4096
} locum_script;
LOCUM_API void locum_script_init(locum_script *script);
LOCUM_API locum_status locum_model_open_scripted(const locum_script *script, locum_model **out,
                                                 locum_error *error);

// ---------------------------------------------------------------------------------------------
// Messages of a conversation
// ---------------------------------------------------------------------------------------------
// In the shape of OpenAI's API: role, content (a text, null, or a list of text parts), reasoning
// (reasoning_content, reasoning or thinking), tool_calls, tool_call_id, and whatever else a template reads.
typedef struct locum_messages locum_messages;

LOCUM_API locum_status locum_messages_create(locum_messages **out, locum_error *error);
LOCUM_API void locum_messages_close(locum_messages *messages);

// A message of text. reasoning may be NULL. UTF-8.
LOCUM_API locum_status locum_messages_add(locum_messages *messages, const char *role,
                                          const char *text, size_t text_size,
                                          const char *reasoning, size_t reasoning_size,
                                          locum_error *error);
// Appends JSON: a list of messages, an object with the list "messages", or one message. After an error
// nothing of it is there; the text names the message.
LOCUM_API locum_status locum_messages_read(locum_messages *messages, const char *json, size_t size,
                                           locum_error *error);
LOCUM_API uint32_t locum_messages_count(const locum_messages *messages);
LOCUM_API void locum_messages_truncate(locum_messages *messages, uint32_t count); // keeps the first ones

// What this gives lives until the next call with this handle.
typedef struct locum_message {
    const char *role, *text, *reasoning; // NUL-terminated; "" for none. Parts are joined by newlines
    size_t text_size, reasoning_size;
    const char *tool_calls; // JSON list; "": none
} locum_message;
LOCUM_API locum_status locum_messages_get(locum_messages *messages, uint32_t index,
                                          locum_message *out, locum_error *error);
// All of them as a JSON list that locum_messages_read takes.
LOCUM_API locum_status locum_messages_write(locum_messages *messages, const char **json,
                                            size_t *size, locum_error *error);

// ---------------------------------------------------------------------------------------------
// Chat templates: from messages to the tokens of a prompt
// ---------------------------------------------------------------------------------------------
typedef struct locum_chat locum_chat;

typedef struct locum_chat_options {
    uint32_t struct_size;
    // One of them at most. name: "chatml" is built in; any other is tokenizer.chat_template.NAME of the
    // file. source: a template of the host's. Neither: the file's tokenizer.chat_template, and its variant
    // "tool_use" for requests with tools where it has one.
    const char *name;
    const char *source;
    size_t source_size;
} locum_chat_options;
LOCUM_API void locum_chat_options_init(locum_chat_options *options);

// options may be NULL. tokenizer: NULL for a model that was opened scripted, whose tokens are bytes; file may
// be NULL then. LOCUM_E_NOT_FOUND if the file does not have the template; one that cannot be read is
// LOCUM_E_FORMAT or LOCUM_E_UNSUPPORTED with line and column, and never replaced by another.
LOCUM_API locum_status locum_chat_open(const locum_file *file, const locum_tokenizer *tokenizer,
                                       const locum_chat_options *options, locum_chat **out,
                                       locum_error *error);
LOCUM_API void locum_chat_close(locum_chat *chat);

typedef enum locum_chat_thinking {
    LOCUM_CHAT_THINKING_DEFAULT, // as the template does when it is told nothing
    LOCUM_CHAT_THINKING_ON,
    LOCUM_CHAT_THINKING_OFF
} locum_chat_thinking;
// What turns thinking off.
typedef enum locum_chat_switch {
    LOCUM_CHAT_SWITCH_TEMPLATE, // the template
    LOCUM_CHAT_SWITCH_PREFILL,  // an empty reasoning behind the prompt, as the template writes one
    LOCUM_CHAT_SWITCH_FIXED,    // nothing that is known
    LOCUM_CHAT_SWITCH_ABSENT    // there is no reasoning to turn off
} locum_chat_switch;

typedef struct locum_chat_info {
    const char *name;   // "tokenizer.chat_template", "chatml", "given"
    const char *source; // the template
    size_t source_size;
    locum_chat_switch thinking;
    // Tokens that end an answer because the template ends messages with them; for locum_request.ends.
    const locum_token *ends;
    uint32_t end_count;
} locum_chat_info;
LOCUM_API void locum_chat_get_info(const locum_chat *chat, locum_chat_info *out);

// Local or any other time, for templates that write the date. All zero: the current time, UTC.
typedef struct locum_time {
    int32_t year, month, day, hour, minute, second; // month and day from 1
} locum_time;

typedef struct locum_render {
    uint32_t struct_size;
    bool closed;  // no beginning of an answer behind the messages
    bool go_on;   // the last message, an assistant's, is not over: the prompt ends with its text
    locum_chat_thinking thinking;
    const char *reasoning_effort; // "low", "high", ...; NULL: not said
    const char *tools;            // JSON list in OpenAI's shape, NULL: none
    const char *arguments; // JSON object: further variables of the template, which win over all; NULL: none
    locum_time now;
} locum_render;
LOCUM_API void locum_render_init(locum_render *render);

// Lives until the next call with this chat.
typedef struct locum_prompt {
    const locum_token *ids;
    size_t id_count;
    const char *text; // that the ids stand for, NUL-terminated
    size_t text_size;
} locum_prompt;
// Only what the template itself spells becomes special tokens, never text of a message, a name or a tool.
// BOS stands at the beginning once. LOCUM_E_ARGUMENT with the template's own words where it refuses.
LOCUM_API locum_status locum_chat_render(locum_chat *chat, const locum_messages *messages,
                                         const locum_render *render, locum_prompt *out,
                                         locum_error *error);

#ifdef __cplusplus
}
#endif
#endif
