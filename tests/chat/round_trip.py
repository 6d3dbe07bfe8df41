#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a chat template writes for an assistant's message must be parsed back into the same message.

    round_trip.py [--least N] [--show] JINJA_RENDER STREAM_PARSE LIST TEMPLATES_DIR

Renders messages with and without reasoning, text and tool calls by every *.jinja of TEMPLATES_DIR, cuts the answer
out of the rendering, feeds it to the parser that is chosen by the template, at once and a byte at a time, and
compares. What a template itself drops or changes is in LIST, with the line that does it: a line

    TEMPLATE | what | line number | a part of that line

A loss that is not listed fails, as does a line of LIST that has no loss or whose part is not in the template's
line. "unsupported" instead of a loss: the calls of this template are not parsed, and nothing else of it is checked.
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
# What ends a turn, and what may stand between its messages too.
ENDS = ["<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|end_of_text|>", "</s>", "<turn|>", "<end_of_turn>", "<|return|>",
        "<|call|>", "[e~[", "<\uff5cend\u2581of\u2581sentence\uff5c>", "<|END_OF_TURN_TOKEN|>", "<|tool_response>",
        "<seed:eos>", "<end_of_sentence>", "<SPECIAL_12>", "<sep>", "</assistant>", "<|assistant_end|>",
        "<\uff5chy_eos:opensource\uff5c>", "<|calls|>", "<|eot|>", "<|role_end|>"]
LAST = ["<|end|>", "<|message_sep|>"]


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


def ask(command, requests):
    """The answers of a program that reads and writes a line each."""
    text = "".join(json.dumps(request) + "\n" for request in requests)
    done = subprocess.run(command, input=text.encode(), stdout=subprocess.PIPE, check=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(requests)
    return answers


USER = {"role": "user", "content": "Question"}


def rendering(path, talk, prompt):
    return {"template": path, "context": {
        "messages": talk, "tools": TOOLS, "add_generation_prompt": prompt, "bos_token": "<s>", "eos_token": "</s>",
        "enable_thinking": True, "thinking": True, "functions": "[]", "datetime": "now"}}


def render_all(program, paths):
    """{path: (before, prompt, {as_text: [(name, message, whole or None)]})}"""
    requests = []
    for path in paths:
        requests += [rendering(path, [USER], False), rendering(path, [USER], True)]
        requests += [rendering(path, [USER, {"role": "assistant", **message}], False)
                     for as_text in (False, True) for _, message in messages(as_text)]
    texts = iter([answer.get("text") for answer in ask([program, "--batch", "--extended"], requests)])
    rendered = {}
    for path in paths:
        before, prompt = next(texts) or "", next(texts)
        cells = {as_text: [(name, message, next(texts)) for name, message in messages(as_text)]
                 for as_text in (False, True)}
        rendered[path] = (before, prompt or before, cells)
    return rendered


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
    cuts = [answer.find(end) for end in ENDS if end in answer]
    answer = answer[:min(cuts, default=len(answer))]
    bare = answer.rstrip()
    return whole[:start], next((bare[:-len(end)] for end in LAST if bare.endswith(end)), answer)


def losses(message, parsed, answer):
    """What differs. "dropped" means that the rendering does not have it."""
    reasoning, content = message.get("reasoning_content", ""), message["content"]
    for what, wanted, given in (("reasoning", reasoning, parsed["reasoning"]), ("text", content, parsed["content"])):
        if wanted != given.rstrip():
            gone = wanted and not given and wanted.split("\n")[0] not in answer
            yield f"{what} {'dropped' if gone else 'changed'}"
    wanted, given = message.get("tool_calls", []), parsed["tool_calls"]
    if len(given) < len(wanted) and answer.count("get_weather") == len(given):
        yield "calls dropped" if not given else "further calls dropped"
    elif len(given) != len(wanted):
        yield "calls changed"
    for one, other in zip(wanted, given):
        arguments = one["function"]["arguments"]
        arguments = json.loads(arguments) if isinstance(arguments, str) else arguments
        if other["name"] != "get_weather":
            yield "name changed"
        if json.loads(other["arguments"]) != arguments:
            yield "arguments changed"
        if other["id"] and other["id"] != one["id"]:
            yield "id changed" if one["id"] in answer else "id rewritten"
    if parsed["truncated"]:
        yield "truncated"


def answers_of(before, prompt, cells):
    """(name, message, prompt, answer) of what a template renders; arguments as an object, else as text."""
    chosen = []
    for as_text in (False, True):
        chosen = [(name, message, *cut_answer(whole, before, prompt))
                  for name, message, whole in cells[as_text] if whole is not None]
        if any("tool_calls" in message for _, message, _, _ in chosen):
            break
    return chosen


def check_all(arguments, paths):
    """{path: ({loss: cells}, number of cells, formats)}"""
    rendered = render_all(arguments.renderer, paths)
    cells = {path: answers_of(*rendered[path]) for path in paths}
    requests = [{"template": path, "tools": TOOLS, "prompt": prompt, "text": answer, "step": step}
                for path in paths for _, _, prompt, answer in cells[path] for step in (0, 1)]
    parsed, results = iter(ask([arguments.parser], requests)), {}
    for path in paths:
        found, formats = {}, None
        for name, message, prompt, answer in cells[path]:
            whole, bytewise = next(parsed), next(parsed)
            formats = whole["formats"] + ["guessed"] * whole["guessed"]
            if whole != bytewise:
                found.setdefault("depends on how it is cut", []).append(name)
            for loss in losses(message, whole, answer):
                found.setdefault(loss, []).append(name)
            if arguments.show:
                print(f"    {name}: {prompt[-30:]!r} {answer!r}\n        {whole}")
        seen = [name for name, _, _, _ in cells[path]]
        refused = [name for name, _ in messages(False) if name not in seen]
        if refused:
            found["refused"] = refused
        results[path] = (found, len(seen), formats)
    return results


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
    names = sorted(name[:-len(".jinja")] for name in os.listdir(arguments.templates)
                   if name.endswith(".jinja") and arguments.only in name)
    paths = {name: os.path.join(arguments.templates, name + ".jinja") for name in names}
    results, listed, failures = check_all(arguments, list(paths.values())), read_list(arguments.list), []
    for name in names:
        found, cells, formats = results[paths[name]]
        with open(paths[name], encoding="utf-8", newline="") as file:
            lines = file.read().split("\n")
        if (name, "unsupported") in listed and found:
            found = {"unsupported": list(found)}
        print(f"{name}: {cells} messages, formats {formats}; {', '.join(sorted(found)) or 'all came back'}")
        for what, where in found.items():
            if (name, what) not in listed:
                failures.append(f"{name}: {what} ({', '.join(where)}), which is not in the list")
        for (template, what), (number, part) in listed.items():
            if template == name and what not in found:
                failures.append(f"{name}: the list has '{what}', which did not happen")
            if template == name and (number > len(lines) or part not in lines[number - 1]):
                failures.append(f"{name}: line {number} has no {part!r}")
    total = sum(cells for _, cells, _ in results.values())
    whole = sum(not found for found, _, _ in results.values())
    for failure in failures:
        print(f"FAILED {failure}")
    print(f"{len(names)} templates, {total} messages; {whole} templates lose nothing, {len(failures)} failures")
    if len(names) < arguments.least:
        print(f"only {len(names)} templates were found, at least {arguments.least} are expected")
    sys.exit(1 if failures or len(names) < arguments.least else 0)


if __name__ == "__main__":
    main()
