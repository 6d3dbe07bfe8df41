#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The style of the tree, as far as a script can see it. What it asks for is the table RULES below.

tools/tidy_exceptions.txt lists what may break a rule and by how much; an exception that is no
longer needed is a problem as well, so the list only shrinks.
"""

import os
import re
import sys

import source_tree

COLUMNS_MAX = 120        # aim at 100; a table row or a message may be wider
FUNCTION_LINES_MAX = 70
FILE_LINES_MAX = 1500
BLOB_BYTES_MAX = 1 << 20  # larger files belong to models/ only

HEADER_WORDS = ("Owns:", "Called by:", "Threads:", "Errors:", "Not here:")

# Never right: unbounded.
BANNED_EVERYWHERE = "strcpy strcat sprintf vsprintf gets alloca tmpnam mktemp".split()
# Silent about errors or with hidden state: for small tests only.
BANNED_OUTSIDE_TESTS = "strtok atoi atol atof localtime gmtime ctime asctime rand srand".split()
# The library asks base and platform for memory, so that it is counted.
BANNED_MEMORY = "malloc calloc realloc free strdup aligned_alloc posix_memalign".split()
# The library never prints, ends the process, reads the environment or handles signals.
BANNED_HOST = ("printf fprintf vprintf vfprintf puts fputs putchar perror exit _exit _Exit abort "
               "atexit strerror getenv setenv putenv signal sigaction system").split()
MEMORY_FOLDERS = ("lib/base/", "lib/platform/")

# Spelled so that this file does not contain what it looks for.
MARKS = re.compile(r"\b(TO" r"DO|FIX" r"ME|X" r"XX|HA" r"CK)\b")
PLACES = re.compile(r"(?<![\w.~$}])/(?:home|root|work|farm|Users)/\w|\b(?:registry|mirror)\.[a-z]")

C_SOURCE = (".c", ".h")
SPDX = "SPDX-License-Identifier: Apache-2.0"


def is_script(path, text):
    return path.endswith((".py", ".sh", ".cmake")) or os.path.basename(path) == "CMakeLists.txt" \
        or text.startswith("#!")


def needs_spdx(path, text):
    return path.endswith(C_SOURCE) or is_script(path, text)


# --- Rules: each gives (line, what, key) per problem; key names an exception, or is None --------


def rule_text(path, text):
    """Line ends, blanks, width."""
    if "\r" in text:
        yield 1, "carriage returns", None
    if text and not text.endswith("\n"):
        yield text.count("\n") + 1, "no newline at the end", None
    for number, line in enumerate(text.split("\n"), 1):
        if line != line.rstrip():
            yield number, "blanks at the end of the line", None
        if "\t" in line:
            yield number, "a tab", None
        if len(line) > COLUMNS_MAX and path.endswith(C_SOURCE):
            yield number, f"{len(line)} columns, at most {COLUMNS_MAX}", None


def rule_spdx(path, text):
    """The licence is named in the first line, after #! where there is one."""
    lines = text.split("\n")
    first = lines[1] if text.startswith("#!") and len(lines) > 1 else lines[0]
    if needs_spdx(path, text) and SPDX not in first:
        yield 1, f"the first line lacks '{SPDX}'", None


def rule_marks(path, text):
    """No marks of unfinished work, no places of one machine."""
    del path
    for number, line in enumerate(text.split("\n"), 1):
        mark, place = MARKS.search(line), PLACES.search(line)
        if mark:
            yield number, f"left over: {mark.group()}", None
        if place:
            yield number, f"a place of one machine: {place.group()}", None


def rule_header(path, text):
    """A header of the library opens with its contract and is guarded by its own name."""
    if not (path.startswith("lib/") and path.endswith(".h")):
        return
    opening = text.split("#ifndef")[0]
    for word in HEADER_WORDS:
        if word not in opening:
            yield 1, f"the opening comment lacks '{word}'", None
    guard = rf"#ifndef (([A-Z0-9]\w*_)?{os.path.basename(path)[:-2].upper()}_H)\n#define \1\n"
    if not re.search(guard, text):
        yield 1, "the guard is not FOLDER_NAME_H", None


CALL = re.compile(r"(?<![\w.>])([A-Za-z_]\w*)\s*\(")


def banned_in(path):
    """The calls that a file may not contain."""
    names = set(BANNED_EVERYWHERE)
    if not path.startswith(("tests/", "fuzz/")):
        names |= set(BANNED_OUTSIDE_TESTS)
    if path.startswith("lib/"):
        names |= set(BANNED_HOST)
        if not path.startswith(MEMORY_FOLDERS):
            names |= set(BANNED_MEMORY)
    return names


