# SPDX-License-Identifier: Apache-2.0
"""Tensor element types of GGUF: numbers, block sizes, and exact dequantisation with NumPy.

A quantised row is a sequence of blocks; a block is `block` weights in `bytes` bytes. Every
function here works on a uint8 array of shape (n_blocks, bytes) and returns float32 of shape
(n_blocks, block). All arithmetic is float32 in the order of the format's definition, so the
result is the same bit for bit wherever the definition is followed.

The code points of IQ4_NL and IQ4_XS and the bit layouts are data of ggml (MIT licence).
"""
from dataclasses import dataclass
from typing import Callable, Optional

import numpy as np

F32 = np.float32
IQ4_POINTS = np.array([-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113],
                      dtype=F32)
# E2M1 values times two, so that they are integers; the block scale is halved to make up for it.
MXFP4_POINTS = np.array([0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12], dtype=F32)


# ---- helpers: pieces of a block ----------------------------------------------------------------

def half(blocks, at):
    """The float16 at byte `at` of every block, as a float32 column (n, 1)."""
    return np.ascontiguousarray(blocks[:, at:at + 2]).view(np.float16).astype(F32)


def nibbles32(packed):
    """(n, 16) bytes -> (n, 32) values: element j is the low nibble of byte j, j + 16 the high."""
    return np.concatenate([packed & 15, packed >> 4], axis=1)


def fifth_bits(blocks, at):
    """(n, 32) bits of the little-endian word at byte `at`; bit j belongs to element j."""
    return np.unpackbits(blocks[:, at:at + 4], axis=1, bitorder="little")


def scales_mins_6bit(packed):
    """12 bytes hold eight (scale, min) pairs of six bits. Returns two (n, 8) uint8 arrays."""
    a, b, c = packed[:, 0:4], packed[:, 4:8], packed[:, 8:12]
    scales = np.concatenate([a & 63, (c & 15) | ((a >> 6) << 4)], axis=1)
    mins = np.concatenate([b & 63, (c >> 4) | ((b >> 6) << 4)], axis=1)
    return scales, mins


def two_bit_planes(packed):
    """64 bytes -> (n, 16, 16) values: two halves of 128, in each shifts 0, 2, 4, 6 of 32 bytes."""
    n = len(packed)
    shifts = np.array([0, 2, 4, 6], dtype=np.uint8).reshape(1, 1, 4, 1)
    return ((packed.reshape(n, 2, 1, 32) >> shifts) & 3).reshape(n, 16, 16)


# ---- dequantisation ----------------------------------------------------------------------------

def dequant_f32(b):
    return b.view(F32)


def dequant_f16(b):
    return b.view(np.float16).astype(F32)


def dequant_bf16(b):
    return (b.view(np.uint16).astype(np.uint32) << 16).view(F32)


def dequant_q8_0(b):
    return b[:, 2:].view(np.int8).astype(F32) * half(b, 0)


def dequant_q4_0(b):
    return (nibbles32(b[:, 2:]).astype(F32) - F32(8)) * half(b, 0)


def dequant_q4_1(b):
    return nibbles32(b[:, 4:]).astype(F32) * half(b, 0) + half(b, 2)


def dequant_q5_0(b):
    q = nibbles32(b[:, 6:]) | (fifth_bits(b, 2) << 4)
    return (q.astype(F32) - F32(16)) * half(b, 0)


def dequant_q5_1(b):
    q = nibbles32(b[:, 8:]) | (fifth_bits(b, 4) << 4)
    return q.astype(F32) * half(b, 0) + half(b, 2)


def dequant_q2_k(b):
    n = len(b)
    scale = half(b, 80) * (b[:, :16] & 15).astype(F32)
    low = half(b, 82) * (b[:, :16] >> 4).astype(F32)
    q = two_bit_planes(b[:, 16:80]).astype(F32)
    return (scale[:, :, None] * q - low[:, :, None]).reshape(n, 256)


