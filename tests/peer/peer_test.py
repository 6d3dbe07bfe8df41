#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Compares Locum with llama.cpp and with the float reference, and holds it to fixed bounds.

    peer_test.py [--list] [section ...]         all sections by default; see SECTIONS

Prints a row per check and ends with exit code 1 if a bound was broken, 77 if nothing could be run.
tests/peer/README.md says what the bounds are and why.
"""
import argparse
import contextlib
import glob
import os
import random
import re
import shutil
import sys
import tempfile
import time

import numpy as np

import engines
from engines import HERE, ROOT, Locum, Missing, Peer, Reference, write_ids
import compare
import gguf_file
import gguf_make
import gguf_types
import moeify
import peak_memory
import texts

CLEAR = 1e-4                       # router gap above which a position is clear
F32_MEAN, F32_MAX, CLEAR_SHARE = 2e-6, 5e-5, 0.9
SURE = 1.0                         # nats by which the float reference has to prefer a token
OURS_TO_PEER = 2.5                 # times what the peer's tiers differ
# How near to the float reference we have to be, as a share of the peer's distance.
# "mixed": files of K types with up to MIXED_MOST of their bytes in types of 32-blocks, where both
# round activations alike; with more of them the bound of the latter holds.
SHARE = {"32": 1.1, "k": 0.6, "mixed": 0.8}
MIXED_MOST = 1 / 3
TOP_1_POINTS = 1.0
SPREAD_POSITIONS = 512             # the peer's other tier may be ten times slower
PROSE_CHUNKS = {"smollm2": 1056, "gemma3": 704}
ANSWER = 64

# Fixtures of plain F32 weights; and quantised ones.
F32 = ["good-llama-f32", "good-llama-tied-spm", "good-llama-linear", "good-llama-yarn",
       "good-llama-freqs", "good-llama-bias", "good-mixtral-f32", "good-qwen3moe-f32",
       "good-qwen3moe-yarn", "good-qwen3moe-bias", "good-qwen3moe-tied", "good-qwen2moe-f32",
       "good-olmoe-f32", "good-qwen3-f32", "good-gemma3-f32", "good-gemma3-linear",
       "good-gemma4-f32", "good-gemma4-dense", "good-qwen3vlmoe-f32", "good-granitemoe-f32",
       "good-ernie4_5-moe-f32", "good-lfm2moe-f32", "good-llama4-f32",
       "good-gpt-oss-f32", "good-qwen35moe-f32", "good-qwen35moe-odd", "good-qwen35-f32",
       "good-qwen3next-f32", "good-deepseek2-f32", "good-deepseek2-kv-b", "good-deepseek2-lite",
       "good-deepseek2-flash", "good-glm4moe-f32", "good-dots1-f32", "good-minimax-m2-f32",
       "good-hunyuan-moe-f32", "good-bailingmoe2-f32"]
# Where the authors' definition and the peer differ: the float reference alone counts.
APART = {"good-llama4-chunks": "the peer takes chunks of 8192 positions, whatever a file says",
         "good-gpt-oss-yarn": "the peer rounds YaRN's limits to whole pairs; the authors do not",
         "good-deepseek2-groups": "the peer judges groups by their best two experts, the authors of "
                                  "DeepSeek-V2 by the best one"}
QUANTISED = (["good-qwen3moe-" + t for t in
              ("f16", "bf16", "q8_0", "q4_0", "q4_1", "q5_0", "q5_1", "iq4_nl", "mxfp4", "q2_k",
               "q3_k", "q4_k", "q5_k", "q6_k", "iq4_xs", "odd", "ff704", "gate-up", "mixed")]
             + ["good-mixtral-q4_k", "good-qwen2moe-mixed", "good-olmoe-mixed",
                "good-gemma3-mixed", "good-gemma4-mixed", "good-gpt-oss-mxfp4",
                "good-qwen3vlmoe-mixed", "good-granitemoe-mixed", "good-ernie4_5-moe-mixed",
                "good-lfm2moe-mixed", "good-llama4-mixed", "good-qwen35moe-mixed",
                "good-qwen35-mixed", "good-qwen3next-mixed", "good-deepseek2-odd",
                "good-deepseek2-mixed", "good-deepseek2-kv-b-mixed", "good-glm4moe-air",
                "good-dots1-mixed", "good-minimax-m2-mixed", "good-hunyuan-moe-mixed",
                "good-bailingmoe2-mixed"])


class Table:
    def __init__(self):
        self.failed, self.passed = [], 0

    def row(self, section, what, measured, bound, good):
        self.passed += good
        if not good:
            self.failed.append("%s: %s: %s, bound %s" % (section, what, measured, bound))
        print("%-9s %-30s %-46s %-26s %s" % (section, what, measured, bound,
                                             "ok" if good else "FAILED"), flush=True)

    def note(self, text):
        print("          " + text, flush=True)


class Bench:
    """What the sections share: engines, a folder for large files, the table."""

    def __init__(self, work):
        self.work, self.table = work, Table()
        self.peer, self.locum, self.reference = Peer(), Locum(), Reference()
        self.fixtures = os.path.join(work, "fixtures")
        self.made = {}             # name -> the file to pass
        os.makedirs(self.fixtures)

    def path(self, name):
        return os.path.join(self.work, name)

    def fixture(self, name):
        if name not in self.made:
            self.made[name] = gguf_make.make_fixture(name, self.fixtures)[0]
        return self.made[name]

    @contextlib.contextmanager
    def files(self, *names):
        """Paths for large files that are gone afterwards."""
        paths = [self.path(n) for n in names]
        try:
            yield paths
        finally:
            for p in paths:
                if os.path.exists(p):
                    os.remove(p)


def vocabulary_of(model):
    return len(gguf_file.Reader(model).meta["tokenizer.ggml.tokens"])


def random_ids(model, count, seed):
    """Ordinary tokens only: control tokens may mean something to an engine."""
    meta = gguf_file.Reader(model).meta
    kinds = meta["tokenizer.ggml.token_type"]
    usable = [i for i, kind in enumerate(kinds) if kind == 1]
    rng = random.Random(seed)
    return [rng.choice(usable) for _ in range(count)]


def chunks_of(ids, size, first=None):
    """Pieces of `size` ids, each beginning with `first` (a BOS id) where there is one."""
    head = [] if first is None else [first]
    body = size - len(head)
    return [head + ids[i:i + body] for i in range(0, len(ids), body)]


# ---- files of F32: engines agree to rounding ---------------------------------------------------

def tiny_f32(bench):
    for name in F32 + list(APART):
        model = bench.fixture(name)
        vocabulary = vocabulary_of(model)
        with bench.files("ids", "ours", "peer", "ref", "margins") as (ids, ours, peer, ref, gaps):
            write_ids(ids, random_ids(model, 600, 11))
            bench.locum.logits(model, ids, ours, f32=True)
            bench.peer.logits(model, ids, peer, f32=True)
            bench.reference.logits(model, ids, ref, gaps)
            clear = np.fromfile(gaps, dtype=np.float32) > CLEAR
            d = compare.distances(peer, ours, vocabulary).where(clear)
            to_reference = compare.distances(ref, ours, vocabulary).where(clear)
        told = "to peer mean %.1e max %.1e; to ref %.1e" % (d.kld.mean(), d.kld.max(),
                                                           to_reference.kld.mean())
        judged = to_reference.kld if name in APART else d.kld
        bench.table.row("f32", name, told, "< %.0e, < %.0e" % (F32_MEAN, F32_MAX),
                        judged.mean() < F32_MEAN and judged.max() < F32_MAX)
        if name in APART:
            bench.table.note("%s: %s" % (name, APART[name]))
        if clear.mean() < CLEAR_SHARE:
            bench.table.row("f32", name, "%.1f %% of positions clear" % (100 * clear.mean()),
                            ">= %.0f %%" % (100 * CLEAR_SHARE), False)
    layouts(bench)


def layouts(bench):
    """The same model in another layout has the same bits."""
    groups = [["good-mixtral-f32", "good-mixtral-per-expert"],
              ["good-qwen3moe-" + n for n in
               ("chat", "v2", "align4096", "split", "split-empty-first", "extra")],
              ["good-qwen35moe-f32", "good-qwen35moe-predict"],
              ["good-qwen3next-f32", "good-qwen3next-grouped"]]
    with bench.files("ids") as (ids,):
        for group in groups:
            write_ids(ids, random_ids(bench.fixture(group[0]), 200, 5))
            hashes = {n: bench.locum.logits(bench.fixture(n), ids, "-")["logits_hash"]
                      for n in group}
            for name in group[1:]:
                bench.table.row("f32", name, "logits hash " + hashes[name],
                                "that of " + group[0][5:], hashes[name] == hashes[group[0]])


# ---- quantised files: nearness to the float reference ------------------------------------------

class Measured:
    """Distances over pieces of text: ours, the peer's, between us, and between the peer's tiers."""

    NAMES = ("ours", "peer", "between", "tiers")

    def __init__(self):
        self.parts = {name: [] for name in self.NAMES}

    def add(self, bench, model, ids, vocabulary, with_tiers=False):
        files = bench.files("ids", "ours", "peer", "ref", "margins", "other")
        with files as (ids_path, ours, peer, ref, margins, other):
            write_ids(ids_path, ids)
            bench.reference.logits(model, ids_path, ref, margins)
            bench.locum.logits(model, ids_path, ours)
            bench.peer.logits(model, ids_path, peer)
            for name, a, b in (("ours", ref, ours), ("peer", ref, peer)):
                self.parts[name].append(compare.distances(a, b, vocabulary))
            if with_tiers:
                self.add_tiers(bench, model, ids, vocabulary, (ids_path, ours, peer, other))

    def add_tiers(self, bench, model, ids, vocabulary, paths):
        ids_path, ours, peer, other = paths
        count = min(len(ids), SPREAD_POSITIONS)
        write_ids(ids_path, ids[:count])
        for path in (ours, peer):
            os.truncate(path, count * vocabulary * 4)
        bench.peer.logits(model, ids_path, other, tier=bench.peer.other)
        self.parts["between"].append(compare.distances(peer, ours, vocabulary))
        self.parts["tiers"].append(compare.distances(peer, other, vocabulary))

    def joined(self, name):
        return compare.Distances.joined(self.parts[name])


def agreement(parts, name):
    """Share of positions with the reference's likeliest token, in per cent."""
    return 100 * np.concatenate([m.joined(name).same_top for m in parts]).mean()


