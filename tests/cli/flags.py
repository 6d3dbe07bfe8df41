# SPDX-License-Identifier: Apache-2.0
"""Every flag of every command, from the command's own table (`locum help --json`).

A flag without an effect that is observed here fails the test: EFFECTS must have an entry for each
pair of command and flag that the table has, and only for those.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

from cli_test import (LOCUM, MODELS, ROOT, check, environment, equal, inspect, locum, main, model, on_terminal,
                      stats)

MOE = model("good-qwen3moe-mixed")
SPM = model("good-llama-tied-spm")  # its tokenizer adds BOS
TABLE = json.loads(locum("help", "--json").expect(0).out)
BASE = {"run": [MOE, "-p", "The birds, and the step.", "-n", "12", "--temp", "0"],
        "inspect": [MOE], "tokenize": [MOE, "The birds"], "version": [], "help": ["run"],
        "bench": [MOE, "--prompt-tokens", "20", "-n", "4", "-r", "2"],
        "report": [os.path.join(MODELS, "reads.csv")]}
with open(BASE["report"][0], "w", encoding="ascii") as _reads:
    _reads.write("# io_trace v1\nspec,read_bytes,latency_ns\n0,4096,70000\n")


def base(command, without=None):
    """The arguments of a usual call, without one flag and its value."""
    arguments = BASE[command]
    if without in arguments:
        at = arguments.index(without)
        arguments = arguments[:at] + arguments[at + 2:]
    return arguments


# --- Effects: each function fails if the flag does nothing --------------------------------------

def differs(measure):
    """A flag whose effect is a difference in what measure(arguments) returns."""
    def effect(*values):
        seen = [measure(*value) for value in values]
        check(len({json.dumps(one) for one in seen}) == len(seen),
              f"no difference between {values}: {seen[0]!r:.200}")
    return effect


def ids(*arguments, of=None):
    return stats(*base("run", of), *arguments)["ids"]


def run_number(*keys):
    def measure(*arguments):
        value = stats(*BASE["run"], *arguments)
        for key in keys:
            value = value[key]
        return value
    return measure


def plan_number(key):
    return lambda *arguments: inspect(MOE, *arguments)["plan"][key]


def bench(*arguments, without=None):
    return json.loads(locum("bench", *base("bench", without), "--json", *arguments).expect(0).out)


def bench_number(*keys):
    def measure(*arguments):
        value = bench(*arguments, without=arguments[0] if arguments else None)
        for key in keys:
            value = value[key]
        return value
    return measure


def prompts():
    with tempfile.NamedTemporaryFile(suffix=".txt") as file:
        file.write(b"Nobody needs to count.")
        file.flush()
        other = stats(*base("run", "-p"), "-f", file.name)
    given = stats(*base("run", "-p"), "--prompt", "Nobody needs to count.")
    equal(other["ids"], given["ids"], "the same prompt from a file and as an argument")
    check(given["logits_hash"] != stats(*BASE["run"])["logits_hash"], "the prompt has no effect")


def predict():
    for count in (0, 1, 7):
        equal(stats(*base("run", "-n"), "--ignore-eos", "-n", count)["generated_tokens"], count,
              f"tokens with -n {count}")


def system():
    locum("run", *BASE["run"], "--system", "Be kind.").expect(2, "--system", "template")


def raw():
    arguments = [*base("run", "-p"), "-p", "<|im_start|>user"]
    plain, special = stats(*arguments), stats(*arguments, "--raw")
    check(special["prompt_tokens"] < plain["prompt_tokens"], "special tokens are read both ways")
    check("prompt used raw" in plain["err"] and "prompt used raw" in special["err"],
          "the closing line does not say that the prompt was used raw")


def ignore_eos():
    # Almost uniform over the vocabulary: an end token comes soon.
    wild = [*base("run", "-n"), "-n", "1500", "--top-k", "0", "--top-p", "1", "--min-p", "0",
            "--seed", "1"]
    wild[wild.index("--temp") + 1] = "1000"
    ended = stats(*wild)["generated_tokens"]
    check(0 < ended < 1500, f"no end token came in {ended} tokens")
    equal(stats(*wild, "--ignore-eos")["generated_tokens"], 1500, "tokens with --ignore-eos")


def structured(flag, *value, pattern):
    """The answer of a model that would say anything has the structure of the flag."""
    def effect():
        wild = [*base("run", "-n"), "-n", "300", "--top-k", "0", "--top-p", "1", "--min-p", "0",
                "--seed", "1"]
        wild[wild.index("--temp") + 1] = "1000"
        text = stats(*wild, flag, *value)["text"]
        check(re.fullmatch(pattern, text, re.S), f"{flag}: the answer is {text!r:.200}")
        check(not re.fullmatch(pattern, stats(*wild)["text"], re.S), f"{flag} has no effect")
        locum("run", *BASE["run"], "--ignore-eos", flag, *value).expect(2, "exclude")
    return effect


def narrowing(*flag):
    """A flag that leaves the likeliest token only must undo a high temperature."""
    def effect():
        wild = ["--temp", "1000", "--seed", "1", "--top-p", "1", "--min-p", "0", "--top-k", "0"]
        at = wild.index(flag[0])
        narrow = wild[:at] + wild[at + 2:]
        greedy = ids("--ignore-eos")
        check(ids(*wild, "--ignore-eos", of="--temp") != greedy, "temperature 1000 is greedy")
        equal(ids(*narrow, *flag, "--ignore-eos", of="--temp"), greedy, " ".join(flag))
    return effect


# Almost uniform, from one seed: what a stage drops changes the answer.
OPEN = ["--temp", "3", "--top-k", "0", "--top-p", "1", "--min-p", "0", "--seed", "1",
        "--ignore-eos"]


def open_ids(*arguments):
    """The answer with some of OPEN's values replaced, and more flags."""
    kept = list(OPEN)
    for flag in arguments[::2]:
        if flag in kept:
            del kept[kept.index(flag):kept.index(flag) + 2]
    return stats(*base("run", "--temp"), *kept, *arguments)["ids"]


