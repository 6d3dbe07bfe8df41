// SPDX-License-Identifier: Apache-2.0
//
// Owns:      values that models write in other ways than JSON, made JSON.
// Called by: chat_stream_call.
// Threads:   pure.
// Errors:    false: the text is not such a value (or `out` has failed); what is in `out` is then of no use.
// Not here:  where such a value ends in a stream (chat_stream_call); JSON itself (chat_stream_json).
#ifndef CHAT_STREAM_VALUE_H
#define CHAT_STREAM_VALUE_H

#include "base/buffer.h"

// What a tool's schema says of a parameter, as far as bare text needs it.
enum chat_stream_type {
    CHAT_STREAM_TYPE_UNKNOWN,
    CHAT_STREAM_TYPE_STRING,
    CHAT_STREAM_TYPE_STRING_OR_NULL,
    CHAT_STREAM_TYPE_OTHER, // no string
};

// Bare text as JSON. Unknown type: what reads as JSON (but a string) is JSON, all else is a string.
// OTHER: JSON or a Python literal; what is neither is a string, for the tool to refuse.
void chat_stream_value_typed(struct slice raw, enum chat_stream_type type, struct buffer *out);

enum chat_stream_dialect {
    CHAT_STREAM_DIALECT_PYTHON, // also JSON, and the two mixed
    CHAT_STREAM_DIALECT_GEMMA,  // bare keys, strings between <|"|>
};

// The value at the start of *text, which is left behind it.
bool chat_stream_value_literal(struct slice *text, enum chat_stream_dialect dialect,
                               struct buffer *out);

// A Python call with keyword arguments, NAME(KEY=VALUE, ...), at the start of *text: its name, and its arguments as
// a JSON object.
bool chat_stream_value_python_call(struct slice *text, struct slice *name, struct buffer *out);

#endif