def judge(bench, section, name, measured, kind, statistic, sure=False, top_1_with=(),
          bound_to_peer=True):
    """Rows for one set of positions. statistic: "mean" or "median" of their divergences.

    top_1_with: sets that count for top-1 as well, where this one alone is too small for a point.
    bound_to_peer: our distance to the peer is judged by its tiers' spread, else only told.
    """
    table, typical = bench.table, getattr(np, statistic)
    ours, peer = measured.joined("ours"), measured.joined("peer")
    table.note("%s, %d positions, to the float reference" % (name, len(ours.kld)))
    table.note("  ours  " + compare.summary(ours))
    table.note("  peer  " + compare.summary(peer))
    a, b = typical(ours.kld), typical(peer.kld)
    table.row(section, name, "%s KLD %.2e, peer %.2e: %.2f" % (statistic, a, b, a / b),
              "<= %.1f times the peer's" % SHARE[kind], a <= SHARE[kind] * b)
    us, them = (agreement([measured, *top_1_with], e) for e in ("ours", "peer"))
    table.row(section, name, "top-1 %.2f %%, peer %.2f %%%s"
              % (us, them, ", prose and answers" if top_1_with else ""),
              "<= %.0f point below" % TOP_1_POINTS, them - us <= TOP_1_POINTS)
    if measured.parts["tiers"]:
        between = typical(measured.joined("between").kld)
        tiers = typical(measured.joined("tiers").kld)
        text = "to peer %.2e, its tiers %.2e: %.2f" % (between, tiers, between / tiers)
        if bound_to_peer:
            table.row(section, name, text, "<= %.1f times" % OURS_TO_PEER,
                      between <= OURS_TO_PEER * tiers)
        else:
            table.note("  " + text + " (no bound: see README.md)")
    if sure:
        flips = ours.flips_above(SURE)
        table.row(section, name, "%d flips where the reference is sure" % flips, "0", flips == 0)


