#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The whole product of the factors of tests/cli/gates.py, each over 1,000 tokens, with the slow
definition (`ref`) over a few. Takes hours.

    bench/soak.py LOCUM FOLDER [ARCHITECTURE...]

LOCUM is the command, FOLDER keeps the generated models. Without names, every architecture.
"""
import itertools
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "cli"))
if len(sys.argv) < 3:
    sys.exit(__doc__)
import gates  # noqa: E402 - it reads the arguments that were just checked
from cli_test import Failure  # noqa: E402


def soak(name, tiers):
    one = gates.Gate(name)
    one.is_lively()
    values = {factor: one.values(factor) for factor in gates.FACTORS}
    count = 0
    for row in itertools.product(*values.values(), tiers):
        setting, tier = dict(zip(values, row)), row[-1]
        one.same(setting, gates.REF if tier == "ref" else gates.LONG, "--cpu", tier)
        count += 1
        print(f"\r{name}: {count} settings", end="", flush=True)
    print(f"\r{name}: {count} settings, all the same")


def main():
    failed = False
    gates.report_skips()
    present = ["ref", *gates.tiers()[0]]
    for name in sys.argv[3:] or gates.FIXTURES:
        try:
            soak(name, present)
        except Failure as reason:
            failed = True
            print(f"\rFAIL {name}: {reason}")
    sys.exit(failed)


if __name__ == "__main__":
    main()
