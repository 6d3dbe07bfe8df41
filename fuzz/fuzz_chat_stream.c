// SPDX-License-Identifier: Apache-2.0
//
// An answer out of the input, in a format and in pieces that the input chooses. Whatever it is, the events are the same
// as for the answer in one piece, arguments are JSON objects, and there is one end.
//
// Input: a byte for the way of writing calls, one for that of reasoning, one for the beginning and whether tools are
// known, one that the places of the cuts come from; the rest is the answer. A byte 0xFF in it is taken out, and what
// stands between it and the next one is a control token.
#include <stdint.h>
#include <string.h>

#include "base/buffer.h"
#include "base/check.h"
#include "chat/chat_stream.h"
#include "chat/chat_stream_json.h"
#include "jinja/jinja_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char tools_text[] =
    "[{\"type\": \"function\", \"function\": {\"name\": \"f\", \"parameters\": {\"type\": \"object\", \"properties\": {"
    "\"s\": {\"type\": \"string\"}, \"n\": {\"type\": [\"integer\", \"null\"]}}}}}]";

struct listener {
    struct buffer transcript; // kind and bytes; what goes on is joined
    struct buffer arguments;
    int last;
    uint32_t begun, ended;
    int ends;
};

static void hear(void *user, const struct chat_stream_event *event) {
    struct listener *listener = user;
    struct slice value;
    LOCUM_ASSERT(listener->ends == 0);
    if (event->kind > CHAT_STREAM_EVENT_REASONING || (int)event->kind != listener->last) {
        buffer_append_byte(&listener->transcript, (char)('0' + event->kind));
    }
    listener->last = (int)event->kind;
    buffer_append(&listener->transcript, event->text.data, event->text.size);
    buffer_append(&listener->transcript, event->id.data, event->id.size);
    buffer_append(&listener->transcript, event->name.data, event->name.size);
    buffer_append_byte(&listener->arguments, ' ');
    if (event->kind == CHAT_STREAM_EVENT_TOOL_BEGIN) {
        LOCUM_ASSERT(event->index == listener->begun++ && event->name.size > 0);
        listener->arguments.size = 0;
    } else if (event->kind == CHAT_STREAM_EVENT_TOOL_ARGUMENTS) {
        buffer_append(&listener->arguments, event->text.data, event->text.size);
    } else if (event->kind == CHAT_STREAM_EVENT_TOOL_END) {
        LOCUM_ASSERT(event->index == listener->ended++ && listener->ended == listener->begun);
        LOCUM_ASSERT(chat_stream_json_whole(buffer_slice(&listener->arguments), &value) && value.data[0] == '{');
    }
    listener->ends += event->kind >= CHAT_STREAM_EVENT_FINISHED;
}

static bool is_control(void *user, struct slice text) {
    (void)user;
    return text.size > 0 && text.data[0] == '<' && text.data[text.size - 1] == '>';
}

static void feed(struct chat_stream *stream, struct slice text, uint8_t seed) {
    bool control = false;
    uint32_t random = seed;
    while (text.size > 0) {
        const char *border = memchr(text.data, '\xFF', text.size);
        struct slice run = slice_make(text.data, border ? (size_t)(border - text.data) : text.size);
        text = slice_from(text, run.size + (border ? 1 : 0));
        while (run.size > 0) {
            random = random * 1664525u + 1013904223u;
            size_t size = control || seed == 0 ? run.size : 1 + (random >> 16) % run.size;
            LOCUM_ASSERT(chat_stream_feed(stream, slice_make(run.data, size), control) == LOCUM_OK);
            run = slice_from(run, size);
        }
        control = border && !control;
    }
}

static void parse(const struct chat_stream_options *how, struct slice text, uint8_t seed, struct listener *listener) {
    struct chat_stream_options options = *how;
    struct chat_stream *stream;
    locum_error error;
    *listener = (struct listener){.last = -1};
    options.tell = hear;
    options.user = listener;
    LOCUM_ASSERT(chat_stream_open(&options, &stream, &error) == LOCUM_OK);
    feed(stream, text, seed);
    LOCUM_ASSERT(chat_stream_finish(stream) == LOCUM_OK && listener->ends == 1);
    LOCUM_ASSERT(listener->begun == listener->ended);
    chat_stream_close(stream);
}

static void release(struct listener *listener) {
    buffer_release(&listener->transcript);
    buffer_release(&listener->arguments);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct chat_stream_options options = {0};
    struct listener whole, pieces;
    struct arena arena;
    locum_error error;
    if (size < 4) return 0;
    arena_init(&arena, 0);
    options.format.calls = chat_stream_calls_row(data[0] - 'a');
    options.format.reasoning = chat_stream_reasoning_row(data[1] - 'a');
    options.beginning = (enum chat_stream_beginning)(data[2] % 3);
    options.is_control = data[2] & 32 ? is_control : NULL;
    if (data[2] & 8) {
        LOCUM_ASSERT(jinja_json_read(slice_text(tools_text), &arena, JINJA_DATA, &options.tools, &error) == LOCUM_OK);
    }
    struct slice text = slice_make((const char *)data + 4, size - 4);
    parse(&options, text, 0, &whole);
    parse(&options, text, data[3] | 1, &pieces);
    LOCUM_ASSERT(slice_equal(buffer_slice(&whole.transcript), buffer_slice(&pieces.transcript)));
    release(&whole);
    release(&pieces);
    arena_release(&arena);
    return 0;
}
