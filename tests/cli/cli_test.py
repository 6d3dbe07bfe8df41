# SPDX-License-Identifier: Apache-2.0
"""What the tests of the command share: running it, making models, reporting.

A test script is called with the path of the command and a folder for generated models; each of its
functions named test_... is one test. The scripts need NumPy (for the models) and end with 77 without.
"""
import fcntl
import itertools
import json
import os
import pty
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TOOLS = os.path.join(ROOT, "tools", "gguf")
sys.path.insert(0, TOOLS)
try:
    import gguf_bad
    import gguf_make
    import gguf_vocab
except ImportError as problem:
    print(f"SKIP all: {problem} (Debian: python3-numpy)")
    sys.exit(77)

LOCUM, MODELS = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
TIMEOUT = 300  # seconds: a hang, not a slow machine
PROSE = gguf_vocab.SAMPLE.strip()


class Failure(Exception):
    pass


class Skip(Exception):
    """Says why a test cannot run here."""


def check(condition, text):
    if not condition:
        raise Failure(text)


def equal(got, wanted, what):
    check(got == wanted, f"{what}: got {got!r:.400}, wanted {wanted!r:.400}")


# --- Running the command ------------------------------------------------------------------------

class Result:
    """Exit status, bytes of standard output, text of standard error."""

    def __init__(self, arguments, code, out, err):
        self.arguments, self.code, self.out = arguments, code, out
        self.err = err.decode("utf-8", "replace")

    def expect(self, code, *words):
        line = " ".join(str(argument) for argument in self.arguments)
        check(self.code == code, f"locum {line:.300}\n  exit status {self.code}, wanted {code}\n"
                                 f"  {self.err:.600}")
        for word in words:
            check(word.lower() in self.err.lower(),
                  f"locum {line:.300}\n  '{word}' is not in:\n  {self.err:.600}")
        return self


def _text(argument):
    return argument if isinstance(argument, (str, bytes)) else str(argument)


# What one run learns must not change the next: each has a folder of its own for that.
CACHES = tempfile.TemporaryDirectory()
_caches = itertools.count()


def environment(**others):
    return {**os.environ, "XDG_CACHE_HOME": os.path.join(CACHES.name, str(next(_caches))), **others}


def start(*arguments, **options):
    options.setdefault("env", environment())
    options.setdefault("stdin", subprocess.DEVNULL)
    options.setdefault("stdout", subprocess.PIPE)
    options.setdefault("stderr", subprocess.PIPE)
    return subprocess.Popen([LOCUM, *map(os.fsencode, map(_text, arguments))], **options)


def locum(*arguments, given=None, meanwhile=None, **options):
    """Runs to the end. given: bytes for standard input, else it is /dev/null.

    meanwhile: called with the running child.
    """
    with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as out, \
            tempfile.TemporaryFile() as err:
        source.write(given or b"")
        source.seek(0)
        options.setdefault("stdout", out)
        child = start(*arguments, stdin=source if given is not None else subprocess.DEVNULL,
                      stderr=err, **options)
        code = wait(child, meanwhile)
        out.seek(0)
        err.seek(0)
        return Result(arguments, code, out.read(), err.read())


def wait(child, meanwhile=None):
    """Exit status of a child; negative: the signal that ended it."""
    try:
        if meanwhile:
            meanwhile(child)
        return child.wait(TIMEOUT)
    except subprocess.TimeoutExpired as late:
        child.kill()
        raise Failure(f"no end after {TIMEOUT} s: {child.args!r:.300}") from late


def gather(child, source, pause=0.0, until=b"", most=10):
    """All that the child writes to that descriptor.

    pause: seconds, between which it runs for half a millisecond only, until it has written `until`
    or `most` seconds are over.
    """
    written, end = b"", time.monotonic() + most
    while True:
        held = pause > 0 and until not in written and time.monotonic() < end
        if held:
            child.send_signal(signal.SIGSTOP)
            time.sleep(pause)
            child.send_signal(signal.SIGCONT)
        if not select.select([source], [], [], 0.0005 if held else 120)[0]:
            if held:
                continue
            break
        try:
            part = os.read(source, 65536)
        except OSError:  # a terminal of which the other side is closed
            break
        if not part:
            break
        written += part
    return written


