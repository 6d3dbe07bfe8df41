#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the seeds of the fuzz target jinja: make_corpus_jinja.py [DIR].

Each is a template, some with variables behind a byte 0 (see fuzz_jinja.c). Inputs that a fuzzer found stay
beside them under names that begin with "found-".
"""
import os
import sys

CHAT = """{%- macro text(c) -%}{%- if c is string -%}{{ c }}{%- else -%}{{ c|map(attribute='text')|join }}{%- endif -%}
{%- endmacro -%}
{%- set ns = namespace(n=0) -%}
{%- for m in messages %}
{{- '<|im_start|>' + m['role'] + '\\n' }}{{ text(m.content or '') }}
{%- for c in m.tool_calls or [] -%}{{ c.function.arguments|tojson(indent=2) }}{%- endfor %}{{ '<|im_end|>' }}
{% if loop.last and add_generation_prompt %}{{ '<|im_start|>assistant' }}{% endif %}{% set ns.n = ns.n + loop.index %}
{%- endfor %}{{ ns.n }}"""

SEEDS = {
    "good-chat": CHAT,
    "good-variables": "{{ a.b[0]|tojson }}{{ c }}\0{\"a\": {\"b\": [{\"x\": 1e5}]}, \"c\": \"\\ud83d\\ude00\"}",
    "good-expressions": "{{ 1 + 2 * 3 ** 2 // 4 % 5 - -i }}{{ s[::-1] ~ l[1:] ~ (1, 'a') ~ {'k': n} }}{{ 1 < 2 <= i }}"
                        "{{ 'a' in s and not t or f }}{{ s if t else n }}{{ '%s %05d' % (s, i) }}{{ '{:>5}'.format(s) }}",
    "good-statements": "{% for x in l if x != 1 recursive %}{{ loop.index ~ loop.nextitem ~ loop.length }}{% else %}e"
                       "{% endfor %}{% set a, b = 1, [2] %}{% set c | upper %}x{{ a }}{% endset %}{% with q = c %}{{ q }}"
                       "{% endwith %}{% filter replace('a', 'b') %}aa{% endfilter %}{% raw %}{{ {% endraw %}{# x #}",
    "good-macros": "{% macro m(a, b=a) %}{{ caller(a) }}{{ varargs }}{{ kwargs }}{% endmacro %}"
                   "{% call(x) m(1, 2, 3, z=4) %}{{ x }}{% endcall %}{% generation %}g{% endgeneration %}",
    "good-filters": "{{ l|map('string')|sort|unique|join(',') }}{{ d|dictsort }}{{ d|items|list }}{{ s|title|indent(2, true) }}"
                    "{{ messages|selectattr('content', 'string')|list|length }}{{ '4.5'|float|round(1) }}{{ l|batch(2)|list }}",
    "good-strings": "{{ ' a-b '.strip().split('-') }}{{ s.upper().lower().capitalize().replace('t', 'xx', 1) }}"
                    "{{ s.find('x') ~ s.partition('x') ~ s.startswith('t') }}{{ 'a\\n\\r\\nb'.splitlines(true) }}",
    "good-spaces": "  {%- if t -%}  a {%- endif +%}\n  {% set x = 1 %}\r\n\r\n {{- x -}} \n",
    "good-time": "{{ strftime_now('%d %b %Y %H:%M:%S %-j %A %p %y %U %W') }}",
    "good-changing": "{% set l = [] %}{% set _ = l.append(l) %}{% set _ = l.insert(0, 1) %}{{ l.pop() is sequence }}",
    "bad-cycle": "{% set l = [] %}{% set _ = l.append(l) %}{{ l }}",
    "bad-tag": "{% nope %}", "bad-end": "{% if t %}", "bad-filter": "{{ s|nope }}", "bad-bracket": "{{ (1, [2) }}",
    "bad-string": "{{ 'abc", "bad-raise": "{{ raise_exception('no ' ~ s) }}", "bad-undefined": "{{ x.y.z }}",
    "bad-recursion": "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "bad-huge": "{{ 'ab' * 1000000000 }}",
    "bad-json": "{{ a }}\0{\"a\": [1, }", "bad-depth": "{{ " + "(" * 300 + " }}", "bad-division": "{{ 1 // 0 }}",
}


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                                               "corpus", "jinja")
    os.makedirs(folder, exist_ok=True)
    for name, text in SEEDS.items():
        # "!" is odd and a blank even: the first byte chooses the language.
        lead = "!" if name in ("good-changing", "bad-cycle") else " "
        with open(os.path.join(folder, name), "wb") as file:
            file.write((lead + text).encode())


if __name__ == "__main__":
    main()
