#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes lib/jinja/jinja_unicode_table.c: how Python's str methods see each code point.

    python3 tools/ucd/jinja_unicode_table.py > lib/jinja/jinja_unicode_table.c

Templates are written for Python, so the tables are made from what Python's own methods answer.
"""
import sys
import unicodedata

CODES = [c for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]
CASES = (("lower", str.lower), ("upper", str.upper), ("title", str.title))
# A capital sigma becomes a final one behind a cased letter; what is ignorable may stand between.
CLASSES = (
    ("printable", str.isprintable), ("alpha", str.isalpha), ("decimal", str.isdecimal),
    ("digit", str.isdigit), ("numeric", str.isnumeric), ("lower", str.islower), ("upper", str.isupper),
    ("title", lambda c: unicodedata.category(c) == "Lt"),
    ("cased", lambda c: (c + "\u03a3").lower()[-1] == "\u03c2"),
    ("ignorable", lambda c: ("A" + c + "\u03a3").lower()[-1] == "\u03c2"
     and (c + "\u03a3").lower()[-1] != "\u03c2"))


def case_rows(change):
    """(first, last, delta, step) of what becomes one character, and what becomes several."""
    simple, specials = [], []
    for code in CODES:
        to = change(chr(code))
        if len(to) > 1:
            specials.append((code, [ord(c) for c in to]))
        elif to != chr(code):
            simple.append((code, ord(to) - code))
    rows = []
    for code, delta in simple:
        if rows and rows[-1][2] == delta:
            first, last, _, step = rows[-1]
            if code - last == step or (first == last and code - last in (1, 2)):
                rows[-1] = (first, code, delta, code - last)
                continue
        rows.append((code, code, delta, 1))
    return rows, specials


def class_rows(test):
    rows = []
    for code in CODES:
        if not test(chr(code)):
            continue
        if rows and rows[-1][1] == code - 1:
            rows[-1][1] = code
        else:
            rows.append([code, code])
    return rows


def table(kind, name, rows):
    print(f"static const struct {kind} {name}[] = {{")
    line = "   "
    for row in rows:
        if len(line) + len(row) > 97:
            print(line)
            line = "   "
        line += f" {row},"
    print(line + "\n};\n")


def main():
    sys.stdout.reconfigure(newline="\n")
    print("// SPDX-License-Identifier: Apache-2.0\n//\n"
          "// Made by tools/ucd/jinja_unicode_table.py, do not edit. Data: the Unicode Character Database,\n"
          f"// version {unicodedata.unidata_version}, (c) Unicode, Inc., used under the Unicode License v3\n"
          "// (https://www.unicode.org/license.txt).\n"
          '#include "jinja/jinja_unicode_table.h"\n')
    for name, change in CASES:
        rows, specials = case_rows(change)
        table("jinja_case_range", f"{name}_ranges",
              ["{%#x, %#x, %d, %d}" % row for row in rows])
        table("jinja_case_special", f"{name}_specials",
              ["{%#x, {%s}}" % (code, ", ".join("%#x" % c for c in to)) for code, to in specials])
    for name, test in CLASSES:
        table("jinja_class_range", f"{name}_class", ["{%#x, %#x}" % tuple(row) for row in class_rows(test)])
    count = "sizeof %s / sizeof %s[0]"
    print("const struct jinja_case_table jinja_case_tables[JINJA_CASES] = {")
    for name, _ in CASES:
        ranges, specials = f"{name}_ranges", f"{name}_specials"
        print(f"    [JINJA_{name.upper()}] = {{{ranges}, {specials},\n"
              f"        {count % (ranges, ranges)},\n        {count % (specials, specials)}}},")
    print("};\n\nconst struct jinja_class_table jinja_class_tables[JINJA_CLASSES] = {")
    for name, _ in CLASSES:
        rows = f"{name}_class"
        print(f"    [JINJA_IS_{name.upper()}] = {{{rows}, {count % (rows, rows)}}},")
    print("};")


if __name__ == "__main__":
    main()
