#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Makes files that are wrong, unusual or not supported, each in one known way, and a table of them.

    gguf_bad.py DIR [--only 'bad-cut-*']      writes the files and DIR/table.tsv
    gguf_bad.py --list

Columns of the table, tab separated: file (relative to DIR), exit code of `inspect`, exit code of
`run`, a text that the error message of `run` must hold (case ignored; "-" where it succeeds), and
a sentence on what is wrong. Names: `bad-` damaged, `unsupported-` sound but not for us, `good-` odd
but right: `run` must work.

Everything derives from one small model, so a file that is not refused would otherwise run.
"""
import argparse
import fnmatch
import os
import shutil
import struct
import sys
from dataclasses import dataclass, replace
from typing import Callable

import numpy as np

import gguf_file as gguf
import gguf_types
from gguf_make import Spec, maker

FILE_ERROR = 3
BASE = Spec(arch="qwen3moe", layers=2, width=64, heads=2, kv_heads=1, head_dim=32, ff=64,
            experts=4, used=2, expert_ff=64, vocab=300, context=512, type="Q8_0")
SOME_TENSOR = "blk.1.attn_k.weight"


@dataclass
class Case:
    name: str
    inspect: int
    run: int
    says: str
    why: str
    make: Callable                 # (folder, name) -> file to pass, relative to folder


CASES = {}


def case(name, why, says="-", inspect=None, run=None):
    """Registers a maker that returns the bytes of the file, or None if it wrote files itself."""
    run_code = run if run is not None else (0 if name.startswith("good-") else FILE_ERROR)
    inspect_code = FILE_ERROR if name.startswith("bad-") else 0
    inspect_code = inspect if inspect is not None else inspect_code

    def register(function):
        def make(folder, name):
            result = function(folder, name) if function.__code__.co_argcount else function()
            if isinstance(result, str):
                return result
            with open(os.path.join(folder, name + ".gguf"), "wb") as out:
                out.write(result)
            return name + ".gguf"
        CASES[name] = Case(name, inspect_code, run_code, says, why, make)
        return function
    return register


# ---- building blocks ---------------------------------------------------------------------------

class Model:
    """The base model as parts that a case can bend before assembling the bytes."""

    def __init__(self, spec=BASE):
        self.meta, self.tensors = maker(spec).build()
        self.version, self.pad = 3, gguf.ALIGNMENT
        self.pairs = None          # raw bytes instead of self.meta
        self.infos = {}            # tensor name -> (name, dims, type id, offset) overrides
        self.counts = {}           # "tensors" / "pairs": what the header claims

    def put(self, key, kind, value):
        self.meta.put(key, kind, value)
        return self

    def drop(self, key):
        del self.meta[key]
        return self

    def tensor(self, name):
        return next(t for t in self.tensors if t.name == name)

    def info(self, tensor, **changes):
        self.infos[tensor] = changes
        return self

    def parts(self):
        """(header, metadata, tensor table, padding, data)"""
        table, data, offset = b"", b"", 0
        for t in self.tensors:
            raw = np.ascontiguousarray(t.data).view(np.uint8).tobytes()
            fields = dict(name=t.name, dims=t.dims, type_id=gguf_types.TYPES[t.type].id,
                          offset=offset)
            fields.update(self.infos.get(t.name, {}))
            table += gguf.encode_tensor_info(**fields)
            data += raw + b"\0" * (-len(raw) % self.pad)
            offset = len(data)
        pairs = self.pairs
        if pairs is None:
            pairs = b"".join(gguf.encode_pair(k, *v) for k, v in self.meta.items())
        head = gguf.encode_header(self.counts.get("tensors", len(self.tensors)),
                                  self.counts.get("pairs", len(self.meta)), self.version)
        before = len(head) + len(pairs) + len(table)
        return head, pairs, table, b"\0" * (-before % self.pad), data

    def bytes(self):
        return b"".join(self.parts())

    def extra_pair(self, raw):
        """Appends the raw bytes of one more metadata pair."""
        self.pairs = b"".join(gguf.encode_pair(k, *v) for k, v in self.meta.items()) + raw
        self.counts["pairs"] = len(self.meta) + 1
        return self


def raw_pair(key, kind, payload):
    return gguf.encode_string(key) + struct.pack("<I", kind) + payload


def swap_values(kind, raw):
    """Big-endian form of a little-endian number or run of numbers of one kind."""
    size = struct.calcsize("<" + gguf.PACK[kind])
    return np.frombuffer(raw, dtype=np.uint8).reshape(-1, size)[:, ::-1].tobytes()


# ---- truncation (every cut has to be found before anything is computed) -------------------------

@case("bad-empty", "no byte at all", says="GGUF")
def _():
    return b""


@case("bad-cut-in-magic", "three bytes", says="GGUF")
def _():
    return b"GGU"


@case("bad-cut-in-counts", "ends inside the counts of the header", says="end")
def _():
    return Model().bytes()[:17]


@case("bad-cut-in-metadata", "ends inside the metadata", says="end")
def _():
    head, pairs, *_ = Model().parts()
    return head + pairs[:len(pairs) // 2]


@case("bad-cut-in-table", "ends inside the tensor table", says="end")
def _():
    head, pairs, table, *_ = Model().parts()
    return head + pairs + table[:len(table) // 2]


@case("bad-cut-before-data", "ends where the tensor data should begin", says="token_embd.weight")
def _():
    head, pairs, table, *_ = Model().parts()
    return head + pairs + table


@case("bad-cut-last-byte", "one byte of the last tensor is missing", says="output.weight")
def _():
    model = Model()
    last = model.tensors[-1]
    return model.bytes()[:-1 - (-last.nbytes % model.pad)]


@case("bad-cut-half", "half of the data is missing", says="tensor")
def _():
    whole = Model().bytes()
    return whole[:len(whole) // 2]


# ---- header ------------------------------------------------------------------------------------

@case("bad-magic", "another file format", says="GGUF")
def _():
    return b"PK\3\4" + Model().bytes()[4:]


@case("unsupported-version-1", "GGUF version 1", says="version 1", inspect=FILE_ERROR)
def _():
    model = Model()
    model.version = 1
    return model.bytes()


@case("unsupported-version-99", "GGUF version 99", says="version 99", inspect=FILE_ERROR)
def _():
    model = Model()
    model.version = 99
    return model.bytes()


@case("bad-version-0", "GGUF version 0", says="version")
def _():
    model = Model()
    model.version = 0
    return model.bytes()


@case("unsupported-big-endian", "the whole file is big-endian", says="big-endian",
      inspect=FILE_ERROR)
def _():
    def text(s):
        return struct.pack(">Q", len(s.encode())) + s.encode()
    pairs = [text("general.architecture") + struct.pack(">I", gguf.STRING) + text("llama"),
             text("llama.block_count") + struct.pack(">II", gguf.U32, 2)]
    info = text("token_embd.weight") + struct.pack(">IQQIQ", 2, 8, 4, 0, 0)
    head = b"GGUF" + struct.pack(">IQQ", 3, 1, len(pairs)) + b"".join(pairs) + info
    return head + b"\0" * (-len(head) % 32) + swap_values(gguf.F32, np.zeros(32, "<f4").tobytes())


@case("bad-many-pairs", "claims 2^40 metadata pairs", says="metadata")
def _():
    model = Model()
    model.counts["pairs"] = 1 << 40
    return model.bytes()


@case("bad-many-tensors", "claims 2^62 tensors", says="tensors")
def _():
    model = Model()
    model.counts["tensors"] = 1 << 62
    return model.bytes()


@case("bad-negative-tensors", "claims 2^64 - 1 tensors", says="tensors")
def _():
    model = Model()
    model.counts["tensors"] = (1 << 64) - 1
    return model.bytes()


# ---- metadata ----------------------------------------------------------------------------------

@case("bad-repeated-key", "a metadata key occurs twice", says="qwen3moe.block_count")
def _():
    return Model().extra_pair(gguf.encode_pair("qwen3moe.block_count", gguf.U32, 2)).bytes()


@case("bad-empty-key", "a metadata key of length 0", says="key")
def _():
    return Model().extra_pair(gguf.encode_pair("", gguf.U32, 2)).bytes()


@case("bad-value-type-13", "value type 13 does not exist", says="odd.key")
def _():
    return Model().extra_pair(raw_pair("odd.key", 13, b"\0" * 8)).bytes()


@case("bad-value-type-256", "value type 256 does not exist", says="odd.key")
def _():
    return Model().extra_pair(raw_pair("odd.key", 256, b"\0" * 8)).bytes()


@case("bad-array-type-13", "array of value type 13", says="odd.key")
def _():
    return Model().extra_pair(raw_pair("odd.key", gguf.ARRAY, struct.pack("<IQ", 13, 1))).bytes()


@case("bad-nested-array", "an array of arrays", says="odd.key")
def _():
    inner = struct.pack("<IQB", gguf.U8, 1, 7)
    return Model().extra_pair(
        raw_pair("odd.key", gguf.ARRAY, struct.pack("<IQ", gguf.ARRAY, 1) + inner)).bytes()


@case("bad-deep-array", "arrays nested 100,000 deep", says="odd.key")
def _():
    nested = struct.pack("<IQ", gguf.ARRAY, 1) * 100000 + struct.pack("<IQB", gguf.U8, 1, 7)
    return Model().extra_pair(raw_pair("odd.key", gguf.ARRAY, nested)).bytes()


@case("bad-array-count", "an array of 2^61 numbers", says="odd.key")
def _():
    payload = struct.pack("<IQ", gguf.U64, 1 << 61)
    return Model().extra_pair(raw_pair("odd.key", gguf.ARRAY, payload)).bytes()


@case("bad-array-of-strings", "an array of 2^40 strings", says="odd.key")
def _():
    payload = struct.pack("<IQ", gguf.STRING, 1 << 40)
    return Model().extra_pair(raw_pair("odd.key", gguf.ARRAY, payload)).bytes()


@case("bad-string-length", "a string of 2^63 + 8 bytes", says="odd.key")
def _():
    return Model().extra_pair(raw_pair("odd.key", gguf.STRING,
                                       struct.pack("<Q", (1 << 63) + 8))).bytes()


@case("bad-key-length", "a key of 2^64 - 1 bytes", says="key")
def _():
    return Model().extra_pair(struct.pack("<Q", (1 << 64) - 1)).bytes()


@case("bad-no-architecture", "general.architecture is missing", says="general.architecture")
def _():
    return Model().drop("general.architecture").bytes()


@case("bad-architecture-number", "general.architecture is a number", says="general.architecture")
def _():
    return Model().put("general.architecture", gguf.U32, 7).bytes()


@case("bad-alignment-3", "general.alignment is no power of two", says="general.alignment")
def _():
    return Model().put("general.alignment", gguf.U32, 3).bytes()


@case("bad-alignment-0", "general.alignment is 0", says="general.alignment")
def _():
    return Model().put("general.alignment", gguf.U32, 0).bytes()


@case("bad-alignment-huge", "general.alignment is 2^31", says="general.alignment")
def _():
    return Model().put("general.alignment", gguf.U32, 1 << 31).bytes()


# ---- hyper-parameters: the container is sound, `inspect` still reports --------------------------

def hyper_parameter(name, why, key, kind=gguf.U32, value=None, says=None):
    full = key if key.split(".")[0] in ("general", "tokenizer") else "qwen3moe." + key

    def build():
        model = Model()
        if value is None:
            return model.drop(full).bytes()
        return model.put(full, kind, value).bytes()
    case(name, why, says or full, inspect=0)(build)


hyper_parameter("bad-block-count-0", "no layers", "block_count", value=0)
hyper_parameter("bad-block-count-huge", "four thousand million layers", "block_count",
                value=4000000000)
hyper_parameter("bad-block-count-more", "one layer more than there are tensors for",
                "block_count", value=3, says="blk.2.")
hyper_parameter("bad-block-count-missing", "block_count is missing", "block_count")
hyper_parameter("bad-block-count-text", "block_count is a string", "block_count", gguf.STRING, "2")
hyper_parameter("bad-embedding-length-0", "rows of length 0", "embedding_length", value=0)
hyper_parameter("bad-embedding-length", "another width than the tensors have", "embedding_length",
                value=96, says="token_embd.weight")
hyper_parameter("bad-head-count-0", "no heads", "attention.head_count", value=0)
hyper_parameter("bad-head-count-odd", "2 heads share 3 KV heads", "attention.head_count_kv",
                value=3, says="head_count_kv (3)")
hyper_parameter("bad-head-count-array", "per-layer array of the wrong length",
                "attention.head_count_kv", gguf.ARRAY, (gguf.I32, [1, 1, 1]))
hyper_parameter("bad-key-length-0", "heads of size 0", "attention.key_length", value=0)
hyper_parameter("bad-rope-odd", "an odd number of rotated dimensions", "rope.dimension_count",
                value=31)
hyper_parameter("bad-rope-more", "more rotated dimensions than a head has",
                "rope.dimension_count", value=64)
hyper_parameter("bad-rope-base", "RoPE base is not a number", "rope.freq_base", gguf.F32,
                float("nan"))
hyper_parameter("bad-rope-scaling", "an unknown kind of RoPE scaling", "rope.scaling.type",
                gguf.STRING, "spiral")
hyper_parameter("bad-epsilon-missing", "the epsilon of the norms is missing",
                "attention.layer_norm_rms_epsilon")
hyper_parameter("bad-experts-huge", "a million experts", "expert_count", value=1000000)
hyper_parameter("bad-experts-more", "more experts than the tensors hold", "expert_count", value=5,
                says="ffn_")
hyper_parameter("bad-experts-used", "five of four experts used", "expert_used_count", value=5)
hyper_parameter("bad-experts-used-0", "no expert used", "expert_used_count", value=0)
hyper_parameter("bad-context-0", "context length 0", "context_length", value=0)
hyper_parameter("bad-tokens-missing", "no vocabulary", "tokenizer.ggml.tokens")
hyper_parameter("bad-tokens-few", "fewer tokens than embedding rows", "tokenizer.ggml.tokens",
                gguf.ARRAY, (gguf.STRING, ["a", "b", "c"]), says="token")
hyper_parameter("bad-token-type-short", "token_type is shorter than tokens",
                "tokenizer.ggml.token_type", gguf.ARRAY, (gguf.I32, [1, 1, 1]))
hyper_parameter("bad-merges", "a merge without a blank", "tokenizer.ggml.merges", gguf.ARRAY,
                (gguf.STRING, ["ab"]))
hyper_parameter("bad-eos", "the end token is outside of the vocabulary",
                "tokenizer.ggml.eos_token_id", value=300)
hyper_parameter("unsupported-tokenizer", "a tokenizer model that nobody has",
                "tokenizer.ggml.model", gguf.STRING, "runes", says="runes")
hyper_parameter("unsupported-pre-tokenizer", "an unknown pre-tokenizer", "tokenizer.ggml.pre",
                gguf.STRING, "no-such-split", says="no-such-split")


@case("unsupported-architecture", "a sound MoE file of an architecture we do not run",
      says="bigbird")
def _():
    model = Model()
    renamed = gguf.Metadata()
    for key, value in model.meta.items():
        renamed[key.replace("qwen3moe.", "bigbird.")] = value
    renamed.put("general.architecture", gguf.STRING, "bigbird")
    model.meta = renamed
    return model.bytes()


# ---- tensor table ------------------------------------------------------------------------------

@case("bad-repeated-tensor", "a tensor name occurs twice", says=SOME_TENSOR)
def _():
    return Model().info("blk.0.attn_k.weight", name=SOME_TENSOR).bytes()


@case("bad-zero-dimension", "a dimension of 0", says=SOME_TENSOR)
def _():
    return Model().info(SOME_TENSOR, dims=(64, 0)).bytes()


@case("bad-tiny-zero-dimension", "under 100 bytes, with dimensions 4 and 0", says="x")
def _():
    head = gguf.encode_header(1, 0) + gguf.encode_tensor_info("x", (4, 0), 0, 0)
    return head + b"\0" * (-len(head) % 32)


@case("bad-9-dimensions", "nine dimensions", says=SOME_TENSOR)
def _():
    return Model().info(SOME_TENSOR, dims=(1,) * 9).bytes()


@case("bad-4g-dimensions", "claims 2^32 - 1 dimensions", says="x")
def _():
    head = gguf.encode_header(1, 0) + gguf.encode_string("x")
    return head + struct.pack("<IQQIQ", 0xFFFFFFFF, 1, 1, 0, 0)


@case("bad-dimension-sign", "dimensions 2^63 and 2", says=SOME_TENSOR)
def _():
    return Model().info(SOME_TENSOR, dims=(1 << 63, 2, 1, 1)).bytes()


@case("bad-product-wraps", "dimensions 2^32 x 2^32: the product is 0 in 64 bits",
      says=SOME_TENSOR)
def _():
    return Model().info(SOME_TENSOR, dims=(1 << 32, 1 << 32)).bytes()


@case("bad-bytes-wrap", "2^62 float32 values: the byte count is 0 in 64 bits", says=SOME_TENSOR)
def _():
    return Model().info(SOME_TENSOR, dims=(1 << 31, 1 << 31), type_id=0).bytes()


@case("bad-offset-wraps", "offset plus size is small in 64 bits", says=SOME_TENSOR)
def _():
    return Model().info(SOME_TENSOR, offset=(1 << 64) - 32).bytes()


@case("bad-offset-outside", "the data would lie behind the end of the file", says=SOME_TENSOR)
def _():
    return Model().info(SOME_TENSOR, offset=1 << 40).bytes()


@case("bad-offset-misaligned", "an offset that is no multiple of the alignment",
      says=SOME_TENSOR)
def _():
    return Model().info(SOME_TENSOR, offset=33).bytes()


@case("bad-overlap", "two tensors share their bytes", says="overlap")
def _():
    return Model().info("blk.0.attn_k.weight", offset=0).bytes()


@case("bad-row-length", "a row is no multiple of the block", says=SOME_TENSOR)
def _():
    return Model().info(SOME_TENSOR, dims=(60, 32)).bytes()


@case("bad-name-long", "a tensor name of 200 bytes", says="name")
def _():
    return Model().info(SOME_TENSOR, name="x" * 200).bytes()


@case("bad-name-empty", "a tensor without a name", says="name")
def _():
    return Model().info(SOME_TENSOR, name="").bytes()


@case("unsupported-tensor-type-200", "a tensor of unknown type 200", says=SOME_TENSOR)
def _():
    return Model().info(SOME_TENSOR, type_id=200).bytes()


@case("unsupported-tensor-type-4", "a tensor of a type that was removed from the format",
      says=SOME_TENSOR)
def _():
    return Model().info(SOME_TENSOR, type_id=4).bytes()


@case("unsupported-tensor-type-i32", "a matrix of integers", says=SOME_TENSOR)
def _():
    model = Model()
    t = model.tensor(SOME_TENSOR)
    t.type, t.data = "I32", np.zeros(t.dims[::-1], dtype=np.int32)
    return model.bytes()


# ---- tensors against the architecture ----------------------------------------------------------

@case("bad-tensor-missing", "a tensor that every token needs is missing", says=SOME_TENSOR,
      inspect=0)
def _():
    model = Model()
    model.tensors = [t for t in model.tensors if t.name != SOME_TENSOR]
    return model.bytes()


@case("bad-tensor-renamed", "a tensor has an odd name, so the usual one is missing",
      says=SOME_TENSOR, inspect=0)
def _():
    return Model().info(SOME_TENSOR, name="blk.1.attn_keys.weight").bytes()


@case("bad-router-missing", "the router of a layer is missing", says="blk.1.ffn_gate_inp.weight",
      inspect=0)
def _():
    return Model().info("blk.1.ffn_gate_inp.weight", name="blk.1.router").bytes()


@case("bad-shape-swapped", "rows and columns of a matrix are swapped",
      says="blk.0.attn_q_norm.weight", inspect=0)
def _():
    return Model().info("blk.0.attn_q_norm.weight", dims=(1, 32)).bytes()


@case("bad-shape-experts", "an expert matrix has one row too few",
      says="blk.0.ffn_up_exps.weight", inspect=0)
def _():
    return Model().info("blk.0.ffn_up_exps.weight", dims=(64, 63, 4)).bytes()


@case("bad-shape-dimensions", "a norm as a matrix", says="output_norm.weight", inspect=0)
def _():
    return Model().info("output_norm.weight", dims=(32, 2)).bytes()


# ---- tensors that one family has ---------------------------------------------------------------

GPT_OSS = replace(BASE, arch="gpt-oss", window=48)


def gpt_oss(name, why, tensor, **changes):
    """changes: of its entry in the table; none: it is missing."""
    def build():
        model = Model(GPT_OSS)
        if changes:
            return model.info(tensor, **changes).bytes()
        model.tensors = [t for t in model.tensors if t.name != tensor]
        return model.bytes()
    case(name, why, tensor, inspect=0)(build)


gpt_oss("bad-sinks-missing", "the sinks of a layer are missing", "blk.1.attn_sinks.weight")
gpt_oss("bad-sinks-shape", "one sink for two heads", "blk.1.attn_sinks.weight", dims=(1,))
gpt_oss("bad-expert-bias-missing", "the biases of a matrix of experts are missing",
        "blk.0.ffn_down_exps.bias")
gpt_oss("bad-expert-bias-shape", "biases for three of four experts", "blk.0.ffn_up_exps.bias",
        dims=(64, 3))
gpt_oss("bad-router-bias-missing", "the biases of a router are missing", "blk.0.ffn_gate_inp.bias")


@case("bad-window-missing", "layers have a window of unknown size",
      says="gpt-oss.attention.sliding_window", inspect=0)
def _():
    return Model(GPT_OSS).drop("gpt-oss.attention.sliding_window").bytes()


LFM2 = replace(BASE, arch="lfm2moe", interval=2, taps=3, gating=2, route_bias=True)


@case("bad-convolution-missing", "the weights of a short convolution are missing",
      says="blk.0.shortconv.conv.weight", inspect=0)
def _():
    return Model(LFM2).info("blk.0.shortconv.conv.weight", name="blk.0.conv").bytes()


@case("bad-taps-0", "a short convolution over no input", says="lfm2moe.shortconv.l_cache",
      inspect=0)
def _():
    return Model(LFM2).put("lfm2moe.shortconv.l_cache", gguf.U32, 0).bytes()


@case("bad-layer-without-keys", "a layer attends, but has no heads of keys",
      says="head_count_kv is 0 for layer 1", inspect=0)
def _():
    return Model().put("qwen3moe.attention.head_count_kv", gguf.ARRAY, (gguf.I32, [1, 0])).bytes()


LLAMA4 = replace(BASE, arch="llama4", layers=4, used=1, window=48, shared_ff=64)


@case("unsupported-weighed-inputs", "two experts per token whose inputs are weighed",
      says="2 experts per token", inspect=0)
def _():
    return Model(LLAMA4).put("llama4.expert_used_count", gguf.U32, 2).bytes()


@case("bad-moe-step-0", "every 0th layer has experts", says="llama4.interleave_moe_layer_step",
      inspect=0)
def _():
    return Model(LLAMA4).put("llama4.interleave_moe_layer_step", gguf.U32, 0).bytes()


GEMMA4 = replace(BASE, arch="gemma4", window=48, period=2, local_head_dim=16)


@case("bad-rope-factors-missing", "which pairs lie still is not said", says="rope_freqs.weight",
      inspect=0)
def _():
    return Model(GEMMA4).info("rope_freqs.weight", name="rope_factors").bytes()


@case("bad-local-heads-missing", "layers with a window have heads of unknown size",
      says="gemma4.attention.key_length_swa", inspect=0)
def _():
    return Model(GEMMA4).drop("gemma4.attention.key_length_swa").bytes()


@case("bad-shared-layers", "a layer shares the cache of a layer that is not there",
      says="shares keys and values", inspect=0)
def _():
    return Model(GEMMA4).put("gemma4.attention.shared_kv_layers", gguf.U32, 1).bytes()


DEEPSEEK2 = replace(BASE, arch="deepseek2", rank=32, query_rank=32, rotary=8, head_dim=40,
                    value_dim=32, experts=8, groups=4, groups_used=2, gating=2, shared_ff=64, lead=1)


def deepseek2(name, why, says, key=None, value=None, changes=None):
    """One number changed or left out, or another description of attn_k_b."""
    def build():
        model = Model(DEEPSEEK2)
        if changes:
            return model.info("blk.1.attn_k_b.weight", **changes).bytes()
        if value is None:
            return model.drop("deepseek2." + key).bytes()
        return model.put("deepseek2." + key, gguf.U32, value).bytes()
    case(name, why, says, inspect=0)(build)


deepseek2("bad-latent-missing", "the matrices of a layer's keys are missing",
          "blk.1.attn_k_b.weight", changes=dict(name="blk.1.attn_k_a.weight"))
deepseek2("bad-latent-shape", "the matrices of a layer's keys are too narrow",
          "blk.1.attn_k_b.weight", changes=dict(dims=(32, 31, 2)))
deepseek2("bad-latent-rank-missing", "the width of compressed keys is missing",
          "deepseek2.attention.kv_lora_rank", "attention.kv_lora_rank")
deepseek2("bad-latent-turned", "nothing of a key is left beside what RoPE turns",
          "rope.dimension_count (8)", "attention.key_length_mla", 8)
deepseek2("unsupported-latent-rank", "compressed keys of an odd width", "compressed keys of 33",
          "attention.kv_lora_rank", 33)


@case("unsupported-query-temperature", "latent queries are scaled by their position",
      says="attention.temperature_scale is 0.1", inspect=0)
def _():
    return Model(DEEPSEEK2).put("deepseek2.attention.temperature_scale", gguf.F32, 0.1).bytes()


deepseek2("bad-group-count", "groups do not divide the experts", "expert_group_count (3)",
          "expert_group_count", 3)
deepseek2("bad-group-used", "more groups are used than there are",
          "deepseek2.expert_group_used_count", "expert_group_used_count", 5)
deepseek2("bad-group-small", "more experts are used than the chosen groups have",
          "expert_used_count (5)", "expert_used_count", 5)


@case("unsupported-scale-tensor", "a scale beside a matrix that would have to be multiplied in",
      says=".scale", inspect=0)
def _():
    model = Model()
    model.tensors.append(gguf.NewTensor("blk.0.ffn_up_exps.scale", (4,), "F32",
                                        np.full(4, 0.5, np.float32)))
    return model.bytes()


# ---- split files -------------------------------------------------------------------------------

def write_shards(folder, name, count=3):
    model = Model()
    prefix = os.path.join(folder, name)
    return gguf.write_split(prefix, model.meta, model.tensors, count)


def first_name(name, count=3):
    return os.path.basename(gguf.shard_path(name, 0, count))


@case("bad-shards-joined", "three shards joined with cat", says="split")
def _(folder, name):
    joined = b""
    for path in write_shards(folder, name):
        with open(path, "rb") as shard:
            joined += shard.read()
        os.remove(path)
    return joined


@case("bad-shard-missing", "the second of three shards is missing",
      says="bad-shard-missing-00002-of-00003.gguf")
def _(folder, name):
    os.remove(write_shards(folder, name)[1])
    return first_name(name)


@case("bad-shard-cut", "the second of three shards is cut off",
      says="bad-shard-cut-00002-of-00003.gguf")
def _(folder, name):
    path = write_shards(folder, name)[1]
    os.truncate(path, os.path.getsize(path) - 40)
    return first_name(name)


@case("bad-shard-twice", "the third shard is a copy of the second",
      says="bad-shard-twice-00003-of-00003.gguf")
def _(folder, name):
    paths = write_shards(folder, name)
    shutil.copyfile(paths[1], paths[2])
    return first_name(name)


@case("bad-shard-tensor-twice", "one tensor name in two shards", says=SOME_TENSOR)
def _(folder, name):
    model = Model()
    half = len(model.tensors) // 2
    total = len(model.tensors) + 1
    shards = [model.tensors[:half] + [model.tensor(SOME_TENSOR)], model.tensors[half:]]
    for i, tensors in enumerate(shards):
        keys = gguf.Metadata(model.meta) if i == 0 else gguf.Metadata()
        keys.update(gguf.shard_metadata(i, 2, total))
        gguf.write(gguf.shard_path(os.path.join(folder, name), i, 2), keys, tensors)
    return first_name(name, 2)


@case("bad-shard-tensor-count", "the shards hold fewer tensors than they claim",
      says="split.tensors.count")
def _(folder, name):
    model = Model()
    prefix = os.path.join(folder, name)
    for i, tensors in enumerate((model.tensors[:9], model.tensors[9:])):
        keys = gguf.Metadata(model.meta) if i == 0 else gguf.Metadata()
        keys.update(gguf.shard_metadata(i, 2, len(model.tensors) + 3))
        gguf.write(gguf.shard_path(prefix, i, 2), keys, tensors)
    return first_name(name, 2)


@case("bad-split-no-name", "a first shard whose name does not say so", says="split")
def _(folder, name):
    paths = write_shards(folder, name)
    os.replace(paths[0], os.path.join(folder, name + ".gguf"))
    return name + ".gguf"


def plain_copy(path):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as out:
        out.write(Model().bytes())


ODD_NAMES = {
    "good-name-of-13": ("a single file named like a shard", "good-name-00001-of-00013.gguf"),
    "good-name-index-0": ("a single file named like shard 0", "good-name-00000-of-00003.gguf"),
    "good-name-index-5": ("a single file named like shard 5 of 3",
                          "good-name-00005-of-00003.gguf"),
    "good-name-best-of-breed": ("-of- in an ordinary name", "good-best-of-breed.gguf"),
    "good-folder-of-13": ("a folder named like a shard",
                          "good-folder-00001-of-00013/model.gguf"),
    "good-name-blanks": ("blanks, quotes, umlauts, Cyrillic, an ideographic space",
                         "\u0417\u0430\u0433\u0440\u0443\u0437\u043a\u0438/\u6a21\u578b "
                         "\u3000x/good '\"\u00fc.gguf"),
}


def odd_name(folder, name):
    plain_copy(os.path.join(folder, ODD_NAMES[name][1]))
    return ODD_NAMES[name][1]


for _name, (_why, _path) in ODD_NAMES.items():
    case(_name, _why)(odd_name)


# ---- far away data -----------------------------------------------------------------------------

def sparse(folder, name, start):
    """The base model with the experts of the last layer at byte `start`; a hole before them."""
    model = Model()
    moved = [t for t in model.tensors if t.name.startswith("blk.1.ffn_") and "exps" in t.name]
    model.tensors = [t for t in model.tensors if t not in moved] + moved
    head, pairs, table, padding, data = model.parts()
    origin = len(head) + len(pairs) + len(table) + len(padding)
    at = gguf.padded(start - origin, model.pad)
    near = len(data)
    for t in moved:
        model.info(t.name, offset=at)
        at += gguf.padded(t.nbytes, model.pad)
        near -= gguf.padded(t.nbytes, model.pad)
    head, pairs, table, padding, data = model.parts()
    path = os.path.join(folder, name + ".gguf")
    with open(path, "wb") as out:
        out.write(head + pairs + table + padding + data[:near])
        out.seek(origin + model.infos[moved[0].name]["offset"])
        out.write(data[near:])
    return name + ".gguf"


SPARSE_STARTS = {"good-sparse-3g": 3 << 30, "good-sparse-5g": 5 << 30, "good-sparse-2t": 2 << 40}
for _name, _start in SPARSE_STARTS.items():
    case(_name, "experts at %d GiB of a sparse file; the model of good-sparse-0"
         % (_start >> 30))(lambda folder, name: sparse(folder, name, SPARSE_STARTS[name]))


@case("good-sparse-0", "the base model, nothing odd: what the sparse ones must compute")
def _():
    return Model().bytes()


# ---- command line ------------------------------------------------------------------------------

def main(argv):
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("folder", nargs="?")
    p.add_argument("--only", default="*")
    p.add_argument("--list", action="store_true")
    a = p.parse_args(argv)
    chosen = [c for n, c in CASES.items() if fnmatch.fnmatch(n, a.only)]
    if a.list:
        for c in chosen:
            print("%-32s %d %d  %s" % (c.name, c.inspect, c.run, c.why))
        return
    if not a.folder:
        sys.exit("gguf_bad.py: give a folder or --list")
    os.makedirs(a.folder, exist_ok=True)
    with open(os.path.join(a.folder, "table.tsv"), "w", encoding="utf-8") as table:
        for c in chosen:
            path = c.make(a.folder, c.name)
            table.write("%s\t%d\t%d\t%s\t%s\n" % (path, c.inspect, c.run, c.says, c.why))


if __name__ == "__main__":
    main(sys.argv[1:])
