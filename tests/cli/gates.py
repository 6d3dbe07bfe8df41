# SPDX-License-Identifier: Apache-2.0
"""The same bytes whatever the memory, the threads, the chunks, the reads and the instruction set.

For a tiny model of each architecture: one long answer as the base, then runs that differ from it in
one factor, then a set in which every pair of values of two factors meets. The running hash over the
bits of all logits and the ids must be those of the base. bench/soak.py runs the whole product.
No more threads compute than there are processors; tests/exec has seven wherever it runs.

    gates.py LOCUM MODELS [test_NAME | I/N]...    some of them, or part I of N

A model that writes the same few words, or routes to few experts, would prove nothing and fails.
"""
import functools
import itertools
import os
import re
import sys
import tempfile

from cli_test import PROSE, check, equal, inspect, locum, main, model, stats

FIXTURES = {"llama": "good-llama-tied-spm", "mixtral": "good-mixtral-q4_k",
            "qwen3moe": "good-qwen3moe-mixed", "qwen2moe": "good-qwen2moe-mixed",
            "olmoe": "good-olmoe-mixed", "qwen3": "good-qwen3-f32", "gemma3": "good-gemma3-mixed",
            "gemma4": "good-gemma4-mixed",
            "ernie4_5-moe": "good-ernie4_5-moe-mixed", "lfm2moe": "good-lfm2moe-mixed",
            "llama4": "good-llama4-q8_0",
            "granitemoe": "good-granitemoe-mixed", "qwen3vlmoe": "good-qwen3vlmoe-mixed",
            "gpt-oss": "good-gpt-oss-mxfp4", "qwen35moe": "good-qwen35moe-mixed",
            "qwen35": "good-qwen35-mixed", "qwen3next": "good-qwen3next-mixed",
            "deepseek2": "good-deepseek2-mixed", "glm4moe": "good-glm4moe-air",
            "dots1": "good-dots1-mixed", "minimax-m2": "good-minimax-m2-mixed",
            "hunyuan-moe": "good-hunyuan-moe-mixed", "bailingmoe2": "good-bailingmoe2-mixed"}
LONG, SHORT, REF = 1000, 256, 48  # tokens: one factor at a time, pairs, the slow definition
CONTEXT = 2048
PROMPT = PROSE + "\n\n" + PROSE  # more tokens than the largest chunk has
DISTINCT_LEAST = 50
FACTORS = {
    "memory": ["floor", "quarter", "half", "all"],
    "threads": [1, 2, 7],
    "chunk": [1, 7, 64, 512],
    "io": ["direct", "buffered"],
}
BASE = {"memory": "all", "threads": 1, "chunk": 64, "io": "direct"}


def can_read_directly(path):
    return locum("run", path, "-p", "a", "-n", 0, "--io", "direct").code == 0


def tiers():
    """The instruction sets of this machine, those that it lacks."""
    every = ["avx2", "avxvnni", "avx512", "avx512vnni"]
    path = model(FIXTURES["llama"])
    codes = {tier: locum("run", path, "-p", "a", "-n", 0, "--cpu", tier).code for tier in every}
    check(set(codes.values()) <= {0, 2}, f"exit status by instruction set: {codes}")
    return [tier for tier in every if codes[tier] == 0], [tier for tier in every if codes[tier]]


def report_skips():
    """What this machine cannot run, one line each."""
    for tier in tiers()[1]:
        print(f"SKIP --cpu {tier}: not in this machine")


