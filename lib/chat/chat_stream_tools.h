// SPDX-License-Identifier: Apache-2.0
//
// Owns:      what the tools of a request say of their parameters.
// Called by: chat_stream, chat_stream_call.
// Threads:   one thread at a time.
// Errors:    E_ARGUMENT: not a list of tools, with the place; E_OUT_OF_MEMORY.
// Not here:  whether arguments satisfy a schema.
#ifndef CHAT_STREAM_TOOLS_H
#define CHAT_STREAM_TOOLS_H

#include "base/slice.h"
#include "base/status.h"
#include "chat/chat_stream_value.h"

struct chat_stream_tools; // NULL is no tools

// json: a list of tools as OpenAI has them, [{"type": "function", "function": {"name": ..., "parameters": ...}}];
// entries of other types are passed over. Empty: NULL.
locum_status chat_stream_tools_open(struct slice json, struct chat_stream_tools **out,
                                    locum_error *error);
void chat_stream_tools_close(struct chat_stream_tools *tools);

bool chat_stream_tools_has(const struct chat_stream_tools *tools, struct slice name);

enum chat_stream_type chat_stream_tools_type(const struct chat_stream_tools *tools,
                                             struct slice name, struct slice parameter);

#endif