def changes(flag, value, *others):
    """Another answer than with the other flags alone."""
    return lambda: check(open_ids(flag, value, *others) != open_ids(*others),
                         f"{flag} {value} has no effect")


def keeps_more():
    greedy = ids("--ignore-eos")
    equal(open_ids("--top-p", "0"), greedy, "--top-p 0")
    check(open_ids("--top-p", "0", "--min-keep", "50") != greedy, "--min-keep has no effect")


def first_id(prompt, *arguments):
    return stats(MOE, "-p", prompt, "-n", "1", "--temp", "0", "--ignore-eos", *arguments)["ids"][0]


def prompt_ids(prompt):
    return json.loads(locum("tokenize", MOE, "--json", prompt).expect(0).out)["ids"]


def penalty(*arguments, off=()):
    """Of two tokens that biases make the best, the one that was there falls behind the other."""
    def effect():
        prompt = "The birds, and the birds, and the step of the birds."
        there = prompt_ids(prompt)
        old = there[1]
        new = next(token for token in range(100, 300) if token not in there)
        biases = ["--logit-bias", f"{old}+1000,{new}+950"]
        equal(first_id(prompt, *biases, *off), old, " ".join(off) or "no penalty")
        equal(first_id(prompt, *biases, *arguments), new, " ".join(arguments))
    return effect


def repetition(*arguments, off=()):
    """A token that would continue a repetition, which a bias makes the best, is not drawn."""
    def effect():
        prompt = "the birds and the step, the birds and the step, the birds and the step,"
        before, longest, follows = prompt_ids(prompt), 0, None
        for end in range(1, len(before)):
            length = 0
            while length < end and before[end - 1 - length] == before[-1 - length]:
                length += 1
            if length > longest:
                longest, follows = length, before[end]
        check(longest > 4, f"the prompt repeats {longest} tokens")
        bias = ["--logit-bias", f"{follows}+5000"]
        equal(first_id(prompt, *bias, *off), follows, " ".join(off) or "no DRY")
        check(first_id(prompt, *bias, *arguments) != follows, " ".join(arguments))
    return effect


DRY = ["--dry-multiplier", "1000", "--dry-base", "10", "--dry-penalty-last-n", "-1"]


def stages():
    check(open_ids("--top-k", "1", "--samplers", "temperature") != ids("--ignore-eos"),
          "top_k was not among the stages")
    equal(open_ids("--top-k", "1", "--samplers", "temperature;top-k"), ids("--ignore-eos"), "top_k")
    told = locum("run", *BASE["run"], "--top-k", "1", "--samplers", "temperature").expect(0).err
    check("top-k has no effect" in told, "nobody says that --top-k is not used")
    locum("run", *BASE["run"], "--samplers", "top_k;magic").expect(2, "magic", "typ_p")


def biased():
    first = ids("--ignore-eos")[0]
    check(ids("--ignore-eos", "--logit-bias", f"{first}-inf")[0] != first, "-inf was drawn")
    equal(ids("--ignore-eos", "--logit-bias", "7+1000"), [7] * 12, "a strong bias")
    for wrong in ("7", "7+", "+1", "7+-1", "7+inf", "7+1,", "x+1"):
        locum("run", *BASE["run"], "--logit-bias", wrong).expect(2, "--logit-bias")
    locum("run", *BASE["run"], "--logit-bias", "9999999+1").expect(2, "9999999")


