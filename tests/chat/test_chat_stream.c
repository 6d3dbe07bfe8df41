// SPDX-License-Identifier: Apache-2.0
#include "chat/chat_stream.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/limits.h"
#include "jinja/jinja_json.h"
#include "tests/chat/stream_samples.h"

// Allocations that still succeed; 0: all of them.
static int allocations_left;

void *__real_realloc(void *memory, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_realloc(void *memory, size_t size) {
    if (allocations_left > 0 && --allocations_left == 0) {
        allocations_left = -1; // and every further one
    }
    return allocations_left < 0 ? NULL : __real_realloc(memory, size);
}

// --- A transcript of events: what they say, whatever pieces it came in -----------------------------------

struct listener {
    struct arena arena; // of the tools
    struct buffer transcript, text, arguments;
    enum chat_stream_kind last;
    uint32_t calls, ends;
};

static const char names[] = "TRCA";

static void hear(void *user, const struct chat_stream_event *event) {
    struct listener *listener = user;
    struct buffer *out = &listener->transcript;
    assert_int_equal(listener->ends, 0);
    bool goes_on = event->kind == listener->last && event->kind <= CHAT_STREAM_EVENT_REASONING;
    if (out->size == 0 || !goes_on) {
        if (out->size > 0) buffer_append_byte(out, '|');
        if (event->kind <= CHAT_STREAM_EVENT_TOOL_ARGUMENTS) buffer_format(out, "%c:", names[event->kind]);
    }
    listener->last = event->kind;
    switch (event->kind) {
    case CHAT_STREAM_EVENT_TEXT:
        buffer_append(&listener->text, event->text.data, event->text.size);
        buffer_append(out, event->text.data, event->text.size);
        break;
    case CHAT_STREAM_EVENT_REASONING: buffer_append(out, event->text.data, event->text.size); break;
    case CHAT_STREAM_EVENT_TOOL_BEGIN:
        assert_int_equal(event->index, listener->calls++);
        buffer_append(out, event->name.data, event->name.size);
        buffer_append_byte(out, '#');
        buffer_append(out, event->id.data, event->id.size);
        listener->arguments.size = 0;
        break;
    case CHAT_STREAM_EVENT_TOOL_ARGUMENTS:
        assert_int_equal(event->index, listener->calls - 1);
        buffer_append(out, event->text.data, event->text.size);
        buffer_append(&listener->arguments, event->text.data, event->text.size);
        break;
    case CHAT_STREAM_EVENT_TOOL_END: {
        json_t *value = json_loadb(listener->arguments.data, listener->arguments.size, JSON_ALLOW_NUL, NULL);
        assert_true(json_is_object(value));
        json_decref(value);
        buffer_append_text(out, "E");
        break;
    }
    case CHAT_STREAM_EVENT_FINISHED: buffer_append_text(out, "."); break;
    case CHAT_STREAM_EVENT_TRUNCATED:
        buffer_format(out, "!%d:", (int)event->block);
        buffer_append(out, event->text.data, event->text.size);
        break;
    }
    listener->ends += event->kind >= CHAT_STREAM_EVENT_FINISHED;
}

static void count_ends(void *user, const struct chat_stream_event *event) {
    ((struct listener *)user)->ends += event->kind >= CHAT_STREAM_EVENT_FINISHED;
}

static void release(struct listener *listener) {
    arena_release(&listener->arena);
    buffer_release(&listener->transcript);
    buffer_release(&listener->text);
    buffer_release(&listener->arguments);
}

static struct chat_stream *open_sample(const struct sample *sample, struct listener *listener,
                                       bool (*is_control)(void *, struct slice)) {
    struct chat_stream *stream;
    locum_error error;
    struct chat_stream_options options = {
        .beginning = sample->beginning, .is_control = is_control, .tell = hear, .user = listener};
    if (sample->reasoning) {
        options.format.reasoning = chat_stream_reasoning_named(slice_text(sample->reasoning));
        assert_non_null(options.format.reasoning);
    }
    if (sample->calls) {
        options.format.calls = chat_stream_calls_named(slice_text(sample->calls));
        assert_non_null(options.format.calls);
    }
    *listener = (struct listener){0};
    arena_init(&listener->arena, 0);
    if (sample->tools) {
        struct slice tools = slice_text(sample->tools);
        assert_int_equal(jinja_json_read(tools, &listener->arena, JINJA_DATA, &options.tools, &error), LOCUM_OK);
    }
    assert_int_equal(chat_stream_open(&options, &stream, &error), LOCUM_OK);
    return stream;
}

// Feeds text in pieces that end at the given places (and at its end).
static void parse(const struct sample *sample, struct slice text, const size_t *cuts, size_t count,
                  struct listener *listener) {
    struct chat_stream *stream = open_sample(sample, listener, NULL);
    size_t at = 0;
    for (size_t i = 0; i <= count; i++) {
        size_t end = i < count ? cuts[i] : text.size;
        // A block of its exact size: a read past its end is seen by the address sanitizer.
        char *piece = malloc(end - at + 1);
        memcpy(piece, text.data + at, end - at);
        piece = realloc(piece, end > at ? end - at : 1);
        assert_int_equal(chat_stream_feed(stream, slice_make(piece, end - at), false), LOCUM_OK);
        free(piece);
        at = end;
    }
    assert_int_equal(chat_stream_finish(stream), LOCUM_OK);
    assert_int_equal(listener->ends, 1);
    chat_stream_close(stream);
}

static void parse_bytewise(const struct sample *sample, struct slice text, struct listener *listener) {
    size_t *cuts = malloc((text.size + 1) * sizeof *cuts);
    for (size_t i = 0; i < text.size; i++) cuts[i] = i;
    parse(sample, text, cuts, text.size, listener);
    free(cuts);
}

static void assert_transcript(const struct sample *sample, const struct listener *listener, const char *expected) {
    struct slice given = buffer_slice(&listener->transcript);
    if (!slice_is(given, expected)) {
        fail_msg("%s: %s\n  gave     %.*s\n  expected %s", sample->calls ? sample->calls : "no calls", sample->text,
                 (int)given.size, given.data, expected);
    }
}

// --- Tests ---------------------------------------------------------------------------------------------------

static uint32_t draw(uint32_t *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static int by_size(const void *a, const void *b) {
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

static void test_samples_in_any_pieces(void **state) {
    (void)state;
    uint32_t seed = 1;
    for (size_t i = 0; i < sample_count; i++) {
        const struct sample *sample = &samples[i];
        struct slice text = slice_text(sample->text);
        struct listener listener;
        parse(sample, text, NULL, 0, &listener);
        assert_transcript(sample, &listener, sample->expected);
        release(&listener);
        parse_bytewise(sample, text, &listener);
        assert_transcript(sample, &listener, sample->expected);
        release(&listener);
        for (size_t cut = 1; cut < text.size; cut++) {
            parse(sample, text, &cut, 1, &listener);
            assert_transcript(sample, &listener, sample->expected);
            release(&listener);
        }
        for (int round = 0; round < 50; round++) {
            size_t cuts[8], count = 1 + draw(&seed) % 8;
            for (size_t k = 0; k < count; k++) cuts[k] = draw(&seed) % (text.size + 1);
            qsort(cuts, count, sizeof *cuts, by_size);
            parse(sample, text, cuts, count, &listener);
            assert_transcript(sample, &listener, sample->expected);
            release(&listener);
        }
    }
}

static bool ends_with(struct slice text, struct slice end) {
    return text.size >= end.size && slice_equal(slice_from(text, text.size - end.size), end);
}

// Cut off at every byte: the same events in one piece and bytewise; what was held back comes with the end, and no more
// calls than the whole has. As long as there is neither reasoning nor a call, the bytes are all there.
static void test_truncation_at_every_byte(void **state) {
    (void)state;
    for (size_t i = 0; i < sample_count; i++) {
        const struct sample *sample = &samples[i];
        struct listener whole, first, second;
        parse(sample, slice_text(sample->text), NULL, 0, &whole);
        for (size_t size = 0; size < strlen(sample->text); size++) {
            struct slice text = slice_make(sample->text, size);
            parse(sample, text, NULL, 0, &first);
            parse_bytewise(sample, text, &second);
            buffer_append_byte(&second.transcript, '\0');
            assert_transcript(sample, &first, second.transcript.data);
            assert_true(first.calls <= whole.calls);
            const char *cut = memchr(first.transcript.data, '!', first.transcript.size);
            if (cut && cut[1] == '2' && cut[2] == ':') {
                size_t start = (size_t)(cut + 3 - first.transcript.data);
                assert_true(ends_with(text, slice_from(buffer_slice(&first.transcript), start)));
            }
            if (first.calls == 0 && !cut && !sample->reasoning && strcmp(sample->calls, "harmony") != 0) {
                assert_true(slice_equal(buffer_slice(&first.text), text));
            }
            release(&first);
            release(&second);
        }
        release(&whole);
    }
}

static void test_malformed_calls_stay_text(void **state) {
    (void)state;
    for (size_t i = 0; i < malformed_count; i++) {
        struct listener listener;
        struct buffer expected = {0};
        const struct sample *sample = &malformed[i];
        buffer_format(&expected, "T:%s|.", sample->text);
        buffer_append_byte(&expected, '\0');
        parse(sample, slice_text(sample->text), NULL, 0, &listener);
        assert_transcript(sample, &listener, expected.data);
        release(&listener);
        parse_bytewise(sample, slice_text(sample->text), &listener);
        assert_transcript(sample, &listener, expected.data);
        release(&listener);
        buffer_release(&expected);
    }
}

// Pieces of marks, put together by chance: nothing of a text is lost, in any format without reasoning.
static void test_text_is_conserved(void **state) {
    (void)state;
    static const char *const parts[] = {"<tool", "_call", ">", "<", "[TOOL", "_CALLS]", "{\"na", "<|", "|>", " ",
                                        "\n\n", "a", "\xC3\xA9", "<function=", "</", "<\xEF\xBD\x9C", "functools", "]"};
    uint32_t seed = 7;
    for (int round = 0; round < 300; round++) {
        struct buffer text = {0};
        struct listener listener;
        for (uint32_t n = draw(&seed) % 30; n > 0; n--) {
            buffer_append_text(&text, parts[draw(&seed) % (sizeof parts / sizeof parts[0])]);
        }
        buffer_append_text(&text, "x");
        const struct chat_stream_calls *calls = chat_stream_calls_row(draw(&seed) % 20);
        if (calls->flags & CHAT_STREAM_CHANNELS) calls = NULL;
        struct sample sample = {.calls = calls ? calls->name : NULL, .text = "by chance"};
        parse_bytewise(&sample, buffer_slice(&text), &listener);
        const char *cut = memchr(listener.transcript.data, '!', listener.transcript.size);
        size_t held = cut ? listener.transcript.size - (size_t)(cut + 3 - listener.transcript.data) : 0;
        struct slice told = buffer_slice(&listener.text);
        assert_true(slice_starts(buffer_slice(&text), told));
        // White space before a block that was cut off belongs to the block.
        struct slice between = slice_make(text.data + told.size, text.size - held - told.size);
        for (size_t k = 0; k < between.size; k++) assert_non_null(strchr(" \n", between.data[k]));
        release(&listener);
        buffer_release(&text);
    }
}

static bool is_control(void *user, struct slice text) {
    (void)user;
    return slice_is(text, "<tool_call>") || slice_is(text, "</tool_call>") || slice_is(text, "<think>") ||
           slice_is(text, "</think>") || slice_is(text, "</arg_value>");
}

// With control tokens known, only they are marks: a model may write about them, and a value may hold them.
static void test_control_tokens(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool control;
    } pieces[] = {{"<think>", true}, {"of </think> and <tool_call>", false}, {"</think>", true},
                  {"I write <tool_call>{} and <think>", false}, {"<tool_call>", true}, {"f<arg_key>k</arg_key>", false},
                  {"<arg_value>a</arg_value>", false}, {"</arg_value>", true}, {"</tool_call>", true}};
    struct listener listener = {0};
    struct chat_stream *stream;
    struct chat_stream_options options = {.tell = hear, .user = &listener, .is_control = is_control};
    locum_error error;
    options.format.calls = chat_stream_calls_named(slice_text("glm"));
    options.format.reasoning = chat_stream_reasoning_named(slice_text("think"));
    assert_int_equal(chat_stream_open(&options, &stream, &error), LOCUM_OK);
    // is_control of a listener that is not one: the callback does not look at it.
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        assert_int_equal(chat_stream_feed(stream, slice_text(pieces[i].text), pieces[i].control), LOCUM_OK);
    }
    assert_int_equal(chat_stream_finish(stream), LOCUM_OK);
    chat_stream_close(stream);
    struct sample sample = {.calls = "glm", .text = "with control tokens"};
    assert_transcript(&sample, &listener,
                      "R:of </think> and <tool_call>|T:I write <tool_call>{} and <think>|C:f#|"
                      "A:{\"k\": \"a</arg_value>\"}|E|.");
    release(&listener);
}

static const char *const tokens[] = {
    "<tool_call>", "</tool_call>", "<|start|>", "<|channel|>", "<|message|>", "<|end|>", "<|return|>", "<|call|>",
    "<|constrain|>", "<｜tool▁calls▁begin｜>", "<｜tool▁call▁begin｜>", "<｜tool▁sep｜>", "<｜tool▁call▁end｜>",
    "<｜tool▁calls▁end｜>", "<|tool_calls_section_begin|>", "<|tool_call_begin|>", "<|tool_call_argument_begin|>",
    "<|tool_call_end|>", "<|tool_calls_section_end|>", "[TOOL_CALLS]", "[ARGS]", "[CALL_ID]", "[THINK]", "[/THINK]",
    "<|channel>", "<channel|>", "<|tool_call>", "<tool_call|>", "<|\"|>", "<|tool_call_start|>", "<|tool_call_end|>",
    "<|python_tag|>", "<|tool_call|>", "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>", "<minimax:tool_call>",
    "</minimax:tool_call>", "<|START_THINKING|>", "<|END_THINKING|>", "<|START_ACTION|>", "<|END_ACTION|>"};

// Bytes of the token at the start of text; 0: there is none.
static size_t token_at(struct slice text) {
    for (size_t i = 0; i < sizeof tokens / sizeof tokens[0]; i++) {
        if (slice_starts(text, slice_text(tokens[i]))) return strlen(tokens[i]);
    }
    return 0;
}

static bool is_token(void *user, struct slice text) {
    (void)user;
    return text.size > 0 && token_at(text) == text.size;
}

// As an engine gives it whose vocabulary has the marks: they come as control tokens, and say the same.
static void test_samples_as_tokens(void **state) {
    (void)state;
    for (size_t i = 0; i < sample_count; i++) {
        const struct sample *sample = &samples[i];
        struct listener listener;
        struct chat_stream *stream = open_sample(sample, &listener, is_token);
        for (struct slice text = slice_text(sample->text); text.size > 0;) {
            size_t token = token_at(text), size = token > 0 ? token : 1;
            assert_int_equal(chat_stream_feed(stream, slice_make(text.data, size), token > 0), LOCUM_OK);
            text = slice_from(text, size);
        }
        assert_int_equal(chat_stream_finish(stream), LOCUM_OK);
        chat_stream_close(stream);
        assert_transcript(sample, &listener, sample->expected);
        release(&listener);
    }
}

// Without the tokens' flag the same bytes are ordinary text, which is what a model quotes.
static void test_quoted_tokens_are_text(void **state) {
    (void)state;
    for (size_t i = 0; i < sample_count; i++) {
        const struct sample *sample = &samples[i];
        struct listener listener;
        if (token_at(slice_text(sample->text)) == 0 || sample->beginning != CHAT_STREAM_FRESH) continue;
        const struct chat_stream_calls *calls = NULL;
        if (sample->calls) calls = chat_stream_calls_named(slice_text(sample->calls));
        bool marked = calls && !(calls->flags & CHAT_STREAM_CHANNELS); // by tokens alone
        for (size_t k = 0; calls && k < CHAT_STREAM_OPENERS && calls->openers[k].text; k++) {
            marked &= is_token(NULL, slice_text(calls->openers[k].text));
        }
        if (!marked) continue;
        struct chat_stream *stream = open_sample(sample, &listener, is_token);
        assert_int_equal(chat_stream_feed(stream, slice_text(sample->text), false), LOCUM_OK);
        assert_int_equal(chat_stream_finish(stream), LOCUM_OK);
        chat_stream_close(stream);
        assert_int_equal(listener.calls, 0);
        assert_true(slice_is(buffer_slice(&listener.text), sample->text));
        release(&listener);
    }
}

// The n-th allocation fails, for every n: E_OUT_OF_MEMORY, and nothing is told after it.
static void test_no_memory(void **state) {
    (void)state;
    for (size_t i = 0; i < sample_count; i++) {
        const struct sample *sample = &samples[i];
        bool whole = false;
        for (int n = 1; !whole; n++) {
            struct listener listener = {0};
            struct chat_stream_options options = {
                .beginning = sample->beginning, .tell = count_ends, .user = &listener};
            struct chat_stream *stream;
            locum_error error;
            if (sample->reasoning) {
                options.format.reasoning = chat_stream_reasoning_named(slice_text(sample->reasoning));
            }
            if (sample->calls) options.format.calls = chat_stream_calls_named(slice_text(sample->calls));
            allocations_left = n;
            locum_status status = chat_stream_open(&options, &stream, &error);
            if (status == LOCUM_OK) status = chat_stream_feed(stream, slice_text(sample->text), false);
            if (status == LOCUM_OK) status = chat_stream_finish(stream);
            whole = allocations_left > 0;
            allocations_left = 0;
            assert_int_equal(status, whole ? LOCUM_OK : LOCUM_E_OUT_OF_MEMORY);
            assert_int_equal(listener.ends, whole);
            chat_stream_close(stream);
        }
    }
}

static void test_too_long_a_call_is_text(void **state) {
    (void)state;
    struct buffer text = {0};
    struct listener listener;
    buffer_append_text(&text, "<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": \"");
    while (text.size < LIMIT_CHAT_CALL + 10000) buffer_append_text(&text, "0123456789abcdef");
    buffer_append_text(&text, "\"}}</tool_call>");
    struct sample sample = {.calls = "hermes", .text = "long"};
    parse(&sample, buffer_slice(&text), NULL, 0, &listener);
    assert_true(slice_equal(buffer_slice(&listener.text), buffer_slice(&text)));
    assert_int_equal(listener.calls, 0);
    release(&listener);
    buffer_release(&text);
}

// A value that holds its closing mark many times is read in a time in proportion to its size: the square of it
// would be minutes.
static void test_value_with_many_ends(void **state) {
    (void)state;
    struct buffer text = {0};
    struct listener listener;
    buffer_append_text(&text, "<tool_call>f<arg_key>k</arg_key><arg_value>");
    while (text.size < 3 << 20) buffer_append_text(&text, "</arg_value>x");
    buffer_append_text(&text, "</arg_value></tool_call>");
    struct sample sample = {.calls = "glm", .text = "many ends"};
    parse(&sample, buffer_slice(&text), NULL, 0, &listener);
    assert_int_equal(listener.calls, 1);
    assert_true(listener.arguments.size > (3 << 20) - 100);
    release(&listener);
    buffer_release(&text);
}

// Each format is found by what it says itself, before those that come later in the table.
static void test_detect(void **state) {
    (void)state;
    const struct chat_stream_calls *calls;
    for (size_t i = 0; (calls = chat_stream_calls_row(i)) != NULL; i++) {
        for (size_t k = 0; k < 3 && calls->evidence[k].all[0]; k++) {
            struct buffer source = {0};
            for (size_t n = 0; n < 3 && calls->evidence[k].all[n]; n++) {
                const char *part = calls->evidence[k].all[n];
                if (*part != '!') buffer_format(&source, "{{ '%s' }} ", part);
            }
            struct chat_stream_format format = chat_stream_detect(buffer_slice(&source));
            assert_non_null(format.calls);
            assert_string_equal(format.calls->name, calls->name);
            buffer_release(&source);
        }
    }
    struct chat_stream_format none = chat_stream_detect(slice_text("{{ messages }}"));
    assert_null(none.calls);
    assert_true(none.guessed);
    assert_string_equal(none.reasoning->name, "think");
    assert_false(chat_stream_detect(slice_text("<think>")).guessed);
    assert_null(chat_stream_detect(slice_text("]<]minimax[>[<tool_call>")).calls); // other calls than Hermes'
}

static void test_beginning(void **state) {
    (void)state;
    static const struct {
        const char *calls, *prompt;
        enum chat_stream_beginning beginning;
    } cases[] = {
        {"hermes", "<|im_start|>assistant\n", CHAT_STREAM_FRESH},
        {"hermes", "<|im_start|>assistant\n<think>\n", CHAT_STREAM_IN_REASONING},
        {"hermes", "<|im_start|>assistant\n<think>\n\n</think>\n\n", CHAT_STREAM_FRESH},
        {"hermes", "", CHAT_STREAM_FRESH},
        {"harmony", "<|start|>assistant", CHAT_STREAM_FRESH},
        {"harmony", "<|start|>assistant<|channel|>analysis<|message|>", CHAT_STREAM_IN_REASONING},
        {"harmony", "<|channel|>analysis<|message|><|end|><|start|>assistant<|channel|>final<|message|>",
         CHAT_STREAM_IN_ANSWER},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct chat_stream_format format = {.calls = chat_stream_calls_named(slice_text(cases[i].calls)),
                                            .reasoning = chat_stream_reasoning_named(slice_text("think"))};
        assert_int_equal(chat_stream_beginning_of(&format, slice_text(cases[i].prompt)), cases[i].beginning);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples_in_any_pieces),  cmocka_unit_test(test_truncation_at_every_byte),
        cmocka_unit_test(test_malformed_calls_stay_text), cmocka_unit_test(test_text_is_conserved),
        cmocka_unit_test(test_control_tokens),         cmocka_unit_test(test_samples_as_tokens),
        cmocka_unit_test(test_quoted_tokens_are_text), cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_too_long_a_call_is_text), cmocka_unit_test(test_value_with_many_ends),
        cmocka_unit_test(test_detect),                 cmocka_unit_test(test_beginning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
