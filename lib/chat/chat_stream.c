// SPDX-License-Identifier: Apache-2.0
#include "chat/chat_stream.h"

#include "base/arena.h"
#include "base/check.h"
#include "chat/chat_stream_call.h"

enum {
    MARKERS_MAX = 16,
    // The bytes that are looked at together; what is held is at most a block of calls and this.
    PIECE_MAX = 4096
};

enum role {
    OPEN_REASONING,
    CLOSE_REASONING,
    DROP, // a mark around an answer
    BEGIN_CALL,
    END_CALLS, // of a group, or of a message
};

struct marker {
    struct slice text;
    enum role role;
    uint8_t start; // of BEGIN_CALL: the step
    bool token;    // must be a control token
};

// Text and reasoning, each with the white space that has not been told yet.
struct channel {
    bool told;  // anything
    bool after; // the last thing in the stream was a block's border, not text of this channel
    size_t blank_count;
    char blanks[LIMIT_CHAT_BLANKS];
};

enum { TEXT, REASONING };

struct chat_stream {
    struct chat_stream_options options;
    struct marker markers[MARKERS_MAX];
    size_t marker_count;
    bool first[256]; // bytes that a marker begins with

    struct buffer held, marks; // the bytes that are not told; a chat_stream_mark for each
    size_t head;               // those before it are done with
    char before;               // the byte before held, 0: none
    struct channel channels[2];
    bool reasoning;  // where text goes
    bool in_call;    // held begins with a block that is being read
    bool in_group;   // calls were told whose group has not been closed
    bool after_call; // since the last call nothing was told
    bool over;
    uint32_t call_count;
    struct chat_stream_call call;
};

// --- Opening --------------------------------------------------------------------------------------------

static bool is_control(const struct chat_stream *stream, struct slice text) {
    const struct chat_stream_options *options = &stream->options;
    return options->is_control && options->is_control(options->user, text);
}

// A mark may be longer than its token, as <|channel>thought is.
static bool begins_with_control(const struct chat_stream *stream, struct slice text) {
    const char *end = text.size > 0 ? memchr(text.data, '>', text.size) : NULL;
    return is_control(stream, text) ||
           (end && is_control(stream, slice_make(text.data, (size_t)(end - text.data) + 1)));
}

static void add_marker(struct chat_stream *stream, const char *text, enum role role, uint8_t start) {
    if (!text || *text == '\0') return;
    LOCUM_ASSERT(stream->marker_count < MARKERS_MAX);
    struct marker *marker = &stream->markers[stream->marker_count++];
    *marker = (struct marker){slice_text(text), role, start, begins_with_control(stream, slice_text(text))};
    stream->first[(unsigned char)text[0]] = true;
}

static void add_markers(struct chat_stream *stream) {
    const struct chat_stream_reasoning *reasoning = stream->options.format.reasoning;
    const struct chat_stream_calls *calls = stream->options.format.calls;
    for (size_t i = 0; calls && i < CHAT_STREAM_OPENERS; i++) {
        add_marker(stream, calls->openers[i].text, BEGIN_CALL, calls->openers[i].start);
    }
    for (size_t i = 0; calls && i < CHAT_STREAM_ENDS; i++) add_marker(stream, calls->ends[i], END_CALLS, 0);
    if (!reasoning) return;
    add_marker(stream, reasoning->open, OPEN_REASONING, 0);
    add_marker(stream, reasoning->close, CLOSE_REASONING, 0);
    for (size_t i = 0; i < CHAT_STREAM_DROPS; i++) add_marker(stream, reasoning->drops[i], DROP, 0);
}

// Text, reasoning: what came before is a block's border.
static void border(struct chat_stream *stream) {
    stream->channels[TEXT].after = stream->channels[REASONING].after = true;
}

static void begin(struct chat_stream *stream) {
    const struct chat_stream_calls *calls = stream->options.format.calls;
    stream->reasoning = stream->options.beginning == CHAT_STREAM_IN_REASONING;
    if (stream->reasoning) border(stream);
    if (!calls) return;
    chat_stream_call_init(&stream->call, calls, stream->options.tools);
    for (uint8_t i = 0; i < calls->step_count; i++) {
        const char *literal = calls->steps[i].text;
        bool token = literal && begins_with_control(stream, slice_text(literal));
        stream->call.tokens |= (uint32_t)token << i;
    }
    if (stream->options.beginning != CHAT_STREAM_FRESH || !(calls->flags & CHAT_STREAM_AT_START)) return;
    // The opener without text is that of a stream's start, else it is as if the first had been read.
    const struct chat_stream_opener *opener = &calls->openers[0];
    chat_stream_call_begin(&stream->call, *opener->text == '\0' ? opener->start : 0, 0);
    stream->in_call = true;
}

