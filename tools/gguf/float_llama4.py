# SPDX-License-Identifier: Apache-2.0
"""What llama4 computes otherwise than other families; mixed into float_reference.Model."""
import numpy as np

from float_gemma4 import unit_rms

UNNORMED = 128                     # experts of the one size whose queries and keys are not normed


class Parts:
    def normed_heads(self, layer, x, part, heads):
        if self.is_local(layer.index):
            x = super().normed_heads(layer, x, part, heads)
            return x if self.experts == UNNORMED else unit_rms(x, self.eps)
        x = x.reshape(len(x), heads, layer.head_dim)
        if part == "k":
            return x
        positions = np.arange(self.length, self.length + len(x), dtype=np.float64)
        spans = np.floor((positions + 1) / self.number("attention.temperature_length", 8192))
        grown = 1 + np.log1p(spans) * self.number("attention.temperature_scale", 0.1)
        return x * grown.astype(x.dtype)[:, None, None]

    def mixture(self, layer, x, router_input=None):
        """One expert for each row; the sigmoid of its logit multiplies what goes in."""
        logits = layer.linear(x, "ffn_gate_inp")
        chosen = self.best(logits, 1)[:, 0]
        weight = 1 / (1 + np.exp(-logits[np.arange(len(x)), chosen]))
        y = self.feed_forward(layer, x, "_shexp")
        for e in np.unique(chosen):
            rows = np.flatnonzero(chosen == e)
            inner = self.activate(*layer.gate_and_up(x[rows] * weight[rows, None], e))
            y[rows] += layer.expert(inner, "down", e)
        return y
