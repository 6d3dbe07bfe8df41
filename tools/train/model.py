# SPDX-License-Identifier: Apache-2.0
"""The model in torch: qwen3moe layout, float32, made for one CPU thread.

Shapes: N = batch * length tokens, D = width, F = width of one expert.
The expert matrices of a layer are one tensor (E, 3, F, D): gate, up, down.
"""
import math
from dataclasses import asdict, dataclass

import numpy as np
import torch
import torch.nn.functional as F


@dataclass
class Config:
    vocab: int = 4096
    dim: int = 256
    layers: int = 8
    heads: int = 4
    kv_heads: int = 2
    head_dim: int = 64
    experts: int = 32        # 0: one dense feed-forward of width topk * expert_dim
    topk: int = 4
    expert_dim: int = 64
    eps: float = 1e-6
    theta: float = 10000.0
    context: int = 1024

    def dict(self):
        return asdict(self)


def init_params(cfg, seed):
    """Fresh weights by name. Matrices that write to the residual are scaled down."""
    g = torch.Generator().manual_seed(seed)
    small = 0.02 / math.sqrt(2 * cfg.layers)

    def normal(*shape, std=0.02):
        return torch.randn(*shape, generator=g) * std
    # Wide embeddings keep a token's identity visible beside what the layers add.
    p = {"embed": normal(cfg.vocab, cfg.dim, std=0.2), "norm": torch.full((cfg.dim,), 0.1)}
    q, kv = cfg.heads * cfg.head_dim, cfg.kv_heads * cfg.head_dim
    for i in range(cfg.layers):
        n = f"{i}."
        p[n + "wqkv"] = normal(q + 2 * kv, cfg.dim)
        p[n + "wo"] = normal(cfg.dim, q, std=small)
        p[n + "norm1"], p[n + "norm2"] = torch.ones(cfg.dim), torch.ones(cfg.dim)
        p[n + "qnorm"], p[n + "knorm"] = torch.ones(cfg.head_dim), torch.ones(cfg.head_dim)
        e, f = (cfg.experts, cfg.expert_dim) if cfg.experts else (1, cfg.topk * cfg.expert_dim)
        w = normal(e, 3, f, cfg.dim)
        w[:, 2] *= small / 0.02
        p[n + "experts"] = w
        if cfg.experts:
            p[n + "router"] = normal(cfg.experts, cfg.dim)
    return p


def matmul(a, b, out=None):
    """a @ b through NumPy: its OpenBLAS is up to 1.5 times as fast as torch's MKL on AMD."""
    if out is None:
        out = torch.empty(a.shape[0], b.shape[1])
    np.matmul(a.detach().numpy(), b.detach().numpy(), out=out.numpy())
    return out


class Linear(torch.autograd.Function):
    """x (N, in) times w (out, in) transposed."""

    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return matmul(x, w.t())

    @staticmethod
    def backward(ctx, dy):
        x, w = ctx.saved_tensors
        dy = dy.contiguous()
        return matmul(dy, w), matmul(dy.t(), x)


def activate(gu):
    """silu(gate) * up of (n, 2F)."""
    g, u = gu.chunk(2, 1)
    return g * torch.sigmoid(g) * u


def activate_back(gu, dh):
    g, u = gu.chunk(2, 1)
    s = torch.sigmoid(g)
    gs = g * s
    return torch.cat((dh * u * (s + gs * (1 - s)), dh * gs), 1)


def combine(y, inv, weight):
    """Weighted sum of each token's expert outputs."""
    n, k = weight.shape
    return (y[inv].view(n, k, -1) * weight.unsqueeze(2)).sum(1)


def combine_back(dout, y, tok, inv, order, weight):
    n, k = weight.shape
    d = dout[tok]
    return d * weight.reshape(-1)[order].unsqueeze(1), (d * y).sum(1)[inv].view(n, k)


def spread(dxs, inv, k):
    """Sum of the k copies' gradients of each token."""
    return dxs[inv].view(-1, k, dxs.shape[1]).sum(1)


