#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Reference forward pass: weights dequantised, everything in floating point, NumPy only.

    float_reference.py MODEL IDS OUT [--f64] [--margins FILE]     logits of every position
    float_reference.py MODEL IDS --greedy N                       N ids that follow

IDS is a text file of decimal ids. OUT gets raw float32, a row of logits per position. FILE gets a
raw float32 per position: the smallest gap, over the layers, between the last chosen and the first
unchosen router probability (infinite without experts). A position with a small gap may route
otherwise in another engine for no worse reason than rounding.

Fast only where NumPy finds a tuned BLAS (Debian: libopenblas0-pthread).
"""
import argparse
import sys

import numpy as np

import float_gemma4
import float_llama4
import gguf_file
from gguf_arch import ARCHES

ATTENTION_ROWS = 256               # queries scored at once; bounds memory
CHUNK = 8192                       # positions that see each other, unless the file says


def rms_norm(x, weight, eps):
    scale = 1 / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + x.dtype.type(eps))
    return x * scale * weight


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def silu(x):
    return x * sigmoid(x)


def gelu(x):
    k = x.dtype.type(np.sqrt(2 / np.pi))
    return x / 2 * (1 + np.tanh(k * (x + x.dtype.type(0.044715) * x * x * x)))


def swiglu_oai(gate, up):
    gate, up = np.minimum(gate, 7), np.clip(up, -7, 7)
    return gate * sigmoid(gate.dtype.type(1.702) * gate) * (up + 1)


# Of a gate and an up value.
ACTIVATIONS = {"silu": lambda gate, up: silu(gate) * up, "gelu": lambda gate, up: gelu(gate) * up,
               "swiglu_oai": swiglu_oai}


class Rope:
    """cos and sin for one kind of layer; angles in float64 so that they are as good as exact."""

    def __init__(self, dims, base, factor=1.0, kind="none", original=0, attention=1.0,
                 factors=None, beta_fast=32.0, beta_slow=1.0, truncate=True):
        pair = np.arange(dims // 2, dtype=np.float64)
        self.frequency = base ** (-2 * pair / dims)
        if factors is not None:
            self.frequency = self.frequency / factors
        self.magnitude = attention
        if kind == "linear":
            self.frequency = self.frequency / factor
        elif kind == "yarn":
            def turns(beta):
                return dims * np.log(original / (2 * np.pi * beta)) / (2 * np.log(base))
            low, high = turns(beta_fast), turns(beta_slow)
            if truncate:
                low, high = np.floor(low), np.ceil(high)
            low, high = max(0.0, low), min(dims - 1.0, high)
            keep = 1 - np.clip((pair - low) / max(0.001, high - low), 0, 1)
            self.frequency = self.frequency * (keep + (1 - keep) / factor)
            self.magnitude *= 1 + 0.1 * np.log(factor)

    def apply(self, x, positions, layout):
        """x: (tokens, heads, head_dim); only the first 2 * len(frequency) dims rotate."""
        angle = positions[:, None] * self.frequency
        cos = (np.cos(angle) * self.magnitude).astype(x.dtype)[:, None, :]
        sin = (np.sin(angle) * self.magnitude).astype(x.dtype)[:, None, :]
        n = len(self.frequency)
        out = x.copy()
        first, second = ((slice(0, 2 * n, 2), slice(1, 2 * n, 2)) if layout == "pairs"
                         else (slice(0, n), slice(n, 2 * n)))
        a, b = x[..., first], x[..., second]
        out[..., first] = a * cos - b * sin
        out[..., second] = a * sin + b * cos
        return out


class Layer:
    """Tensors of one block by short name; experts are dequantised when they are asked for."""

    def __init__(self, model, index):
        self.model, self.index, self.prefix = model, index, "blk.%d." % index
        span = 0
        if model.is_local(index):
            span = model.number("attention.sliding_window", CHUNK if model.arch.chunks else 0)
        self.window, self.chunk = (0, span) if model.arch.chunks else (span, 0)
        local = self.window and model.arch.window_rope
        self.rope = model.local_rope if local else model.rope
        self.head_dim, self.kv_heads = model.heads_of(index)
        size = (self.kv_heads, model.context)
        self.recurrent = model.is_recurrent(index)
        self.dense = (not model.experts or index < model.number("leading_dense_block_count", 0)
                      or (index + 1) % model.number("interleave_moe_layer_step", 1) != 0)
        if self.recurrent:
            model.delta.prepare(self)
            return
        self.keys = np.zeros((*size, self.head_dim), model.dtype)
        self.values = np.zeros((*size, model.value_dim or self.head_dim), model.dtype)

    def get(self, name):
        return self.model.get(self.prefix + name)

    def linear(self, x, name):
        y = x @ self.get(name + ".weight").T
        bias = self.get(name + ".bias")
        return y if bias is None else y + bias

    def part(self, x, which):
        """Queries, keys or values."""
        if not self.model.arch.fused_qkv:
            return self.linear(x, "attn_" + which)
        queries, keys = self.model.heads * self.head_dim, self.kv_heads * self.head_dim
        parts = np.split(self.linear(x, "attn_qkv"), [queries, queries + keys], axis=-1)
        return parts["qkv".index(which)]

    def expert(self, x, part, e):
        y = x @ self.model.expert(self.prefix, part, e).T
        bias = self.get("ffn_%s_exps.bias" % part)
        return y if bias is None else y + bias[e]

    def gate_and_up(self, x, e):
        if self.prefix + "ffn_gate_up_exps.weight" in self.model.file.tensors:
            return np.split(self.expert(x, "gate_up", e), 2, axis=-1)
        return self.expert(x, "gate", e), self.expert(x, "up", e)


class DeltaNet:
    """Gated delta nets: Yang, Kautz, Hatamizadeh, 2024, as the authors of Qwen3-Next use them. One
    position after the other."""

    LENGTH_EPS = 1e-6              # below the root of a key's squared length

    def __init__(self, model):
        self.model = model
        self.heads, self.key_heads = (model.number("ssm.time_step_rank"),
                                      model.number("ssm.group_count"))
        self.size = model.number("ssm.state_size")
        self.value_size = model.number("ssm.inner_size") // self.heads
        self.taps = model.number("ssm.conv_kernel")
        head = np.arange(self.heads)
        self.key_head = (head % self.key_heads if model.arch.delta == "tiled"
                         else head // (self.heads // self.key_heads))
        self.keys = self.key_heads * self.size
        self.channels = 2 * self.keys + self.heads * self.value_size

    def prepare(self, layer):
        layer.inputs = np.zeros((self.taps - 1, self.channels), self.model.dtype)
        layer.state = np.zeros((self.heads, self.size, self.value_size), self.model.dtype)

    def ungroup(self, rows, sizes):
        """Parts of rows that lie together by key heads, each as (tokens, all heads' values)."""
        groups = rows.reshape(len(rows), self.key_heads, -1)
        parts = np.split(groups, np.cumsum(sizes)[:-1], axis=-1)
        return [p.reshape(len(rows), -1) for p in parts]

    def project(self, layer, x):
        each = self.heads // self.key_heads
        if layer.get("ssm_in.weight") is None:
            qkv, z = layer.linear(x, "attn_qkv"), layer.linear(x, "attn_gate")
        else:
            values = each * self.value_size
            q, k, v, z = self.ungroup(layer.linear(x, "ssm_in"),
                                      [self.size, self.size, values, values])
            qkv = np.concatenate([q, k, v], axis=-1)
        if layer.get("ssm_ba.weight") is None:
            return qkv, z, layer.linear(x, "ssm_beta"), layer.linear(x, "ssm_alpha")
        return (qkv, z, *self.ungroup(layer.linear(x, "ssm_ba"), [each, each]))

    def convolve(self, layer, qkv):
        rows = np.concatenate([layer.inputs, qkv])
        layer.inputs = rows[len(rows) - (self.taps - 1):]
        weight = layer.get("ssm_conv1d.weight")
        return silu(sum(rows[j:j + len(qkv)] * weight[:, j] for j in range(self.taps)))

    def unit(self, x):
        length = np.sum(x * x, axis=-1, keepdims=True) + x.dtype.type(self.LENGTH_EPS)
        return x / np.sqrt(length)

    def run(self, layer, x):
        qkv, z, b, a = self.project(layer, x)
        qkv, n = self.convolve(layer, qkv), len(x)
        q, k, v = np.split(qkv, [self.keys, 2 * self.keys], axis=-1)
        q = self.unit(q.reshape(n, self.key_heads, -1))[:, self.key_head]
        k = self.unit(k.reshape(n, self.key_heads, -1))[:, self.key_head]
        q = q * x.dtype.type(1 / np.sqrt(self.size))
        v = v.reshape(n, self.heads, -1)
        beta = sigmoid(b)
        decay = np.exp(layer.get("ssm_a") * np.logaddexp(0, a + layer.get("ssm_dt.bias")))
        out, state = np.empty_like(v), layer.state
        for t in range(n):
            state *= decay[t][:, None, None]
            change = beta[t][:, None] * (v[t] - np.einsum("hkv,hk->hv", state, k[t]))
            state += k[t][:, :, None] * change[:, None, :]
            out[t] = np.einsum("hkv,hk->hv", state, q[t])
        out = rms_norm(out, layer.get("ssm_norm.weight"), self.model.eps)
        return layer.linear(out.reshape(n, -1) * silu(z), "ssm_out")


class ShortConv:
    """Gated short convolutions of LFM2."""

    def __init__(self, model):
        self.model, self.taps = model, model.number("shortconv.l_cache")

    def prepare(self, layer):
        layer.inputs = np.zeros((self.taps - 1, self.model.width), self.model.dtype)

    def run(self, layer, x):
        b, c, u = np.split(layer.linear(x, "shortconv.in_proj"), 3, axis=-1)
        rows = np.concatenate([layer.inputs, b * u])
        layer.inputs = rows[len(rows) - (self.taps - 1):]
        weight = layer.get("shortconv.conv.weight")
        mixed = sum(rows[j:j + len(x)] * weight[:, j] for j in range(self.taps))
        return layer.linear(c * mixed, "shortconv.out_proj")


class Model:
    def __init__(self, path, context, dtype=np.float32):
        self.file = gguf_file.Reader(path)
        meta = self.file.meta
        self.name = meta["general.architecture"]
        if self.name not in ARCHES:
            raise ValueError("architecture %s is not one of: %s" % (self.name, " ".join(ARCHES)))
        self.arch, self.dtype, self.context = ARCHES[self.name], dtype, context
        self.cache = {}
        self.width = self.number("embedding_length")
        self.heads = self.number("attention.head_count")
        self.kv_heads = self.number("attention.head_count_kv", self.heads)
        self.head_dim = self.number("attention.key_length", self.width // self.heads)
        self.eps = self.number("attention.layer_norm_rms_epsilon")
        self.experts = self.number("expert_count", 0)
        self.used = self.number("expert_used_count", 0)
        self.value_dim, self.scale = 0, 0  # as keys; 1 / the root of a head's size
        self.rope = self.make_rope()
        if self.arch.latent:
            self.prepare_latent()
        self.local_rope = Rope(self.number("rope.dimension_count_swa",
                                           self.number("rope.dimension_count", self.head_dim)),
                               self.number("rope.freq_base_swa", 10000.0))
        self.delta = (DeltaNet(self) if self.arch.delta else
                      ShortConv(self) if self.arch.short_conv else None)
        count = self.number("block_count") - self.number("nextn_predict_layers", 0)
        self.layers = [Layer(self, i) for i in range(count)]
        self.length = 0            # positions computed so far
        self.margins = []

    def number(self, key, *default):
        full = self.name + "." + key
        return self.file.meta.get(full, *default) if default else self.file.meta[full]

    def factor(self, key):
        """0 where there is none."""
        return self.number(key, 0.0) if self.arch.factors else 0.0

    def is_recurrent(self, index):
        if self.arch.short_conv:
            return self.kv_heads[index] == 0
        if not self.arch.delta:
            return False
        return (index + 1) % self.number("full_attention_interval", 4) != 0

    def is_local(self, index):
        """Sees a window only."""
        pattern = self.number("attention.sliding_window_pattern", None)
        if pattern is not None:
            return bool(pattern[index])
        period = self.arch.window_period
        return bool(period) and index % period != period - 1

    def heads_of(self, index):
        """Size of a head, heads of keys."""
        heads = self.kv_heads
        return self.head_dim, heads[index] if isinstance(heads, (list, tuple)) else heads

    def make_rope(self):
        factor = self.number("rope.scaling.factor", 1.0)
        kind = self.number("rope.scaling.type", "linear")
        factors = None
        if "rope_freqs.weight" in self.file.tensors:
            factors = self.file.array("rope_freqs.weight").astype(np.float64)
        return Rope(self.number("rope.dimension_count", self.head_dim),
                    self.number("rope.freq_base", 10000.0), factor, kind,
                    self.number("rope.scaling.original_context_length",
                                self.number("context_length")),
                    self.number("rope.scaling.attn_factor", 1.0), factors,
                    truncate=self.arch.yarn_truncates)

    def get(self, name):
        if name not in self.cache:
            found = name in self.file.tensors
            self.cache[name] = self.file.array(name).astype(self.dtype) if found else None
        return self.cache[name]

    def expert(self, prefix, part, e):
        stacked = prefix + "ffn_%s_exps.weight" % part
        if stacked not in self.file.tensors:
            return self.get(prefix + "ffn_%s.%d.weight" % (part, e))
        t = self.file.tensors[stacked]
        size = t.nbytes // t.dims[2]
        raw = self.file.raw(stacked)[e * size:(e + 1) * size]
        flat = gguf_file.gguf_types.dequantise(t.type, raw)
        return flat.reshape(t.dims[1], t.dims[0]).astype(self.dtype)

    # ---- one block -----------------------------------------------------------------------------

    def normed_heads(self, layer, x, part, heads):
        """Queries or keys as (tokens, heads, size of a head), normed and rotated."""
        name = "attn_%s_norm.weight" % part
        if self.arch.qk_norm == "row":
            x = rms_norm(x, layer.get(name), self.eps)
        x = x.reshape(len(x), heads, layer.head_dim)
        normed = self.arch.qk_norm == "head" and layer.get(name) is not None
        if normed and not self.arch.norm_turned:
            x = rms_norm(x, layer.get(name), self.eps)
        positions = np.arange(self.length, self.length + len(x), dtype=np.float64)
        x = layer.rope.apply(x, positions, self.arch.rope)
        return rms_norm(x, layer.get(name), self.eps) if normed and self.arch.norm_turned else x

    def project_values(self, layer, x, keys):
        """keys: their projection."""
        return layer.part(x, "v").reshape(len(x), layer.kv_heads, -1)

    def remember(self, layer, x):
        k = layer.part(x, "k")
        v = self.project_values(layer, x, k)
        k = self.normed_heads(layer, k, "k", layer.kv_heads)
        end = self.length + len(x)
        layer.keys[:, self.length:end] = k.transpose(1, 0, 2)
        layer.values[:, self.length:end] = v.transpose(1, 0, 2)

    def prepare_latent(self):
        """Every head has keys and values of its own, expanded from what they share."""
        self.kv_heads, self.rank = self.heads, self.number("attention.kv_lora_rank")
        self.value_dim = self.number("attention.value_length_mla",
                                     self.number("attention.value_length"))
        self.head_dim = self.number("attention.key_length_mla", self.head_dim)
        self.fixed = self.head_dim - self.number("rope.dimension_count")
        self.scale = 1 / np.sqrt(self.head_dim)
        multiplier = self.number("rope.scaling.yarn_log_multiplier", 0.0)
        if multiplier and self.number("rope.scaling.type", "") == "yarn":
            length = np.log(self.number("rope.scaling.factor"))
            self.scale *= (1 + multiplier * length) ** 2
            self.rope.magnitude = 1.0

    def expand(self, layer, c):
        """Keys without their rotated part, and values, of all heads."""
        n = len(c)
        both = layer.get("attn_kv_b.weight")
        if both is not None:
            both = (c @ both.T).reshape(n, self.heads, -1)
            return np.split(both, [self.fixed], axis=-1)
        keys = np.einsum("nc,hcd->nhd", c, layer.get("attn_k_b.weight"), optimize=True)
        return keys, np.einsum("nc,hdc->nhd", c, layer.get("attn_v_b.weight"), optimize=True)

    def latent_attention(self, layer, x):
        n, end = len(x), self.length + len(x)
        if layer.get("attn_q.weight") is None:
            low = rms_norm(layer.linear(x, "attn_q_a"), layer.get("attn_q_a_norm.weight"), self.eps)
            q = layer.linear(low, "attn_q_b")
        else:
            q = layer.linear(x, "attn_q")
        q = q.reshape(n, self.heads, self.head_dim)
        c, turned = np.split(layer.linear(x, "attn_kv_a_mqa"), [self.rank], axis=-1)
        k, v = self.expand(layer, rms_norm(c, layer.get("attn_kv_a_norm.weight"), self.eps))
        positions = np.arange(self.length, end, dtype=np.float64)
        q[..., self.fixed:] = layer.rope.apply(q[..., self.fixed:], positions, self.arch.rope)
        turned = layer.rope.apply(turned[:, None], positions, self.arch.rope)
        k = np.concatenate([k, np.repeat(turned, self.heads, axis=1)], axis=-1)
        layer.keys[:, self.length:end] = k.transpose(1, 0, 2)
        layer.values[:, self.length:end] = v.transpose(1, 0, 2)
        return layer.linear(self.look_back(layer, q), "attn_output")

    def attention(self, layer, x):
        if self.arch.latent:
            return self.latent_attention(layer, x)
        n, q = len(x), layer.part(x, "q")
        if self.arch.gated_attention:
            q, gate = np.split(q.reshape(n, self.heads, 2 * layer.head_dim), 2, axis=-1)
        q = self.normed_heads(layer, q, "q", self.heads)
        self.remember(layer, x)
        out = self.look_back(layer, q)
        if self.arch.gated_attention:
            out *= sigmoid(gate.reshape(n, -1))
        return layer.linear(out, "attn_output")

    def look_back(self, layer, q):
        """The heads' outputs, one after the other."""
        n = len(q)
        out = np.empty((n, self.heads, layer.values.shape[-1]), self.dtype)
        for start in range(0, n, ATTENTION_ROWS):
            stop = min(n, start + ATTENTION_ROWS)
            out[start:stop] = self.attend(layer, q[start:stop], self.length + start)
        return out.reshape(n, -1)

    def attend(self, layer, q, first):
        """q: (rows, heads, head_dim) at positions first, first + 1, ..."""
        end = first + len(q)
        begin = max(0, first - layer.window + 1) if layer.window else 0
        row = np.arange(first, end)[:, None]
        column = np.arange(begin, end)[None, :]
        hidden = column > row
        if layer.window:
            hidden |= row - column >= layer.window
        if layer.chunk:
            hidden |= row // layer.chunk != column // layer.chunk
        scale = self.dtype(1 if self.arch.scores_unscaled else
                           self.scale or self.factor("attention.scale") or
                           1 / np.sqrt(layer.head_dim))
        group = self.heads // layer.kv_heads
        out = np.empty((len(q), self.heads, layer.values.shape[-1]), self.dtype)
        for h in range(self.heads):
            scores = (q[:, h] @ layer.keys[h // group, begin:end].T) * scale
            scores[hidden] = -np.inf
            if self.arch.sinks:
                sink = np.full((len(q), 1), layer.get("attn_sinks.weight")[h])
                scores = np.concatenate([scores, sink], axis=1)
            share = softmax(scores)[:, :end - begin]
            out[:, h] = share @ layer.values[h // group, begin:end]
        return out

    def activate(self, gate, up):
        return ACTIVATIONS[self.arch.activation](gate, up)

    def feed_forward(self, layer, x, suffix=""):
        inner = self.activate(layer.linear(x, "ffn_gate" + suffix), layer.linear(x, "ffn_up" + suffix))
        return layer.linear(inner, "ffn_down" + suffix)

    def best(self, values, count):
        """Indices of the `count` largest of each row, best first; how near the choice was."""
        order = np.argsort(-values, axis=-1, kind="stable")
        if count < values.shape[1]:
            ranked = np.take_along_axis(values, order, axis=-1)
            margin = ranked[:, count - 1] - ranked[:, count]
            self.margins[-1] = np.minimum(self.margins[-1], margin)
        return order[:, :count]

    def limit_groups(self, choice, best_two):
        """Experts of groups that are not among the best become the worst."""
        groups, used = self.number("expert_group_count", 0), self.number("expert_group_used_count", 0)
        if groups <= 1:
            return choice
        by_group = choice.reshape(len(choice), groups, -1)
        ranked = np.sort(by_group, axis=-1)
        score = ranked[..., -2] + ranked[..., -1] if best_two else ranked[..., -1]
        limited = np.full_like(by_group, -np.inf)
        kept = self.best(score, used)[..., None]
        np.put_along_axis(limited, kept, np.take_along_axis(by_group, kept, axis=1), axis=1)
        return limited.reshape(choice.shape)

    def route(self, layer, x):
        """The chosen experts of each row and their weights."""
        logits = layer.linear(x, "ffn_gate_inp")
        sigmoids = self.number("expert_gating_func", self.arch.gating) == 2
        shares = sigmoid(logits) if sigmoids else softmax(logits)
        bias = layer.get("exp_probs_b.bias")
        choice = shares if bias is None else shares + bias
        chosen = self.best(self.limit_groups(choice, sigmoids), self.used)
        weights = np.take_along_axis(shares, chosen, axis=-1)
        if self.number("expert_weights_norm", self.arch.norm_top_k):
            weights = weights / np.maximum(weights.sum(axis=-1, keepdims=True),
                                           self.dtype(6.103515625e-5))
        return chosen, weights * self.dtype(self.number("expert_weights_scale", 1.0))

    def mixture(self, layer, x, router_input=None):
        """router_input: where it is not x."""
        chosen, weights = self.route(layer, x if router_input is None else router_input)
        factor = layer.get("ffn_down_exps.scale")
        if factor is not None:
            weights = weights * factor[chosen]
        y = np.zeros_like(x)
        for e in np.unique(chosen):
            rows, slots = np.nonzero(chosen == e)
            inner = self.activate(*layer.gate_and_up(x[rows], e))
            y[rows] += layer.expert(inner, "down", e) * weights[rows, slots][:, None]
        if self.arch.shared_expert == "gated":
            gate = sigmoid(x @ layer.get("ffn_gate_inp_shexp.weight").reshape(-1, 1))
            y += self.feed_forward(layer, x, "_shexp") * gate
        elif layer.get("ffn_up_shexp.weight") is not None:
            y += self.feed_forward(layer, x, "_shexp")
        return y

    def block(self, layer, x):
        inner = rms_norm(x, layer.get("attn_norm.weight"), self.eps)
        y = self.delta.run(layer, inner) if layer.recurrent else self.attention(layer, inner)
        if self.arch.post_norms:
            y = rms_norm(y, layer.get("post_attention_norm.weight"), self.eps)
        step = self.dtype(self.factor("residual_scale") or 1)
        x = x + y * step
        inner = rms_norm(x, layer.get(self.arch.ffn_norm + ".weight"), self.eps)
        y = self.feed_forward(layer, inner) if layer.dense else self.mixture(layer, inner)
        if self.arch.post_norms:
            y = rms_norm(y, layer.get("post_ffw_norm.weight"), self.eps)
        return x + y * step

    # ---- whole pass ----------------------------------------------------------------------------

    def embed(self, ids):
        x = self.get("token_embd.weight")[np.asarray(ids)]
        if self.arch.scale_embedding:
            x = x * self.dtype(np.float32(np.sqrt(np.float32(self.width))))
        return x * self.dtype(self.factor("embedding_scale") or 1)

    def hidden(self, ids):
        """Final normed states of the next len(ids) positions."""
        x = self.embed(ids)
        self.margins.append(np.full(len(ids), np.inf, self.dtype))
        for layer in self.layers:
            x = self.block(layer, x)
        self.length += len(ids)
        return rms_norm(x, self.get(self.arch.last_norm + ".weight"), self.eps)

    def logits(self, states):
        output = self.get("output.weight")
        if output is None:
            output = self.get("token_embd.weight")
        logits, cap = states @ output.T, self.number("final_logit_softcapping", 0)
        logits = logits / self.dtype(self.factor("logit_scale") or 1)
        if cap:
            logits = cap * np.tanh(logits / logits.dtype.type(cap))
        return logits.astype(np.float32)


class Gemma4Model(float_gemma4.Parts, Model):
    pass


class Llama4Model(float_llama4.Parts, Model):
    pass


MODELS = {"gemma4": Gemma4Model, "llama4": Llama4Model}


def open_model(path, context, dtype=np.float32):
    name = gguf_file.Reader(path).meta["general.architecture"]
    return MODELS.get(name, Model)(path, context, dtype)


def read_ids(path):
    with open(path) as f:
        return [int(word) for word in f.read().split()]


def greedy(model, ids, count, batch):
    for start in range(0, len(ids), batch):
        states = model.hidden(ids[start:start + batch])
    out = []
    for _ in range(count):
        out.append(int(model.logits(states[-1:])[0].argmax()))
        states = model.hidden(out[-1:])
    return out


def main(argv):
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("model")
    p.add_argument("ids")
    p.add_argument("out", nargs="?")
    p.add_argument("--f64", action="store_true", help="arithmetic in float64")
    p.add_argument("--margins", metavar="FILE")
    p.add_argument("--batch", type=int, default=512)
    p.add_argument("--greedy", type=int, metavar="N")
    a = p.parse_args(argv)
    ids = read_ids(a.ids)
    dtype = np.float64 if a.f64 else np.float32
    model = open_model(a.model, len(ids) + (a.greedy or 0), dtype)
    if a.greedy:
        print(*greedy(model, ids, a.greedy, a.batch))
        return
    if not a.out:
        p.error("OUT is missing")
    with open(a.out, "wb") as out:
        for start in range(0, len(ids), a.batch):
            model.logits(model.hidden(ids[start:start + a.batch])).tofile(out)
    if a.margins:
        np.concatenate(model.margins).astype(np.float32).tofile(a.margins)


if __name__ == "__main__":
    main(sys.argv[1:])
