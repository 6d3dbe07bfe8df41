# SPDX-License-Identifier: Apache-2.0
"""What goes where, what comes back, and what happens when something is taken away meanwhile."""
import json
import os
import re
import resource
import shutil
import signal
import struct
import subprocess
import tempfile
import time

from cli_test import (MODELS, PROSE, Skip, bad_files, catches, check, drain, equal, gather,
                      gguf_bad, gguf_make, inspect, large_model, locum, main, model, on_terminal,
                      start, stats, unheard, wait, wait_until)

MOE = model("good-qwen3moe-mixed")
SPM = model("good-llama-tied-spm")
SLOW = ["--cpu", "ref", "-t", "1"]
STATS_KEYS = {
    "": "model arch prompt_tokens computed_tokens generated_tokens ids logits_hash seed "
        "sampling text prefill_tok_s decode_tok_s load_s first_token_s time experts memory threads cpu io",
    "time": "compute_s io_wait_s sample_s",
    "experts": "hits misses hit_rate_prefill hit_rate_decode bytes_read reads reads_at_once "
               "reading_s evictions read_ahead warmed verified slots_bytes demand_bytes_per_token",
    "memory": "budget floor dense kv recurrent scratch slots fixed peak_rss resident_dense resident_kv "
              "resident_slots"}


def read_some(stream, count=1):
    """Blocks until something was written there."""
    data = b""
    while len(data) < count:
        part = os.read(stream.fileno(), count - len(data))
        if not part:
            break
        data += part
    return data


def read_until(stream, word):
    """Lines until one that holds word; what was read."""
    data = b""
    while word not in data:
        part = os.read(stream.fileno(), 4096)
        check(part, f"{word} never came: {data!r:.500}")
        data += part
    return data


# --- Streams -------------------------------------------------------------------------------------

def test_standard_output_is_the_answer_alone():
    one = stats(MOE, "-p", PROSE[:200], "-n", 60, "--ignore-eos", "--seed", 3, "--verbose", "--plan")
    equal(one["out"].decode(), one["text"], "standard output and the text of --stats")
    check(one["text"] and not one["text"].startswith("\n"), "the answer")


def test_stats_have_their_keys():
    one = stats(MOE, "-p", "The birds", "-n", 5, "--ignore-eos")
    told = {key: value for key, value in one.items() if key not in ("out", "err")}
    for part, keys in STATS_KEYS.items():
        equal(" ".join(told[part] if part else told), keys, f"keys of {part or '--stats'}")
    equal(len(one["ids"]), 5, "ids")
    check(re.fullmatch("[0-9a-f]{16}", one["logits_hash"]), "logits_hash")
    for name in ("temp", "top-k", "top-p", "min-p"):
        equal(sorted(one["sampling"][name]), ["source", "value"], f"sampling, {name}")
    sizes = one["memory"]
    check(sum(sizes[part] for part in ("dense", "kv", "recurrent", "scratch", "slots", "fixed"))
          <= sizes["budget"], "the parts are more than the budget")
    check(sizes["peak_rss"] > sizes["dense"], "peak_rss")
    for part in ("dense", "kv", "slots"):
        check(0 < sizes["resident_" + part] <= sizes[part], f"resident_{part} of {sizes}")


def test_lines_on_standard_error():
    err = stats(MOE, "-p", "The birds", "-n", 5, "--memory", "11M", "-c", 256)["err"].splitlines()
    equal(len(err), 2, "lines")
    for word in ("budget 11.0 MiB", "slots", "I/O", "thread", "memory", "when first called"):
        check(word in err[0], f"'{word}' is not in the first line: {err[0]}")
    for word in ("prompt token", "answer token", "/s", "hit rate", "read", "peak memory", "seed",
                 "prompt used raw"):
        check(word in err[1], f"'{word}' is not in the closing line: {err[1]}")


def test_less_memory_streams_and_says_so():
    floor = inspect(MOE)["plan"]["floor"]
    check("streaming" in stats(MOE, "-p", "a", "-n", 2, "--memory", floor)["err"], "streaming")
    check("all experts fit in memory" in stats(MOE, "-p", "a", "-n", 2)["err"], "all in memory")


def test_cache_of_8_bits():
    model = os.path.join(os.path.dirname(__file__), "../../models/locum-story-moe.gguf")
    ask = ("-p", "Once upon a time", "-n", 40, "--temp", 0, "-c", 128)
    half, eight = stats(model, *ask), stats(model, *ask, "--kv-type", "q8_0")
    pages = lambda run: run["memory"]["kv"] - 128 // 64 * 4
    equal(pages(eight) * 64, pages(half) * 34, "34 bytes for 32 numbers")
    check("not exactly those of f16" in eight["err"], eight["err"])
    check("not exactly" not in half["err"], half["err"])
    check(eight["logits_hash"] != half["logits_hash"], "other bits")
    odd = large_model("heads-of-24", gguf_make.Spec(heads=4, head_dim=24, experts=8))
    refused = locum("run", odd, "-p", "a", "--kv-type", "q8_0").expect(3)
    check("multiple of 32" in refused.err and "use f16" in refused.err, refused.err)


def test_more_threads_than_processors():
    processors = len(os.sched_getaffinity(0))
    one = stats(MOE, "-p", "The birds", "-n", 3, "-t", 200)
    check(1 <= one["threads"] <= processors, f"{one['threads']} threads, {processors} processors")
    check(f"200 threads were asked for, {one['threads']} compute" in one["err"], one["err"])
    check("asked for" not in stats(MOE, "-p", "The birds", "-n", 3, "-t", 1)["err"], "one thread")
    for count in (200, 1):
        said = locum("inspect", MOE, "-t", count).expect(0).err
        equal("200 threads were asked for" in said, count == 200, f"inspect -t {count}: {said}")


