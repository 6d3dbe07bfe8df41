# SPDX-License-Identifier: Apache-2.0
"""What random models of gemma4 have that others lack; mixed into gguf_make.Maker."""
import numpy as np

import gguf_file as gguf

TURNING = 0.25                     # share of the pairs that RoPE turns where a layer sees everything
STILL = 1e30                       # the factor of the others


class Parts:
    def is_local(self, i):
        return (i + 1) % self.spec.period != 0

    def heads_of(self, i):
        s = self.spec
        return (s.local_head_dim, s.local_kv_heads) if self.is_local(i) else (s.head_dim, s.kv_heads)

    def has_keys(self, i):
        return i < self.spec.layers - self.spec.shared_layers

    def has_values(self, i):
        return self.has_keys(i) and (self.is_local(i) or not self.spec.keys_as_values)

    def width_of(self, i):
        """Layers that share keys and values have a feed-forward of twice the width."""
        return self.spec.ff * (1 if self.has_keys(i) else 2)

    def own_tensors(self):
        s = self.spec
        pairs = s.head_dim // 2
        turning = int(pairs * TURNING)
        self.add("rope_freqs.weight",
                 np.array([1.0] * turning + [STILL] * (pairs - turning), dtype=np.float32))
        if s.extra_width:
            width = s.extra_width * s.layers
            name = "per_layer_token_embd.weight"
            table = self.normal(name, (s.vocab, width), 1 / np.sqrt(s.extra_width))
            self.add(name, table, self.role_type("embed"))
            self.matrix("per_layer_model_proj.weight", width, s.width, "embed", np.sqrt(s.width))
            self.norm("per_layer_proj_norm.weight", s.extra_width)

    def feed_forward(self, i):
        s, b = self.spec, "blk.%d." % i
        self.norm(b + "ffn_norm.weight", s.width)
        self.dense(i, size=self.width_of(i))
        if s.experts:
            self.expert_layer(i)
            # The router's input is divided by the root of its width.
            self.norm(b + "ffn_gate_inp.scale", s.width, np.sqrt(s.width))
            name = b + "ffn_down_exps.scale"
            self.add(name, np.exp(self.normal(name, s.experts, 0.3)))
            for name in ("post_ffw_norm_1", "pre_ffw_norm_2", "post_ffw_norm_2"):
                self.norm(b + name + ".weight", s.width)
        self.norm(b + "post_ffw_norm.weight", s.width, self.POST_FF)
        if s.extra_width:
            self.matrix(b + "inp_gate.weight", s.extra_width, s.width, "ffn", 1.5, i)
            self.matrix(b + "proj.weight", s.width, s.extra_width, "ffn", 1.0, i)
            self.norm(b + "post_norm.weight", s.width, self.POST_FF)
        name = b + "layer_output_scale.weight"
        self.add(name, np.exp(self.normal(name, 1, 0.2)))

    def own_metadata(self, meta):
        s, a = self.spec, "gemma4."
        layers = range(s.layers)
        for key, value in (("attention.key_length_swa", s.local_head_dim),
                           ("attention.value_length_swa", s.local_head_dim),
                           ("rope.dimension_count_swa", s.local_head_dim),
                           ("attention.shared_kv_layers", s.shared_layers),
                           ("embedding_length_per_layer_input", s.extra_width)):
            meta.put(a + key, gguf.U32, value)
        meta.put(a + "rope.freq_base_swa", gguf.F32, 10000.0)
        meta.put_array(a + "attention.sliding_window_pattern", gguf.BOOL,
                       [self.is_local(i) for i in layers])
        if s.local_kv_heads != s.kv_heads:
            meta.put_array(a + "attention.head_count_kv", gguf.I32,
                           [self.heads_of(i)[1] for i in layers])
        if s.shared_layers:
            meta.put_array(a + "feed_forward_length", gguf.I32, [self.width_of(i) for i in layers])
