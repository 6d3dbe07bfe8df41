// SPDX-License-Identifier: Apache-2.0
#include "chat/chat_stream_format.h"

#include "chat/chat_stream_json.h"

#define TEXT(text)      {CHAT_STREAM_TEXT, 0, text}
#define CLOSE(text)     {CHAT_STREAM_CLOSE, 0, text}
#define TRY(text, jump) {CHAT_STREAM_TRY, jump, text}
#define SEE(text, jump) {CHAT_STREAM_SEE, jump, text}
#define JUMP(jump)      {CHAT_STREAM_JUMP, jump, NULL}
#define KEY(text)       {CHAT_STREAM_KEY, 0, text}
#define VALUE(text)     {CHAT_STREAM_VALUE, 0, text}
#define LINES(text)     {CHAT_STREAM_LINES, 0, text}
#define CDATA(text)     {CHAT_STREAM_CDATA, 0, text}
#define STRING(text)    {CHAT_STREAM_STRING, 0, text}
#define VERBATIM(text)  {CHAT_STREAM_VERBATIM, 0, text}
#define HEADER(text)    {CHAT_STREAM_HEADER, 0, text}
#define BLANK           {CHAT_STREAM_BLANK, 0, NULL}
#define NAME            {CHAT_STREAM_NAME, 0, NULL}
#define ID              {CHAT_STREAM_ID, 0, NULL}
#define PATH            {CHAT_STREAM_PATH, 0, NULL}
#define JSON            {CHAT_STREAM_JSON, 0, NULL}
#define CALL            {CHAT_STREAM_CALL, 0, NULL}
#define CALLS           {CHAT_STREAM_CALLS, 0, NULL}
#define PYTHON          {CHAT_STREAM_PYTHON, 0, NULL}
#define GEMMA           {CHAT_STREAM_GEMMA, 0, NULL}
#define BARE            {CHAT_STREAM_BARE, 0, NULL}
#define DONE            {CHAT_STREAM_DONE, 0, NULL}
#define STEPS(steps)    steps, sizeof steps / sizeof steps[0]

typedef struct chat_stream_step step;

static const step harmony[] = {HEADER("<|message|>"), BLANK, JSON, DONE};

static const step gemma[] = {TEXT("call:"), NAME, GEMMA, TEXT("<tool_call|>"), DONE};

// [TOOL_CALLS][{...}, ...] or [TOOL_CALLS]NAME[CALL_ID]ID[ARGS]{...}
static const step mistral[] = {BLANK, SEE("[", 3), CALLS, DONE,           NAME, TRY("[CALL_ID]", 2),
                               ID,    TEXT("[ARGS]"), BLANK, JSON, DONE};

static const step hermes[] = {BLANK, CALL, BLANK, CLOSE("</tool_call>"), DONE};

static const step qwen[] = {BLANK, TEXT("<function="), NAME, TEXT(">"), BLANK,
                            TRY("<parameter=", 5), KEY(">"), LINES("</parameter>"), BLANK, JUMP(-4),
                            TEXT("</function>"), BLANK, CLOSE("</tool_call>"), DONE};

static const step seed[] = {BLANK, TEXT("<function="), NAME, TEXT(">"), BLANK,
                            TRY("<parameter=", 5), KEY(">"), VALUE("</parameter>"), BLANK, JUMP(-4),
                            TEXT("</function>"), BLANK, CLOSE("</seed:tool_call>"), DONE};

static const step function_json[] = {NAME, TEXT(">"), BLANK, JSON, BLANK, TEXT("</function>"), DONE};

static const step glm[] = {BLANK, NAME, BLANK,
                           TRY("<arg_key>", 7), KEY("</arg_key>"), BLANK, TEXT("<arg_value>"),
                           VALUE("</arg_value>"), BLANK, JUMP(-6),
                           TEXT("</tool_call>"), DONE};