def test_a_drawn_seed_is_printed_and_repeats():
    first = stats(MOE, "-p", "The birds", "-n", 20, "--temp", 2, "--ignore-eos")
    seed = re.search(r"seed (\d+)", first["err"]).group(1)
    again = stats(MOE, "-p", "The birds", "-n", 20, "--temp", 2, "--ignore-eos", "--seed", seed)
    equal(again["ids"], first["ids"], "the answer with the printed seed")
    equal(first["seed"], seed, "the seed in --stats")


def test_hit_rate_rises_with_memory():
    plan = inspect(MOE)["plan"]
    rates, reads = [], []
    for extra in (0, plan["experts_total"] // 2, plan["experts_total"]):
        one = stats(MOE, "-p", PROSE[:300], "-n", 40, "--ignore-eos", "--temp", 0, "--chunk", 8,
                    "--memory", plan["floor"] + extra)
        rates.append(one["experts"]["hit_rate_decode"])
        reads.append(one["experts"]["bytes_read"])
    check(rates[0] < rates[1] < rates[2], f"hit rates {rates}")
    check(reads[0] > reads[1] > reads[2], f"bytes read {reads}")
    equal(rates[2], 1.0, "hit rate of the answer with all experts in memory")


def watched(*arguments, **options):
    """(statistics, what the terminal shows)"""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "stats.json")
        code, shown = on_terminal("run", *arguments, "--stats", path, **options)
        equal(code, 0, "exit status")
        with open(path, encoding="utf-8") as file:
            return json.load(file), shown


def reading(*arguments):
    """(seconds until the first token, what the terminal shows)"""
    told, shown = watched(*arguments)
    return told["first_token_s"], shown


def test_memory_for_all_is_used():
    """Each expert is read once, when it is first called, and stays."""
    told = json.loads(locum("bench", MOE, "--memory", "all", "--prompt-tokens", 200, "-n", 20, "-r",
                            4, "--json").expect(0).out)
    reads = [one["bytes_read_prefill"] + one["bytes_read_decode"] for one in told["runs"]]
    check(reads[0] > 0 and reads[-1] == 0, f"bytes read by repetition: {reads}")
    total = inspect(MOE)["plan"]["experts_total"]
    check(sum(reads) <= total, f"{sum(reads)} bytes read of experts of {total}")
    equal(told["memory"]["slots"], total, "slots")


def bench_slots(memory, prompt=30, answer=10, path=MOE):
    """What bench says of the memory for experts: in JSON, on standard output and error."""
    command = ["bench", path, "-t", 2, "-r", 2, "--prompt-tokens", prompt, "-n", answer, "--memory",
               memory]
    result, told = locum(*command).expect(0), locum(*command, "--json").expect(0)
    equal("is not used" in told.err, "is not used" in result.err, "warnings with and without --json")
    return json.loads(told.out), result.out.decode(), result.err


