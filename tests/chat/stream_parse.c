// SPDX-License-Identifier: Apache-2.0
//
// Parses answers for round_trip.py: reads lines from stdin,
//
//     {"template": PATH or "formats": [REASONING, CALLS], "tools": [...], "prompt": TEXT, "text": ANSWER,
//      "step": BYTES}
//
// and answers each with a line {"reasoning": ..., "content": ..., "tool_calls": [{"id", "name", "arguments"}],
// "truncated": BLOCK or 0, "formats": [REASONING, CALLS], "guessed": ...}. The answer is fed `step` bytes at a time (0:
// at once). With the argument --table it prints the formats' tables as Markdown.
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "chat/chat_stream.h"
#include "jinja/jinja_json.h"

static void die(const char *what) {
    fprintf(stderr, "stream_parse: %s\n", what);
    exit(1);
}

struct message {
    struct buffer content, reasoning, arguments;
    json_t *calls, *call;
    int truncated;
};

static json_t *text_of(struct slice text) {
    json_t *value = json_stringn(text.size ? text.data : "", text.size);
    return value ? value : json_string("not UTF-8");
}

static void hear(void *user, const struct chat_stream_event *event) {
    struct message *message = user;
    struct buffer *texts[] = {[CHAT_STREAM_EVENT_TEXT] = &message->content,
                              [CHAT_STREAM_EVENT_REASONING] = &message->reasoning,
                              [CHAT_STREAM_EVENT_TOOL_ARGUMENTS] = &message->arguments};
    switch (event->kind) {
    case CHAT_STREAM_EVENT_TEXT:
    case CHAT_STREAM_EVENT_REASONING:
    case CHAT_STREAM_EVENT_TOOL_ARGUMENTS:
        buffer_append(texts[event->kind], event->text.data, event->text.size);
        break;
    case CHAT_STREAM_EVENT_TOOL_BEGIN:
        message->arguments.size = 0;
        message->call = json_pack("{so so}", "id", text_of(event->id), "name", text_of(event->name));
        break;
    case CHAT_STREAM_EVENT_TOOL_END:
        json_object_set_new(message->call, "arguments", text_of(buffer_slice(&message->arguments)));
        json_array_append_new(message->calls, message->call);
        break;
    case CHAT_STREAM_EVENT_TRUNCATED: message->truncated = (int)event->block; break;
    case CHAT_STREAM_EVENT_FINISHED: break;
    }
}

static void read_file(const char *path, struct buffer *out) {
    FILE *file = fopen(path, "rb");
    char block[1 << 16];
    size_t size;
    if (!file) die(path);
    while ((size = fread(block, 1, sizeof block, file)) > 0) buffer_append(out, block, size);
    fclose(file);
}

static struct slice member(const json_t *request, const char *name) {
    const json_t *value = json_object_get(request, name);
    return slice_make(json_is_string(value) ? json_string_value(value) : "", json_string_length(value));
}

static struct chat_stream_format format_of(const json_t *request) {
    const json_t *names = json_object_get(request, "formats");
    struct chat_stream_format format = {0};
    if (names) {
        const char *reasoning = json_string_value(json_array_get(names, 0));
        const char *calls = json_string_value(json_array_get(names, 1));
        format.reasoning = reasoning ? chat_stream_reasoning_named(slice_text(reasoning)) : NULL;
        format.calls = calls ? chat_stream_calls_named(slice_text(calls)) : NULL;
        return format;
    }
    struct buffer source = {0};
    read_file(json_string_value(json_object_get(request, "template")), &source);
    format = chat_stream_detect(buffer_slice(&source));
    buffer_release(&source);
    return format;
}

static void feed(struct chat_stream *stream, struct slice text, size_t step) {
    for (size_t at = 0; at < text.size; at += step) {
        struct slice rest = slice_from(text, at);
        if (step == 0 || rest.size < step) step = rest.size;
        if (chat_stream_feed(stream, slice_make(rest.data, step), false) != LOCUM_OK) die("no memory");
    }
}