static const step hunyuan[] = {BLANK, TEXT("<tool_call:opensource>"), NAME, TEXT("<tool_sep:opensource>"), BLANK,
                               TRY("<arg_key:opensource>", 7), KEY("</arg_key:opensource>"), BLANK,
                               TEXT("<arg_value:opensource>"), VALUE("</arg_value:opensource>"), BLANK, JUMP(-6),
                               TEXT("</tool_call:opensource>"), DONE};

// V3.1: NAME and JSON. V3 and R1: a type, the name, and JSON between code fences.
static const step deepseek[] = {BLANK, TEXT("<｜tool▁call▁begin｜>"), BLANK,
                                TRY("function<｜tool▁sep｜>", 6), NAME, BLANK, TEXT("```json"), BLANK, JUMP(3),
                                NAME, TEXT("<｜tool▁sep｜>"), BLANK, JSON, BLANK, TRY("```", 1), BLANK,
                                TEXT("<｜tool▁call▁end｜>"), DONE};

static const step dsml[] = {BLANK, TEXT("<｜DSML｜invoke name=\""), NAME, TEXT("\">"), BLANK,
                            TRY("<｜DSML｜parameter name=\"", 9), KEY("\" string=\""),
                            TRY("true\">", 3), STRING("</｜DSML｜parameter>"), JUMP(3),
                            TEXT("false\">"), VERBATIM("</｜DSML｜parameter>"), BLANK, JUMP(-8),
                            TEXT("</｜DSML｜invoke>"), DONE};

static const step minimax[] = {BLANK, TEXT("<invoke name=\""), NAME, TEXT("\">"), BLANK,
                               TRY("<parameter name=\"", 5), KEY("\">"), VALUE("</parameter>"), BLANK, JUMP(-4),
                               TEXT("</invoke>"), DONE};

static const step minicpm[] = {NAME, TEXT("\">"), BLANK,
                               TRY("<param name=\"", 5), KEY("\">"), CDATA("</param>"), BLANK, JUMP(-4),
                               TEXT("</function>"), DONE};

static const step kimi[] = {BLANK, TEXT("<|tool_call_begin|>"), BLANK, PATH, BLANK,
                            TEXT("<|tool_call_argument_begin|>"), BLANK, JSON, BLANK, TEXT("<|tool_call_end|>"), DONE};

static const step solar[] = {BLANK, TEXT("<|tool_call:begin|>"), ID, TEXT("<|tool_call:name|>"), NAME,
                             TEXT("<|tool_call:args|>"), BLANK, JSON, BLANK, TEXT("<|tool_call:end|>"), DONE};

static const step lfm[] = {BLANK, PYTHON, BLANK, CLOSE("<|tool_call_end|>"), DONE};

// Behind <|python_tag|> JSON or one of the built-in tools' calls; without it JSON alone.
static const step llama[] = {BLANK, SEE("{", 3), CALL, DONE, PYTHON, DONE, BLANK, BARE, CALL, DONE};

static const step list[] = {BLANK, CALLS, DONE};

static const step nemotron[] = {BLANK, CALLS, BLANK, CLOSE("</TOOLCALL>"), DONE};
static const step one_call[] = {BLANK, CALL, DONE};

// A list, or objects one after the other.
static const step tool_calls[] = {BLANK, SEE("[", 4), CALLS, BLANK, JUMP(5), CALL, BLANK, SEE("{", 2), JUMP(-3),
                                  CLOSE("</tool_calls>"), DONE};