locum_status chat_stream_open(const struct chat_stream_options *options, struct chat_stream **out,
                              locum_error *error) {
    *out = NULL;
    LOCUM_ASSERT(options->tell);
    LOCUM_ASSERT(!options->format.calls || options->format.calls->step_count <= 32);
    struct chat_stream *stream = heap_resize(NULL, sizeof *stream);
    if (!stream) return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for an answer's parser");
    memset(stream, 0, sizeof *stream);
    stream->options = *options;
    if (!buffer_reserve(&stream->held, PIECE_MAX) || !buffer_reserve(&stream->marks, PIECE_MAX)) {
        chat_stream_close(stream);
        return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for an answer's parser");
    }
    add_markers(stream);
    begin(stream);
    *out = stream;
    return LOCUM_OK;
}

void chat_stream_close(struct chat_stream *stream) {
    if (!stream) return;
    chat_stream_call_release(&stream->call);
    buffer_release(&stream->held);
    buffer_release(&stream->marks);
    heap_free(stream);
}

// --- Telling ---------------------------------------------------------------------------------------------

static void tell(const struct chat_stream *stream, const struct chat_stream_event *event) {
    stream->options.tell(stream->options.user, event);
}

static void tell_text(struct chat_stream *stream, struct slice text) {
    if (text.size == 0) return;
    stream->after_call = false;
    tell(stream, &(struct chat_stream_event){
                     .kind = stream->reasoning ? CHAT_STREAM_EVENT_REASONING : CHAT_STREAM_EVENT_TEXT, .text = text});
}

// More text follows the blanks. Lines without text between a block and the first text are not told.
static void tell_blanks(struct chat_stream *stream) {
    struct channel *channel = &stream->channels[stream->reasoning];
    struct slice blanks = slice_make(channel->blanks, channel->blank_count);
    for (size_t i = blanks.size; channel->after && !channel->told && i-- > 0;) {
        if (blanks.data[i] != '\n') continue;
        blanks = slice_from(blanks, i + 1);
        break;
    }
    tell_text(stream, blanks);
    channel->blank_count = 0;
    channel->told = true;
    channel->after = false;
}

static void add_blanks(struct chat_stream *stream, struct slice blanks) {
    struct channel *channel = &stream->channels[stream->reasoning];
    for (size_t i = 0; i < blanks.size; i++) {
        if (channel->blank_count == LIMIT_CHAT_BLANKS) tell_blanks(stream);
        channel->blanks[channel->blank_count++] = blanks.data[i];
    }
}

static void write_text(struct chat_stream *stream, struct slice text) {
    size_t start = chat_stream_json_blanks(text), end = text.size;
    add_blanks(stream, slice_make(text.data, start));
    if (start == text.size) return;
    while (chat_stream_json_blanks(slice_make(text.data + end - 1, 1)) == 1) end--;
    tell_blanks(stream);
    tell_text(stream, slice_make(text.data + start, end - start));
    add_blanks(stream, slice_from(text, end));
}

static struct slice kept(const struct chat_stream *stream, struct chat_stream_span span) {
    return span.size > 0 ? slice_make(stream->call.text.data + span.start, span.size) : slice_make(NULL, 0);
}

static void tell_calls(struct chat_stream *stream) {
    const struct chat_stream_call *call = &stream->call;
    for (size_t i = 0; i < call->found_count; i++) {
        const struct chat_stream_found *found = &call->found[i];
        struct chat_stream_event event = {.kind = CHAT_STREAM_EVENT_TOOL_BEGIN,
                                          .index = stream->call_count++,
                                          .id = kept(stream, found->id),
                                          .name = kept(stream, found->name)};
        tell(stream, &event);
        event = (struct chat_stream_event){.kind = CHAT_STREAM_EVENT_TOOL_ARGUMENTS,
                                           .index = event.index,
                                           .text = kept(stream, found->arguments)};
        tell(stream, &event);
        event.kind = CHAT_STREAM_EVENT_TOOL_END;
        event.text = slice_make(NULL, 0);
        tell(stream, &event);
    }
    border(stream);
    stream->after_call = true;
    stream->reasoning = false;
    if (call->start == 0 && call->format->flags & CHAT_STREAM_GROUPS) stream->in_group = true;
}

// --- Following -------------------------------------------------------------------------------------------

static struct chat_stream_held held_from(const struct chat_stream *stream, size_t at) {
    return (struct chat_stream_held){slice_from(buffer_slice(&stream->held), at), stream->marks.data + at};
}