class Experts(torch.autograd.Function):
    """Sum over the chosen experts of weight * down(silu(gate x) * up x), backward by hand.

    Tokens are sorted by expert, so that every expert is two plain matrix products.
    fn holds the element-wise parts, compiled or not.
    """

    @staticmethod
    def forward(ctx, x, w, idx, weight, fn):
        n, k = idx.shape
        order = torch.argsort(idx.reshape(-1), stable=True)
        inv = torch.empty_like(order)
        inv[order] = torch.arange(n * k)
        counts = torch.bincount(idx.reshape(-1), minlength=w.shape[0]).tolist()
        tok = order // k
        xs = x.index_select(0, tok)
        f = w.shape[2]
        gu, y = xs.new_empty(n * k, 2 * f), torch.empty_like(xs)
        for e, r in ranges(counts):
            torch.mm(xs[r], w[e, :2].reshape(2 * f, -1).t(), out=gu[r])
        h = fn["activate"](gu)
        for e, r in ranges(counts):
            torch.mm(h[r], w[e, 2], out=y[r])
        ctx.save_for_backward(xs, w, gu, h, y, weight, order, inv, tok)
        ctx.counts, ctx.fn = counts, fn
        return fn["combine"](y, inv, weight)

    @staticmethod
    def backward(ctx, dout):
        xs, w, gu, h, y, weight, order, inv, tok = ctx.saved_tensors
        fn, f = ctx.fn, w.shape[2]
        dy, dweight = fn["combine_back"](dout.contiguous(), y, tok, inv, order, weight)
        dw = torch.empty_like(w)
        dh, dxs = torch.empty_like(h), torch.empty_like(xs)
        for e, r in ranges(ctx.counts):
            torch.mm(dy[r], w[e, 2].t(), out=dh[r])
            torch.mm(h[r].t(), dy[r], out=dw[e, 2])
        dgu = fn["activate_back"](gu, dh)
        for e, r in ranges(ctx.counts):
            torch.mm(dgu[r], w[e, :2].reshape(2 * f, -1), out=dxs[r])
            torch.mm(dgu[r].t(), xs[r], out=dw[e, :2].reshape(2 * f, -1))
        return fn["spread"](dxs, inv, weight.shape[1]), dw, None, dweight, None


def ranges(counts):
    """(expert, slice of its rows), also of experts without rows: their products are zero."""
    at = 0
    for e, c in enumerate(counts):
        yield e, slice(at, at + c)
        at += c


class CrossEntropy(torch.autograd.Function):
    """Mean cross entropy of a tied head; gradients are made in the forward pass, by chunks.

    With sample > 0 only the targets' own tokens and that many others are scored; the others
    stand for all the rest (their logits are raised by log(rest / sample)).
    """

    @staticmethod
    def forward(ctx, x, embed, target, sample=0, chunk=512):
        rows, bias, target = CrossEntropy.candidates(embed, target, sample)
        head = embed if rows is None else embed.index_select(0, rows)
        dx, dhead, loss, n = torch.empty_like(x), torch.zeros_like(head), 0.0, x.shape[0]
        for i in range(0, n, chunk):
            xi, ti = x[i:i + chunk], target[i:i + chunk].unsqueeze(1)
            logits = matmul(xi, head.t())
            if bias is not None:
                logits += bias
            lse = torch.logsumexp(logits, 1, keepdim=True)
            loss += float((lse - logits.gather(1, ti)).sum())
            p = torch.exp(logits.sub_(lse), out=logits)
            p.scatter_add_(1, ti, p.new_full(ti.shape, -1.0))
            p /= n
            matmul(p, head, dx[i:i + chunk])
            dhead += matmul(p.t(), xi)
        dembed = dhead if rows is None else torch.zeros_like(embed).index_copy_(0, rows, dhead)
        ctx.save_for_backward(dx, dembed)
        return x.new_tensor(loss / n)

    @staticmethod
    def candidates(embed, target, sample):
        """(rows of the embedding to score, their bias, targets as indices into them)."""
        own = torch.unique(target)
        rest = embed.shape[0] - len(own)
        if not 0 < sample < rest:
            return None, None, target
        other = torch.ones(embed.shape[0], dtype=torch.bool)
        other[own] = False
        pool = other.nonzero()[:, 0]
        drawn = pool[torch.randperm(rest)[:sample]]
        rows = torch.cat((own, drawn))
        bias = torch.zeros(len(rows))
        bias[len(own):] = math.log(rest / sample)
        index = torch.zeros(embed.shape[0], dtype=torch.long)
        index[rows] = torch.arange(len(rows))
        return rows, bias, index[target]

    @staticmethod
    def backward(ctx, dloss):
        dx, dembed = ctx.saved_tensors
        return dx * dloss, dembed * dloss, None, None, None


