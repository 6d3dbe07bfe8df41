#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lines of lib/ and apps/ that a coverage build has run: coverage.py BUILD_FOLDER [--missing].

One row per folder and the total; --missing adds each file with the lines that never ran.
"""

import collections
import gzip
import json
import os
import subprocess
import sys
import tempfile

import source_tree


def line_counts(build):
    """{path in the tree: {line: times run}} of all objects below build, summed over objects."""
    counts = collections.defaultdict(lambda: collections.defaultdict(int))
    data = []
    for folder, _, names in os.walk(os.path.abspath(build)):
        data += [os.path.join(folder, n) for n in names if n.endswith(".gcda")]
    with tempfile.TemporaryDirectory() as work:
        if data:
            subprocess.run(["gcov", "--json-format", "--hash-filenames", *data], cwd=work, check=True,
                           stdout=subprocess.DEVNULL)
        for name in os.listdir(work):
            with gzip.open(os.path.join(work, name), "rt") as file:
                report = json.load(file)
            for source in report["files"]:
                path = os.path.relpath(
                    os.path.join(report["current_working_directory"], source["file"]),
                    source_tree.ROOT)
                if path.startswith(("lib/", "apps/")):
                    for line in source["lines"]:
                        counts[path][line["line_number"]] += line["count"]
    return counts


def ranges(lines):
    """[1, 2, 3, 7] as "1-3 7"."""
    parts = []
    for line in sorted(lines):
        if parts and parts[-1][1] == line - 1:
            parts[-1][1] = line
        else:
            parts.append([line, line])
    return " ".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)


def main(arguments):
    missing = "--missing" in arguments
    folders = [a for a in arguments if not a.startswith("--")]
    if len(folders) != 1:
        print("usage: coverage.py BUILD_FOLDER [--missing]", file=sys.stderr)
        return 2
    totals = collections.defaultdict(lambda: [0, 0])
    counts = line_counts(folders[0])
    if not counts:
        print(f"{folders[0]} holds no counters: build it with the preset coverage and run tests",
              file=sys.stderr)
        return 1
    for path, lines in sorted(counts.items()):
        ran = sum(1 for count in lines.values() if count)
        for key in ("/".join(path.split("/")[:2]), "total"):
            totals[key][0] += ran
            totals[key][1] += len(lines)
        if missing and ran < len(lines):
            print(f"{path}: {ranges(n for n, count in lines.items() if not count)}")
    total = totals.pop("total")
    for folder, (ran, all_lines) in [*sorted(totals.items()), ("total", total)]:
        print(f"{folder:16} {ran:6} of {all_lines:6} lines {100 * ran / all_lines:5.1f} %")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
