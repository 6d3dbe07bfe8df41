# SPDX-License-Identifier: Apache-2.0
"""Simple quantisers for every type of gguf_types that can be computed.

For fixtures and for the bundled model: round to nearest, with a search over a few scales and a
least-squares refit per group. Not tuned for perplexity. Input is float32 of shape
(n_blocks, block), output uint8 of shape (n_blocks, bytes).
"""
import numpy as np

from gguf_types import F32, IQ4_POINTS, MXFP4_POINTS, TYPES, e8m0_half

SEARCH = np.array([1.0, 0.86, 0.90, 0.94, 0.97, 1.03, 1.07, 1.12], dtype=F32)


# ---- fitting one group -------------------------------------------------------------------------

def safe_inverse(scale):
    return np.divide(F32(1), scale, out=np.zeros_like(scale), where=scale != 0)


def keep_better(best, error, candidate):
    """best = [error, scale, ...]: replaces the groups in which `error` is smaller."""
    better = error < best[0]
    best[0] = np.where(better, error, best[0])
    for i, value in enumerate(candidate, start=1):
        best[i] = np.where(better, value, best[i])


def rounded(x, scale, low, high):
    return np.clip(np.rint(x * safe_inverse(scale)[..., None]), low, high).astype(F32)


def fit_signed(x, low, high):
    """Scale s per group (last axis) so that clip(round(x / s), low, high) * s is near x.

    The extreme value is mapped to `low`, the code with the larger reach, so s may be negative.
    """
    at = np.abs(x).argmax(axis=-1)[..., None]
    extreme = np.take_along_axis(x, at, axis=-1)[..., 0]
    best = [np.full(extreme.shape, np.inf, F32), np.zeros_like(extreme)]
    for factor in SEARCH:
        scale = extreme / F32(low) * factor
        q = rounded(x, scale, low, high)
        norm = (q * q).sum(axis=-1)
        refit = np.divide((x * q).sum(axis=-1), norm, out=scale.copy(), where=norm > 0)
        error = ((refit[..., None] * rounded(x, refit, low, high) - x) ** 2).sum(axis=-1)
        keep_better(best, error, [refit])
    return best[1]


def fit_affine(x, levels, floor_at_zero):
    """Scale s and offset m per group: x ~ s * q + m, q in 0..levels. K types need m <= 0."""
    high = x.max(axis=-1)
    low = x.min(axis=-1)
    if floor_at_zero:
        low = np.minimum(low, F32(0))
        high = np.maximum(high, low)
    best = [np.full(high.shape, np.inf, F32), np.zeros_like(high), np.zeros_like(high)]
    n = F32(x.shape[-1])
    for factor in SEARCH:
        scale = (high - low) / F32(levels) * factor
        q = rounded(x - low[..., None], scale, 0, levels)
        sq, sqq = q.sum(axis=-1), (q * q).sum(axis=-1)
        sx, sxq = x.sum(axis=-1), (x * q).sum(axis=-1)
        det = n * sqq - sq * sq
        slope = np.divide(n * sxq - sq * sx, det, out=scale.copy(), where=det > 0)
        offset = np.where(det > 0, (sx - slope * sq) / n, low)
        if floor_at_zero:
            free = offset <= 0
            through_zero = np.divide(sxq, sqq, out=scale.copy(), where=sqq > 0)
            slope = np.where(free, slope, through_zero)
            offset = np.where(free, offset, F32(0))
        slope = np.maximum(slope, F32(0))
        q = rounded(x - offset[..., None], slope, 0, levels)
        error = ((slope[..., None] * q + offset[..., None] - x) ** 2).sum(axis=-1)
        keep_better(best, error, [slope, offset])
    return best[1], best[2]


def nearest_point(x, points):
    """Index of the nearest code point; points may be in any order, the first of equals wins."""
    order = np.argsort(points, kind="stable")
    ascending = points[order]
    middle = (ascending[1:] + ascending[:-1]) / F32(2)
    return order[np.searchsorted(middle, x)].astype(np.uint8)