def rope_table(cfg, length):
    """cos and sin, (length, head_dim / 2)."""
    freq = cfg.theta ** (-torch.arange(0, cfg.head_dim, 2).float() / cfg.head_dim)
    angle = torch.arange(length).float()[:, None] * freq
    return angle.cos(), angle.sin()


def rotate(x, cos, sin):
    """NEOX rotation of (B, H, T, head_dim)."""
    a, b = x.chunk(2, -1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)


def rms(x, weight, eps):
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + eps) * weight


def split_heads(qkv, qnorm, knorm, cos, sin, heads, kv_heads, eps):
    """From (B, T, all heads) to rotated queries and keys, and values, (B, heads, T, head_dim)."""
    b, t, _ = qkv.shape
    qkv = qkv.view(b, t, heads + 2 * kv_heads, -1).transpose(1, 2)
    q, k, v = qkv.split((heads, kv_heads, kv_heads), 1)
    rep = heads // kv_heads
    k = rotate(rms(k, knorm, eps), cos, sin).repeat_interleave(rep, 1)
    return rotate(rms(q, qnorm, eps), cos, sin), k, v.repeat_interleave(rep, 1)


class Model:
    """Forward pass over a dictionary of parameters."""

    def __init__(self, cfg, params, compile_parts=False):
        self.cfg, self.p = cfg, params
        self.cos, self.sin = rope_table(cfg, cfg.context)
        parts = (rms, split_heads, activate, activate_back, combine, combine_back, spread)
        wrap = (lambda f: torch.compile(f, dynamic=False)) if compile_parts else (lambda f: f)
        self.fn = {f.__name__: wrap(f) for f in parts}

    def attention(self, i, x):
        c, p, (b, t, d) = self.cfg, self.p, x.shape
        n = f"{i}."
        h = self.fn["rms"](x, p[n + "norm1"], c.eps)
        qkv = Linear.apply(h.view(-1, d), p[n + "wqkv"]).view(b, t, -1)
        q, k, v = self.fn["split_heads"](qkv, p[n + "qnorm"], p[n + "knorm"], self.cos[:t], self.sin[:t],
                                         c.heads, c.kv_heads, c.eps)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return Linear.apply(y.transpose(1, 2).reshape(b * t, -1), p[n + "wo"]).view_as(x)

    def feed_forward(self, i, h, stats):
        """h: (N, D). stats collects (aux, z, load, probabilities) when given."""
        c, w = self.cfg, self.p[f"{i}.experts"]
        if not c.experts:
            gate_up, down = w[0, :2].reshape(-1, c.dim), w[0, 2]
            return Linear.apply(self.fn["activate"](Linear.apply(h, gate_up)), down.t())
        logits = h @ self.p[f"{i}.router"].t()
        probs = torch.softmax(logits, -1)
        top, idx = torch.topk(probs, c.topk, -1)
        weight = top / top.sum(-1, keepdim=True)
        if stats is not None:
            load = torch.bincount(idx.reshape(-1), minlength=c.experts).float() / idx.numel()
            aux = c.experts * (load * probs.mean(0)).sum()
            z = (torch.logsumexp(logits, -1) ** 2).mean()
            stats.append((aux, z, load, probs.detach()))
        return Experts.apply(h, w, idx, weight, self.fn)

    def hidden(self, ids, stats=None):
        """Final normalised states (B, T, D)."""
        c, p = self.cfg, self.p
        x = F.embedding(ids, p["embed"])
        for i in range(c.layers):
            x = x + self.attention(i, x)
            h = self.fn["rms"](x, p[f"{i}.norm2"], c.eps)
            x = x + self.feed_forward(i, h.reshape(-1, c.dim), stats).view_as(x)
        return self.fn["rms"](x, p["norm"], c.eps)

    def logits(self, ids):
        return self.hidden(ids) @ self.p["embed"].t()

    def loss(self, ids, target, stats=None, sample=0):
        h = self.hidden(ids, stats)
        return CrossEntropy.apply(h.reshape(-1, self.cfg.dim), self.p["embed"], target.reshape(-1), sample)
