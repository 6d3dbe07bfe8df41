#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Locum against stored logits of the official definition of each family.

    official_test.py LOCUM_LOGITS FOLDER       FOLDER: for generated models

For each FIXTURE.json of this folder: the fixture, made anew, computed with float32 keys and values,
must give the stored distributions at the positions where every router is decided. README.md has the
bounds.
"""
import glob
import hashlib
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TOOLS = os.path.join(os.path.dirname(os.path.dirname(HERE)), "tools")
sys.path[:0] = [os.path.join(TOOLS, "gguf"), os.path.join(TOOLS, "peer")]
try:
    import numpy as np
except ImportError as problem:
    print("SKIP all: %s (Debian: python3-numpy)" % problem)
    sys.exit(77)
import compare
import gguf_file
import gguf_make

CLEAR, CLEAR_SHARE = 1e-4, 0.9     # router gap; share of positions with a larger one
MEAN, MAX = 2e-6, 5e-5             # Kullback-Leibler divergence in nats


class Failure(Exception):
    pass


def read(path):
    with open(path, "rb") as file:
        return file.read()


def check_sources(about, stored, model):
    """What the stored logits were made from must be what is there now."""
    def same(what, now, then):
        if now != then:
            raise Failure("%s has changed: run official_make.py again" % what)
    same(about["script"], hashlib.sha256(read(os.path.join(HERE, about["script"]))).hexdigest(),
         about["script_sha256"])
    same("the file of logits", hashlib.sha256(read(stored)).hexdigest(), about["logits_sha256"])
    file = gguf_file.Reader(model)
    total = sum(np.abs(file.array(name).astype(np.float64)).sum() for name in file.tensors)
    same("the fixture", abs(total / about["weights_sum"] - 1) < 1e-6, True)


def compare_with(json_path, program, folder):
    about = json.loads(read(json_path))
    stored, name = json_path[:-len("json")] + "f32", about["fixture"]
    model = gguf_make.make_fixture(name, folder)[0]
    check_sources(about, stored, model)
    ids, ours, reference, margins = (os.path.join(folder, name + end)
                                     for end in (".ids", ".ours", ".ref", ".margins"))
    with open(ids, "w") as out:
        out.write(about["ids"])
    subprocess.run([program, model, ids, ours, "--kv-type", "f32"], check=True)
    subprocess.run([sys.executable, os.path.join(TOOLS, "gguf", "float_reference.py"), model, ids,
                    reference, "--margins", margins], check=True)
    clear = np.fromfile(margins, dtype=np.float32) > CLEAR
    print("%s, made with %s: %d positions, unclear are %s"
          % (name, ", ".join("%s %s" % pair for pair in about["versions"].items()), len(clear),
             np.flatnonzero(~clear).tolist()))
    if clear.mean() < CLEAR_SHARE:
        raise Failure("only %.1f %% of positions are clear" % (100 * clear.mean()))
    for who, path in (("locum", ours), ("float reference", reference)):
        d = compare.distances(stored, path, about["vocabulary"]).where(clear)
        print("  %-16s %s" % (who, compare.summary(d)))
        if not (d.kld.mean() < MEAN and d.kld.max() < MAX):
            raise Failure("%s: mean %.1e, max %.1e; bounds %.0e, %.0e"
                          % (who, d.kld.mean(), d.kld.max(), MEAN, MAX))


def main(program, folder):
    os.makedirs(folder, exist_ok=True)
    failed, paths = 0, sorted(glob.glob(os.path.join(HERE, "*.json")))
    for path in paths:
        try:
            compare_with(path, program, folder)
        except (Failure, subprocess.CalledProcessError) as problem:
            print("FAILED %s: %s" % (os.path.basename(path), problem))
            failed += 1
    print("%d passed, %d failed" % (len(paths) - failed, failed))
    return 1 if failed or not paths else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
