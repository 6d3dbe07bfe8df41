#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""How near an answer from storage comes to what its dependencies allow.

    bench/overlap.py MODEL --locum build/release/apps/cli/locum --memory 1400MiB

A token cannot be faster than this, layer by layer, where nothing is foreseen:

    the layer's dense part, then the longer of: computing the experts that are there, and reading the
    others; then computing the one that arrived last; behind all layers the output

The parts are measured in the same minutes: dense part and experts with the whole model in memory
(--op-trace), what was missing in a run of its own (--no-lookahead, --io-trace), the drive with
tools/drive_rate. The bound is set against the time of such a run, and against one that looks ahead, which
may beat it. What is missing to 1 is waiting that compute could have hidden.
Rounds follow each other; medians with (least..most). docs/performance.md says more.
"""
import argparse
import collections
import csv
import os
import statistics
import sys
import tempfile

import reads
from speed_side import MIB, Absent, Conditions, spawn

GOAL = 0.9                         # of the bound


def table(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


class Runs:
    """Answers of one length, each in a process of its own."""

    def __init__(self, a, conditions, folder):
        self.a, self.conditions, self.folder = a, conditions, folder

    def answer(self, memory, *flags):
        command = [self.a.locum, "bench", self.a.model, "--json", "--quiet", "--memory", memory, "--io",
                   "direct", "--prompt-tokens", 1, "-n", self.a.answer + 1, "-r", 1, "-t",
                   self.conditions.threads, "--warm-up", self.a.warm_up, *flags]
        return spawn(command, self.conditions, None)

    def file(self, name):
        return os.path.join(self.folder, name)

    def parts(self):
        """Seconds for a token: {layer: dense}, output and all else, one expert."""
        path = self.file("ops.csv")
        told = self.answer("all", "--op-trace", path)
        dense, outside, experts = collections.Counter(), 0.0, 0.0
        for row in table(path):
            if row["phase"] != "answer":
                continue
            seconds = float(row["seconds"]) / self.a.answer
            if row["operation"].startswith("experts"):
                experts += seconds if row["operation"] != "experts" else 0
            elif row["layer"]:
                dense[int(row["layer"])] += seconds
            else:
                outside += seconds
        used = (told["answer"]["hits"] + told["answer"]["misses"]) / self.a.answer
        return dense, outside, experts / used

    def missing(self):
        """The bytes that each token read for each layer, of the tokens behind the first; seconds of a
        token."""
        path = self.file("io.csv")
        told = self.answer(self.a.memory, "--no-lookahead", "--io-trace", path)
        steps = collections.defaultdict(collections.Counter)
        experts = collections.defaultdict(lambda: collections.defaultdict(set))
        for row in table(path):
            if row["phase"] == "1":
                steps[row["step"]][int(row["layer"])] += int(row["read_bytes"])
                experts[row["step"]][int(row["layer"])].add(row["expert"])
        return steps, experts, told["answer"]["seconds"] / self.a.answer

    def looking_ahead(self):
        return self.answer(self.a.memory)["answer"]["seconds"] / self.a.answer


def bound(parts, steps, experts, used, rate, tokens):
    """Seconds of a token, as the dependencies allow; mean over the tokens."""
    dense, outside, expert = parts
    # Of tokens that read nothing.
    total = (tokens - len(steps)) * (outside + sum(dense.values()) + len(dense) * used * expert)
    for step, layers in steps.items():
        total += outside
        for layer, seconds in dense.items():
            misses = len(experts[step][layer])
            computing = max(0, used - misses) * expert
            total += seconds + max(computing, layers[layer] / rate) + (expert if misses else 0)
    return total / tokens


def measure(a):
    conditions = Conditions(a.threads, tuple(sorted(os.sched_getaffinity(0))))
    drive = reads.Drive(a, conditions)
    used = spawn([a.locum, "inspect", a.model, "--json"], conditions, None)["experts_used"]
    figures = collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        runs = Runs(a, conditions, folder)
        for _ in range(a.rounds):
            rate = drive.measure() * MIB
            parts = runs.parts()
            steps, experts, plain = runs.missing()
            figures["bound"].append(bound(parts, steps, experts, used, rate, a.answer))
            figures["as it comes"].append(plain)
            figures["looking ahead"].append(runs.looking_ahead())
            figures["drive"].append(rate)
    return figures


def report(figures, a):
    print("| | ms a token | of the bound |")
    print("| --- | --- | --- |")
    for name in ("bound", "as it comes", "looking ahead"):
        ratios = [b / t for b, t in zip(figures["bound"], figures[name])]
        print("| %s | %s | %s |" % (name, spread(figures[name], 1e3, "%.1f"),
                                    spread(ratios, 1, "%.2f")))
    print("\nThe goal is %.2f without looking ahead. Drive: %s MiB/s, %d reads in flight; %s of memory, "
          "%d tokens, %d rounds" % (GOAL, spread(figures["drive"], 1 / MIB, "%.0f"), a.depth, a.memory,
                                    a.answer, a.rounds))


def spread(values, scale, form):
    values = [value * scale for value in values]
    return "%s (%s..%s)" % tuple(form % v for v in (statistics.median(values), min(values),
                                                    max(values)))


def parse_arguments(argv):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--locum", required=True, metavar="PROGRAM")
    parser.add_argument("--drive", metavar="PROGRAM", help="default: drive_rate of Locum's build")
    parser.add_argument("--memory", required=True, help="less than the model needs")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--answer", type=int, default=64, metavar="TOKENS")
    parser.add_argument("--warm-up", type=int, default=256, metavar="TOKENS")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=1, help="for each figure of the drive")
    parser.add_argument("--depth", type=int, default=reads.DEPTH, help="reads in flight for the drive")
    a = parser.parse_args(argv)
    build = os.path.join(os.path.dirname(os.path.abspath(a.locum)), "..", "..")
    a.drive = a.drive or os.path.join(build, "tools", "drive_rate")
    return a


def main(argv):
    a = parse_arguments(argv)
    try:
        figures = measure(a)
    except (Absent, RuntimeError, OSError) as problem:
        print("overlap.py: %s" % problem, file=sys.stderr)
        return 1
    report(figures, a)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