def q3_k_scales(packed):
    """12 bytes hold sixteen six-bit scales, stored plus 32. Returns (n, 16) int8."""
    low = np.concatenate([packed[:, :8] & 15, packed[:, :8] >> 4], axis=1)
    shifts = np.repeat(np.array([0, 2, 4, 6], dtype=np.uint8), 4)
    high = (np.tile(packed[:, 8:12], (1, 4)) >> shifts) & 3
    return ((low | (high << 4)).astype(np.int16) - 32).astype(np.int8)


def dequant_q3_k(b):
    n = len(b)
    scale = half(b, 108) * q3_k_scales(b[:, 96:108]).astype(F32)
    # Plane p (= half * 4 + shift / 2) of 32 elements has its third bit in bit p of hmask.
    planes = np.arange(8, dtype=np.uint8).reshape(1, 8, 1)
    high = ((b[:, :32].reshape(n, 1, 32) >> planes) & 1).reshape(n, 16, 16)
    q = two_bit_planes(b[:, 32:96]).astype(np.int8) - ((1 - high) * 4).astype(np.int8)
    return (scale[:, :, None] * q.astype(F32)).reshape(n, 256)


def dequant_k_affine(b, quants):
    """Common end of Q4_K and Q5_K: quants is (n, 8, 32)."""
    scales, mins = scales_mins_6bit(b[:, 4:16])
    scale = half(b, 0) * scales.astype(F32)
    low = half(b, 2) * mins.astype(F32)
    return (scale[:, :, None] * quants.astype(F32) - low[:, :, None]).reshape(len(b), 256)


def k_nibbles(packed):
    """128 bytes -> (n, 8, 32): groups 2i and 2i + 1 are the low and high nibbles of 32 bytes."""
    n = len(packed)
    q = packed.reshape(n, 4, 1, 32)
    return np.concatenate([q & 15, q >> 4], axis=2).reshape(n, 8, 32)


def dequant_q4_k(b):
    return dequant_k_affine(b, k_nibbles(b[:, 16:]))


def dequant_q5_k(b):
    groups = np.arange(8, dtype=np.uint8).reshape(1, 8, 1)
    high = (b[:, 16:48].reshape(len(b), 1, 32) >> groups) & 1
    return dequant_k_affine(b, k_nibbles(b[:, 48:]) | (high << 4))


def dequant_q6_k(b):
    n = len(b)
    ql = b[:, :128].reshape(n, 2, 2, 32)                    # half, which 32 bytes, element
    low = np.concatenate([ql & 15, ql >> 4], axis=2)        # -> half, group of 32, element
    shifts = np.array([0, 2, 4, 6], dtype=np.uint8).reshape(1, 1, 4, 1)
    high = (b[:, 128:192].reshape(n, 2, 1, 32) >> shifts) & 3
    q = (low | (high << 4)).astype(np.int8) - np.int8(32)
    scale = half(b, 208) * b[:, 192:208].view(np.int8).astype(F32)
    return (scale[:, :, None] * q.reshape(n, 16, 16).astype(F32)).reshape(n, 256)


def dequant_iq4_nl(b):
    return half(b, 0) * IQ4_POINTS[nibbles32(b[:, 2:])]


def dequant_iq4_xs(b):
    n = len(b)
    low = np.stack([b[:, 4:8] & 15, b[:, 4:8] >> 4], axis=2).reshape(n, 8)
    word = b[:, 2:4].copy().view(np.uint16)
    high = (word >> np.arange(0, 16, 2, dtype=np.uint16)) & 3
    scale = half(b, 0) * ((low | (high << 4).astype(np.uint8)).astype(F32) - F32(32))
    quants = b[:, 8:].reshape(n * 8, 16)
    return (scale[:, :, None] * IQ4_POINTS[nibbles32(quants)].reshape(n, 8, 32)).reshape(n, 256)


def e8m0_half(exponents):
    """2^(e - 128) as float32; e of 0 and 1 give denormals."""
    e = exponents.astype(np.uint32)
    return np.where(e < 2, np.uint32(0x00200000) << e, (e - 1) << 23).astype(np.uint32).view(F32)


