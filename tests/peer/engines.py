# SPDX-License-Identifier: Apache-2.0
"""The three engines of a comparison as functions: Locum, llama.cpp, and the float reference.

Each runs as a process of its own, so that none can disturb another's memory or arithmetic.
"""
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
TOOLS = os.path.join(ROOT, "tools")
sys.path[:0] = [os.path.join(TOOLS, "gguf"), os.path.join(TOOLS, "peer"),
                os.path.join(ROOT, "tests", "fixtures")]

import peak_memory

PYTHON = "/usr/bin/python3"


class EngineError(Exception):
    """A program failed or said something that cannot be understood."""


class Missing(Exception):
    """Something is not to be had on this machine: the tests that need it are skipped."""


def run(command, text=None):
    """Standard output of a command as text."""
    done = subprocess.run(command, input=text, capture_output=True)
    if done.returncode == 77:
        raise Missing(done.stderr.decode(errors="replace").strip())
    if done.returncode:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise EngineError("%s: exit code %d: %s" % (" ".join(command[:2]), done.returncode,
                                                    " ".join(last)))
    return done.stdout.decode(errors="replace")


def write_ids(path, ids):
    with open(path, "w") as out:
        out.write(" ".join(map(str, ids)) + "\n")


class Peer:
    """llama.cpp. `best`: the CPU library it picks here; `other`: a tier that computes otherwise."""

    def __init__(self):
        self.dir = run(["bash", os.path.join(TOOLS, "peer", "setup.sh")]).split()[-1]
        self.program = os.path.join(self.dir, "peer_logits")
        self.libs = os.path.join(self.dir, "libs")
        self.best = run([self.program, "tier", self.libs]).strip()
        haswell = "libggml-cpu-haswell.so"
        self.other = "libggml-cpu-x64.so" if self.best == haswell else haswell

    def command(self, mode, arguments, tier=None, f32=False):
        backend = os.path.join(self.libs, tier or self.best)
        return ([self.program, mode, *arguments, "--backend", backend]
                + (["--f32-kv"] if f32 else []))

    def logits(self, model, ids_path, out, tier=None, f32=False):
        run(self.command("logits", [model, ids_path, out], tier, f32))

    def greedy(self, model, ids_path, count):
        # One thread: its threads spin while they wait for each other, which starves a busy machine.
        command = self.command("greedy", [model, ids_path, str(count)]) + ["--threads", "1"]
        return [int(word) for word in run(command).split()]

    def tokenize(self, model, texts, work, special=False):
        path = os.path.join(work, "texts")
        with open(path, "wb") as out:
            out.write(b"".join(t.encode("utf-8") + b"\0" for t in texts))
        command = self.command("tokenize", [model, path]) + (["--special"] if special else [])
        return [[int(w) for w in line.split()] for line in run(command).splitlines()]


class Locum:
    def __init__(self):
        build = os.environ.get("LOCUM_BUILD", os.path.join(ROOT, "build", "release"))
        self.logits_program = self.find(build, "locum_logits")
        self.program = self.find(build, "locum")

    @staticmethod
    def find(build, name):
        for folder, _, files in os.walk(build):
            path = os.path.join(folder, name)
            if name in files and os.access(path, os.X_OK):
                return path
        raise EngineError("%s is not below %s; build the release preset first" % (name, build))

    def logits(self, model, ids_path, out, *options, f32=False):
        """Returns the program's report: positions, logits_hash, peak_rss, ..."""
        kv = ["--kv-type", "f32"] if f32 else []
        return json.loads(run([self.logits_program, model, ids_path, out, *kv, *options]))

    def tokenize(self, model, text, special=False):
        command = [self.program, "tokenize", model, "-", "--ids"]
        command += ["--special"] if special else []
        return [int(word) for word in run(command, text.encode("utf-8")).split()]

    def answer(self, model, prompt, count, options, group=None):
        """The statistics of `locum run` over a file with a prompt, with its peak memory in bytes
        as the kernel counted it."""
        with tempfile.NamedTemporaryFile(suffix=".json") as stats:
            command = [self.program, "run", model, "-f", prompt, "-n", str(count), "--ignore-eos",
                       "--seed", "1", "--stats", stats.name, *options]
            done, peak = peak_memory.run(command, group, stdin=subprocess.DEVNULL,
                                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            if done.returncode:
                raise EngineError("locum run: exit code %d: %s"
                                  % (done.returncode, done.stderr.decode(errors="replace")[-300:]))
            with open(stats.name, encoding="utf-8") as file:  # it has been replaced
                return json.load(file), peak


class Reference:
    program = os.path.join(TOOLS, "gguf", "float_reference.py")

    def logits(self, model, ids_path, out, margins):
        run([PYTHON, self.program, model, ids_path, out, "--margins", margins])