// The first row whose evidence is in the template counts: those that others' evidence is a part of come first.
static const struct chat_stream_calls calls_rows[] = {
    {"harmony", {{{"<|channel|>", "<|message|>"}}}, "gpt-oss", CHAT_STREAM_AT_START | CHAT_STREAM_CHANNELS,
     {{"<|start|>", 0}, {"<|channel|>", 0}}, {"<|end|>", "<|return|>", "<|call|>"}, STEPS(harmony)},
    {"gemma", {{{"<|tool_call>call:"}}}, "Gemma 4", 0, {{"<|tool_call>", 0}}, {"<|tool_response>"}, STEPS(gemma)},
    {"mistral", {{{"[TOOL_CALLS]"}}}, "Mistral, Ministral, Magistral, Devstral", 0, {{"[TOOL_CALLS]", 0}}, {NULL},
     STEPS(mistral)},
    {"kimi", {{{"<|tool_calls_section_begin|>"}}}, "Kimi K2", CHAT_STREAM_GROUPS,
     {{"<|tool_calls_section_begin|>", 0}, {"<|tool_call_begin|>", 2}}, {"<|tool_calls_section_end|>"}, STEPS(kimi)},
    {"deepseek", {{{"<｜tool▁call▁begin｜>"}}}, "DeepSeek V3, R1, V3.1", CHAT_STREAM_GROUPS,
     {{"<｜tool▁calls▁begin｜>", 0}, {"<｜tool▁call▁begin｜>", 2}}, {"<｜tool▁calls▁end｜>"}, STEPS(deepseek)},
    {"dsml", {{{"｜DSML｜", "invoke"}}}, "DeepSeek V3.2, V4", CHAT_STREAM_GROUPS,
     {{"<｜DSML｜function_calls>", 0}, {"<｜DSML｜tool_calls>", 0}, {"<｜DSML｜invoke name=\"", 2}},
     {"</｜DSML｜function_calls>", "</｜DSML｜tool_calls>"}, STEPS(dsml)},
    {"minimax", {{{"<minimax:tool_call>", "<invoke"}}}, "MiniMax M2", CHAT_STREAM_GROUPS,
     {{"<minimax:tool_call>", 0}, {"<invoke name=\"", 2}}, {"</minimax:tool_call>"}, STEPS(minimax)},
    {"hunyuan", {{{":opensource", "<arg_key"}}}, "Hunyuan 3", CHAT_STREAM_GROUPS,
     {{"<tool_calls:opensource>", 0}, {"<tool_call:opensource>", 2}}, {"</tool_calls:opensource>"}, STEPS(hunyuan)},
    {"glm", {{{"<tool_call>", "<arg_key>"}}}, "GLM 4.5 to 5, Laguna", 0, {{"<tool_call>", 0}}, {NULL}, STEPS(glm)},
    {"seed", {{{"<seed:tool_call>"}}}, "Seed-OSS", 0, {{"<seed:tool_call>", 0}, {"<function=", 2}}, {NULL},
     STEPS(seed)},
    {"qwen", {{{"<tool_call>", "<function="}}}, "Qwen3-Coder, Qwen3.5, Nemotron 3, Step 3.5", 0,
     {{"<tool_call>", 0}, {"<function=", 2}}, {NULL}, STEPS(qwen)},
    {"function-json", {{{"<function=", "</function>"}}}, "Functionary 3.1", 0, {{"<function=", 0}}, {NULL},
     STEPS(function_json)},
    {"minicpm", {{{"<function name=\"", "<param name=\""}}}, "MiniCPM 5", 0, {{"<function name=\"", 0}}, {NULL},
     STEPS(minicpm)},
    {"lfm", {{{"<|tool_call_start|>"}}, {{"<|tool_list_start|>"}}, {{"List of tools: ["}}}, "LFM2, LFM2.5", 0,
     {{"<|tool_call_start|>", 0}}, {NULL}, STEPS(lfm)},
    {"solar", {{{"<|tool_call:begin|>"}}}, "Solar", 0, {{"<|tool_calls|>", 0}, {"<|tool_call:begin|>", 2}},
     {"<|calls|>"}, STEPS(solar)},
    {"granite", {{{"<|tool_call|>"}}}, "Granite 3", 0, {{"<|tool_call|>", 0}}, {NULL}, STEPS(list)},
    {"cohere", {{{"<|START_ACTION|>"}}}, "Command R7B, Command A", 0, {{"<|START_ACTION|>", 0}}, {"<|END_ACTION|>"},
     STEPS(list)},
    {"apertus", {{{"<|tools_prefix|>"}}}, "Apertus", CHAT_STREAM_KEYED, {{"<|tools_prefix|>", 0}}, {"<|tools_suffix|>"},
     STEPS(list)},
    {"nemotron-list", {{{"<TOOLCALL>"}}}, "Nemotron Nano 2", 0, {{"<TOOLCALL>", 0}}, {NULL}, STEPS(nemotron)},
    {"tool-calls", {{{"<tool_calls>"}}}, "Apriel, MiniMax M1", 0, {{"<tool_calls>", 0}}, {NULL}, STEPS(tool_calls)},
    {"functools", {{{"functools["}}}, "FireFunction 2", 0, {{"functools", 0}}, {NULL}, STEPS(list)},
    {"gigachat", {{{"<|function_call|>"}}, {{"function call", "<|role_sep|>"}}}, "GigaChat 3", 0,
     {{"<|function_call|>", 0}, {"<|message_sep|>\n\nfunction call<|role_sep|>", 0}}, {"<|message_sep|>"},
     STEPS(one_call)},
    {"llama", {{{"<|python_tag|>"}}, {{"{\"name\": function name, \"parameters\":"}}}, "Llama 3",
     CHAT_STREAM_AT_START | CHAT_STREAM_KNOWN, {{"", 6}, {"<|python_tag|>", 0}}, {NULL}, STEPS(llama)},
    {"hermes", {{{"<tool_call>", "!]<]minimax[>["}}}, "Hermes, Qwen2.5, Qwen3, Ling, Granite 4", 0,
     {{"<tool_call>", 0}}, {NULL}, STEPS(hermes)},
};