def test_an_unused_budget_is_flagged():
    """A little more than some slots take, but not enough for another one, is memory for nothing."""
    plan = inspect(MOE, "-t", 2, "--memory", "all")["plan"]
    step = inspect(MOE)["expert_bytes_max"] // 4
    seen = set()
    for memory in (*(plan["floor"] + i * step for i in range(5)),
                   plan["floor"] + plan["experts_total"] * 3 // 4):
        told, out, err = bench_slots(memory)
        sizes = told["memory"]
        empty = sizes["slots_room"] - sizes["resident_slots"]
        unused = empty > sizes["slots_room"] / 8
        check(told["evictions"] > 0, f"no expert gave way in {memory} bytes")
        equal(sizes["slots_use"], "unused" if unused else "full", f"use of {sizes}")
        equal("the memory budget is not used" in err, unused, f"a warning about {sizes}")
        check("slots hold" in out, out)
        seen.add(unused)
    equal(seen, {True, False}, "budgets that are used and that are not")


def test_a_budget_is_not_flagged_where_nothing_calls_for_it():
    plan = inspect(MOE, "-t", 2, "--memory", "all")["plan"]
    for memory, tokens, use, words in (
            ("all", 30, "all_fit", "those that were called; all fit"),
            (plan["floor"] + plan["experts_total"] * 3 // 4, 1, "not_called",
             "none gave way; longer work or --warm-up fills more")):
        told, out, err = bench_slots(memory, tokens, tokens)
        sizes = told["memory"]
        equal((sizes["slots_use"], told["evictions"]), (use, 0), f"use of {sizes}")
        check(sizes["resident_slots"] < sizes["slots_room"] / 2 or use == "all_fit", str(sizes))
        check(words in out and "is not used" not in err, out + err)
    told, out, err = bench_slots("all", path=SPM)
    equal(told["memory"]["slots_use"], None, "slots of a dense model")
    check("slots hold" not in out and "is not used" not in err, out + err)


def test_misses_are_whole_reads_several_at_once():
    floor = inspect(MOE, "-t", 2)["plan"]["floor"]
    told, out, _ = bench_slots(floor)
    misses = told["prompt"]["misses"] + told["answer"]["misses"]
    reads = told["reads"]
    check(0 < reads["count"] <= 3 * (misses + reads["ahead"]), f"{reads} for {misses} misses")
    equal(reads["bytes"], told["prompt"]["bytes_read"] + told["answer"]["bytes_read"], "bytes")
    check(reads["at_once"] > 1 and reads["seconds"] > 0, f"reads: {reads}")
    check(re.search(r"in [\d,]+ reads, up to \d+ at once, .*/s while any was out", out), out)


def test_time_is_split():
    """Waiting for storage is no computing, and together they are all the time that there was."""
    floor = inspect(MOE)["plan"]["floor"]
    told = stats(MOE, "-p", PROSE, "-n", 40, "--ignore-eos", "--memory", floor)
    parts = told["time"]
    whole = told["computed_tokens"] / told["prefill_tok_s"] + 39 / told["decode_tok_s"]
    check(all(seconds > 0 for seconds in parts.values()), f"parts of the time: {parts}")
    check(abs(sum(parts.values()) - whole) <= 0.01 * whole, f"{parts} are not {whole} s together")


def test_progress_on_a_terminal_only():
    times = 1
    while True:  # a prompt that takes a while on this machine, all of it one step
        long = [MOE, "-p", " ".join([PROSE] * times), "-n", 1, "--chunk", 4096, *SLOW]
        seconds, shown = reading(*long)
        if seconds > 1:
            break
        times += 1
        check(times < 10, "no prompt takes a second")
    check(b"reading the prompt" in shown and b"\r\033[K" in shown, f"no progress: {shown!r:.300}")
    check(shown.count(b"\n") <= 8, f"progress takes more than its line: {shown!r:.500}")
    check("reading" not in locum("run", *long).expect(0).err, "progress in a file")
    equal(on_terminal("run", *long, "--quiet"), (0, b""), "--quiet on a terminal")


def test_loading_shows_progress_on_a_terminal_only():
    """60 MB of weights, loaded by a program that is hardly let run."""
    path = large_model("slow-dense", gguf_make.Spec(arch="llama", layers=4, width=512, heads=8,
                                                    head_dim=64, kv_heads=8, ff=1792, vocab=640))
    arguments, pause = [path, "-p", "a", "-n", 0, "--io", "buffered", "-c", 64], 0.1
    try:
        # Where the program is held up is chance: it may be before or behind the weights.
        for _ in range(12):
            told, shown = watched(*arguments, pause=pause, until=b"loading")
            if b"loading" in shown:
                break
            pause = min(1.6, 1.5 * pause)
        if b"loading" in shown:
            check(b"\r\033[K" in shown, f"a line that is not taken back: {shown!r:.300}")
        else:
            print(f"SKIP progress while loading: the weights came too fast in every run "
                  f"({told['load_s']:.2f} s in the last)")
        child = start("run", *arguments)
        said = gather(child, child.stderr.fileno(), pause, b"I/O", 4)
        child.communicate()
        equal((child.returncode, b"loading" in said, b"I/O" in said), (0, False, True),
              f"exit status, and progress in a pipe ({said})")
    finally:
        for name in (path, path[:-len(".gguf")] + ".made"):
            os.unlink(name)


def test_no_flash_of_progress():
    seconds, shown = reading(MOE, "-p", "The birds", "-n", 1)
    check(b"reading" not in shown or seconds > 0.4, f"after {seconds} s: {shown!r:.300}")


def test_the_last_line_of_an_answer():
    arguments = ["run", MOE, "-p", "The birds", "-n", 9, "--temp", 0, "--ignore-eos", "--quiet"]
    answer = locum(*arguments).expect(0).out
    check(answer and answer[-1:] != b"\n", f"an answer that ends its line proves nothing: {answer}")
    # Terminals get a carriage return before each newline.
    equal(on_terminal(*arguments, answer=True), (0, answer.replace(b"\n", b"\r\n") + b"\r\n"),
          "the answer on a terminal")
    equal(on_terminal("run", MOE, "-p", "a", "-n", 0, "--quiet", answer=True), (0, b""), "no answer")
    shown = on_terminal(*arguments[:-1], answer=True)[1]
    check(answer.replace(b"\n", b"\r\n") + b"\r\n\r\n" in shown, f"no line between: {shown!r:.500}")


def test_messages_in_the_pipe_of_the_answer():
    """As with 2>&1: the closing line begins a line, and standard output alone has no more bytes."""
    arguments = ["run", MOE, "-p", "The birds", "-n", 9, "--temp", 0, "--ignore-eos"]
    answer = locum(*arguments).expect(0).out
    check(answer and answer[-1:] != b"\n", f"an answer that ends its line proves nothing: {answer}")
    child = start(*arguments, stderr=subprocess.STDOUT)
    together = child.communicate()[0]
    check(re.search(re.escape(answer) + rb"\n\d+ prompt tokens", together), f"{together!r:.600}")
    child = start(*arguments, "--quiet", stderr=subprocess.STDOUT)
    equal(child.communicate()[0], answer, "the answer with --quiet")


def test_somebody_sits_there_and_gave_no_prompt():
    for arguments, words in ((["run", MOE], b"-p TEXT"), (["tokenize", MOE], b"no text")):
        code, shown = on_terminal(*arguments)
        equal((code, words in shown), (2, True), f"exit status and help: {shown!r:.300}")


def test_settings_of_the_model():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.gguf")
        with open(path, "wb") as file:
            file.write(gguf_bad.Model().put("general.sampling.temp", gguf_bad.gguf.F32, 0.0)
                       .put("general.sampling.top_k", gguf_bad.gguf.I32, 7).bytes())
        arguments = [path, "-p", "The birds", "-n", 20, "--ignore-eos", "--verbose"]
        one = stats(*arguments)
        equal(one["ids"], stats(*arguments)["ids"], "greedy answers, as the model wants")
        settings = dict(re.findall(r"^  (\S+) +(.+?) *$", one["err"], re.M))
        equal((settings["temp"].split(), settings["top-k"].split()),
              (["0", "model"], ["7", "model"]), "settings of the model")
        other = stats(*arguments, "--temp", 3, "--seed", 1)
        check(other["ids"] != one["ids"], "the command line does not win over the model")
        check(re.search("^  temp +3 +command line$", other["err"], re.M), other["err"])


# --- Prompts -------------------------------------------------------------------------------------

AWKWARD = ["Добро утро, 世界! 🎉", "é e\u0301 — 123456789", "\t  two\r\n\r\n", "<|im_end|>", "\u3000",
           "नमस्ते ไทย", "- dash", "a\u0000b"]


def test_a_prompt_is_the_same_from_everywhere():
    for text in AWKWARD:
        data = text.encode()
        with tempfile.NamedTemporaryFile(prefix="Загрузки 模型 ü ") as file:
            file.write(data)
            file.flush()
            asked = [stats(MOE, "-n", 2, "--temp", 0, *source, given=given) for source, given in (
                (["-f", file.name], None), (["-"], data), ([], data), (["-f", "-"], data))]
        if "\0" not in text:
            asked.append(stats(MOE, "-n", 2, "--temp", 0, f"--prompt={text}"))
        equal(len({one["logits_hash"] for one in asked}), 1, f"different answers to {text!r}")


def test_bytes_that_are_no_text():
    data = bytes(range(256)) + b"\xed\xa0\x80\xf0\x9f"
    one = stats(MOE, "-n", 3, "--ignore-eos", given=data)
    check(one["prompt_tokens"] > 200 and one["generated_tokens"] == 3, "the answer")


def test_the_answer_is_always_utf8():
    for seed in range(3):
        stats(MOE, "-p", "The", "-n", 100, "--temp", 1000, "--top-k", 0, "--top-p", 1, "--min-p",
              0, "--ignore-eos", "--seed", seed)["out"].decode()


def test_end_of_input():
    locum("run", MOE, given=b"").expect(2, "empty")  # nothing at all
    locum("run", MOE, "-", given=b"").expect(2, "empty")
    equal(stats(SPM, "-n", 3, given=b"")["prompt_tokens"], 1, "BOS alone")
    equal(locum("run", MOE, "-", "-n", 5, "--temp", 0, given=b"hi").out,
          locum("run", MOE, "-p", "hi", "-n", 5, "--temp", 0).out, "no newline at the end")
    equal(locum("tokenize", MOE, "--ids", given=b"").expect(0).out, b"\n", "no text, no ids")


def test_a_prompt_that_does_not_fit():
    locum("run", MOE, "-p", PROSE, "-c", 64).expect(2, "the context holds 64", "-c gives more")
    full = stats(MOE, "-p", "The birds", "-c", 64, "--ignore-eos")
    check("the context is full" in full["err"], f"nothing said: {full['err']}")
    equal(full["prompt_tokens"] + full["generated_tokens"], 65, "tokens until the context is full")


def test_bench_computes_what_it_says():
    short = [MOE, "-r", 1, "--prompt-tokens", 16]
    told = json.loads(locum("bench", *short, "-c", 20, "-n", 5, "--json").expect(0).out)
    equal((told["answer_tokens"], told["answer"]["tokens"]), (5, 4), "an answer that just fits")
    for arguments, words in (
            (["-c", 20, "-n", 6], ["--prompt-tokens 16 and -n 6", "21 tokens", "-c gives 20"]),
            (["-c", 20, "-n", 1, "--depth", 5], ["--depth 5", "21 tokens"]),
            (["-c", 20, "-n", 1, "--warm-up", 100], ["--warm-up 100 needs", "100 tokens"]),
            (["-n", 4294967294], ["4,294,967,309 tokens", "without -c"])):
        result = locum("bench", *short, *arguments).expect(2, *words)
        equal((result.out, result.err.count("I/O")), (b"", 0), f"loading with {arguments}")
    with tempfile.TemporaryDirectory() as folder:  # trained for more than the library's own choice
        path = os.path.join(folder, "model.gguf")
        with open(path, "wb") as file:
            file.write(gguf_bad.Model().put("qwen3moe.context_length", gguf_bad.gguf.U32, 9000)
                       .bytes())
        for arguments, context in ((["-n", 0], 4101), (["-n", 3], 4103)):
            locum("bench", path, "--prompt-tokens", 4096, "--depth", 5, "--memory", "100K",
                  *arguments).expect(4, f"KV cache of {context} tokens")
    check(" and 1 answer token at" in locum("bench", *short, "-n", 1).expect(0).out.decode(), "words")


def test_a_text_that_is_far_too_long_is_not_cut_into_tokens():
    with tempfile.NamedTemporaryFile() as file:
        file.write(b"a" * (8 << 20))
        file.flush()
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        locum("run", MOE, "-f", file.name, "-c", 64, "--memory", "11M").expect(
            2, "8,388,608 bytes, at least", "the context holds 64", "-c")
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    # Cut into tokens it takes some 20 bytes for each of its own.
    check(peak == before or peak < 64 << 10, f"{peak} KiB of memory")


def test_what_is_wrong_with_a_prompt_is_told_before_loading():
    with tempfile.TemporaryDirectory() as folder:
        none, closed = os.path.join(folder, "none.txt"), os.path.join(folder, "closed.txt")
        with open(closed, "w", encoding="ascii"):
            pass
        os.chmod(closed, 0)
        cases = [(["-f", none], 3), (["-f", folder], 3), (["-f", os.devnull], 2), (["-p", ""], 2),
                 (["-p", PROSE, "-c", 8], 2)]
        if not os.access(closed, os.R_OK):  # root reads everything
            cases.append((["-f", closed], 3))
        for arguments, code in cases:
            result = locum("run", MOE, *arguments).expect(code)
            equal((result.out, result.err.count("I/O")), (b"", 0), f"loading with {arguments}")


def test_a_large_chunk_takes_no_memory():
    def sizes(*arguments):
        told = stats(MOE, "-p", "The birds", "-n", 2, "--temp", 0, *arguments)
        return told["prompt_tokens"], told["memory"]["scratch"], told["logits_hash"]
    count, scratch, answer = sizes("--chunk", 4096)
    check(count < 64, f"{count} tokens")
    equal(sizes("--chunk", count), (count, scratch, answer), "a chunk of the prompt's length")
    plans = [inspect(MOE, "-c", 64, "--chunk", chunk)["plan"] for chunk in (64, 4096)]
    for part in ("chunk", "scratch", "floor", "recommended", "slots"):
        equal(plans[1][part], plans[0][part], f"{part} with a chunk larger than the context")


# --- Files ---------------------------------------------------------------------------------------

def test_any_shard_and_the_folder():
    whole = stats(model("good-qwen3moe-v2"), "-p", "The birds", "-n", 10, "--temp", 0)
    first = model("good-qwen3moe-split")
    ways = [first, first.replace("00001-of", "00002-of"), first.replace("00001-of", "00003-of")]
    with tempfile.TemporaryDirectory() as folder:
        for way in ways:
            shutil.copy(way, folder)
        for way in [*ways, folder]:
            equal(stats(way, "-p", "The birds", "-n", 10, "--temp", 0)["logits_hash"],
                  whole["logits_hash"], way)
            equal(inspect(way)["shards"], 3, way)
        os.unlink(os.path.join(folder, os.path.basename(ways[1])))
        for way in (ways[0], ways[2]):
            left = os.path.join(folder, os.path.basename(way))
            for command in ("run", "inspect"):
                locum(command, left, *(["-p", "a"] if command == "run" else [])).expect(
                    3, os.path.basename(ways[1]))


def test_names_of_files():
    with tempfile.TemporaryDirectory() as folder:
        odd = os.path.join(folder, "Загрузки", "模型 \u3000x")
        os.makedirs(odd)
        path = os.path.join(odd, "-'\"ü.gguf")
        shutil.copy(MOE, path)
        equal(stats(path, "-p", "a", "-n", 2)["model"], path, "model")
        equal(inspect(path)["path"], path, "path")
        base = os.path.basename(path)
        locum("run", base, cwd=odd).expect(2, "unknown flag")
        locum("run", "-p", "a", "-n", "2", "--", base, cwd=odd).expect(0)
        os.truncate(path, os.path.getsize(path) - 1)
        locum("run", path, "-p", "a").expect(3, path, "output")
        # Bytes that are no text, as file names may be.
        latin = os.fsencode(folder) + b"/m\xfc.gguf"
        shutil.copy(MOE, latin)
        json.loads(locum("inspect", "--json", latin).expect(0).out)


def test_advice_comes_from_the_file_system():
    """A folder's name says nothing about the storage below it."""
    with tempfile.TemporaryDirectory() as folder:
        lines = []
        for name in ("mnt/c/models", "here"):
            os.makedirs(os.path.join(folder, name))
            path = shutil.copy(MOE, os.path.join(folder, name))
            said = locum("run", path, "-p", "a", "-n", 0).expect(0).err.replace(path, "MODEL")
            lines.append(said.splitlines()[:-1])  # the last one has the speed
        equal(lines[0], lines[1], "what is said of a model below a folder named mnt")


def large_header():
    """A file of 250,000 tokens and 500,000 merges, somewhat above the largest vocabularies in use."""
    path = os.path.join(MODELS, "large-header.gguf")
    meta, gguf = gguf_bad.gguf.Metadata(), gguf_bad.gguf
    tokens = [f"token{i}" for i in range(250000)]
    meta.put("general.architecture", gguf.STRING, "llama")
    meta.put("tokenizer.ggml.model", gguf.STRING, "gpt2")
    meta.put("tokenizer.ggml.pre", gguf.STRING, "qwen2")
    meta.put("tokenizer.ggml.tokens", gguf.ARRAY, (gguf.STRING, tokens))
    meta.put("tokenizer.ggml.token_type", gguf.ARRAY, (gguf.I32, [1] * len(tokens)))
    meta.put("tokenizer.ggml.merges", gguf.ARRAY,
             (gguf.STRING, [f"left{i} right{i}" for i in range(500000)]))
    gguf.write(path, meta, [])
    return path


def test_a_large_header_opens_at_once():
    path = large_header()
    try:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        told = inspect(path)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    finally:
        os.unlink(path)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"     250,000 tokens and 500,000 merges: {seconds:.2f} s of computing")
    equal(told["vocabulary"], 250000, "vocabulary")
    # Tenths of a second; what looks through the whole header for each token takes minutes.
    check(seconds < 10, f"{seconds} s of computing")