def breakers():
    repetition(*DRY, off=[*DRY, "--dry-sequence-breaker", '[","]'])()
    locum("run", *BASE["run"], "--dry-sequence-breaker", "x").expect(2, "JSON list")


def logprobs():
    told = stats(*BASE["run"], "--logprobs", "3")
    equal([one["id"] for one in told["logprobs"]], told["ids"], "ids of --logprobs")
    for one in told["logprobs"]:
        equal(len(one["top"]), 3, "--logprobs 3")
        equal(one["top"][0], {"id": one["id"], "logprob": one["logprob"]}, "the likeliest, greedily")
        values = [other["logprob"] for other in one["top"]]
        check(values == sorted(values, reverse=True) and values[0] < 0, f"order of {values}")
    equal(stats(*BASE["run"], "--logprobs", "0")["logprobs"][0]["top"], [], "--logprobs 0")
    locum("run", *BASE["run"], "--logprobs", "3").expect(2, "--stats")


def sampling_is_told():
    told = stats(*BASE["run"], "--top-k", "7")["sampling"]
    equal((told["top-k"], told["min-p"]["source"]),
          ({"value": 7, "source": "given"}, "default"), "sampling in --stats")


def seed():
    sampling_is_told()
    warm = ["--temp", "2", "--ignore-eos"]
    one, same, other = (ids(*warm, "--seed", n, of="--temp") for n in ("1", "1", "2"))
    equal(one, same, "two runs with one seed")
    check(one != other, "the seed has no effect")
    check(ids(*warm, of="--temp") != ids(*warm, of="--temp"), "no seed is drawn")


def chunk():
    small, large = (stats(*BASE["run"], "--chunk", n) for n in ("1", "64"))
    lookups = [one["experts"]["hits"] + one["experts"]["misses"] for one in (small, large)]
    check(lookups[0] > lookups[1], f"chunks of 1 and 64 look up {lookups} experts")
    equal(small["logits_hash"], large["logits_hash"], "chunks of 1 and 64")


def memory():
    floor = inspect(MOE)["plan"]["floor"]
    tight, wide = (stats(*BASE["run"], "--memory", n) for n in (floor, "all"))
    equal(tight["memory"]["budget"], floor, "the budget given in bytes")
    check(tight["experts"]["bytes_read"] > wide["experts"]["bytes_read"], "same reads")
    equal(tight["logits_hash"], wide["logits_hash"], "least and most memory")
    equal(stats(*BASE["run"], "--memory", "64MiB")["memory"]["budget"], 64 << 20, "64MiB")
    for text in ("auto", "Auto", "1G"):
        stats(*BASE["run"], "--memory", text)


def trace():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace.csv")
        locum("run", *BASE["run"], "--trace", path).expect(0)
        equal(os.listdir(folder), ["trace.csv"], "files beside --trace")
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
    equal(lines[0], "# route_trace v1", "first line of the trace")
    rows = [line.split(",") for line in lines if line[0].isdigit()]
    check({row[1] for row in rows} == {"0", "1"}, "the trace lacks a phase")
    with tempfile.TemporaryDirectory() as folder:
        dense = ["run", model("good-qwen3-f32"), "-p", "a", "-n", 1]
        for flag in ("--trace", "--io-trace"):
            locum(*dense, flag, os.path.join(folder, "t")).expect(0, flag, "no experts")
        check("no experts" not in locum(*dense).expect(0).err, "a trace nobody asked for")


def no_profile():
    """A second run reads what the first one used; with the flag neither learns nor tells."""
    with tempfile.TemporaryDirectory() as cache:
        kept = {"env": environment(XDG_CACHE_HOME=cache)}
        folder = os.path.join(cache, "locum")
        plain = stats(*BASE["run"], "--no-profile", **kept)
        check(not os.path.exists(folder), "--no-profile keeps something")
        first = stats(*BASE["run"], **kept)
        check(len(os.listdir(folder)) == 1, "nothing is kept")
        second = stats(*BASE["run"], **kept)
        without = stats(*BASE["run"], "--no-profile", **kept)
        warmed = [one["experts"]["warmed"] for one in (plain, first, second, without)]
        check(warmed[2] > 0 and warmed[0] == warmed[1] == warmed[3] == 0, f"warmed {warmed}")
        check(len({one["logits_hash"] for one in (plain, first, second, without)}) == 1,
              "the answer depends on earlier runs")
        (name,) = os.listdir(folder)
        with open(os.path.join(folder, name), "r+b") as file:
            file.seek(60)
            file.write(b"?")
        told = locum("run", *BASE["run"], **kept).expect(0, "earlier runs", "damaged").err
        check("damaged" not in locum("run", *BASE["run"], **kept).expect(0).err, told)
    with tempfile.NamedTemporaryFile() as file:
        kept["env"]["XDG_CACHE_HOME"] = file.name  # no folder can be made in it
        locum("run", *BASE["run"], **kept).expect(0, "not kept", file.name)


