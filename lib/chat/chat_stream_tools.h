// SPDX-License-Identifier: Apache-2.0
//
// Owns:      what the tools of a request say of their parameters.
// Called by: chat_stream_call.
// Threads:   pure.
// Errors:    none: what a schema does not say clearly is unknown.
// Not here:  whether arguments satisfy a schema.
//
// Tools are a list as OpenAI has it, [{"type": "function", "function": {"name": ..., "parameters": ...}}], with or
// without the wrapper "function". Anything else is no tools.
#ifndef CHAT_STREAM_TOOLS_H
#define CHAT_STREAM_TOOLS_H

#include "base/slice.h"
#include "chat/chat_stream_value.h"
#include "jinja/jinja_value.h"

bool chat_stream_tools_has(struct jinja_value tools, struct slice name);

enum chat_stream_type chat_stream_tools_type(struct jinja_value tools, struct slice name,
                                             struct slice parameter);

#endif
