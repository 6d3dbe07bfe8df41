# SPDX-License-Identifier: Apache-2.0
"""Every damaged, unsupported or odd file of tools/gguf/gguf_bad.py through inspect and run."""
import os

from cli_test import Failure, bad_files, check, equal, inspect, locum, main, stats

# Sparse files are as large as they look to a file system that cannot hold holes.
MEMORY = "64M"


def rows():
    folder = bad_files()
    with open(os.path.join(folder, "table.tsv"), encoding="utf-8") as table:
        for line in table:
            name, inspected, ran, says, _ = line.rstrip("\n").split("\t")
            yield os.path.join(folder, name), int(inspected), int(ran), says


def problem_of(path, inspected, ran, says):
    try:
        locum("inspect", path).expect(inspected)
        result = locum("run", path, "-p", "hello", "-n", 2, "--memory", MEMORY).expect(ran)
        equal(ran == 0 or result.out == b"", True, "nothing on standard output")
        if says != "-":
            result.expect(ran, says)
            check(path.split("-0000")[0] in result.err,  # of a split file, the shard concerned
                  f"{path}: the message does not name the file: {result.err}")
        if inspected == 0:
            told = inspect(path)
            equal(told["runnable"], ran == 0, f"{path}: runnable")
            check(ran == 0 or says.lower() in told["reason"].lower(),
                  f"{path}: inspect does not give the reason: {told['reason']}")
    except Failure as failure:
        return str(failure)
    return None


def test_every_row():
    listed = list(rows())
    check(len(listed) > 90, f"only {len(listed)} rows")
    problems = [text for text in (problem_of(*row) for row in listed) if text]
    check(not problems, f"{len(problems)} of {len(listed)}:\n" + "\n".join(problems))


def test_offsets_beyond_32_bits_read_the_same_model():
    folder = bad_files()
    base = stats(os.path.join(folder, "good-sparse-0.gguf"), "-p", "hello", "-n", 20,
                 "--memory", MEMORY, "--seed", 1)
    for name in ("3g", "5g", "2t"):
        other = stats(os.path.join(folder, f"good-sparse-{name}.gguf"), "-p", "hello", "-n", 20,
                      "--memory", MEMORY, "--seed", 1)
        equal((other["logits_hash"], other["ids"]), (base["logits_hash"], base["ids"]), name)


if __name__ == "__main__":
    main(globals())
