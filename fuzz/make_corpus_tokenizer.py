#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the seeds of the fuzz target tokenizer: make_corpus_tokenizer.py [DIR].

Each is a small vocabulary and a text (the layout is in fuzz_tokenizer.c), sound or wrong in one way;
the name says which. Inputs that a fuzzer found stay beside them under names that begin with "found-".
"""
import os
import sys

GPT2, LLAMA, GEMMA4, OTHER = range(4)
BYTES, KINDS, SCORES, PREFIX, BOS, STRIP = (1 << i for i in range(6))
NORMAL, UNKNOWN, CONTROL, USER, UNUSED, BYTE = range(1, 7)
# Rows of the table of names in lib/token/pretokenize.c; only "no such row" must stay one.
DEFAULT, GPT2_ROW, NO_ROW = 0, 1, 255
TEXT = ("I'm h\u00e9re, WE'LL go 12345\r\n\r\n  x_y \u4e2d\u6587\u3042 \ud55c \U0001f600 e\u0301 <s> <|im_end|>"
        "\t\u3000 \u2581 \u017f 1 234.5!!/\n").encode()
ODD = b"\xff\xfe \xf0\x9f a\x80 \xed\xa0\x80 \xc0\xaf \x00\x0b"


def text(t):
    t = t if isinstance(t, bytes) else t.encode()
    assert len(t) < 256
    return bytes([len(t)]) + t


def seed(model, row, switches, tokens, merges, content):
    head = bytes([model, row, switches, len(tokens) >> 8, len(tokens) & 255])
    body = b"".join(bytes([kind, score & 255]) + text(t) for t, kind, score in tokens)
    return head + body + bytes([len(merges)]) + b"".join(map(text, merges)) + content


def spm(extra=()):
    tokens = [("<unk>", UNKNOWN, 0), ("<s>", CONTROL, 0), ("</s>", CONTROL, 0)]
    tokens += [("<0x%02X>" % i, BYTE, 0) for i in range(256)]
    return tokens + list(extra)


WORDS = [("ab", NORMAL, -1), ("\u0120a", NORMAL, -2), ("bc", NORMAL, -3), ("<|im_end|>", CONTROL, 0),
         ("<think>", USER, 0), ("  ", USER, 0)]
MERGES = ["a b", "\u0120 a", "b c", "ab c", "\u0120a b", "\u00e4 \u00b8"]
PIECES = [("\u2581", NORMAL, -9), ("a", NORMAL, -9), ("\u2581a", NORMAL, -1), ("aa", NORMAL, -2),
          ("\n\n", USER, 0), ("  ", USER, 0), ("\u2581\u2581\u2581", USER, 0), ("\u4e2d", NORMAL, -3)]
SPACED = ["\u2581 a", "a a", "\u2581a a", "a \u2581"]

SEEDS = {"good-row-%02d" % row: seed(GPT2, row, BYTES | KINDS | BOS, WORDS, MERGES, TEXT + ODD)
         for row in range(0, 80, 3)}
SEEDS.update({
    "good-spm": seed(LLAMA, 0, KINDS | SCORES | PREFIX | BOS, spm(PIECES), [], b"a aa   a" + TEXT + ODD),
    "good-spm-no-prefix": seed(LLAMA, 0, KINDS | SCORES | STRIP, spm(PIECES), [], b"<s> \n a" + TEXT),
    "good-gemma4": seed(GEMMA4, 0, KINDS, spm(PIECES), SPACED, b"a a\n\n\n a  aa" + TEXT + ODD),
    "good-runs": seed(GPT2, GPT2_ROW, BYTES, WORDS, MERGES, b"a" * 500 + b" " * 500 + b"abc" * 100),
    "good-no-pre": seed(GPT2, NO_ROW, BYTES, WORDS, MERGES, TEXT),
    "good-unknown-stands": seed(LLAMA, 0, KINDS | SCORES, [("<unk>", UNKNOWN, 0), ("a", NORMAL, 0)], [], TEXT),
    "good-twice": seed(GPT2, GPT2_ROW, BYTES, WORDS + WORDS, MERGES + MERGES, b"abc ab"),
    "bad-model": seed(OTHER, 0, 0, WORDS, MERGES, TEXT),
    "bad-no-tokens": seed(GPT2, 0, 0, [], ["a b"], TEXT),
    "bad-no-merges": seed(GPT2, GPT2_ROW, BYTES, WORDS, [], TEXT),
    "bad-merge": seed(GPT2, GPT2_ROW, BYTES, WORDS, ["ab"], TEXT),
    "bad-no-scores": seed(LLAMA, 0, KINDS, spm(), [], TEXT),
    "bad-bytes-missing": seed(GPT2, GPT2_ROW, 0, WORDS, MERGES, b"abc"),
})


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "corpus/tokenizer")
    os.makedirs(folder, exist_ok=True)
    for name, data in SEEDS.items():
        with open(os.path.join(folder, name), "wb") as out:
            out.write(data)


if __name__ == "__main__":
    main()
