#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Makes small random but valid models: single ones by options, or the named set of fixtures.

    gguf_make.py --list
    gguf_make.py --set DIR [--only 'good-qwen3moe-*']
    gguf_make.py -o x.gguf --arch qwen3moe --type Q4_K --types down=Q4_K/Q6_K,attn=Q8_0 --seed 7

The text of such a model is noise, but a lively noise: attention is sharp enough for the context to
matter, routers are decided, greedy text wanders over the vocabulary. A weight depends on the seed
and the tensor's name alone, so two files that differ in types or layout hold the same model.
"""
import argparse
import dataclasses
import fnmatch
import os
import sys
import zlib
from dataclasses import dataclass, field

import numpy as np

import gguf_file as gguf
import gguf_gemma4
import gguf_quantise
import gguf_types
import gguf_vocab
from gguf_arch import ARCHES

# Where a row is no multiple of 256, the type that converters use instead.
FALLBACK = {"Q2_K": "IQ4_NL", "Q3_K": "IQ4_NL", "IQ4_XS": "IQ4_NL", "Q4_K": "Q5_0",
            "Q5_K": "Q5_1", "Q6_K": "Q8_0"}
# Files of these have the width of an expert in the key for that of a dense feed-forward.
IN_FEED_FORWARD_LENGTH = ("llama", "olmoe", "gpt-oss", "granitemoe")
ROLES = ("embed", "output", "attn", "latent", "delta", "ffn", "gate_up", "gate", "up", "down", "shared")
CHAT_TEMPLATE = ("{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n"
                 "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}")


@dataclass
class Spec:
    arch: str = "qwen3moe"
    layers: int = 3
    width: int = 128
    heads: int = 4
    kv_heads: int = 2
    head_dim: int = 32
    ff: int = 256                  # dense feed-forward
    experts: int = 0               # 0: dense where the architecture allows it
    used: int = 2
    expert_ff: int = 128
    shared_ff: int = 128
    vocab: int = 640
    context: int = 4096
    tokenizer: str = "bpe"         # or "spm" or "gemma4"
    pre: str = "qwen2"
    chat: bool = False             # a ChatML template
    rope_base: float = 10000.0
    rope_scaling: str = "none"     # none, linear, yarn, freqs
    rope_factor: float = 4.0
    rope_once: int = 0             # not 0: a base by which this pair turns once in the original
                                   # context, less a hair: there YaRN's upper limit is a whole pair
    eps: float = 1e-5
    window: int = 48               # of sliding-window layers
    rotary: int = 0                # leading dims of a head that RoPE turns; 0: all
    interval: int = 4              # of gated delta nets: every n-th layer is attention
    delta_heads: int = 4
    delta_key_heads: int = 2
    delta_head_dim: int = 32
    taps: int = 4                  # of their convolution
    grouped: bool = False          # old layout: projections in one tensor, grouped by key heads
    period: int = 0                # every n-th layer sees everything; 0: as the architecture does
    local_head_dim: int = 0        # gemma4: of layers with a window; 0: as the others
    local_kv_heads: int = 0        # likewise
    keys_as_values: bool = False   # gemma4: layers that see everything have no values of their own
    shared_layers: int = 0         # gemma4: layers at the end that look into earlier caches
    extra_width: int = 0           # gemma4: of the embeddings that each layer adds
    softcap: float = 0.0           # of the logits
    embedding_scale: float = 0.0   # factors of a file that states them; 0: it does not
    residual_scale: float = 0.0
    score_scale: float = 0.0
    logit_scale: float = 0.0       # logits are divided by it
    rank: int = 64                 # of latent attention: elements of a compressed key and value
    query_rank: int = 0            # of a compressed query; 0: queries are not
    value_dim: int = 32            # of a head's value; head_dim is of keys, the last rotary turn
    kv_b: bool = False             # old layout: both matrices of the heads in one tensor
    log_multiplier: float = 0.0    # of YaRN, from which the length of scores follows
    no_qk_norm: bool = False       # leaves these norms out
    gating: int = 0                # where files state it, 1: softmax, 2: sigmoid; 0: they do not
    route_bias: bool = False       # a bias that chooses experts and does not weigh them
    route_norm: bool = False       # where files state it: weights of the chosen sum to one
    route_scale: float = 0.0       # and are multiplied by this, if it is not 0
    groups: int = 0                # of experts; 0: none
    groups_used: int = 0
    lead: int = 0                  # layers at the beginning that are dense
    moe_step: int = 1              # llama4: every n-th layer has experts
    temperature_span: int = 0      # llama4: positions after which scores grow; 0: files do not say
    predict: int = 0               # blocks behind the layers that predict further tokens
    tied: bool = False
    bias: bool = False             # biases of q, k, v; llama: of output and dense feed-forward too
    per_expert: bool = False       # old layout: one 2-D tensor per expert
    fused: bool = False            # gate and up of all experts in one tensor
    extra: int = 0                 # unknown tensors that a reader has to ignore
    type: str = "F32"              # of every matrix but the router
    types: dict = field(default_factory=dict)      # role -> types, cycled over the layers
    seed: int = 1

    def __post_init__(self):
        arch = ARCHES[self.arch]
        if arch.tied_only:
            self.tied = True
        if self.rope_once:
            turns = np.log(self.context / self.rope_factor / (2 * np.pi))
            self.rope_base = float(np.exp(self.head_dim * turns / (2 * self.rope_once - 2e-5)))
        if not arch.free_head_dim and self.heads * self.head_dim != self.width:
            self.head_dim = self.width // self.heads
        if arch.experts == "always" and not self.experts:
            self.experts = 8
        if arch.experts == "never":
            self.experts = 0
        self.rotary = self.rotary or self.head_dim
        self.period = self.period or arch.window_period
        self.local_head_dim = self.local_head_dim or self.head_dim
        self.local_kv_heads = self.local_kv_heads or self.kv_heads


SIZES = {
    "tiny": {},
    # Rows of 256 for the types with blocks of 256.
    "tiny256": dict(layers=2, width=256, head_dim=64, ff=512, expert_ff=256, shared_ff=256),
    # Rows that no block of 256 divides.
    "odd": dict(width=160, heads=5, kv_heads=1, head_dim=32, ff=352, expert_ff=96, shared_ff=224),
    "ff704": dict(layers=2, width=128, expert_ff=704),
    # A deeper one, for caches and prefetching: 8 layers of 16 experts.
    "deep": dict(layers=8, experts=16),
    # About 1 GB with --type Q8_0: memory tests.
    "large": dict(layers=24, width=1024, heads=16, kv_heads=4, head_dim=64, ff=2048, experts=16,
                  used=2, expert_ff=768, vocab=4096, context=8192),
}


class Maker:
    """Turns a Spec into metadata and tensors."""

    # Standard deviations, all times 1 / sqrt(inputs of the row) where it is a matrix. BLOCK is how
    # much a sub-block adds to the residual stream (embeddings have 1): well above 1, so that the
    # next token depends on more than the last one.
    SHARPNESS, BLOCK, ROUTER, LOGITS = 2.5, 2.5, 2.5, 2.5
    # Where a norm sets a sub-block's size. Tied logits repeat the last token unless attention is
    # strong; the feed-forward is kept small because llama.cpp's GELU is a float16 table, whose
    # error would otherwise be the largest difference between engines.
    POST_ATTENTION, POST_FF = 6.0, 2.0

    def __init__(self, spec):
        self.spec, self.arch = spec, ARCHES[spec.arch]
        self.tensors = []

    def normal(self, name, shape, std):
        rng = np.random.Generator(np.random.PCG64([self.spec.seed, zlib.crc32(name.encode())]))
        return rng.standard_normal(shape, dtype=np.float32) * np.float32(std)

    def add(self, name, values, type_name="F32"):
        dims = tuple(reversed(values.shape))
        if dims[0] % gguf_types.TYPES[type_name].block:
            type_name = FALLBACK[type_name]
        data = gguf_quantise.quantise(type_name, values)
        self.tensors.append(gguf.NewTensor(name, dims, type_name, data))

    def role_type(self, role, layer=0):
        fallback = {"gate": "gate_up", "up": "gate_up", "delta": "attn",
                    "latent": "attn"}.get(role)
        chosen = self.spec.types.get(role) or self.spec.types.get(fallback) or [self.spec.type]
        return chosen[layer % len(chosen)]

    def weights(self, name, rows, columns, gain=1.0, stack=()):
        return self.normal(name, (*stack, rows, columns), gain / np.sqrt(columns))

    def matrix(self, name, rows, columns, role, gain=1.0, layer=0, stack=()):
        values = self.weights(name, rows, columns, gain, stack)
        self.add(name, values, self.role_type(role, layer))

    def norm(self, name, size, scale=1.0):
        # Channels of unequal size, as trained models have them: what a type's blocks and an engine's
        # rounding of activations have to cope with.
        weights = np.exp(self.normal(name, size, 0.5))
        self.add(name, weights * np.float32(scale / np.sqrt(np.mean(weights * weights))))

    def bias(self, name, size, std=0.3):
        self.add(name, self.normal(name, size, std))

    def is_recurrent(self, i):
        recurrent = bool(self.arch.delta) or self.arch.short_conv
        return recurrent and i < self.spec.layers and (i + 1) % self.spec.interval != 0

    def delta_net(self, i):
        s, b = self.spec, "blk.%d." % i
        heads, key_heads, size = s.delta_heads, s.delta_key_heads, s.delta_head_dim
        keys, values = key_heads * size, heads * size
        self.norm(b + "attn_norm.weight", s.width)
        self.delta_projections(i, keys, values)
        name = b + "ssm_conv1d.weight"
        self.add(name, self.normal(name, (2 * keys + values, s.taps), 1 / np.sqrt(s.taps)))
        # Heads that forget at once and heads that hardly do: decays of about 0.3 to 0.99.
        rate = np.exp(self.normal(b + "ssm_a", heads, 1.0) - 2).astype(np.float32)
        self.add(b + "ssm_a", -rate)
        self.bias(b + "ssm_dt.bias", heads, 1.0)
        self.norm(b + "ssm_norm.weight", size)
        self.matrix(b + "ssm_out.weight", s.width, values, "delta", 2 * self.BLOCK, i)

    def short_conv(self, i):
        s, b = self.spec, "blk.%d." % i
        self.norm(b + "attn_norm.weight", s.width)
        self.matrix(b + "shortconv.in_proj.weight", 3 * s.width, s.width, "delta", 1.0, i)
        name = b + "shortconv.conv.weight"
        self.add(name, self.normal(name, (s.width, s.taps), 1 / np.sqrt(s.taps)))
        self.matrix(b + "shortconv.out_proj.weight", s.width, s.width, "delta", self.BLOCK, i)

    def delta_projections(self, i, keys, values):
        """Queries, keys and values; the output's gate; the two gates of each head. In the layouts
        of qwen3next the rows of what belongs to one key head lie together."""
        s, b = self.spec, "blk.%d." % i
        qkv = self.weights(b + "attn_qkv.weight", 2 * keys + values, s.width)
        gate = self.weights(b + "attn_gate.weight", values, s.width)
        kind = self.role_type("delta", i)
        if s.grouped:
            parts = [qkv[:keys], qkv[keys:2 * keys], qkv[2 * keys:], gate]
            self.add(b + "ssm_in.weight", self.by_key_head(parts), kind)
        else:
            self.add(b + "attn_qkv.weight", qkv, kind)
            self.add(b + "attn_gate.weight", gate, kind)
        beta = self.weights(b + "ssm_beta.weight", s.delta_heads, s.width)
        alpha = self.weights(b + "ssm_alpha.weight", s.delta_heads, s.width)
        if self.arch.delta == "grouped":
            self.add(b + "ssm_ba.weight", self.by_key_head([beta, alpha]), kind)
        else:
            self.add(b + "ssm_beta.weight", beta, kind)
            self.add(b + "ssm_alpha.weight", alpha, kind)

    def by_key_head(self, parts):
        groups = [p.reshape(self.spec.delta_key_heads, -1, p.shape[-1]) for p in parts]
        return np.concatenate(groups, axis=1).reshape(-1, parts[0].shape[-1])

    def heads_of(self, i):
        """Size of a head, heads of keys."""
        return self.spec.head_dim, self.spec.kv_heads

    def has_keys(self, i):
        return True

    def has_values(self, i):
        return True

    def attention(self, i):
        s, b = self.spec, "blk.%d." % i
        head_dim, kv_heads = self.heads_of(i)
        queries, keys = s.heads * head_dim, kv_heads * head_dim
        normed = self.arch.qk_norm and not s.no_qk_norm
        sharp = 1.0 if normed else self.SHARPNESS
        self.norm(b + "attn_norm.weight", s.width)
        rows = queries * (2 if self.arch.gated_attention else 1)
        if self.arch.fused_qkv:
            self.matrix(b + "attn_qkv.weight", queries + 2 * keys, s.width, "attn", 1.0, i)
        else:
            self.matrix(b + "attn_q.weight", rows, s.width, "attn", sharp, i)
        if self.has_keys(i) and not self.arch.fused_qkv:
            self.matrix(b + "attn_k.weight", keys, s.width, "attn", 1.0, i)
        if self.has_values(i) and not self.arch.fused_qkv:
            self.matrix(b + "attn_v.weight", keys, s.width, "attn", 1.0, i)
        self.matrix(b + "attn_output.weight", s.width, queries, "attn", self.BLOCK, i)
        if self.arch.qkv_bias or s.bias:
            for part, size in (("q", rows), ("k", keys), ("v", keys)):
                self.bias(b + "attn_%s.bias" % part, size)
        if self.arch.every_bias or (s.bias and s.arch == "llama"):
            self.bias(b + "attn_output.bias", s.width)
        if self.arch.sinks:
            # About as large as the sum over a window of keys.
            name = b + "attn_sinks.weight"
            self.add(name, self.normal(name, s.heads, 2.0) + np.float32(4))
        if normed:
            whole = self.arch.qk_norm == "row"
            sharp = self.SHARPNESS / (np.sqrt(head_dim) if self.arch.scores_unscaled else 1)
            self.norm(b + "attn_q_norm.weight", queries if whole else head_dim, sharp)
            if self.has_keys(i):
                self.norm(b + "attn_k_norm.weight", keys if whole else head_dim)
        if self.arch.post_norms:
            self.norm(b + "post_attention_norm.weight", s.width, self.POST_ATTENTION)

    def latent_attention(self, i):
        s, b = self.spec, "blk.%d." % i
        fixed, queries = s.head_dim - s.rotary, s.heads * s.head_dim
        self.norm(b + "attn_norm.weight", s.width)
        if s.query_rank:
            self.matrix(b + "attn_q_a.weight", s.query_rank, s.width, "attn", 1.0, i)
            self.norm(b + "attn_q_a_norm.weight", s.query_rank)
            self.matrix(b + "attn_q_b.weight", queries, s.query_rank, "attn", self.SHARPNESS, i)
        else:
            self.matrix(b + "attn_q.weight", queries, s.width, "attn", self.SHARPNESS, i)
        self.matrix(b + "attn_kv_a_mqa.weight", s.rank + s.rotary, s.width, "attn", 1.0, i)
        self.norm(b + "attn_kv_a_norm.weight", s.rank)
        keys = self.weights(b + "attn_k_b.weight", fixed, s.rank, 1.0, (s.heads,))
        values = self.weights(b + "attn_v_b.weight", s.value_dim, s.rank, 1.0, (s.heads,))
        kind = self.role_type("latent", i)
        if s.kv_b:
            both = np.concatenate([keys, values], axis=1).reshape(-1, s.rank)
            self.add(b + "attn_kv_b.weight", both, kind)
        else:
            self.add(b + "attn_k_b.weight", np.ascontiguousarray(keys.transpose(0, 2, 1)), kind)
            self.add(b + "attn_v_b.weight", values, kind)
        inputs = s.heads * s.value_dim
        self.matrix(b + "attn_output.weight", s.width, inputs, "attn", self.BLOCK, i)

    def dense(self, i, suffix="", role="ffn", size=None):
        s, b = self.spec, "blk.%d." % i
        size = size or s.ff
        for part in ("gate", "up"):
            self.matrix(b + "ffn_%s%s.weight" % (part, suffix), size, s.width, role, 1.5, i)
        self.matrix(b + "ffn_down%s.weight" % suffix, s.width, size, role, self.BLOCK, i)
        if s.bias and s.arch == "llama" and not suffix:
            for part, n in (("gate", size), ("up", size), ("down", s.width)):
                self.bias(b + "ffn_%s.bias" % part, n)

    def expert_layer(self, i):
        s, b = self.spec, "blk.%d." % i
        name = b + "ffn_gate_inp.weight"
        self.add(name, self.normal(name, (s.experts, s.width), self.ROUTER / np.sqrt(s.width)))
        # Gate and up values that are sometimes clamped; what follows has to be smaller by as much.
        inner, outer = (3.5, 0.25) if self.arch.activation == "swiglu_oai" else (1.5, 1.5)
        outer /= max(1.0, s.route_scale)
        if s.fused:
            self.fused(i, inner)
        else:
            for part in ("gate", "up"):
                self.stacked(i, part, s.expert_ff, s.width, inner)
        self.stacked(i, "down", s.width, s.expert_ff, self.BLOCK * outer)
        if self.arch.every_bias:
            self.bias(b + "ffn_gate_inp.bias", s.experts)
            for part, size in (("gate", s.expert_ff), ("up", s.expert_ff), ("down", s.width)):
                self.bias(b + "ffn_%s_exps.bias" % part, (s.experts, size), 1.0)
        if s.route_bias:
            self.bias(b + "exp_probs_b.bias", s.experts, 0.2)
        if self.arch.shared_expert == "gated":
            name = b + "ffn_gate_inp_shexp.weight"
            self.add(name, self.normal(name, (s.width,), 1 / np.sqrt(s.width)))
        if self.arch.shared_expert and s.shared_ff:
            self.dense(i, "_shexp", "shared", s.shared_ff)

    def stacked(self, i, part, rows, columns, gain):
        name = "blk.%d.ffn_%s_exps.weight" % (i, part)
        if not self.spec.per_expert:
            self.matrix(name, rows, columns, part, gain, i, (self.spec.experts,))
            return
        values = self.normal(name, (self.spec.experts, rows, columns), gain / np.sqrt(columns))
        for e, expert in enumerate(values):
            self.add("blk.%d.ffn_%s.%d.weight" % (i, part, e), expert, self.role_type(part, i))

    def fused(self, i, gain):
        s, name = self.spec, "blk.%d.ffn_%s_exps.weight"
        both = [self.weights(name % (i, part), s.expert_ff, s.width, gain, (s.experts,))
                for part in ("gate", "up")]
        self.add(name % (i, "gate_up"), np.concatenate(both, axis=1), self.role_type("gate_up", i))

    def feed_forward(self, i):
        s, b = self.spec, "blk.%d." % i
        self.norm(b + self.arch.ffn_norm + ".weight", s.width)
        if s.experts and i >= s.lead and (i + 1) % s.moe_step == 0:
            self.expert_layer(i)
        else:
            self.dense(i)
        if self.arch.post_norms:
            self.norm(b + "post_ffw_norm.weight", s.width, self.POST_FF)

    def block(self, i):
        s, b = self.spec, "blk.%d." % i
        if self.is_recurrent(i) and self.arch.short_conv:
            self.short_conv(i)
        elif self.is_recurrent(i):
            self.delta_net(i)
        elif self.arch.latent:
            self.latent_attention(i)
        else:
            self.attention(i)
        self.feed_forward(i)
        if i >= s.layers:
            self.matrix(b + "nextn.eh_proj.weight", s.width, 2 * s.width, "attn", 1.0, i)
            for name in ("enorm", "hnorm", "shared_head_norm"):
                self.norm(b + "nextn.%s.weight" % name, s.width)

    def build(self):
        s = self.spec
        # What the architecture multiplies embeddings with is taken out here, so that the stream
        # always begins with deviation 1.
        embed_std = 1 / np.sqrt(s.width) if self.arch.scale_embedding else 1.0
        embed_std /= s.embedding_scale or 1
        embed = self.normal("token_embd.weight", (s.vocab, s.width), embed_std)
        self.add("token_embd.weight", embed, self.role_type("embed"))
        if s.rope_scaling == "freqs":
            # Low frequencies slowed down, as Llama 3 does; any positive numbers would do.
            factors = np.geomspace(1, 8, s.head_dim // 2).astype(np.float32)
            self.add("rope_freqs.weight", factors)
        self.own_tensors()
        for i in range(s.layers + s.predict):
            self.block(i)
        logits = self.LOGITS / (embed_std * np.sqrt(s.width)) if s.tied else 1.0
        self.norm(self.arch.last_norm + ".weight", s.width, logits * (s.logit_scale or 1))
        if not s.tied:
            self.matrix("output.weight", s.vocab, s.width, "output", self.LOGITS)
        for i in range(s.extra):
            self.bias("vision.block.%d.weight" % i, 8)
        return self.metadata(), self.tensors

    def metadata(self):
        s, meta = self.spec, gguf.Metadata()
        a = s.arch + "."
        meta.put("general.architecture", gguf.STRING, s.arch)
        meta.put("general.name", gguf.STRING, "random %s, seed %d" % (s.arch, s.seed))
        meta.put("general.quantization_version", gguf.U32, 2)
        for key, value in (
                ("block_count", s.layers + s.predict), ("context_length", s.context),
                ("embedding_length", s.width),
                ("feed_forward_length",
                 s.expert_ff if s.experts and s.arch in IN_FEED_FORWARD_LENGTH else s.ff),
                ("attention.head_count", s.heads), *self.head_metadata(),
                ("rope.dimension_count", s.rotary)):
            meta.put(a + key, gguf.U32, value)
        meta.put(a + "attention.layer_norm_rms_epsilon", gguf.F32, s.eps)
        meta.put(a + "rope.freq_base", gguf.F32, s.rope_base)
        if s.experts:
            meta.put(a + "expert_count", gguf.U32, s.experts)
            meta.put(a + "expert_used_count", gguf.U32, s.used)
            if s.arch not in IN_FEED_FORWARD_LENGTH or s.arch == "gpt-oss":
                meta.put(a + "expert_feed_forward_length", gguf.U32, s.expert_ff)
        if self.arch.shared_expert in ("gated", "plain") and s.shared_ff:
            meta.put(a + "expert_shared_feed_forward_length", gguf.U32, s.shared_ff)
        if self.arch.delta:
            self.delta_metadata(meta)
        if self.arch.routes:
            self.route_metadata(meta)
        if self.arch.short_conv:
            meta.put(a + "shortconv.l_cache", gguf.U32, s.taps)
            meta.put_array(a + "attention.head_count_kv", gguf.I32,
                           [0 if self.is_recurrent(i) else s.kv_heads for i in range(s.layers)])
        if self.arch.sections:
            self.sections_metadata(meta)
        if s.arch == "llama4":
            meta.put(a + "interleave_moe_layer_step", gguf.U32, s.moe_step)
        if s.temperature_span:
            meta.put(a + "attention.temperature_length", gguf.U32, s.temperature_span)
        for key, value in (("embedding_scale", s.embedding_scale),
                           ("residual_scale", s.residual_scale),
                           ("attention.scale", s.score_scale), ("logit_scale", s.logit_scale)):
            if value:
                meta.put(a + key, gguf.F32, value)
        if s.predict:
            meta.put(a + "nextn_predict_layers", gguf.U32, s.predict)
        if self.arch.window_period:
            meta.put(a + "attention.sliding_window", gguf.U32, s.window)
        if s.softcap:
            meta.put(a + "final_logit_softcapping", gguf.F32, s.softcap)
        self.own_metadata(meta)
        if s.rope_scaling in ("linear", "yarn"):
            meta.put(a + "rope.scaling.type", gguf.STRING, s.rope_scaling)
            meta.put(a + "rope.scaling.factor", gguf.F32, s.rope_factor)
        if s.rope_scaling == "yarn":
            original = int(s.context / s.rope_factor)
            meta.put(a + "rope.scaling.original_context_length", gguf.U32, original)
        if s.log_multiplier:
            meta.put(a + "rope.scaling.yarn_log_multiplier", gguf.F32, s.log_multiplier)
        if s.tokenizer != "bpe":
            model = {"spm": "llama"}.get(s.tokenizer, s.tokenizer)
            gguf_vocab.put_spm(meta, s.vocab, model=model)
        else:
            gguf_vocab.put_bpe(meta, s.vocab, s.pre)
        if s.chat:
            meta.put("tokenizer.chat_template", gguf.STRING, CHAT_TEMPLATE)
        return meta

    def head_metadata(self):
        s = self.spec
        if not self.arch.latent:
            return (("attention.head_count_kv", s.kv_heads), ("attention.key_length", s.head_dim),
                    ("attention.value_length", s.head_dim))
        # Llama.cpp takes a rank of 0 for none where it expects the key.
        ranks = (("attention.kv_lora_rank", s.rank), ("attention.q_lora_rank", s.query_rank))
        if s.kv_b:
            return (*ranks, ("attention.head_count_kv", s.heads),
                    ("attention.key_length", s.head_dim), ("attention.value_length", s.value_dim))
        return (*ranks, ("attention.head_count_kv", 1),
                ("attention.key_length", s.rank + s.rotary), ("attention.value_length", s.rank),
                ("attention.key_length_mla", s.head_dim),
                ("attention.value_length_mla", s.value_dim))

    def route_metadata(self, meta):
        s, a = self.spec, self.spec.arch + "."
        for key, value in (
                ("leading_dense_block_count", s.lead), ("expert_gating_func", s.gating),
                ("expert_shared_count", s.shared_ff // s.expert_ff if self.arch.shared_expert else 0),
                ("interleave_moe_layer_step", 1 if s.arch == "ernie4_5-moe" else 0),
                ("expert_group_count", s.groups), ("expert_group_used_count", s.groups_used)):
            if value:
                meta.put(a + key, gguf.U32, value)
        if s.route_norm:
            meta.put(a + "expert_weights_norm", gguf.BOOL, True)
        if s.route_scale:
            meta.put(a + "expert_weights_scale", gguf.F32, s.route_scale)

    def own_tensors(self):
        """Of a family, outside of its layers."""

    def own_metadata(self, meta):
        """Keys of a family."""

    def delta_metadata(self, meta):
        s, a = self.spec, self.spec.arch + "."
        for key, value in (
                ("ssm.conv_kernel", s.taps), ("ssm.state_size", s.delta_head_dim),
                ("ssm.inner_size", s.delta_heads * s.delta_head_dim),
                ("ssm.time_step_rank", s.delta_heads), ("ssm.group_count", s.delta_key_heads),
                ("full_attention_interval", s.interval)):
            meta.put(a + key, gguf.U32, value)

    def sections_metadata(self, meta):
        """Text, height and width take turns, so that each has a third of the pairs."""
        pairs = self.spec.rotary // 2
        third = [-(-pairs // 3), -(-(pairs - 1) // 3), pairs // 3]
        meta.put_array(self.spec.arch + ".rope.dimension_sections", gguf.I32, [*third, 0])


class Gemma4Maker(gguf_gemma4.Parts, Maker):
    pass


MAKERS = {"gemma4": Gemma4Maker}


def maker(spec):
    return MAKERS.get(spec.arch, Maker)(spec)


def make(path, spec, version=3, alignment=gguf.ALIGNMENT, shards=1, metadata_first=False):
    """Writes the model; with shards > 1 `path` minus .gguf is the prefix. Returns the paths."""
    metadata, tensors = maker(spec).build()
    options = dict(version=version, alignment=alignment)
    if shards == 1:
        gguf.write(path, metadata, tensors, **options)
        return [path]
    prefix = path[:-5] if path.endswith(".gguf") else path
    return gguf.write_split(prefix, metadata, tensors, shards, metadata_first, **options)


def make_vocabulary_only(path, size, tokenizer, **options):
    """Metadata with a vocabulary of `size` tokens and no tensors at all."""
    meta = gguf.Metadata()
    meta.put("general.architecture", gguf.STRING, "llama")
    for key, value in (("block_count", 2), ("context_length", 4096), ("embedding_length", 64),
                       ("feed_forward_length", 128), ("attention.head_count", 2)):
        meta.put("llama." + key, gguf.U32, value)
    meta.put("llama.attention.layer_norm_rms_epsilon", gguf.F32, 1e-5)
    if tokenizer == "spm":
        gguf_vocab.put_spm(meta, size)
    else:
        gguf_vocab.put_bpe(meta, size)
    gguf.write(path, meta, [], **options)
    return [path]


# ---- the set -----------------------------------------------------------------------------------

def fixture(sentence, size="tiny", file=None, **options):
    return sentence, size, file or {}, options


MIXED = dict(gate_up=["Q4_K"], down=["Q6_K", "Q4_K"], attn=["Q8_0", "Q5_K"], embed=["Q6_K"],
             output=["Q6_K"], shared=["Q8_0"])
# Router and YaRN as DeepSeek-V3 has them; two of four groups of experts.
V3 = dict(arch="deepseek2", layers=4, lead=1, head_dim=56, rotary=16, value_dim=40, experts=16, used=4,
          query_rank=48, gating=2, route_bias=True, route_norm=True, route_scale=2.5, groups=4,
          groups_used=2, shared_ff=128, rope_scaling="yarn", rope_factor=40.0, log_multiplier=0.1,
          eps=1e-6, vocab=320, pre="deepseek-v3")
# The first layer is dense, two experts are shared; as DeepSeek-V2-Lite.
LITE = dict(arch="deepseek2", layers=3, lead=1, head_dim=48, rotary=16, shared_ff=256, used=3,
            rope_scaling="yarn", rope_factor=40.0, log_multiplier=0.0707, route_scale=1.0,
            eps=1e-6, vocab=320, pre="deepseek-llm")
# No groups, no YaRN, as GLM-4.7-Flash.
FLASH = dict(arch="deepseek2", lead=1, head_dim=48, rotary=16, value_dim=64, rank=96, query_rank=64,
             experts=8, used=3, gating=2, route_bias=True, route_norm=True, route_scale=1.8,
             shared_ff=96, vocab=320, pre="glm4")
# Router and sizes of what has a sigmoid router and a first layer without experts.
SIGMOID = dict(layers=3, lead=1, used=3, gating=2, route_bias=True, route_norm=True, eps=1e-6)
# The same small and quantised, for runs of many tokens.
SMALL = dict(SIGMOID, width=64, heads=4, kv_heads=2, head_dim=32, ff=128, expert_ff=96, shared_ff=96,
             type="Q8_0", types=dict(gate_up=["Q5_0"], down=["IQ4_NL", "Q8_0"]))
# A window of 48, YaRN from 128 positions on.
GPT_OSS = dict(layers=4, head_dim=64, used=3, pre="gpt-4o", rope_scaling="yarn", rope_factor=32.0)
GEMMA4 = dict(layers=4, period=2, head_dim=64, tokenizer="gemma4", rope_base=1e6, eps=1e-6,
              softcap=12.0, vocab=352)
ERNIE = dict(route_bias=True, used=3, shared_ff=256, rope_base=5e5, tokenizer="spm", vocab=352,
             tied=True)
LFM2 = dict(lead=1, interval=2, taps=3, gating=2, route_bias=True, used=3, rope_base=1e6, pre="lfm2",
            vocab=320)
LLAMA4 = dict(used=1, shared_ff=128, rope_base=5e5, rope_scaling="freqs", pre="llama4", vocab=320)
GRANITE = dict(embedding_scale=12.0, residual_scale=0.6, score_scale=0.15, logit_scale=6.0,
               pre="refact", vocab=320)
FIXTURES = {
    "good-llama-f32": fixture("dense llama in F32", arch="llama"),
    "good-llama-tied-spm": fixture("dense llama, tied output, SPM vocabulary", arch="llama",
                                   tied=True, tokenizer="spm"),
    "good-llama-linear": fixture("dense llama with linear RoPE scaling", arch="llama",
                                 rope_scaling="linear"),
    "good-llama-yarn": fixture("dense llama with YaRN", arch="llama", rope_scaling="yarn"),
    "good-llama-freqs": fixture("dense llama with RoPE frequency factors", arch="llama",
                                rope_scaling="freqs", rope_base=500000.0),
    "good-llama-bias": fixture("dense llama with every optional bias", arch="llama", bias=True),
    "good-mixtral-f32": fixture("llama with stacked experts in F32", arch="llama", experts=8,
                                tokenizer="spm", rope_base=1e6),
    "good-mixtral-per-expert": fixture(
        "the model of good-mixtral-f32 with one 2-D tensor per expert", arch="llama", experts=8,
        tokenizer="spm", rope_base=1e6, per_expert=True),
    "good-mixtral-q4_k": fixture("llama with experts, mixed K types", "tiny256", arch="llama",
                                 experts=8, types=MIXED),
    "good-qwen3moe-f32": fixture("qwen3moe in F32, head size not width / heads", arch="qwen3moe",
                                 head_dim=64, eps=1e-6, rope_base=1e6),
    "good-qwen3moe-chat": fixture("qwen3moe with a chat template", arch="qwen3moe", type="Q8_0",
                                  chat=True),
    "good-qwen3moe-yarn": fixture("qwen3moe with YaRN", arch="qwen3moe", rope_scaling="yarn"),
    "good-qwen3moe-bias": fixture("qwen3moe with biases its family does not have",
                                  arch="qwen3moe", bias=True),
    "good-qwen3moe-tied": fixture("qwen3moe, tied output", arch="qwen3moe", tied=True),
    "good-qwen3moe-deep": fixture("8 layers of 16 experts, Q8_0", "deep", arch="qwen3moe",
                                  type="Q8_0"),
    "good-qwen3moe-mixed": fixture("types mixed within and between layers", "tiny256",
                                   arch="qwen3moe", layers=4, types=MIXED),
    "good-qwen3moe-gate-up": fixture("gate and up of different types", "tiny256",
                                     arch="qwen3moe", type="Q8_0",
                                     types=dict(gate=["Q4_K"], up=["Q5_K"], down=["MXFP4"])),
    "good-qwen3moe-odd": fixture("no row is a multiple of 256: Q4_K falls back", "odd",
                                 arch="qwen3moe", type="Q4_K"),
    "good-qwen3moe-ff704": fixture("expert rows of 704", "ff704", arch="qwen3moe", type="Q8_0",
                                   types=dict(gate_up=["IQ4_NL"], down=["Q5_1"])),
    "good-qwen3moe-v2": fixture("GGUF version 2", file=dict(version=2), arch="qwen3moe",
                                type="Q8_0"),
    "good-qwen3moe-align4096": fixture("alignment 4096", file=dict(alignment=4096),
                                       arch="qwen3moe", type="Q8_0"),
    "good-qwen3moe-split": fixture("three shards", file=dict(shards=3), arch="qwen3moe",
                                   type="Q8_0"),
    "good-qwen3moe-split-empty-first": fixture(
        "four shards, the first without tensors", file=dict(shards=4, metadata_first=True),
        arch="qwen3moe", type="Q8_0"),
    "good-qwen3moe-extra": fixture("ten tensors that nothing uses", arch="qwen3moe", type="Q8_0",
                                   extra=10),
    "good-qwen2moe-f32": fixture("qwen2moe in F32: shared expert, biases", arch="qwen2moe"),
    "good-qwen2moe-mixed": fixture("qwen2moe, mixed K types", "tiny256", arch="qwen2moe",
                                   types=MIXED),
    "good-olmoe-f32": fixture("olmoe in F32", arch="olmoe", kv_heads=4),
    "good-olmoe-mixed": fixture("olmoe, mixed K types", "tiny256", arch="olmoe", kv_heads=4,
                                types=MIXED),
    "good-qwen3-f32": fixture("dense qwen3 in F32", arch="qwen3", head_dim=64),
    "good-qwen35moe-f32": fixture(
        "qwen35moe in F32: gated delta nets, every fourth layer gated attention, partial RoPE",
        arch="qwen35moe", layers=5, head_dim=64, rotary=16, eps=1e-6, rope_base=1e7),
    "good-qwen35moe-odd": fixture(
        "qwen35moe, odd widths: three value heads for a key head, heads of 40, F32", "odd",
        arch="qwen35moe", layers=4, interval=2, head_dim=32, rotary=24, delta_heads=6,
        delta_key_heads=2, delta_head_dim=40, taps=3, eps=1e-6, vocab=320),
    "good-qwen35moe-mixed": fixture("qwen35moe, mixed K types", "tiny256", arch="qwen35moe",
                                    layers=4, rotary=32, delta_head_dim=64, eps=1e-6,
                                    types=dict(MIXED, delta=["Q5_K", "Q8_0", "Q6_K"])),
    "good-qwen35moe-predict": fixture(
        "the model of good-qwen35moe-f32 with a block that predicts a second token",
        arch="qwen35moe", layers=5, head_dim=64, rotary=16, eps=1e-6, rope_base=1e7, predict=1),
    "good-qwen35-f32": fixture("dense qwen35 in F32, tied output", arch="qwen35", layers=5,
                               head_dim=64, rotary=16, eps=1e-6, tied=True, vocab=320),
    "good-qwen35-mixed": fixture("dense qwen35, mixed types", "tiny256", arch="qwen35", layers=4,
                                 rotary=32, delta_head_dim=64, eps=1e-6,
                                 types=dict(MIXED, ffn=["Q4_K", "Q6_K"])),
    "good-qwen3next-f32": fixture("qwen3next in F32", arch="qwen3next", layers=5, head_dim=64,
                                  rotary=16, eps=1e-6, rope_base=1e7, vocab=320),
    "good-qwen3next-grouped": fixture(
        "the model of good-qwen3next-f32 with projections grouped by key heads", arch="qwen3next",
        layers=5, head_dim=64, rotary=16, eps=1e-6, rope_base=1e7, grouped=True, vocab=320),
    "good-qwen3next-mixed": fixture("qwen3next, mixed K types", "tiny256", arch="qwen3next",
                                    layers=4, rotary=32, delta_head_dim=64, eps=1e-6,
                                    types=dict(MIXED, delta=["Q5_K", "Q8_0", "Q6_K"])),
    "good-qwen3vlmoe-f32": fixture("the text of qwen3vlmoe in F32", arch="qwen3vlmoe", head_dim=64,
                                   eps=1e-6, rope_base=5e6, vocab=320),
    "good-qwen3vlmoe-mixed": fixture("the text of qwen3vlmoe, mixed K types", "tiny256",
                                     arch="qwen3vlmoe", eps=1e-6, types=MIXED),
    "good-ernie4_5-moe-f32": fixture(
        "ernie4_5-moe in F32: one dense layer, a bias that chooses experts, two shared ones",
        arch="ernie4_5-moe", **{**ERNIE, "lead": 1, "layers": 4}),
    "good-ernie4_5-moe-mixed": fixture("ernie4_5-moe, mixed K types", "tiny256", lead=1,
                                       arch="ernie4_5-moe", types=MIXED,
                                       **{**ERNIE, "vocab": 640}),
    "good-lfm2moe-f32": fixture(
        "lfm2moe in F32: short convolutions and attention take turns, one dense layer",
        arch="lfm2moe", layers=5, **LFM2),
    "good-lfm2moe-mixed": fixture("lfm2moe, mixed K types", "tiny256", arch="lfm2moe", layers=4,
                                  types=dict(MIXED, delta=["Q5_K", "Q8_0", "Q6_K"]),
                                  **{**LFM2, "vocab": 640}),
    "good-llama4-f32": fixture(
        "llama4 in F32: one expert per token with weighed input, every second layer dense",
        arch="llama4", layers=4, moe_step=2, window=8192, **LLAMA4),
    "good-llama4-chunks": fixture(
        "llama4 in F32 with chunks of 48 positions and scores that grow every 64", arch="llama4",
        layers=4, window=48, temperature_span=64, **LLAMA4),
    "good-llama4-q8_0": fixture(
        "llama4 in Q8_0 with chunks of 80 positions", arch="llama4", layers=4, window=80,
        temperature_span=100, type="Q8_0", **{**LLAMA4, "vocab": 640}),
    "good-llama4-mixed": fixture(
        "llama4, mixed K types", "tiny256", arch="llama4", layers=4, window=8192, types=MIXED,
        **{**LLAMA4, "vocab": 640, "shared_ff": 256}),
    "good-granitemoe-f32": fixture("granitemoe in F32, tied output, with a shared expert",
                                   arch="granitemoe", tied=True, **GRANITE),
    "good-granitemoe-mixed": fixture(
        "granitemoe without a shared expert, mixed K types", "tiny256", arch="granitemoe",
        shared_ff=0, types=MIXED, **{**GRANITE, "vocab": 640}),
    "good-gemma3-f32": fixture("gemma3 in F32: seven layers, the sixth sees everything",
                               arch="gemma3", layers=7, tokenizer="spm", rope_base=1e6),
    "good-gemma3-linear": fixture("gemma3 with linear scaling of its global layers",
                                  arch="gemma3", layers=7, tokenizer="spm", rope_base=1e6,
                                  rope_scaling="linear"),
    "good-gemma3-mixed": fixture("gemma3, mixed types", "tiny256", arch="gemma3", layers=6,
                                 tokenizer="spm", type="Q5_0",
                                 types=dict(attn=["Q4_K", "Q5_0"], embed=["Q8_0"], ffn=["Q6_K"])),
    "good-gemma4-f32": fixture(
        "gemma4 with experts in F32: heads of two sizes, values from keys, fused gate and up",
        arch="gemma4", experts=8, fused=True, keys_as_values=True, local_head_dim=32,
        local_kv_heads=2, kv_heads=1, expert_ff=64, seed=4, **GEMMA4),
    "good-gemma4-dense": fixture(
        "dense gemma4 in F32: embeddings per layer, layers that share keys and values, two widths "
        "of feed-forward", arch="gemma4", kv_heads=1, shared_layers=2, extra_width=24, **GEMMA4),
    "good-gemma4-mixed": fixture(
        "gemma4 with experts, mixed types; no expert row of 256", "tiny256", arch="gemma4",
        experts=8, expert_ff=96, fused=True, keys_as_values=True, local_head_dim=32,
        local_kv_heads=4, types=dict(gate_up=["Q4_K"], down=["Q5_0", "Q8_0"],
                                     attn=["Q8_0", "Q5_K"], embed=["Q6_K"], ffn=["Q8_0"]),
        **{**GEMMA4, "head_dim": 64, "vocab": 640}),
    "good-deepseek2-f32": fixture(
        "deepseek2 in F32 as V3: compressed queries, sigmoid router with a bias, groups, YaRN", **V3),
    "good-deepseek2-kv-b": fixture(
        "the model of good-deepseek2-f32 with the matrices of the heads in one tensor", kv_b=True,
        **V3),
    "good-deepseek2-lite": fixture(
        "deepseek2 in F32 as V2-Lite: whole queries, softmax router, two shared experts",
        gating=1, **LITE),
    "good-deepseek2-groups": fixture(
        "deepseek2 in F32 as V2: softmax router, groups by their best expert", gating=1, kv_b=True,
        **{**LITE, "query_rank": 40, "experts": 12, "groups": 3, "groups_used": 2, "route_scale": 4.0}),
    "good-deepseek2-flash": fixture(
        "deepseek2 in F32 as GLM-4.7-Flash: odd widths, no YaRN, a block that predicts", "odd",
        predict=1, **FLASH),
    "good-deepseek2-odd": fixture("deepseek2, no row of 256: Q4_K falls back", "odd", type="Q4_K",
                                  **FLASH),
    "good-deepseek2-mixed": fixture(
        "deepseek2, mixed K types, rows of 256", "tiny256",
        **{**V3, "width": 256, "head_dim": 80, "rank": 256, "query_rank": 256, "value_dim": 64,
           "layers": 3, "experts": 8, "used": 3, "expert_ff": 256, "shared_ff": 256, "ff": 512,
           "vocab": 640},
        types=dict(MIXED, attn=["Q5_K", "Q8_0"], latent=["Q8_0", "Q5_0"])),
    "good-deepseek2-kv-b-mixed": fixture(
        "deepseek2 as V2-Lite, mixed K types, the matrices of the heads in one tensor", "tiny256",
        kv_b=True, **{**LITE, "head_dim": 80, "rank": 256, "value_dim": 64, "shared_ff": 512, "vocab": 640},
        types=dict(MIXED, latent=["Q4_K", "Q6_K"])),
    "good-glm4moe-f32": fixture(
        "glm4moe in F32: partial RoPE, norms of queries and keys, a block that predicts",
        arch="glm4moe", rotary=16, route_scale=2.5, predict=1, rope_base=1e6, vocab=320, pre="glm4",
        **SIGMOID),
    "good-glm4moe-air": fixture("glm4moe, 32-blocks, without norms of queries and keys",
                                arch="glm4moe", rotary=16, no_qk_norm=True, pre="glm4", **SMALL),
    "good-dots1-f32": fixture("dots1 in F32: two shared experts", arch="dots1", kv_heads=4,
                              shared_ff=256, route_scale=2.5, vocab=320, **SIGMOID),
    "good-dots1-mixed": fixture("dots1, 32-blocks", arch="dots1", **{**SMALL, "kv_heads": 4}),
    "good-minimax-m2-f32": fixture(
        "minimax-m2 in F32: queries and keys normed by rows, partial RoPE", arch="minimax-m2",
        rotary=16, rope_base=5e6, vocab=320, pre="gpt-4o", ff=128, **{**SIGMOID, "lead": 0}),
    "good-minimax-m2-mixed": fixture("minimax-m2, 32-blocks", arch="minimax-m2", rotary=16,
                                     pre="gpt-4o", **{**SMALL, "lead": 0, "ff": 96}),
    "good-hunyuan-moe-f32": fixture("hunyuan-moe in F32: norms behind RoPE", arch="hunyuan-moe",
                                    used=3, expert_ff=128, shared_ff=128, ff=128, vocab=320),
    "good-hunyuan-moe-mixed": fixture("hunyuan-moe, 32-blocks", arch="hunyuan-moe",
                                      **{**SMALL, "lead": 0, "ff": 96, "route_bias": False}),
    "good-bailingmoe2-f32": fixture(
        "bailingmoe2 in F32: one matrix for queries, keys and values, partial RoPE, groups",
        arch="bailingmoe2", rotary=16, groups=4, groups_used=2, route_scale=2.5,
        rope_base=6e5, vocab=320, **SIGMOID),
    "good-bailingmoe2-mixed": fixture("bailingmoe2, 32-blocks", arch="bailingmoe2", rotary=16,
                                      groups=4, groups_used=2,
                                      **{**SMALL, "width": 128, "route_scale": 2.5}),
    "good-gpt-oss-f32": fixture(
        "gpt-oss in F32; YaRN's limits are whole pairs, where rounding them changes nothing",
        arch="gpt-oss", rope_once=9, **GPT_OSS),
    "good-gpt-oss-yarn": fixture("gpt-oss in F32; YaRN's upper limit lies between two pairs",
                                 arch="gpt-oss", rope_base=150000.0, vocab=320, **GPT_OSS),
    "good-gpt-oss-mxfp4": fixture(
        "gpt-oss as published: experts in MXFP4, the rest Q8_0; no row of 256", "odd",
        arch="gpt-oss", rope_once=9, type="Q8_0",
        types=dict(gate_up=["MXFP4"], down=["MXFP4"]), **GPT_OSS),
    "good-vocab-250k": fixture("a quarter of a million tokens, SPM, tied", arch="qwen3moe",
                               vocab=250000, tokenizer="spm", tied=True, type="Q8_0", width=64,
                               expert_ff=64, head_dim=32),
}
FIXTURES.update({
    "good-qwen3moe-" + name.lower(): fixture("qwen3moe, every matrix %s" % name, "tiny256",
                                             arch="qwen3moe", type=name, tied=False)
    for name in gguf_types.COMPUTABLE if name != "F32"})
VOCABULARIES = {
    "good-vocab-only-bpe": ("a BPE vocabulary and no tensors", 600, "bpe"),
    "good-vocab-only-spm": ("an SPM vocabulary and no tensors", 600, "spm"),
    "good-vocab-only-250k-bpe": ("250,000 tokens, half a million merges, no tensors", 250000,
                                 "bpe"),
}


def make_fixture(name, folder):
    """Writes one of the set. Returns the paths; the first one is what a user passes."""
    path = os.path.join(folder, name + ".gguf")
    if name in VOCABULARIES:
        _, size, tokenizer = VOCABULARIES[name]
        return make_vocabulary_only(path, size, tokenizer)
    _, size, file, options = FIXTURES[name]
    return make(path, Spec(**{**SIZES[size], **options}), **file)


def all_fixtures():
    return {**{n: f[0] for n, f in FIXTURES.items()}, **{n: v[0] for n, v in VOCABULARIES.items()}}


# ---- command line ------------------------------------------------------------------------------

def parse_types(text):
    out = {}
    for part in filter(None, text.split(",")):
        role, _, names = part.partition("=")
        if role not in ROLES or not names:
            raise ValueError("--types takes role=TYPE[/TYPE...] with a role of: " + " ".join(ROLES))
        out[role] = names.split("/")
    return out


def parse_arguments(argv):
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("-o", "--out", help="file to write")
    p.add_argument("--set", metavar="DIR", help="write the named fixtures into DIR")
    p.add_argument("--only", default="*", help="pattern of names for --set and --list")
    p.add_argument("--list", action="store_true", help="print names and sentences")
    p.add_argument("--size", choices=SIZES, default="tiny")
    p.add_argument("--version", type=int, default=3)
    p.add_argument("--alignment", type=int, default=gguf.ALIGNMENT)
    p.add_argument("--shards", type=int, default=1)
    p.add_argument("--metadata-first", action="store_true", help="shard 1 without tensors")
    p.add_argument("--types", type=parse_types, default=None, help="role=TYPE[/TYPE...],...")
    for f in dataclasses.fields(Spec):
        if f.name == "types":
            continue
        flag = "--" + f.name.replace("_", "-")
        if f.type in (bool, "bool"):
            p.add_argument(flag, action="store_true", default=None)
        else:
            choices = {"arch": list(ARCHES), "type": gguf_types.COMPUTABLE,
                       "rope_scaling": ["none", "linear", "yarn", "freqs"],
                       "tokenizer": ["bpe", "spm", "gemma4"]}.get(f.name)
            p.add_argument(flag, type=type(f.default), choices=choices, default=None)
    return p.parse_args(argv)


def main(argv):
    a = parse_arguments(argv)
    names = {n: s for n, s in all_fixtures().items() if fnmatch.fnmatch(n, a.only)}
    if a.list:
        for name, sentence in names.items():
            print("%-36s %s" % (name, sentence))
    elif a.set:
        os.makedirs(a.set, exist_ok=True)
        for name in names:
            for path in make_fixture(name, a.set):
                print("%10d %s" % (os.path.getsize(path), path))
    elif a.out:
        given = {f.name: getattr(a, f.name) for f in dataclasses.fields(Spec)
                 if getattr(a, f.name) is not None}
        spec = Spec(**{**SIZES[a.size], **given})
        for path in make(a.out, spec, a.version, a.alignment, a.shards, a.metadata_first):
            print("%10d %s" % (os.path.getsize(path), path))
    else:
        sys.exit("gguf_make.py: give -o FILE, --set DIR or --list")


if __name__ == "__main__":
    main(sys.argv[1:])
