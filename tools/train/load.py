# SPDX-License-Identifier: Apache-2.0
"""Load a checkpoint or a GGUF file of export.py as (Config, parameters by name).

    python3 load.py MODEL.gguf tok.json OUT.pt

writes the tokenizer and a checkpoint of a GGUF, to train on where no checkpoint is left
(the optimizer starts afresh, and so does the data: make new documents).
"""
import json
import sys

import gguf
import torch
from gguf.quants import dequantize

from model import Config


def field(reader, key):
    return reader.fields[key].contents()


def from_gguf(path):
    r = gguf.GGUFReader(path)
    arch = field(r, "general.architecture")
    moe = arch == "qwen3moe"
    t = {x.name: torch.from_numpy(dequantize(x.data, x.tensor_type).copy()) for x in r.tensors}

    def num(key):
        return field(r, f"{arch}.{key}")
    topk = num("expert_used_count") if moe else 1
    cfg = Config(vocab=t["token_embd.weight"].shape[0], dim=num("embedding_length"), layers=num("block_count"),
                 heads=num("attention.head_count"), kv_heads=num("attention.head_count_kv"), head_dim=num("attention.key_length"),
                 experts=num("expert_count") if moe else 0, topk=topk,
                 expert_dim=num("expert_feed_forward_length") if moe else num("feed_forward_length"),
                 eps=num("attention.layer_norm_rms_epsilon"), theta=num("rope.freq_base"), context=num("context_length"))
    p = {"embed": t["token_embd.weight"], "norm": t["output_norm.weight"]}
    suffix = "_exps" if moe else ""
    for i in range(cfg.layers):
        n, b = f"{i}.", f"blk.{i}."
        p[n + "wqkv"] = torch.cat([t[f"{b}attn_{x}.weight"] for x in "qkv"])
        p[n + "wo"] = t[b + "attn_output.weight"]
        for ours, theirs in (("norm1", "attn_norm"), ("norm2", "ffn_norm"), ("qnorm", "attn_q_norm"), ("knorm", "attn_k_norm")):
            p[n + ours] = t[f"{b}{theirs}.weight"]
        g, u, d = (t[f"{b}ffn_{x}{suffix}.weight"] for x in ("gate", "up", "down"))
        d = d.transpose(-1, -2)
        p[n + "experts"] = torch.stack((g, u, d), -3) if moe else torch.stack((g, u, d))[None]
        if moe:
            p[n + "router"] = t[b + "ffn_gate_inp.weight"]
    return cfg, p


def load(path):
    if path.endswith(".gguf"):
        return from_gguf(path)
    saved = torch.load(path)
    return Config(**saved["config"]), saved["params"]


def main():
    model, tokenizer, out = sys.argv[1:]
    r = gguf.GGUFReader(model)
    json.dump({"vocab": field(r, "tokenizer.ggml.tokens"), "merges": field(r, "tokenizer.ggml.merges")}, open(tokenizer, "w"))
    cfg, p = from_gguf(model)
    torch.save({"config": cfg.dict(), "params": {n: t.contiguous() for n, t in p.items()}, "optim": {}, "step": 0, "tokens": 0,
                "position": (0, 0, 0)}, out)


if __name__ == "__main__":
    main()
