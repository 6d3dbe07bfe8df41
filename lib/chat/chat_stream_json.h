// SPDX-License-Identifier: Apache-2.0
//
// Owns:      where a JSON value in a stream ends, byte by byte; looking into a value without building it.
// Called by: chat_stream and its modules.
// Threads:   pure.
// Errors:    a byte that JSON does not allow there is said at once.
// Not here:  what the values mean; JSON trees (jansson).
//
// The texts stay as the model wrote them: key order, spaces and spellings of numbers are its own.
#ifndef CHAT_STREAM_JSON_H
#define CHAT_STREAM_JSON_H

#include <stdint.h>

#include "base/buffer.h"
#include "base/limits.h"

struct chat_stream_json {
    uint8_t state;   // enum state in the .c
    uint8_t left;    // hexadecimal digits or letters of a literal still to come
    bool key;        // the string being read is a key
    bool half;       // a high surrogate waits for its low one
    uint16_t code;   // of the digits so far
    uint16_t depth;  // containers open
    const char *rest; // of true, false, null
    uint8_t objects[(LIMIT_CHAT_NESTING + 7) / 8]; // bit per depth: an object, else an array
};

enum chat_stream_json_step { CHAT_STREAM_JSON_MORE, CHAT_STREAM_JSON_DONE, CHAT_STREAM_JSON_BAD };

void chat_stream_json_init(struct chat_stream_json *json);

// DONE: the byte ended the value. A number has no end of its own: its value is never DONE, but complete.
enum chat_stream_json_step chat_stream_json_byte(struct chat_stream_json *json, char byte);

// Bytes of the value at the start of text, blanks before it included; 0: there is none. *value has it without blanks.
size_t chat_stream_json_value(struct slice text, struct slice *value);

// One whole value, with nothing but blanks around it.
bool chat_stream_json_whole(struct slice text, struct slice *value);

// The next member of an object or, with key NULL, element of an array; *rest is at first the whole container.
// false: there are no more.
bool chat_stream_json_next(struct slice *rest, struct slice *key, struct slice *value);

// What a string literal (valid, with its quotes) stands for is appended as UTF-8.
void chat_stream_json_unquote(struct slice literal, struct buffer *out);
void chat_stream_json_quote(struct slice text, struct buffer *out);

// Bytes of white space (JSON's four) at the start.
size_t chat_stream_json_blanks(struct slice text);

#endif
