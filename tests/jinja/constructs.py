# SPDX-License-Identifier: Apache-2.0
"""Templates of one construct each, for template_peer.py: what jinja2 gives or refuses, we do."""

CONTEXT = {
    "s": "Hello World", "u": "\u00c4\u00f6\u00df \u4e2d\u6587 \U0001f600 \u03a3\u03a3", "e": "", "n": None, "i": 7, "neg": -7,
    "f": 2.5, "t": True, "no": False, "big": 18446744073709551616, "l": [3, 1, 2], "d": {"b": 1, "a": [1, {"x": None}]},
    "items": "shadow", "words": ["pear", "Apple", "fig", "apple"], "html": "<a href='x'>&\"</a>",
    "people": [{"name": "Bo", "age": 3, "tags": ["x"]}, {"name": "al", "age": 1}, {"name": "Cy", "age": 3}],
    "tree": [{"v": 1, "c": [{"v": 2, "c": []}, {"v": 3, "c": [{"v": 4, "c": []}]}]}],
    "lines": "one\n\ntwo\r\nthree\n", "spaced": "  a  b c\t\n", "q": "it's \"q\" \\ \n\x07 \u200b", "m": {"items": 5},
}

EXPRESSIONS = r"""
1 + 2 * 3 - 4 / 2 | 7 // 2 | -7 // 2 | 7 % 3 | -7 % 3 | 7 % -3 | 2 ** 10 | 2 ** 3 ** 2 | -2 ** 2 | 7.5 // 2 | -7.5 % 2
1 / 3 | 10 / 5 | 1e16 | 1e15 | 123456789012345680.0 | 0.1 + 0.2 | 1e-5 | 0.0001 | 1.0 | 1e100 | 2.5e-10 | 1_000 | 100.0 * 3
1 / 0 | 1 % 0 | 1 + "a" | "a" + 1 | n + 1 | [] + () | {} + {} | "a" * 3 | 3 * [1] | "a" * -1 | [1] * 2 | "a" - "b" | -s | +i | -f | -t
"a" ~ 1 ~ n ~ 2.0 ~ true ~ missing ~ [1, "x"] | e ~ "" | 1 < 2 < 3 | 1 < 2 > 3 | 3 > 2 > 1 | 1 == 1.0 | true == 1 | "a" < "b"
1 < "a" | n < 1 | [1, 2] < [1, 3] | "x" in s | "World" in s | 1 in "1" | missing in s | "a" in missing | 1 in l | 1 not in l | "a" in d | 1 in 5
[1] in d | none is none | missing is defined | s is defined | n is defined | d.zz is defined | s is string | l is string | d is mapping
l is iterable | s is iterable | i is iterable | s is sequence | d is sequence | missing is sequence | missing is iterable | i is number
t is number | f is float | i is integer | t is integer | t is boolean | t is true | no is false | i is odd | i is even | 6 is divisibleby 3
6 is divisibleby(4) | "a" is eq "a" | "a" is equalto("b") | 3 is gt 2 | 3 is lessthan(2) | 2 is in l | "abc" is lower | "ABC" is upper
not t | not missing | t and no | t or no | e or "x" | n and 1 | missing or "x" | i if t else "z" | i if no | (i if no) is defined
i if no else s if no else "w" | s[0] | s[-1] | s[99] | s[1:4] | s[::-1] | s[-3:] | s[:-3] | s[::2] | s[5:2] | s[-2:-5:-1] | l[1:] | l[::-1] | l[0] | l[-1]
l[5] | l["x"] | d["b"] | d.b | d["zz"] | d.a[1].x | d.a.1.x | d[0] | n[0] | n.x | missing.x | missing["x"] | n[1:] | d[1:] | missing[1:]
u[0] | u[4:6] | u[::-1] | u|length | u|upper | u|lower | u.title() | u.capitalize() | u.swapcase() | u|title | "\u03a3\u0391\u03a3 x"|lower
"\x41\u00e9\U0001F600\101\n" | 'a\qb' | "a" "b" 'c' | 'it\'s' | "a\
b" | [1, "a", 2.0, none, true, [], {}, ()] | (1,) | (1, 2) | () | {"a": 1, 2: "b", none: 3} | {"a": 1}.a | [1,2,][1]
d | q | [q] | [u] | {"k": q} | [html] | words|string | n|string | f|string | t|string | big | big|string | [big] | big|tojson | big == big
d.items() | d.keys() | d.values() | d.items()|list | d.keys()|list | d.items()|length | d.keys()[0] | d.get("b") | d.get("zz") | d.get("zz", 5)
d.get(key="b") | m.items() | m["items"] | s.items | d.copy() | l.count(1) | l.index(2) | l.index(9) | l.append(4) | l.pop() | d.update({}) | l.append
s.upper() | s.lower() | s.title() | "hELLO wORLD".capitalize() | s.split() | s.split("o") | s.split("o", 1) | s.split(" ", maxsplit=1) | s.split(sep="l")
spaced.split() | spaced.split(" ") | spaced.split(none, 1) | spaced.rsplit(none, 1) | spaced.rsplit() | "a,b,c".rsplit(",", 1) | s.split("") | e.split() | e.split(",")
spaced.strip() | spaced.lstrip() | spaced.rstrip() | "xxaxx".strip("x") | "abcab".rstrip("ba") | "abcab".lstrip("ab") | s.strip(n) | s.strip(1)
s.startswith("He") | s.endswith("ld") | s.startswith(("x", "H")) | s.startswith("e", 1) | s.endswith("o", 0, 5) | s.startswith(1) | s.startswith("")
s.replace("o", "0") | s.replace("o", "0", 1) | "aaa".replace("", "-") | s.replace("l", "") | s.replace("o") | s.find("o") | s.find("o", 5) | s.find("zz")
s.rfind("o") | s.index("o") | s.index("zz") | s.count("l") | s.count("") | u.find("\u4e2d") | s.partition(" ") | s.rpartition("o") | s.partition("zz") | s.partition("")
s.join(["a", "b"]) | ",".join([]) | ",".join(words) | ",".join([1]) | ",".join("abc") | "7".zfill(3) | "-7".zfill(4) | "a".center(4) | "ab".center(5, "*") | "a".ljust(3) + "|"
"a".rjust(3) | "a".isalpha() | "1".isdigit() | "a1".isalnum() | " ".isspace() | "a".islower() | "A1".isupper() | e.isdigit() | "\u00b2".isdigit() | "abc".removeprefix("a") | "abc".removesuffix("c")
lines.splitlines() | lines.splitlines(true) | "{} {}".format(1, "a") | "{0}{1}{0}".format("a", "b") | "{x}".format(x=1) | "{:>5}|{:<5}|{:^5}".format("a", "b", "c") | "{:05d}".format(42)
"{:.2f}".format(3.14159) | "{{}}".format() | "{}".format() | "{!r}".format("a") | "{a.b}".format(a={"b": 1}) | "{a[b]}".format(a={"b": 1}) | "{:x}".format(255) | "{:+d}".format(5)
"%s-%d" % ("a", 5) | "%s" % 1 | "%05d" % 42 | "%.2f" % 3.14159 | "%x" % 255 | "%%" % () | "%s" % ("a", "b") | "%s %s" % "a" | "%(x)s" % {"x": 1} | "%-5s|" % "a" | "%5s|" % "a" | "%r" % "a" | "%d" % "a"
s|length | l|length | d|length | n|length | i|length | missing|length | l|count | s|first | s|last | l|first | l|last | []|first | []|last | d|first | d|last | ""|first|length
l|sort | l|sort(reverse=true) | words|sort | words|sort(case_sensitive=true) | people|sort(attribute="age")|map(attribute="name")|list | people|sort(attribute="age,name")|map(attribute="name")|list
[1, "a"]|sort | l|min | l|max | words|min | words|max | []|min | people|max(attribute="age") | l|sum | people|sum(attribute="age") | l|sum(start=10) | []|sum | ["a"]|sum
l|join | l|join(",") | words|join(", ") | people|join(",", attribute="name") | s|join("-") | missing|join | [n, missing, 1.0]|join("|") | n|join
words|map("upper")|list | people|map(attribute="name")|join(",") | people|map(attribute="zz")|list|length | people|map(attribute="zz", default="D")|list | l|map("string")|join | words|map("replace", "p", "q")|list
words|map("nope")|list | words|map()|list | []|map("nope")|list | people|map(attribute="tags.0")|list|length | n|map("upper")|list | i|map("upper")|list
l|select("odd")|list | l|reject("odd")|list | [0, 1, "", "a"]|select|list | people|selectattr("tags")|map(attribute="name")|list | people|selectattr("age", "equalto", 3)|map(attribute="name")|list
people|rejectattr("tags", "defined")|map(attribute="name")|list | people|selectattr("age", ">", 1)|list|length | l|select("nope")|list | (l|select("odd"))|length | l|select("gt", 1)|first | people|selectattr("name", "in", ["Bo"])|list
words|unique|list | words|unique(case_sensitive=true)|list | people|unique(attribute="age")|map(attribute="name")|list | l|reverse|list | s|reverse | d|reverse|list | l|list | s|list | d|list | i|list
d|dictsort | d|dictsort(reverse=true) | {"b": 2, "A": 1, "c": 0}|dictsort(by="value") | {"b": 2, "A": 1}|dictsort(true) | d|items|list | missing|items|list | l|items|list
l|batch(2)|list | l|batch(2, 0)|list | l|slice(2)|list | l|slice(2, 0)|list | people|groupby("age") | people|groupby("age")|map("first")|list
s|upper | s|lower | "foo bar-baz it's (x)"|title | "hELLO"|capitalize | i|upper | n|upper | missing|upper | spaced|trim ~ "|" | "xax"|trim("x") | s|replace("l", "L") | s|replace("l", "L", 1) | i|replace(7, 8)
lines|indent | lines|indent(2) | lines|indent(2, true) | lines|indent(2, false, true) | lines|indent("> ") | s|indent | ""|indent(2, true) | "a\n"|indent(2) | i|indent | "a\rb"|indent
s|truncate(8) | s|truncate(5, true) | s|truncate(5, true, "") | s|truncate(20) | "foo bar baz qux"|truncate(9, leeway=0) | s|center(20) | s|wordcount | "%s!"|format(s) | "%(a)s"|format(a=1)
"42"|int | "42.7"|int | "x"|int | "x"|int(5) | 3.9|int | n|int | t|int | "0x1f"|int(base=16) | "ff"|int(0, 16) | missing|int | " 42 "|int | "1e3"|int | "-5"|int | [1]|int
"2.5"|float | "x"|float | "x"|float(1.0) | 3|float | n|float | "1e3"|float | "inf"|float | "nan"|float | missing|float | 2.5|round | 3.5|round | 2.567|round(2) | 2.1|round(method="ceil") | 2.9|round(0, "floor") | 42|round | -5|abs | -2.5|abs | s|abs | 1234.5|round(-2)
missing|default("x") | n|default("x") | n|default("x", true) | e|default("x", boolean=true) | s|default("x") | missing|default | d.zz|default([]) | missing|d(1) | missing.x|default("x")
html|e | html|escape | html|safe | (html|safe) + "<" | "<" + (html|e) | (html|e)|e | html|forceescape | (html|safe) ~ "<" | (html|safe)|upper | html|e is escaped | html is escaped | [html|safe] | (html|safe)|length
d|tojson | q|tojson | u|tojson | u|tojson(ensure_ascii=true) | html|tojson | f|tojson | 1e20|tojson | 1.0|tojson | n|tojson | t|tojson | l|tojson | ()|tojson | (1, 2)|tojson | []|tojson(indent=2) | {}|tojson(indent=2) | missing|tojson
d|tojson(indent=2) | d|tojson(2) | d|tojson(true, 2) | d|tojson(indent=none) | d|tojson(indent=0) | d|tojson(indent="\t") | d|tojson(separators=(",", ":")) | d|tojson(separators=[",", ":"]) | d|tojson(sort_keys=true) | d|tojson(ensure_ascii=false, indent=1, separators=(";", "="), sort_keys=true)
{1: 2, none: 3, true: 4, 2.5: 1}|tojson | {(1, 2): 3}|tojson | "\x7f\u2028\x00"|tojson | ["a", ["b", {"c": {}}]]|tojson(indent=1) | namespace()|tojson | range(3)|tojson | s|tojson|length | d.items()|tojson | ("nan"|float)|tojson
range(3) | range(3)|list | range(1, 7, 2)|list | range(5, 0, -2)|list | range(3)|length | range(0) is sequence | range(3)[1] | range(3)[-1] | range("a") | range(1, 2, 0) | range(1000000) | range(3) == range(3)
dict(a=1, b=2) | dict({"x": 1}, y=2) | dict([("a", 1)]) | namespace(a=1) | namespace(a=1).a | namespace(a=1).b | namespace({"a": 1})["a"] | raise_exception("no") | raise_exception() | strftime_now("%Y-%m-%d") | strftime_now("%d %b %Y") | strftime_now("%A %B %-d, %j %H:%M:%S %p %I %y %e %%")
s.foo | s.foo.bar | i.foo | n.foo | missing | missing() | s() | d.b() | nope(1) | l.foo is defined | s is nope | s|nope | (s if t else s|nope) | (s|nope if t else s) | s|default(s|nope) if t | t is not true | s is not defined
1 is eq 1 and 2 is eq 2 | (1 is eq 1) is true | 1 is eq 1 is true | "a" if t is true else "b" | s is defined and s is string | not s is string | not s == 1 | 1 + 1 is eq 2 | s|length > 3 and t | -1|abs | (-1)|abs | 2|string + "x" | 2 * 3|string
loop | loop is defined | caller is defined | varargs is defined | x.y.z is defined | d["a"][1]["x"] is none | d.a[1]["y"] is defined | d is eq d | l == [3, 1, 2] | (1, 2) == [1, 2] | {"a": 1} == {"a": 1.0} | "1" == 1 | none == missing | missing == missing2
007 | 0x1f | 1..2 | a b | (1 | [1 | {1} | {"a"} | "abc | 'a' 'b | {{ | }} | s. | s|  | s is | s[ | s[1:2:3:4] | f(a=1, 2) | f(*l) | f(**d) | f(a=1, a=2) | @ | s ! t | if | for | 1 if | not | and | s in | s not | s not in l | a = 1
s.__class__ | s.__class__.__mro__ | d.__len__ | "a".__len__() | ().__class__ | d["__class__"] | l|attr("append") | d|attr("b")
l|string|length | [1,2,3]|last + 1 | (l|first) ~ (l|last) | people[0].name | people[0]["name"]|upper | people|first|attr("name") | people.0.name | [[1, 2], [3]]|map("length")|list | [[1, 2], [3]]|map("first")|list | [[1], [2]]|sum(start=[]) | d.b.c | (d.a|last).x is none
"a" in ["a", "b"] and "c" not in ["a", "b"] | "a" in "abc" in ["abc"] | 1 in [1.0] | true in [1] | none in [none] | "" in "" | "a" in {} | 5 in range(10) | "b" in d.keys() | ("b", 1) in d.items() | 1 in d.values() | missing in [missing]
"\ud83d" | "\x4" | "\u12" | "\400" | "tab\there" | "null\0end"|length | "a\'b" | 'a"b' | "{{ x }}" | "{% if %}" | "}}" | "%}" | "{# c #}"
words|map("length")|sum | words|map("first")|map("upper")|join | words|sort|first | words|join|length | s|list|unique|join | s|lower|replace("o", "")|title | (s|upper)[0:3] | s|upper|list|first | [s]|map("lower")|list | l|map("abs")|list | l|map("default", 3)|list
1.0 == 1 | 1e3 | 1E3 | 1.5e+3 | 1e-3 | .5 | 5. | 1_0.5 | 12345678901234567890 | 9223372036854775807 | 9223372036854775807 + 0 | -9223372036854775807 - 1 | 0.1 + 0.7 | 100 * 1.1 | 5e-324 | 1.7976931348623157e308 | 3.0e0 | 1e22 | 1e23 | 0.30000000000000004 | 123456.789 | 1e16 + 1
"a" < "B" | "a" > "B" | "\u00e9" > "z" | "ab" < "abc" | [] < [1] | (1, 2) < (1, 3) | t < 2 | no < t | f > 2 | 2.5 == f | i == 7.0 | n == n | n != no | missing != n | e == "" | "" < "a" | {} == [] | l != l
"a\tb\x0bc"|title | "\u01c6"|title | "\u01c6".title() | "\ufb01".upper() | "\u0130".lower() | "\u1e9e".lower() | "\u00df".title() | "x\u0301y".title() | "o'neil they're".title() | "1a b2c".title() | "\u0149".upper() | "\u10d0".upper() | "\u10d0".title()
"\u00a0\u3000 x \u2003"|trim | "\u200bx"|trim | "\x1cx\x1f"|trim | "\ufeffx"|trim | "a\u2028b\x85c".splitlines() | "a\x1cb".split() | ["\u00ad", "\xa0", "\ue000", "\U000e0001", "\u0378", "\u3000"]
"""

