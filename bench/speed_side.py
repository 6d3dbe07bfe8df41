# SPDX-License-Identifier: Apache-2.0
"""One timed process of bench/speed.py: Locum or a peer, under equal conditions.

A process gets a session of its own at the highest priority that is permitted, the first processors
of the list and no others, and, where asked for, a memory limit, a readahead and a cold page cache.
"""
import contextlib
import hashlib
import json
import os
import signal
import statistics
import subprocess
import sys
from dataclasses import dataclass, field

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests", "fixtures"))
from peak_memory import Group, NoGroup  # noqa: E402 - from the folder named just above

PEER_DIR = os.environ.get("LOCUM_PEER_DIR", os.path.expanduser("~/.cache/locum-peer"))
MIB = 1 << 20
STOPPING = (signal.SIGINT, signal.SIGTERM)


class Absent(Exception):
    """Says what cannot be had on this machine."""


# ---- what is timed -----------------------------------------------------------------------------

@dataclass(frozen=True)
class Cell:
    """One figure. depth: tokens that lie in the context already; answer: steps after the prompt."""
    name: str
    prompt: int
    depth: int
    answer: int
    repeat: int                    # in one process; its figure is their median

    def rates(self, runs):
        """Tokens per second of each repetition."""
        if self.answer:
            return [self.answer / run["decode_s"] for run in runs]
        return [self.prompt / run["prefill_s"] for run in runs]

    def bytes_read(self, runs):
        """From storage, for one token."""
        phase, tokens = ("decode", self.answer) if self.answer else ("prefill", self.prompt)
        return statistics.median(run["bytes_read_" + phase] for run in runs) / tokens


