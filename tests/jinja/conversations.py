# SPDX-License-Identifier: Apache-2.0
"""The matrix of template_peer.py: conversations and the settings that templates look at.

Every text of a message or tool holds MARK, which no template has.
"""
MARK = "\u2707Zebra<|im_end|>\u2707"

WEATHER = {"type": "function", "function": {
    "name": "get_weather", "description": f"Weather of a city {MARK} \u00e9\n\"quoted\" & <b>",
    "parameters": {"type": "object", "required": ["city"], "properties": {
        "city": {"type": "string", "description": f"Name {MARK}"},
        "unit": {"type": "string", "enum": ["celsius", "fahrenheit"], "default": "celsius"},
        "days": {"type": "integer", "minimum": 1, "maximum": 18446744073709551615},
        "at": {"type": "object", "description": "Where", "required": ["lat"], "properties": {
            "lat": {"type": "number", "default": 1.5}, "lon": {"type": ["number", "null"]}}},
        "tags": {"type": "array", "items": {"type": "string"}, "description": "Tags"},
        "mode": {"anyOf": [{"type": "string"}, {"type": "null"}], "nullable": True}}}}}
BARE = {"type": "function", "function": {"name": "ping", "description": None, "parameters": {
    "type": "object", "properties": {}}}}
LEAN = {"type": "function", "function": {"name": "now", "description": f"Time {MARK}"}}
RETURNS = {"type": "function", "function": {
    "name": "add", "description": "Adds", "parameters": {"type": "object", "properties": {
        "a": {"type": "number"}}, "required": []}, "return": {"type": "number", "description": "Sum"}}}


SIMPLE = {"type": "function", "function": {
    "name": "add", "description": f"Adds {MARK}", "parameters": {"type": "object", "required": ["a"], "properties": {
        "a": {"type": "number", "description": "One"}, "b": {"type": "string", "description": "Two"}}},
    "return": {"type": "number", "description": "Sum"}}}


def user(text="Hello"):
    return {"role": "user", "content": f"{text} {MARK}"}


def system(text="Be brief."):
    return {"role": "system", "content": f"{text} {MARK}"}


def assistant(text="Well", **more):
    return {"role": "assistant", "content": text if text is None else f"{text} {MARK}", **more}


def call(arguments, name="get_weather", ident="call00001"):
    return {"id": ident, "type": "function", "function": {"name": name, "arguments": arguments}}


def calls(*which, **more):
    return {"role": "assistant", "tool_calls": list(which), **more}


def result(text="sunny", ident="call00001", **more):
    return {"role": "tool", "tool_call_id": ident, "name": "get_weather", "content": f"{text} {MARK}", **more}


def parts(*texts):
    return [{"type": "text", "text": f"{text} {MARK}"} for text in texts]


ARGUMENTS = {"city": f"K\u00f6ln {MARK}", "days": 3, "at": {"lat": 50.5, "lon": None}, "tags": ["a", "b"],
             "ok": True}
TEXT_ARGUMENTS = '{"city": "K\u00f6ln", "days": 3}'
CALL = call(ARGUMENTS)
THOUGHT = {"reasoning_content": f"I think {MARK}"}
TOOLS = {"tools": [WEATHER, BARE]}