def verify():
    floor = str(inspect(MOE)["plan"]["floor"] + 4096)
    plain, compared = (stats(*BASE["run"], "--memory", floor, *flag) for flag in ([], ["--verify"]))
    counts = [one["experts"]["verified"] for one in (plain, compared)]
    check(counts[0] == 0 < counts[1], f"reads compared: {counts}")
    equal(compared["logits_hash"], plain["logits_hash"], "logits with --verify")


def looks_ahead(command):
    """With a tight budget experts are read ahead, and with the flag none."""
    tight = ["--memory", str(inspect(MOE)["plan"]["floor"] + (64 << 10))]
    def read(*arguments):
        if command == "run":
            return stats(*BASE["run"], *tight, *arguments)["experts"]["read_ahead"]["read"]
        return bench(*tight, *arguments)["reads"]["ahead"]
    check(read() > 0, "nothing was read ahead")
    equal(read("--no-lookahead"), 0, "experts read ahead in spite of the flag")


def table(command, flag, first):
    """A file of that form, with rows of numbers, and nothing beside it."""
    def effect():
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "table.csv")
            locum(command, *BASE[command], flag, path).expect(0)
            equal(os.listdir(folder), ["table.csv"], f"files beside {flag}")
            with open(path, encoding="utf-8") as file:
                lines = file.read().splitlines()
        equal(lines[0], first, "first line")
        header, *rows = [line.split(",") for line in lines if not line.startswith("#")]
        check(len(rows) > 3, f"{len(rows)} rows")
        check(all(len(row) == len(header) for row in rows), "rows are as wide as the header")
    return effect


def op_trace(command):
    """Rows of a phase add up to the time its steps took; parts of experts are inside theirs."""
    def effect():
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "ops.csv")
            locum(command, *BASE[command], "--op-trace", path).expect(0)
            equal(os.listdir(folder), ["ops.csv"], "files beside --op-trace")
            with open(path, encoding="utf-8") as file:
                lines = file.read().splitlines()
        equal(lines[0], "# op_trace v1", "first line of the trace")
        equal(lines[2], "phase,layer,operation,weight,calls,seconds", "header")
        rows = [line.split(",") for line in lines[3:]]
        for phase in ("prompt", "answer"):
            of_phase = [row for row in rows if row[0] == phase]
            seconds = {}
            for row in of_phase:
                seconds[row[2]] = seconds.get(row[2], 0) + float(row[5])
            parts = sum(t for name, t in seconds.items() if name.startswith("experts."))
            check(0 < parts <= seconds["experts"], f"{phase}: parts {parts} of experts")
            check({"embed", "norm", "matmul", "attention", "outside"} <= set(seconds),
                  f"{phase}: operations {sorted(seconds)}")
            equal(len({row[4] for row in of_phase if row[2] in ("norm", "matmul")}), 1,
                  f"{phase}: numbers of calls")
    return effect


def choice(measure, flag, value):
    """measure(arguments) is what was chosen: another one than without the flag, and the wanted."""
    def effect():
        usual, got = measure(), measure("--" + flag, value)
        check(got.startswith(value), f"--{flag} {value}: {flag} is {got}")
        if usual == got:
            print(f"SKIP effect of --{flag} {value}: it is what this machine uses anyway")
    return effect


def plan(command):
    def effect():
        locum(command, *BASE[command], "--plan").expect(0, "memory plan", "floor", "recommended")
        check("memory plan" not in locum(command, *BASE[command]).expect(0).err, "without --plan")
    return effect


def tensors():
    equal(len(inspect(MOE, "--tensors")["tensor_list"]), inspect(MOE)["tensors"], "tensor_list")
    listed = locum("inspect", MOE, "--tensors").expect(0).out
    check(b"blk.0.ffn_down_exps.weight" in listed, "no list of tensors")


def token_flags(flag, model_path, text, with_it, without):
    def effect():
        counts = [json.loads(locum("tokenize", model_path, "--json", *extra, text).expect(0).out)
                  ["count"] for extra in ([flag], [])]
        equal(counts, [with_it, without], f"tokens with and without {flag}")
    return effect


def only_ids():
    told = json.loads(locum("tokenize", *BASE["tokenize"], "--json").expect(0).out)["ids"]
    equal(locum("tokenize", *BASE["tokenize"], "--ids").expect(0).out.decode(),
          " ".join(map(str, told)) + "\n", "--ids")


