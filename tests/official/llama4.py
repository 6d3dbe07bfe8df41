# SPDX-License-Identifier: Apache-2.0
"""Llama 4 by the definition in PyPI's transformers, in float32 on the CPU.

Its files differ from GGUF in two ways: gate and up of experts lie in one tensor, and expert matrices
are transposed. Factors of RoPE are no setting there: they are put in.
"""
import numpy as np
import torch
from transformers import Llama4ForCausalLM, Llama4TextConfig

FIXTURES = ("good-llama4-f32", "good-llama4-chunks")
A = "llama4."


def configuration(file):
    meta = file.meta
    return Llama4TextConfig(
        num_hidden_layers=meta[A + "block_count"], hidden_size=meta[A + "embedding_length"],
        vocab_size=len(meta["tokenizer.ggml.tokens"]), head_dim=meta[A + "attention.key_length"],
        intermediate_size=meta[A + "expert_feed_forward_length"],
        intermediate_size_mlp=meta[A + "feed_forward_length"],
        num_attention_heads=meta[A + "attention.head_count"],
        num_key_value_heads=meta[A + "attention.head_count_kv"],
        num_local_experts=meta[A + "expert_count"],
        num_experts_per_tok=meta[A + "expert_used_count"],
        interleave_moe_layer_step=meta[A + "interleave_moe_layer_step"],
        attention_chunk_size=meta[A + "attention.sliding_window"],
        floor_scale=meta.get(A + "attention.temperature_length", 8192), attn_scale=0.1,
        attn_temperature_tuning=True, use_qk_norm=True, no_rope_layer_interval=4,
        rms_norm_eps=meta[A + "attention.layer_norm_rms_epsilon"],
        max_position_embeddings=meta[A + "context_length"], tie_word_embeddings=False,
        rope_parameters={"rope_type": "default", "rope_theta": meta[A + "rope.freq_base"]},
        attn_implementation="eager")


def layer_weights(file, i):
    b = "blk.%d." % i

    def get(name):
        return file.array(b + name + ".weight")

    def three(theirs, suffix):
        return {"feed_forward.%s%s_proj.weight" % (theirs, part): get("ffn_%s%s" % (part, suffix))
                for part in ("gate", "up", "down")}

    out = {"input_layernorm.weight": get("attn_norm"),
           "post_attention_layernorm.weight": get("ffn_norm")}
    for theirs, ours in (("q", "q"), ("k", "k"), ("v", "v"), ("o", "output")):
        out["self_attn.%s_proj.weight" % theirs] = get("attn_" + ours)
    if b + "ffn_gate_inp.weight" in file.tensors:
        out["feed_forward.router.weight"] = get("ffn_gate_inp")
        out["feed_forward.experts.gate_up_proj"] = np.concatenate(
            [get("ffn_gate_exps"), get("ffn_up_exps")], axis=1).transpose(0, 2, 1)
        out["feed_forward.experts.down_proj"] = get("ffn_down_exps").transpose(0, 2, 1)
        out.update(three("shared_expert.", "_shexp"))
    else:
        out.update(three("", ""))
    return {"model.layers.%d.%s" % (i, name): values for name, values in out.items()}


def weights(file):
    out = {"model.embed_tokens.weight": file.array("token_embd.weight"),
           "model.norm.weight": file.array("output_norm.weight"),
           "lm_head.weight": file.array("output.weight")}
    for i in range(file.meta[A + "block_count"]):
        out.update(layer_weights(file, i))
    return {name: torch.from_numpy(np.array(values, dtype=np.float32))
            for name, values in out.items()}


def logits(file, ids):
    model = Llama4ForCausalLM(configuration(file)).to(torch.float32).eval()
    model.load_state_dict(weights(file), strict=True)
    factors = torch.from_numpy(np.array(file.array("rope_freqs.weight"), dtype=np.float32))
    model.model.rotary_emb.inv_freq /= factors
    with torch.no_grad():
        return model(torch.tensor([ids])).logits[0].numpy()