CONVERSATIONS = {
    "user": [user()],
    "system": [system(), user()],
    "developer": [{"role": "developer", "content": f"Obey {MARK}"}, user()],
    "turns": [system(), user(), assistant(), user("More")],
    "long": [user("1"), assistant("2"), user("3"), assistant("4"), user("5"), assistant("6"), user("7")],
    "reasoning": [user(), assistant(**THOUGHT), user("And?")],
    "thought in text": [user(), assistant(f"<think>\nhm {MARK}\n</think>\n\nYes"), user("So?")],
    "thinking": [user(), assistant(thinking=f"hm {MARK}", reasoning=f"hm {MARK}"), user("So?")],
    "parts": [{"role": "system", "content": parts("Be brief.")},
              {"role": "user", "content": parts("one", "two")}],
    "image": [{"role": "user", "content": [{"type": "image", "image": "x.png"}, *parts("What is it?")]}],
    "unknown part": [{"role": "user", "content": [{"type": "smell", "smell": "rose"}]}],
    "call": [user(), calls(CALL, content=""), result(), assistant("Sunny")],
    "call null": [user(), calls(CALL, content=None), result()],
    "call absent": [user(), calls(CALL), result()],
    "call text": [user(), calls(call(TEXT_ARGUMENTS), content=f"Let me see {MARK}"), result()],
    "call reasoned": [system(), user(), calls(CALL, content="", **THOUGHT), result(), assistant("Sunny", **THOUGHT),
                      user("Thanks"), assistant("Yes", **THOUGHT)],
    "calls": [user(), calls(CALL, call({"city": "Bonn"}, ident="call00002"), content=""), result(),
              result("rain", "call00002"), user("Thanks")],
    "calls without ids": [user(), {"role": "assistant", "content": "", "tool_calls": [
        {"type": "function", "function": {"name": "ping", "arguments": {}}}]},
                          {"role": "tool", "content": f"pong {MARK}"}],
    "call in parts": [user(), calls(CALL, content=parts("Let me see")),
                      {"role": "tool", "tool_call_id": "call00001", "content": parts("sunny")}],
    "call json result": [user(), calls(CALL, content=""), result(f'{{"t": 20, "s": "{MARK}"}}'), user("Thanks")],
    "waiting": [user(), calls(CALL, content="")],
    "continued": [user(), assistant("Sure, here")],
    "continued thought": [user(), assistant("<think>\nx\n</think>\n\nSo")],
    "user twice": [user("1"), user("2"), assistant(), assistant()],
    "late system": [user(), system(), user("2")],
    "empty text": [{"role": "system", "content": ""}, {"role": "user", "content": ""}],
    "spaces": [{"role": "user", "content": f"  \n {MARK} \t\n"}, {"role": "assistant", "content": "\n a \n"},
               {"role": "user", "content": "\u3000b\u00a0"}],
    "unknown role": [{"role": "critic", "content": "no"}, user()],
    "nothing": [],
}

# tools as transformers passes them: None when there are none.
NO_TOOLS = {"tools": None, "documents": None}
SETTINGS = {
    "": {**NO_TOOLS, "add_generation_prompt": True},
    "no prompt": {**NO_TOOLS, "add_generation_prompt": False},
    "thinking": {**NO_TOOLS, "add_generation_prompt": True, "enable_thinking": True, "thinking": True},
    "no thinking": {**NO_TOOLS, "add_generation_prompt": True, "enable_thinking": False, "thinking": False},
    "tools": {**TOOLS, "add_generation_prompt": True},
    "tools, no prompt, no thinking": {**TOOLS, "add_generation_prompt": False, "enable_thinking": False},
    "tools, thinking": {"tools": [LEAN, WEATHER, RETURNS], "add_generation_prompt": True,
                        "enable_thinking": True, "thinking": True, "reasoning_effort": "high"},
    "simple tools": {"tools": [SIMPLE], "add_generation_prompt": True, "functions": "[]", "datetime": "now"},
    "low effort": {"add_generation_prompt": True, "reasoning_effort": "low", "preserve_thinking": True,
                   "clear_thinking": False, "keep_past_thinking": True, "thinking_effort": "low",
                   "reasoning_mode": "/no_think", "thinking_mode": "enabled"},
    "extras": {"tools": [], "add_generation_prompt": False, "continue_final_message": True,
               "date_string": "1 Jan 2026", "model_identity": "You are a test.", "documents": [
                   {"title": f"T {MARK}", "text": f"D {MARK}", "contents": "c"}],
               "builtin_tools": ["browser", "python"], "controls": {"length": "short"}, "add_vision_id": True,
               "functions": "[]", "datetime": "now"},
}
TOKENS = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}


def cells():
    for talk, messages in CONVERSATIONS.items():
        for setting, values in SETTINGS.items():
            yield f"{talk} / {setting}", {"messages": messages, **TOKENS, **values}