def prints_json(command):
    def effect():
        check(isinstance(json.loads(locum(command, *BASE[command], "--json").expect(0).out), dict),
              "no JSON object")
    return effect


def no_color(command):
    def effect():
        wrong = [command, *BASE[command], "--no-such-flag"]
        check(b"\033[3" in on_terminal(*wrong)[1], "no colour on a terminal")
        check(b"\033[3" not in on_terminal(*wrong, "--no-color")[1], "colour in spite of --no-color")
        check(b"\033" not in locum(*wrong).expect(2).err.encode(), "colour in a file")
    return effect


def quiet(command):
    def effect():
        check(locum(command, *BASE[command]).expect(0).err != "", "nothing to be quiet about")
        equal(locum(command, *BASE[command], "--quiet").expect(0).err, "", "--quiet")
    return effect


def verbose():
    told = locum("run", *BASE["run"], "--verbose", "-c", "100").expect(0).err.splitlines()
    settings = {line.split()[0]: line.split()[-1] for line in told if line.startswith("  ")}
    equal((settings["ctx"], settings["temp"], settings["top-k"]), ("line", "line", "default"),
          "sources of ctx, temp and top-k")


def bench_depth():
    hashes = bench_number("runs", 0, "logits_hash")
    differs(hashes)(["--depth", "30"], [])
    deep = bench("--depth", "30")
    equal(deep["prompt"]["tokens"], bench()["prompt"]["tokens"], "measured tokens of the prompt")
    check(deep["prompt"]["misses"] < bench()["prompt"]["misses"], "--depth filled no slots")


def bench_warm_up():
    cold, warm = bench(), bench("--warm-up", "200")
    check(warm["prompt"]["misses"] < cold["prompt"]["misses"], "--warm-up filled no slots")
    equal([run["logits_hash"] for run in warm["runs"]],
          [run["logits_hash"] for run in cold["runs"]], "logits with --warm-up")


def bench_verbose():
    locum("bench", *BASE["bench"], "--verbose").expect(0, "kv-type", "default")


def report_out():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "page.html")
        locum("report", *BASE["report"], "-o", path).expect(0)
        equal(os.listdir(folder), ["page.html"], "files beside the page")
        with open(path, encoding="utf-8") as page:
            check(page.read().startswith("<!DOCTYPE html>"), "no page")


def shows_help(command):
    return lambda: check(f"Usage: locum {command}" in
                         locum(command, "--help").expect(0).out.decode(), "no usage")