def rule_calls(path, text):
    """No banned call."""
    if not path.endswith(C_SOURCE):
        return
    names = banned_in(path)
    for number, line in enumerate(source_tree.code_only(text).split("\n"), 1):
        for match in CALL.finditer(line):
            if match.group(1) in names:
                yield number, f"a call of {match.group(1)}", f"call {match.group(1)}"


DEFINITION = re.compile(r"([A-Za-z_]\w*)\s*\((?:[^;{}=]|\n)*\)\s*$")


def functions(text):
    """(name, line of its brace, lines from brace to brace) of each function in C text."""
    code = source_tree.code_only(text)
    # Preprocessor lines may hold braces that do not pair; a function's body seldom needs them.
    code = re.sub(r"^[ \t]*#(?:[^\n\\]|\\\n|\\.)*", lambda m: "\n" * m.group().count("\n"), code,
                  flags=re.M)
    depth, start, begin, name = 0, 0, 0, None
    for match in re.finditer(r"[{};]", code):
        sign, at = match.group(), match.start()
        if sign == "{":
            if depth == 0:
                found = DEFINITION.search(code[start:at])
                name, begin = (found.group(1) if found else None), at
            depth += 1
        elif sign == "}":
            depth -= 1
            if depth == 0:
                if name:
                    lines = code.count("\n", begin, at) + 1
                    yield name, code.count("\n", 0, begin) + 1, lines
                name, start = None, at + 1
        elif depth == 0:
            start = at + 1


def rule_size(path, text):
    """Functions and files have a size that can be read."""
    if not path.endswith(C_SOURCE):
        return
    lines = text.count("\n")
    if lines > FILE_LINES_MAX:
        yield 1, f"{lines} lines, at most {FILE_LINES_MAX}", "file"
    for name, line, count in functions(text):
        if count > FUNCTION_LINES_MAX:
            yield line, f"{name} has {count} lines, at most {FUNCTION_LINES_MAX}", \
                f"function {name}"


RULES = [rule_text, rule_spdx, rule_marks, rule_header, rule_calls, rule_size]


# --- The tree as a whole ------------------------------------------------------------------------


def dead_files(root, paths):
    """Sources that nothing builds: nobody notices when they break.

    A source is named by the CMakeLists.txt of its folder or of one above it, by that of a neighbour
    as ../FOLDER/NAME, or by a script of its folder that compiles it.
    """
    lists = {}
    for path in paths:
        if os.path.basename(path) == "CMakeLists.txt" or path.endswith((".sh", ".py")):
            folder = os.path.dirname(path)
            lists[folder] = lists.get(folder, "") + source_tree.read(root, path)
    if not any(os.path.basename(path) == "CMakeLists.txt" for path in paths):
        return
    for path in paths:
        if not path.endswith(".c") or path.split("/")[0] not in ("lib", "apps", "tools", "tests",
                                                                 "fuzz"):
            continue
        helper = re.fullmatch(r"(test|fuzz)_(.*)\.c", os.path.basename(path))
        if path == "fuzz/replay.c" or _is_listed(lists, path, helper):
            continue
        yield f"{path}:1: no CMakeLists.txt or script names this file"


def _is_listed(lists, path, helper):
    folder = os.path.dirname(path)
    if helper and f"locum_{helper.group(1)}({helper.group(2)}" in lists.get(folder, ""):
        return True
    while folder:
        name = os.path.relpath(path, folder)
        if re.search(rf"(?<![\w/.]){re.escape(name)}(?![\w.])", lists.get(folder, "")):
            return True
        folder = os.path.dirname(folder)
    neighbour = os.path.join("..", os.path.basename(os.path.dirname(path)), os.path.basename(path))
    above = os.path.dirname(os.path.dirname(path))
    return any(re.search(rf"(?<![\w/.]){re.escape(neighbour)}(?![\w.])", text)
               for folder, text in lists.items() if os.path.dirname(folder) == above)


def check(root):
    paths = source_tree.files(root)
    exceptions, problems = source_tree.exceptions(root, "call", "function", "file")
    used = set()
    for path in paths:
        size = os.path.getsize(os.path.join(root, path))
        if size > BLOB_BYTES_MAX and not path.startswith("models/"):
            problems.append(f"{path}:1: {size} bytes, at most {BLOB_BYTES_MAX}")
            continue
        text = source_tree.read(root, path)
        source = needs_spdx(path, text)
        if not source and not path.endswith(".md"):
            continue
        for rule in RULES if source else [rule_marks]:
            for line, what, key in rule(path, text):
                if key and (path, key) in exceptions:
                    used.add((path, key))
                else:
                    problems.append(f"{path}:{line}: {what}")
    return problems + source_tree.unused(exceptions - used) + list(dead_files(root, paths))


