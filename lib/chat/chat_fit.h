// SPDX-License-Identifier: Apache-2.0
//
// Owns:      giving messages the shape that a template understands.
// Called by: chat_template.
// Threads:   pure, with the caller's arena.
// Errors:    E_OUT_OF_MEMORY.
// Not here:  finding out what a template understands (chat_probe.h).
#ifndef CHAT_FIT_H
#define CHAT_FIT_H

#include "chat/chat_message.h"

// What a template understands, found by trying it.
struct chat_traits {
    bool takes_parts;      // writes the text of a list of parts
    bool takes_text;       // writes a content that is a text
    bool calls_need_null;  // writes tool calls only where content is none
    bool object_arguments; // writes arguments of tool calls that are a dict as JSON
    bool text_arguments;   // writes those that are a text as they are
    bool developer;        // knows that role; else it is system's
    bool reasoning_name;   // reads reasoning as reasoning_content; else as thinking or reasoning
    bool joins_reasoning;  // refuses a text beside reasoning in a message with tool calls
};

// A LIST of DICTs that no template can change. suffix is put behind the text of the last message.
locum_status chat_fit(const struct chat_messages *messages, const struct chat_traits *traits,
                      struct slice suffix, struct arena *arena, struct jinja_value *out,
                      locum_error *error);

#endif
