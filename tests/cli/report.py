# SPDX-License-Identifier: Apache-2.0
"""The page of `locum report`: its form, its numbers against the same files read here, wrong inputs."""
import html.parser
import os
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import xml.etree.ElementTree

from cli_test import (PROSE, catches, check, equal, inspect, locum, main, model, start,
                      wait_until)

MOE = model("good-qwen3moe-mixed")
FLAGS = {"m.csv": "--metrics", "t.csv": "--trace", "i.csv": "--io-trace", "o.csv": "--op-trace"}
TITLES = ["Where the time of each token goes", "How fast the answer comes",
          "How often an expert was in memory already", "Memory while it ran",
          "Which experts are used", "What more or less memory for experts would do",
          "How long a read takes", "How much is read from the drive per second",
          "Which operations take the time"]
MISSING = {"--metrics": 6, "--trace": 2, "--io-trace": 1, "--op-trace": 1}  # charts, and the totals

METRICS = ("# locum_metrics v1\n# model=a.gguf arch=x\n# threads=1 n_ctx=64 chunk=8 budget=1000\n"
           "turn,phase,step,tokens,wall_ms,compute_ms,stall_ms,sample_ms,read_bytes,hits,misses,"
           "cache_hit_pct,ahead,ahead_used,ahead_wasted,evictions,majflt,rss_mib,"
           "cache_budget_mib,cache_mib\n"
           "0,0,0,4,10,6,3,1,100,1,3,25,0,0,0,0,0,20.5,2,1\n"
           "0,1,4,1,5,4,0.5,0.5,10,3,1,75,0,0,0,0,0,21,2,1.5\n")
TRACE = ("# route_trace v1\n# model=a.gguf arch=x n_layer=2 n_expert=4 n_expert_used=2\n"
         "# layer=0 expert_bytes=100 dense_bytes=1\n# layer=1 expert_bytes=100 dense_bytes=1\n"
         "turn,phase,step,layer,slot,expert,weight,residency,expert_bytes\n"
         "0,1,4,0,0,3,0.5,0,100\n0,1,4,0,1,1,0.5,0,100\n0,1,4,1,0,3,1,0,100\n")
READS = ("# io_trace v1\n# model=a.gguf\nturn,phase,step,layer,expert,proj,spec,shard,offset,"
         "req_bytes,read_bytes,latency_ns\n0,0,0,0,3,0,0,0,4096,4096,4096,70000\n")
OPERATIONS = ("# op_trace v1\n# model=a.gguf\nphase,layer,operation,weight,calls,seconds\n"
              "prompt,0,matmul,blk.0.attn_q.weight,1,0.5\nanswer,,outside,,1,0.25\n")
SMALL = {"m.csv": METRICS, "t.csv": TRACE, "i.csv": READS, "o.csv": OPERATIONS}


# --- Making and reading pages ---------------------------------------------------------------------

class Loose(html.parser.HTMLParser):
    """What a browser would fetch or run."""

    def __init__(self):
        super().__init__()
        self.outside = []

    def handle_starttag(self, tag, attrs):
        if tag in ("script", "link", "img", "iframe", "object"):
            self.outside.append(tag)
        self.outside += [name for name, _ in attrs if name in ("src", "href") or name[:2] == "on"]


def parsed(page):
    """The page as a tree, once its form is right."""
    check(page.startswith("<!DOCTYPE html>\n"), page[:60])
    loose = Loose()
    loose.feed(page)
    equal(loose.outside, [], "scripts, and things from elsewhere")
    check("url(" not in page and "@import" not in page, "the style needs something else")
    check("NaN" not in page and not re.search(r"[ \"MHVL]-?(nan|inf)", page), "no number")
    return xml.etree.ElementTree.fromstring(page)


def report(folder, *inputs):
    """The page from files of a folder, or of the folder."""
    out = os.path.join(folder, "page.html")
    said = locum("report", *(inputs or [folder]), "-o", out).expect(0)
    equal((said.out, said.err), (b"", ""), "what is said")
    with open(out, encoding="utf-8") as file:
        return file.read()


def numbers(page):
    """Those with a name."""
    return {one.get("id"): float(one.get("value"))
            for one in parsed(page).iter("{http://www.w3.org/1999/xhtml}data")}


def texts(page):
    return ["".join(one.itertext()) for one in parsed(page).iter()]


