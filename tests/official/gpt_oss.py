# SPDX-License-Identifier: Apache-2.0
"""gpt-oss by the definition in PyPI's transformers, in float32 on the CPU.

Its files differ from GGUF in two ways: the rows of an expert's gate and up matrices take turns in
one tensor, and expert matrices are transposed.
"""
import numpy as np
import torch
from transformers import GptOssConfig, GptOssForCausalLM

FIXTURE = "good-gpt-oss-yarn"
A = "gpt-oss."


def configuration(file, truncate=False):
    """truncate: rounds YaRN's limits to whole pairs, which the published models do not."""
    meta = file.meta
    return GptOssConfig(
        num_hidden_layers=meta[A + "block_count"],
        num_local_experts=meta[A + "expert_count"],
        num_experts_per_tok=meta[A + "expert_used_count"],
        vocab_size=len(meta["tokenizer.ggml.tokens"]),
        hidden_size=meta[A + "embedding_length"],
        intermediate_size=meta[A + "expert_feed_forward_length"],
        head_dim=meta[A + "attention.key_length"],
        num_attention_heads=meta[A + "attention.head_count"],
        num_key_value_heads=meta[A + "attention.head_count_kv"],
        sliding_window=meta[A + "attention.sliding_window"],
        rms_norm_eps=meta[A + "attention.layer_norm_rms_epsilon"],
        max_position_embeddings=meta[A + "context_length"],
        tie_word_embeddings=False,
        rope_parameters={
            "rope_type": "yarn",
            "rope_theta": meta[A + "rope.freq_base"],
            "factor": meta[A + "rope.scaling.factor"],
            "beta_fast": 32.0,
            "beta_slow": 1.0,
            "truncate": truncate,
            "original_max_position_embeddings": meta[A + "rope.scaling.original_context_length"],
        },
        attn_implementation="eager",
        experts_implementation="eager",
    )


def layer_weights(file, i):
    def get(name):
        return file.array("blk.%d.%s" % (i, name))

    def interleaved(kind):
        gate, up = get("ffn_gate_exps." + kind), get("ffn_up_exps." + kind)
        return np.stack([gate, up], axis=2).reshape(len(gate), 2 * gate.shape[1], *gate.shape[2:])

    names = {"input_layernorm.weight": "attn_norm.weight",
             "post_attention_layernorm.weight": "post_attention_norm.weight",
             "self_attn.sinks": "attn_sinks.weight",
             "mlp.router.weight": "ffn_gate_inp.weight",
             "mlp.router.bias": "ffn_gate_inp.bias",
             "mlp.experts.down_proj_bias": "ffn_down_exps.bias"}
    for theirs, ours in (("q", "q"), ("k", "k"), ("v", "v"), ("o", "output")):
        for kind in ("weight", "bias"):
            names["self_attn.%s_proj.%s" % (theirs, kind)] = "attn_%s.%s" % (ours, kind)
    out = {theirs: get(ours) for theirs, ours in names.items()}
    out["mlp.experts.gate_up_proj"] = interleaved("weight").transpose(0, 2, 1)
    out["mlp.experts.gate_up_proj_bias"] = interleaved("bias")
    out["mlp.experts.down_proj"] = get("ffn_down_exps.weight").transpose(0, 2, 1)
    return {"model.layers.%d.%s" % (i, name): values for name, values in out.items()}


def weights(file):
    out = {"model.embed_tokens.weight": file.array("token_embd.weight"),
           "model.norm.weight": file.array("output_norm.weight"),
           "lm_head.weight": file.array("output.weight")}
    for i in range(file.meta[A + "block_count"]):
        out.update(layer_weights(file, i))
    return {name: torch.from_numpy(np.array(values, dtype=np.float32))
            for name, values in out.items()}


def logits(file, ids, truncate=False):
    model = GptOssForCausalLM(configuration(file, truncate)).to(torch.float32).eval()
    model.load_state_dict(weights(file), strict=True)
    with torch.no_grad():
        return model(torch.tensor([ids])).logits[0].numpy()
