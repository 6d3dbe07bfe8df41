#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Measures Locum against other engines: the same file, the same tokens, turn by turn.

    bench/speed.py run --locum build/release/apps/cli/locum --peers upstream,ik-repack
    bench/speed.py run --limit 1536 --readahead 128 --cells d0,p512 ...   larger than memory
    bench/speed.py table [--write docs/performance.md]                    what was measured

Each round runs Locum and then every peer, a process each. A round is appended to the file of
results as one line; a round that is there already, for these very programs, is not run again.
Models are those of tools/gguf/gguf_speed.py, peers those of tools/peer. docs/performance.md says
more.
"""
import argparse
import contextlib
import datetime
import json
import os
import platform
import signal
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
sys.path.insert(0, os.path.join(ROOT, "tools", "gguf"))
import gguf_speed  # noqa: E402 - from the folder named just above
import speed_side  # noqa: E402
import speed_table  # noqa: E402

FOLDER = os.environ.get("LOCUM_SPEED_DIR", os.path.expanduser("~/.cache/locum-speed"))
IDENTITY = ("model", "bytes", "cell", "answer", "threads", "limit", "readahead", "round")


# ---- records -----------------------------------------------------------------------------------

def read_records(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def append_record(path, record):
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")
        file.flush()
        os.fsync(file.fileno())


def identity(record):
    return tuple(record[key] for key in IDENTITY)


def missing(records, wanted, ours, peers):
    """The peers that no record of this round holds beside this very build of ours."""
    there = set()
    for record in records:
        sides = record["sides"]
        if identity(record) == identity(wanted) and sides["locum"]["version"] == ours.version:
            there.update((name, side["version"]) for name, side in sides.items())
    return [one for one in peers if (one.name, one.version) not in there]


def machine():
    cpu = platform.processor()
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        lines = dict(line.split(":", 1) for line in file if ":" in line)
        names = {key.strip(): value.strip() for key, value in lines.items()}
    cpu = names.get("model name", cpu)
    if "cpu family" in names:
        cpu += " (family %s, model %s)" % (names["cpu family"], names.get("model"))
    return {"cpu": cpu, "processors": os.cpu_count(), "kernel": platform.release().split("-")[0]}


# ---- measuring ---------------------------------------------------------------------------------

@contextlib.contextmanager
def hooks(a):
    """--pause before a timed process and --resume after it, even where --pause did not end."""
    try:
        if a.pause:
            subprocess.run(a.pause, shell=True, check=True)
        yield
    finally:
        if a.resume:
            subprocess.run(a.resume, shell=True, check=True)


def run_round(a, record, model, one, conditions, sides):
    for side in sides:
        with hooks(a):
            record["sides"][side.name] = speed_side.run(side, model, one, conditions)
    rates = {name: side["rate"] for name, side in record["sides"].items()}
    print("%-8s %-6s threads %d, round %d:  %s" % (
        record["model"], one.name, conditions.threads, record["round"],
        "  ".join("%s %.1f" % item for item in rates.items())), flush=True)


def new_record(name, model, one, conditions, number):
    now = datetime.datetime.now(datetime.timezone.utc)
    return {"date": now.strftime("%Y-%m-%dT%H:%M:%SZ"), "machine": machine(), "model": name,
            "file": os.path.basename(model), "bytes": os.path.getsize(model), "cell": one.name,
            "answer": one.answer, "threads": conditions.threads, "limit": conditions.limit,
            "readahead": conditions.readahead, "round": number, "sides": {}}


def model_file(folder, name, tiny):
    path = gguf_speed.path_of(folder, name)
    if not os.path.exists(path):
        print("making %s" % path, flush=True)
        os.makedirs(folder, exist_ok=True)
        gguf_speed.make(path, name, gguf_speed.TINY if tiny else gguf_speed.A3B)
    return path


def measure(a, ours, peers):
    """Every cell of every model: all first rounds, then all second ones."""
    for name in a.models:
        model = model_file(a.folder, name, a.tiny)
        if not a.limit:
            speed_side.fill_page_cache(model)
        for number in range(1, a.rounds + 1):
            for threads in a.threads:
                conditions = speed_side.Conditions(threads, a.cpus, 0 if a.limit else a.warm_up,
                                                   a.limit, a.readahead)
                for one in a.cells:
                    record = new_record(name, model, one, conditions, number)
                    left = missing(read_records(a.results), record, ours, peers)
                    if left:
                        run_round(a, record, model, one, conditions, [ours, *left])
                        append_record(a.results, record)


def build_name():
    got = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"], text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return got.stdout.strip() or "unknown"


def found_peers(names):
    peers = []
    for name in names:
        try:
            peers.append(speed_side.peer(name))
        except speed_side.Absent as reason:
            print("SKIP: %s" % reason)
    return peers


def stopped(*_):
    """An exception, so that the process that is timed ends and everything is put back."""
    print("stopped; the same call goes on from here")
    sys.exit(143)


def run(a):
    signal.signal(signal.SIGTERM, stopped)
    peers = found_peers(a.peers)
    if not peers:
        sys.exit(77)
    try:
        measure(a, speed_side.locum(a.locum, a.build or build_name(), a.locum_flags), peers)
    except speed_side.Absent as reason:
        print("SKIP: %s" % reason)
        sys.exit(77)


def table(a):
    records = read_records(a.results)
    if not records:
        sys.exit("%s: nothing has been measured" % a.results)
    precision = read_records(a.precision)
    text = speed_table.tables(records)
    if precision:
        text += "\n\n" + speed_table.precision(precision)
    if a.write:
        speed_table.replace(a.write, text)
    else:
        print(text)


# ---- command line ------------------------------------------------------------------------------

def names(allowed):
    def parse(text):
        chosen = text.split(",")
        for one in chosen:
            if one not in allowed:
                raise argparse.ArgumentTypeError("'%s' is none of %s" % (one, ", ".join(allowed)))
        return chosen
    return parse


def numbers(text):
    return tuple(int(word) for word in text.split(","))


def parse_arguments(argv):
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = p.add_subparsers(dest="command", required=True)
    r, t = commands.add_parser("run"), commands.add_parser("table")
    for one in (r, t):
        one.add_argument("--results", metavar="FILE", default=os.path.join(FOLDER, "results.jsonl"))
    t.add_argument("--write", metavar="FILE", help="replace the generated part of FILE")
    t.add_argument("--precision", metavar="FILE", help="what bench/precision.py found",
                   default=os.path.join(FOLDER, "precision.jsonl"))
    r.add_argument("--locum", required=True, metavar="PROGRAM")
    r.add_argument("--build", metavar="TEXT", help="what was built (default: git describe)")
    r.add_argument("--locum-flags", metavar="TEXT", type=str.split, default=[],
                   help="more flags of `locum bench`, as '--cpu avx2'")
    r.add_argument("--peers", type=names(list(speed_side.PEERS)), default=["upstream"])
    r.add_argument("--models", type=names(list(gguf_speed.MODELS)), default=["q4_k"])
    r.add_argument("--cells", default="p64,p512,d0", metavar="LIST",
                   help="p512: a prompt of 512 tokens; d2048: an answer behind 2048 (default: "
                        "%(default)s)")
    r.add_argument("--answer", type=int, default=64, help="tokens of an answer that are timed")
    r.add_argument("--repeat", type=int, help="in one process (default: 1 to 5, by length)")
    r.add_argument("--threads", type=numbers, default=(2,), metavar="LIST")
    r.add_argument("--cpus", type=numbers, default=tuple(sorted(os.sched_getaffinity(0))),
                   metavar="LIST", help="processors to use; T threads get the first T of them")
    r.add_argument("--rounds", type=int, default=3)
    r.add_argument("--warm-up", type=int, default=256, help="tokens (default: %(default)s)")
    r.add_argument("--limit", type=int, default=0, metavar="MIB",
                   help="memory limit; the model is then read from a cold drive")
    r.add_argument("--readahead", type=int, default=0, metavar="KIB", help="of the drive")
    r.add_argument("--folder", default=FOLDER, help="where the models are (default: %(default)s)")
    r.add_argument("--tiny", action="store_true", help="make small models: to test this script")
    r.add_argument("--pause", metavar="COMMAND", help="run before each timed process")
    r.add_argument("--resume", metavar="COMMAND", help="run after it, whatever happened")
    a = p.parse_args(argv)
    if a.command == "run":
        try:
            a.cells = [speed_side.cell(name, a.answer, 1 if a.limit else a.repeat)
                       for name in a.cells.split(",")]
        except ValueError as problem:
            p.error(str(problem))
    return a


def main(argv):
    a = parse_arguments(argv)
    {"run": run, "table": table}[a.command](a)


if __name__ == "__main__":
    main(sys.argv[1:])