def on_terminal(*arguments, answer=False, **slowly):
    """(exit status, what the terminal shows) with standard input and error on a terminal.

    answer: standard output as well. slowly: as of gather.
    """
    ours, theirs = pty.openpty()
    variables = environment(TERM="xterm")
    variables.pop("NO_COLOR", None)
    child = subprocess.Popen([LOCUM, *map(_text, arguments)], stdin=theirs, stderr=theirs,
                             stdout=theirs if answer else subprocess.DEVNULL, env=variables)
    os.close(theirs)
    shown = gather(child, ours, **slowly)
    os.close(ours)
    return child.wait(TIMEOUT), shown


def catches(child, number):
    """Whether the child has a handler for a signal just now."""
    with open(f"/proc/{child.pid}/status", encoding="ascii", errors="replace") as file:
        caught = next(line for line in file if line.startswith("SigCgt:"))
    return bool(int(caught.split()[1], 16) >> (number - 1) & 1)


def wait_until(child, condition, what):
    end = time.monotonic() + TIMEOUT
    while not condition():
        check(child.poll() is None, f"{what}: the child ended with {child.returncode}")
        check(time.monotonic() < end, f"{what}: not within {TIMEOUT} s")
        time.sleep(0.002)


def unheard(*arguments, stream="stderr"):
    """(child, the pipe's end) of a command that waits for a reader of what it writes there first.

    Nothing reads that pipe and it is full, so the command stays before its first message (or the
    answer); interrupts are handled already.
    """
    ours, theirs = os.pipe()
    os.set_blocking(theirs, False)
    try:
        while True:
            os.write(theirs, b"\n" * 4096)
    except BlockingIOError:
        os.set_blocking(theirs, True)
    child = start(*arguments, **{stream: theirs})
    os.close(theirs)
    wait_until(child, lambda: catches(child, signal.SIGINT), "the handler of interrupts")
    return child, ours


def drain(descriptor):
    """The text of a pipe until its writers are gone."""
    with os.fdopen(descriptor, "rb") as file:
        return file.read().decode("utf-8", "replace").strip("\n")


def stats(*arguments, given=None, code=0, **options):
    """The --stats of a run, with `out` (bytes of standard output) and `err` added."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "stats.json")
        result = locum("run", "--stats", path, *arguments, given=given,
                       **options).expect(code)
        with open(path, encoding="utf-8") as file:
            numbers = json.load(file)
        equal(os.listdir(folder), ["stats.json"], "files beside --stats")
    return dict(numbers, out=result.out, err=result.err)


def inspect(model, *arguments):
    return json.loads(locum("inspect", model, "--json", *arguments).expect(0).out)


# --- Models -------------------------------------------------------------------------------------

def _made(name, make):
    """Path of a generated file; made again when the generators are newer."""
    os.makedirs(MODELS, exist_ok=True)
    mark = os.path.join(MODELS, name + ".made")
    newest = max(os.path.getmtime(os.path.join(TOOLS, file)) for file in os.listdir(TOOLS)
                 if file.endswith(".py"))
    with open(os.path.join(MODELS, "lock"), "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(mark) or os.path.getmtime(mark) < newest:
            first = make()
            with open(mark, "w", encoding="utf-8") as file:
                file.write(first)
        with open(mark, encoding="utf-8") as file:
            return file.read()


def model(name):
    """A named fixture of tools/gguf/gguf_make.py."""
    return _made(name, lambda: gguf_make.make_fixture(name, MODELS)[0])


def large_model(name, spec, **options):
    """A model of one script's own; name is its file's."""
    path = os.path.join(MODELS, name + ".gguf")
    return _made(name, lambda: gguf_make.make(path, spec, **options)[0])


def bad_files():
    """The folder with the table of gguf_bad.py and its files."""
    folder = os.path.join(MODELS, "bad")

    def make():
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([sys.executable, gguf_bad.__file__, folder], check=True,
                       stdout=subprocess.DEVNULL)
        return folder
    return _made("bad", make)


# --- Running tests ------------------------------------------------------------------------------

def main(names):
    """Calls each test_ function. 77 if everything was skipped."""
    sys.stdout.reconfigure(line_buffering=True)
    ran = failed = skipped = 0
    for name, function in list(names.items()):
        if not name.startswith("test_") or not (len(sys.argv) < 4 or name in sys.argv[3:]):
            continue
        try:
            function()
            ran += 1
            print("ok  ", name)
        except Skip as reason:
            skipped += 1
            print(f"SKIP {name}: {reason}")
        except Failure as reason:
            failed += 1
            print(f"FAIL {name}: {reason}")
        except Exception:  # a test that breaks has failed; the others still say what they know
            failed += 1
            print(f"FAIL {name}:")
            traceback.print_exc(file=sys.stdout)
    print(f"{ran} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed else 77 if skipped and not ran else 0)