_C = f"// {SPDX}\n"
_H = _C + "".join(f"// {w} x\n" for w in HEADER_WORDS)


def _function(lines):
    return _C + "int f(int a) {\n" + "    a++;\n" * (lines - 2) + "}\n"


CASES = [
    ("clean", {"lib/a/a.c": _C + 'int f(void) {\n    return 1; // not atoi()\n}\n',
               "lib/a/a.h": _H + "#ifndef A_A_H\n#define A_A_H\n#endif\n",
               "tools/t": f"#!/bin/sh\n# {SPDX}\nexit 0\n"}, None),
    ("no licence", {"lib/a/a.c": "int x;\n"}, "SPDX"),
    ("no licence after #!", {"tools/t": "#!/bin/sh\nexit 0\n"}, "SPDX"),
    ("tab", {"lib/a/a.c": _C + "\tint x;\n"}, "a tab"),
    ("blanks", {"lib/a/a.c": _C + "int x; \n"}, "blanks at the end"),
    ("wide", {"lib/a/a.c": _C + "//" + "x" * 130 + "\n"}, "columns"),
    ("no newline", {"lib/a/a.c": _C + "int x;"}, "no newline"),
    ("mark", {"lib/a/a.c": _C + "// TO" "DO later\n"}, "lib/a/a.c:2: left over"),
    ("mark in a text", {"README.md": "FIX" "ME\n"}, "left over"),
    ("place", {"README.md": "see /ho" "me/me/x\n"}, "a place of one machine"),
    ("contract", {"lib/a/a.h": _C + "#ifndef A_A_H\n#define A_A_H\n#endif\n"}, "lacks 'Owns:'"),
    ("guard", {"lib/a/b.h": _H + "#ifndef B\n#define B\n#endif\n"}, "guard is not FOLDER_NAME_H"),
    ("banned", {"apps/a/a.c": _C + "int f(void) {\n    return atoi(s);\n}\n"}, "a.c:3: a call of atoi"),
    ("banned in a test", {"tests/a/a.c": _C + "void f(void) { strcpy(a, b); }\n"}, "call of strcpy"),
    ("allowed in a test", {"tests/a/a.c": _C + "void f(void) { atoi(a); }\n"}, None),
    ("memory", {"lib/exec/a.c": _C + "void f(void) { free(0); }\n"}, "a call of free"),
    ("memory in base", {"lib/base/a.c": _C + "void f(void) { free(0); }\n"}, None),
    ("own member", {"lib/exec/a.c": _C + "void f(x *a) { a->free(a); }\n"}, None),
    ("printing", {"lib/base/a.c": _C + 'void f(void) { printf("x"); }\n'}, "a call of printf"),
    ("longest function", {"lib/a/a.c": _function(FUNCTION_LINES_MAX)}, None),
    ("long function", {"lib/a/a.c": _function(FUNCTION_LINES_MAX + 1)}, "f has 71 lines"),
    ("long after a table", {"lib/a/a.c": _C + "static int t[] = {1};\n" +
                            _function(80)[len(_C):]}, "f has 80 lines"),
    ("long file", {"lib/a/a.c": _C + "\n" * FILE_LINES_MAX}, "at most 1500"),
    ("exception", {"lib/a/a.c": _function(80),
                   "tools/tidy_exceptions.txt": "function f lib/a/a.c # a table\n"}, None),
    ("exception without reason", {"lib/a/a.c": _function(80),
                                  "tools/tidy_exceptions.txt": "function f lib/a/a.c\n"},
     "no reason given"),
    ("stale exception", {"lib/a/a.c": _function(8),
                         "tools/tidy_exceptions.txt": "function f lib/a/a.c # a table\n"},
     "no longer needed"),
    ("blob", {"docs/x.bin": "x" * (BLOB_BYTES_MAX + 1)}, "bytes, at most"),
    ("dead", {"lib/a/CMakeLists.txt": f"# {SPDX}\nx(a.c)\n", "lib/a/a.c": _C,
              "lib/a/b.c": _C}, "lib/a/b.c:1: no CMakeLists.txt"),
    ("listed", {"lib/a/CMakeLists.txt": f"# {SPDX}\nx(sub/a.c)\n", "lib/a/sub/a.c": _C,
                "tests/a/CMakeLists.txt": f"# {SPDX}\nlocum_test(a)\n",
                "tests/a/test_a.c": _C}, None),
]

if __name__ == "__main__":
    sys.exit(source_tree.main("tidy", check, CASES))