def dequant_mxfp4(b):
    return e8m0_half(b[:, :1].copy()) * MXFP4_POINTS[nibbles32(b[:, 1:])]


# ---- the table ---------------------------------------------------------------------------------

@dataclass(frozen=True)
class TensorType:
    id: int
    name: str
    block: int                     # weights in a block
    bytes: int                     # bytes in a block
    dequantise: Optional[Callable] = None


TYPES = {t.name: t for t in [
    TensorType(0, "F32", 1, 4, dequant_f32),
    TensorType(1, "F16", 1, 2, dequant_f16),
    TensorType(2, "Q4_0", 32, 18, dequant_q4_0),
    TensorType(3, "Q4_1", 32, 20, dequant_q4_1),
    TensorType(6, "Q5_0", 32, 22, dequant_q5_0),
    TensorType(7, "Q5_1", 32, 24, dequant_q5_1),
    TensorType(8, "Q8_0", 32, 34, dequant_q8_0),
    TensorType(10, "Q2_K", 256, 84, dequant_q2_k),
    TensorType(11, "Q3_K", 256, 110, dequant_q3_k),
    TensorType(12, "Q4_K", 256, 144, dequant_q4_k),
    TensorType(13, "Q5_K", 256, 176, dequant_q5_k),
    TensorType(14, "Q6_K", 256, 210, dequant_q6_k),
    TensorType(20, "IQ4_NL", 32, 18, dequant_iq4_nl),
    TensorType(23, "IQ4_XS", 256, 136, dequant_iq4_xs),
    TensorType(30, "BF16", 1, 2, dequant_bf16),
    TensorType(39, "MXFP4", 32, 17, dequant_mxfp4),
    # Known by size only: enough to list a file that holds them.
    TensorType(16, "IQ2_XXS", 256, 66), TensorType(17, "IQ2_XS", 256, 74),
    TensorType(18, "IQ3_XXS", 256, 98), TensorType(19, "IQ1_S", 256, 50),
    TensorType(21, "IQ3_S", 256, 110), TensorType(22, "IQ2_S", 256, 82),
    TensorType(24, "I8", 1, 1), TensorType(25, "I16", 1, 2), TensorType(26, "I32", 1, 4),
    TensorType(27, "I64", 1, 8), TensorType(28, "F64", 1, 8), TensorType(29, "IQ1_M", 256, 56),
    TensorType(34, "TQ1_0", 256, 54), TensorType(35, "TQ2_0", 256, 66),
    TensorType(40, "NVFP4", 64, 36),
]}
BY_ID = {t.id: t for t in TYPES.values()}
COMPUTABLE = [t.name for t in TYPES.values() if t.dequantise]


def nbytes(type_name, dims):
    """Bytes of a tensor with `dims` in file order (row length first)."""
    t = TYPES[type_name]
    if dims and dims[0] % t.block:
        raise ValueError("a row of %d is no multiple of the %d weights of a %s block"
                         % (dims[0], t.block, type_name))
    count = 1
    for d in dims:
        count *= d
    return count // t.block * t.bytes


def dequantise(type_name, data, chunk=1 << 15):
    """Bytes (anything NumPy sees as uint8) -> flat float32 array, in slices to bound memory."""
    t = TYPES[type_name]
    if t.dequantise is None:
        raise ValueError("type %s is known by size only" % type_name)
    raw = np.frombuffer(data, dtype=np.uint8) if isinstance(data, (bytes, bytearray)) else data
    blocks = raw.reshape(-1, t.bytes)
    if t.block == 1:
        chunk *= 256
    out = np.empty((len(blocks), t.block), dtype=F32)
    for i in range(0, len(blocks), chunk):
        part = np.ascontiguousarray(blocks[i:i + chunk])
        out[i:i + chunk] = t.dequantise(part)
    return out.reshape(-1)