def fit_points(x, points):
    """Scale per group for a code book that is not uniform."""
    at = np.abs(x).argmax(axis=-1)[..., None]
    extreme = np.take_along_axis(x, at, axis=-1)[..., 0]
    best = [np.full(extreme.shape, np.inf, F32), np.zeros_like(extreme)]
    for end in (points[0], points[-1]):
        for factor in SEARCH:
            scale = extreme / F32(end) * factor
            y = points[nearest_point(x * safe_inverse(scale)[..., None], points)]
            norm = (y * y).sum(axis=-1)
            refit = np.divide((x * y).sum(axis=-1), norm, out=scale.copy(), where=norm > 0)
            y = points[nearest_point(x * safe_inverse(refit)[..., None], points)]
            error = ((refit[..., None] * y - x) ** 2).sum(axis=-1)
            keep_better(best, error, [refit])
    return best[1]


# ---- packing -----------------------------------------------------------------------------------

def half_bytes(column):
    return column.astype(np.float16).reshape(-1, 1).view(np.uint8)


def half_round(column):
    return column.astype(np.float16).astype(F32)


def pack_nibbles32(q):
    return (q[:, :16] | (q[:, 16:] << 4)).astype(np.uint8)


def pack_fifth_bits(q):
    return np.packbits((q >> 4).astype(np.uint8), axis=1, bitorder="little")


def pack_scales_mins_6bit(scales, mins):
    out = np.zeros((len(scales), 12), dtype=np.uint8)
    out[:, 0:4] = (scales[:, :4] & 63) | ((scales[:, 4:] >> 4) << 6)
    out[:, 4:8] = (mins[:, :4] & 63) | ((mins[:, 4:] >> 4) << 6)
    out[:, 8:12] = (scales[:, 4:] & 15) | ((mins[:, 4:] & 15) << 4)
    return out


def pack_two_bit_planes(q):
    """(n, 16, 16) values below 4 -> 64 bytes; the inverse of gguf_types.two_bit_planes."""
    planes = q.reshape(len(q), 2, 4, 32).astype(np.uint8)
    shifts = np.array([0, 2, 4, 6], dtype=np.uint8).reshape(1, 1, 4, 1)
    return np.bitwise_or.reduce(planes << shifts, axis=2).reshape(len(q), 64)


def pack_k_nibbles(q):
    pairs = q.reshape(len(q), 4, 2, 32).astype(np.uint8)
    return (pairs[:, :, 0] | (pairs[:, :, 1] << 4)).reshape(len(q), 128)


# ---- quantisers --------------------------------------------------------------------------------

def quant_f32(x):
    return x.astype(F32).view(np.uint8).reshape(-1, 4)


def quant_f16(x):
    return x.astype(np.float16).view(np.uint8).reshape(-1, 2)


def quant_bf16(x):
    bits = x.astype(F32).view(np.uint32)
    even = bits + np.uint32(0x7fff) + ((bits >> 16) & 1)       # round to nearest, ties to even
    return (even >> 16).astype(np.uint16).view(np.uint8).reshape(-1, 2)


def quant_q8_0(x):
    d = half_round(np.abs(x).max(axis=1) / F32(127))
    q = rounded(x, d, -127, 127).astype(np.int8)
    return np.concatenate([half_bytes(d), q.view(np.uint8)], axis=1)


def quant_symmetric32(x, low, high):
    d = half_round(fit_signed(x, low, high))
    return d, (rounded(x, d, low, high) - low).astype(np.uint8)


def quant_affine32(x, levels):
    slope, offset = fit_affine(x, levels, floor_at_zero=False)
    d, m = half_round(slope), half_round(offset)
    return d, m, rounded(x - m[:, None], d, 0, levels).astype(np.uint8)


def quant_q4_0(x):
    d, q = quant_symmetric32(x, -8, 7)
    return np.concatenate([half_bytes(d), pack_nibbles32(q)], axis=1)


def quant_q5_0(x):
    d, q = quant_symmetric32(x, -16, 15)
    return np.concatenate([half_bytes(d), pack_fifth_bits(q), pack_nibbles32(q & 15)], axis=1)


