// SPDX-License-Identifier: Apache-2.0
//
// Owns:      how each family of models writes reasoning and tool calls, as two tables; which rows a chat template
//            speaks of.
// Called by: chat_stream, chat_stream_call; whoever shows which format is in use.
// Threads:   constants.
// Errors:    none: a template that speaks of no known format has none.
// Not here:  following a stream (chat_stream, chat_stream_call).
#ifndef CHAT_STREAM_FORMAT_H
#define CHAT_STREAM_FORMAT_H

#include <stdint.h>

#include "base/slice.h"

// How a call is written: steps that read it from behind its opening mark to its end. All literals are `text`.
enum chat_stream_op {
    CHAT_STREAM_TEXT,    // the literal
    CHAT_STREAM_CLOSE,   // the literal; a stream that ends before it is truncated, yet the call is whole. Not
                         // wanted when the call began at a later step than the first.
    CHAT_STREAM_BLANK,   // white space, if any
    CHAT_STREAM_TRY,     // the literal, else a jump
    CHAT_STREAM_SEE,     // as TRY, and the literal is yet to be read
    CHAT_STREAM_JUMP,    // to `jump` steps from here
    CHAT_STREAM_NAME,    // the tool's name: up to a blank, quote, bracket or comma
    CHAT_STREAM_ID,      // the call's id: the same
    CHAT_STREAM_PATH,    // functions.NAME:NUMBER, which is the id
    CHAT_STREAM_KEY,     // a parameter's name, up to the literal
    CHAT_STREAM_VALUE,   // its value as bare text, up to the literal
    CHAT_STREAM_LINES,   // VALUE without one newline at each end
    CHAT_STREAM_CDATA,   // VALUE, or a string between <![CDATA[ and ]]>
    CHAT_STREAM_STRING,  // a string as bare text, up to the literal
    CHAT_STREAM_VERBATIM, // JSON, up to the literal
    CHAT_STREAM_JSON,    // the arguments as a JSON object
    CHAT_STREAM_CALL,    // a JSON object with name and arguments
    CHAT_STREAM_CALLS,   // a JSON list of such, or one
    CHAT_STREAM_PYTHON,  // a list of Python calls, or one
    CHAT_STREAM_GEMMA,   // the arguments in Gemma's notation
    CHAT_STREAM_BARE,    // looks ahead: a JSON object that begins as a call does
    CHAT_STREAM_HEADER,  // a message's header up to the literal, which says what the message is
    CHAT_STREAM_DONE
};

struct chat_stream_step {
    uint8_t op;
    int8_t jump; // from this step
    const char *text;
};

enum { CHAT_STREAM_OPENERS = 4, CHAT_STREAM_ENDS = 3, CHAT_STREAM_DROPS = 4 };

struct chat_stream_opener {
    const char *text;
    uint8_t start; // the step to begin with
};

// What a template's source must contain.
struct chat_stream_evidence {
    const char *all[3]; // behind a "!": must not be there
};

enum {
    CHAT_STREAM_AT_START = 1, // the stream begins inside the steps: no opening mark
    CHAT_STREAM_CHANNELS = 2, // messages with headers: opening marks and ends count inside reasoning too
    CHAT_STREAM_KNOWN = 4,    // only tools of the request are calls: the notation could be an answer
    CHAT_STREAM_GROUPS = 8,   // a call from step 0 on opens a group, which one of `ends` closes
    CHAT_STREAM_KEYED = 16,   // a call's object is {NAME: {arguments}}
};

// A way to write calls. `ends` close a group of calls, or a message.
struct chat_stream_calls {
    const char *name;
    struct chat_stream_evidence evidence[3];
    const char *families; // who writes it
    unsigned flags;
    struct chat_stream_opener openers[CHAT_STREAM_OPENERS];
    const char *ends[CHAT_STREAM_ENDS];
    const struct chat_stream_step *steps;
    uint8_t step_count;
};

// A way to mark reasoning. `drops` are marks around answers.
struct chat_stream_reasoning {
    const char *name;
    struct chat_stream_evidence evidence[2];
    const char *families;
    const char *open, *close;
    const char *drops[CHAT_STREAM_DROPS];
};

struct chat_stream_format {
    const struct chat_stream_reasoning *reasoning; // NULL: none but that of `calls`
    const struct chat_stream_calls *calls;         // NULL: none
    bool guessed; // the template names no reasoning: that of most families is looked for
};

// Which formats a template speaks of, by its source.
struct chat_stream_format chat_stream_detect(struct slice source);

// Row number `index`; NULL past the end.
const struct chat_stream_calls *chat_stream_calls_row(size_t index);
const struct chat_stream_reasoning *chat_stream_reasoning_row(size_t index);

// By name; NULL: there is none.
const struct chat_stream_calls *chat_stream_calls_named(struct slice name);
const struct chat_stream_reasoning *chat_stream_reasoning_named(struct slice name);

// Where in its format a stream begins.
enum chat_stream_beginning {
    CHAT_STREAM_FRESH,        // where an answer begins
    CHAT_STREAM_IN_REASONING, // the prompt has opened it
    CHAT_STREAM_IN_ANSWER,    // text goes on
};

// What the end of a rendered prompt means for the answer.
enum chat_stream_beginning chat_stream_beginning_of(const struct chat_stream_format *format,
                                                    struct slice prompt);

#endif
