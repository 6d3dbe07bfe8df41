#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""How far each engine is from exact arithmetic on the same weights: what speed may not cost.

    bench/precision.py --build build/release --peers upstream,ik,ik-repack
    bench/precision.py --models smollm2 --parts 1 ...              a first look, a minute

The same tokens of prose through Locum, every peer and tools/gguf/float_reference.py (NumPy, float32,
weights as the file means them): Kullback-Leibler divergence from the reference's next-token
distribution, and how often the likeliest token is the same. `bench/speed.py table` shows the last
record of each model. Gemma 3's reference takes minutes and 6 GB of disk.
"""
import argparse
import datetime
import json
import os
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
sys.path[:0] = [os.path.join(ROOT, "tests", "peer"), HERE]
import engines  # noqa: E402 - from the folders named just above
import peer_test  # noqa: E402
import compare  # noqa: E402
import speed  # noqa: E402
import speed_side  # noqa: E402

MODELS = {"smollm2": 1056, "gemma3": 704, "bundled": 512}     # tokens of a part


def model_of(name):
    return peer_test.bundled_files()[0] if name == "bundled" else peer_test.material(name)


def logits_command(name, model, ids, out):
    """How a peer of speed_side.PEERS writes its logits."""
    folder, arguments = speed_side.PEERS[name]
    program = os.path.join(speed_side.PEER_DIR, folder, "peer_logits")
    if not os.access(program, os.X_OK):
        raise speed_side.Absent("%s is not set up: %s is missing (tools/peer/README.md)"
                                % (name, program))
    return [program, "logits", model, ids, out, *arguments]


def sides_of(peers, locum):
    """{name: function that writes logits}"""
    sides = {"locum": locum.logits}
    for name in peers:
        sides[name] = lambda *a, name=name: engines.run(logits_command(name, *a))
    return sides


def measure(name, sides, locum, parts):
    """One record: {side: distances over all parts}, the reference computed once a part."""
    model = model_of(name)
    vocabulary = peer_test.vocabulary_of(model)
    ids = locum.tokenize(model, peer_test.prose())
    found = {side: [] for side in sides}
    for part in peer_test.parts_of(model, ids, MODELS[name])[:parts]:
        with tempfile.TemporaryDirectory() as work:
            path, exact, out = (os.path.join(work, n) for n in ("ids", "exact", "out"))
            engines.write_ids(path, part)
            engines.Reference().logits(model, path, exact, os.path.join(work, "margins"))
            for side, logits in sides.items():
                logits(model, path, out)
                found[side].append(compare.distances(exact, out, vocabulary))
    joined = {side: compare.Distances.joined(d) for side, d in found.items()}
    now = datetime.datetime.now(datetime.timezone.utc)
    return {"date": now.strftime("%Y-%m-%dT%H:%M:%SZ"), "machine": speed.machine(), "model": name,
            "file": os.path.basename(model), "bytes": os.path.getsize(model),
            "positions": len(joined["locum"].kld),
            "sides": {side: {"kld_mean": float(d.kld.mean()), "kld_median": float(np.median(d.kld)),
                             "top_1": 100 * float(d.same_top.mean())}
                      for side, d in joined.items()}}


def versions(peers, build):
    found = {name: speed_side.peer(name).version for name in peers}
    return {"locum": build, **found}


def main(argv):
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--build", required=True, metavar="FOLDER", help="of Locum, with locum_logits")
    p.add_argument("--peers", type=speed.names(list(speed_side.PEERS)), default=["upstream"])
    p.add_argument("--models", type=speed.names(list(MODELS)), default=list(MODELS))
    p.add_argument("--parts", type=int, help="of the prose at most (default: all)")
    p.add_argument("--results", metavar="FILE",
                   default=os.path.join(speed.FOLDER, "precision.jsonl"))
    a = p.parse_args(argv)
    os.environ["LOCUM_BUILD"] = a.build
    locum = engines.Locum()
    try:
        told = versions(a.peers, speed.build_name())
        for name in a.models:
            record = measure(name, sides_of(a.peers, locum), locum, a.parts)
            for side, version in told.items():
                record["sides"][side]["version"] = version
            speed.append_record(a.results, record)
            print("%-8s %d positions:  %s" % (name, record["positions"], "  ".join(
                "%s %.2e" % (side, one["kld_mean"]) for side, one in record["sides"].items())),
                flush=True)
    except (speed_side.Absent, engines.Missing) as reason:
        print("SKIP: %s" % reason)
        sys.exit(77)


if __name__ == "__main__":
    main(sys.argv[1:])
