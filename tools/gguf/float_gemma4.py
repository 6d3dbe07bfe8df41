# SPDX-License-Identifier: Apache-2.0
"""What gemma4 computes otherwise than other families; mixed into float_reference.Model."""
import numpy as np


def unit_rms(x, eps):
    """RMS norm without a weight."""
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + x.dtype.type(eps))


def gelu(x):
    k = x.dtype.type(np.sqrt(2 / np.pi))
    return x / 2 * (1 + np.tanh(k * (x + x.dtype.type(0.044715) * x * x * x)))


class Parts:
    def heads_of(self, index):
        size = self.number("attention.key_length_swa") if self.is_local(index) else self.head_dim
        heads = self.kv_heads
        return size, heads[index] if isinstance(heads, (list, tuple)) else heads

    def norm(self, layer, x, role):
        return unit_rms(x, self.eps) * layer.get(role + ".weight")

    # ---- attention -----------------------------------------------------------------------------

    def project_values(self, layer, x, keys):
        v = layer.linear(x, "attn_v") if layer.get("attn_v.weight") is not None else keys
        return unit_rms(v.reshape(len(x), layer.kv_heads, -1), self.eps)

    def remember(self, layer, x):
        first = len(self.layers) - self.number("attention.shared_kv_layers", 0)
        if layer.index < first:
            super().remember(layer, x)
            return
        source = [i for i in range(first) if self.is_local(i) == self.is_local(layer.index)][-1]
        layer.keys, layer.values = self.layers[source].keys, self.layers[source].values

    # ---- the rest of a block -------------------------------------------------------------------

    def experts_beside(self, layer, x):
        """Of dense feed-forward and experts, each with norms of its own."""
        dense = self.feed_forward(layer, self.norm(layer, x, "ffn_norm"))
        router = (unit_rms(x, self.eps) * x.dtype.type(1 / np.sqrt(self.width))
                  * layer.get("ffn_gate_inp.scale"))
        experts = self.mixture(layer, self.norm(layer, x, "pre_ffw_norm_2"), router)
        return (self.norm(layer, dense, "post_ffw_norm_1")
                + self.norm(layer, experts, "post_ffw_norm_2"))

    def block(self, layer, x):
        y = self.attention(layer, self.norm(layer, x, "attn_norm"))
        x = x + self.norm(layer, y, "post_attention_norm")
        y = (self.experts_beside(layer, x) if self.experts
             else self.feed_forward(layer, self.norm(layer, x, "ffn_norm")))
        x = x + self.norm(layer, y, "post_ffw_norm")
        if self.extras is not None:
            inner = gelu(layer.linear(x, "inp_gate")) * self.extras[:, layer.index]
            x = x + self.norm(layer, layer.linear(inner, "proj"), "post_norm")
        scale = layer.get("layer_output_scale.weight")
        return x if scale is None else x * scale

    # ---- embeddings per layer ------------------------------------------------------------------

    def embed(self, ids):
        x, size = super().embed(ids), self.number("embedding_length_per_layer_input", 0)
        self.extras = None
        if size:
            shape = (len(ids), len(self.layers), size)
            own = self.get("per_layer_token_embd.weight")[np.asarray(ids)].reshape(shape)
            state = x @ self.get("per_layer_model_proj.weight").T
            state = (state * x.dtype.type(1 / np.sqrt(self.width))).reshape(shape)
            state = unit_rms(state, self.eps) * self.get("per_layer_proj_norm.weight")
            self.extras = (state + own * x.dtype.type(np.sqrt(size))) * x.dtype.type(np.sqrt(0.5))
        return x
