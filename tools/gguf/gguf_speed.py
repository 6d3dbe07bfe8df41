#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the large models on which speed is measured: gigabytes in seconds.

    gguf_speed.py --list
    gguf_speed.py DIR q4_k q8_0            writes DIR/speed-q4_k.gguf, unless it is there already

The widths are those of Qwen3-30B-A3B (128 experts, 8 a token, each of 768) with 12 of its 48 layers
and a small vocabulary; unquantised ones have 4 layers. The text of such a model is noise. Its
matrices are cut at random places from one pool of honestly quantised random weights per type and
size, because quantising all of them would take an hour: what is read, multiplied and routed costs
the same, as nothing an engine does depends on a weight's value. Routing is close to uniform, the
hardest case for a cache of experts.
"""
import argparse
import os
import sys
import zlib

import numpy as np

import gguf_file as gguf
import gguf_quantise
import gguf_types
from gguf_make import FALLBACK, Maker, Spec

A3B = dict(arch="qwen3moe", layers=12, width=2048, heads=32, kv_heads=4, head_dim=128, ff=6144,
           experts=128, used=8, expert_ff=768, vocab=32768, context=40960, rope_base=1e6, eps=1e-6)
TINY = dict(arch="qwen3moe", layers=2, width=256, heads=4, kv_heads=2, head_dim=64, ff=512,
            experts=8, used=2, expert_ff=256, vocab=1024, context=4096)
DENSE = dict(attn=["Q8_0"], embed=["Q8_0"], output=["Q6_K"])
POOL_WEIGHTS, POOL_ROW = 1 << 21, 2048
SLICE_WEIGHTS = 1 << 19


def experts_of(type_name, **other):
    """Every expert in one type; what is not an expert as released files commonly have it."""
    return dict(type=type_name, types={**DENSE, **other})


def plain(type_name):
    return dict(type=type_name, layers=4)


MODELS = {
    "q4_k": experts_of("Q4_K"),
    "q4_k_m": experts_of("Q4_K", down=["Q6_K"], attn=["Q4_K"]),
    "q8_0": experts_of("Q8_0"),
    "mxfp4": experts_of("MXFP4"),
    "q4_0": experts_of("Q4_0"),
    "iq4_xs": experts_of("IQ4_XS"),
    "q5_k": experts_of("Q5_K"),
    "q6_k": experts_of("Q6_K"),
    "q3_k": experts_of("Q3_K"),
    "q2_k": experts_of("Q2_K"),
    "q5_0": experts_of("Q5_0"),
    "iq4_nl": experts_of("IQ4_NL"),
    "f16": plain("F16"),
    "bf16": plain("BF16"),
}


class SpeedMaker(Maker):
    """A Maker whose matrices come from pools, and only when they are written."""

    def __init__(self, spec):
        super().__init__(spec)
        self.pools = {}
        largest = spec.width * max(spec.vocab, spec.experts * spec.expert_ff)
        self.pool_rows = min(POOL_WEIGHTS, largest) // POOL_ROW

    def pool(self, type_name, std):
        """Blocks of normal weights, (n, bytes of a block)."""
        key = type_name, float(std)
        if key not in self.pools:
            values = self.normal("pool %s %.9g" % key, (self.pool_rows, POOL_ROW), std)
            data = gguf_quantise.quantise(type_name, values)
            self.pools[key] = data.reshape(-1, gguf_types.TYPES[type_name].bytes)
        return self.pools[key]

    def cut(self, name, type_name, dims, std):
        """The bytes of a tensor: slices from random places of the pool."""
        t, pool = gguf_types.TYPES[type_name], self.pool(type_name, std)
        out = np.empty(gguf_types.nbytes(type_name, dims), np.uint8).reshape(-1, t.bytes)
        rng = np.random.Generator(np.random.PCG64([self.spec.seed, zlib.crc32(name.encode())]))
        step = SLICE_WEIGHTS // t.block
        for start in range(0, len(out), step):
            part = out[start:start + step]
            at = rng.integers(0, len(pool) - len(part) + 1)
            part[:] = pool[at:at + len(part)]
        return out

    def matrix(self, name, rows, columns, role, gain=1.0, layer=0, stack=()):
        type_name = self.role_type(role, layer)
        if columns % gguf_types.TYPES[type_name].block:
            type_name = FALLBACK[type_name]
        dims, std = (columns, rows, *stack), gain / np.sqrt(columns)
        self.tensors.append(gguf.NewTensor(
            name, dims, type_name, lambda: self.cut(name, type_name, dims, std)))


def make(path, name, widths=None, **options):
    """Writes one of MODELS. widths: A3B by default; options: fields of a Spec, as layers=2."""
    spec = Spec(**{**(widths or A3B), **MODELS[name], **options})
    gguf.write(path, *SpeedMaker(spec).build())
    return path


def path_of(folder, name):
    return os.path.join(folder, "speed-%s.gguf" % name)


def main(argv):
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--list", action="store_true", help="print the names")
    p.add_argument("--tiny", action="store_true", help="small widths: to test the tools themselves")
    p.add_argument("--layers", type=int, help="another number of layers")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("folder", nargs="?")
    p.add_argument("names", nargs="*", metavar="NAME")
    a = p.parse_args(argv)
    if a.list:
        print("\n".join(MODELS))
        return
    unknown = sorted(set(a.names) - set(MODELS))
    if not a.folder or not a.names or unknown:
        p.error("give DIR and names of --list" + "".join("; unknown: " + n for n in unknown))
    options = {"seed": a.seed, **({"layers": a.layers} if a.layers else {})}
    os.makedirs(a.folder, exist_ok=True)
    for name in a.names:
        path = path_of(a.folder, name)
        if not os.path.exists(path):
            make(path, name, TINY if a.tiny else A3B, **options)
        print("%12d %s" % (os.path.getsize(path), path))


if __name__ == "__main__":
    main(sys.argv[1:])
