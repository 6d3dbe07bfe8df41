// SPDX-License-Identifier: Apache-2.0
//
// Owns:      reading one block of calls (or one message header), as far as it has come, by the steps of its format.
// Called by: chat_stream.
// Threads:   one thread at a time.
// Errors:    FAILED: the text is no such block. Memory: `failed` of the buffers, which stays.
// Not here:  where blocks begin (chat_stream); the formats (chat_stream_format).
//
// The whole block is held until it has ended well: only then is it known that it is not text. All bytes are
// looked at a bounded number of times, however the stream is cut.
#ifndef CHAT_STREAM_CALL_H
#define CHAT_STREAM_CALL_H

#include "base/buffer.h"
#include "chat/chat_stream_format.h"
#include "chat/chat_stream_json.h"
#include "chat/chat_stream_tools.h"

// A mark for each byte of a stream: the first byte of a control token, a further one, or ordinary text.
enum chat_stream_mark { CHAT_STREAM_ORDINARY, CHAT_STREAM_TOKEN, CHAT_STREAM_TOKEN_MORE };

struct chat_stream_held {
    struct slice text;
    const char *marks; // chat_stream_mark, as many as bytes
};

// Places in `chat_stream_call.text`.
struct chat_stream_span {
    size_t start, size;
};
struct chat_stream_found {
    struct chat_stream_span id, name, arguments;
};

enum chat_stream_result {
    CHAT_STREAM_MORE,      // as far as it goes it is one
    CHAT_STREAM_FOUND,     // calls
    CHAT_STREAM_REASONING, // the header of a message with reasoning
    CHAT_STREAM_ANSWER,    // the header of one with text
    CHAT_STREAM_FAILED
};

struct chat_stream_call {
    const struct chat_stream_calls *format;
    struct jinja_value tools;
    uint32_t tokens; // bit per step: its literal is a control token of the model

    uint8_t start, step; // numbers of steps
    size_t at;           // bytes of the block that are read
    size_t scan;         // of the bytes behind `at`: those that this step has looked at
    struct chat_stream_json json;
    struct {
        size_t depth;
        char quote; // 0: outside of strings
        bool escaped;
    } loose; // of PYTHON and GEMMA

    // The last value. It becomes JSON once what follows fits: its end may have been a part of it, behind which one has
    // to go on looking, and converting it each time would take the square of its size.
    struct {
        bool pending;    // it is not among the arguments yet
        bool final;      // its end was a control token
        uint8_t step;    // that read it
        size_t at, size; // in the block
    } value;

    struct chat_stream_span id, name; // of the call that is being read
    struct buffer key;                // of the parameter that is being read
    struct buffer arguments;          // of the call that is being read
    struct buffer text;               // ids, names and arguments
    struct chat_stream_found found[LIMIT_CHAT_CALLS];
    size_t found_count;
    bool cut; // the stream ended before the literal of a CLOSE
};

// Before the first block, with zeroed memory.
void chat_stream_call_init(struct chat_stream_call *call, const struct chat_stream_calls *format,
                           struct jinja_value tools);
void chat_stream_call_release(struct chat_stream_call *call);

// A block begins; `read` bytes of it are its opening mark.
void chat_stream_call_begin(struct chat_stream_call *call, uint8_t start, size_t read);

// held: the block from its opening mark on, as far as it has come. `at` tells how much of it belongs to the block,
// when FAILED how much has fitted.
enum chat_stream_result chat_stream_call_run(struct chat_stream_call *call, struct chat_stream_held held);

// The stream has ended. FOUND: the block is whole but for its closing mark; else FAILED.
enum chat_stream_result chat_stream_call_finish(struct chat_stream_call *call, struct chat_stream_held held);

bool chat_stream_call_out_of_memory(const struct chat_stream_call *call);

// Is `literal` at the start of held (a control token, if `token`)? -1: as far as held goes.
int chat_stream_call_matches(struct chat_stream_held held, const char *literal, bool token);

#endif
