# SPDX-License-Identifier: Apache-2.0
"""LFM2 with experts by the definition in PyPI's transformers, in float32 on the CPU.

Its files differ from GGUF in one way: gate and up of experts lie in one tensor.
"""
import numpy as np
import torch
from transformers import Lfm2MoeConfig, Lfm2MoeForCausalLM

FIXTURE = "good-lfm2moe-f32"
A = "lfm2moe."


def configuration(file):
    meta = file.meta
    kv_heads = meta[A + "attention.head_count_kv"]
    return Lfm2MoeConfig(
        num_hidden_layers=meta[A + "block_count"], hidden_size=meta[A + "embedding_length"],
        vocab_size=len(meta["tokenizer.ggml.tokens"]),
        intermediate_size=meta[A + "feed_forward_length"],
        moe_intermediate_size=meta[A + "expert_feed_forward_length"],
        num_attention_heads=meta[A + "attention.head_count"], num_key_value_heads=max(kv_heads),
        layer_types=["full_attention" if n else "conv" for n in kv_heads],
        conv_L_cache=meta[A + "shortconv.l_cache"], conv_bias=False,
        num_dense_layers=meta[A + "leading_dense_block_count"],
        num_experts=meta[A + "expert_count"], num_experts_per_tok=meta[A + "expert_used_count"],
        use_expert_bias=True, norm_topk_prob=True,
        norm_eps=meta[A + "attention.layer_norm_rms_epsilon"],
        max_position_embeddings=meta[A + "context_length"], tie_word_embeddings=True,
        rope_parameters={"rope_type": "default", "rope_theta": meta[A + "rope.freq_base"]},
        attn_implementation="eager", experts_implementation="eager")


def layer_weights(file, i):
    def get(name):
        return file.array("blk.%d.%s" % (i, name))

    names = {"operator_norm": "attn_norm", "ffn_norm": "ffn_norm"}
    if file.meta[A + "attention.head_count_kv"][i]:
        names.update({"self_attn.q_layernorm": "attn_q_norm",
                      "self_attn.k_layernorm": "attn_k_norm"})
        for theirs, ours in (("q", "q"), ("k", "k"), ("v", "v"), ("out", "output")):
            names["self_attn.%s_proj" % theirs] = "attn_" + ours
    else:
        names.update({"conv.in_proj": "shortconv.in_proj", "conv.out_proj": "shortconv.out_proj"})
    dense = i < file.meta[A + "leading_dense_block_count"]
    if dense:
        names.update({"feed_forward.w1": "ffn_gate", "feed_forward.w3": "ffn_up",
                      "feed_forward.w2": "ffn_down"})
    else:
        names["feed_forward.gate"] = "ffn_gate_inp"
    out = {theirs + ".weight": get(ours + ".weight") for theirs, ours in names.items()}
    if "conv.in_proj" in names:
        out["conv.conv.weight"] = get("shortconv.conv.weight")[:, None, :]
    if not dense:
        out["feed_forward.expert_bias"] = get("exp_probs_b.bias")
        out["feed_forward.experts.gate_up_proj"] = np.concatenate(
            [get("ffn_gate_exps.weight"), get("ffn_up_exps.weight")], axis=1)
        out["feed_forward.experts.down_proj"] = get("ffn_down_exps.weight")
    return {"model.layers.%d.%s" % (i, name): values for name, values in out.items()}


def weights(file):
    out = {"model.embed_tokens.weight": file.array("token_embd.weight"),
           "model.embedding_norm.weight": file.array("token_embd_norm.weight"),
           "lm_head.weight": file.array("token_embd.weight")}
    for i in range(file.meta[A + "block_count"]):
        out.update(layer_weights(file, i))
    return {name: torch.from_numpy(np.array(values, dtype=np.float32))
            for name, values in out.items()}


def logits(file, ids):
    model = Lfm2MoeForCausalLM(configuration(file)).to(torch.float32).eval()
    model.load_state_dict(weights(file), strict=True)
    with torch.no_grad():
        return model(torch.tensor([ids])).logits[0].numpy()