EFFECTS = {
    ("run", "prompt"): prompts,
    ("run", "file"): prompts,
    ("run", "predict"): predict,
    ("run", "system"): system,
    ("run", "raw"): raw,
    ("run", "ignore-eos"): ignore_eos,
    ("run", "grammar"): structured("--grammar", 'root ::= [a-e]{3,9} " "', pattern="[a-e]{3,9} "),
    ("run", "json-schema"): structured("--json-schema", '{"enum": ["ab", "ba"]}', pattern='"(ab|ba)"'),
    ("run", "json-object"): structured("--json-object", pattern=r"\{.*"),
    ("run", "structure-after"): structured("--structure-after", "e", "--grammar", 'root ::= "ab"',
                                           pattern="[^e]*eab"),
    ("run", "temp"): narrowing("--temp", "0"),
    ("run", "top-k"): narrowing("--top-k", "1"),
    ("run", "top-p"): narrowing("--top-p", "0"),
    ("run", "min-p"): narrowing("--min-p", "1"),
    ("run", "typical-p"): changes("--typical-p", "0.2"),
    ("run", "top-n-sigma"): lambda: equal(open_ids("--top-n-sigma", "0.0001"), ids("--ignore-eos"),
                                         "--top-n-sigma 0.0001"),
    ("run", "xtc-probability"): changes("--xtc-probability", "1", "--xtc-threshold", "0.0001"),
    ("run", "xtc-threshold"): changes("--xtc-threshold", "0.0001", "--xtc-probability", "1"),
    ("run", "min-keep"): keeps_more,
    ("run", "dynatemp-range"): changes("--dynatemp-range", "3"),
    ("run", "dynatemp-exp"): changes("--dynatemp-exp", "50", "--dynatemp-range", "3"),
    ("run", "repeat-last-n"): penalty("--repeat-last-n", "-1", "--repeat-penalty", "2",
                                      off=["--repeat-last-n", "1", "--repeat-penalty", "2"]),
    ("run", "repeat-penalty"): penalty("--repeat-penalty", "2"),
    ("run", "frequency-penalty"): penalty("--frequency-penalty", "100"),
    ("run", "presence-penalty"): penalty("--presence-penalty", "100"),
    ("run", "dry-multiplier"): repetition(*DRY),
    ("run", "dry-base"): repetition(*DRY, off=["--dry-multiplier", "1000", "--dry-base", "1"]),
    ("run", "dry-allowed-length"): repetition(*DRY, off=[*DRY, "--dry-allowed-length", "60"]),
    ("run", "dry-penalty-last-n"): repetition(*DRY, off=[*DRY[:4], "--dry-penalty-last-n", "0"]),
    ("run", "dry-sequence-breaker"): breakers,
    ("run", "mirostat"): changes("--mirostat", "2"),
    ("run", "mirostat-ent"): changes("--mirostat-ent", "1", "--mirostat", "2"),
    ("run", "mirostat-lr"): changes("--mirostat-lr", "5", "--mirostat", "2"),
    ("run", "samplers"): stages,
    ("run", "logit-bias"): biased,
    ("run", "logprobs"): logprobs,
    ("run", "seed"): seed,
    ("run", "memory"): memory,
    ("run", "ctx"): lambda: differs(run_number("memory", "kv"))(["-c", "100"], ["-c", "1000"]),
    ("run", "threads"): lambda: differs(run_number("threads"))(["-t", "1"], ["-t", "3"]),
    ("run", "chunk"): chunk,
    ("run", "io"): choice(run_number("io"), "io", "buffered"),
    ("run", "kv-type"): lambda: differs(run_number("memory", "kv"))(["--kv-type", "f16"],
                                                                    ["--kv-type", "f32"]),
    ("run", "cpu"): choice(run_number("cpu"), "cpu", "ref"),
    ("run", "plan"): plan("run"),
    ("run", "stats"): lambda: stats(*BASE["run"]),
    ("run", "trace"): trace,
    ("run", "op-trace"): op_trace("run"),
    ("bench", "op-trace"): op_trace("bench"),
    ("run", "metrics"): table("run", "--metrics", "# locum_metrics v1"),
    ("bench", "metrics"): table("bench", "--metrics", "# locum_metrics v1"),
    ("run", "io-trace"): table("run", "--io-trace", "# io_trace v1"),
    ("bench", "io-trace"): table("bench", "--io-trace", "# io_trace v1"),
    ("run", "verify"): verify,
    ("run", "no-profile"): no_profile,
    ("run", "no-lookahead"): lambda: looks_ahead("run"),
    ("bench", "no-lookahead"): lambda: looks_ahead("bench"),
    ("run", "quiet"): quiet("run"),
    ("run", "verbose"): verbose,
    ("inspect", "memory"): lambda: differs(plan_number("budget"))(["--memory", "100M"], []),
    ("inspect", "ctx"): lambda: differs(plan_number("kv"))(["-c", "100"], ["-c", "1000"]),
    ("inspect", "threads"): lambda: differs(plan_number("threads"))(["-t", "1"], ["-t", "3"]),
    ("inspect", "chunk"): lambda: differs(plan_number("scratch"))(["--chunk", "1"],
                                                                  ["--chunk", "512"]),
    ("inspect", "kv-type"): lambda: differs(plan_number("kv"))(["--kv-type", "f32"], []),
    ("inspect", "tensors"): tensors,
    ("tokenize", "ids"): only_ids,
    ("tokenize", "special"): token_flags("--special", MOE, "<|im_end|>", 1, 9),
    ("tokenize", "no-bos"): token_flags("--no-bos", SPM, "", 0, 1),
    ("bench", "predict"): lambda: differs(bench_number("answer", "tokens"))(["-n", "0"],
                                                                            ["-n", "3"]),
    ("bench", "seed"): lambda: differs(bench_number("runs", 0, "logits_hash"))(["--seed", "2"], []),
    ("bench", "memory"): lambda: differs(bench_number("memory", "budget"))(["--memory", "100M"], []),
    ("bench", "ctx"): lambda: differs(bench_number("memory", "slots"))(
        ["-c", "64", "--memory", "11M"], ["-c", "4096", "--memory", "11M"]),
    ("bench", "threads"): lambda: differs(bench_number("threads"))(["-t", "1"], ["-t", "3"]),
    ("bench", "chunk"): lambda: differs(bench_number("chunk"))(["--chunk", "1"], ["--chunk", "9"]),
    ("bench", "io"): choice(bench_number("io"), "io", "buffered"),
    ("bench", "kv-type"): lambda: differs(bench_number("runs", 0, "logits_hash"))(
        ["--kv-type", "f32"], []),
    ("bench", "cpu"): choice(bench_number("cpu"), "cpu", "ref"),
    ("bench", "prompt-tokens"): lambda: differs(bench_number("prompt", "tokens"))(
        ["--prompt-tokens", "3"], ["--prompt-tokens", "30"]),
    ("bench", "depth"): bench_depth,
    ("bench", "warm-up"): bench_warm_up,
    ("bench", "repeat"): lambda: differs(bench_number("repetitions"))(["-r", "1"], ["-r", "3"]),
    ("bench", "plan"): plan("bench"),
    ("bench", "quiet"): quiet("bench"),
    ("bench", "verbose"): bench_verbose,
    ("report", "out"): report_out,
}
for _command in BASE:
    EFFECTS[_command, "no-color"] = no_color(_command)
    EFFECTS[_command, "help"] = shows_help(_command)
    if _command not in ("run", "report"):
        EFFECTS[_command, "json"] = prints_json(_command)


