#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the seeds of the fuzz target gguf: make_corpus_gguf.py [DIR], fuzz/corpus/gguf by default.

Each seed is one small file, sound or wrong in one way; the name says which. Inputs that a fuzzer
found are kept beside them under names that begin with "found-" and are not touched.
"""
import os
import struct
import sys

U8, I8, U16, I16, U32, I32, F32, BOOL, STRING, ARRAY, U64, I64, F64 = range(13)
PACK = {U8: "B", I8: "b", U16: "H", I16: "h", U32: "I", I32: "i", F32: "f", BOOL: "B",
        U64: "Q", I64: "q", F64: "d"}
TYPE_F32, TYPE_Q8_0, TYPE_UNKNOWN = 0, 8, 200


def string(text):
    raw = text if isinstance(text, bytes) else text.encode()
    return struct.pack("<Q", len(raw)) + raw


def packed(kind, value):
    return string(value) if kind == STRING else struct.pack("<" + PACK[kind], value)


def pair(key, kind, value):
    return string(key) + struct.pack("<I", kind) + packed(kind, value)


def array(key, kind, values, count=None):
    count = len(values) if count is None else count
    head = string(key) + struct.pack("<IIQ", ARRAY, kind, count)
    return head + b"".join(packed(kind, v) for v in values)


def tensor(name, shape, kind=TYPE_F32, offset=0):
    dims = struct.pack("<I", len(shape)) + b"".join(struct.pack("<Q", n) for n in shape)
    return string(name) + dims + struct.pack("<IQ", kind, offset)


def file(pairs=(), tensors=(), data=0, version=3, unit=32, n_pairs=None, n_tensors=None):
    n_pairs = len(pairs) if n_pairs is None else n_pairs
    n_tensors = len(tensors) if n_tensors is None else n_tensors
    head = b"GGUF" + struct.pack("<IQQ", version, n_tensors, n_pairs)
    head += b"".join(pairs) + b"".join(tensors)
    if tensors:
        head += b"\0" * (-len(head) % unit)
    return head + bytes(range(256)) * (data // 256) + bytes(data % 256)


ARCH = pair("general.architecture", STRING, "tiny")
EVERY = [pair("t.%d" % kind, kind, 1) for kind in PACK] + [pair("t.s", STRING, "a\n\u00fc")]
ARRAYS = [array("a.%d" % kind, kind, [0, 1, 1]) for kind in PACK]
WORDS = array("tokenizer.ggml.tokens", STRING, ["w" * (i % 5) for i in range(40)])
SOUND = file([ARCH] + EVERY + ARRAYS + [WORDS],
             [tensor("a", (3, 2)), tensor("b", (32, 2, 2), TYPE_Q8_0, 32)], 32 + 136)

SEEDS = {
    "good-whole": SOUND,
    "good-version-2": file([ARCH], version=2),
    "good-nothing": file(),
    "good-alignment": file([pair("general.alignment", U32, 64)], [tensor("a", (8,))], 32, unit=64),
    "good-unknown-type": file([], [tensor("a", (7, 3), TYPE_UNKNOWN), tensor("b", (), 0, 32)], 36),
    "good-gap": file([], [tensor("a", (8,), 0, 96), tensor("b", (8,))], 128),
    "good-empty-array": file([array("e", STRING, []), array("f", U8, [])]),
    "good-one-shard": file([pair("split.count", U16, 1), pair("split.no", U16, 0)]),
    "bad-shard": file([pair("split.count", U16, 3), pair("split.no", U16, 0)]),
    "bad-magic": b"GGML" + SOUND[4:60],
    "bad-version-1": file(version=1),
    "bad-big-endian": file(version=3 << 24),
    "bad-cut-metadata": SOUND[:200],
    "bad-cut-table": SOUND[:-(32 + 136) - 60],
    "bad-cut-data": SOUND[:-1],
    "bad-pair-count": file([ARCH], n_pairs=1 << 40),
    "bad-tensor-count": file([], [tensor("a", (8,))], 32, n_tensors=(1 << 64) - 1),
    "bad-value-type": file([string("k") + struct.pack("<IQ", 13, 0)]),
    "bad-element-type": file([string("k") + struct.pack("<IIQ", ARRAY, 256, 1) + b"\0" * 8]),
    "bad-nested": file([string("k") + struct.pack("<IIQ", ARRAY, ARRAY, 1) * 9]),
    "bad-bool": file([pair("k", BOOL, 2)]),
    "bad-array-count": file([array("k", U64, [1], 1 << 61)]),
    "bad-string-count": file([array("k", STRING, ["a"], 1 << 40)]),
    "bad-string-length": file([string("k") + struct.pack("<IQ", STRING, (1 << 63) + 8)]),
    "bad-key-twice": file([ARCH, ARCH]),
    "bad-key-empty": file([pair("", U32, 1)]),
    "bad-key-letters": file([pair("k\n", U32, 1)]),
    "bad-alignment-value": file([pair("general.alignment", U32, 3)]),
    "bad-alignment-type": file([pair("general.alignment", STRING, "32")]),
    "bad-architecture": file([pair("general.architecture", U32, 1)]),
    "bad-dims": file([], [string("a") + struct.pack("<I", 9) + b"\1" * 90], 32),
    "bad-dim-0": file([], [tensor("a", (4, 0))], 32),
    "bad-product": file([], [tensor("a", (1 << 32, 1 << 32))], 32),
    "bad-size": file([], [tensor("a", (1 << 31, 1 << 31))], 32),
    "bad-block": file([], [tensor("a", (33,), TYPE_Q8_0)], 64),
    "bad-offset": file([], [tensor("a", (8,), 0, 33)], 96),
    "bad-offset-wraps": file([], [tensor("a", (8,), 0, (1 << 64) - 32)], 32),
    "bad-overlap": file([], [tensor("a", (16,)), tensor("b", (8,), 0, 32)], 64),
    "bad-name-twice": file([], [tensor("a", (8,)), tensor("a", (8,), 0, 32)], 64),
    "bad-name": file([], [tensor(b"\xff", (8,))], 32),
    "bad-name-long": file([], [tensor("n" * 64, (8,))], 32),
}


def main(argv):
    folder = argv[0] if argv else os.path.join(os.path.dirname(__file__), "corpus", "gguf")
    os.makedirs(folder, exist_ok=True)
    for name, data in SEEDS.items():
        with open(os.path.join(folder, name), "wb") as out:
            out.write(data)


if __name__ == "__main__":
    main(sys.argv[1:])
