# SPDX-License-Identifier: Apache-2.0
"""Qwen3.5 (dense and with experts) and Qwen3-Next by the definitions in PyPI's transformers, in
float32 on the CPU.

Their files differ from GGUF in four ways: norms lack the 1 that the definition adds, the logarithm
of the decay's rate is stored, a layer's experts have gate and up in one tensor, and the value heads
of Qwen3.5 that share a key head are neighbours.
"""
import numpy as np
import torch
from transformers import (Qwen3_5ForCausalLM, Qwen3_5MoeForCausalLM, Qwen3_5MoeTextConfig,
                          Qwen3_5TextConfig, Qwen3NextConfig, Qwen3NextForCausalLM)

FIXTURES = ("good-qwen35moe-odd", "good-qwen35-f32", "good-qwen3next-grouped")
DEFINITIONS = {"qwen35": (Qwen3_5TextConfig, Qwen3_5ForCausalLM),
               "qwen35moe": (Qwen3_5MoeTextConfig, Qwen3_5MoeForCausalLM),
               "qwen3next": (Qwen3NextConfig, Qwen3NextForCausalLM)}


class Source:
    """A fixture's numbers and tensors by their short names."""

    def __init__(self, file):
        self.file, self.name = file, file.meta["general.architecture"]
        self.heads, self.key_heads = self.number("ssm.time_step_rank"), self.number("ssm.group_count")
        self.key_size = self.number("ssm.state_size")
        self.value_size = self.number("ssm.inner_size") // self.heads

    def number(self, key, *default):
        return self.file.meta.get(self.name + "." + key, *default)

    def get(self, name):
        return self.file.array(name)

    def neighbours(self, values):
        """Rows by value heads, those of one key head made neighbours."""
        if self.name == "qwen3next":
            return values
        by_head = values.reshape(self.heads // self.key_heads, self.key_heads, -1)
        return by_head.transpose(1, 0, 2).reshape(values.shape)

    def neighbours_last(self, values):
        """The same of the rows behind queries and keys."""
        keys = 2 * self.key_heads * self.key_size
        return np.concatenate([values[:keys], self.neighbours(values[keys:])])


def configuration(source):
    n = source.number
    head = n("attention.key_length")
    options = dict(
        vocab_size=len(source.file.meta["tokenizer.ggml.tokens"]),
        hidden_size=n("embedding_length"),
        num_hidden_layers=n("block_count"), full_attention_interval=n("full_attention_interval"),
        num_attention_heads=n("attention.head_count"),
        num_key_value_heads=n("attention.head_count_kv"), head_dim=head,
        rms_norm_eps=n("attention.layer_norm_rms_epsilon"),
        max_position_embeddings=n("context_length"),
        tie_word_embeddings="output.weight" not in source.file.tensors,
        linear_conv_kernel_dim=n("ssm.conv_kernel"), linear_key_head_dim=source.key_size,
        linear_value_head_dim=source.value_size, linear_num_key_heads=source.key_heads,
        linear_num_value_heads=source.heads, attn_implementation="eager",
        rope_parameters={"rope_type": "default", "rope_theta": n("rope.freq_base"),
                         "partial_rotary_factor": n("rope.dimension_count") / head})
    if n("rope.dimension_sections", None):
        options["rope_parameters"].update(mrope_section=n("rope.dimension_sections")[:3],
                                          mrope_interleaved=True)
    if n("expert_count", 0):
        options.update(
            num_experts=n("expert_count"), num_experts_per_tok=n("expert_used_count"),
            moe_intermediate_size=n("expert_feed_forward_length"), norm_topk_prob=True,
            shared_expert_intermediate_size=n("expert_shared_feed_forward_length"),
            experts_implementation="eager")
    if source.name != "qwen35moe":
        options["intermediate_size"] = n("feed_forward_length")
    return DEFINITIONS[source.name][0](**options)


def recurrent_weights(source, b):
    def get(name):
        return source.get(b + name)

    out = {"conv1d.weight": source.neighbours_last(get("ssm_conv1d.weight"))[:, None, :],
           "A_log": source.neighbours(np.log(-get("ssm_a"))),
           "dt_bias": source.neighbours(get("ssm_dt.bias")),
           "norm.weight": get("ssm_norm.weight"),
           "out_proj.weight": source.neighbours(get("ssm_out.weight").T).T}
    if source.name == "qwen3next":
        out["in_proj_qkvz.weight"] = get("ssm_in.weight")
        out["in_proj_ba.weight"] = get("ssm_ba.weight")
    else:
        out["in_proj_qkv.weight"] = source.neighbours_last(get("attn_qkv.weight"))
        out["in_proj_z.weight"] = source.neighbours(get("attn_gate.weight"))
        out["in_proj_b.weight"] = source.neighbours(get("ssm_beta.weight"))
        out["in_proj_a.weight"] = source.neighbours(get("ssm_alpha.weight"))
    return {"linear_attn." + name: values for name, values in out.items()}


def attention_weights(source, b):
    out = {"self_attn.%s_proj.weight" % theirs: source.get(b + "attn_%s.weight" % ours)
           for theirs, ours in (("q", "q"), ("k", "k"), ("v", "v"), ("o", "output"))}
    for part in "qk":
        out["self_attn.%s_norm.weight" % part] = source.get(b + "attn_%s_norm.weight" % part) - 1
    return out


def feed_forward_weights(source, b):
    def three(theirs, suffix):
        return {"mlp.%s%s_proj.weight" % (theirs, part):
                source.get(b + "ffn_%s%s.weight" % (part, suffix))
                for part in ("gate", "up", "down")}

    if not source.number("expert_count", 0):
        return three("", "")
    gate, up = (source.get(b + "ffn_%s_exps.weight" % part) for part in ("gate", "up"))
    return {"mlp.gate.weight": source.get(b + "ffn_gate_inp.weight"),
            "mlp.experts.gate_up_proj": np.concatenate([gate, up], axis=1),
            "mlp.experts.down_proj": source.get(b + "ffn_down_exps.weight"),
            "mlp.shared_expert_gate.weight":
            source.get(b + "ffn_gate_inp_shexp.weight").reshape(1, -1),
            **three("shared_expert.", "_shexp")}


def weights(source):
    out = {"model.embed_tokens.weight": source.get("token_embd.weight"),
           "model.norm.weight": source.get("output_norm.weight") - 1}
    tied = "output.weight" not in source.file.tensors
    out["lm_head.weight"] = source.get("token_embd.weight" if tied else "output.weight")
    for i in range(source.number("block_count")):
        b = "blk.%d." % i
        layer = {"input_layernorm.weight": source.get(b + "attn_norm.weight") - 1,
                 "post_attention_layernorm.weight":
                 source.get(b + "post_attention_norm.weight") - 1}
        recurrent = (i + 1) % source.number("full_attention_interval") != 0
        layer.update((recurrent_weights if recurrent else attention_weights)(source, b))
        layer.update(feed_forward_weights(source, b))
        out.update({"model.layers.%d.%s" % (i, name): values for name, values in layer.items()})
    return {name: torch.from_numpy(np.array(values, dtype=np.float32))
            for name, values in out.items()}


def logits(file, ids):
    source = Source(file)
    model = DEFINITIONS[source.name][1](configuration(source)).to(torch.float32).eval()
    model.load_state_dict(weights(source), strict=True)
    with torch.no_grad():
        return model(torch.tensor([ids])).logits[0].numpy()
