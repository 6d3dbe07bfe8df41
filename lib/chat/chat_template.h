// SPDX-License-Identifier: Apache-2.0
//
// Owns:      a chat template that is ready for use: what it understands, and turning messages into the text
//            of a prompt with the origin of each byte.
// Called by: engine.
// Threads:   read-only after open: any.
// Errors:    open: those of jinja_open (a template that cannot be read is never replaced). render: E_ARGUMENT
//            with the template's own message, or for settings that contradict the messages;
//            E_OUT_OF_MEMORY.
// Not here:  where a template comes from, tokens (engine), the answer (chat_stream.h).
#ifndef CHAT_TEMPLATE_H
#define CHAT_TEMPLATE_H

#include "chat/chat_fit.h"
#include "jinja/jinja.h"

enum chat_thinking { CHAT_THINKING_DEFAULT, CHAT_THINKING_ON, CHAT_THINKING_OFF };

// What turns a model's thinking off.
enum chat_switch {
    CHAT_SWITCH_TEMPLATE, // the template, when it is told
    CHAT_SWITCH_PREFILL,  // an empty reasoning behind the prompt, as the template writes one
    CHAT_SWITCH_FIXED,    // nothing that is known: it reasons, or opens its reasoning in the prompt
    CHAT_SWITCH_ABSENT    // the template knows no reasoning
};

struct chat_settings {
    bool closed;           // no beginning of an answer: all messages are over
    bool go_on;            // the last message, an assistant's, is continued
    enum chat_thinking thinking;
    struct slice effort;          // "low", "high", ...; empty: not said
    struct jinja_value tools;     // LIST, or none
    struct jinja_value arguments; // DICT of further variables, which win over all others, or none
    struct jinja_clock now; // all zero: 1 January 1970
};

struct chat_template {
    struct arena arena;
    struct jinja_template *jinja;
    struct slice source;
    struct jinja_value bos, eos; // strings of the template; UNDEFINED when the model has none
    struct chat_traits traits;
    enum chat_switch thinking;
    struct slice empty_reasoning; // CHAT_SWITCH_PREFILL
    struct slice ending;          // what follows the text of an assistant's message; may be empty
};

// The source of a built-in template: "chatml". Size 0: there is none of that name.
struct slice chat_template_builtin(const char *name);

locum_status chat_template_open(struct slice source, struct slice bos, struct slice eos,
                                struct chat_template **out, locum_error *error);
void chat_template_close(struct chat_template *chat);

locum_status chat_template_render(const struct chat_template *chat,
                                  const struct chat_messages *messages,
                                  const struct chat_settings *settings, struct jinja_output *out,
                                  locum_error *error);
// Messages that are in the template's shape already; go_on does not count.
locum_status chat_template_render_list(const struct chat_template *chat, struct jinja_value list,
                                       const struct chat_settings *settings, struct arena *arena,
                                       struct jinja_output *out, locum_error *error);

#endif
