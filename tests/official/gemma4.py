# SPDX-License-Identifier: Apache-2.0
"""Gemma 4 (with experts, and dense with embeddings per layer) by the definition in PyPI's
transformers, in float32 on the CPU.
"""
import numpy as np
import torch
from transformers import Gemma4ForCausalLM, Gemma4TextConfig

FIXTURES = ("good-gemma4-f32", "good-gemma4-dense")
A = "gemma4."
NORMS = {"input_layernorm": "attn_norm", "post_attention_layernorm": "post_attention_norm",
         "pre_feedforward_layernorm": "ffn_norm", "post_feedforward_layernorm": "post_ffw_norm",
         "self_attn.q_norm": "attn_q_norm"}
NORMS_OF_EXPERTS = {"post_feedforward_layernorm_1": "post_ffw_norm_1",
                    "pre_feedforward_layernorm_2": "pre_ffw_norm_2",
                    "post_feedforward_layernorm_2": "post_ffw_norm_2"}


def per_layer(meta, key):
    value = meta[A + key]
    return value if isinstance(value, (list, tuple)) else [value] * meta[A + "block_count"]


def turning(file):
    """Share of the pairs that RoPE turns where a layer sees everything."""
    return float((file.array("rope_freqs.weight") == 1).mean())


def experts_of(meta):
    if not meta.get(A + "expert_count"):
        return {}
    return dict(enable_moe_block=True, num_experts=meta[A + "expert_count"],
                top_k_experts=meta[A + "expert_used_count"],
                moe_intermediate_size=meta[A + "expert_feed_forward_length"],
                experts_implementation="eager")


def configuration(file):
    meta = file.meta
    local = meta[A + "attention.sliding_window_pattern"]
    ff, kv = per_layer(meta, "feed_forward_length"), per_layer(meta, "attention.head_count_kv")
    last = len(local) - 1                       # sees everything
    return Gemma4TextConfig(
        **experts_of(meta),
        num_hidden_layers=len(local), vocab_size=len(meta["tokenizer.ggml.tokens"]),
        vocab_size_per_layer_input=len(meta["tokenizer.ggml.tokens"]),
        hidden_size=meta[A + "embedding_length"],
        intermediate_size=ff[0], use_double_wide_mlp=ff[last] != ff[0],
        hidden_size_per_layer_input=meta[A + "embedding_length_per_layer_input"],
        num_kv_shared_layers=meta[A + "attention.shared_kv_layers"],
        num_attention_heads=meta[A + "attention.head_count"], num_key_value_heads=kv[0],
        head_dim=meta[A + "attention.key_length_swa"],
        global_head_dim=meta[A + "attention.key_length"],
        num_global_key_value_heads=kv[last],
        attention_k_eq_v="blk.%d.attn_v.weight" % last not in file.tensors and kv[last] > 0
        and meta[A + "attention.shared_kv_layers"] == 0,
        layer_types=["sliding_attention" if l else "full_attention" for l in local],
        sliding_window=meta[A + "attention.sliding_window"],
        rms_norm_eps=meta[A + "attention.layer_norm_rms_epsilon"],
        max_position_embeddings=meta[A + "context_length"],
        final_logit_softcapping=meta[A + "final_logit_softcapping"],
        rope_parameters={
            "sliding_attention": {"rope_type": "default",
                                  "rope_theta": meta[A + "rope.freq_base_swa"]},
            "full_attention": {"rope_type": "proportional",
                               "partial_rotary_factor": turning(file),
                               "rope_theta": meta[A + "rope.freq_base"]}},
        attn_implementation="eager")


def layer_weights(file, i):
    b = "blk.%d." % i

    def get(name):
        return file.array(b + name)

    shares = b + "attn_k.weight" not in file.tensors
    names = {theirs + ".weight": ours + ".weight" for theirs, ours in NORMS.items()}
    names["layer_scalar"] = "layer_output_scale.weight"
    for theirs, ours in (("q", "q"), ("k", "k"), ("v", "v"), ("o", "output")):
        if b + "attn_%s.weight" % ours in file.tensors:
            names["self_attn.%s_proj.weight" % theirs] = "attn_%s.weight" % ours
    if not shares:
        names["self_attn.k_norm.weight"] = "attn_k_norm.weight"
    for part in ("gate", "up", "down"):
        names["mlp.%s_proj.weight" % part] = "ffn_%s.weight" % part
    if b + "ffn_gate_inp.weight" in file.tensors:
        names.update({theirs + ".weight": ours + ".weight"
                      for theirs, ours in NORMS_OF_EXPERTS.items()})
        names.update({"router.proj.weight": "ffn_gate_inp.weight",
                      "router.scale": "ffn_gate_inp.scale",
                      "router.per_expert_scale": "ffn_down_exps.scale",
                      "experts.gate_up_proj": "ffn_gate_up_exps.weight",
                      "experts.down_proj": "ffn_down_exps.weight"})
    if b + "inp_gate.weight" in file.tensors:
        names.update({"per_layer_input_gate.weight": "inp_gate.weight",
                      "per_layer_projection.weight": "proj.weight",
                      "post_per_layer_input_norm.weight": "post_norm.weight"})
    return {"model.layers.%d.%s" % (i, theirs): get(ours) for theirs, ours in names.items()}


def weights(file):
    names = {"embed_tokens": "token_embd", "norm": "output_norm"}
    if "per_layer_token_embd.weight" in file.tensors:
        names.update({"embed_tokens_per_layer": "per_layer_token_embd",
                      "per_layer_model_projection": "per_layer_model_proj",
                      "per_layer_projection_norm": "per_layer_proj_norm"})
    out = {"model.%s.weight" % theirs: file.array(ours + ".weight")
           for theirs, ours in names.items()}
    out["lm_head.weight"] = file.array("token_embd.weight")
    for i in range(file.meta[A + "block_count"]):
        out.update(layer_weights(file, i))
    return {name: torch.from_numpy(np.array(values, dtype=np.float32))
            for name, values in out.items()}


def logits(file, ids):
    model = Gemma4ForCausalLM(configuration(file)).to(torch.float32).eval()
    model.load_state_dict(weights(file), strict=True)
    with torch.no_grad():
        return model(torch.tensor([ids])).logits[0].numpy()
