#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Turns what kernels reach into a table beside the limits of the machine.

    checkkernel --bench --tier avx2 --json kernels.json
    bench/kernel_table.py kernels.json

One column is bound by memory: its bytes a second stand beside what one thread reads there. Many columns
are bound by the vector units: their operations stand as vector instructions a second, counted in the
inner loop of lib/kernels/x86 without VNNI (docs/kernels.md).
"""
import json
import sys

# Vector instructions for 32 multiply-adds in a tile; (name, bits a weight) in the order of the table.
COST = {"Q4_K": 2.25, "Q5_K": 2.38, "Q6_K": 2.75, "Q3_K": 2.5, "Q2_K": 2.5, "IQ4_XS": 4.4,
        "Q8_0": 4.25, "Q4_0": 2.5, "Q4_1": 2.63, "Q5_0": 2.63, "Q5_1": 2.75, "IQ4_NL": 4.25,
        "MXFP4": 2.63}
COLUMNS = (2, 4, 8, 32, 64)


def read(path):
    """Figures by kernel and number of columns, and the memory's bytes a second."""
    with open(path, encoding="utf-8") as file:
        rows = json.load(file)
    figures = {(row["kernel"], row["columns"]): row for row in rows}
    return figures, figures[("memory read", 0)]["gbytes_s"]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    figures, memory = read(sys.argv[1])
    print(f"Memory read, one thread: {memory:.1f} GB/s.\n")
    print("| type | 1 column, GB/s (of memory) | " +
          " | ".join(f"{n} columns" for n in COLUMNS) +
          ", Gop/s | vector instructions for 32 multiply-adds | those a ns at 64 columns |")
    print("|---" * (len(COLUMNS) + 4) + "|")
    for name, cost in COST.items():
        one = figures[(f"matmul {name}", 1)]["gbytes_s"]
        many = [figures[(f"matmul {name}", n)]["gops_s"] for n in COLUMNS]
        print(f"| {name} | {one:.1f} ({one / memory:.0%}) | " +
              " | ".join(f"{x:.0f}" for x in many) + f" | {cost} | {many[-1] / 64 * cost:.1f} |")


if __name__ == "__main__":
    main()