// Text up to `end` is told, and done with.
static void pass(struct chat_stream *stream, size_t end) {
    write_text(stream, slice_make(stream->held.data + stream->head, end - stream->head));
    stream->head = end;
}

// Can the marker be one where the stream is now?
static bool is_active(const struct chat_stream *stream, const struct marker *marker) {
    const struct chat_stream_calls *calls = stream->options.format.calls;
    if (calls && calls->flags & CHAT_STREAM_CHANNELS) return true;
    if (marker->role == CLOSE_REASONING) {
        // In an answer that has not begun: the end of reasoning that the prompt has closed already.
        return stream->reasoning || (!stream->channels[TEXT].told && stream->call_count == 0);
    }
    if (marker->role == END_CALLS) return !stream->reasoning && (stream->in_group || stream->after_call);
    return !stream->reasoning;
}

// Is the marker at the head? -1: as far as held goes. Without control tokens to go by, a mark that closes reasoning
// is none between quotes, and one that opens it has to begin a line: models write about them.
static int is_here(const struct chat_stream *stream, const struct marker *marker, bool last) {
    struct chat_stream_held held = held_from(stream, stream->head);
    int match = chat_stream_call_matches(held, marker->text.data, marker->token);
    if (match == 0 || marker->token) return match;
    char before = stream->head > 0 ? stream->held.data[stream->head - 1] : stream->before;
    const struct channel *text = &stream->channels[TEXT];
    if (marker->role == OPEN_REASONING && before != '\n' && text->told && !text->after) return 0;
    bool quote = before == '`' || before == '"' || before == '\'';
    if (match < 0 || marker->role != CLOSE_REASONING || !quote) return match;
    if (held.text.size == marker->text.size) return last ? 1 : -1;
    return held.text.data[marker->text.size] == before ? 0 : 1;
}

// The marker at the head, NULL: none (yet, if *wait).
static const struct marker *find_here(const struct chat_stream *stream, bool last, bool *wait) {
    *wait = false;
    for (size_t i = 0; i < stream->marker_count; i++) {
        const struct marker *marker = &stream->markers[i];
        int match = is_active(stream, marker) ? is_here(stream, marker, last) : 0;
        if (match > 0) return marker;
        *wait |= match < 0 && !last;
    }
    return NULL;
}

// Tells text up to the next marker, which is then at the head. NULL: all is told but what may be the beginning of one.
static const struct marker *find(struct chat_stream *stream, bool last) {
    size_t at = stream->head;
    for (;;) {
        while (at < stream->held.size && !stream->first[(unsigned char)stream->held.data[at]]) at++;
        // What a marker means depends on what was told before it.
        pass(stream, at);
        if (at == stream->held.size) return NULL;
        bool wait;
        const struct marker *marker = find_here(stream, last, &wait);
        if (marker || wait) return marker;
        at++;
    }
}

static void take(struct chat_stream *stream, const struct marker *marker) {
    if (marker->role == BEGIN_CALL) {
        chat_stream_call_begin(&stream->call, marker->start, marker->text.size);
        stream->in_call = true;
        return;
    }
    stream->head += marker->text.size;
    border(stream);
    if (marker->role == OPEN_REASONING) stream->reasoning = true;
    if (marker->role == CLOSE_REASONING || marker->role == END_CALLS) stream->reasoning = false;
    if (marker->role == END_CALLS) stream->in_group = false;
}

// The block at the head has ended in one way or another.
static void end_call(struct chat_stream *stream, enum chat_stream_result result) {
    size_t end = stream->head + stream->call.at;
    stream->in_call = false;
    if (result == CHAT_STREAM_FAILED) {
        pass(stream, end);
        return;
    }
    stream->head = end;
    if (result == CHAT_STREAM_FOUND) {
        tell_calls(stream);
    } else {
        border(stream);
        stream->reasoning = result == CHAT_STREAM_REASONING;
    }
}

// As far as held goes; last: nothing will follow. What may become something else stays held.
static void advance(struct chat_stream *stream, bool last) {
    for (;;) {
        if (stream->in_call) {
            struct chat_stream_held held = held_from(stream, stream->head);
            enum chat_stream_result result = chat_stream_call_run(&stream->call, held);
            if (chat_stream_call_out_of_memory(&stream->call)) return;
            if (result == CHAT_STREAM_MORE && held.text.size <= LIMIT_CHAT_CALL) return;
            if (result == CHAT_STREAM_MORE) {
                stream->call.at = held.text.size;
                result = CHAT_STREAM_FAILED;
            }
            end_call(stream, result);
        }
        const struct marker *marker = find(stream, last);
        if (!marker) return;
        take(stream, marker);
    }
}

