// SPDX-License-Identifier: Apache-2.0
//
// locum_chat: finds a model's template and turns what it renders into tokens.
#include <locum/locum_experimental.h>
#include <stdio.h>

#include "chat/chat_json.h"
#include "chat/chat_template.h"
#include "engine/engine_file.h"
#include "engine/engine_messages.h"
#include "engine/engine_options.h"
#include "engine/engine_tokenizer.h"
#include "jinja/jinja_json.h"
#include "platform/calendar.h"

#define KEY "tokenizer.chat_template"

enum { ENDS_MAX = 2 };

struct locum_chat {
    struct arena arena;
    const char *name;
    struct chat_template *usual, *with_tools; // with_tools: NULL, the usual one does
    const struct locum_tokenizer *tokenizer;  // NULL: tokens are bytes
    locum_token ends[ENDS_MAX];
    uint32_t end_count;
    // The last prompt.
    struct jinja_output text;
    struct token_list ids;
    struct tokenizer_stretch *stretches;
};

_Static_assert((int)LOCUM_CHAT_THINKING_OFF == CHAT_THINKING_OFF &&
                   (int)LOCUM_CHAT_THINKING_ON == CHAT_THINKING_ON &&
                   (int)LOCUM_CHAT_SWITCH_ABSENT == CHAT_SWITCH_ABSENT &&
                   (int)LOCUM_CHAT_SWITCH_PREFILL == CHAT_SWITCH_PREFILL,
               "the public values are those of lib/chat");

void locum_chat_options_init(locum_chat_options *options) {
    *options = (locum_chat_options){.struct_size = sizeof *options};
}

void locum_render_init(locum_render *render) {
    *render = (locum_render){.struct_size = sizeof *render};
}

// ---- finding a template ------------------------------------------------------------------------
// The names of the file's templates behind KEY, for messages.
static void list_names(const struct gguf_meta *meta, char *out, size_t max) {
    size_t used = 0, prefix = strlen(KEY ".");
    for (uint64_t i = 0; meta && i < meta->count; i++) {
        const char *key = meta->pairs[i].key;
        if (strncmp(key, KEY ".", prefix) != 0) continue;
        int size = snprintf(out + used, max - used, "%s%s", used ? ", " : "", key + prefix);
        if (size < 0 || (size_t)size >= max - used) break;
        used += (size_t)size;
    }
    if (used == 0) snprintf(out, max, "none");
}

static bool find_in_file(const locum_file *file, const char *key, struct slice *out) {
    const struct gguf_value *value =
        file ? gguf_meta_find(gguf_file_meta(file->gguf), key) : NULL;
    if (!value || value->is_array || value->element != GGUF_STRING) return false;
    *out = gguf_value_string(value, 0);
    return true;
}

static locum_status find_named(struct locum_chat *chat, const locum_file *file, const char *name,
                               struct slice *out, locum_error *error) {
    char names[256], *key = arena_format(&chat->arena, KEY ".%s", name);
    if (!key) return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for the chat template");
    chat->name = key;
    if (find_in_file(file, key, out)) return LOCUM_OK;
    *out = chat_template_builtin(name);
    chat->name = key + strlen(KEY ".");
    if (out->size > 0) return LOCUM_OK;
    list_names(file ? gguf_file_meta(file->gguf) : NULL, names, sizeof names);
    return status_fail(error, LOCUM_E_NOT_FOUND,
                       "there is no chat template '%s': chatml is built in, and the file names %s",
                       name, names);
}

static locum_status find(struct locum_chat *chat, const locum_file *file,
                         const locum_chat_options *options, struct slice *out,
                         locum_error *error) {
    chat->name = "given";
    *out = slice_make(options->source, options->source_size);
    if (options->source) return LOCUM_OK;
    if (options->name) return find_named(chat, file, options->name, out, error);
    chat->name = KEY;
    if (find_in_file(file, KEY, out)) return LOCUM_OK;
    return status_fail(error, LOCUM_E_NOT_FOUND, "%s: the file has no chat template (" KEY ")",
                       file ? file->info.path : "no file");
}

// ---- tokens ------------------------------------------------------------------------------------
static struct slice token_text(const struct locum_tokenizer *tokenizer, enum tokenizer_id which) {
    locum_token id = tokenizer ? tokenizer_id(tokenizer->tokenizer, which) : TOKEN_NONE;
    return id == TOKEN_NONE ? slice_make(NULL, 0)
                            : tokenizer_token_bytes(tokenizer->tokenizer, id, true);
}