STATEMENTS = r"""
{% for x in l %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.previtem }}{{ loop.nextitem }};{% endfor %}
{% for x in l %}{{ loop.cycle("a", "b") }}{{ loop.changed(x > 1) }}{{ loop.depth }}{{ loop.depth0 }}{% endfor %}
{% for x in l %}{{ loop }}{% break %}{% endfor %}
{% for x in [] %}a{% else %}none{% endfor %}{% for x in l %}a{% else %}none{% endfor %}
{% for x in l if x > 1 %}{{ x }}{{ loop.length }}{{ loop.last }}{{ loop.nextitem }}{% endfor %}
{% for x in l if x > 5 %}{{ x }}{% else %}none{% endfor %}
{% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %}{% for k, v in d|dictsort %}{{ k }}{% endfor %}{% for (k, v) in d|items %}{{ k }}{% endfor %}
{% for k in d %}{{ k }}{% endfor %}{% for c in s %}{{ c }}-{% endfor %}{% for x in missing %}a{% endfor %}
{% for x in n %}a{% endfor %}
{% for x in i %}a{% endfor %}
{% for a, b in [(1, 2), [3, 4]] %}{{ a }}{{ b }}{% endfor %}
{% for a, b in [(1, 2, 3)] %}{{ a }}{% endfor %}
{% for a, b in [1] %}{{ a }}{% endfor %}
{% for a, (b, c) in [(1, (2, 3))] %}{{ a }}{{ b }}{{ c }}{% endfor %}
{% for x in l %}{% if x == 1 %}{% continue %}{% endif %}{{ x }}{% endfor %}
{% for x in l %}{% if x == 1 %}{% break %}{% endif %}{{ x }}{% else %}no{% endfor %}
{% break %}
{% for x in l %}{% for y in l %}{% if y == 2 %}{% break %}{% endif %}{{ x }}{{ y }}{{ loop.index }} {% endfor %}{{ loop.index }};{% endfor %}
{% set a = 1 %}{% for x in l %}{{ a }}{% set a = x %}{{ a }}{% endfor %}{{ a }}
{% set ns = namespace(a=1) %}{% for x in l %}{% set ns.a = ns.a + x %}{% endfor %}{{ ns.a }}{{ ns }}
{% set ns.a = 1 %}
{% set d.zz = 1 %}{{ d }}
{% set a, b = 1, 2 %}{{ a }}{{ b }}{% set a, b = [3, 4] %}{{ a }}{{ b }}
{% set a, b = 1 %}
{% set x = 1, 2 %}{{ x }}{% set y = (1) %}{{ y }}
{% set x %}a{{ i }}b{% endset %}{{ x }}{{ x is string }}{% set x | upper | trim %} q{{ s }} {% endset %}{{ x }}
{% set ns = namespace() %}{% set ns.t %}text{{ i }}{% endset %}{{ ns.t }}
{% if t %}{% set z = 1 %}{% endif %}{{ z }}{% if no %}{% set w = 1 %}{% endif %}{{ w is defined }}
{% if no %}a{% elif n %}b{% elif i %}c{% else %}d{% endif %}
{% if missing %}a{% else %}b{% endif %}{% if l %}c{% endif %}{% if [] %}d{% endif %}{% if 0.0 %}e{% endif %}{% if "0" %}f{% endif %}
{% macro m(a, b=2, c="x") %}[{{ a }},{{ b }},{{ c }}]{% endmacro %}{{ m(1) }}{{ m(1, 3) }}{{ m(1, c="y") }}{{ m(b=1, a=2) }}{{ m() }}{{ m(1)|upper }}{{ m }}
{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1, 2) }}
{% macro m(a) %}{{ a }}{% endmacro %}{{ m(b=2) }}
{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1, a=2) }}
{% macro m(a, b=a) %}{{ a }}{{ b }}{% endmacro %}{{ m(1) }}{{ m(1, 2) }}
{% macro m() %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1, 2, x=3) }}
{% macro m(a) %}{{ a }}{{ varargs|length }}{% endmacro %}{{ m(1, 2, 3) }}{{ m(*[1, 2]) }}{{ m(**{"a": 5}) }}
{% macro m(n) %}{% if n > 0 %}{{ n }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(5) }}
{% macro m() %}{{ g }}{% endmacro %}{% set g = 1 %}{{ m() }}{% set g = 2 %}{{ m() }}
{% macro m() %}{% set g = 5 %}{{ g }}{% endmacro %}{{ m() }}{{ g is defined }}
{% macro m() %}<{{ caller() }}>{% endmacro %}{% call m() %}in{{ i }}{% endcall %}
{% macro m(l) %}{% for x in l %}{{ caller(x, loop.index) }}{% endfor %}{% endmacro %}{% call(x, k) m(l) %}({{ x }}{{ k }}){% endcall %}
{% macro m() %}{{ caller is defined }}{% endmacro %}{{ m() }}
{% macro m() %}x{% endmacro %}{% call m() %}y{% endcall %}
{% macro a() %}{{ b() }}{% endmacro %}{% macro b() %}B{% endmacro %}{{ a() }}
{% macro m(x) -%}  {{ x }}  {%- endmacro %}[{{ m(1) }}]
{% for x in l %}{% macro m() %}{{ x }}{% endmacro %}{{ m() }}{% endfor %}
{% filter upper %}abc{{ s }}{% endfilter %}{% filter replace("a", "b")|upper %}aba{% endfilter %}
{% with a = 1, b = i %}{{ a }}{{ b }}{% endwith %}{{ a is defined }}
{% with %}{% set q = 1 %}{{ q }}{% endwith %}{{ q }}
{% for x in tree recursive %}{{ x.v }}{{ loop.depth }}{% if x.c %}({{ loop(x.c) }}){% endif %}{% endfor %}
{% for x in l %}{{ loop(l) }}{% endfor %}
{% generation %}a{{ s }}{% endgeneration %}b
{% for x in l %}{% generation %}{{ x }}{{ loop.index }}{% set a = 1 %}{% endgeneration %}{{ a is defined }}{% endfor %}
{% raw %}{{ x }} {% if %}{% endraw %}|{%- raw -%} a {%- endraw -%} b
{# comment {{ x }} #}a{#- c -#} b
{% set g = people|selectattr("age", "equalto", 3) %}{{ g|first }}{{ g|first }}{% if g %}t{% endif %}{{ g|list|length }}
{% set seen = namespace(l=[]) %}{% for x in [1, 1, 2] if x not in seen.l %}{{ x }}{% set seen.l = seen.l + [x] %}{% endfor %}
{% set seen = namespace(l=[]) %}{% for x in [1, 1, 2] if x not in seen.l %}{{ x }}{{ loop.last }}{% set seen.l = seen.l + [x] %}{% endfor %}
{% set seen = namespace(l=[]) %}{% for x in [1, 1, 2] if x not in seen.l %}{{ x }}{{ loop.length }}{{ loop.index }}{% set seen.l = seen.l + [x] %}{% endfor %}
{% for x in l|reverse %}{{ x }}{{ loop.length }}{{ loop.revindex }}{% endfor %}
{% for x in people|map(attribute="name") %}{{ x }}{{ loop.last }}{{ loop.nextitem }}{% endfor %}
{% for x in l %}{{ loop["index"] }}{{ loop.zz is defined }}{{ loop.zz }}{% endfor %}{{ loop is defined }}
{% for loop in l %}{{ loop }}{% endfor %}
{% set loop = 5 %}{{ loop }}{% for x in [1] %}{{ loop.index }}{% endfor %}{{ loop }}
{% for x in l %}{% set outer = loop %}{% for y in [1, 2] %}{{ outer.index }}{{ loop.index }} {% endfor %}{% endfor %}
{% for i in l %}{{ i }}{% endfor %}{{ i }}
{% set x = "a" if t %}{{ x }}{% set y = "a" if no %}{{ y is defined }}
{% if no %}{{ s|nope }}{% endif %}ok
{% if no %}{% for x in l %}{{ s|nope }}{% endfor %}{% endif %}ok
{% if t %}{{ s|nope }}{% endif %}ok
{% for x in l %}{{ s|nope }}{% endfor %}
{% nope %}
{% if t %}
{% endif %}
{% for x in l %}
{% else %}
{% if t %}a{% else %}b{% else %}c{% endif %}
{% set 1 = 2 %}
{% set true = 1 %}
{% set "a" = 1 %}
{% set a.b.c = 1 %}
{% macro m(a=1, b) %}{% endmacro %}
{% for x on l %}{% endfor %}
{% do l.append(1) %}
{% include "x" %}
{{ s
{% if s
{# s
{% raw %} s
{{ s }} }} %} #}
{ { s } } {% set a = {"b": {"c": 1}} %}{{ {"a": {"b": 1}}["a"]["b"] }}{{ {"a": 1} }}
{{- s -}} x {{- s }} y {{ s -}} z
  {%- if t %} a {% endif -%}  b
{% if t -%}   a   {%- endif %}
    {% if t %}
  a
    {% endif %}
b
    {{ s }}
  {# c #}
d  {% if t %}  e
{% endif %} f
   {%+ if t %}x{% endif +%}
y
{% if t %}

a

{% endif %}

{% for x in l %}
  - {{ x }}
{% endfor %}
end
{{ "a
b" }}
{% set x = [
  1,
  2,
] %}{{ x }}
{{ people[0].tags }}{{ people[1].tags }}{{ people[1].tags is defined }}{{ people[1].tags.x }}
{% set a = namespace(x=namespace(y=1)) %}{{ a.x.y }}{% set b = a.x %}{% set b.y = 2 %}{{ a.x.y }}
{% set l2 = l %}{% set l2 = l2 + [9] %}{{ l }}{{ l2 }}
{{ "%s" % s if t else "" }}{{ s if s is string else s|tojson }}
{% if not loop is defined %}x{% endif %}{% if "a" not in s and s is defined %}y{% endif %}
{%- set q = 'it''s' -%}{{ q }}
{% print s %}
{% set x = s.split(" ")[-1].strip("d").rstrip() %}{{ x }}{% set y = (s|string)[:3] ~ "..." %}{{ y }}
{% for m in people %}{% if loop.previtem and loop.previtem.age == m.age %}same{% endif %}{% if loop.nextitem is defined %}>{{ loop.nextitem.name }}{% endif %}{% endfor %}
{% for x in "a" %}{{ x }}{% endfor %}{% for x in {} %}{% else %}E{% endfor %}{% for x in range(3) %}{{ x }}{% endfor %}{% for x in () %}{% endfor %}
"""