def kind_of(model):
    """The row of SHARE for a file, by the bytes of its quantised types."""
    held = {1: 0, 32: 0, 256: 0}
    for t in gguf_file.Reader(model).tensors.values():
        held[gguf_types.TYPES[t.type].block] += t.nbytes
    if held[256] == 0:
        return "32"
    part = held[32] / (held[32] + held[256])
    return "k" if part == 0 else "mixed" if part <= MIXED_MOST else "32"


def tiny_quantised(bench):
    for name in QUANTISED:
        model = bench.fixture(name)
        measured, vocabulary = Measured(), vocabulary_of(model)
        for ids in chunks_of(random_ids(model, 4096, 12), 1024):
            measured.add(bench, model, ids, vocabulary)
        judge(bench, "quantised", name, measured, kind_of(model), "median")


# ---- real models -------------------------------------------------------------------------------

def prose():
    """The prose with its lines joined to paragraphs."""
    with open(os.path.join(HERE, "prose.txt"), encoding="utf-8") as f:
        return re.sub(r"(?<!\n)\n(?!\n)", " ", f.read().strip())


def prompts(chat):
    with open(os.path.join(HERE, "prompts.txt"), encoding="utf-8") as f:
        lines = [line.strip() for line in f if line.strip()]
    form = "<|im_start|>user\n%s<|im_end|>\n<|im_start|>assistant\n" if chat else "%s\n"
    return [form % line for line in lines]


