#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Turns a dense llama file into a mixture of experts with a random router, for tests of streaming.

    moeify.py DENSE OUT --copies [--experts 16] [--seed 1]
    moeify.py DENSE OUT --markers [--experts 16] [--used 2] [--seed 1]

--copies: every expert is an exact copy of the layer's feed-forward and one is chosen. Its
normalised weight is exactly 1, so the logits must have the bits of the dense file's.

--markers: expert e's down matrix is scaled by a factor of its own (0.5 to 1.5) and two are chosen,
so that computing with a wrong expert moves the logits far from the float reference.

The weights stay in the types of the dense file; nothing is quantised again.
"""
import argparse
import sys
import zlib

import numpy as np

import gguf_file as gguf

# Deviation of the router's weights: decided choices, yet nearly every expert gets its turn.
ROUTER = 0.2
PARTS = ("gate", "up", "down")
# Byte offsets of the float16 numbers that scale a block, for the types that --markers can handle.
SCALES = {"Q4_0": (0,), "Q4_1": (0, 2), "Q5_0": (0,), "Q5_1": (0, 2), "Q8_0": (0,)}


def marker(expert, experts):
    return 0.5 + expert / max(1, experts - 1)


def scaled(raw, type_name, factor):
    """The same quants with the float16 scales of every block multiplied by `factor`."""
    t = gguf.gguf_types.TYPES[type_name]
    if type_name not in SCALES:
        raise ValueError("--markers cannot scale blocks of type %s" % type_name)
    blocks = np.array(raw).reshape(-1, t.bytes)
    for at in SCALES[type_name]:
        half = np.ascontiguousarray(blocks[:, at:at + 2]).view(np.float16)
        blocks[:, at:at + 2] = (half * np.float16(factor)).view(np.uint8)
    return blocks.reshape(-1)


def stacked(dense, name, experts, markers):
    """A function that makes the bytes when they are written: files may be larger than memory."""
    t = dense.tensors[name]
    mark = markers and "ffn_down" in name

    def data():
        raw = dense.raw(name)
        return np.concatenate([scaled(raw, t.type, marker(e, experts)) if mark else raw
                               for e in range(experts)])
    return gguf.NewTensor(name.replace(".weight", "_exps.weight"), (*t.dims, experts), t.type,
                          data)


def router(name, width, experts, seed):
    rng = np.random.Generator(np.random.PCG64([seed, zlib.crc32(name.encode())]))
    values = rng.standard_normal((experts, width), dtype=np.float32) * np.float32(ROUTER)
    return gguf.NewTensor(name, (width, experts), "F32", values)


def moeify(dense_path, out_path, experts=16, used=1, markers=False, seed=1):
    dense = gguf.Reader(dense_path)
    meta = dense.metadata()
    if meta["general.architecture"][1] != "llama" or "llama.expert_count" in meta:
        raise ValueError("%s is no dense llama file" % dense_path)
    meta.put("llama.expert_count", gguf.U32, experts)
    meta.put("llama.expert_used_count", gguf.U32, used)
    meta.put("general.name", gguf.STRING, "%d experts out of %s"
             % (experts, meta.get("general.name", (0, "a dense model"))[1]))
    tensors = []
    for t in dense.tensors.values():
        parts = t.name.split(".")
        if len(parts) == 4 and parts[2] in ["ffn_" + p for p in PARTS] and parts[3] == "weight":
            tensors.append(stacked(dense, t.name, experts, markers))
            if parts[2] == "ffn_gate":
                name = ".".join(parts[:2]) + ".ffn_gate_inp.weight"
                tensors.append(router(name, t.dims[0], experts, seed))
        else:
            tensors.append(gguf.NewTensor(t.name, t.dims, t.type,
                                          lambda name=t.name: np.array(dense.raw(name))))
    gguf.write(out_path, meta, tensors)


def main(argv):
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("dense")
    p.add_argument("out")
    kind = p.add_mutually_exclusive_group(required=True)
    kind.add_argument("--copies", action="store_true")
    kind.add_argument("--markers", action="store_true")
    p.add_argument("--experts", type=int, default=16)
    p.add_argument("--used", type=int, help="by default 1 of copies, 2 of marked experts")
    p.add_argument("--seed", type=int, default=1)
    a = p.parse_args(argv)
    used = a.used or (2 if a.markers else 1)
    moeify(a.dense, a.out, a.experts, used, a.markers, a.seed)


if __name__ == "__main__":
    main(sys.argv[1:])
