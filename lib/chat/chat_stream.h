// SPDX-License-Identifier: Apache-2.0
//
// Owns:      an answer on its way: text, reasoning and tool calls told apart, in whatever pieces it comes.
// Called by: engine.
// Threads:   one thread at a time for a stream.
// Errors:    E_OUT_OF_MEMORY, after which a stream says nothing more. Nothing that a model writes is an error.
// Not here:  stopping (end tokens and stop strings do not get here); which tool may be called.
//
// The pieces do not matter: joined, the texts of the events are the same for every way to cut a stream.
//
// What is not a well-formed call is text, byte for byte. Whether it is one is known at its end, so a call is
// held back until then and told in one go; its bytes are checked as they come, and what cannot become a call is
// text at once. White space next to a block (reasoning, a call) belongs to the block. Inside reasoning
// only its end counts: what looks like a call there is none.
#ifndef CHAT_STREAM_H
#define CHAT_STREAM_H

#include <stdint.h>

#include "base/slice.h"
#include "base/status.h"
#include "chat/chat_stream_format.h"
#include "jinja/jinja_value.h"

enum chat_stream_kind {
    CHAT_STREAM_EVENT_TEXT,           // text
    CHAT_STREAM_EVENT_REASONING,      // text
    CHAT_STREAM_EVENT_TOOL_BEGIN,     // index, name, id (empty where the format has none)
    CHAT_STREAM_EVENT_TOOL_ARGUMENTS, // index; text: a part of a JSON object
    CHAT_STREAM_EVENT_TOOL_END,       // index
    CHAT_STREAM_EVENT_FINISHED,       // the last one: every block was closed
    CHAT_STREAM_EVENT_TRUNCATED,      // the last one: inside `block`; text: what of it was held back
};

enum chat_stream_block {
    CHAT_STREAM_BLOCK_NONE,
    CHAT_STREAM_BLOCK_REASONING,
    CHAT_STREAM_BLOCK_CALL,   // or a group of calls. Those that were told are whole.
    CHAT_STREAM_BLOCK_HEADER, // of a message in a format with channels
};

struct chat_stream_event {
    enum chat_stream_kind kind;
    enum chat_stream_block block;
    uint32_t index;        // of the call in this answer, from 0
    struct slice text;     // all three live as long as the callback runs; text may end inside a character
    struct slice id, name; // as the model wrote them
};

typedef void chat_stream_fn(void *user, const struct chat_stream_event *event);

struct chat_stream_options {
    struct chat_stream_format format;
    enum chat_stream_beginning beginning;
    struct jinja_value tools; // as chat_stream_tools.h has them, for the types of bare values; outlive the stream
    // Is this text a control token of the model's vocabulary? Such marks then count only where they come as control
    // tokens, so that a model can write about them. NULL: marks count wherever their text is.
    bool (*is_control)(void *user, struct slice text);
    chat_stream_fn *tell;
    void *user; // of both callbacks
};

struct chat_stream;

locum_status chat_stream_open(const struct chat_stream_options *options, struct chat_stream **out,
                              locum_error *error);
void chat_stream_close(struct chat_stream *stream); // NULL is fine

// The next piece; control: it is one control token, whole.
locum_status chat_stream_feed(struct chat_stream *stream, struct slice text, bool control);

// The answer is over. Tells what was held back, and FINISHED or TRUNCATED; once.
locum_status chat_stream_finish(struct chat_stream *stream);

#endif
