// SPDX-License-Identifier: Apache-2.0
//
// Answers as models of each family write them, and what they say. A transcript: T: text, R: reasoning, C: NAME#ID of a
// call, A: its arguments, E its end, . the regular end, !BLOCK:BYTES a cut one; | between them.
#ifndef STREAM_SAMPLES_H
#define STREAM_SAMPLES_H

#include "chat/chat_stream.h"

struct sample {
    const char *reasoning, *calls;
    enum chat_stream_beginning beginning;
    const char *tools, *text, *expected;
};

// f(city: string, n: integer, o: object, b: boolean, s: string or null)
#define TOOLS                                                                                          \
    "[{\"type\": \"function\", \"function\": {\"name\": \"f\", \"parameters\": {\"type\": \"object\", " \
    "\"properties\": {\"city\": {\"type\": \"string\"}, \"n\": {\"type\": \"integer\"}, "              \
    "\"o\": {\"type\": \"object\"}, \"b\": {\"anyOf\": [{\"type\": \"boolean\"}]}, "                   \
    "\"s\": {\"type\": [\"string\", \"null\"]}}}}}]"
#define IN  CHAT_STREAM_IN_REASONING
#define NEW CHAT_STREAM_FRESH

static const struct sample samples[] = {
    // Reasoning
    {"think", NULL, NEW, NULL, "Hello\n\n  world \n", "T:Hello\n\n  world \n|."},
    {"think", NULL, NEW, NULL, "<think>\nhm\n</think>\n\nYes.", "R:hm|T:Yes.|."},
    {"think", NULL, NEW, NULL, "<think></think>\n\n    code", "T:    code|."},
    {"think", NULL, IN, NULL, "\nhm\n</think>\n\nYes.", "R:hm|T:Yes.|."},
    {"think", NULL, IN, NULL, "</think>Yes.", "T:Yes.|."},
    {"think", NULL, IN, NULL, "never closed\n", "R:never closed\n|!1:"},
    {"think", NULL, NEW, NULL, "</think>\nYes </think>", "T:Yes </think>|."},
    {"think", NULL, IN, NULL, "a `</think>` b \"</think>\"\n</think>c", "R:a `</think>` b \"</think>\"|T:c|."},
    {"think", NULL, NEW, NULL, "The <think> mark", "T:The <think> mark|."},
    {"think", "hermes", IN, NULL, "<tool_call>{\"name\": \"f\"}</tool_call></think>x",
     "R:<tool_call>{\"name\": \"f\"}</tool_call>|T:x|."},
    {"mistral", NULL, NEW, NULL, "[THINK]hm[/THINK]Yes", "R:hm|T:Yes|."},
    {"seed", NULL, NEW, NULL, "<seed:think>hm</seed:think>Yes", "R:hm|T:Yes|."},
    {"gemma", NULL, NEW, NULL, "<|channel>thought\nhm\n<channel|>Yes", "R:hm|T:Yes|."},
    {"granite", NULL, NEW, NULL, "Here is my thought process: hm\n\nHere is my response: Yes", "R: hm|T: Yes|."},
    {"response", NULL, NEW, NULL, "<think>hm</think><response>Yes</response>", "R:hm|T:Yes|."},
    {"cohere", NULL, NEW, NULL, "<|START_THINKING|>hm<|END_THINKING|><|START_RESPONSE|>Yes<|END_RESPONSE|>",
     "R:hm|T:Yes|."},
    {"apriel", NULL, IN, NULL, "hm\n[BEGIN FINAL RESPONSE]\nYes\n[END FINAL RESPONSE]", "R:hm|T:Yes|."},
    // Hermes: Qwen2.5, Qwen3, Ling
    {"think", "hermes", NEW, NULL,
     "<think>\nhm\n</think>\n\nSee:\n<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": \"</tool_"
     "call>\"}}\n</tool_call>\n"
     "<tool_call>\n{\"arguments\": {}, \"name\": \"g\"}\n</tool_call>",
     "R:hm|T:See:|C:f#|A:{\"a\": \"</tool_call>\"}|E|C:g#|A:{}|E|."},
    {NULL, "hermes", NEW, NULL, "<tool_call>{\"name\": \"f\", \"arguments\": \"{\\\"a\\\": 1}\"}</tool_call>after",
     "C:f#|A:{\"a\": 1}|E|T:after|."},
    {NULL, "hermes", NEW, NULL, "<tool_call>{\"name\": \"f\"}", "C:f#|A:{}|E|!2:"},
    {NULL, "hermes", NEW, NULL, "a <tool_call>{\"name\": \"f\", \"argu", "T:a|!2:<tool_call>{\"name\": \"f\", \"argu"},
    {NULL, "hermes", NEW, NULL, "<tool_call>bad</tool_call>\n<tool_call>{\"name\": \"f\"}</tool_call>",
     "T:<tool_call>bad</tool_call>|C:f#|A:{}|E|."},
    // Qwen's parameters, with types from the schema and without
    {"think", "qwen", IN, TOOLS,
     "hm\n</think>\n\nSee:\n\n<tool_call>\n<function=f>\n<parameter=city>\n3\n</parameter>\n<paramet"
     "er=n>\n3\n</parameter>\n"
     "<parameter=o>\n{'lat': None}\n</parameter>\n<parameter=b>\nTrue\n</parameter>\n<parameter=s>"
     "\nnull\n</parameter>\n"
     "</function>\n</tool_call>",
     "R:hm|T:See:|C:f#|A:{\"city\": \"3\", \"n\": 3, \"o\": {\"lat\": null}, \"b\": true, \"s\": null}|E|."},
    {NULL, "qwen", NEW, NULL,
     "<tool_call>\n<function=g>\n<parameter=a>\n3\n</parameter>\n<parameter=b>\nx\n</parameter>\ny\n</parameter>\n"
     "<parameter=c>\n\"q\"\n</parameter>\n</function>\n</tool_call>",
     "C:g#|A:{\"a\": 3, \"b\": \"x\\n</parameter>\\ny\", \"c\": \"\\\"q\\\"\"}|E|."},
    {NULL, "qwen", NEW, NULL, "<function=g>\n</function> done", "C:g#|A:{}|E|T:done|."},
    {NULL, "seed", NEW, NULL,
     "<seed:tool_call>\n<function=g>\n<parameter=a>\nx</parameter>\n</function>\n</seed:tool_call>",
     "C:g#|A:{\"a\": \"\\nx\"}|E|."},
    {NULL, "function-json", NEW, NULL, "<function=g>{\"a\": 1}</function>", "C:g#|A:{\"a\": 1}|E|."},
    {NULL, "minicpm", NEW, NULL,
     "<function name=\"g\"><param name=\"a\"><![CDATA[<b>]]></param><param name=\"n\">1</param></function>",
     "C:g#|A:{\"a\": \"<b>\", \"n\": 1}|E|."},
    // GLM, with and without line ends; Hunyuan
    {"think", "glm", IN, TOOLS,
     "hm</think>See<tool_call>f<arg_key>city</arg_key><arg_value>3</arg_value><arg_key>o</arg_key><arg_value>{\"a\": 1}"
     "</arg_value></tool_call>",
     "R:hm|T:See|C:f#|A:{\"city\": \"3\", \"o\": {\"a\": 1}}|E|."},
    {NULL, "glm", NEW, NULL,
     "\n<tool_call>g\n<arg_key>k</arg_key>\n<arg_value>v</arg_value>\n</tool_call>\n<tool_call>h\n</tool_call>",
     "C:g#|A:{\"k\": \"v\"}|E|C:h#|A:{}|E|."},
    {"hunyuan", "hunyuan", NEW, NULL,
     "<think:opensource>hm</think:opensource><tool_calls:opensource>\n<tool_call:opensource>g<tool_sep:opensource>\n"
     "<arg_key:opensource>k</arg_key:opensource>\n<arg_value:opensource>1</arg_value:opensource>\n"
     "</tool_call:opensource>\n</tool_calls:opensource>",
     "R:hm|C:g#|A:{\"k\": 1}|E|."},
    // DeepSeek
    {"think", "deepseek", IN, NULL,
     "hm</think>See<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>g<｜tool▁sep｜>{\"a\": 1}<｜tool▁call▁end｜>"
     "<｜tool▁call▁begin｜>h<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
     "R:hm|T:See|C:g#|A:{\"a\": 1}|E|C:h#|A:{}|E|."},
    {NULL, "deepseek", NEW, NULL,
     "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>g\n```json\n{\"a\": 1}\n```<｜tool▁call▁end｜>",
     "C:g#|A:{\"a\": 1}|E|!2:"},
    {NULL, "dsml", NEW, NULL,
     "See\n\n<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"g\">\n<｜DSML｜parameter name=\"a\" string=\"true\">3"
     "</｜DSML｜parameter>\n<｜DSML｜parameter name=\"b\" string=\"false\">[1]</｜DSML｜parameter>\n</｜DSML｜invoke>\n"
     "</｜DSML｜function_calls>",
     "T:See|C:g#|A:{\"a\": \"3\", \"b\": [1]}|E|."},
    // MiniMax
    {"think", "minimax", IN, NULL,
     "hm\n</think>\n\n<minimax:tool_call>\n<invoke name=\"g\">\n<parameter name=\"a\">x</parameter>\n</invoke>\n"
     "<invoke name=\"h\">\n</invoke>\n</minimax:tool_call>",
     "R:hm|C:g#|A:{\"a\": \"x\"}|E|C:h#|A:{}|E|."},
    // Kimi K2
    {"think", "kimi", NEW, NULL,
     "<think>hm</think>See<|tool_calls_section_begin|><|tool_call_begin|>functions.g:0<|tool_call_argument_begin|>"
     "{\"a\": 1}<|tool_call_end|><|tool_call_begin|>functions.h:1<|tool_call_argument_begin|>{}<|tool_call_end|>"
     "<|tool_calls_section_end|>",
     "R:hm|T:See|C:g#functions.g:0|A:{\"a\": 1}|E|C:h#functions.h:1|A:{}|E|."},
    // Mistral, new and old
    {"mistral", "mistral", NEW, NULL,
     "See[TOOL_CALLS]g[ARGS]{\"a\": \"[/INST]\"}[TOOL_CALLS]h[CALL_ID]abc123456[ARGS]{}",
     "T:See|C:g#|A:{\"a\": \"[/INST]\"}|E|C:h#abc123456|A:{}|E|."},
    {NULL, "mistral", NEW, NULL,
     "[TOOL_CALLS] [{\"name\": \"g\", \"arguments\": {\"a\": 1}, \"id\": \"abc\"}, {\"name\": \"h\","
     " \"arguments\": {}}]",
     "C:g#abc|A:{\"a\": 1}|E|C:h#|A:{}|E|."},
    // LFM2
    {"think", "lfm", NEW, NULL,
     "<|tool_call_start|>[g(a='it\\'s \"x\"', b=1, c={\"k\": null}, d=[True, (1.5, None)]), h()]<|tool_call_end|>ok",
     "C:g#|A:{\"a\": \"it's \\\"x\\\"\", \"b\": 1, \"c\": {\"k\": null}, \"d\": [true, [1.5, null]]}"
     "|E|C:h#|A:{}|E|T:ok|."},
    // Llama
    {NULL, "llama", NEW, TOOLS, "{\"name\": \"f\", \"parameters\": {\"city\": \"x\"}}", "C:f#|A:{\"city\": \"x\"}|E|."},
    {NULL, "llama", NEW, TOOLS, "\n{ \"type\": \"function\", \"name\": \"f\", \"parameters\": {}}", "C:f#|A:{}|E|."},
    {NULL, "llama", NEW, TOOLS, "{\"name\": \"Bob\", \"age\": 3} is he", "T:{\"name\": \"Bob\", \"age\": 3} is he|."},
    {NULL, "llama", NEW, TOOLS, "{\"id\": 1}", "T:{\"id\": 1}|."},
    {NULL, "llama", NEW, NULL, "{\"name\": \"f\", \"parameters\": {}}", "T:{\"name\": \"f\", \"parameters\": {}}|."},
    {NULL, "llama", NEW, NULL, "<|python_tag|>{\"name\": \"g\", \"parameters\": {}}", "C:g#|A:{}|E|."},
    {NULL, "llama", NEW, NULL, "<|python_tag|>brave_search.call(query=\"a (b\")",
     "C:brave_search#|A:{\"query\": \"a (b\"}|E|."},
    // Granite and other lists
    {NULL, "granite", NEW, NULL,
     "<|tool_call|>[{\"name\": \"g\", \"arguments\": {\"a\": 1}}]", "C:g#|A:{\"a\": 1}|E|."},
    {"cohere", "cohere", NEW, NULL,
     "<|START_THINKING|>hm<|END_THINKING|><|START_ACTION|>[\n    {\"tool_call_id\": \"0\", \"tool_name\": \"g\", "
     "\"parameters\": {}}\n]<|END_ACTION|>",
     "R:hm|C:g#0|A:{}|E|."},
    {NULL, "apertus", NEW, NULL, "<|tools_prefix|>[{\"g\": {\"a\": 1}}, {\"h\": {}}]<|tools_suffix|>",
     "C:g#|A:{\"a\": 1}|E|C:h#|A:{}|E|."},
    {NULL, "nemotron-list", NEW, NULL, "<TOOLCALL>[{\"name\": \"g\", \"arguments\": {}}]</TOOLCALL>", "C:g#|A:{}|E|."},
    {NULL, "tool-calls", NEW, NULL, "<tool_calls>[{\"name\": \"g\", \"arguments\": {}}]</tool_calls>", "C:g#|A:{}|E|."},
    {NULL, "tool-calls", NEW, NULL,
     "<tool_calls>\n{\"name\": \"g\", \"arguments\": {}}\n{\"name\": \"h\", \"arguments\": {}}\n</tool_calls>",
     "C:g#|A:{}|E|C:h#|A:{}|E|."},
    {NULL, "functools", NEW, NULL, "See functools[{\"name\": \"g\", \"arguments\": {}}]", "T:See|C:g#|A:{}|E|."},
    {NULL, "gigachat", NEW, NULL, "See<|function_call|>{\"name\": \"g\", \"arguments\": {}}", "T:See|C:g#|A:{}|E|."},
    {"solar", "solar", NEW, NULL,
     "<|think|>hm<|end|><|begin|>assistant<|tool_calls|><|tool_call:begin|>ab12<|tool_call:name|>g<|tool_call:args|>{}"
     "<|tool_call:end|><|calls|>",
     "R:hm|C:g#ab12|A:{}|E|."},
    // Gemma 4
    {"gemma", "gemma", NEW, NULL,
     "<|channel>thought\nhm<channel|><|tool_call>call:g{at:{lat:50.5,lon:None},city:<|\"|>a \"b\"}<|\"|>,ok:true,"
     "tags:[<|\"|>x<|\"|>]}<tool_call|>",
     "R:hm|C:g#|A:{\"at\": {\"lat\": 50.5, \"lon\": null}, \"city\": \"a \\\"b\\\"}\", \"ok\": true,"
     " \"tags\": [\"x\"]}|E|."},
    // gpt-oss
    {NULL, "harmony", NEW, NULL,
     "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>Yes<|retur"
     "n|>", "R:hm|T:Yes|."},
    {NULL, "harmony", NEW, NULL,
     "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>commentary<|message|>I look.<|end|>"
     "<|start|>assistant<|channel|>commentary to=functions.g <|constrain|>json<|message|>{\"a\": 1}<|call|>",
     "R:hm|T:I look.|C:g#|A:{\"a\": 1}|E|."},
    {NULL, "harmony", NEW, NULL, " to=functions.g<|channel|>commentary json<|message|>{}", "C:g#|A:{}|E|."},
    {NULL, "harmony", IN, NULL, "hm<|end|><|start|>assistant<|channel|>final<|message|>Yes", "R:hm|T:Yes|."},
    {NULL, "harmony", CHAT_STREAM_IN_ANSWER, NULL, "goes on", "T:goes on|."},
    {NULL, "harmony", NEW, NULL, "plain text", "T:plain text|."},
    {NULL, "harmony", NEW, NULL, "<|channel|>analysis<|message|>hm", "R:hm|!1:"},
    {NULL, "harmony", NEW, NULL, "<|channel|>anal", "!3:<|channel|>anal"},
    {NULL, "harmony", NEW, NULL, "", "."},
};

