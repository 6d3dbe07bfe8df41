#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the seeds of fuzz_grammar into corpus/grammar: a grammar or schema, and a text, each."""

import os

SEEDS = {
    "gbnf-classes": b'groot ::= ([a-z] | [^\\n\\x41-\\x5a] "\\u00e9")* b?\nb ::= "x"{2,5} # end\0abxx',
    "gbnf-deep": b'groot ::= "(" root ")" | "a" root "b" | "a" root "c" | "x"{0,9}\0((aaxxbc))',
    "gbnf-counts": b'groot ::= (("a" | "aa"){3,1000} | "b"?){1,} <|end|>?\0aaaaaabaa',
    "gbnf-left": b'groot ::= e root "a"\ne ::= "x"?\0a',
    "schema-object": b's{"type":"object","properties":{"a":{"type":"integer","minimum":-5,"maximum":120},'
                     b'"b":{"enum":["x",1,null]}},"required":["a"],"additionalProperties":{"type":"null"}}'
                     b'\0{"a": 17, "b": "x", "c": null}',
    "schema-refs": b's{"$defs":{"n":{"anyOf":[{"type":"null"},{"type":"array","items":{"$ref":"#/$defs/n"},'
                   b'"maxItems":1000}]}},"allOf":[{"$ref":"#/$defs/n"}]}\0[[null],[]]',
    "schema-text": b's{"type":"string","pattern":"^[a-f\\\\d]{2,4}(x|\\\\s)$"}\0"a1x"',
    "schema-format": b's{"type":"string","format":"date-time"}\0"2024-02-28T23:59:59Z"',
    "schema-sized": b's{"type":"string","minLength":3,"maxLength":65536}\0"abcdef"',
    "schema-tuple": b's{"prefixItems":[{"const":1},{}],"items":false,"minItems":1}\0[1, {"a": []}]',
}

folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus", "grammar")
os.makedirs(folder, exist_ok=True)
for name, seed in SEEDS.items():
    with open(os.path.join(folder, name), "wb") as file:
        file.write(seed)
