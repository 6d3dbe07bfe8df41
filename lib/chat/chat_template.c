// SPDX-License-Identifier: Apache-2.0
#include "chat/chat_template.h"

#include "chat/chat_json.h"
#include "chat/chat_probe.h"

// Stands where a continued message ends, and is cut off with all that follows. Private-use characters:
// what templates trim or split at is not among them.
#define MARK "\xEE\xB8\x80\xEE\xB8\x81\xEE\xB8\x80"

struct slice chat_template_builtin(const char *name) {
    static const char chatml[] =
        "{%- for message in messages -%}\n"
        "{{ '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>' + '\\n' }}\n"
        "{%- endfor -%}\n"
        "{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";
    return strcmp(name, "chatml") == 0 ? slice_text(chatml) : slice_make(NULL, 0);
}

// ---- opening -----------------------------------------------------------------------------------
static bool take_token(struct chat_template *chat, struct slice text, const char *name,
                       struct jinja_value *out) {
    *out = jinja_undefined(JINJA_MISSING_VARIABLE, name);
    return text.size == 0 || jinja_string_new(&chat->arena, text, JINJA_TEMPLATE, out);
}

static locum_status prepare(struct chat_template *chat, struct slice source, struct slice bos,
                            struct slice eos, locum_error *error) {
    const char *copy = arena_copy_text(&chat->arena, source.data, source.size);
    if (!copy || !take_token(chat, bos, "bos_token", &chat->bos) ||
        !take_token(chat, eos, "eos_token", &chat->eos)) {
        return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for the chat template");
    }
    chat->source = slice_make(copy, source.size);
    STATUS_TRY(jinja_open(chat->source, &chat->jinja, error));
    return chat_probe(chat, error);
}

locum_status chat_template_open(struct slice source, struct slice bos, struct slice eos,
                                struct chat_template **out, locum_error *error) {
    *out = NULL;
    struct chat_template *chat = heap_resize(NULL, sizeof *chat);
    if (!chat) {
        return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for the chat template");
    }
    *chat = (struct chat_template){0};
    arena_init(&chat->arena, 0);
    locum_status status = prepare(chat, source, bos, eos, error);
    if (status != LOCUM_OK) {
        chat_template_close(chat);
        return status_prefix(error, status, "chat template");
    }
    *out = chat;
    return LOCUM_OK;
}

void chat_template_close(struct chat_template *chat) {
    if (chat) {
        jinja_close(chat->jinja);
        arena_release(&chat->arena);
        heap_free(chat);
    }
}

// ---- variables ---------------------------------------------------------------------------------
struct variables {
    struct arena *arena;
    struct jinja_value dict;
    bool failed;
};

static void set(struct variables *v, const char *name, struct jinja_value value) {
    if (value.kind != JINJA_UNDEFINED && value.kind != JINJA_ABSENT) {
        v->failed |= !jinja_dict_set_text(v->arena, v->dict.dict, name, value);
    }
}

static void set_thinking(struct variables *v, const struct chat_settings *settings) {
    if (settings->thinking != CHAT_THINKING_DEFAULT) {
        struct jinja_value on = jinja_bool(settings->thinking == CHAT_THINKING_ON);
        set(v, "enable_thinking", on);
        set(v, "thinking", on);
    }
    if (settings->effort.size > 0) {
        v->failed |= !chat_json_set_text(v->arena, v->dict, "reasoning_effort", settings->effort);
    }
}

locum_status chat_template_render_list(const struct chat_template *chat, struct jinja_value list,
                                       const struct chat_settings *settings, struct arena *arena,
                                       struct jinja_output *out, locum_error *error) {
    struct variables v = {.arena = arena};
    static const struct jinja_clock no_clock = {1970, 1, 1, 0, 0, 0};
    const struct jinja_options options = {.now = settings->now.month ? settings->now : no_clock,
                                          .extended = true};
    bool has_tools = jinja_value_is_list(settings->tools) && settings->tools.list->count > 0;
    *out = (struct jinja_output){0};
    v.failed = !jinja_dict_new(arena, JINJA_DICT, &v.dict);
    if (!v.failed) {
        set(&v, "messages", list);
        set(&v, "tools", has_tools ? settings->tools : jinja_none());
        set(&v, "documents", jinja_none());
        set(&v, "add_generation_prompt", jinja_bool(!settings->closed && !settings->go_on));
        set(&v, "bos_token", chat->bos);
        set(&v, "eos_token", chat->eos);
        set_thinking(&v, settings);
    }
    for (size_t i = 0; settings->arguments.kind == JINJA_DICT && !v.failed &&
                       i < settings->arguments.dict->count;
         i++) {
        struct jinja_entry entry = settings->arguments.dict->entries[i];
        v.failed = !jinja_dict_set(arena, v.dict.dict, entry.key, entry.value);
    }
    if (v.failed) {
        return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for the prompt");
    }
    locum_status status = jinja_render(chat->jinja, v.dict, &options, out, error);
    return status == LOCUM_OK ? status : status_prefix(error, status, "chat template");
}