static const struct sample malformed[] = {
    {NULL, "hermes", NEW, NULL, "<tool_call>\n{\"name\": f}\n</tool_call>", NULL},
    {NULL, "hermes", NEW, NULL, "a\n<tool_call>{\"name\": \"f\", \"arguments\": [1]}</tool_call>", NULL},
    {NULL, "hermes", NEW, NULL, "<tool_call>{\"name\": \"\"}</tool_call>", NULL},
    {NULL, "hermes", NEW, NULL, "<tool_call>{\"f\": {\"a\": 1}}</tool_call>", NULL},
    {NULL, "hermes", NEW, NULL, "<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": \"\\ud800\"}}</tool_call>", NULL},
    {NULL, "hermes", NEW, NULL, "<tool_call>{\"name\": \"f\"} and </tool_call>", NULL},
    {NULL, "hermes", NEW, NULL, "<tool_call>[]</tool_call> x", NULL},
    {NULL, "qwen", NEW, NULL, "<tool_call>\n<function=>\n</function>\n</tool_call>", NULL},
    {NULL, "qwen", NEW, NULL, "Use <function=name> for it", NULL},
    {NULL, "glm", NEW, NULL, "<tool_call>f<arg_value>1</arg_value></tool_call>", NULL},
    {NULL, "deepseek", NEW, NULL, "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>no json<｜tool▁call▁end｜>", NULL},
    {NULL, "dsml", NEW, NULL, "<｜DSML｜invoke name=\"f\">\n<｜DSML｜parameter name=\"a\" string=\"maybe\">", NULL},
    {NULL, "minimax", NEW, NULL, "<minimax:tool_call>\n<invoke>f</invoke>\n</minimax:tool_call>", NULL},
    {NULL, "kimi", NEW, NULL, "<|tool_calls_section_begin|><|tool_call_begin|>f:0<|tool_call_end|>", NULL},
    {NULL, "mistral", NEW, NULL, "[TOOL_CALLS]f[ARGS]nothing", NULL},
    {NULL, "mistral", NEW, NULL, "[TOOL_CALLS][{\"name\": \"f\", \"arguments\": 1}]", NULL},
    {NULL, "lfm", NEW, NULL, "<|tool_call_start|>[f(1)]<|tool_call_end|>", NULL},
    {NULL, "lfm", NEW, NULL, "<|tool_call_start|>[f(a=b)]<|tool_call_end|>", NULL},
    {NULL, "lfm", NEW, NULL, "<|tool_call_start|>[f(a='\\xzz')]<|tool_call_end|>", NULL},
    {NULL, "llama", NEW, TOOLS, "{\"name\": \"unknown\", \"parameters\": {}}", NULL},
    {NULL, "llama", NEW, TOOLS, "<|python_tag|>import math", NULL},
    {NULL, "granite", NEW, NULL, "<|tool_call|>[]", NULL},
    {NULL, "gemma", NEW, NULL, "<|tool_call>call:f{a:b}<tool_call|>", NULL},
    {NULL, "gemma", NEW, NULL, "<|tool_call>call:f(a)<tool_call|>", NULL},
    {NULL, "harmony", NEW, NULL, "<|channel|>unheard of<|message|>x", NULL},
    {NULL, "harmony", NEW, NULL, "<|channel|>commentary to=functions.f<|message|>no json", NULL},
};

enum {
    sample_count = sizeof samples / sizeof samples[0],
    malformed_count = sizeof malformed / sizeof malformed[0]
};

#endif
