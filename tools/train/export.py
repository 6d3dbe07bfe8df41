# SPDX-License-Identifier: Apache-2.0
"""Write a checkpoint as GGUF (architecture qwen3moe, or qwen3 for a dense model).

    python3 export.py RUN/last.pt tok.json OUT.gguf [--f32]

Types: attention and embedding Q6_K (rows of 256), gate and up Q8_0, down F16 (its rows of
64 fit no K type), norms and router F32. Half of the file is then well above the least
memory it runs in at its full context, also with many threads: the demo relies on that.
"""
import argparse

import gguf
import numpy as np
import torch
from gguf import GGMLQuantizationType as Q

from model import Config
from tokenizer import Tokenizer

NAME = "Locum Story MoE"
ABOUT = "A small Mixture-of-Experts model that writes simple English stories; trained from scratch for the Locum project."
SAMPLING = {"temp": 0.7, "top_p": 0.95, "min_p": 0.05}


def q6_k(x):
    """Quantise rows of multiples of 256 to Q6_K blocks: ql 128, qh 64, scales 16, d 2 bytes."""
    sub = x.reshape(-1, 16, 16).astype(np.float32)
    best, best_err = None, None
    for divisor in (-32.0, -31.0, -30.0, -29.0, 31.0, 30.0):
        i = np.abs(sub).argmax(-1)[..., None]
        scale = np.take_along_axis(sub, i, -1)[..., 0] / divisor
        inv = np.where(scale == 0, 0, 1 / np.where(scale == 0, 1, scale))
        q = np.clip(np.rint(sub * inv[..., None]), -32, 31)
        den = (q * q).sum(-1)
        scale = np.where(den > 0, (q * sub).sum(-1) / np.where(den > 0, den, 1), 0)
        err = ((q * scale[..., None] - sub) ** 2).sum(-1)
        if best is None:
            best, best_err = scale, err
        else:
            best = np.where(err < best_err, scale, best)
            best_err = np.minimum(err, best_err)
    top = np.take_along_axis(best, np.abs(best).argmax(-1)[:, None], -1)[:, 0]
    d = (top / -128.0).astype(np.float16)
    d32 = d.astype(np.float32)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        sc = np.where(d32 == 0, 0, np.clip(np.rint(best / d32), -128, 127))
    step = (sc * d32)[..., None]
    q = np.where(step == 0, 0, np.clip(np.rint(sub / np.where(step == 0, 1, step)), -32, 31))
    q = (q + 32).astype(np.uint8).reshape(-1, 2, 4, 32)
    lo, hi = q & 15, q >> 4
    ql = np.concatenate([lo[:, :, :2].reshape(-1, 2, 64) | lo[:, :, 2:].reshape(-1, 2, 64) << 4], -1)
    qh = hi[:, :, 0] | hi[:, :, 1] << 2 | hi[:, :, 2] << 4 | hi[:, :, 3] << 6
    n = len(q)
    blocks = np.concatenate([ql.reshape(n, 128), qh.reshape(n, 64), sc.astype(np.int8).view(np.uint8).reshape(n, 16),
                             d.view(np.uint8).reshape(n, 2)], 1)
    return blocks.reshape(*x.shape[:-1], x.shape[-1] // 256 * 210)


def tensors(cfg, p):
    """(GGUF name, array, quantised type) of every tensor."""
    def arr(t):
        return np.ascontiguousarray(t.numpy(), np.float32)
    yield "token_embd.weight", arr(p["embed"]), Q.Q6_K
    yield "output_norm.weight", arr(p["norm"]), Q.F32
    q, kv = cfg.heads * cfg.head_dim, cfg.kv_heads * cfg.head_dim
    for i in range(cfg.layers):
        n, b = f"{i}.", f"blk.{i}."
        parts = p[n + "wqkv"].split((q, kv, kv))
        for name, t in zip(("attn_q", "attn_k", "attn_v"), parts):
            yield f"{b}{name}.weight", arr(t), Q.Q6_K
        yield b + "attn_output.weight", arr(p[n + "wo"]), Q.Q6_K
        for ours, theirs in (("norm1", "attn_norm"), ("norm2", "ffn_norm"), ("qnorm", "attn_q_norm"), ("knorm", "attn_k_norm")):
            yield f"{b}{theirs}.weight", arr(p[n + ours]), Q.F32
        w = p[n + "experts"]
        gate, up, down = w[:, 0], w[:, 1], w[:, 2].transpose(1, 2)
        suffix = "_exps" if cfg.experts else ""
        for name, t, kind in (("gate", gate, Q.Q8_0), ("up", up, Q.Q8_0), ("down", down, Q.F16)):
            yield f"{b}ffn_{name}{suffix}.weight", arr(t if cfg.experts else t[0]), kind
        if cfg.experts:
            yield b + "ffn_gate_inp.weight", arr(p[n + "router"]), Q.F32


def metadata(out, cfg, tok):
    out.add_name(NAME)
    out.add_description(ABOUT)
    out.add_license("apache-2.0")
    out.add_languages(["en"])
    out.add_size_label("32x0.4M")
    out.add_context_length(cfg.context)
    out.add_embedding_length(cfg.dim)
    out.add_block_count(cfg.layers)
    out.add_feed_forward_length(cfg.topk * cfg.expert_dim)
    out.add_head_count(cfg.heads)
    out.add_head_count_kv(cfg.kv_heads)
    out.add_key_length(cfg.head_dim)
    out.add_value_length(cfg.head_dim)
    out.add_rope_freq_base(cfg.theta)
    out.add_layer_norm_rms_eps(cfg.eps)
    if cfg.experts:
        out.add_expert_count(cfg.experts)
        out.add_expert_used_count(cfg.topk)
        out.add_expert_feed_forward_length(cfg.expert_dim)
    for key, value in SAMPLING.items():
        out.add_float32(f"general.sampling.{key}", value)
    out.add_int32("general.sampling.top_k", 40)
    out.add_tokenizer_model("gpt2")
    out.add_tokenizer_pre("gpt-2")
    out.add_token_list(tok.vocab)
    out.add_token_types([3 if i == tok.eot else 1 for i in range(len(tok.vocab))])
    out.add_token_merges([" ".join(m) for m in tok.merges])
    out.add_bos_token_id(tok.eot)
    out.add_eos_token_id(tok.eot)
    out.add_add_bos_token(False)
    out.add_add_eos_token(False)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("checkpoint")
    ap.add_argument("tokenizer")
    ap.add_argument("out")
    ap.add_argument("--f32", action="store_true")
    args = ap.parse_args()
    saved = torch.load(args.checkpoint)
    cfg, tok = Config(**saved["config"]), Tokenizer(args.tokenizer)
    out = gguf.GGUFWriter(args.out, "qwen3moe" if cfg.experts else "qwen3")
    metadata(out, cfg, tok)
    out.add_file_type(gguf.LlamaFileType.ALL_F32 if args.f32 else gguf.LlamaFileType.MOSTLY_Q6_K)
    for name, x, kind in tensors(cfg, saved["params"]):
        if args.f32 or kind == Q.F32:
            out.add_tensor(name, x)
        else:
            data = q6_k(x) if kind == Q.Q6_K else gguf.quants.quantize(x, kind)
            out.add_tensor(name, data, raw_dtype=kind)
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()


if __name__ == "__main__":
    main()