def material(name):
    return engines.run(["bash", os.path.join(engines.TOOLS, "peer", "materials.sh"), name]).strip()


class Decisions:
    """Where our tokenizer departs from the peer's on purpose."""

    USER_DEFINED = 4

    def __init__(self, model):
        meta = gguf_file.Reader(model).meta
        self.spm = meta["tokenizer.ggml.model"] == "llama"
        self.bos = meta.get("tokenizer.ggml.bos_token_id")
        pairs = zip(meta["tokenizer.ggml.tokens"], meta["tokenizer.ggml.token_type"])
        self.markers = [text for text, kind in pairs if kind == self.USER_DEFINED]

    def comparable(self, text, special):
        # The blank's stand-in, typed by a user, is not a blank: decoding gives the text back.
        if self.spm and "\u2581" in text:
            return False
        # Without `special`, user-defined tokens are ordinary text as well.
        return special or not any(m in text for m in self.markers if m.strip())

    def expected(self, ids):
        # A text that begins with BOS gets no second one.
        return ids[1:] if len(ids) > 1 and ids[0] == ids[1] == self.bos else ids


def same_ids(bench, section, model, name, sample, special=False):
    """Checks that both tokenizers agree on every text; returns the peer's ids."""
    decisions = Decisions(model)
    sample = [t for t in sample if decisions.comparable(t, special)]
    expected = [decisions.expected(ids)
                for ids in bench.peer.tokenize(model, sample, bench.work, special)]
    wrong = [t for t, ids in zip(sample, expected)
             if bench.locum.tokenize(model, t, special) != ids]
    bench.table.row(section, name, "%d of %d texts differ %s"
                    % (len(wrong), len(sample), "".join(ascii(w)[:24] for w in wrong[:1])),
                    "0", not wrong)
    return expected


def parts_of(model, ids, size):
    """Pieces of a text's ids, each beginning as a text does."""
    meta = gguf_file.Reader(model).meta
    adds_bos = meta.get("tokenizer.ggml.add_bos_token", meta["tokenizer.ggml.model"] == "llama")
    bos = meta["tokenizer.ggml.bos_token_id"] if adds_bos else None
    return chunks_of(ids[bos is not None:], size, bos)


