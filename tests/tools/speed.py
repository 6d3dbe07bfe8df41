#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""bench/speed.py and the models it measures, with small models and a peer that only claims speeds.

Called as tests/cli/*.py are. No figure is judged: what is tested is that each figure is the one
that was measured, that nothing is measured twice, and that the machine is left as it was.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "tests", "cli"), os.path.join(ROOT, "bench"),
                os.path.join(ROOT, "tools", "gguf")]
from cli_test import LOCUM, MODELS, Failure, Skip, check, equal, locum, main  # noqa: E402
import gguf_speed  # noqa: E402
import speed_side  # noqa: E402
import speed_table  # noqa: E402

# Says that a prompt took half a second and an answer two, and keeps how it was called.
PEER = """#!/bin/sh
echo $$ >"$0.pid"
echo "$*" >>"$0.calls"
[ ! -e "$0.fails" ] || exit 9
[ ! -e "$0.sleeps" ] || exec sleep 100
echo '{"threads": 1, "load_s": 1.5, "memory": {"peak_rss": 1073741824}, "runs": [
       {"prefill_s": 0.5, "decode_s": 2, "bytes_read_prefill": 0, "bytes_read_decode": 8000000}]}'
"""


class Bench:
    """A folder with a peer and a file of results."""

    def __init__(self, folder):
        self.folder = folder
        self.peer = os.path.join(folder, "peer_speed")
        self.results = os.path.join(folder, "results.jsonl")
        self.put("peer_speed", PEER)
        os.chmod(self.peer, 0o755)
        self.put("speed-version", "a peer\n")

    def put(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(text)

    def lines(self, name):
        path = os.path.join(self.folder, name)
        if not os.path.exists(path):
            return []
        with open(path, encoding="utf-8") as file:
            return file.read().splitlines()

    def call(self, *arguments, code=0, meanwhile=lambda _: None):
        """What speed.py says. meanwhile: called with the running process."""
        with subprocess.Popen([sys.executable, "-B", os.path.join(ROOT, "bench", "speed.py"),
                               *arguments, "--results", self.results], text=True,
                              env={**os.environ, "LOCUM_PEER_DIR": self.folder},
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as child:
            meanwhile(child)
            said = child.communicate()[0]
        equal(child.returncode, code, "exit status of speed.py, which said\n" + said)
        return said

    def run(self, *arguments, **options):
        return self.call("run", "--locum", LOCUM, "--build", "this build", "--models", "q4_k",
                         "--tiny", "--folder", MODELS, "--threads", "1", "--rounds", "2",
                         "--cells", "p64,d8", "--answer", "4", "--warm-up", "32", *arguments,
                         **options)

    def run_with_hooks(self, **options):
        log = os.path.join(self.folder, "hooks")
        return self.run("--pause", f"echo pause >>{log}", "--resume", f"echo resume >>{log}",
                        **options)

    def records(self):
        return [json.loads(line) for line in self.lines("results.jsonl")]


def bench(function):
    """Gives a test a Bench of its own."""
    def test():
        with tempfile.TemporaryDirectory() as folder:
            function(Bench(folder))
    return test


@bench
def test_figures_are_what_was_measured(one):
    one.run()
    records = one.records()
    equal([(r["cell"], r["round"]) for r in records],
          [("p64", 1), ("d8", 1), ("p64", 2), ("d8", 2)], "cells and rounds")
    for record in records:
        peer, ours = record["sides"]["upstream"], record["sides"]["locum"]
        equal(peer["rate"], 64 / 0.5 if record["cell"] == "p64" else 4 / 2, "rate of the peer")
        equal(ours["rate"], statistics.median(ours["rates"]), "median of Locum's repetitions")
        check(ours["rate"] > 0 and ours["load_s"] > 0 and ours["cpu"], "Locum's figures")
    calls = one.lines("peer_speed.calls")
    check("--prompt-tokens 64 --predict 1 --depth 0" in calls[0], f"prompt: {calls[0]}")
    check("--prompt-tokens 1 --predict 5 --depth 8" in calls[1], f"answer: {calls[1]}")


@bench
def test_table_follows_from_the_records(one):
    one.run()
    ratios = [r["sides"]["locum"]["rate"] / 128 for r in one.records() if r["cell"] == "p64"]
    lines = one.call("table").splitlines()
    line = next(line for line in lines if line.startswith("| q4_k | prompt 64 | 1 |"))
    for text in ("128.0 (128.0..128.0)", "%.2f (%.2f..%.2f) to upstream | 2 |" % (
            statistics.median(ratios), min(ratios), max(ratios))):
        check(text in line, f"'{text}' is not in: {line}")
    check("| q4_k | upstream | 1.5 (1.5..1.5) | 1.00 |" in lines, "loading and memory")
    check("- upstream: a peer" in lines and any("this build" in text for text in lines),
          "versions")


@bench
def test_a_stopped_run_goes_on(one):
    one.run()
    before = one.lines("results.jsonl")
    one.run()
    equal(one.lines("results.jsonl"), before, "results of a run that had nothing left to do")
    equal(len(one.lines("peer_speed.calls")), 4, "calls of the peer")
    one.put("results.jsonl", "\n".join(before[:-1]) + "\n")
    one.run()
    after = one.records()
    equal([r["round"] for r in after if r["cell"] == "d8"], [1, 2], "rounds of the last cell")
    equal(len(one.lines("peer_speed.calls")), 5, "calls of the peer")
    one.put("speed-version", "a newer peer\n")
    one.run()
    equal(len(one.records()), 8, "records with a newer peer")


@bench
def test_a_failure_leaves_no_record_and_resumes(one):
    one.put("peer_speed.fails", "")
    said = one.run_with_hooks(code=1)
    check("ended with 9" in said, said)
    equal(one.records(), [], "records of a round that failed")
    equal(one.lines("hooks"), ["pause", "resume"] * 2, "hooks, of Locum and of the peer that fails")


@bench
def test_a_signal_leaves_no_record_and_resumes(one):
    def stop(child):
        while child.poll() is None and not one.lines("peer_speed.calls"):
            time.sleep(0.02)
        child.terminate()

    one.put("peer_speed.sleeps", "")
    check("goes on from here" in one.run_with_hooks(code=143, meanwhile=stop), "what it says")
    check(not os.path.exists("/proc/" + one.lines("peer_speed.pid")[0]), "the peer goes on")
    equal(one.records(), [], "records of a round that was stopped")
    equal(one.lines("hooks"), ["pause", "resume"] * 2, "hooks, of Locum and of the peer")


@bench
def test_an_absent_peer_is_told(one):
    check("SKIP: ik-repack is not set up" in one.run("--peers", "ik-repack", code=77), "no SKIP")


@bench
def test_a_page_keeps_its_words(one):
    one.run("--cells", "p64", "--rounds", "1")
    page = os.path.join(one.folder, "page.md")
    one.put("page.md", f"Before\n{speed_table.BEGIN}\nold\n{speed_table.END}\nAfter\n")
    for _ in range(2):
        one.call("table", "--write", page)
        text = "\n".join(one.lines("page.md"))
        check(text.startswith("Before\n") and text.endswith("\nAfter") and "old" not in text, text)
        equal(text.count("| q4_k | prompt 64 |"), 1, "tables on the page")
    one.put("page.md", "no marks\n")
    one.call("table", "--write", page, code=1)
    equal(one.lines("page.md"), ["no marks"], "a page without marks")


@bench
def test_a_memory_limit(one):
    try:
        with speed_side.memory_group(256):
            pass
    except speed_side.Absent as reason:
        raise Skip(str(reason)) from reason
    one.run("--limit", "256", "--cells", "d0", "--rounds", "1")
    record, = one.records()
    equal((record["limit"], record["sides"]["upstream"]["bytes_read"]), (256, 2e6), "limit, bytes")
    check("### 256 MiB of memory, cold" in one.call("table"), "the table of that limit")


@bench
def test_readahead_is_put_back(one):
    one.put("read_ahead_kb", "4096\n")
    file, original = os.path.join(one.folder, "read_ahead_kb"), speed_side.readahead_file
    speed_side.readahead_file = lambda _: file
    try:
        with speed_side.readahead("model", 128):
            equal(one.lines("read_ahead_kb"), ["128"], "readahead during the run")
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        equal(one.lines("read_ahead_kb"), ["4096"], "readahead after the run")
    finally:
        speed_side.readahead_file = original


def test_reads_are_compared_with_the_drive():
    with tempfile.TemporaryDirectory(dir=MODELS) as folder:  # where direct reads have a chance
        path = gguf_speed.make(gguf_speed.path_of(folder, "q4_k"), "q4_k", gguf_speed.TINY)
        floor = json.loads(locum("inspect", path, "--json").expect(0).out)["plan"]["floor"]
        command = [sys.executable, "-B", os.path.join(ROOT, "bench", "reads.py"), path, "--locum",
                   LOCUM, "--rounds", "2", "--seconds", "1", "--prompts", "20", "--answer", "4"]

        def call(memory):
            return subprocess.run([*command, "--memory", memory, "--json"], capture_output=True,
                                  text=True, check=False)

        done = call(str(floor))
        if "direct reads were asked for" in done.stderr or "Invalid argument" in done.stderr:
            raise Skip("no direct reads here: " + done.stderr.strip())
        equal(done.returncode, 0, f"exit status of reads.py, which said\n{done.stderr}")
        told = json.loads(done.stdout)
        rates = told["mib_s"]
        equal({name: len(values) for name, values in rates.items()},
              {"drive": 4, "prompt of 20": 2, "answer of 4": 2}, "figures")
        for name, ratio in told["ratios"].items():
            reads = told["bench"][name]["reads"]
            equal(ratio, statistics.median(rates[name]) / statistics.median(rates["drive"]), name)
            equal(rates[name][-1], reads["bytes"] / reads["seconds"] / (1 << 20), "the last rate")
        said = call("all")
        check(said.returncode == 1 and "holds every expert" in said.stderr, said.stderr)


def test_every_model_runs():
    for name in gguf_speed.MODELS:
        with tempfile.TemporaryDirectory() as folder:
            path = gguf_speed.make(gguf_speed.path_of(folder, name), name, gguf_speed.TINY)
            text = locum("inspect", path, "--json", "--tensors").expect(0).out.decode()
            wanted = name.upper().removesuffix("_M")
            check(f'"{wanted}"' in text, f"no {wanted} in {name}")
            got = json.loads(locum("bench", path, "--json", "--prompt-tokens", 20, "-n", 3,
                                   "-r", 1).expect(0).out)
            equal(got["answer"]["tokens"], 2, f"steps of {name}")


def test_models_depend_on_the_seed_alone():
    with tempfile.TemporaryDirectory() as folder:
        data = []
        for i, seed in enumerate((1, 1, 2)):
            path = os.path.join(folder, str(i))
            gguf_speed.make(path, "q4_k", gguf_speed.TINY, seed=seed)
            with open(path, "rb") as file:
                data.append(file.read())
        check(data[0] == data[1] and data[0] != data[2], "the bytes of a model")


def test_names_of_cells():
    for wrong in ("p0", "x5", "p", "d-1", ""):
        try:
            speed_side.cell(wrong, 64)
        except ValueError:
            continue
        raise Failure(f"'{wrong}' was taken for a cell")


main(globals())
