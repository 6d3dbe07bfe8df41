# SPDX-License-Identifier: Apache-2.0
"""--memory holds, as measured: a large model in a quarter of its size or less, a long prompt, a long
answer, a huge vocabulary; also inside a control group that would end the process otherwise."""
import glob
import os
import sys
import time

from cli_test import (MODELS, PROSE, ROOT, Skip, check, gguf_make, inspect, large_model, locum,
                      main, stats)

sys.path.append(os.path.join(ROOT, "tests", "fixtures"))
from peak_memory import Group, NoGroup

MIB = 1 << 20
OUTSIDE = 32 * MIB  # code and libraries come on top of the budget
PROMPT, ANSWER, CONTEXT = 2000, 500, 2560
SPECS = {
    # About 340 MB, nearly all of it experts.
    "large": gguf_make.Spec(arch="qwen3moe", layers=8, width=1024, heads=16, kv_heads=4,
                            head_dim=64, experts=16, used=2, expert_ff=768, vocab=4096,
                            context=8192, type="Q8_0"),
    # Beside its experts a vocabulary that takes a third of the memory.
    "large-vocabulary": gguf_make.Spec(arch="qwen3moe", layers=8, width=256, heads=8, kv_heads=2,
                                       head_dim=64, experts=32, used=2, expert_ff=2560,
                                       vocab=250000, tokenizer="spm", tied=True, context=8192,
                                       type="Q8_0"),
}


def large(name):
    return large_model(name, SPECS[name])


def prompt_for(path):
    """Prose of a little more than PROMPT tokens."""
    text = PROSE
    while True:
        count = len(locum("tokenize", path, "--ids", text).expect(0).out.split())
        if count >= PROMPT:
            return text
        text = (text + " " + PROSE * 4)[:int(len(text) * (PROMPT + 20) / count) + 1]


class Watcher:
    """What the kernel says of a child while it lives."""

    def __init__(self):
        self.peak = 0    # high-water mark of resident memory
        self.faults = 0  # pages that had to come from storage

    def look(self, pid):
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
            for line in file:
                if line.startswith("VmHWM:"):
                    self.peak = max(self.peak, int(line.split()[1]) * 1024)
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            self.faults = int(file.read().rpartition(")")[2].split()[9])

    def __call__(self, child):
        while child.poll() is None:
            try:
                self.look(child.pid)
            except OSError:
                pass
            time.sleep(0.02)


def measured(path, budget, **options):
    """Runs the long request; (statistics, what the kernel said)."""
    seen = Watcher()
    one = stats(path, "-p", prompt_for(path), "-n", ANSWER, "--ignore-eos", "-c", CONTEXT,
                "--memory", budget, "--seed", 1, meanwhile=seen, **options)
    check(one["prompt_tokens"] >= PROMPT and one["generated_tokens"] == ANSWER, "tokens")
    return one, seen


def holds(name):
    path = large(name)
    budget = os.path.getsize(path) // 4
    one, seen = measured(path, budget)
    peak = seen.peak
    check("streaming" in one["err"], "the model was not streamed")
    told = one["memory"]["peak_rss"]
    print(f"     {name}: budget {budget / MIB:.0f} MiB, peak {peak / MIB:.1f} MiB, parts "
          + ", ".join(f"{part} {one['memory'][part] / MIB:.1f}"
                      for part in ("dense", "kv", "recurrent", "scratch", "slots", "fixed")))
    check(max(peak, told) <= budget + OUTSIDE,
          f"peak memory {peak} (told: {told}) of a budget of {budget}")
    # A budget that is not used would be kept easily.
    check(peak >= budget * 0.8, f"only {peak} bytes of a budget of {budget} were used")


def test_memory_holds():
    holds("large")


def test_memory_holds_with_a_huge_vocabulary():
    holds("large-vocabulary")


# --- Control groups ------------------------------------------------------------------------------

def control_group(limit):
    try:
        return Group(limit)
    except NoGroup as reason:
        raise Skip(reason) from reason


def test_memory_holds_in_a_control_group():
    path = large("large")
    budget = os.path.getsize(path) // 4
    with control_group(budget + 64 * MIB) as group:
        measured(path, budget, preexec_fn=group.enter)


def test_reading_experts_evicts_no_weights():
    """Through the page cache of a group that is full; dense weights would be read again and again."""
    path = large("large")
    budget = os.path.getsize(path) // 4
    seen, answer = Watcher(), 200
    with control_group(budget + 64 * MIB) as group:
        one = stats(path, "-p", PROSE[:400], "-n", answer, "--ignore-eos", "-c", CONTEXT, "--memory",
                    budget, "--io", "buffered", "--seed", 1, meanwhile=seen, preexec_fn=group.enter)
    check(one["experts"]["bytes_read"] > 10 * budget, "few experts were read")
    print(f"     {seen.faults} pages came from storage in {answer} tokens")
    check(seen.faults < answer / 10, f"{seen.faults} pages came from storage in {answer} tokens")


def test_automatic_memory_respects_a_control_group():
    path = large("large")
    floor = inspect(path, "-c", CONTEXT)["plan"]["floor"]
    with control_group(2 * floor + 100 * MIB) as group:
        one = stats(path, "-p", PROSE[:400], "-n", 20, "-c", CONTEXT, "--ignore-eos", "--seed", 1,
                    preexec_fn=group.enter)
    check("streaming" in one["err"], "the model was not streamed")
    check(floor <= one["memory"]["budget"] <= 2 * floor + 100 * MIB - OUTSIDE,
          f"a budget of {one['memory']['budget']}")


if __name__ == "__main__":
    try:
        main(globals())
    finally:  # a gigabyte that is made again in seconds
        for left in glob.glob(os.path.join(MODELS, "large*")):
            os.unlink(left)
