#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""How much of the drive Locum uses while experts are missing.

    bench/reads.py MODEL --locum build/release/apps/cli/locum --memory 1G

A round measures, one after the other and on the same file, what the drive gives to random direct
reads of the very ranges in which experts lie, as many in flight as Locum has; and what `locum bench`
reads of a prompt and of an answer in the time in which it has a read in flight. Nothing passes the
page cache. The processes run as those of bench/speed.py do. docs/performance.md says more.
"""
import argparse
import json
import os
import statistics
import sys
import tempfile

from speed_side import MIB, Absent, Conditions, spawn

BLOCK = 4096
GOAL = 0.8                         # of what the drive gives
DEPTH = 16                         # the store's, for all but small pools


def segments(program, model, conditions):
    """Path and (offset, bytes) of each matrix of each expert, in whole blocks."""
    told = spawn([program, "inspect", model, "--json", "--tensors"], conditions, None)
    if told["shards"] != 1:
        raise Absent("%s has several shards" % model)
    ranges = []
    for tensor in told["tensor_list"]:
        if "_exps." not in tensor["name"] or len(tensor["shape"]) != 3:
            continue
        size = tensor["bytes"] // told["experts"]
        for expert in range(told["experts"]):
            first = tensor["offset"] + expert * size
            start = first // BLOCK * BLOCK
            ranges.append((start, (first + size + BLOCK - 1) // BLOCK * BLOCK - start))
    if not ranges:
        raise Absent("%s has no stacked experts" % model)
    return told["path"], ranges


class Drive:
    """Random direct reads of the ranges."""

    def __init__(self, a, conditions):
        self.path, ranges = segments(a.locum, a.model, conditions)
        self.a, self.conditions = a, conditions
        self.list = tempfile.NamedTemporaryFile("w", suffix=".ranges")  # gone with this object
        self.list.writelines("%d %d\n" % one for one in ranges)
        self.list.flush()

    def measure(self):
        told = spawn([self.a.drive, self.path, self.a.depth, self.a.seconds, self.list.name],
                     self.conditions, None)
        return told["bytes"] / told["seconds"] / MIB


class Phase:
    """What Locum reads, and the whole account of its last run."""

    def __init__(self, a, conditions, prompt, answer):
        self.conditions, self.told = conditions, None
        self.command = [a.locum, "bench", a.model, "--json", "--quiet", "--memory", a.memory, "--io",
                        "direct", "--prompt-tokens", prompt, "-n", answer, "-r", 1, "-t",
                        conditions.threads, "--warm-up", a.warm_up]

    def measure(self):
        self.told = spawn(self.command, self.conditions, None)
        reads = self.told["reads"]
        if not reads["count"]:
            raise Absent("nothing was read: that memory holds every expert")
        return reads["bytes"] / reads["seconds"] / MIB

    def wait(self):
        """Share of the time in which there was nothing to compute."""
        parts = self.told["prompt"], self.told["answer"]
        return sum(p["io_wait_s"] for p in parts) / sum(p["seconds"] for p in parts)


def measure(a):
    conditions = Conditions(a.threads, tuple(sorted(os.sched_getaffinity(0))))
    drive = Drive(a, conditions)
    phases = {"prompt of %d" % tokens: Phase(a, conditions, tokens, 0) for tokens in a.prompts}
    phases["answer of %d" % a.answer] = Phase(a, conditions, 1, a.answer + 1)
    rates = {name: [] for name in ("drive", *phases)}
    for _ in range(a.rounds):
        for name, phase in phases.items():
            rates["drive"].append(drive.measure())
            rates[name].append(phase.measure())
    return rates, phases


# ---- results -----------------------------------------------------------------------------------

def spread(values):
    return "%.0f (%.0f..%.0f)" % (statistics.median(values), min(values), max(values))


def report(a, rates, phases):
    drive = statistics.median(rates["drive"])
    ratios = {name: statistics.median(rates[name]) / drive for name in phases}
    if a.json:
        print(json.dumps({"mib_s": rates, "ratios": ratios, "depth": a.depth, "goal": GOAL,
                          "bench": {name: phase.told for name, phase in phases.items()}}))
        return
    print("| | MiB/s | of the drive | reads | KiB a read | in flight | I/O wait |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    print("| drive | %s | 1 | random | - | %d | - |" % (spread(rates["drive"]), a.depth))
    for name, phase in phases.items():
        reads = phase.told["reads"]
        print("| %s | %s | %.2f | %d | %.0f | %d | %.0f %% |" % (
            name, spread(rates[name]), ratios[name], reads["count"],
            reads["bytes"] / reads["count"] / 1024, reads["at_once"], 100 * phase.wait()))
    print("\nThe goal is %.2f where there is I/O wait to speak of. %s, %s I/O, %d threads" % (
        GOAL, phase.told["cpu"], phase.told["io"], phase.told["threads"]))


def parse_arguments(argv):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("model")
    parser.add_argument("--locum", required=True, metavar="PROGRAM")
    parser.add_argument("--drive", metavar="PROGRAM", help="default: drive_rate of Locum's build")
    parser.add_argument("--memory", required=True, help="less than the model needs")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--prompts", type=int, nargs="*", default=[32, 512], metavar="TOKENS")
    parser.add_argument("--answer", type=int, default=64, metavar="TOKENS")
    parser.add_argument("--warm-up", type=int, default=64, metavar="TOKENS",
                        help="before what is measured; 0: slots are touched for the first time")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=2, help="for each figure of the drive")
    parser.add_argument("--depth", type=int, default=DEPTH, help="reads in flight for the drive")
    parser.add_argument("--json", action="store_true")
    a = parser.parse_args(argv)
    build = os.path.join(os.path.dirname(os.path.abspath(a.locum)), "..", "..")
    a.drive = a.drive or os.path.join(build, "tools", "drive_rate")
    return a


def main(argv):
    a = parse_arguments(argv)
    try:
        rates, phases = measure(a)
    except (Absent, RuntimeError, OSError) as problem:
        print("reads.py: %s" % problem, file=sys.stderr)
        return 1
    report(a, rates, phases)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