// The first control token behind an assistant's text ends it, if only because the next turn begins.
static locum_status find_end(struct locum_chat *chat, const struct chat_template *from,
                             locum_error *error) {
    struct token_list ids = {0};
    if (!chat->tokenizer || from->ending.size == 0) return LOCUM_OK;
    const struct tokenizer *tokenizer = chat->tokenizer->tokenizer;
    locum_status status =
        tokenizer_encode(tokenizer, from->ending, TOKENIZER_SPECIAL, &ids, error);
    for (size_t i = 0; status == LOCUM_OK && i < ids.count; i++) {
        bool begins = ids.ids[i] == tokenizer_id(tokenizer, TOKENIZER_ID_BOS);
        if (begins || tokenizer_token_kind(tokenizer, ids.ids[i]) != TOKEN_KIND_CONTROL) continue;
        chat->ends[chat->end_count++] = ids.ids[i];
        break;
    }
    token_list_release(&ids);
    return status;
}

static locum_status open_one(struct locum_chat *chat, struct slice source,
                             struct chat_template **out, locum_error *error) {
    STATUS_TRY(chat_template_open(source, token_text(chat->tokenizer, TOKENIZER_ID_BOS),
                                  token_text(chat->tokenizer, TOKENIZER_ID_EOS), out, error));
    return find_end(chat, *out, error);
}

static locum_status open_all(struct locum_chat *chat, const locum_file *file,
                             const locum_chat_options *options, locum_error *error) {
    struct slice source;
    STATUS_TRY(find(chat, file, options, &source, error));
    STATUS_TRY(open_one(chat, source, &chat->usual, error));
    if (options->name || options->source || !find_in_file(file, KEY ".tool_use", &source))
        return LOCUM_OK;
    return open_one(chat, source, &chat->with_tools, error);
}

locum_status locum_chat_open(const locum_file *file, const locum_tokenizer *tokenizer,
                             const locum_chat_options *options, locum_chat **out,
                             locum_error *error) {
    if (!out) return status_fail(error, LOCUM_E_ARGUMENT, "locum_chat_open: out is NULL");
    *out = NULL;
    locum_chat_options ours;
    locum_chat_options_init(&ours);
    if (options)
        STATUS_TRY(engine_options_read(&ours, sizeof ours, options, "locum_chat_options", error));
    if (ours.name && ours.source)
        return status_fail(error, LOCUM_E_ARGUMENT,
                           "locum_chat_options: name and source exclude each other");
    struct locum_chat *chat = heap_resize(NULL, sizeof *chat);
    if (!chat) return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for the chat template");
    *chat = (struct locum_chat){.tokenizer = tokenizer};
    arena_init(&chat->arena, 0);
    locum_status status = open_all(chat, file, &ours, error);
    if (status != LOCUM_OK) {
        locum_chat_close(chat);
        return status;
    }
    *out = chat;
    return LOCUM_OK;
}

void locum_chat_close(locum_chat *chat) {
    if (!chat) return;
    chat_template_close(chat->usual);
    chat_template_close(chat->with_tools);
    jinja_output_release(&chat->text);
    token_list_release(&chat->ids);
    heap_free(chat->stretches);
    arena_release(&chat->arena);
    heap_free(chat);
}

void locum_chat_get_info(const locum_chat *chat, locum_chat_info *out) {
    *out = (locum_chat_info){.name = chat->name,
                             .source = chat->usual->source.data,
                             .source_size = chat->usual->source.size,
                             .thinking = (locum_chat_switch)chat->usual->thinking,
                             .ends = chat->ends,
                             .end_count = chat->end_count};
}

// ---- rendering ---------------------------------------------------------------------------------
static locum_status read_json(const char *json, const char *field, enum jinja_kind kind,
                              struct arena *arena, struct jinja_value *out, locum_error *error) {
    *out = jinja_none();
    if (!json) return LOCUM_OK;
    locum_status status = jinja_json_read(slice_text(json), arena, JINJA_DATA, out, error);
    if (status != LOCUM_OK) {
        bool wrong = status == LOCUM_E_FORMAT; // an argument, not a file
        return status_prefix(error, wrong ? LOCUM_E_ARGUMENT : status, "%s", field);
    }
    if (out->kind == kind) return LOCUM_OK;
    return status_fail(error, LOCUM_E_ARGUMENT, "%s is no JSON %s", field,
                       kind == JINJA_LIST ? "list" : "object");
}