static const struct chat_stream_reasoning reasoning_rows[] = {
    {"gemma", {{{"<|channel>"}}}, "Gemma 4", "<|channel>thought", "<channel|>", {NULL}},
    {"mistral", {{{"[THINK]"}}}, "Magistral, Ministral 3", "[THINK]", "[/THINK]", {NULL}},
    {"seed", {{{"<seed:think>"}}}, "Seed-OSS", "<seed:think>", "</seed:think>", {NULL}},
    {"minimax3", {{{"<mm:think>"}}}, "MiniMax M3", "<mm:think>", "</mm:think>", {NULL}},
    {"hunyuan", {{{":opensource", "think"}}}, "Hunyuan 3", "<think:opensource>", "</think:opensource>", {NULL}},
    {"solar", {{{"<|think|>", "<|content|>"}}}, "Solar", "<|think|>", "<|end|>",
     {"<|begin|>assistant", "<|content|>", "<|end|>"}},
    {"cohere", {{{"<|START_THINKING|>"}}}, "Command R7B, Command A", "<|START_THINKING|>", "<|END_THINKING|>",
     {"<|START_RESPONSE|>", "<|END_RESPONSE|>", "<|START_TEXT|>", "<|END_TEXT|>"}},
    {"apriel", {{{"[BEGIN FINAL RESPONSE]"}}}, "Apriel", "Here are my reasoning steps:", "[BEGIN FINAL RESPONSE]",
     {"[END FINAL RESPONSE]"}},
    {"response", {{{"<think></think>", "<response></response>"}}}, "Granite 3.3", "<think>", "</think>",
     {"<response>", "</response>"}},
    {"granite", {{{"Here is my thought process:"}}}, "Granite 3.2", "Here is my thought process:",
     "Here is my response:", {NULL}},
    {"think", {{{"<think>"}}, {{"</think>"}}}, "most others", "<think>", "</think>", {NULL}},
};

enum {
    CALLS_ROWS = sizeof calls_rows / sizeof calls_rows[0],
    REASONING_ROWS = sizeof reasoning_rows / sizeof reasoning_rows[0]
};

const struct chat_stream_calls *chat_stream_calls_row(size_t index) {
    return index < CALLS_ROWS ? &calls_rows[index] : NULL;
}

