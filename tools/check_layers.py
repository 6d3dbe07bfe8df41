#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads every #include of the tree against tools/layers.txt.

Fails on an include that points up or sideways, on an application that looks inside the library, on
a system header outside lib/platform, and on a module whose name is not unique.
"""

import os
import re
import sys

import source_tree

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.M)
FREE = ("tools", "tests", "fuzz", "bench")  # may look inside the library


class Layers:
    """tools/layers.txt; what its words mean is written there."""

    def __init__(self, text):
        self.below, self.public, self.std, self.allow, self.only = {}, set(), set(), {}, {}
        for number, line in enumerate(text.splitlines(), 1):
            words = line.split("#")[0].replace(":", " : ").split()
            if not words:
                continue
            if words[0] in ("layer", "allow", "only") and words[2:3] == [":"]:
                self._folder_line(number, words[0], words[1], set(words[3:]))
            elif words[0] == "public":
                self.public |= set(words[1:])
            elif words[0] == "std":
                self.std |= set(words[1:])
            else:
                raise ValueError(f"tools/layers.txt:{number}: cannot read this line")

    def _folder_line(self, number, kind, folder, names):
        if kind == "layer":
            unknown = sorted(names - self.below.keys())
            if unknown:
                raise ValueError(f"tools/layers.txt:{number}: {unknown[0]} is not above")
            self.below[folder] = names
        elif kind == "only":
            self.only.update({name: folder for name in names})
        if kind != "layer":
            self.allow[folder] = self.allow.get(folder, set()) | names

    def allows(self, folder, header):
        """Whether files of folder may include header, by the folder's line or one above it."""
        if header in self.std:
            return True
        while folder:
            rules = self.allow.get(folder, ())
            if header in rules or "*" in rules:
                return True
            folder = os.path.dirname(folder)
        return False


def angle_problem(layers, path, header):
    """Why path may not include <header>, or None."""
    parts = path.split("/")
    if header.startswith("locum/"):
        if parts[0] == "lib" and parts[1] not in layers.public:
            return f"<{header}>: lib/{parts[1]} is below the public API"
        return None
    if not layers.allows(os.path.dirname(path), header):
        return f"<{header}>: not among the headers allowed in {os.path.dirname(path)}"
    return None


def quote_problem(layers, known, path, header):
    """Why path may not include "header", or None."""
    parts = path.split("/")
    beside = os.path.normpath(os.path.join(os.path.dirname(path), header))
    if parts[0] == "lib":
        target = header.split("/")[0]
        if f"lib/{header}" not in known:
            return f'"{header}": there is no lib/{header}; paths start at lib/'
        if target != parts[1] and target not in layers.below.get(parts[1], ()):
            return f'"{header}": lib/{parts[1]} may not include lib/{target}'
        if target != parts[1] and header in layers.only:
            return f'"{header}": for {layers.only[header]} only'
        return None
    if parts[0] in FREE:
        return None
    if parts[0] == "include":
        return f'"{header}": public headers include <...> only'
    if beside in known and beside.startswith("/".join(parts[:2]) + "/"):
        return None
    if f"lib/{header}" in known and layers.allows(os.path.dirname(path), header):
        return None
    return f'"{header}": an application includes its own folder and <locum/...> only'


def stem_problems(paths):
    """A stem names one module: at most one .c and one .h, both below the same folder."""
    seen, problems = {}, []
    for path in paths:
        stem, suffix = os.path.splitext(os.path.basename(path))
        home = "/".join(path.split("/")[:2])
        for other in seen.setdefault(stem, []):
            if os.path.splitext(other)[1] == suffix or "/".join(other.split("/")[:2]) != home:
                problems.append(f"{path}:1: the name {stem} is taken by {other}")
        seen[stem].append(path)
    return problems


