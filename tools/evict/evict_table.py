#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Scores the eviction policies on the traces of bench/traces and on the two synthetic ones.

    tools/evict/evict_table.py build/release/tools/evict_replay [--json FILE] [--traces qwen,drift]

Prints a table in Markdown. Only answers count; the cache begins empty; experts are taken in the order of the
file; each that a token uses is one lookup; those of the current step stay; sizes are counted in experts.
Exit status 1: a rate that was published with a trace is not reproduced.
"""
import argparse
import json
import lzma
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# name: MiB of the cache it was recorded with and the published rate, in percent
RECORDED = {"qwen": (4000, 74.9), "gemma": (4000, 76.8), "gptoss": (3000, 32.4),
            "story": None, "bible": None}
SYNTHETIC = ("drift", "scan")
SEED = 1
POLICIES = ("lru", "lru-layer", "lfu", "lfuda", "ghost-layer", "decay", "next", "belady")
SIMPLE = ("lru", "lru-layer", "lfuda", "ghost-layer")


def replay(program, name, folder):
    path = os.path.join(folder, name + ".csv")
    with open(path, "wb") as out:
        if name in SYNTHETIC:
            subprocess.run([program, "--make", name, str(SEED)], stdout=out, check=True)
        else:
            source = os.path.join(ROOT, "bench", "traces", name + ".route.csv.xz")
            with lzma.open(source) as packed:
                out.write(packed.read())
    published = RECORDED.get(name)
    command = [program, path] + ([str(published[0])] if published else [])
    result = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    result["trace"] = name
    return result


def cell(value):
    return "-" if value is None else f"{value:.3f}"


def table(results):
    print("| trace | slots | " + " | ".join(POLICIES) + " | next - best simple | of the way to Belady |")
    print("| --- |" + " --- |" * (len(POLICIES) + 3))
    for result in results:
        for ratio in result["ratios"]:
            rate = ratio["hit_rate"]
            best = max(rate[name] or 0 for name in SIMPLE)
            room = rate["belady"] - rate["lru"]
            way = f"{100 * (rate['next'] - rate['lru']) / room:.0f} %" if room > 0.0005 else "-"
            print(f"| {result['trace']} | {ratio['percent']} % | "
                  + " | ".join(cell(rate[name]) for name in POLICIES)
                  + f" | {rate['next'] - best:+.4f} | {way} |")


def reproduces(result):
    published = RECORDED.get(result["trace"])
    if published is None:
        return True
    rate = round(100 * result["published_rate"], 1)
    print(f"{result['trace']}: published {published[1]} %, reproduced {rate} %", file=sys.stderr)
    return rate == published[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="evict_replay")
    parser.add_argument("--json", metavar="FILE", help="write everything that was measured")
    parser.add_argument("--traces", default=",".join((*RECORDED, *SYNTHETIC)))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        results = [replay(arguments.program, name, folder) for name in arguments.traces.split(",")]
    table(results)
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as out:
            json.dump(results, out, indent=1)
            out.write("\n")
    return 0 if all([reproduces(result) for result in results]) else 1


if __name__ == "__main__":
    sys.exit(main())
