#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes dequantised.txt: random blocks of each type and their values by the gguf package.

Run by hand when a type is added (pip install gguf numpy):
    python3 make_dequantised.py > dequantised.txt
A line per block: TYPE, its bytes in hex, "=", the bits of its values as float32 in hex.
"""

import numpy
from gguf import GGMLQuantizationType, quants
from gguf.constants import GGML_QUANT_SIZES

TYPES = ("F16 BF16 Q8_0 Q4_0 Q4_1 Q5_0 Q5_1 Q2_K Q3_K Q4_K Q5_K Q6_K IQ4_NL IQ4_XS MXFP4").split()
# Offsets of float16 scales: random bytes there would be infinite or NaN too often.
HALVES = {"Q4_1": (0, 2), "Q5_1": (0, 2), "Q2_K": (80, 82), "Q3_K": (108,), "Q4_K": (0, 2),
          "Q5_K": (0, 2), "Q6_K": (208,), "MXFP4": (), "F16": (), "BF16": ()}


def block(rng, name, size, weights):
    data = rng.integers(0, 256, size, dtype=numpy.uint8)
    if name in ("F16", "BF16"):
        values = rng.standard_normal(weights).astype(numpy.float32)
        bits = values.astype(numpy.float16).view(numpy.uint8) if name == "F16" else \
            (values.view(numpy.uint32) >> 16).astype(numpy.uint16).view(numpy.uint8)
        return bits
    for offset in HALVES.get(name, (0,)):
        scale = rng.standard_normal(1).astype(numpy.float16) * numpy.float16(0.1)
        data[offset:offset + 2] = scale.view(numpy.uint8)
    return data


def main():
    rng = numpy.random.default_rng(1)
    print("# Written by make_dequantised.py.")
    for name in TYPES:
        kind = GGMLQuantizationType[name]
        weights, size = GGML_QUANT_SIZES[kind]
        if weights == 1:
            weights, size = 16, 32
        for _ in range(2 if weights == 256 else 4):
            data = block(rng, name, size, weights)
            values = quants.dequantize(data.reshape(1, -1), kind).astype(numpy.float32).ravel()
            bits = " ".join(f"{b:x}" for b in values.view(numpy.uint32))
            print(name, data.tobytes().hex(), "=", bits)


main()
