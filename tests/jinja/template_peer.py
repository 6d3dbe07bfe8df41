#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares lib/jinja with Python's jinja2, set up as Hugging Face's transformers sets it up.

    template_peer.py JINJA_RENDER [TEMPLATES_DIR]

Renders the constructs of constructs.py, and every *.jinja of TEMPLATES_DIR over a matrix of
conversations and settings. Each cell must give the same bytes on both sides, or be refused by both. What
transformers refuses because a template changes a list, or lacks from_json, is compared once more with a
sandbox that allows it. No text that came from a message may be marked as the template's. A template
that is refused in every cell fails.
"""
import argparse
import datetime
import json
import os
import subprocess
import sys
import tempfile

import jinja2
from jinja2 import nodes
from jinja2.exceptions import SecurityError, TemplateError
from jinja2.ext import Extension
from jinja2.sandbox import ImmutableSandboxedEnvironment, SandboxedEnvironment

import constructs
import conversations

NOW = datetime.datetime(2026, 1, 2, 3, 4, 5)


class Generation(Extension):
    """{% generation %} of transformers, whose only trace in the text is none."""
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return nodes.CallBlock(self.call_method("render"), [], [], body).set_lineno(line)

    @staticmethod
    def render(caller):
        return caller()


def raise_exception(message):
    raise TemplateError(message)


def tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators,
                      sort_keys=sort_keys)


def environment(kind):
    env = kind(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, "jinja2.ext.loopcontrols"])
    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = NOW.strftime
    return env


STRICT = environment(ImmutableSandboxedEnvironment)
EXTENDED = environment(SandboxedEnvironment)
EXTENDED.filters["from_json"] = json.loads


class Reference:
    """One template in both environments."""

    def __init__(self, source):
        self.source, self.compiled = source, {}

    def render(self, context, env=STRICT):
        """(text, None) or (None, why not)."""
        try:
            if env not in self.compiled:
                self.compiled[env] = env.from_string(self.source)
            text = self.compiled[env].render(**json.loads(json.dumps(context)))
            text.encode()
            return text, None
        except Exception as error:  # whatever Python raises is a refusal
            return None, error

    def wants_more(self, error):
        return isinstance(error, SecurityError) or "from_json" in str(error)


class Ours:
    """jinja_render --batch, all requests at once."""

    def __init__(self, program, extended):
        self.command = [program, "--batch", "--now", NOW.isoformat()] + ["--extended"] * extended
        self.requests = []

    def ask(self, path, context):
        self.requests.append(json.dumps({"template": path, "context": context}))

    def answers(self):
        done = subprocess.run(self.command, input="".join(r + "\n" for r in self.requests).encode(),
                              stdout=subprocess.PIPE, check=True)
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        assert len(answers) == len(self.requests)
        return answers


def leaked(answer):
    """Is a byte of the mark that only messages hold called the template's?"""
    text, at = answer["text"].encode(), 0
    mark, trusted = conversations.MARK.encode(), bytearray()
    for size, is_template in answer["stretches"]:
        trusted += bytes([is_template]) * size
    assert len(trusted) == len(text), "the stretches do not add up to the text"
    while (at := text.find(mark, at)) >= 0:
        if any(trusted[at:at + len(mark)]):
            return True
        at += len(mark)
    return False


def differs(expected, error, answer):
    """A description, or None."""
    if error is not None:
        return None if "error" in answer else f"jinja2 refuses ({error}), we give {answer['text'][:200]!r}"
    if "error" in answer:
        return f"we refuse: {answer['error']}"
    if answer["text"] != expected:
        at = next((i for i, (a, b) in enumerate(zip(expected, answer["text"])) if a != b),
                  min(len(expected), len(answer["text"])))
        return f"from character {at}: {expected[at:at + 80]!r} expected, {answer['text'][at:at + 80]!r} given"
    return "text of a message is marked as the template's" if leaked(answer) else None


def compare(program, cells, extended=False):
    """cells: (name, path, Reference, context). Yields (cell, refusal of jinja2, what differs)."""
    ours = Ours(program, extended)
    for _, path, _, context in cells:
        ours.ask(path, context)
    for cell, answer in zip(cells, ours.answers()):
        expected, error = cell[2].render(cell[3], EXTENDED if extended else STRICT)
        yield cell, error, differs(expected, error, answer)


def check_constructs(program, folder):
    cells, failures, refused = [], 0, 0
    for number, source in enumerate(constructs.TEMPLATES + constructs.REFUSED):
        path = os.path.join(folder, f"{number}.jinja")
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(source)
        cells.append((repr(source), path, Reference(source), constructs.CONTEXT))
    ours_only = {repr(source) for source in constructs.REFUSED}
    for cell, error, difference in compare(program, cells):
        refused += error is not None
        if cell[0] in ours_only:
            wrong = error is not None or not (difference or "").startswith("we refuse")
            difference = "is no longer refused by us alone" if wrong else None
        if difference:
            failures += 1
            print(f"FAILED {cell[0]}: {difference}")
    print(f"{len(cells)} constructs, {refused} refused by both, {failures} differ")
    return failures


def check_template(program, path):
    name = os.path.basename(path)[:-len(".jinja")]
    with open(path, encoding="utf-8", newline="") as file:
        reference = Reference(file.read())
    cells = [(cell, path, reference, context) for cell, context in conversations.cells()]
    failures, refused, more = [], 0, []
    for cell, error, difference in compare(program, cells):
        refused += error is not None
        if error is not None and reference.wants_more(error):
            more.append(cell)
        if difference:
            failures.append(f"{cell[0]}: {difference}")
    extended = 0
    for cell, error, difference in compare(program, more, extended=True) if more else ():
        extended += error is None
        if difference:
            failures.append(f"{cell[0]}, extended: {difference}")
    if refused == len(cells):
        failures.append("every cell is refused")
    note = f", {extended} more of them when lists may change" if more else ""
    print(f"{'FAILED' if failures else 'ok':6} {name}: {len(cells)} cells, {refused} refused by both{note}")
    for failure in failures[:3]:
        print(f"       {failure}")
    if len(failures) > 3:
        print(f"       and {len(failures) - 3} more")
    return bool(failures), len(cells), refused


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("templates", nargs="?")
    parser.add_argument("--least", type=int, default=1, help="how many templates there must be")
    arguments = parser.parse_args()
    print(f"jinja2 {jinja2.__version__}")
    with tempfile.TemporaryDirectory() as folder:
        failures = check_constructs(arguments.program, folder)
    if arguments.templates:
        paths = sorted(os.path.join(arguments.templates, name) for name in os.listdir(arguments.templates)
                       if name.endswith(".jinja"))
        results = [check_template(arguments.program, path) for path in paths]
        bad = sum(failed for failed, _, _ in results)
        print(f"{len(paths)} templates, {bad} differ; {sum(r[1] for r in results)} cells, "
              f"{sum(r[2] for r in results)} refused by both")
        if len(paths) < arguments.least:
            print(f"only {len(paths)} templates were found, at least {arguments.least} are expected")
            failures += 1
        failures += bad
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
