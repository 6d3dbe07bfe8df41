// SPDX-License-Identifier: Apache-2.0
#include "chat/chat_probe.h"

#include "chat/chat_json.h"
#include "jinja/jinja_json.h"

// Words that no template has.
#define ASKED    "{\"role\": \"user\", \"content\": \"probe_question\"}"
#define NAME     "probe_function"
#define OBJECT   "{\"probe_key\": \"probe_value\"}"
#define AS_TEXT  "\"{\\\"probe_key\\\": \\\"probe_value\\\"}\""
#define RETURNED "{\"role\": \"tool\", \"tool_call_id\": \"call00001\", \"content\": \"probe_result\"}"
#define CALL(content, more, arguments)                                                        \
    "[" ASKED ", {\"role\": \"assistant\", \"content\": " content more                         \
    ", \"tool_calls\": [{\"id\": \"call00001\", \"type\": \"function\", \"function\": {\"name\": " \
    "\"" NAME "\", \"arguments\": " arguments "}}]}, " RETURNED "]"
#define TOOLS                                                                                   \
    "[{\"type\": \"function\", \"function\": {\"name\": \"probe_tool\", \"description\": \"\", " \
    "\"parameters\": {\"type\": \"object\", \"properties\": {}}}}]"

struct probe {
    struct chat_template *chat;
    struct arena arena; // of all renderings
    struct jinja_value tools;
    bool no_memory;
};

static bool holds(struct slice text, struct slice word, size_t from, size_t *at) {
    for (size_t i = from; i + word.size <= text.size; i++) {
        if (memcmp(text.data + i, word.data, word.size) == 0) {
            *at = i;
            return true;
        }
    }
    return false;
}

static bool contains(struct slice text, const char *word) {
    size_t at;
    return holds(text, slice_text(word), 0, &at);
}

// Moves the text into the arena.
static struct slice keep(struct probe *p, struct jinja_output *output, locum_status status) {
    size_t size = output->size;
    char *text = arena_copy_text(&p->arena, output->text ? output->text : "", size);
    p->no_memory |= !text || status == LOCUM_E_OUT_OF_MEMORY;
    jinja_output_release(output);
    return slice_make(text, text ? size : 0);
}

// The text that the template makes of messages given as JSON; size 0: it refuses them.
static struct slice render(struct probe *p, const char *json, const struct chat_settings *settings) {
    struct jinja_value list;
    struct jinja_output output;
    locum_error error;
    if (jinja_json_read(slice_text(json), &p->arena, JINJA_DATA, &list, &error) != LOCUM_OK) {
        p->no_memory = true;
        return slice_make(NULL, 0);
    }
    locum_status status =
        chat_template_render_list(p->chat, list, settings, &p->arena, &output, &error);
    return keep(p, &output, status);
}

// The same of messages in the canonical form, once the traits are known.
static struct slice fitted(struct probe *p, const char *json, const struct chat_settings *settings) {
    struct chat_messages messages;
    struct jinja_output output = {0};
    locum_error error;
    locum_status status = chat_message_open(&messages, &error);
    if (status == LOCUM_OK) {
        status = chat_message_read(&messages, slice_text(json), &error);
    }
    if (status == LOCUM_OK) {
        status = chat_template_render(p->chat, &messages, settings, &output, &error);
    }
    struct slice text = keep(p, &output, status);
    chat_message_close(&messages);
    return text;
}

static struct slice closed(struct probe *p, const char *json) {
    return render(p, json, &(struct chat_settings){.closed = true, .tools = p->tools});
}

// ---- messages ----------------------------------------------------------------------------------
static void probe_content(struct probe *p) {
    struct slice parts = closed(p, "[{\"role\": \"user\", \"content\": [{\"type\": \"text\", "
                                   "\"text\": \"probe_question\"}]}]");
    struct chat_traits *traits = &p->chat->traits;
    traits->takes_text = contains(closed(p, "[" ASKED "]"), "probe_question");
    traits->takes_parts = contains(parts, "probe_question") && !contains(parts, "'type'") &&
                          !contains(parts, "\"type\"");
}

static void probe_calls(struct probe *p) {
    struct chat_traits *traits = &p->chat->traits;
    traits->calls_need_null = !contains(closed(p, CALL("\"\"", "", OBJECT)), NAME) &&
                              !contains(closed(p, CALL("\"\"", "", AS_TEXT)), NAME) &&
                              (contains(closed(p, CALL("null", "", OBJECT)), NAME) ||
                               contains(closed(p, CALL("null", "", AS_TEXT)), NAME));
    bool null = traits->calls_need_null;
    struct slice object = closed(p, null ? CALL("null", "", OBJECT) : CALL("\"\"", "", OBJECT));
    struct slice text = closed(p, null ? CALL("null", "", AS_TEXT) : CALL("\"\"", "", AS_TEXT));
    traits->object_arguments = contains(object, "probe_value") && !contains(object, "{'probe_key'");
    traits->text_arguments = contains(text, OBJECT);
}