def write(folder, files):
    for name, text in files.items():
        with open(os.path.join(folder, name), "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
    return [os.path.join(folder, name) for name in files]


def rows(path):
    with open(path, encoding="utf-8") as file:
        header, *lines = [line.rstrip("\n").split(",") for line in file if line[0] != "#"]
    return [dict(zip(header, line)) for line in lines]


def near(got, wanted, what):
    check(abs(got - wanted) <= 1e-6 * max(1, abs(wanted)), f"{what}: got {got}, wanted {wanted}")


# --- The same numbers, computed here --------------------------------------------------------------

def cells(path):
    """Of the answer: one list of (layer, expert) for each token and layer."""
    out, last = [], None
    for row in rows(path):
        if row["phase"] == "0":
            continue
        cell = (row["turn"], row["step"], row["layer"])
        if cell != last:
            out.append([])
        last = cell
        out[-1].append((int(row["layer"]), int(row["expert"])))
    return out


def replay(batches, capacity, belady):
    """Share of hits; what gives way goes after a batch, and is never of it."""
    held, hits, count = [], 0, 0  # the cache, used longest ago first
    uses = {}
    for number, batch in enumerate(batches):
        for key in batch:
            uses.setdefault(key, []).append(number)
    for number, batch in enumerate(batches):
        for key in dict.fromkeys(batch):
            count += 1
            if key in held:
                hits += 1
                held.remove(key)
            held.append(key)
        while len(held) > capacity:
            free = [key for key in held if key not in batch]
            if not free:
                break
            if belady:
                free.sort(key=lambda key: -next((u for u in uses[key] if u > number), 1 << 60))
            held.remove(free[0])
    return hits / count


def expected_totals(path):
    steps = rows(path)
    def total(column, phase="01"):
        return sum(float(row[column]) for row in steps if row["phase"] in phase)
    hits, misses = total("hits"), total("misses")
    return {"prompt-tokens": total("tokens", "0"), "answer-tokens": total("tokens", "1"),
            "prompt-rate": 1e3 * total("tokens", "0") / total("wall_ms", "0"),
            "answer-rate": 1e3 * total("tokens", "1") / total("wall_ms", "1"),
            "hit-rate": hits / (hits + misses), "read-bytes": total("read_bytes"),
            "answer-hit-rate": total("hits", "1") / (total("hits", "1") + total("misses", "1")),
            "peak-mib": max(float(row["rss_mib"]) for row in steps)}


def expected_reads(path):
    out = {}
    for spec, name in (("0", "demand"), ("1", "ahead")):
        times = sorted(int(row["latency_ns"]) for row in rows(path) if row["spec"] == spec)
        if times:
            out[name + "-median"] = times[(len(times) * 50 + 99) // 100 - 1]
            out[name + "-p99"] = times[(len(times) * 99 + 99) // 100 - 1]
            out[name + "-longest"] = times[-1]
    return out


def test_a_run():
    floor = inspect(MOE)["plan"]["floor"]
    with tempfile.TemporaryDirectory() as folder:
        flags = [part for name, flag in FLAGS.items() for part in (flag, os.path.join(folder, name))]
        locum("run", MOE, "-p", PROSE[:120], "-n", 60, "--temp", 0, "--ignore-eos", "--memory",
              floor + (64 << 10), *flags).expect(0)
        page = report(folder)
        found = numbers(page)
        wanted = {**expected_totals(folder + "/m.csv"), **expected_reads(folder + "/i.csv")}
        for name, value in wanted.items():
            near(found[name], value, name)
        check("ahead-median" in wanted, "nothing was read ahead")
        for phase in ("prompt", "answer"):
            near(found[phase + "-seconds"],
                 sum(float(row["seconds"]) for row in rows(folder + "/o.csv")
                     if row["phase"] == phase and not row["operation"].startswith("experts.")), phase)
        shape = inspect(MOE)
        batches, experts = cells(folder + "/t.csv"), shape["moe_layers"] * shape["experts"]
        for percent in (5, 40, 100):
            capacity = (experts * percent + 50) // 100
            for name, belady in (("lru", False), ("belady", True)):
                near(found[f"{name}-{percent}"], replay(batches, capacity, belady),
                     f"{name} at {percent} %")
        pool = float(rows(folder + "/m.csv")[-1]["cache_budget_mib"]) * (1 << 20)
        near(found["run-size"], 100 * pool / shape["expert_bytes_total"], "size of the run's pool")
    equal([text for text in texts(page) if text in TITLES], TITLES, "titles")
    check("Not in this report" not in page, "something is missing")
    equal(page.count("<svg viewBox=\"0 0 640 "), 10, "charts: the operations have two")


def test_replays_by_hand():
    """One layer, three experts, one lookup a token: a cache of two."""
    order = [0, 1, 2, 0, 1, 2, 0, 1]
    head = ("# route_trace v1\n# model=m arch=x n_layer=1 n_expert=4 n_expert_used=1\n"
            "# layer=0 expert_bytes=8 dense_bytes=0\nturn,phase,step,layer,expert\n")
    trace = head + "".join(f"0,1,{step},0,{key}\n" for step, key in enumerate(order))
    with tempfile.TemporaryDirectory() as folder:
        found = numbers(report(folder, *write(folder, {"t.csv": trace})))
        # LRU lets go of each just before it is used. Belady: 0 1 miss; 2 for 1; 0 hits; 1 for 0;
        # 2 hits; 0 for 2; 1 hits.
        near(found["lru-50"], 0, "LRU")
        near(found["belady-50"], 3 / 8, "Belady")
        near(found["lru-75"], 5 / 8, "LRU with room for all")
        near(found["belady-75"], 5 / 8, "Belady with room for all")
        # A batch larger than the cache stays whole until the next: 0 1 2 miss, then 1 2 hit.
        batch = head + "".join(f"0,1,{step},0,{key}\n"
                               for step, key in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 0)))
        found = numbers(report(folder, *write(folder, {"t.csv": batch})))
        near(found["lru-25"], 2 / 6, "LRU with a batch of three")
        near(found["belady-25"], 2 / 6, "Belady with a batch of three")


def test_each_file_alone():
    with tempfile.TemporaryDirectory() as folder:
        for name, text in SMALL.items():
            page = report(folder, *write(folder, {name: text}))
            equal(sum(text in TITLES for text in texts(page)), len(TITLES), f"titles with {name}")
            for flag, count in MISSING.items():
                wanted = 0 if flag == FLAGS[name] else count
                equal(page.count(f"run with <code>{flag} FILE"), wanted, f"{flag} with {name} alone")
            check("a.gguf" in page, f"the model with {name}")


def test_folders_and_order():
    with tempfile.TemporaryDirectory() as folder:
        paths = write(folder, SMALL)
        write(folder, {"notes.txt": "not ours", "empty": "", "zeros": bytes(100000)})
        os.mkdir(folder + "/sub")
        os.mkfifo(folder + "/pipe")
        pages = [report(folder), report(folder, *paths), report(folder, *reversed(paths)),
                 report(folder, folder)]
        equal(len({re.sub(r"Made by.*", "", page) for page in pages}), 1, "different pages")
        for name, value in expected_totals(paths[0]).items():
            near(numbers(pages[0])[name], value, name)
        carriage = {name: text.replace("\n", "\r\n") for name, text in SMALL.items()}
        write(folder, carriage)
        equal(numbers(report(folder)), numbers(pages[0]), "with the line ends of Windows")
        with open(folder + "/m.csv", "rb") as file:
            out = folder + "/piped.html"
            child = start("report", "/dev/stdin", "-o", out, stdin=subprocess.PIPE)
            child.communicate(file.read())
            equal(child.returncode, 0, "a report from a pipe")


def test_text_is_escaped():
    nasty = "</title><script>alert('&\"')</script>\x01\u2028\ufffe &amp;"
    with tempfile.TemporaryDirectory() as folder:
        paths = write(folder, {
            "<&\">.csv": METRICS.replace("a.gguf", "/x/" + nasty).replace("threads=1", nasty),
            "o.csv": OPERATIONS.replace("matmul", nasty).replace("a.gguf", "/x/" + nasty),
            "i.csv": READS.encode().replace(b"a.gguf", b"\xff\xfe\xc3(\xe2\x82 ")})
        out = os.path.join(folder, "page.html")
        locum("report", *paths, "-o", out).expect(0, "different models")
        with open(out, encoding="utf-8") as file:
            page = file.read()
    check("<script" not in page, "a script came through")
    check(any("alert('&\"')</script>" in text for text in texts(page)), "the text was changed")


# --- Numbers at the edges -------------------------------------------------------------------------

def test_nothing_to_show():
    empty = {"t.csv": TRACE[:TRACE.index("0,1,4,0")], "i.csv": READS[:READS.index("0,0,0,0,3")],
             "o.csv": OPERATIONS[:OPERATIONS.index("prompt,0")]}
    with tempfile.TemporaryDirectory() as folder:
        page = report(folder, *write(folder, empty))
        for words in ("No token used an expert", "Nothing was read", "No operation took any time",
                      "no token of an answer"):
            check(words in page, words)
        zeros = re.sub(r"^(0,\d,\d,\d),.*$", r"\1" + ",0" * 16, METRICS, flags=re.M)
        page = report(folder, *write(folder, {"m.csv": zeros}))
        parsed(page)
        check("No token looked up" in page, "lookups of a model without experts")


def test_large_and_many_numbers():
    most = re.sub(r"^0,0,0,4,.*$", "0,0,0,4294967295" + ",1e15" * 4 + ",1000000000000000" * 3 +
                  ",0" * 6 + ",1e15" * 3, METRICS, flags=re.M)
    many = METRICS + "".join(f"0,{n % 2},{n},{1 + n % 3},{n % 7},1,1,0,5,{n % 5},1,0,0,0,0,0,0,"
                             f"{20 + n % 9},2,1\n" for n in range(30000))
    reads = READS + "".join(f"0,0,0,0,3,0,{n % 2},0,0,1,1,{n}\n" for n in range(0, 10 ** 15, 10 ** 13))
    wide = (TRACE.replace("n_layer=2 n_expert=4", "n_layer=512 n_expert=1024")
            + "".join(f"0,0,{n},{n % 2},0,{n % 1024},1,0,0\n" for n in range(5000)))
    with tempfile.TemporaryDirectory() as folder:
        for files in ({"m.csv": most}, {"m.csv": many}, {"i.csv": reads}, {"t.csv": wide}):
            page = report(folder, *write(folder, files))
            parsed(page)
            check(len(page) < 1 << 20, f"a page of {len(page)} bytes")


# --- Wrong inputs ---------------------------------------------------------------------------------

def refused(folder, name, text, code, *words):
    """A broken file: told with its name, no page, nothing left behind."""
    path, = write(folder, {name: text})
    before = sorted(os.listdir(folder))
    said = locum("report", path, "-o", folder + "/page.html").expect(code, path, *words)
    equal(said.out, b"", "standard output")
    check(len(said.err) < 1000, f"an error of {len(said.err)} bytes")
    equal(sorted(os.listdir(folder)), before, "files")


def test_broken_files():
    """Each names file and line."""
    changes = {
        "m.csv": [("wall_ms,", "wall,", "line 4", "no column 'wall_ms'"),
                  ("0,0,0,4,10,", "0,0,0,4,ten,", "line 5", "wall_ms 'ten'"),
                  ("0,0,0,4,10,", "0,0,0,4,,", "line 5", "wall_ms ''"),
                  ("0,0,0,4,10,", "0,0,0,4,-1,", "line 5", "wall_ms '-1'"),
                  ("0,0,0,4,10,", "0,0,0,4,1e99,", "line 5", "wall_ms '1e99'"),
                  ("0,0,0,4,10,", "0,0,0,4,nan,", "line 5", "wall_ms 'nan'"),
                  ("0,0,0,4,10,", "0,0,0,0,10,", "line 5", "without tokens"),
                  ("0,0,0,4,10,", "0,0,0,99999999999999999999,10,", "line 5", "tokens '9999"),
                  ("0,0,0,4,10,", "0,2,0,4,10,", "line 5", "phase '2'"),
                  ("0,0,0,4,10,", "0,0,4,10,", "line 5", "19 fields, the header has 20"),
                  ("0,0,0,4,10,", "0\0,0,0,4,10,", "line 5", "zero byte"),
                  ("0,0,0,4,10,", "0,0,0,4," + "1" * 5000000 + ",", "line 5", "65536 bytes"),
                  ("0,0,0,4,10,", "0," * 9000, "line 5", "64 fields"),
                  (METRICS[METRICS.index("0,0,0,4"):], "", "line 4", "no row"),
                  (METRICS[METRICS.index("turn"):], "", "line 3", "ends before its header"),
                  ("\nturn", "\n\nturn", "line 4", "no column 'phase'")],
        "t.csv": [(" n_expert=4", "", "line 5", "n_expert from 1 to 1024"),
                  ("n_expert=4", "n_expert=4000000000", "line 5", "n_expert from 1 to 1024"),
                  ("n_layer=2", "n_layer=99999999999999999999", "line 5", "n_layer from 1 to 512"),
                  ("0,1,4,0,0,3", "0,1,4,0,0,4", "line 6", "expert '4'", "0 to 3"),
                  ("0,1,4,0,0,3", "0,1,4,2,0,3", "line 6", "layer '2'", "0 to 1"),
                  ("# layer=0", "# layer=7", "line 6", "'# layer=0 expert_bytes="),
                  ("expert_bytes=100", "expert_bytes=x", "line 6", "# layer=0")],
        "i.csv": [("spec", "special", "line 3", "no column 'spec'"),
                  (",70000", ",1e3", "line 4", "latency_ns '1e3'"),
                  ("3,0,0,0", "3,0,2,0", "line 4", "spec '2'")],
        "o.csv": [("prompt,0", "both,0", "line 4", "phase 'both'"),
                  (",0.5\n", ",fast\n", "line 4", "seconds 'fast'"),
                  ("answer,,outside,,1,0.25\n", "".join(f"answer,,op{n},,1,1\n" for n in range(200)),
                   "line 104", "100 operations")]}
    with tempfile.TemporaryDirectory() as folder:
        for name, cases in changes.items():
            for old, new, *words in cases:
                check(old in SMALL[name], f"{old!r} is not in {name}")
                refused(folder, name, SMALL[name].replace(old, new, 1), 3, *words)
                os.unlink(os.path.join(folder, name))


def test_files_of_another_kind():
    with tempfile.TemporaryDirectory() as folder:
        for text in ("", "turn,phase\n0,1\n", "# route_trace v2\n", "x" * 200000, bytes(200000),
                     "\0" + TRACE, TRACE[:8], b"\xef\xbb\xbf" + TRACE.encode()):
            refused(folder, "other.csv", text, 3, "first line")
        refused(folder, "other.csv", TRACE[:16], 3, "line 1", "ends before its header")
        os.unlink(folder + "/other.csv")
        out = ["-o", folder + "/page.html"]
        locum("report", folder, *out).expect(3, folder, "in this folder")
        locum("report", folder + "/none", *out).expect(3, folder + "/none")
        locum("report", MOE, *out).expect(3, MOE, "first line")
        equal(os.listdir(folder), [], "files")


def test_wrong_usage():
    with tempfile.TemporaryDirectory() as folder:
        path, _, reads, _ = write(folder, SMALL)
        out = ["-o", folder + "/page.html"]
        locum("report", path).expect(2, "-o FILE is missing", "Try: locum help report")
        locum("report", *out).expect(2, "FILES is missing")
        locum("report", "", *out).expect(2, "FILES is an empty text")
        locum("report", "-m", path, *out).expect(2, "unknown flag -m")
        copy = shutil.copy(path, folder + "/again.csv")
        for inputs in ([path, copy], [path, path], [folder]):
            locum("report", *inputs, *out).expect(2, "both metrics", path if len(inputs) > 1 else copy)
        os.unlink(copy)
        link = folder + "/link"
        os.symlink("m.csv", link)
        for target in (path, link, folder + "/./m.csv"):
            locum("report", path, reads, "-o", target).expect(2, "-o would replace", "m.csv")
        os.unlink(link)
        locum("report", folder, "-o", reads).expect(2, "-o would replace", reads)
        locum("report", path, "-o", folder).expect(3, folder)
        locum("report", path, "-o", folder + "/none/page.html").expect(3, "none")
        equal(sorted(os.listdir(folder)), sorted(SMALL), "files")
        for name, text in SMALL.items():
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                equal(file.read(), text, name)


def test_whole_or_not_at_all():
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    with tempfile.TemporaryDirectory() as folder:
        path, = write(folder, {"m.csv": METRICS})
        old = write(folder, {"page.html": "old"})[0]
        child = start("report", path, "-o", old, preexec_fn=limit)
        err = child.communicate()[1].decode()
        equal((child.returncode, "File too large" in err), (3, True), err)
        locum("report", path, "-o", "/dev/full").expect(3, "/dev/full")
        child = start("report", "/dev/stdin", "-o", old, stdin=subprocess.PIPE)
        wait_until(child, lambda: catches(child, signal.SIGINT), "the handler of interrupts")
        child.stdin.write(METRICS.encode())
        child.send_signal(signal.SIGINT)
        child.communicate()
        equal(child.returncode, 130, "status after an interrupt")
        equal(sorted(os.listdir(folder)), ["m.csv", "page.html"], "files")
        with open(old, encoding="ascii") as file:
            equal(file.read(), "old", "the page that was there")


def test_memory_is_bounded():
    """A line without end takes no more than one that is refused."""
    with tempfile.TemporaryDirectory() as folder:
        path, = write(folder, {"m.csv": METRICS})
        os.truncate(path, 4 << 30)
        child = start("report", path, "-o", folder + "/page.html")
        err = child.stderr.read().decode()
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        check(child.returncode == 3 and "line 7" in err, f"{child.returncode}: {err:.300}")
        check(used.ru_maxrss < 1 << 20, f"{used.ru_maxrss} KiB")


if __name__ == "__main__":
    main(globals())