static void answer(const json_t *request) {
    struct message message = {.calls = json_array()};
    struct chat_stream *stream;
    locum_error error;
    struct chat_stream_options options = {.format = format_of(request), .tell = hear, .user = &message};
    const json_t *tools = json_object_get(request, "tools");
    char *text = json_is_array(tools) ? json_dumps(tools, 0) : NULL;
    struct arena arena;
    arena_init(&arena, 0);
    if (text && jinja_json_read(slice_text(text), &arena, JINJA_DATA, &options.tools, &error) != LOCUM_OK) {
        die(error.text);
    }
    options.beginning = chat_stream_beginning_of(&options.format, member(request, "prompt"));
    if (chat_stream_open(&options, &stream, &error) != LOCUM_OK) die(error.text);
    feed(stream, member(request, "text"), (size_t)json_integer_value(json_object_get(request, "step")));
    if (chat_stream_finish(stream) != LOCUM_OK) die("no memory");
    chat_stream_close(stream);
    json_t *out = json_pack(
        "{so so so si s[s? s?] sb}", "reasoning", text_of(buffer_slice(&message.reasoning)), "content",
        text_of(buffer_slice(&message.content)), "tool_calls", message.calls, "truncated", message.truncated,
        "formats", options.format.reasoning ? options.format.reasoning->name : NULL,
        options.format.calls ? options.format.calls->name : NULL, "guessed", (int)options.format.guessed);
    if (!out || json_dumpf(out, stdout, JSON_COMPACT) != 0) die("no answer");
    printf("\n");
    json_decref(out);
    free(text);
    arena_release(&arena);
    buffer_release(&message.content);
    buffer_release(&message.reasoning);
    buffer_release(&message.arguments);
}

// Between backquotes; a table wants its bars escaped.
static void print_mark(const char *mark) {
    printf("`");
    for (; *mark; mark++) {
        if (*mark == '|') printf("\\");
        *mark == '\n' ? printf("\\n") : putchar(*mark);
    }
    printf("`");
}

static void print_marks(const char *const *marks, size_t count, const char *between) {
    for (size_t i = 0; i < count && marks[i]; i++) {
        printf("%s", i > 0 ? between : "");
        print_mark(marks[i]);
    }
}

static void print_tables(void) {
    printf("| name | families | begins with | ends with | also dropped |\n| --- | --- | --- | --- | --- |\n");
    const struct chat_stream_reasoning *reasoning;
    for (size_t i = 0; (reasoning = chat_stream_reasoning_row(i)) != NULL; i++) {
        printf("| %s | %s | ", reasoning->name, reasoning->families);
        print_mark(reasoning->open);
        printf(" | ");
        print_mark(reasoning->close);
        printf(" | ");
        print_marks(reasoning->drops, CHAT_STREAM_DROPS, " ");
        printf(" |\n");
    }
    printf("\n| name | families | a call begins with | a group ends with | the template says |\n"
           "| --- | --- | --- | --- | --- |\n");
    const struct chat_stream_calls *calls;
    for (size_t i = 0; (calls = chat_stream_calls_row(i)) != NULL; i++) {
        printf("| %s | %s | ", calls->name, calls->families);
        for (size_t k = 0; k < CHAT_STREAM_OPENERS && calls->openers[k].text; k++) {
            const char *text = calls->openers[k].text;
            printf("%s", k > 0 ? ", " : "");
            *text == '\0' ? (void)printf("JSON at the start") : print_mark(text);
        }
        printf(" | ");
        print_marks(calls->ends, CHAT_STREAM_ENDS, ", ");
        printf(" | ");
        for (size_t k = 0; k < 3 && calls->evidence[k].all[0]; k++) {
            printf("%s", k > 0 ? ", or " : "");
            print_marks(calls->evidence[k].all, 3, " and ");
        }
        printf(" |\n");
    }
}

int main(int argc, char **argv) {
    struct buffer line = {0};
    if (argc > 1 && strcmp(argv[1], "--table") == 0) {
        print_tables();
        return 0;
    }
    for (int byte; (byte = getchar()) != EOF;) {
        if (byte != '\n') {
            buffer_append_byte(&line, (char)byte);
            continue;
        }
        json_error_t error;
        json_t *request = json_loadb(line.data, line.size, JSON_ALLOW_NUL, &error);
        if (!request) die(error.text);
        answer(request);
        json_decref(request);
        line.size = 0;
    }
    buffer_release(&line);
    return 0;
}