def quant_q4_1(x):
    d, m, q = quant_affine32(x, 15)
    return np.concatenate([half_bytes(d), half_bytes(m), pack_nibbles32(q)], axis=1)


def quant_q5_1(x):
    d, m, q = quant_affine32(x, 31)
    return np.concatenate([half_bytes(d), half_bytes(m), pack_fifth_bits(q),
                           pack_nibbles32(q & 15)], axis=1)


def quant_k_affine(x, groups, levels, scale_max):
    """Affine super-block. Returns d, dmin, scales, mins, quants (n, groups, 256 / groups)."""
    g = x.reshape(len(x), groups, -1)
    slope, offset = fit_affine(g, levels, floor_at_zero=True)
    d = half_round(slope.max(axis=1) / F32(scale_max))
    dmin = half_round((-offset).max(axis=1) / F32(scale_max))
    scales = np.clip(np.rint(slope * safe_inverse(d)[:, None]), 0, scale_max)
    mins = np.clip(np.rint(-offset * safe_inverse(dmin)[:, None]), 0, scale_max)
    real_scale = (d[:, None] * scales).astype(F32)
    real_min = (dmin[:, None] * mins).astype(F32)
    q = rounded(g + real_min[:, :, None], real_scale, 0, levels)
    return d, dmin, scales.astype(np.uint8), mins.astype(np.uint8), q.astype(np.uint8)


def quant_q2_k(x):
    d, dmin, scales, mins, q = quant_k_affine(x, 16, 3, 15)
    return np.concatenate([scales | (mins << 4), pack_two_bit_planes(q), half_bytes(d),
                           half_bytes(dmin)], axis=1)


def quant_q4_k(x):
    d, dmin, scales, mins, q = quant_k_affine(x, 8, 15, 63)
    return np.concatenate([half_bytes(d), half_bytes(dmin), pack_scales_mins_6bit(scales, mins),
                           pack_k_nibbles(q)], axis=1)


def quant_q5_k(x):
    d, dmin, scales, mins, q = quant_k_affine(x, 8, 31, 63)
    bits = (q >> 4) << np.arange(8, dtype=np.uint8).reshape(1, 8, 1)
    return np.concatenate([half_bytes(d), half_bytes(dmin), pack_scales_mins_6bit(scales, mins),
                           np.bitwise_or.reduce(bits, axis=1), pack_k_nibbles(q & 15)], axis=1)


def quant_k_symmetric(x, groups, fit, scale_low, scale_high):
    """Signed super-block. `fit` gives the scale of a group. Returns d, scales, real scales, g."""
    g = x.reshape(len(x), groups, -1)
    scale = fit(g)
    at = np.abs(scale).argmax(axis=1)[:, None]
    d = half_round(np.take_along_axis(scale, at, axis=1)[:, 0] / F32(scale_low))
    scales = np.clip(np.rint(scale * safe_inverse(d)[:, None]), scale_low, scale_high)
    return d, scales.astype(np.int8), (d[:, None] * scales).astype(F32), g


