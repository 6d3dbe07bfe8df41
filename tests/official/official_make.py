#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stores logits of a family's official definition, with which official_test.py compares Locum.

    official_make.py FAMILY [...]      FAMILY: a script of this folder, such as gpt_oss

Run by hand, where PyPI's torch and transformers are installed. A family's script has
    FIXTURE, or FIXTURES  the models of tools/gguf/gguf_make.py that are computed
    logits(file, ids)     logits of every position as float32 (positions, vocabulary), by the official
                          definition with the weights of `file`, a gguf_file.Reader
For each is written FIXTURE.f32 (raw float32) and FIXTURE.json (where they come from).
"""
import hashlib
import importlib
import importlib.metadata
import json
import os
import random
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(os.path.dirname(HERE)), "tools", "gguf")]
import gguf_file
import gguf_make

POSITIONS = 240
PACKAGES = ("torch", "transformers", "numpy")


def sha256(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def weights_sum(file):
    """Tells whether a fixture still is the same, on any machine: its last bits may differ."""
    return float(sum(np.abs(file.array(name).astype(np.float64)).sum() for name in file.tensors))


def ordinary_ids(file, count):
    kinds = file.meta["tokenizer.ggml.token_type"]
    usable = [i for i, kind in enumerate(kinds) if kind == 1]
    rng = random.Random(17)
    return [rng.choice(usable) for _ in range(count)]


def make(family, fixture, script):
    with tempfile.TemporaryDirectory() as folder:
        file = gguf_file.Reader(gguf_make.make_fixture(fixture, folder)[0])
        ids = ordinary_ids(file, POSITIONS)
        logits = np.ascontiguousarray(script.logits(file, ids), dtype="<f4")
        about = {
            "fixture": fixture,
            "weights_sum": weights_sum(file),
            "script": family + ".py",
            "script_sha256": sha256(os.path.join(HERE, family + ".py")),
            "versions": {name: importlib.metadata.version(name) for name in PACKAGES},
            "vocabulary": logits.shape[1],
            "logits_sha256": hashlib.sha256(logits.tobytes()).hexdigest(),
            "ids": " ".join(map(str, ids)),
        }
    if logits.shape[0] != len(ids) or not np.isfinite(logits).all():
        sys.exit("%s: the logits have the shape %s" % (family, logits.shape))
    stem = os.path.join(HERE, fixture)
    logits.tofile(stem + ".f32")
    with open(stem + ".json", "w", encoding="ascii") as out:
        json.dump(about, out, indent=1)
        out.write("\n")
    print("%s: %d positions of %d logits" % (fixture, *logits.shape))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    for name in sys.argv[1:]:
        module = importlib.import_module(name)
        for model in getattr(module, "FIXTURES", None) or [module.FIXTURE]:
            make(name, model, module)
