#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Looks into the objects of the library: check_symbols.py BUILD_FOLDER.

- No function of libm but those that are exact by definition or one rounding of an exact result:
  another exp or pow is another answer, so those are our own.
- No variable that can change: a process may hold several models, each with its own state.
- No exported name without the prefix locum_.
"""

import os
import re
import subprocess
import sys
import tempfile

import source_tree

# Correctly rounded on every libm, because their results are exact or IEEE 754 says how they round.
EXACT = {f"{name}{suffix}" for suffix in ("", "f") for name in (
    "fma sqrt fabs copysign floor ceil trunc round rint nearbyint lrint llrint lround llround "
    "ldexp scalbn frexp modf fmod").split()}

CHANGEABLE = re.compile(r"\.(data|bss|tdata|tbss)(?!\.rel\.ro)(\.|$)|^COMMON$")


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return done.stdout.decode()


def libm_names():
    """Every function that libm defines, from the libm of the compiler."""
    path = run("cc", "-print-file-name=libm.so.6").strip()
    names = {line.split()[-1].split("@")[0] for line in run("nm", "-D", "--defined-only",
                                                            path).splitlines()}
    assert "expf" in names and "pow" in names, f"{path} is no libm"
    return names


SECTION = re.compile(r"^\s*\[\s*(\d+)\]\s+(\S+)")
SYMBOL = re.compile(r"^\s*\d+:\s+[0-9a-f]+\s+\S+\s+(\w+)\s+(\w+)\s+(\w+)\s+(\S+)\s+(\S+)")


def object_problems(path, shown, libm):
    """What is wrong with one object file: (text, key of an exception or None)."""
    sections = {}
    for line in run("readelf", "-SW", path).splitlines():
        match = SECTION.match(line)
        if match:
            sections[match.group(1)] = match.group(2)
    for line in run("readelf", "-sW", path).splitlines():
        match = SYMBOL.match(line)
        if not match:
            continue
        kind, bind, visibility, index, name = match.groups()
        section = "COMMON" if index == "COM" else sections.get(index, "")
        if index == "UND":
            if name in libm and name not in EXACT:
                yield f"{shown}: calls {name} of libm", None
        elif kind in ("OBJECT", "TLS") and CHANGEABLE.search(section):
            yield f"{shown}: {name} can change ({section})", f"variable {name}"
        elif bind == "GLOBAL" and visibility == "DEFAULT" and not name.startswith("locum_"):
            yield f"{shown}: exports {name}", None


def check(build, root):
    objects = []
    for folder, _, names in os.walk(os.path.join(build, "lib")):
        objects += [os.path.join(folder, n) for n in names if n.endswith(".o")]
    if not objects:
        return [f"{build}/lib holds no object: build first"]
    libm = libm_names()
    allowed, problems = source_tree.exceptions(root, "variable")
    used = set()
    for path in sorted(objects):
        shown = re.sub(r"CMakeFiles/[^/]*/", "", os.path.relpath(path, build))
        for text, key in object_problems(path, shown[:-2], libm):
            if (shown[:-2], key) in allowed:
                used.add((shown[:-2], key))
            else:
                problems.append(text)
    return problems + source_tree.unused(allowed - used)


SELF_TEST = """
#include <math.h>
#define HIDDEN __attribute__((visibility("hidden")))
static const char *const words[] = {"a", "b"};
static int counter, allowed;
static int start = 3;
static _Thread_local int own;
HIDDEN float good(float x);
HIDDEN float good(float x) { return fmaf(x, x, sqrtf(x)) + words[(int)x][0]; }
HIDDEN float bad(float x);
HIDDEN float bad(float x) { own++; allowed++; return expf(x) + (float)counter++ + (float)start++; }
float locum_shown(float x);
float locum_shown(float x) { return good(x); }
float foreign(float x);
float foreign(float x) { return bad(x); }
"""
EXPECTED = ["calls expf of libm", "counter can change", "start can change", "own can change",
            "exports foreign", "no longer needed: variable gone"]


def self_test():
    """Exactly the faults of SELF_TEST are found, and an exception that nothing needs."""
    with tempfile.TemporaryDirectory() as build:
        os.mkdir(os.path.join(build, "lib"))
        source = os.path.join(build, "x.c")
        with open(source, "w", encoding="utf-8") as file:
            file.write(SELF_TEST)
        os.mkdir(os.path.join(build, "tools"))
        exceptions = os.path.join(build, "tools", "tidy_exceptions.txt")
        with open(exceptions, "w", encoding="utf-8") as file:
            file.write("variable allowed lib/x # why\nvariable gone lib/x # why\n")
        run("cc", "-O1", "-fPIC", "-fno-math-errno", "-c", source, "-o", f"{build}/lib/x.o")
        problems = check(build, build)
    good = len(problems) == len(EXPECTED) and all(any(e in p for p in problems) for e in EXPECTED)
    print("check_symbols --self-test:", "ok" if good else f"expected {EXPECTED}, got {problems}")
    return 0 if good else 1


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print("usage: check_symbols.py BUILD_FOLDER | --self-test", file=sys.stderr)
        return 2
    return source_tree.report("symbols", check(arguments[0], source_tree.ROOT))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
