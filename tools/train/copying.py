# SPDX-License-Identifier: Apache-2.0
"""Plant copying heads into fresh weights, so that names hold after few tokens.

A small model finds by itself how to copy a word from its context only after many
millions of tokens. Here one head of layer 0 starts out looking at the previous token
and writing a sketch of it; one head of layer 1 looks for positions whose previous token
is like the current one and copies what stands there; the heads beside and above it copy
whatever they look at. Training then decides when and what to copy.

The planted heads are those of the last key/value group.
"""
import torch

from model import rms

PAIRS_POS = 4        # fastest rotary pairs: they tell neighbouring positions apart
PAIR_LOW = 14        # from here on rotary pairs turn slowly enough to compare content
OFFSET = 0.4         # share of the embedding's length in one direction common to all tokens
QK_GAIN = 1.3        # raises the scores of planted dimensions (on queries and keys each)
SKETCH = 2.0         # length of the previous token's sketch over that of the token's own
COPY, COPY_WEAK = 1.0, 0.25


def plant(cfg, p, seed):
    """Change the fresh weights p in place."""
    hd, half, rep = cfg.head_dim, cfg.head_dim // 2, cfg.heads // cfg.kv_heads
    first = (cfg.kv_heads - 1) * rep
    queries = [slice((first + i) * hd, (first + i + 1) * hd) for i in range(rep)]
    key = slice((cfg.heads + cfg.kv_heads - 1) * hd, (cfg.heads + cfg.kv_heads) * hd)
    value = slice((cfg.heads + 2 * cfg.kv_heads - 1) * hd, (cfg.heads + 2 * cfg.kv_heads) * hd)
    q = queries[0]
    low = [j + s * half for s in (0, 1) for j in range(PAIR_LOW, half)]
    axes = torch.linalg.qr(torch.randn(cfg.dim, cfg.dim, generator=torch.Generator().manual_seed(seed + 1)))[0]
    common, spare, content = axes[0], axes[1:1 + len(low)], axes[1 + len(low):]
    sketch = content[:len(low)]

    e = p["embed"]
    length = float(e.norm(dim=1).mean())
    e -= 0.7 * (e @ spare.t()) @ spare
    e += OFFSET * length * common

    # Layer 0: constant queries and keys that only differ by their rotation, one step apart.
    w, o = p["0.wqkv"], p["0.wo"]
    freq = cfg.theta ** (-torch.arange(half).float() / half)
    for rows in (key, q, value):
        w[rows] = 0
    for j in range(PAIRS_POS):
        w[key][j] = common
        w[q][j], w[q][j + half] = freq[j].cos() * common, -freq[j].sin() * common
        for norm in ("0.qnorm", "0.knorm"):
            p[norm][[j, j + half]] *= QK_GAIN
    w[value][low] = sketch
    seen = rms(e, 1.0, cfg.eps)
    o[:, q] = 0
    o[:, q][:, low] = SKETCH * float(e.norm(dim=1).mean() / seen.norm(dim=1).mean()) * spare.t()

    # Layer 1: queries hold the token's sketch, keys the previous token's.
    w = p["1.wqkv"]
    w[q] = w[key] = 0
    w[q][low], w[key][low] = sketch, spare
    for norm in ("1.qnorm", "1.knorm"):
        p[norm][low] *= QK_GAIN

    # Layers above 0: values hold the token, outputs bring it back.
    for i in range(1, cfg.layers):
        part = content[(i - 1) % 3 * hd:][:hd]
        p[f"{i}.wqkv"][value] = part
        for rows in queries:
            strength = COPY if i == 1 and rows is q else COPY_WEAK
            p[f"{i}.wo"][:, rows] = strength * length / 16 * part.t()