def check(root):
    try:
        layers = Layers(source_tree.read(root, "tools/layers.txt"))
    except ValueError as error:
        return [str(error)]
    known = set(source_tree.files(root))
    sources = sorted(p for p in known if p.endswith((".c", ".h")))
    problems = []
    for path in sources:
        if path.startswith("lib/") and path.split("/")[1] not in layers.below:
            problems.append(f"{path}:1: lib/{path.split('/')[1]} has no line in tools/layers.txt")
            continue
        text = source_tree.read(root, path)
        for match in INCLUDE.finditer(text):
            kind, header = match.groups()
            problem = (angle_problem(layers, path, header) if kind == "<"
                       else quote_problem(layers, known, path, header))
            if problem:
                problems.append(f"{path}:{text.count(chr(10), 0, match.start()) + 1}: {problem}")
    modules = [p for p in sources if p.startswith(("lib/", "apps/", "tools/"))]
    return problems + stem_problems(modules)


_RULES = """layer base :
layer gguf : base
layer store : base
public base
std stdint.h
allow lib/gguf/deep : immintrin.h
allow tools : *
allow apps : time.h gguf/extra.h
only apps : base/program.h
"""


def _case(title, expected, tree):
    return title, {"tools/layers.txt": _RULES, "lib/base/low.h": "", "lib/gguf/mid.h": "", **tree}, \
        expected


CASES = [
    _case("legal", None, {
        "lib/gguf/mid.c": '#include "gguf/mid.h"\n#include "base/low.h"\n#include <stdint.h>\n',
        "lib/gguf/deep/x.c": "#include <immintrin.h>\n",
        "lib/base/low.c": "#include <locum/locum.h>\n",
        "apps/cli/main.c": '#include "own.h"\n#include <locum/locum.h>\n#include <time.h>\n'
                           '#include "base/program.h"\n#include "gguf/extra.h"\n',
        "lib/base/program.h": "", "lib/gguf/extra.h": "",
        "apps/cli/own.h": "",
        "tools/t.c": '#include "gguf/mid.h"\n#include <unistd.h>\n'}),
    _case("up", "lib/base may not include lib/gguf",
          {"lib/base/low.c": '\n#include "gguf/mid.h"\n'}),
    _case("line number", "lib/base/low.c:2:", {"lib/base/low.c": '\n#include "gguf/mid.h"\n'}),
    _case("sideways", "lib/store may not include lib/gguf",
          {"lib/store/a.c": '#  include "gguf/mid.h"\n'}),
    _case("relative", "paths start at lib/", {"lib/gguf/mid.c": '#include "mid.h"\n'}),
    _case("public from the middle", "below the public API",
          {"lib/gguf/mid.c": "#include <locum/locum.h>\n"}),
    _case("system header", "not among the headers",
          {"lib/gguf/mid.c": "#include <unistd.h>\n"}),
    _case("intrinsics elsewhere", "not among the headers",
          {"lib/gguf/mid.c": "#include <immintrin.h>\n"}),
    _case("application inside", "own folder and <locum/...> only",
          {"apps/cli/main.c": '#include "base/low.h"\n'}),
    _case("application by path", "own folder and <locum/...> only",
          {"apps/cli/main.c": '#include "../../lib/base/low.h"\n'}),
    _case("system header in an application", "not among the headers",
          {"apps/cli/main.c": "#include <sys/mman.h>\n"}),
    _case("public header", "public headers include <...> only",
          {"include/locum/locum.h": '#include "base/low.h"\n'}),
    _case("for programs only", "for apps only",
          {"lib/gguf/mid.c": '#include "base/program.h"\n', "lib/base/program.h": ""}),
    _case("folder without a layer", "has no line", {"lib/odd/a.c": ""}),
    _case("two modules", "is taken by", {"lib/gguf/low.c": ""}),
    _case("two sources", "is taken by", {"lib/gguf/mid.c": "", "lib/gguf/deep/mid.c": ""}),
    ("cycle", {"tools/layers.txt": "layer a : b\nlayer b : a\n"}, "is not above"),
]

if __name__ == "__main__":
    sys.exit(source_tree.main("layers", check, CASES))