def test_what_cannot_be_opened():
    with tempfile.TemporaryDirectory() as folder:
        for arguments in (["run", folder + "/none.gguf", "-p", "a"], ["inspect", folder],
                          ["run", MOE, "-f", folder + "/none.txt"], ["run", MOE, "-f", folder],
                          ["run", MOE, "-p", "a", "--stats", folder + "/none/x.json"],
                          ["run", MOE, "-p", "a", "--trace", folder + "/none/x.csv"],
                          ["run", MOE, "-p", "a", "--stats", folder],
                          ["tokenize", folder + "/none.gguf", "a"],
                          ["bench", folder + "/none.gguf"]):
            result = locum(*arguments).expect(3, folder)
            equal(result.out, b"", "standard output")


def test_a_file_without_tensors():
    path = model("good-vocab-only-bpe")
    told = inspect(path)
    equal((told["runnable"], told["tensors"], told["vocabulary"] > 0), (False, 0, True), "inspect")
    equal(locum("tokenize", path, "--ids", "The birds").expect(0).out,
          locum("tokenize", path, "--ids", given=b"The birds").out, "the same ids")
    locum("run", path, "-p", "a").expect(3)


def test_tensors_that_nobody_uses():
    told = inspect(model("good-qwen3moe-extra"))
    equal((told["runnable"], told["unknown_tensors"]), (True, 10), "runnable, unknown_tensors")
    equal(stats(model("good-qwen3moe-extra"), "-p", "a", "-n", 5, "--temp", 0)["logits_hash"],
          stats(model("good-qwen3moe-v2"), "-p", "a", "-n", 5, "--temp", 0)["logits_hash"], "answer")