static locum_status read_settings(const locum_render *render, struct arena *arena,
                                  struct chat_settings *out, locum_error *error) {
    struct calendar now = {.year = render->now.year,     .month = render->now.month,
                           .day = render->now.day,       .hour = render->now.hour,
                           .minute = render->now.minute, .second = render->now.second};
    bool given = now.year | now.month | now.day | now.hour | now.minute | now.second;
    if (!given && !calendar_now_utc(&now))
        return status_fail(error, LOCUM_E_SYSTEM, "the system has no date");
    bool sound = now.year >= 1 && now.year <= 9999 && now.month >= 1 && now.month <= 12 &&
                 now.day >= 1 && now.day <= 31 && now.hour >= 0 && now.hour <= 23 &&
                 now.minute >= 0 && now.minute <= 59 && now.second >= 0 && now.second <= 60;
    if (!sound) return status_fail(error, LOCUM_E_ARGUMENT, "locum_render: now is no time");
    if (render->thinking > LOCUM_CHAT_THINKING_OFF)
        return status_fail(error, LOCUM_E_ARGUMENT, "locum_render: thinking is %d",
                           render->thinking);
    *out = (struct chat_settings){
        .closed = render->closed,
        .go_on = render->go_on,
        .thinking = (enum chat_thinking)render->thinking,
        .effort = slice_text(render->reasoning_effort ? render->reasoning_effort : ""),
        .now = {now.year, now.month, now.day, now.hour, now.minute, now.second}};
    STATUS_TRY(read_json(render->tools, "tools", JINJA_LIST, arena, &out->tools, error));
    return read_json(render->arguments, "the arguments of the template", JINJA_DICT, arena,
                     &out->arguments, error);
}

static locum_status bytes_as_tokens(struct locum_chat *chat, locum_error *error) {
    for (size_t i = 0; i < chat->text.size; i++)
        token_list_push(&chat->ids, (unsigned char)chat->text.text[i]);
    return chat->ids.failed
               ? status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for the prompt")
               : LOCUM_OK;
}

static locum_status cut_into_tokens(struct locum_chat *chat, locum_error *error) {
    const struct tokenizer_watch nobody = {NULL, NULL};
    size_t count = chat->text.stretch_count;
    chat->ids.count = 0;
    if (!chat->tokenizer) return bytes_as_tokens(chat, error);
    struct tokenizer_stretch *stretches =
        heap_resize(chat->stretches, (count + 1) * sizeof *stretches);
    if (!stretches) return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for the prompt");
    chat->stretches = stretches;
    for (size_t i = 0; i < count; i++) {
        stretches[i] = (struct tokenizer_stretch){
            chat->text.stretches[i].size, chat->text.stretches[i].origin == JINJA_TEMPLATE};
    }
    return tokenizer_encode_stretches(chat->tokenizer->tokenizer,
                                      slice_make(chat->text.text, chat->text.size), stretches,
                                      count, TOKENIZER_BOS, &nobody, &chat->ids, error);
}

static locum_status render_with(struct locum_chat *chat, const locum_messages *messages,
                                const locum_render *render, struct arena *arena,
                                locum_error *error) {
    struct chat_settings settings;
    STATUS_TRY(read_settings(render, arena, &settings, error));
    bool tools = settings.tools.kind == JINJA_LIST && settings.tools.list->count > 0;
    jinja_output_release(&chat->text);
    STATUS_TRY(chat_template_render(tools && chat->with_tools ? chat->with_tools : chat->usual,
                                    &messages->messages, &settings, &chat->text, error));
    return cut_into_tokens(chat, error);
}

locum_status locum_chat_render(locum_chat *chat, const locum_messages *messages,
                               const locum_render *render, locum_prompt *out, locum_error *error) {
    if (!chat || !messages || !out)
        return status_fail(error, LOCUM_E_ARGUMENT, "locum_chat_render: an argument is NULL");
    locum_render ours;
    locum_render_init(&ours);
    if (render) STATUS_TRY(engine_options_read(&ours, sizeof ours, render, "locum_render", error));
    struct arena arena;
    arena_init(&arena, 0);
    locum_status status = render_with(chat, messages, &ours, &arena, error);
    arena_release(&arena);
    if (status != LOCUM_OK) return status;
    *out = (locum_prompt){chat->ids.ids, chat->ids.count, chat->text.text, chat->text.size};
    return LOCUM_OK;
}
