# SPDX-License-Identifier: Apache-2.0
"""The text of Qwen3-VL with experts by the definition in PyPI's transformers, in float32 on the CPU.

Its files differ from GGUF in one way: gate and up of experts lie in one tensor.
"""
import numpy as np
import torch
from transformers import Qwen3VLMoeTextConfig, Qwen3VLMoeTextModel

FIXTURE = "good-qwen3vlmoe-f32"
A = "qwen3vlmoe."


def configuration(file):
    meta = file.meta
    return Qwen3VLMoeTextConfig(
        num_hidden_layers=meta[A + "block_count"], hidden_size=meta[A + "embedding_length"],
        vocab_size=len(meta["tokenizer.ggml.tokens"]), head_dim=meta[A + "attention.key_length"],
        num_attention_heads=meta[A + "attention.head_count"],
        num_key_value_heads=meta[A + "attention.head_count_kv"],
        num_experts=meta[A + "expert_count"], num_experts_per_tok=meta[A + "expert_used_count"],
        moe_intermediate_size=meta[A + "expert_feed_forward_length"],
        rms_norm_eps=meta[A + "attention.layer_norm_rms_epsilon"],
        max_position_embeddings=meta[A + "context_length"],
        rope_parameters={"rope_type": "default", "rope_theta": meta[A + "rope.freq_base"],
                         "mrope_section": meta[A + "rope.dimension_sections"][:3],
                         "mrope_interleaved": True},
        attn_implementation="eager", experts_implementation="eager")


def layer_weights(file, i):
    def get(name):
        return file.array("blk.%d.%s.weight" % (i, name))

    out = {"input_layernorm": get("attn_norm"), "post_attention_layernorm": get("ffn_norm"),
           "self_attn.q_norm": get("attn_q_norm"), "self_attn.k_norm": get("attn_k_norm"),
           "mlp.gate": get("ffn_gate_inp")}
    for theirs, ours in (("q", "q"), ("k", "k"), ("v", "v"), ("o", "output")):
        out["self_attn.%s_proj" % theirs] = get("attn_" + ours)
    out = {name + ".weight": values for name, values in out.items()}
    out["mlp.experts.gate_up_proj"] = np.concatenate([get("ffn_gate_exps"), get("ffn_up_exps")],
                                                     axis=1)
    out["mlp.experts.down_proj"] = get("ffn_down_exps")
    return {"layers.%d.%s" % (i, name): values for name, values in out.items()}


def weights(file):
    out = {"embed_tokens.weight": file.array("token_embd.weight"),
           "norm.weight": file.array("output_norm.weight")}
    for i in range(file.meta[A + "block_count"]):
        out.update(layer_weights(file, i))
    return {name: torch.from_numpy(np.array(values, dtype=np.float32))
            for name, values in out.items()}


def logits(file, ids):
    model = Qwen3VLMoeTextModel(configuration(file)).to(torch.float32).eval()
    model.load_state_dict(weights(file), strict=True)
    output = torch.from_numpy(np.array(file.array("output.weight"), dtype=np.float32))
    with torch.no_grad():
        return (model(torch.tensor([ids])).last_hidden_state[0] @ output.T).numpy()