def test_sizes_that_a_folder_promises():
    with tempfile.TemporaryDirectory() as folder:
        path = shutil.copy(MOE, folder)
        for size, code in ((os.path.getsize(path), 0), (os.path.getsize(path) + 1, 3)):
            with open(os.path.join(folder, "assets.tsv"), "w", encoding="ascii") as file:
                file.write(f"{os.path.basename(path)}\t{size}\t{'0' * 64}\n")
            result = locum("run", folder, "-p", "a", "-n", 1).expect(code)
            check(code == 0 or os.path.basename(path) in result.err, result.err)


def test_another_architecture_is_named():
    path = os.path.join(bad_files(), "unsupported-architecture.gguf")
    result = locum("run", path, "-p", "a").expect(3, "bigbird", "qwen3moe", "llama", "gemma3")
    check("corrupt" not in result.err and "damaged" not in result.err, result.err)


def memory_file_system():
    """The folder of a file system that can never be read directly."""
    with open("/proc/mounts", encoding="utf-8", errors="replace") as mounts:
        if not any(line.split()[1:3] == ["/dev/shm", "tmpfs"] for line in mounts):
            raise Skip("/dev/shm is no tmpfs here")
    return "/dev/shm"


def test_a_file_system_without_direct_reads():
    with tempfile.TemporaryDirectory(dir=memory_file_system()) as folder:
        path = shutil.copy(MOE, folder)
        automatic = locum("run", path, "-p", "a", "-n", 3, "--temp", 0).expect(0, "page cache")
        equal(automatic.out, locum("run", MOE, "-p", "a", "-n", 3, "--temp", 0).out, "the answer")
        locum("run", path, "-p", "a", "--io", "direct").expect(3, path, "direct")


