# SPDX-License-Identifier: Apache-2.0
"""deepseek2 by the definitions of DeepSeek-V2, DeepSeek-V3 and GLM-4.7-Flash in PyPI's transformers,
in float32 on the CPU.

Their files differ from GGUF in two ways: the matrices that make a head's keys and values are one, and a
layer's experts have gate and up in one tensor.
"""
import numpy as np
import torch
from transformers import (DeepseekV2Config, DeepseekV2ForCausalLM, DeepseekV3Config,
                          DeepseekV3ForCausalLM, Glm4MoeLiteConfig, Glm4MoeLiteForCausalLM)

DEFINITIONS = {"good-deepseek2-groups": (DeepseekV2Config, DeepseekV2ForCausalLM),
               "good-deepseek2-f32": (DeepseekV3Config, DeepseekV3ForCausalLM),
               "good-deepseek2-flash": (Glm4MoeLiteConfig, Glm4MoeLiteForCausalLM)}
FIXTURES = tuple(DEFINITIONS)
A = "deepseek2."


class Source:
    """A fixture's numbers and tensors by their short names."""

    def __init__(self, file):
        self.file, n = file, self.number
        self.layers = n("block_count") - n("nextn_predict_layers", 0)
        self.heads, self.rotary = n("attention.head_count"), n("rope.dimension_count")
        self.key = n("attention.key_length_mla", n("attention.key_length"))
        self.value = n("attention.value_length_mla", n("attention.value_length"))
        self.fixed, self.rank = self.key - self.rotary, n("attention.kv_lora_rank")

    def number(self, key, *default):
        return self.file.meta.get(A + key, *default)

    def get(self, name):
        return self.file.array(name)

    def has(self, name):
        return name in self.file.tensors


def rope(source):
    n = source.number
    out = {"rope_type": "default", "rope_theta": n("rope.freq_base")}
    if n("rope.scaling.type", "none") == "yarn":
        mscale = n("rope.scaling.yarn_log_multiplier") * 10
        out.update(rope_type="yarn", factor=n("rope.scaling.factor"), beta_fast=32.0, beta_slow=1.0,
                   mscale=mscale, mscale_all_dim=mscale,
                   original_max_position_embeddings=n("rope.scaling.original_context_length"))
    return out


def configuration(source, definition):
    n = source.number
    groups = n("expert_group_count", 1)
    options = dict(
        vocab_size=len(source.file.meta["tokenizer.ggml.tokens"]),
        hidden_size=n("embedding_length"), intermediate_size=n("feed_forward_length"),
        moe_intermediate_size=n("expert_feed_forward_length"), num_hidden_layers=source.layers,
        num_attention_heads=source.heads, num_key_value_heads=source.heads,
        n_shared_experts=n("expert_shared_count"), n_routed_experts=n("expert_count"),
        num_experts_per_tok=n("expert_used_count"), norm_topk_prob=n("expert_weights_norm", False),
        routed_scaling_factor=n("expert_weights_scale"), n_group=groups,
        topk_group=n("expert_group_used_count", 1), kv_lora_rank=source.rank,
        q_lora_rank=n("attention.q_lora_rank") or None, qk_rope_head_dim=source.rotary,
        qk_nope_head_dim=source.fixed, v_head_dim=source.value,
        rms_norm_eps=n("attention.layer_norm_rms_epsilon"),
        max_position_embeddings=n("context_length"), tie_word_embeddings=False,
        rope_parameters=rope(source), attn_implementation="eager", experts_implementation="eager")
    lead = n("leading_dense_block_count")
    if definition is Glm4MoeLiteConfig:
        options["mlp_layer_types"] = ["dense"] * lead + ["sparse"] * (source.layers - lead)
    else:
        options["first_k_dense_replace"] = lead
    if definition is DeepseekV2Config:
        options["topk_method"] = "group_limited_greedy" if groups > 1 else "greedy"
    return definition(**options)


def attention_weights(source, b):
    names = {"kv_a_proj_with_mqa": "attn_kv_a_mqa", "kv_a_layernorm": "attn_kv_a_norm",
             "o_proj": "attn_output"}
    if source.has(b + "attn_q.weight"):
        names["q_proj"] = "attn_q"
    else:
        names.update(q_a_proj="attn_q_a", q_a_layernorm="attn_q_a_norm", q_b_proj="attn_q_b")
    out = {"self_attn.%s.weight" % theirs: source.get(b + ours + ".weight")
           for theirs, ours in names.items()}
    if source.has(b + "attn_kv_b.weight"):
        both = source.get(b + "attn_kv_b.weight")
    else:
        keys, values = source.get(b + "attn_k_b.weight"), source.get(b + "attn_v_b.weight")
        both = np.concatenate([keys.transpose(0, 2, 1), values], axis=1).reshape(-1, source.rank)
    out["self_attn.kv_b_proj.weight"] = both
    return out


def feed_forward_weights(source, b):
    def three(theirs, suffix):
        return {"mlp.%s%s_proj.weight" % (theirs, part):
                source.get(b + "ffn_%s%s.weight" % (part, suffix))
                for part in ("gate", "up", "down")}

    if source.has(b + "ffn_gate.weight"):
        return three("", "")
    gate, up = (source.get(b + "ffn_%s_exps.weight" % part) for part in ("gate", "up"))
    out = {"mlp.gate.weight": source.get(b + "ffn_gate_inp.weight"),
           "mlp.experts.gate_up_proj": np.concatenate([gate, up], axis=1),
           "mlp.experts.down_proj": source.get(b + "ffn_down_exps.weight"),
           **three("shared_experts.", "_shexp")}
    if source.has(b + "exp_probs_b.bias"):
        out["mlp.gate.e_score_correction_bias"] = source.get(b + "exp_probs_b.bias")
    return out


def weights(source):
    out = {"model.embed_tokens.weight": source.get("token_embd.weight"),
           "model.norm.weight": source.get("output_norm.weight"),
           "lm_head.weight": source.get("output.weight")}
    for i in range(source.layers):
        b = "blk.%d." % i
        layer = {"input_layernorm.weight": source.get(b + "attn_norm.weight"),
                 "post_attention_layernorm.weight": source.get(b + "ffn_norm.weight"),
                 **attention_weights(source, b), **feed_forward_weights(source, b)}
        out.update({"model.layers.%d.%s" % (i, name): values for name, values in layer.items()})
    return {name: torch.from_numpy(np.array(values, dtype=np.float32))
            for name, values in out.items()}


def logits(file, ids):
    source = Source(file)
    yarn = source.number("rope.scaling.type", "none") == "yarn"
    kind = ("flash" if not yarn else "f32" if source.number("expert_gating_func") == 2 else "groups")
    config, definition = DEFINITIONS["good-deepseek2-" + kind]
    model = definition(configuration(source, config)).to(torch.float32).eval()
    model.load_state_dict(weights(source), strict=True)
    with torch.no_grad():
        return model(torch.tensor([ids])).logits[0].numpy()