def test_every_flag_has_an_effect():
    pairs = {(command, flag["name"]) for flag in TABLE["flags"] for command in flag["commands"]}
    equal(sorted(pairs - set(EFFECTS)), [], "flags without an observed effect")
    equal(sorted(set(EFFECTS) - pairs), [], "effects of flags that do not exist")
    for effect in dict.fromkeys(EFFECTS[pair] for pair in sorted(pairs)):
        effect()


# --- Wrong usage ---------------------------------------------------------------------------------

def each_flag(*kinds):
    for flag in TABLE["flags"]:
        for command in flag["commands"]:
            if flag["kind"] in kinds:
                yield command, "--" + flag["name"], flag


def test_a_missing_value_names_the_flag():
    for command, name, _ in each_flag("integer", "real", "size", "choice", "text", "input",
                                      "output"):
        locum(command, name).expect(2, f"{name} needs a value")


def test_a_switch_takes_no_value():
    for command, name, _ in each_flag("switch"):
        locum(command, *BASE[command], name + "=yes").expect(2, f"{name} takes no value", "yes")


def test_numbers_are_read_strictly():
    wrong = ["abc", "", " 1", "1 ", "0x10", "1,5", "--", "nan", "inf", "1e", "1.2.3"]
    for command, name, flag in each_flag("integer", "real", "size"):
        for value in wrong + ([] if flag["kind"] == "real" else ["1e3", "+1"]):
            locum(command, f"{name}={value}").expect(2, f"{name} '{value}'")


def test_ranges_hold_and_are_told():
    for command, name, flag in each_flag("integer", "real"):
        least, most = flag["least"], flag["most"]
        below, above = str(int(float(least)) - 1), str(int(float(most)) + 1)
        for wrong in (below, "many", *(["-3"] if float(least) > -3 else [])):
            locum(command, f"{name}={wrong}").expect(2, name, wrong, f"{least} to {most}")
        if most == str(2 ** 64 - 1):
            above = str(2 ** 64)
        locum(command, f"{name}={above}").expect(2, name, least, most)
        locum(command, f"{name}={least}", "--help").expect(0)
        locum(command, f"{name}={most}", "--help").expect(0)


def test_choices_hold_and_are_told():
    for command, name, flag in each_flag("choice"):
        locum(command, name, "no-such").expect(2, name, "no-such", *flag["choices"])


def test_paths_are_paths():
    for command, name, flag in each_flag("input", "output"):
        locum(command, *BASE[command], name, "").expect(2, f"{name} ''", "empty")
        if flag["kind"] == "output":
            with tempfile.TemporaryDirectory() as folder:
                locum(command, *BASE[command], name, "-", cwd=folder).expect(2, f"{name} -", "./-")
                equal(os.listdir(folder), [], f"files after {name} -")
                locum(command, *BASE[command], name, "./-", cwd=folder).expect(0)
                equal(os.listdir(folder), ["-"], f"files after {name} ./-")


def test_sizes():
    def budget(text):
        return inspect(MOE, "--memory", text)["plan"]["budget"]
    for text, wanted in (("1G", 1 << 30), ("1GiB", 1 << 30), ("1gb", 10 ** 9), ("1.5g", 3 << 29),
                         ("20M", 20 << 20), ("20480K", 20 << 20), ("20971521", (20 << 20) + 1),
                         ("20971521B", (20 << 20) + 1), ("ALL", budget("all"))):
        equal(budget(text), wanted, text)
    for text in ("0", "0G", "-1", "1X", "G", "99999999T", "99999999999999999999"):
        locum("run", MOE, "-p", "x", f"--memory={text}").expect(2, "--memory", text)


def test_ways_to_write_a_flag():
    words = ["The birds", "12"]
    plain = stats(MOE, "-p", words[0], "-n", words[1], "--temp", "0")
    for arguments in (["--prompt", words[0], "--predict", words[1], "--temp=0", MOE],
                      ["--temp=0", "-n12", MOE, "-pThe birds"],
                      ["-n", "12", "--prompt=The birds", "--temp", "0", "--", MOE]):
        equal(stats(*arguments)["logits_hash"], plain["logits_hash"], str(arguments))