def test_one_shard_without_direct_reads():
    first = model("good-qwen3moe-split")
    if locum("run", first, "-p", "a", "-n", 0, "--io", "direct").code != 0:
        raise Skip("the build folder cannot be read directly")
    with tempfile.TemporaryDirectory(dir=memory_file_system()) as memory, \
            tempfile.TemporaryDirectory(dir=MODELS) as folder:
        for shard in ("00001", "00002", "00003"):
            path = first.replace("00001-of", shard + "-of")
            there = os.path.join(folder, os.path.basename(path))
            if shard == "00001":
                shutil.copy(path, there)
            else:
                os.symlink(shutil.copy(path, memory), there)
        told = locum("run", folder, "-p", "a", "-n", 1).expect(0).err
        equal((told.count("page cache"), told.count("00002-of")), (1, 1), f"notices in {told}")


# --- Exit status ----------------------------------------------------------------------------------

def test_failures_have_their_own_status():
    locum("run", MOE, "-p", "a", "--memory", "1M").expect(4, "budget", "floor", "dense", "KV", "slots")
    equal(locum("inspect", MOE, "--memory", "1M").expect(0).err, "", "inspect shows the plan")
    locum("run", MOE, "-p", "a", "--memory", "9M").expect(4, "largest context that fits")


def test_no_descriptor_for_a_measurement():
    """Beside the streams one file can be open, the model's: the system's files cannot be read."""
    def few():
        resource.setrlimit(resource.RLIMIT_NOFILE, (4, 4))

    few_files = {"preexec_fn": few}
    said = locum("run", MOE, "-p", "a", "-n", 1, "--memory", "all", **few_files).expect(0).err
    check("peak memory unknown" in said and " 0 bytes" not in said, said)
    told = locum("bench", MOE, "--memory", "all", "-r", 1, "-n", 1, "--json", **few_files).expect(0)
    equal(json.loads(told.out)["memory"]["peak_rss"], None, "peak_rss")


def test_nothing_half_written():
    with tempfile.TemporaryDirectory() as folder:
        old = os.path.join(folder, "stats.json")
        with open(old, "w", encoding="ascii") as file:
            file.write("old")
        for wrong in (["--memory", "1M"], ["-c", "8"]):
            locum("run", MOE, "-p", PROSE, "--stats", old, "--trace", folder + "/t.csv", *wrong)
            equal(os.listdir(folder), ["stats.json"], f"files after a run with {wrong}")
            with open(old, encoding="ascii") as file:
                equal(file.read(), "old", "stats.json")


def test_outputs_replace_nothing_that_is_read():
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copy(MOE, folder)
        prompt = os.path.join(folder, "prompt.txt")
        with open(prompt, "w", encoding="ascii") as file:
            file.write("some words")
        before = os.path.getsize(copy)
        for flag in ("--stats", "--trace"):
            locum("run", copy, "-p", "a", "-n", 1, flag, copy).expect(2, flag, "replace the model")
            locum("run", copy, "-f", prompt, "-n", 1, flag, prompt).expect(2, flag, "the prompt")
        link, spelled = os.path.join(folder, "link"), os.path.join(folder, ".", "prompt.txt")
        os.symlink("prompt.txt", link)
        for other in (spelled, link):
            locum("run", copy, "-f", prompt, "--stats", other).expect(2, "the prompt", other)
            locum("run", copy, "-f", other, "--trace", prompt).expect(2, "the prompt", prompt)
        locum("run", copy, "-f", "prompt.txt", "--stats", prompt, cwd=folder).expect(2, "the prompt")
        os.unlink(link)
        both = os.path.join(folder, "both")
        for other in (both, os.path.join(folder, ".", "both"), "both", "./both", link + "/both"):
            os.symlink(".", link)
            locum("run", copy, "-p", "a", "--stats", both, "--trace", other,
                  cwd=folder).expect(2, "both")
            os.unlink(link)
        # Nothing is replaced at a device: this ends later, for want of a prompt.
        locum("run", copy, "-f", "/dev/stdin", "--stats", "/dev/null").expect(2, "empty")
        equal(os.path.getsize(copy), before, "size of the model")
        with open(prompt, encoding="ascii") as file:
            equal(file.read(), "some words", "the prompt")
        equal(sorted(os.listdir(folder)), sorted([os.path.basename(copy), "prompt.txt"]), "files")