static void forget_done(struct chat_stream *stream) {
    if (stream->head == 0) return;
    size_t left = stream->held.size - stream->head;
    stream->before = stream->held.data[stream->head - 1];
    memmove(stream->held.data, stream->held.data + stream->head, left);
    memmove(stream->marks.data, stream->marks.data + stream->head, left);
    stream->held.size = stream->marks.size = left;
    stream->head = 0;
}

static bool has_failed(const struct chat_stream *stream) {
    return stream->held.failed || stream->marks.failed || chat_stream_call_out_of_memory(&stream->call);
}

static locum_status feed_piece(struct chat_stream *stream, struct slice text, bool control, bool first) {
    buffer_append(&stream->held, text.data, text.size);
    for (size_t i = 0; i < text.size; i++) {
        enum chat_stream_mark mark = !control           ? CHAT_STREAM_ORDINARY
                                     : first && i == 0 ? CHAT_STREAM_TOKEN
                                                        : CHAT_STREAM_TOKEN_MORE;
        buffer_append_byte(&stream->marks, (char)mark);
    }
    if (has_failed(stream)) return LOCUM_E_OUT_OF_MEMORY;
    advance(stream, false);
    forget_done(stream);
    return has_failed(stream) ? LOCUM_E_OUT_OF_MEMORY : LOCUM_OK;
}

locum_status chat_stream_feed(struct chat_stream *stream, struct slice text, bool control) {
    LOCUM_ASSERT(!stream->over);
    for (bool first = true; text.size > 0; first = false) {
        size_t size = text.size < PIECE_MAX ? text.size : PIECE_MAX;
        STATUS_TRY(feed_piece(stream, slice_make(text.data, size), control, first));
        text = slice_from(text, size);
    }
    return LOCUM_OK;
}

// --- The end ---------------------------------------------------------------------------------------------

// What is held is the beginning of a block. Returns which one was cut off, NONE: what was held is told.
static enum chat_stream_block finish_call(struct chat_stream *stream) {
    struct chat_stream_held held = held_from(stream, stream->head);
    enum chat_stream_op op = stream->call.format->steps[stream->call.step].op;
    stream->in_call = false;
    if (held.text.size == 0) return CHAT_STREAM_BLOCK_NONE;
    if (stream->call.format->flags & CHAT_STREAM_KNOWN && stream->call.scan == 0 &&
        stream->call.at == chat_stream_json_blanks(held.text)) {
        return CHAT_STREAM_BLOCK_NONE; // nothing says yet that it is one
    }
    if (chat_stream_call_finish(&stream->call, held) == CHAT_STREAM_FOUND) {
        stream->head = stream->held.size;
        tell_calls(stream);
        return stream->call.cut ? CHAT_STREAM_BLOCK_CALL : CHAT_STREAM_BLOCK_NONE;
    }
    return op == CHAT_STREAM_HEADER ? CHAT_STREAM_BLOCK_HEADER : CHAT_STREAM_BLOCK_CALL;
}

locum_status chat_stream_finish(struct chat_stream *stream) {
    LOCUM_ASSERT(!stream->over);
    enum chat_stream_block block = CHAT_STREAM_BLOCK_NONE;
    struct slice cut = {NULL, 0};
    stream->over = true;
    if (has_failed(stream)) return LOCUM_E_OUT_OF_MEMORY;
    if (stream->in_call) block = finish_call(stream);
    if (block == CHAT_STREAM_BLOCK_NONE) {
        advance(stream, true);
        if (stream->in_call) block = finish_call(stream);
    }
    if (has_failed(stream)) return LOCUM_E_OUT_OF_MEMORY;
    if (block != CHAT_STREAM_BLOCK_NONE) cut = slice_from(buffer_slice(&stream->held), stream->head);
    if (!stream->channels[stream->reasoning].after && block == CHAT_STREAM_BLOCK_NONE) tell_blanks(stream);
    if (block == CHAT_STREAM_BLOCK_NONE && stream->reasoning) block = CHAT_STREAM_BLOCK_REASONING;
    if (block == CHAT_STREAM_BLOCK_NONE && stream->in_group) block = CHAT_STREAM_BLOCK_CALL;
    tell(stream, &(struct chat_stream_event){.kind = block == CHAT_STREAM_BLOCK_NONE
                                                         ? CHAT_STREAM_EVENT_FINISHED
                                                         : CHAT_STREAM_EVENT_TRUNCATED,
                                             .block = block,
                                             .text = cut});
    return LOCUM_OK;
}