def test_flags_that_are_wrong():
    for arguments, words in (
            (["run", MOE, "--tmep", "1"], ["unknown flag --tmep", "--temp?"]),
            (["run", MOE, "--threds=2"], ["--threads?"]),
            (["run", MOE, "--qqqqqqq"], ["unknown flag --qqqqqqq"]),
            (["run", MOE, "-Z"], ["unknown flag -Z"]),
            (["run", MOE, "--" + "x" * 1000], ["unknown flag"]),
            (["inspect", MOE, "--temp", "1"], ["--temp is no flag", "`locum run` has it"]),
            (["inspect", MOE, "-p", "a"], ["-p is no flag", "`locum run` has it"]),
            (["inspect", MOE, "--v"], ["--v is no flag", "`locum run` has -v"]),
            (["run", MOE, "--n", "3"], ["unknown flag --n; did you mean -n?"]),
            (["run", MOE, "--h"], ["unknown flag --h; did you mean -h?"]),
            (["run", MOE, "--z"], ["unknown flag --z"]),
            (["run", MOE, "-temp", "0"], ["unknown flag -temp; did you mean --temp?"]),
            (["run", MOE, "-prompt", "a"], ["did you mean --prompt?"]),
            (["run", MOE, "-temperature", "0"], ["did you mean --temp?"]),
            (["run", MOE, "--temperature", "0"], ["did you mean --temp?"]),
            (["run", MOE, "--ctx-size", "64"], ["did you mean --ctx?"]),
            (["run", MOE, "--max-tokens", "5"], ["did you mean --predict?"]),
            (["run", MOE, "--n-predict=5"], ["did you mean --predict?"]),
            (["bench", MOE, "--threads-batch", "2"], ["did you mean --threads?"]),
            (["inspect", MOE, "--n-predict", "5"], ["unknown flag --n-predict"]),
            (["run", "-m", MOE], ["unknown flag -m", "locum run MODEL"]),
            (["inspect", "--model", MOE], ["unknown flag --model", "locum inspect MODEL"]),
            (["run", MOE, "-n", "1", "-n", "2"], ["-n", "twice"]),
            (["run", MOE, "-p", "a", "-n", "-3"], ["-n '-3'", "0 to 4294967294"]),
            (["run", MOE, "-p", "a", "-f", "b"], ["--prompt and --file exclude"]),
            (["run", MOE, "-p", "a", "-"], ["-p"]),
            (["run", MOE, "text"], ["-p"]),
            (["run"], ["MODEL is missing"]),
            (["run", "", "-p", "a"], ["MODEL is an empty text", "Try: locum help run"]),
            (["bench", ""], ["MODEL is an empty text"]),
            (["inspect", MOE, MOE], ["too many"]),
            (["inspect", MOE, "--", "--json"], ["too many"]),
            (["insepct", MOE], ["locum inspect"]),
            ([MOE], ["locum run"]),
            (["nonsense"], ["no command 'nonsense'"]),
            (["help", "rum"], ["run", "Try: locum help"]),
            (["help", "nothing"], ["no command 'nothing'", "Try: locum help"]),
            ([], ["Usage"])):
        equal(locum(*arguments).expect(2, *words).out, b"", "standard output")


def test_help():
    overview = locum("help").expect(0).out.decode()
    for one in TABLE["commands"]:
        check(one["name"] in overview, f"{one['name']} is not in the overview")
        text = locum("help", one["name"]).expect(0).out.decode()
        for flag in TABLE["flags"]:
            told = re.search(rf"^  .*--{flag['name']}( |$)", text.split("Examples")[0], re.M)
            equal(bool(told), one["name"] in flag["commands"], f"{flag['name']} in help {one['name']}")
        check(all(example in text for example in one["examples"]), "examples")
        check(max(map(len, text.splitlines())) <= 100, f"help {one['name']} is too wide")
    for asking in (["--help"], ["-h"]):
        equal(locum(*asking).expect(0).out.decode(), overview, str(asking))
    equal(locum("--version").out, locum("version").expect(0).out, "--version")


def test_the_page_of_commands_is_up_to_date():
    made = subprocess.run([sys.executable, "-B", os.path.join(ROOT, "apps/cli/cli_docs.py"), LOCUM],
                          check=True, stdout=subprocess.PIPE).stdout.decode()
    with open(os.path.join(ROOT, "docs/commands.md"), encoding="utf-8") as page:
        check(page.read() == made, "run apps/cli/cli_docs.py LOCUM > docs/commands.md")


if __name__ == "__main__":
    main(globals())