def with_nan(folder):
    """The F32 model with a weight of the last norm that is not a number."""
    path = shutil.copy(model("good-qwen3moe-f32"), folder)
    told = json.loads(locum("inspect", path, "--json", "--tensors").expect(0).out)
    tensor = next(t for t in told["tensor_list"] if t["name"] == "output_norm.weight")
    with open(path, "r+b") as file:
        file.seek(tensor["offset"])
        file.write(struct.pack("<f", float("nan")))
    return path


def test_not_a_number_is_an_error():
    with tempfile.TemporaryDirectory() as folder:
        for temperature in ("0", "1"):
            result = locum("run", with_nan(folder), "-p", "a", "-n", 3, "--temp", temperature)
            equal(result.expect(5, "not finite").out, b"", "standard output")


def test_the_file_shrinks_meanwhile():
    with tempfile.TemporaryDirectory() as folder:
        path = shutil.copy(MOE, folder)
        floor = inspect(path, "-c", 4000)["plan"]["floor"]
        child = start("run", path, "-p", "The birds", "--ignore-eos", "-c", 4000, "--memory", floor,
                      "--temp", 2, *SLOW)
        first = read_some(child.stdout)
        os.truncate(path, os.path.getsize(path) // 8)
        out, err = child.communicate()
        equal(child.returncode, 5, f"exit status ({err.decode()})")
        check(path in err.decode(), f"the file is not named: {err.decode()}")
        check(first + out, "the beginning of the answer is lost")


# --- Taken away ----------------------------------------------------------------------------------

def test_interrupt_while_answering():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "stats.json")
        arguments = [MOE, "-p", "The birds", "--ignore-eos", "-c", 4000, "--seed", 5]
        child = start("run", *arguments, *SLOW, "--stats", path)
        first = read_some(child.stdout, 20)
        child.send_signal(signal.SIGINT)
        out, err = child.communicate()
        equal(child.returncode, 130, "exit status")
        check(b"answer token" in err, f"no closing line: {err.decode()}")
        with open(path, encoding="utf-8") as file:
            told = json.load(file)
        equal((first + out).decode(), told["text"], "the answer until then")
        equal(len(told["ids"]), told["generated_tokens"], "ids")
        check(0 < told["generated_tokens"] < 3900, "nothing was interrupted")
        whole = stats(*arguments, "-n", told["generated_tokens"])
        equal(whole["ids"], told["ids"], "the beginning of the same answer")


def test_interrupt_while_reading_the_prompt():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "stats.json")
        child = start("run", MOE, "-p", PROSE * 4, "--chunk", 4096, *SLOW, "--stats", path)
        read_until(child.stderr, b"I/O")
        child.send_signal(signal.SIGINT)
        out, _ = child.communicate()
        equal((child.returncode, out), (130, b""), "exit status and answer")
        with open(path, encoding="utf-8") as file:
            told = json.load(file)
        equal((told["computed_tokens"], told["generated_tokens"]), (0, 0), "computed and generated")


def test_interrupt_while_waiting_for_a_prompt():
    child = start("run", MOE, "-", stdin=-1)
    time.sleep(0.5)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate()
    equal((child.returncode, out), (130, b""), f"exit status ({err.decode()})")