// ---- what is put on top ------------------------------------------------------------------------
static void cut(struct jinja_output *out, size_t size) {
    size_t end = 0;
    for (size_t i = 0; i < out->stretch_count; i++) {
        if (end + out->stretches[i].size >= size) {
            out->stretches[i].size = size - end;
            out->stretch_count = i + (size > end);
        }
        end += out->stretches[i].size;
    }
    out->size = size;
    out->text[size] = '\0';
}

// Ends the prompt where the continued message ends.
static locum_status cut_at_mark(struct jinja_output *out, locum_error *error) {
    struct slice mark = slice_text(MARK);
    size_t at = out->size >= mark.size ? out->size - mark.size + 1 : 0;
    while (at > 0 && memcmp(out->text + at - 1, mark.data, mark.size) != 0) {
        at--;
    }
    if (at == 0) {
        return status_fail(error, LOCUM_E_ARGUMENT,
                           "the chat template does not write the last message, which is to be "
                           "continued");
    }
    cut(out, at - 1);
    return LOCUM_OK;
}

static locum_status append(struct jinja_output *out, struct slice text, locum_error *error) {
    char *larger = heap_resize(out->text, out->size + text.size + 1);
    if (larger) {
        out->text = larger;
        memcpy(larger + out->size, text.data, text.size);
        out->size += text.size;
        larger[out->size] = '\0';
    }
    bool joins = out->stretch_count > 0 &&
                 out->stretches[out->stretch_count - 1].origin == JINJA_TEMPLATE;
    size_t count = out->stretch_count + !joins;
    struct jinja_stretch *stretches =
        heap_resize(out->stretches, (count + 1) * sizeof *out->stretches);
    if (stretches) {
        out->stretches = stretches;
    }
    if (!larger || !stretches) {
        return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for the prompt");
    }
    if (!joins) {
        stretches[out->stretch_count++] = (struct jinja_stretch){0, JINJA_TEMPLATE};
    }
    stretches[count - 1].size += text.size;
    return LOCUM_OK;
}

static locum_status check(const struct chat_messages *messages,
                          const struct chat_settings *settings, locum_error *error) {
    size_t count = chat_message_count(messages);
    if (count == 0) {
        return status_fail(error, LOCUM_E_ARGUMENT, "there are no messages");
    }
    if (settings->go_on && settings->closed) {
        return status_fail(error, LOCUM_E_ARGUMENT,
                           "a conversation cannot be both over and continued");
    }
    struct jinja_value last = chat_message_at(messages, count - 1);
    if (settings->go_on && (!slice_is(chat_json_text(last, "role"), "assistant") ||
                            chat_json_item(last, "tool_calls"))) {
        return status_fail(error, LOCUM_E_ARGUMENT,
                           "only a last message that is an assistant's, without tool calls, can be "
                           "continued");
    }
    return LOCUM_OK;
}

static locum_status render(const struct chat_template *chat, const struct chat_messages *messages,
                           const struct chat_settings *settings, struct arena *arena,
                           struct jinja_output *out, locum_error *error) {
    struct jinja_value list;
    struct slice suffix = settings->go_on ? slice_text(MARK) : slice_make(NULL, 0);
    STATUS_TRY(chat_fit(messages, &chat->traits, suffix, arena, &list, error));
    STATUS_TRY(chat_template_render_list(chat, list, settings, arena, out, error));
    if (settings->go_on) {
        return cut_at_mark(out, error);
    }
    bool prefills = !settings->closed && settings->thinking == CHAT_THINKING_OFF &&
                    chat->thinking == CHAT_SWITCH_PREFILL;
    return prefills ? append(out, chat->empty_reasoning, error) : LOCUM_OK;
}

locum_status chat_template_render(const struct chat_template *chat,
                                  const struct chat_messages *messages,
                                  const struct chat_settings *settings, struct jinja_output *out,
                                  locum_error *error) {
    struct arena arena;
    *out = (struct jinja_output){0};
    STATUS_TRY(check(messages, settings, error));
    arena_init(&arena, 0);
    locum_status status = render(chat, messages, settings, &arena, out, error);
    arena_release(&arena);
    if (status != LOCUM_OK) {
        jinja_output_release(out);
    }
    return status;
}
