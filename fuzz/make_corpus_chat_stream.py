#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the seeds of the fuzz target chat_stream: make_corpus_chat_stream.py [DIR].

Each is four bytes that choose the format (see fuzz_chat_stream.c) and an answer: the samples of
tests/chat/stream_samples.h, in the rows that they are for. Inputs that a fuzzer found stay beside them under names that
begin with "found-".
"""
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)


def rows(kind):
    """Names of the rows of a table, in order."""
    with open(os.path.join(ROOT, "lib/chat/chat_stream_format.c"), encoding="utf-8") as file:
        table = file.read().split(f"{kind}_rows[] = {{\n")[1].split("\n};")[0]
    return re.findall(r'^    \{"([a-z0-9-]+)"', table, re.M)


def literals(text):
    """The value of adjacent C string literals."""
    parts = re.findall(r'"((?:[^"\\]|\\.)*)"', text, re.S)
    return re.sub(r"\\(.)", lambda m: {"n": "\n", "t": "\t"}.get(m[1], m[1]), "".join(parts), flags=re.S)


def samples():
    with open(os.path.join(ROOT, "tests/chat/stream_samples.h"), encoding="utf-8") as file:
        text = file.read()
    string = r'(?:"(?:[^"\\]|\\.)*"\s*)+'
    entry = rf'^    \{{(NULL|"[a-z0-9]+"), (NULL|"[a-z0-9-]+"), (NEW|IN|\w+), (NULL|TOOLS),\s*({string}),\s*(?:{string}|NULL)\}},$'
    for match in re.finditer(entry, text, re.M):
        reasoning, calls, beginning, tools, answer = match.groups()
        yield (reasoning.strip('"'), calls.strip('"'), beginning, tools, literals(answer))


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "corpus", "chat_stream")
    os.makedirs(folder, exist_ok=True)
    calls_rows, reasoning_rows = rows("calls"), rows("reasoning")
    for number, (reasoning, calls, beginning, tools, answer) in enumerate(samples()):
        # Modulo 3 the beginning, 8 for tools, without 32: no control tokens.
        third = ord("B" if tools == "NULL" else "H") + {"NEW": 0, "IN": 1}.get(beginning, 2)
        head = bytes([97 + calls_rows.index(calls) if calls in calls_rows else 64,
                      97 + reasoning_rows.index(reasoning) if reasoning in reasoning_rows else 64, third, 49])
        name = f"{number:02d}-{calls if calls in calls_rows else reasoning}"
        with open(os.path.join(folder, name), "wb") as file:
            file.write(head + answer.encode())


if __name__ == "__main__":
    main()