def test_interrupt_while_cutting_a_text():
    """The whole text was read, and not an id was written: cutting it takes a second."""
    with tempfile.TemporaryFile() as text:
        text.write(PROSE.encode() * (8 * 1024 * 1024 // len(PROSE)))
        for flags in ([], ["--ids"], ["--json"]):
            text.seek(0)
            child = start("tokenize", MOE, *flags, "-", stdin=text)
            wait_until(child, lambda: text.tell() == os.fstat(text.fileno()).st_size, "the text")
            child.send_signal(signal.SIGINT)
            out, err = child.communicate()
            equal((child.returncode, err), (130, b""), f"exit status with {flags}")
            equal(out.count(b"\n") < 1000, True, f"lines with {flags}: {out[:200]}")


def test_interrupt_before_the_weights_are_there():
    with tempfile.TemporaryDirectory() as folder:
        child, messages = unheard("run", MOE, "-p", "The birds", "--ignore-eos", "-c", 4000, "--plan",
                                  "--stats", folder + "/stats.json", "--trace", folder + "/t.csv")
        child.send_signal(signal.SIGINT)
        wait_until(child, lambda: not catches(child, signal.SIGINT), "the interrupt")
        said = drain(messages)
        out, _ = child.communicate()
        equal((child.returncode, out), (130, b""), f"exit status and answer ({said})")
        equal(said.count("I/O"), 0, "the line of a model that was loaded")
        equal(os.listdir(folder), [], "files")


def writes(child, descriptor):
    """Whether the child waits in a call about that descriptor."""
    try:
        with open(f"/proc/{child.pid}/syscall", encoding="ascii") as file:
            return file.read().split()[1:2] == [hex(descriptor)]
    except OSError as reason:
        child.kill()
        raise Skip(f"calls of other processes cannot be seen here: {reason}") from reason


def test_interrupt_while_nobody_reads_the_answer():
    child, answer = unheard("run", MOE, "-p", "The birds", "-n", 100, "--ignore-eos", stream="stdout")
    wait_until(child, lambda: writes(child, 1), "the write")
    child.send_signal(signal.SIGINT)
    equal(wait(child), 130, "exit status")
    os.close(answer)
    check(b"failed" not in child.stderr.read(), "an interrupted write is called a failure")


def test_a_second_interrupt_ends_the_program():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "stats.json")
        with open(path, "w", encoding="ascii") as file:
            file.write("old")
        child, messages = unheard("run", MOE, "-p", "The birds", "--plan", "--stats", path)
        wait_until(child, lambda: writes(child, 2), "the first message")
        child.send_signal(signal.SIGINT)
        wait_until(child, lambda: not catches(child, signal.SIGINT), "the first interrupt")
        child.send_signal(signal.SIGINT)
        equal(wait(child), -signal.SIGINT, "what ended it")  # 130 for a shell
        child.communicate()
        os.close(messages)
        with open(path, encoding="ascii") as file:
            equal(file.read(), "old", "stats.json")


def test_termination_is_an_interrupt():
    child = start("run", MOE, "-p", "The birds", "--ignore-eos", "-c", 4000, *SLOW)
    read_some(child.stdout)
    child.send_signal(signal.SIGTERM)
    child.communicate()
    equal(child.returncode, 130, "exit status")


def test_the_reader_goes_away():
    child = start("run", MOE, "-p", "The birds", "--ignore-eos", "-c", 4000, *SLOW)
    read_some(child.stdout)
    child.stdout.close()
    err = child.stderr.read().decode()
    equal((wait(child), len(err.splitlines())), (0, 1), f"exit status and lines ({err})")
    for arguments in (["help"], ["inspect", MOE, "--json", "--tensors"], ["tokenize", MOE, "a"]):
        ours, theirs = os.pipe()
        os.close(ours)
        child = start(*arguments, stdout=theirs)
        os.close(theirs)
        equal((child.communicate()[1], child.returncode), (b"", 0), f"{arguments[0]}, no reader")


def test_closed_streams():
    for closed in ([0], [1], [2], [0, 1, 2]):
        with tempfile.TemporaryDirectory() as folder:
            path, copy = os.path.join(folder, "stats.json"), shutil.copy(MOE, folder)

            def close():
                for number in closed:
                    os.close(number)
            child = start("run", copy, "-p", "The birds", "-n", 5, "--stats", path,
                          preexec_fn=close)
            out, err = child.communicate()
            equal(child.returncode, 0, f"exit status with {closed} closed: {err.decode()}")
            with open(path, encoding="utf-8") as file:
                json.load(file)
            with open(copy, "rb") as one, open(MOE, "rb") as other:
                equal(one.read() == other.read(), True, "the model's file is untouched")
            check(out or 1 in closed, "no answer")


def test_no_room_for_the_answer():
    if not os.path.exists("/dev/full"):
        raise Skip("there is no /dev/full")
    with open("/dev/full", "wb") as full:
        for arguments in (["run", MOE, "-p", "a", "-n", 5], ["help"], ["inspect", MOE, "--json"],
                          ["tokenize", MOE, "a"], ["bench", MOE, "-n", 1, "-r", 1]):
            locum(*arguments, stdout=full).expect(5, "space")
        locum("run", MOE, "-p", "a", "-n", 2, "--stats", "/dev/full").expect(3, "/dev/full")


def test_files_that_may_not_grow():
    """As with `ulimit -f 0`, where the system's own answer to a write is to end the program."""
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    with tempfile.TemporaryDirectory() as folder:
        for flag in ("--stats", "--trace", "--op-trace", "--metrics", "--io-trace"):
            child = start("run", MOE, "-p", "a", "-n", 1, flag, folder + "/out", preexec_fn=limit)
            err = child.communicate()[1].decode()
            equal((child.returncode, os.listdir(folder)), (3, []), f"status and files ({err})")
            check("File too large" in err and folder + "/out" in err, err)
        with open(os.path.join(folder, "answer"), "wb") as out:
            child = start("run", MOE, "-p", "a", "-n", 3, stdout=out, preexec_fn=limit)
            err = child.communicate()[1].decode()
        equal((child.returncode, "File too large" in err), (5, True), f"an answer to a file ({err})")


# --- Tokens --------------------------------------------------------------------------------------

def ids_of(path, text, *flags):
    return json.loads(locum("tokenize", path, "--json", *flags, given=text).expect(0).out)


def test_tokens_give_the_text_back():
    for text in AWKWARD:
        told = ids_of(MOE, text.encode())
        joined = b"".join(bytes(token["bytes"]) for token in told["tokens"])
        equal(joined, text.encode(), "bytes of the tokens")
        equal([token["id"] for token in told["tokens"]], told["ids"], "ids")
        equal(told["count"], len(told["ids"]), "count")


def test_special_tokens_only_when_allowed():
    for marker in ("<|im_end|>", "<think>"):  # control and user-defined
        check(ids_of(MOE, marker.encode())["count"] > 1, f"{marker} is one token by default")
        equal(ids_of(MOE, marker.encode(), "--special")["count"], 1, f"{marker} with --special")


def test_bos_once():
    bos = ids_of(SPM, b"")["ids"]
    equal(len(bos), 1, "ids of nothing")
    for text in (b"The birds", b"<s>The birds"):
        told = ids_of(SPM, text, "--special")["ids"]
        equal((told[0], told.count(bos[0])), (bos[0], 1), f"BOS in {text}")
        raw = stats(SPM, "-n", 1, "--raw", given=text)
        equal(raw["prompt_tokens"], len(told), f"tokens that run computes of {text}")


def test_inspect_names_the_file_once():
    for path, flags in ((os.path.join(bad_files(), "unsupported-architecture.gguf"), []),
                        (MOE, ["--memory", "1M"])):
        told = locum("inspect", path, *flags).expect(0).out.decode()
        equal(told.count(os.path.basename(path)), 1, f"times the file is named in {told}")


def test_inspect_escapes_what_the_file_says():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "x.gguf")
        shutil.copy(model("good-qwen3moe-v2"), path)
        with open(path, "r+b") as file:
            data = file.read()
            name = inspect(path)["name"].encode()
            file.seek(data.index(name))
            file.write(b"\033[31m" + name[5:])
        check(b"\033" not in locum("inspect", path).expect(0).out, "a control character")
        check(inspect(path)["name"].startswith("\033"), "JSON has it as it is")


if __name__ == "__main__":
    main(globals())
