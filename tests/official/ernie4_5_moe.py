# SPDX-License-Identifier: Apache-2.0
"""ERNIE 4.5 with experts by the definition in PyPI's transformers, in float32 on the CPU.

Its files differ from GGUF in one way: gate and up of experts lie in one tensor.
"""
import numpy as np
import torch
from transformers import Ernie4_5_MoeConfig, Ernie4_5_MoeForCausalLM

FIXTURE = "good-ernie4_5-moe-f32"
A = "ernie4_5-moe."


def configuration(file):
    meta = file.meta
    return Ernie4_5_MoeConfig(
        num_hidden_layers=meta[A + "block_count"], hidden_size=meta[A + "embedding_length"],
        vocab_size=len(meta["tokenizer.ggml.tokens"]),
        intermediate_size=meta[A + "feed_forward_length"],
        num_attention_heads=meta[A + "attention.head_count"],
        num_key_value_heads=meta[A + "attention.head_count_kv"],
        moe_num_experts=meta[A + "expert_count"], moe_k=meta[A + "expert_used_count"],
        moe_intermediate_size=meta[A + "expert_feed_forward_length"],
        moe_num_shared_experts=meta[A + "expert_shared_count"],
        moe_layer_start_index=meta[A + "leading_dense_block_count"],
        moe_layer_end_index=meta[A + "block_count"] - 1,
        moe_layer_interval=meta[A + "interleave_moe_layer_step"],
        rms_norm_eps=meta[A + "attention.layer_norm_rms_epsilon"],
        max_position_embeddings=meta[A + "context_length"], tie_word_embeddings=True,
        rope_parameters={"rope_type": "default", "rope_theta": meta[A + "rope.freq_base"]},
        attn_implementation="eager", experts_implementation="eager")


def layer_weights(file, i):
    def get(name):
        return file.array("blk.%d.%s" % (i, name))

    def three(theirs, suffix):
        return {"mlp.%s%s_proj.weight" % (theirs, part): get("ffn_%s%s.weight" % (part, suffix))
                for part in ("gate", "up", "down")}

    out = {"input_layernorm.weight": get("attn_norm.weight"),
           "post_attention_layernorm.weight": get("ffn_norm.weight")}
    for theirs, ours in (("q", "q"), ("k", "k"), ("v", "v"), ("o", "output")):
        out["self_attn.%s_proj.weight" % theirs] = get("attn_%s.weight" % ours)
    if i < file.meta[A + "leading_dense_block_count"]:
        out.update(three("", ""))
    else:
        out["mlp.gate.weight"] = get("ffn_gate_inp.weight")
        out["mlp.gate.moe_statics.e_score_correction_bias"] = get("exp_probs_b.bias")[None]
        out["mlp.experts.gate_up_proj"] = np.concatenate(
            [get("ffn_gate_exps.weight"), get("ffn_up_exps.weight")], axis=1)
        out["mlp.experts.down_proj"] = get("ffn_down_exps.weight")
        out.update(three("shared_experts.", "_shexp"))
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
    model = Ernie4_5_MoeForCausalLM(configuration(file)).to(torch.float32).eval()
    model.load_state_dict(weights(file), strict=True)
    with torch.no_grad():
        return model(torch.tensor([ids])).logits[0].numpy()
