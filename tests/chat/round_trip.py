#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a chat template writes for an assistant's message must be parsed back into the same message.

    round_trip.py [--least N] [--show] JINJA_RENDER STREAM_PARSE LIST TEMPLATES_DIR

Renders messages with and without reasoning, text and tool calls by every *.jinja of TEMPLATES_DIR, cuts the answer
out of the rendering, feeds it to the parser that is chosen by the template, at once and a byte at a time, and
compares. What a template itself drops or changes is in LIST, with the line that does it: a line

    TEMPLATE | what | line number | a part of that line

A loss that is not listed fails, as does a line of LIST that has no loss or whose part is not in the template's
line. A loss counts only if the rendering shows it: what was dropped must not be in it.
"""
import argparse
import json
import os
import re
import subprocess
import sys

TOOLS = [{"type": "function", "function": {
    "name": "get_weather", "description": "Weather", "parameters": {
        "type": "object", "required": ["city"], "properties": {
            "city": {"type": "string", "description": "City"},
            "note": {"type": "string", "description": "Note"},
            "days": {"type": "integer", "description": "Days"},
            "at": {"type": "object", "description": "Place", "properties": {
                "lat": {"type": "number", "description": "Latitude"}}},
            "tags": {"type": "array", "items": {"type": "string"}, "description": "Tags"},
            "ok": {"type": "boolean", "description": "Sure"}}}}}]
FULL = {"city": "K\u00f6ln \"a\"\nb", "note": "3", "days": 3, "at": {"lat": 50.5}, "tags": ["a", "b"], "ok": True}
SMALL = {"city": "Bonn"}
THOUGHT, TEXT = "Thought one.\n\nThought two.", "Text one.\n\nText two."
ENDS = ["<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|end_of_text|>", "</s>", "<turn|>", "<end_of_turn>", "<|end|>",
        "<|return|>", "<|call|>", "[e~[", "<\uff5cend\u2581of\u2581sentence\uff5c>", "<|END_OF_TURN_TOKEN|>",
        "<|tool_response>", "<seed:eos>", "<end_of_sentence>", "<SPECIAL_12>", "<|message_sep|>", "<sep>", "</assistant>",
        "<|assistant_end|>", "<\uff5chy_eos:opensource\uff5c>", "<|calls|>", "<|eot|>", "<|role_end|>"]


def call(arguments, number, as_text):
    arguments = json.dumps(arguments, ensure_ascii=False) if as_text else arguments
    return {"id": f"call0000{number}", "type": "function",
            "function": {"name": "get_weather", "arguments": arguments}}


def messages(as_text):
    """(name, message) of all shapes."""
    one, two = call(FULL, 1, as_text), call(SMALL, 2, as_text)
    thought = {"reasoning_content": THOUGHT, "thinking": THOUGHT, "reasoning": THOUGHT}
    yield "text", {"content": TEXT}
    yield "thought", {"content": TEXT, **thought}
    yield "call", {"content": "", "tool_calls": [one]}
    yield "text, call", {"content": TEXT, "tool_calls": [one]}
    yield "thought, call", {"content": "", "tool_calls": [one], **thought}
    yield "calls", {"content": "", "tool_calls": [one, two]}
    yield "thought, text, calls", {"content": TEXT, "tool_calls": [one, two], **thought}


class Program:
    def __init__(self, *command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, **request):
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


class Renderer(Program):
    def render(self, path, talk, prompt):
        """The text, or None."""
        answer = self.ask(template=path, context={
            "messages": talk, "tools": TOOLS, "add_generation_prompt": prompt, "bos_token": "<s>", "eos_token": "</s>",
            "enable_thinking": True, "thinking": True, "functions": "[]", "datetime": "now"})
        return answer.get("text")


def common(a, b):
    return os.path.commonprefix([a, b])


def cut_answer(whole, before, prompt):
    """(prompt, answer) of a rendering that ends with the answer; before: without it, prompt: with the prompt."""
    start = len(common(whole, prompt))
    # Not in the middle of a mark, as where <think> is expected and </think> comes.
    tag = max(whole.rfind("<", len(common(whole, before)), start), whole.rfind("[", len(common(whole, before)), start))
    if start < len(prompt) and tag >= 0 and not re.search(r"[>\]]", whole[tag:start]):
        start = tag
    answer = whole[start:]
    while True:
        bare = answer.rstrip()
        end = next((e for e in ENDS if bare.endswith(e)), None)
        if end is None:
            return whole[:start], answer
        answer = bare[:-len(end)]


def losses(message, parsed, answer):
    """What differs: names for the list, or "FAILED ..." for what no template can be blamed for."""
    reasoning, content = message.get("reasoning_content", ""), message["content"]
    for what, wanted, given in (("reasoning", reasoning, parsed["reasoning"]), ("text", content, parsed["content"])):
        if wanted != given:
            gone = wanted and not given and wanted.split("\n")[0] not in answer
            yield f"{what} dropped" if gone else f"FAILED {what}: {given!r} instead of {wanted!r}"
    wanted, given = message.get("tool_calls", []), parsed["tool_calls"]
    if len(given) < len(wanted) and answer.count("get_weather") == len(given):
        yield "calls dropped" if not given else "further calls dropped"
    elif len(given) != len(wanted):
        yield f"FAILED calls: {given}"
    for one, other in zip(wanted, given):
        arguments = one["function"]["arguments"]
        arguments = json.loads(arguments) if isinstance(arguments, str) else arguments
        if other["name"] != "get_weather":
            yield f"FAILED name: {other['name']}"
        if json.loads(other["arguments"]) != arguments:
            yield f"FAILED arguments: {other['arguments']}"
        if other["id"] and other["id"] != one["id"]:
            yield "id changed" if one["id"] not in answer else f"FAILED id: {other['id']}"
    if parsed["truncated"]:
        yield f"FAILED truncated: {parsed['truncated']}"


class Check:
    def __init__(self, arguments):
        self.renderer = Renderer(arguments.renderer, "--batch", "--extended")
        self.parser = Program(arguments.parser)
        self.show = arguments.show

    def render_all(self, path):
        """(name, message, prompt, answer) of what the template renders; arguments as an object, else as text."""
        user = {"role": "user", "content": "Question"}
        before = self.renderer.render(path, [user], False) or ""
        prompt = self.renderer.render(path, [user], True) or before
        for as_text in (False, True):
            cells = []
            for name, message in messages(as_text):
                whole = self.renderer.render(path, [user, {"role": "assistant", **message}], False)
                if whole is not None:
                    cells.append((name, message, *cut_answer(whole, before, prompt)))
            if any("tool_calls" in message for _, message, _, _ in cells):
                break
        return cells

    def template(self, path):
        """{loss: cells}, the number of cells, the formats."""
        found, formats = {}, None
        cells = self.render_all(path)
        for name, message, prompt, answer in cells:
            parsed = [self.parser.ask(template=path, tools=TOOLS, prompt=prompt, text=answer, step=step)
                      for step in (0, 1)]
            formats = parsed[0]["formats"] + (["guessed"] if parsed[0]["guessed"] else [])
            if parsed[0] != parsed[1]:
                found.setdefault("FAILED: depends on how it is cut", []).append(name)
            for loss in losses(message, parsed[0], answer):
                found.setdefault(loss, []).append(name)
            if self.show:
                print(f"    {name}: {prompt[-30:]!r} {answer!r}\n        {parsed[0]}")
        if len(cells) < len(list(messages(False))):
            found["refused"] = [name for name, _ in messages(False) if name not in [cell[0] for cell in cells]]
        return found, len(cells), formats


def read_list(path):
    """{(template, what): (line number, part)}"""
    listed = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                template, what, number, part = (field.strip() for field in line.split(" | ", 3))
                listed[template, what] = (int(number), part)
    return listed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("renderer", "parser", "list", "templates"):
        parser.add_argument(name)
    parser.add_argument("--least", type=int, default=1, help="how many templates there must be")
    parser.add_argument("--show", action="store_true", help="print every cell")
    parser.add_argument("--only", default="", help="a part of the templates' names")
    arguments = parser.parse_args()
    check, listed, failures = Check(arguments), read_list(arguments.list), []
    names = sorted(name[:-len(".jinja")] for name in os.listdir(arguments.templates)
                   if name.endswith(".jinja") and arguments.only in name)
    total = whole = 0
    for name in names:
        path = os.path.join(arguments.templates, name + ".jinja")
        found, cells, formats = check.template(path)
        with open(path, encoding="utf-8", newline="") as file:
            lines = file.read().split("\n")
        total += cells
        whole += not found
        print(f"{name}: {cells} messages, formats {formats}; {', '.join(sorted(found)) or 'all came back'}")
        for what, where in found.items():
            if (name, what) not in listed:
                failures.append(f"{name}: {what} ({', '.join(where)}), which is not in the list")
        for (template, what), (number, part) in listed.items():
            if template == name and what not in found:
                failures.append(f"{name}: the list has '{what}', which did not happen")
            if template == name and part not in lines[number - 1]:
                failures.append(f"{name}: line {number} has no {part!r}")
        if cells == 0 and (name, "refused") not in listed:
            failures.append(f"{name}: every message was refused")
    for failure in failures:
        print(f"FAILED {failure}")
    print(f"{len(names)} templates, {total} messages; {whole} templates lose nothing, {len(failures)} failures")
    if len(names) < arguments.least:
        print(f"only {len(names)} templates were found, at least {arguments.least} are expected")
    sys.exit(1 if failures or len(names) < arguments.least else 0)


if __name__ == "__main__":
    main()