class Gate:
    """One model, and how to run it under a setting of the factors."""

    def __init__(self, name):
        self.path = model(FIXTURES.get(name, name))
        told = inspect(self.path)
        self.moe = told["experts"] > 0
        self.experts, self.layers = told["experts"], told["moe_layers"]
        self.bases = {}
        self.direct = can_read_directly(self.path)
        if not self.direct:
            print(f"SKIP {name} with direct reads: the folder of its file cannot be read directly")

    def values(self, factor):
        if factor == "memory" and not self.moe:
            return ["all"]  # a dense model has one budget
        if factor == "io" and not self.direct:
            return ["buffered"]
        return FACTORS[factor]

    def budget(self, setting):
        if setting["memory"] == "all":
            return "all"
        plan = inspect(self.path, "-c", CONTEXT, "-t", setting["threads"], "--chunk",
                       setting["chunk"])["plan"]
        share = {"floor": 0, "quarter": 0.25, "half": 0.5}[setting["memory"]]
        return plan["floor"] + int(share * plan["experts_total"])

    def run(self, setting, tokens, *more):
        io = setting["io"] if self.direct else "buffered"
        return stats(self.path, "-p", PROMPT, "-n", tokens, "-c", CONTEXT, "--ignore-eos", "--temp",
                     1, "--seed", 11, "-t", setting["threads"], "--chunk", setting["chunk"],
                     "--memory", self.budget(setting), "--io", io, *more)

    def base(self, tokens):
        if tokens not in self.bases:
            self.bases[tokens] = self.run(BASE, tokens)
            equal(self.bases[tokens]["generated_tokens"], tokens, "tokens of the base run")
        return self.bases[tokens]

    def same(self, setting, tokens, *more):
        base, one = self.base(tokens), self.run(setting, tokens, *more)
        what = f"{setting} {' '.join(more)}, {tokens} tokens of {os.path.basename(self.path)}"
        equal(one["ids"], base["ids"], f"ids with {what}")
        equal(one["logits_hash"], base["logits_hash"], f"logits with {what}")
        return one

    def is_lively(self):
        """The fixture must be able to show a difference."""
        distinct = len(set(self.base(LONG)["ids"]))
        check(distinct >= DISTINCT_LEAST, f"only {distinct} distinct tokens in {LONG}")
        if not self.moe:
            return
        with tempfile.TemporaryDirectory() as folder:
            trace = os.path.join(folder, "trace.csv")
            self.same(BASE, LONG, "--trace", trace)
            used = {}
            with open(trace, encoding="ascii") as file:
                for line in file:
                    if line[0].isdigit():
                        _, _, _, layer, _, expert = line.split(",")[:6]
                        used.setdefault(layer, set()).add(expert)
        equal(len(used), self.layers, "layers in the trace")
        for layer, experts in used.items():
            check(len(experts) > 0.75 * self.experts,
                  f"layer {layer} routes to {len(experts)} of {self.experts} experts")


def pairs(values):
    """Settings in which each value of a factor meets each of every other one; greedy, so few."""
    factors = list(values)
    product = [dict(zip(factors, row)) for row in itertools.product(*values.values())]
    open_pairs = {((a, one[a]), (b, one[b]))
                  for one in product for a, b in itertools.combinations(factors, 2)}

    def covers(one):
        return {((a, one[a]), (b, one[b])) for a, b in itertools.combinations(factors, 2)}
    while open_pairs:
        best = max(product, key=lambda one: len(covers(one) & open_pairs))
        open_pairs -= covers(best)
        yield best


def gate(name):
    one = Gate(name)
    one.is_lively()
    one.same(BASE, LONG)  # again, now with the file in the page cache
    for factor in FACTORS:
        for value in one.values(factor):
            if value == BASE[factor]:
                continue
            run = one.same({**BASE, factor: value}, LONG)
            if factor == "memory":
                read, base = run["experts"]["bytes_read"], one.base(LONG)["experts"]["bytes_read"]
                check(read > base, f"memory {value} reads {read} bytes, all of it {base}")
    for tier in tiers()[0]:
        one.same(BASE, LONG, "--cpu", tier)
    one.same(BASE, REF, "--cpu", "ref")
    for setting in pairs({factor: one.values(factor) for factor in FACTORS}):
        one.same(setting, SHORT)


def part(text):
    """The names of part I of N ("I/N"): every N-th test, so that slow ones are spread."""
    index, count = map(int, text.split("/"))
    return list(TESTS)[index - 1::count]


TESTS = {"test_" + re.sub("[^a-z0-9]", "_", name): functools.partial(gate, name)
         for name in FIXTURES}

if __name__ == "__main__":
    report_skips()
    sys.argv[3:] = [name for text in sys.argv[3:] for name in (part(text) if "/" in text else [text])]
    main(TESTS)
