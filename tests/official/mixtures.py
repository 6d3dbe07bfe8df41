# SPDX-License-Identifier: Apache-2.0
"""glm4moe, dots1, minimax-m2 and hunyuan-moe by the definitions in PyPI's transformers, in float32 on
the CPU.

Their files differ from GGUF in one way: a layer's experts have gate and up in one tensor.
"""
import numpy as np
import torch
from transformers import (Dots1Config, Dots1ForCausalLM, Glm4MoeConfig, Glm4MoeForCausalLM,
                          HunYuanMoEV1Config, HunYuanMoEV1ForCausalLM, MiniMaxM2Config,
                          MiniMaxM2ForCausalLM)

FIXTURES = ("good-glm4moe-f32", "good-dots1-f32", "good-minimax-m2-f32", "good-hunyuan-moe-f32")
DEFINITIONS = {"glm4moe": (Glm4MoeConfig, Glm4MoeForCausalLM),
               "dots1": (Dots1Config, Dots1ForCausalLM),
               "minimax-m2": (MiniMaxM2Config, MiniMaxM2ForCausalLM),
               "hunyuan-moe": (HunYuanMoEV1Config, HunYuanMoEV1ForCausalLM)}
# Names in their files, where families differ.
ROUTER = {"hunyuan-moe": "gate.wg"}
BIAS = {"minimax-m2": "e_score_correction_bias"}
SHARED = {"hunyuan-moe": "shared_mlp."}
NORMS = {"hunyuan-moe": "%s_layernorm"}


class Source:
    """A fixture's numbers and tensors by their short names."""

    def __init__(self, file):
        self.file, self.name = file, file.meta["general.architecture"]
        self.layers = self.number("block_count") - self.number("nextn_predict_layers", 0)

    def number(self, key, *default):
        return self.file.meta.get(self.name + "." + key, *default)

    def get(self, name):
        return self.file.array(name)

    def has(self, name):
        return name in self.file.tensors


def configuration(source):
    n = source.number
    head, experts, used = n("attention.key_length"), n("expert_count"), n("expert_used_count")
    options = dict(
        vocab_size=len(source.file.meta["tokenizer.ggml.tokens"]),
        hidden_size=n("embedding_length"), intermediate_size=n("feed_forward_length"),
        num_hidden_layers=source.layers, num_attention_heads=n("attention.head_count"),
        num_key_value_heads=n("attention.head_count_kv"), head_dim=head,
        rms_norm_eps=n("attention.layer_norm_rms_epsilon"),
        max_position_embeddings=n("context_length"), tie_word_embeddings=False,
        rope_parameters={"rope_type": "default", "rope_theta": n("rope.freq_base"),
                         "partial_rotary_factor": n("rope.dimension_count") / head},
        attn_implementation="eager", experts_implementation="eager")
    if source.name in ("glm4moe", "dots1"):
        options.update(
            moe_intermediate_size=n("expert_feed_forward_length"), n_routed_experts=experts,
            num_experts_per_tok=used, n_shared_experts=n("expert_shared_count"), n_group=1,
            topk_group=1, first_k_dense_replace=n("leading_dense_block_count"),
            norm_topk_prob=n("expert_weights_norm"), routed_scaling_factor=n("expert_weights_scale"))
    if source.name == "glm4moe":
        options.update(attention_bias=True, use_qk_norm=True)
    if source.name == "dots1":
        options["layer_types"] = ["full_attention"] * source.layers
    if source.name == "minimax-m2":
        options.update(num_local_experts=experts, num_experts_per_tok=used)
    if source.name == "hunyuan-moe":
        options.update(num_experts=experts, moe_topk=used)
    return DEFINITIONS[source.name][0](**options)


def attention_weights(source, b):
    out = {}
    for theirs, ours in (("q", "q"), ("k", "k"), ("v", "v"), ("o", "output")):
        for kind in ("weight", "bias"):
            name = b + "attn_%s.%s" % (ours, kind)
            if source.has(name):
                out["self_attn.%s_proj.%s" % (theirs, kind)] = source.get(name)
    for part, word in (("q", "query"), ("k", "key")):
        theirs = NORMS[source.name] % word if source.name in NORMS else part + "_norm"
        out["self_attn.%s.weight" % theirs] = source.get(b + "attn_%s_norm.weight" % part)
    return out


def feed_forward_weights(source, b):
    def three(theirs, suffix):
        return {"mlp.%s%s_proj.weight" % (theirs, part):
                source.get(b + "ffn_%s%s.weight" % (part, suffix))
                for part in ("gate", "up", "down")}

    if source.has(b + "ffn_gate.weight"):
        return three("", "")
    gate, up = (source.get(b + "ffn_%s_exps.weight" % part) for part in ("gate", "up"))
    out = {"mlp.%s.weight" % ROUTER.get(source.name, "gate"): source.get(b + "ffn_gate_inp.weight"),
           "mlp.experts.gate_up_proj": np.concatenate([gate, up], axis=1),
           "mlp.experts.down_proj": source.get(b + "ffn_down_exps.weight")}
    if source.has(b + "exp_probs_b.bias"):
        name = BIAS.get(source.name, "gate.e_score_correction_bias")
        out["mlp." + name] = source.get(b + "exp_probs_b.bias")
    if source.has(b + "ffn_up_shexp.weight"):
        out.update(three(SHARED.get(source.name, "shared_experts."), "_shexp"))
    return out


def weights(source):
    norm = "post_attention_norm" if source.name == "glm4moe" else "ffn_norm"
    out = {"model.embed_tokens.weight": source.get("token_embd.weight"),
           "model.norm.weight": source.get("output_norm.weight"),
           "lm_head.weight": source.get("output.weight")}
    for i in range(source.layers):
        b = "blk.%d." % i
        layer = {"input_layernorm.weight": source.get(b + "attn_norm.weight"),
                 "post_attention_layernorm.weight": source.get(b + norm + ".weight"),
                 **attention_weights(source, b), **feed_forward_weights(source, b)}
        out.update({"model.layers.%d.%s" % (i, name): values for name, values in layer.items()})
    return {name: torch.from_numpy(np.array(values, dtype=np.float32))
            for name, values in out.items()}


def logits(file, ids):
    source = Source(file)
    model = DEFINITIONS[source.name][1](configuration(source)).to(torch.float32).eval()
    model.load_state_dict(weights(source), strict=True)
    with torch.no_grad():
        return model(torch.tensor([ids])).logits[0].numpy()