const struct chat_stream_reasoning *chat_stream_reasoning_row(size_t index) {
    return index < REASONING_ROWS ? &reasoning_rows[index] : NULL;
}

const struct chat_stream_calls *chat_stream_calls_named(struct slice name) {
    for (size_t i = 0; i < CALLS_ROWS; i++) {
        if (slice_is(name, calls_rows[i].name)) return &calls_rows[i];
    }
    return NULL;
}

const struct chat_stream_reasoning *chat_stream_reasoning_named(struct slice name) {
    for (size_t i = 0; i < REASONING_ROWS; i++) {
        if (slice_is(name, reasoning_rows[i].name)) return &reasoning_rows[i];
    }
    return NULL;
}

static bool contains(struct slice text, const char *part) {
    size_t size = strlen(part);
    while (text.size >= size) {
        const char *first = memchr(text.data, part[0], text.size - size + 1);
        if (!first) return false;
        text = slice_from(text, (size_t)(first - text.data));
        if (memcmp(text.data, part, size) == 0) return true;
        text = slice_from(text, 1);
    }
    return false;
}

static bool speaks_of(struct slice source, const struct chat_stream_evidence *alternatives, size_t count) {
    for (size_t i = 0; i < count && alternatives[i].all[0]; i++) {
        size_t found = 0, wanted = 0;
        for (size_t k = 0; k < 3 && alternatives[i].all[k]; k++, wanted++) {
            const char *part = alternatives[i].all[k];
            found += *part == '!' ? !contains(source, part + 1) : contains(source, part);
        }
        if (found == wanted) return true;
    }
    return false;
}

struct chat_stream_format chat_stream_detect(struct slice source) {
    struct chat_stream_format format = {NULL, NULL, false};
    for (size_t i = 0; i < CALLS_ROWS && !format.calls; i++) {
        if (speaks_of(source, calls_rows[i].evidence, 3)) format.calls = &calls_rows[i];
    }
    if (format.calls && format.calls->flags & CHAT_STREAM_CHANNELS) return format;
    for (size_t i = 0; i < REASONING_ROWS && !format.reasoning; i++) {
        if (speaks_of(source, reasoning_rows[i].evidence, 2)) format.reasoning = &reasoning_rows[i];
    }
    format.guessed = format.reasoning == NULL;
    if (format.guessed) format.reasoning = chat_stream_reasoning_named(slice_text("think"));
    return format;
}

static bool ends_with(struct slice text, const char *end) {
    size_t size = strlen(end);
    return text.size >= size && memcmp(text.data + text.size - size, end, size) == 0;
}

// A prompt that ends behind a header: the last channel named is the message's.
static enum chat_stream_beginning beginning_of_channel(struct slice prompt) {
    static const char mark[] = "<|channel|>";
    if (!ends_with(prompt, "<|message|>")) return CHAT_STREAM_FRESH;
    for (size_t at = prompt.size; at-- > 0;) {
        struct slice rest = slice_from(prompt, at);
        if (!slice_starts(rest, slice_text(mark))) continue;
        bool analysis = slice_starts(slice_from(rest, sizeof mark - 1), slice_text("analysis"));
        return analysis ? CHAT_STREAM_IN_REASONING : CHAT_STREAM_IN_ANSWER;
    }
    return CHAT_STREAM_FRESH;
}

enum chat_stream_beginning chat_stream_beginning_of(const struct chat_stream_format *format,
                                                    struct slice prompt) {
    if (format->calls && format->calls->flags & CHAT_STREAM_CHANNELS) return beginning_of_channel(prompt);
    while (prompt.size > 0 && chat_stream_json_blanks(slice_from(prompt, prompt.size - 1)) == 1) prompt.size--;
    bool inside = format->reasoning && ends_with(prompt, format->reasoning->open);
    return inside ? CHAT_STREAM_IN_REASONING : CHAT_STREAM_FRESH;
}