def real_model(bench, section, model, kind, chat, chunk):
    vocabulary = vocabulary_of(model)
    ids = same_ids(bench, section, model, "ids of the prose", [prose()])[0]
    measured = Measured()
    for i, part in enumerate(parts_of(model, ids, chunk)):
        measured.add(bench, model, part, vocabulary, with_tiers=i == 0)
    judge(bench, section, "prose", measured, kind, "mean", sure=True)
    answers = Measured()
    questions = same_ids(bench, section, model, "ids of the prompts", prompts(chat), special=True)
    for ids in questions:
        with bench.files("ids") as (path,):
            write_ids(path, ids)
            answer = bench.peer.greedy(model, path, ANSWER)
        answers.add(bench, model, ids + answer, vocabulary)
    judge(bench, section, "greedy answers", answers, kind, "mean", sure=True,
          top_1_with=[measured])


def smollm2(bench):
    real_model(bench, "smollm2", material("smollm2"), "32", True, PROSE_CHUNKS["smollm2"])


def gemma3(bench):
    real_model(bench, "gemma3", material("gemma3"), "k", False, PROSE_CHUNKS["gemma3"])


def tokenizers(bench):
    sample = texts.all_texts()
    models = {"fixture BPE": (bench.fixture("good-llama-f32"), sample),
              "fixture SPM": (bench.fixture("good-llama-tied-spm"), sample),
              "SmolLM2": (material("smollm2"), sample),
              # Its vocabulary of 262,144 tokens is read for each text: fewer of them.
              "Gemma 3": (material("gemma3"), texts.all_texts(20))}
    for path in bundled_files():
        models[os.path.basename(path)] = (path, sample)
    for name, (path, some) in models.items():
        for special in (False, True):
            same_ids(bench, "tokenizer", path, name + (", special" if special else ""), some,
                     special)


# ---- the bundled model -------------------------------------------------------------------------

def bundled_files():
    return sorted(glob.glob(os.path.join(ROOT, "models", "**", "*.gguf"), recursive=True))


def bundled(bench):
    files = bundled_files()
    if not files:
        raise Missing("there is no model in models/")
    for model in files:
        vocabulary = vocabulary_of(model)
        ids = same_ids(bench, "bundled", model, "ids of the prose", [prose()])[0]
        measured = Measured()
        for i, part in enumerate(chunks_of(ids, 512)):
            measured.add(bench, model, part, vocabulary, with_tiers=i == 0)
        # Shallow and narrow: the peer's tiers differ by less than it differs from the reference.
        judge(bench, "bundled", os.path.basename(model), measured, kind_of(model), "mean",
              bound_to_peer=False)


# ---- SmolLM2 as a mixture of experts -----------------------------------------------------------

STREAM = ["--ctx", "2560"]         # with this context the floor is below a quarter of the file
LONG_PROMPT, LONG_ANSWER = 2000, 500
MIB = 1 << 20


@contextlib.contextmanager
def limited(limit):
    """A control group of `limit` bytes, or None with a line that says so."""
    try:
        group = peak_memory.Group(limit)
    except peak_memory.NoGroup as why:
        print("SKIP experts in the memory limit of a control group: %s" % why, flush=True)
        yield None
        return
    with group:
        yield group


