# SPDX-License-Identifier: Apache-2.0
"""Granite with experts and a shared one by the definition in PyPI's transformers, in float32 on the
CPU.

Its files differ from GGUF in two ways: gate and up of experts lie in one tensor, and RoPE turns the
halves of a head where GGUF has pairs, so rows of queries and keys lie in another order.
"""
import numpy as np
import torch
from transformers import GraniteMoeSharedConfig, GraniteMoeSharedForCausalLM

FIXTURE = "good-granitemoe-f32"
A = "granitemoe."


def configuration(file):
    meta = file.meta
    return GraniteMoeSharedConfig(
        num_hidden_layers=meta[A + "block_count"], hidden_size=meta[A + "embedding_length"],
        vocab_size=len(meta["tokenizer.ggml.tokens"]),
        intermediate_size=meta[A + "feed_forward_length"],
        shared_intermediate_size=meta[A + "expert_shared_feed_forward_length"],
        num_attention_heads=meta[A + "attention.head_count"],
        num_key_value_heads=meta[A + "attention.head_count_kv"],
        num_local_experts=meta[A + "expert_count"],
        num_experts_per_tok=meta[A + "expert_used_count"],
        rms_norm_eps=meta[A + "attention.layer_norm_rms_epsilon"],
        max_position_embeddings=meta[A + "context_length"], tie_word_embeddings=True,
        embedding_multiplier=meta[A + "embedding_scale"],
        residual_multiplier=meta[A + "residual_scale"],
        attention_multiplier=meta[A + "attention.scale"], logits_scaling=meta[A + "logit_scale"],
        rope_parameters={"rope_type": "default", "rope_theta": meta[A + "rope.freq_base"]},
        attn_implementation="eager", experts_implementation="eager")


def halves(rows, heads):
    """Rows of each head from pairs to halves."""
    return rows.reshape(heads, -1, 2, rows.shape[-1]).swapaxes(1, 2).reshape(rows.shape)


def layer_weights(file, i):
    def get(name):
        return file.array("blk.%d.%s.weight" % (i, name))

    def both(suffix, axis):
        return np.concatenate([get("ffn_gate" + suffix), get("ffn_up" + suffix)], axis=axis)

    meta = file.meta
    heads, kv_heads = meta[A + "attention.head_count"], meta[A + "attention.head_count_kv"]
    out = {"input_layernorm.weight": get("attn_norm"),
           "post_attention_layernorm.weight": get("ffn_norm"),
           "self_attn.q_proj.weight": halves(get("attn_q"), heads),
           "self_attn.k_proj.weight": halves(get("attn_k"), kv_heads),
           "self_attn.v_proj.weight": get("attn_v"),
           "self_attn.o_proj.weight": get("attn_output"),
           "block_sparse_moe.router.weight": get("ffn_gate_inp"),
           "block_sparse_moe.experts.gate_up_proj": both("_exps", 1),
           "block_sparse_moe.experts.down_proj": get("ffn_down_exps"),
           "shared_mlp.input_linear.weight": both("_shexp", 0),
           "shared_mlp.output_linear.weight": get("ffn_down_shexp")}
    return {"model.layers.%d.%s" % (i, name): values for name, values in out.items()}


def weights(file):
    out = {"model.embed_tokens.weight": file.array("token_embd.weight"),
           "model.norm.weight": file.array("output_norm.weight"),
           "lm_head.weight": file.array("token_embd.weight")}
    for i in range(file.meta[A + "block_count"]):
        out.update(layer_weights(file, i))
    return {name: torch.from_numpy(np.array(values, dtype=np.float32))
            for name, values in out.items()}


def logits(file, ids):
    model = GraniteMoeSharedForCausalLM(configuration(file)).to(torch.float32).eval()
    model.load_state_dict(weights(file), strict=True)
    with torch.no_grad():
        return model(torch.tensor([ids])).logits[0].numpy()