def cell(name, answer, repeat=None):
    """p512: a prompt of 512 tokens. d2048: `answer` tokens one by one behind 2048 others."""
    kind, count = name[:1], name[1:]
    if kind not in ("p", "d") or not count.isdigit() or (kind == "p" and not int(count)):
        raise ValueError("a cell is p and a length or d and a depth, not '%s'" % name)
    count = int(count)
    if kind == "d":
        return Cell(name, 1, count, answer, repeat or 2)
    return Cell(name, count, 0, 0, repeat or max(1, min(5, 1024 // count)))


@dataclass(frozen=True)
class Conditions:
    threads: int
    cpus: tuple
    warm_up: int = 256             # tokens before the first repetition; reaches every expert
    limit: int = 0                 # MiB of memory; 0: all there is, and a warm page cache
    readahead: int = 0             # KiB; 0: as the system has it

    def processors(self):
        return self.cpus[:self.threads] if self.threads < len(self.cpus) else self.cpus


# ---- the sides ---------------------------------------------------------------------------------

@dataclass
class Side:
    name: str
    program: str
    version: str
    arguments: list = field(default_factory=list)

    def command(self, model, one, conditions):
        raise NotImplementedError


def measures(one, conditions):
    """The flags that locum bench and peer_speed share. An answer's first token is the prompt's."""
    return ["--threads", conditions.threads, "--prompt-tokens", one.prompt, "--predict",
            one.answer + 1, "--depth", one.depth, "--repeat", one.repeat, "--warm-up",
            conditions.warm_up]


class Locum(Side):
    def command(self, model, one, conditions):
        context = max(one.depth + one.prompt + one.answer + 1, conditions.warm_up)
        return [self.program, "bench", model, "--json", "--quiet", "--ctx", context, "--memory",
                "auto" if conditions.limit else "all", *measures(one, conditions), *self.arguments]


class Peer(Side):
    def command(self, model, one, conditions):
        return [self.program, model, *measures(one, conditions), *self.arguments]


def locum(program, version, arguments):
    with open(program, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()[:12]
    return Locum("locum", program, "%s (%s)" % (version, digest), arguments)


# name: folder below PEER_DIR, options. Repacking copies the weights into an order of the peer's own
# while it loads, which takes long and rules mmap out.
REPACK = ["--read", "--repack"]
WIDE = ["--micro-batch", "2048"]   # more columns at a time in long prompts
BACKEND = ["--backend", os.path.join(PEER_DIR, "libs")]
AVX2 = ["--backend", os.path.join(PEER_DIR, "libs", "libggml-cpu-haswell.so")]
PEERS = {
    "upstream": ("", BACKEND),
    "upstream-noflash": ("", BACKEND + ["--no-flash"]),
    "upstream-repack": ("", BACKEND + REPACK),
    "upstream-wide": ("", BACKEND + WIDE),
    "upstream-avx2": ("", AVX2),
    "ik": ("ik", []),
    "ik-nofuse": ("ik", ["--no-fuse"]),
    "ik-repack": ("ik", REPACK),
    "ik-repack-wide": ("ik", REPACK + WIDE),
    "ik-wheel": ("ik-wheel", []),
    "ik-wheel-repack": ("ik-wheel", REPACK),
    "ik-wheel-repack-wide": ("ik-wheel", REPACK + WIDE),
}


def peer(name):
    folder, arguments = PEERS[name]
    folder = os.path.join(PEER_DIR, folder)
    program = os.path.join(folder, "peer_speed")
    if not os.access(program, os.X_OK):
        raise Absent("%s is not set up: %s is missing (tools/peer/README.md)" % (name, program))
    with open(os.path.join(folder, "speed-version"), encoding="utf-8") as file:
        return Peer(name, program, file.read().strip(), arguments)


# ---- the conditions ----------------------------------------------------------------------------

def write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(str(text))


def memory_group(limit):
    """A control group with a limit in MiB."""
    try:
        return Group(limit * MIB)
    except NoGroup as problem:
        raise Absent("%s (root can)" % problem) from problem


def readahead_file(path):
    """What holds the readahead, in KiB, of the drive under `path`."""
    device = os.stat(path).st_dev
    base = os.path.realpath("/sys/dev/block/%d:%d" % (os.major(device), os.minor(device)))
    for folder in (base, os.path.dirname(base)):     # a partition's drive is one level up
        file = os.path.join(folder, "queue", "read_ahead_kb")
        if os.path.exists(file):
            return file
    raise Absent("the drive of %s has no readahead to set" % path)


@contextlib.contextmanager
def readahead(path, kib):
    """Sets the drive's readahead and puts the old one back, whatever happens."""
    file = readahead_file(path)
    with open(file, encoding="ascii") as source:
        before = source.read().strip()
    try:
        write(file, kib)
    except OSError as problem:
        raise Absent("readahead cannot be set here (root can): %s" % problem) from problem
    try:
        yield
    finally:
        write(file, before)


def fill_page_cache(path):
    with open(path, "rb", buffering=0) as file:
        part = bytearray(4 * MIB)
        while file.readinto(part):
            pass


def drop_page_cache(path):
    file = os.open(path, os.O_RDONLY)
    try:
        os.fdatasync(file)         # a page that is not written yet cannot be dropped
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(file)


def favour(processors, group):
    """Between fork and exec: first in the queue, on these processors, in that control group."""
    with contextlib.suppress(OSError):
        write("/proc/self/autogroup", -20)
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, -20)
    os.sched_setaffinity(0, processors)
    if group:
        group.enter()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPPING)


# ---- one run -----------------------------------------------------------------------------------

def spawn(command, conditions, group):
    """Standard output of the command, which is one JSON object."""
    processors = conditions.processors()
    environment = {**os.environ, "GOMP_CPU_AFFINITY": " ".join(map(str, processors))}
    # Held back until there is a child to end, or the exception would leave it behind.
    signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
    try:
        with subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, env=environment, start_new_session=True,
                              preexec_fn=lambda: favour(processors, group)) as child:
            try:
                signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPPING)
                out, errors = child.communicate()
            except BaseException:
                child.kill()
                raise
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPPING)
    if child.returncode:
        raise RuntimeError("%s ended with %d: %s" % (" ".join(map(str, command)), child.returncode,
                                                     errors.decode("utf-8", "replace")[-600:]))
    return json.loads(out)


def run(side, model, one, conditions):
    """Runs one side on one cell. Returns what a record keeps of it."""
    command = side.command(model, one, conditions)
    with contextlib.ExitStack() as stack:
        group = None
        if conditions.readahead:
            stack.enter_context(readahead(model, conditions.readahead))
        if conditions.limit:
            group = stack.enter_context(memory_group(conditions.limit))
            drop_page_cache(model)
        got = spawn(command, conditions, group)
    rates = one.rates(got["runs"])
    return {"version": side.version, "rate": statistics.median(rates), "rates": rates,
            "load_s": got["load_s"], "peak_rss": got["memory"]["peak_rss"],
            "bytes_read": one.bytes_read(got["runs"]),
            "first_token_s": got["load_s"] + got["runs"][0]["prefill_s"],
            **({"cpu": got["cpu"]} if "cpu" in got else {})}