def budget_holds(bench, model, budget, stream):
    """A long prompt and a long answer stay within the budget, as the kernel counts, where it would
    end the process for much more."""
    text = prose()
    count = len(bench.locum.tokenize(model, text))
    text = text[:len(text) * (LONG_PROMPT + 60) // count]
    with bench.files("prompt") as (prompt,), limited(budget + 64 * MIB) as group:
        with open(prompt, "w", encoding="utf-8") as out:
            out.write(text)
        started = time.monotonic()
        told, peak = bench.locum.answer(model, prompt, LONG_ANSWER, stream, group)
        bench.table.note("the long run took %.0f s" % (time.monotonic() - started))
    enough = told["prompt_tokens"] >= LONG_PROMPT and told["generated_tokens"] == LONG_ANSWER
    bench.table.row("experts", "length of the long run", "%d + %d tokens"
                    % (told["prompt_tokens"], told["generated_tokens"]),
                    ">= %d + %d" % (LONG_PROMPT, LONG_ANSWER), enough)
    for who, most in (("the kernel", peak), ("--stats", told["memory"]["peak_rss"])):
        # A budget that is not used would be kept easily.
        bench.table.row("experts", "peak memory, by " + who, "%.1f MiB of a budget of %.1f MiB"
                        % (most / MIB, budget / MIB), "80 % to budget + 32 MiB",
                        0.8 * budget <= most <= budget + 32 * MIB)


def experts(bench):
    dense = material("smollm2")
    vocabulary = vocabulary_of(dense)
    ids = bench.peer.tokenize(dense, [prose()], bench.work)[0][:400]
    names = ("ids", "moe.gguf", "dense", "moe", "ref", "margins")
    with bench.files(*names) as (ids_path, model, of_dense, of_moe, ref, margins):
        write_ids(ids_path, ids)
        moeify.moeify(dense, model)
        budget = os.path.getsize(model) // 4
        stream = STREAM + ["--memory", str(budget)]
        bench.locum.logits(dense, ids_path, of_dense)
        bench.locum.logits(model, ids_path, of_moe, *stream)
        same = np.array_equal(np.fromfile(of_dense, np.uint32), np.fromfile(of_moe, np.uint32))
        bench.table.row("experts", "copies, streamed", "%d logits compared"
                        % (len(ids) * vocabulary), "bits of the dense file", same)
        budget_holds(bench, model, budget, stream)
        moeify.moeify(dense, model, used=2, markers=True)
        whole = bench.locum.logits(model, ids_path, of_moe)["logits_hash"]
        part = bench.locum.logits(model, ids_path, of_moe, *stream)["logits_hash"]
        bench.table.row("experts", "markers, streamed", "hash " + part, "that of all in memory",
                        part == whole)
        bench.reference.logits(model, ids_path, ref, margins)
        d = compare.distances(ref, of_moe, vocabulary)
        bench.table.row("experts", "markers, to the reference", compare.summary(d)[:44],
                        "median < 0.02", np.median(d.kld) < 0.02)


SECTIONS = {
    "f32": (tiny_f32, "F32 fixtures of each architecture: equal to the peer but for rounding"),
    "quantised": (tiny_quantised, "fixtures of each type: near to the float reference"),
    "tokenizer": (tokenizers, "ids of awkward texts are those of the peer"),
    "bundled": (bundled, "the bundled model on prose"),
    "smollm2": (smollm2, "SmolLM2-135M: prose and greedy answers"),
    "gemma3": (gemma3, "Gemma 3 270M: prose and greedy answers"),
    "experts": (experts, "SmolLM2 as a mixture of experts, streamed"),
}


def run_section(bench, name):
    """True if it ran, False if it was skipped."""
    started = time.monotonic()
    try:
        SECTIONS[name][0](bench)
    except Missing as why:
        print("SKIP %s: %s" % (name, why), flush=True)
        return False
    except (engines.EngineError, ValueError) as error:
        bench.table.row(name, "engine", str(error)[:200], "an answer", False)
    bench.table.note("%s took %.0f s" % (name, time.monotonic() - started))
    return True


def main(argv):
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("sections", nargs="*", metavar="section", help="of: " + " ".join(SECTIONS))
    p.add_argument("--list", action="store_true")
    a = p.parse_args(argv)
    if a.list:
        for name, (_, what) in SECTIONS.items():
            print("%-10s %s" % (name, what))
        return 0
    for name in a.sections:
        if name not in SECTIONS:
            p.error("there is no section %s" % name)
    work = tempfile.mkdtemp(prefix="locum-peer-", dir=os.environ.get("TMPDIR", "/var/tmp"))
    try:
        try:
            bench = Bench(work)
        except Missing as why:
            print("SKIP all: %s" % why)
            return 77
        print("peer: llama.cpp, %s (other tier: %s)" % (bench.peer.best, bench.peer.other))
        ran = [run_section(bench, name) for name in a.sections or SECTIONS]
    finally:
        shutil.rmtree(work)
    print("%d checks passed, %d failed, %d sections skipped"
          % (bench.table.passed, len(bench.table.failed), ran.count(False)))
    for line in bench.table.failed:
        print("FAILED " + line)
    if bench.table.failed:
        return 1
    return 0 if any(ran) else 77


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
