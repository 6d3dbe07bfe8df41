#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles every header alone: as C11, and the public ones as C++ too."""

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import source_tree

# Headers of x86 kernels name vector types. Those called *_x86.h are written once for all widths: the
# file that includes one has chosen the width by including a vec_*.h before it.
X86 = "lib/kernels/x86/"
ISA = ["-mavx2", "-mfma", "-mf16c"]
ISA_512 = ["-mavx512f", "-mavx512bw", "-mavx512vl", "-mavx512dq"]


def compile_alone(root, path, language, compiler):
    """The first lines of what the compiler says, or None when it says nothing."""
    command = [compiler, "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-x", language,
               "-std=c11" if language == "c" else "-std=c++11", "-Iinclude", "-Ilib"]
    if path.startswith(X86):
        command += ISA + (ISA_512 if "512" in path else [])
        if path.endswith("_x86.h") and os.path.exists(os.path.join(root, X86 + "vec_avx2.h")):
            command += ["-include", X86 + "vec_avx2.h", "-DTILE_KINDS=TILE_KINDS_32",
                        "-DTILE_TYPES=TILE_LIST_32"]
    # Included from an empty source: a header as main file has its own warnings.
    source = f'#include "{os.path.join(root, path)}"\n'
    done = subprocess.run(command + ["-"], cwd=root, input=source, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode == 0:
        return None
    return f"{path}:1: does not compile alone as {language}: " + done.stdout.strip()[:600]


def check(root):
    c_compiler = shutil.which("gcc") or shutil.which("clang-14") or "cc"
    cpp_compiler = shutil.which("clang-14") or shutil.which("g++") or shutil.which("c++")
    jobs = []
    for path in source_tree.files(root):
        if path.startswith(("lib/", "include/")) and path.endswith(".h"):
            jobs.append((root, path, "c", c_compiler))
            if path.startswith("include/") and cpp_compiler:
                jobs.append((root, path, "c++", cpp_compiler))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return [p for p in pool.map(lambda job: compile_alone(*job), jobs) if p]


CASES = [
    ("complete", {"lib/a/a.h": "#include <stddef.h>\nsize_t a_size(void);\n"}, None),
    ("leans on another", {"lib/a/a.h": "size_t a_size(void);\n"}, "does not compile alone as c"),
    ("public, not for C++", {"include/locum/l.h": "int l_f(int new);\n"}, "alone as c++"),
]

if __name__ == "__main__":
    sys.exit(source_tree.main("headers", check, CASES))
