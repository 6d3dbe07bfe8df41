#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hit rate of the first tokens of an answer, with and without what earlier runs used.

    bench/warm.py MODEL TEXT --locum build/release/apps/cli/locum [--no-lookahead]

TEXT: a file of prose that the model may continue; four parts of it are prompts. Three answers are
computed first, in a cache directory of their own.
"""
import argparse
import json
import os
import subprocess
import tempfile

TAUGHT, TAUGHT_TOKENS, PROMPTS, PROMPT_BYTES, TOKENS = 3, 300, 4, 1200, 32
SHARES = (10, 30, 50)  # per cent of all experts, besides the floor


def run(locum, model, environment, *arguments):
    with tempfile.NamedTemporaryFile(suffix=".json") as stats:
        subprocess.run([locum, "run", model, "-q", "--ignore-eos", "--stats", stats.name, *arguments],
                       env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       check=True)
        with open(stats.name, encoding="utf-8") as file:
            return json.load(file)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("text")
    parser.add_argument("--locum", required=True)
    parser.add_argument("--no-lookahead", action="store_true")
    given = parser.parse_args()
    with open(given.text, encoding="utf-8") as file:
        text = file.read()
    step = len(text) // PROMPTS
    prompts = [text[i * step:i * step + PROMPT_BYTES] for i in range(PROMPTS)]
    always = ["--no-lookahead"] if given.no_lookahead else []
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "XDG_CACHE_HOME": cache}
        told = subprocess.run([given.locum, "inspect", given.model, "--json"], check=True,
                              stdout=subprocess.PIPE, env=environment).stdout
        plan = json.loads(told)["plan"]
        for seed in range(TAUGHT):
            run(given.locum, given.model, environment, "-p", text[:60], "-n", str(TAUGHT_TOKENS),
                "--seed", str(seed), "--memory", "all")
        print("| slots | prompt | without | answer | without |\n| --- | --- | --- | --- | --- |")
        for share in SHARES:
            memory = plan["floor"] + plan["scratch"] + plan["experts_total"] * share // 100
            rates = {}
            for flag in ([], ["--no-profile"]):
                seen = [run(given.locum, given.model, environment, "-p", prompt, "-n",
                            str(TOKENS + 1), "--seed", "7", "--memory", str(memory), *flag, *always)
                        for prompt in prompts]
                for phase in ("prefill", "decode"):
                    some = [one["experts"]["hit_rate_" + phase] or 0 for one in seen]
                    rates[phase, bool(flag)] = sum(some) / len(some)
                slots = seen[0]["memory"]["slots"] / plan["experts_total"]
            print(f"| {slots:.0%} | " + " | ".join(
                f"{rates[phase, without]:.3f}" for phase in ("prefill", "decode")
                for without in (False, True)) + " |")


if __name__ == "__main__":
    main()
