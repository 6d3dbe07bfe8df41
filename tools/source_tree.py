# SPDX-License-Identifier: Apache-2.0
"""What the checks of the tree share: which files there are, C text without comments, self tests."""

import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def files(root):
    """Paths below root, relative and sorted: those that git tracks, or all where there is no git."""
    if os.path.exists(os.path.join(root, ".git")):
        done = subprocess.run(
            ["git", "-c", "safe.directory=*", "ls-files", "-z"],
            cwd=root, stdout=subprocess.PIPE, check=False)
        if done.returncode == 0:
            names = done.stdout.decode().split("\0")
            return sorted(n for n in names if n and os.path.isfile(os.path.join(root, n)))
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = [f for f in folders if f not in (".git", "build", "__pycache__")]
        found += [os.path.relpath(os.path.join(folder, n), root) for n in names]
    return sorted(found)


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8", errors="replace", newline="") as file:
        return file.read()


_TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def code_only(text):
    """C text with comments and the insides of literals blanked; line numbers stay."""

    def blank(match):
        token = match.group()
        if token[0] in "\"'":
            return token[0] + token[0]
        return "\n" * token.count("\n") or " "

    return _TOKEN.sub(blank, text)


def exceptions(root, *kinds):
    """What tools/tidy_exceptions.txt allows: ({(path, "kind name")} of these kinds, problems)."""
    name = "tools/tidy_exceptions.txt"
    found, problems = set(), []
    if os.path.exists(os.path.join(root, name)):
        for number, line in enumerate(read(root, name).split("\n"), 1):
            rule, _, reason = line.partition("#")
            words = rule.split()
            if words and not reason.strip():
                problems.append(f"{name}:{number}: no reason given")
            elif words and words[0] in kinds:
                found.add((words[-1], " ".join(words[:-1])))
    return found, problems


def unused(allowed):
    """Problems for exceptions that nothing needs any more."""
    return [f"tools/tidy_exceptions.txt:1: no longer needed: {key} {path}"
            for path, key in sorted(allowed)]


def report(name, problems):
    """Prints problems, one a line as path:line: text. Gives the exit status."""
    for problem in problems:
        print(problem)
    print(f"check_{name}: {len(problems)} problems" if problems else f"check_{name}: ok")
    return 1 if problems else 0


def self_test(name, check, cases):
    """Runs check(root) on small trees: a case is (title, {path: text}, text expected or None).

    Every case with an expected text must give a problem that contains it, a case with None must
    give no problem. A check that cannot fail proves nothing.
    """
    wrong = 0
    for title, tree, expected in cases:
        with tempfile.TemporaryDirectory() as root:
            for path, text in tree.items():
                full = os.path.join(root, path)
                os.makedirs(os.path.dirname(full), exist_ok=True)
                with open(full, "w", encoding="utf-8") as file:
                    file.write(text)
            problems = check(root)
        good = any(expected in p for p in problems) if expected else not problems
        if not good:
            wrong += 1
            print(f"{title}: expected {expected!r}, got {problems}")
    print(f"check_{name} --self-test: {len(cases) - wrong} of {len(cases)} cases right")
    return 1 if wrong else 0


def main(name, check, cases):
    """The command line of a check: nothing, or --self-test."""
    if sys.argv[1:] == ["--self-test"]:
        return self_test(name, check, cases)
    if sys.argv[1:]:
        print(f"usage: check_{name}.py [--self-test]", file=sys.stderr)
        return 2
    return report(name, check(ROOT))