def quant_q3_k(x):
    d, scales, real, g = quant_k_symmetric(x, 16, lambda v: fit_signed(v, -4, 3), -32, 31)
    q = rounded(g, real, -4, 3).astype(np.int8) + np.int8(4)
    planes = (q >> 2).astype(np.uint8).reshape(len(x), 8, 32)
    hmask = np.bitwise_or.reduce(planes << np.arange(8, dtype=np.uint8).reshape(1, 8, 1), axis=1)
    s = (scales.astype(np.int16) + 32).astype(np.uint8)
    packed = np.zeros((len(x), 12), dtype=np.uint8)
    packed[:, :8] = (s[:, :8] & 15) | ((s[:, 8:] & 15) << 4)
    for i in range(16):
        packed[:, 8 + i % 4] |= (s[:, i] >> 4) << (2 * (i // 4))
    return np.concatenate([hmask, pack_two_bit_planes(q.view(np.uint8) & 3), packed,
                           half_bytes(d)], axis=1)


def quant_q6_k(x):
    n = len(x)
    d, scales, real, g = quant_k_symmetric(x, 16, lambda v: fit_signed(v, -32, 31), -128, 127)
    q = (rounded(g, real, -32, 31) + 32).astype(np.uint8).reshape(n, 2, 4, 32)
    low = ((q[:, :, :2] & 15) | ((q[:, :, 2:] & 15) << 4)).reshape(n, 128)
    shifts = np.array([0, 2, 4, 6], dtype=np.uint8).reshape(1, 1, 4, 1)
    high = np.bitwise_or.reduce((q >> 4) << shifts, axis=2).reshape(n, 64)
    return np.concatenate([low, high, scales.view(np.uint8), half_bytes(d)], axis=1)


def point_indices(g, scale, points):
    return nearest_point(g * safe_inverse(scale)[..., None], points)


def quant_iq4_nl(x):
    d = half_round(fit_points(x, IQ4_POINTS))
    return np.concatenate([half_bytes(d), pack_nibbles32(point_indices(x, d, IQ4_POINTS))], axis=1)


def quant_iq4_xs(x):
    n = len(x)
    d, scales, real, g = quant_k_symmetric(x, 8, lambda v: fit_points(v, IQ4_POINTS), -32, 31)
    s = (scales.astype(np.int16) + 32).astype(np.uint8)
    low = s[:, 0::2] & 15 | ((s[:, 1::2] & 15) << 4)
    word = np.zeros(n, dtype=np.uint16)
    for i in range(8):
        word |= (s[:, i] >> 4).astype(np.uint16) << np.uint16(2 * i)
    q = point_indices(g, real, IQ4_POINTS).reshape(n * 8, 32)
    return np.concatenate([half_bytes(d), word.reshape(n, 1).view(np.uint8), low,
                           pack_nibbles32(q).reshape(n, 128)], axis=1)


def quant_mxfp4(x):
    largest = np.abs(x).max(axis=1)
    floor_log2 = np.frexp(np.maximum(largest, F32(1e-30)))[1] - 1
    best = [np.full(len(x), np.inf, F32), np.zeros(len(x), np.uint8)]
    for shift in (-2, -1, -3):                     # 6 = 1.5 * 2^2 is the largest E2M1 value
        e = np.clip(floor_log2 + shift + 127, 0, 254).astype(np.uint8)
        scale = e8m0_half(e)
        y = scale[:, None] * MXFP4_POINTS[point_indices(x, scale, MXFP4_POINTS)]
        keep_better(best, ((y - x) ** 2).sum(axis=1), [e])
    q = point_indices(x, e8m0_half(best[1]), MXFP4_POINTS)
    return np.concatenate([best[1].reshape(-1, 1), pack_nibbles32(q)], axis=1)


QUANTISERS = {
    "F32": quant_f32, "F16": quant_f16, "BF16": quant_bf16, "Q8_0": quant_q8_0,
    "Q4_0": quant_q4_0, "Q4_1": quant_q4_1, "Q5_0": quant_q5_0, "Q5_1": quant_q5_1,
    "Q2_K": quant_q2_k, "Q3_K": quant_q3_k, "Q4_K": quant_q4_k, "Q5_K": quant_q5_k,
    "Q6_K": quant_q6_k, "IQ4_NL": quant_iq4_nl, "IQ4_XS": quant_iq4_xs, "MXFP4": quant_mxfp4,
}


def quantise(type_name, values, chunk=1 << 13):
    """Float values (any shape, rows last) -> flat uint8 array of the type's blocks."""
    t = TYPES[type_name]
    x = np.ascontiguousarray(values, dtype=F32)
    if x.shape[-1] % t.block:
        raise ValueError("a row of %d is no multiple of the %d weights of a %s block"
                         % (x.shape[-1], t.block, type_name))
    x = x.reshape(-1, t.block)
    if t.block == 1:
        chunk *= 256
    parts = [QUANTISERS[type_name](x[i:i + chunk]) for i in range(0, len(x), chunk)]
    return np.concatenate(parts).reshape(-1)