static void probe_reasoning(struct probe *p) {
    struct chat_traits *traits = &p->chat->traits;
    static const char both[] = CALL("\"probe_text\"", ", \"thinking\": \"probe_thought\"", OBJECT);
    static const char one[] = CALL("\"\"", ", \"thinking\": \"probe_thought\"", OBJECT);
    traits->developer = contains(p->chat->source, "developer");
    traits->reasoning_name = contains(p->chat->source, "reasoning_content");
    traits->joins_reasoning =
        !traits->reasoning_name && closed(p, both).size == 0 && closed(p, one).size > 0;
}

// ---- thinking ----------------------------------------------------------------------------------
#define ANSWERED(reasoning, text)                                                               \
    "[" ASKED ", {\"role\": \"assistant\", \"reasoning\": \"" reasoning "\", \"content\": \"" text "\"}"

static void probe_thinking(struct probe *p) {
    static const char asked[] = "[" ASKED "]";
    const struct chat_settings continued = {.go_on = true};
    struct chat_template *chat = p->chat;
    struct slice on = fitted(p, asked, &(struct chat_settings){.thinking = CHAT_THINKING_ON});
    struct slice off = fitted(p, asked, &(struct chat_settings){.thinking = CHAT_THINKING_OFF});
    struct slice said_nothing = fitted(p, asked, &(struct chat_settings){0});
    chat->thinking = CHAT_SWITCH_TEMPLATE;
    if (on.size > 0 && off.size > 0 && !slice_equal(on, off)) {
        return;
    }
    struct slice empty = fitted(p, ANSWERED("\\n", "") "]", &continued);
    bool writes = contains(fitted(p, ANSWERED("probe_thought", "") "]", &continued), "probe_thought");
    if (writes && said_nothing.size > 0 && empty.size > said_nothing.size &&
        slice_starts(empty, said_nothing)) {
        chat->thinking = CHAT_SWITCH_PREFILL;
        chat->empty_reasoning = slice_from(empty, said_nothing.size);
        const char *copy =
            arena_copy_text(&chat->arena, chat->empty_reasoning.data, chat->empty_reasoning.size);
        p->no_memory |= !copy;
        chat->empty_reasoning.data = copy;
        return;
    }
    bool opens = contains(said_nothing, "<think>") || contains(said_nothing, "[THINK]");
    chat->thinking = writes || opens ? CHAT_SWITCH_FIXED : CHAT_SWITCH_ABSENT;
}

// ---- ends --------------------------------------------------------------------------------------
static void probe_ending(struct probe *p) {
    struct slice text = fitted(p,
                               ANSWERED("", "probe_answer") ", {\"role\": \"user\", \"content\": "
                                                            "\"probe_next\"}]",
                               &(struct chat_settings){.closed = true});
    struct slice answer = slice_text("probe_answer"), next = slice_text("probe_next");
    size_t begin, end;
    if (!holds(text, answer, 0, &begin) || !holds(text, next, begin, &end)) {
        return;
    }
    begin += answer.size;
    const char *copy = arena_copy_text(&p->chat->arena, text.data + begin, end - begin);
    p->no_memory |= !copy;
    p->chat->ending = slice_make(copy, copy ? end - begin : 0);
}

locum_status chat_probe(struct chat_template *chat, locum_error *error) {
    struct probe probe = {.chat = chat};
    arena_init(&probe.arena, 0);
    // Until the answers are there messages go to the template as they are.
    chat->traits = (struct chat_traits){.takes_text = true, .reasoning_name = true};
    probe.no_memory = jinja_json_read(slice_text(TOOLS), &probe.arena, JINJA_DATA, &probe.tools,
                                      error) != LOCUM_OK;
    if (!probe.no_memory) {
        probe_content(&probe);
        probe_calls(&probe);
        probe_reasoning(&probe);
        probe_thinking(&probe);
        probe_ending(&probe);
    }
    arena_release(&probe.arena);
    return probe.no_memory ? status_fail(error, LOCUM_E_OUT_OF_MEMORY,
                                         "no memory to try the chat template")
                           : LOCUM_OK;
}