# What jinja2 gives and we refuse on purpose: addresses, names of characters, integers past 64 bits,
# powers that libm would round, and names that no chat template needs.
REFUSED = [f"{{{{ {expression} }}}}" for expression in (
    "m.items", 'words|map("upper")', "l|reverse", "d|items", "self", "lipsum()", 'joiner(",")', "cycler(1).next()",
    "1.5.real", "s[]", r'"\N{BULLET}"', "9223372036854775807 + 1", "big + 1", "2 ** 0.5", "2 ** -1",
    "d|pprint", "html|striptags", "html|urlencode", "s|wordwrap(3)", "i|filesizeformat", "s.encode()",
    "s.casefold()", "s.expandtabs()", "{'a': 1}|xmlattr")] + [
        "{% block a %}x{% endblock %}", "{% autoescape true %}{{ html }}{% endautoescape %}"]


def _expressions():
    for line in EXPRESSIONS.strip("\n").split("\n"):
        for expression in line.split(" | "):
            yield expression


# Statements of several lines are written by themselves.
SEVERAL_LINES = [
    "    {% if t %}\n  a\n    {% endif %}\nb\n    {{ s }}\n  {# c #}\nd  {% if t %}  e\n{% endif %} f\n",
    "   {%+ if t %}x{% endif +%}\ny\n", "{% if t %}\n\na\n\n{% endif %}\n\n{% for x in l %}\n  - {{ x }}\n{% endfor %}\nend\n\n",
    "a\r\nb\rc\n{% if t %}\r\nx{% endif %}\r\n", "{{ 'a\r\nb' }}", "{% set x = [\n  1,\n  2,\n] %}{{ x }}\n\n\n", "", "\n", "\n\n",
    "a{# c #}\n{# d -#}\n\n b", "  {%- raw %}\n x {% endraw %}\n y", "{% raw -%}\n x {%- endraw %}\n y", "{%raw%} {{ {%endraw%}",
    "{%if t%}a{%endif%}{{s}}{{-s-}}{{+i}}", "x\n  \t{% if t %}\n\ty{% endif %}", "{% if t %}  \n a{% endif %}", "\u3000{% if t %}a{% endif %}",
    "a \u3000{%- if t %}b{% endif %}", "{% for x in l -%}\n  {{ x }}\n{%- endfor %}", "{% set x = 1 -%}\n\n  a", "a\n\n  {%- set x = 1 %}\nb",
]
TEMPLATES = [f"{{{{ {expression} }}}}" for expression in _expressions()] + STATEMENTS.strip("\n").split("\n") + SEVERAL_LINES
