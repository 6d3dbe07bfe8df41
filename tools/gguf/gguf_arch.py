# SPDX-License-Identifier: Apache-2.0
"""What sets the supported architectures apart: one row each, read by gguf_make and float_reference.

Sources: the models' published definitions. Everything that a file states is taken from the file;
this table holds only what an architecture's name implies.
"""
from dataclasses import dataclass


@dataclass(frozen=True)
class Arch:
    name: str
    rope: str                      # "pairs": rotates (2i, 2i+1); "halves": (i, i + n/2)
    experts: str                   # "never", "may" or "always"
    qk_norm: str = ""              # "head": RMS norm per head; "row": over all heads at once
    norm_top_k: bool = True        # weights of the chosen experts are divided by their sum
    shared_expert: str = ""        # "gated": times sigmoid of its own gate; "plain"; "counted"
                                   # likewise, by number: each is as wide as an expert
    qkv_bias: bool = False         # the published models have these biases
    every_bias: bool = False       # and those of attention's output, router and experts
    sinks: bool = False            # a logit per head that takes a share of the softmax
    post_norms: bool = False       # norm of a sub-block's output before it is added
    ffn_norm: str = "ffn_norm"     # the norm before the feed-forward
    activation: str = "silu"
    scale_embedding: bool = False  # input times sqrt(width)
    window_period: int = 0         # every n-th layer sees everything, the others a window
    chunks: bool = False           # what layers with a window see is the part of the context they are in
    window_rope: bool = False      # layers with a window have a RoPE of their own
    yarn_truncates: bool = True    # YaRN rounds its limits to whole pairs
    tied_only: bool = False        # published files have no output tensor
    free_head_dim: bool = True     # head size may differ from width / heads
    gated_attention: bool = False  # attn_q holds [query | gate] per head
    delta: str = ""                # recurrent layers are gated delta nets; value head h has the key
                                   # head: "tiled": h % key heads; "grouped": h // (heads / key heads)
    norm_turned: bool = False      # qk_norm comes behind RoPE
    fused_qkv: bool = False        # one matrix makes queries, keys and values
    latent: bool = False           # keys and values of all heads come from one compressed vector
    gating: int = 1                # of the router: 1: softmax, 2: sigmoid; unless the file says so
    routes: bool = False           # the file states how its router works
    short_conv: bool = False       # recurrent layers are short convolutions
    last_norm: str = "output_norm" # before the output matrix
    factors: bool = False          # of embeddings, scores, sub-blocks and logits, stated by the file
    sections: bool = False         # the file states how multi-section RoPE divides the pairs
    scores_unscaled: bool = False  # attention's scores are not divided by the root of a head's size


ARCHES = {a.name: a for a in [
    Arch("llama", rope="pairs", experts="may"),
    Arch("qwen3moe", rope="halves", experts="always", qk_norm="head"),
    Arch("qwen3vlmoe", rope="halves", experts="always", qk_norm="head", sections=True),
    Arch("granitemoe", rope="pairs", experts="always", shared_expert="plain", factors=True),
    Arch("ernie4_5-moe", rope="pairs", experts="always", shared_expert="plain", routes=True),
    Arch("lfm2moe", rope="halves", experts="always", qk_norm="head", routes=True, short_conv=True,
         last_norm="token_embd_norm", tied_only=True, free_head_dim=False),
    Arch("llama4", rope="pairs", experts="always", shared_expert="plain", window_period=4,
         chunks=True),
    Arch("qwen2moe", rope="halves", experts="always", norm_top_k=False, shared_expert="gated",
         qkv_bias=True, free_head_dim=False),
    Arch("olmoe", rope="halves", experts="always", qk_norm="row", norm_top_k=False,
         free_head_dim=False),
    Arch("qwen3", rope="halves", experts="never", qk_norm="head"),
    Arch("qwen35", rope="halves", experts="never", qk_norm="head", gated_attention=True,
         delta="tiled", ffn_norm="post_attention_norm", sections=True),
    Arch("qwen35moe", rope="halves", experts="always", qk_norm="head", shared_expert="gated",
         gated_attention=True, delta="tiled", ffn_norm="post_attention_norm", sections=True),
    Arch("qwen3next", rope="halves", experts="always", qk_norm="head", shared_expert="gated",
         gated_attention=True, delta="grouped", ffn_norm="post_attention_norm"),
    Arch("gemma3", rope="halves", experts="never", qk_norm="head", post_norms=True,
         activation="gelu", scale_embedding=True, window_period=6, window_rope=True,
         tied_only=True),
    Arch("gemma4", rope="halves", experts="may", qk_norm="head", post_norms=True,
         activation="gelu", scale_embedding=True, window_period=6, window_rope=True,
         tied_only=True, scores_unscaled=True),
    Arch("deepseek2", rope="pairs", experts="always", norm_top_k=False, shared_expert="counted",
         latent=True, routes=True),
    Arch("glm4moe", rope="halves", experts="always", qk_norm="head", shared_expert="counted",
         qkv_bias=True, ffn_norm="post_attention_norm", gating=2, routes=True),
    Arch("dots1", rope="halves", experts="always", qk_norm="head", norm_top_k=False,
         shared_expert="counted", gating=2, routes=True),
    Arch("minimax-m2", rope="halves", experts="always", qk_norm="row", gating=2, routes=True),
    Arch("hunyuan-moe", rope="halves", experts="always", qk_norm="head", shared_expert="plain",
         norm_turned=True),
    Arch("bailingmoe2", rope="halves", experts="always", qk_norm="head", norm_top_k=True,
         shared_expert="counted", gating=2, routes=True, fused_qkv=True, free_head_dim=False),
    # Softmax over the chosen logits is the same as shares of a softmax over all, normalised.
    Arch("gpt-oss", rope="halves", experts="always", qkv_bias=True, every_bias=True, sinks=True,
         ffn_norm="post_attention_norm", activation="swiglu_oai", window_period=2,
         yarn_truncates=False),
]}
