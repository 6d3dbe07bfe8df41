#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What llama.cpp's own samplers make of made-up logits, as lines that test_sample_peer.c reads:

    sampler_peer.py LIBLLAMA > tests/sample/llama_cpp.txt
    sampler_peer.py LIBLLAMA --check tests/sample/llama_cpp.txt

Each case is a line `case SHAPE NAME VALUE NAME VALUE ..`, with the names of sample_settings, and a line with the
number of candidates that have a chance, the likeliest of them and the least likely, each with its
probability. Shapes of logits and the history are formulas, the same in both programs.
"""
import ctypes
import math
import sys

TOKENS = 2003
HISTORY = [i % 13 * 5 for i in range(80)]
SHOWN, SHOWN_LAST = 12, 3
LEAST = 1e-30                      # below, float32 has no digits left
F, I, P, Z = ctypes.c_float, ctypes.c_int32, ctypes.c_void_p, ctypes.c_size_t


def logits(shape):
    order = [i * 739 % TOKENS for i in range(TOKENS)]       # all different: 2003 is a prime
    return [[x / 128, x / 32, -x * x / 65536][shape] for x in order]


CASES = [
    (0, {}), (1, {"temperature": 0.7}), (2, {"temperature": 1.7}), (1, {"temperature": 0}),
    (0, {"top_k": 1}), (0, {"top_k": 40}), (2, {"top_k": 300, "temperature": 0.5}),
    (0, {"top_p": 0.3}), (0, {"top_p": 0.95}), (1, {"top_p": 0.9}), (2, {"top_p": 0.999}),
    (0, {"top_p": 0.01, "min_keep": 25}), (0, {"top_k": 200, "top_p": 0.5}),
    (0, {"min_p": 0.05}), (1, {"min_p": 0.3}), (2, {"min_p": 0.9, "min_keep": 50}),
    (0, {"top_k": 100, "min_p": 0.6}),
    (0, {"typical_p": 0.2}), (1, {"typical_p": 0.5}), (2, {"typical_p": 0.9}),
    (0, {"typical_p": 0.1, "min_keep": 60}), (0, {"top_k": 64, "typical_p": 0.4}),
    (0, {"top_n_sigma": 0.5}), (1, {"top_n_sigma": 1}), (2, {"top_n_sigma": 0.25}),
    (1, {"top_n_sigma": 1.2, "top_k": 30, "top_p": 0.8}),
    (1, {"xtc_probability": 1, "xtc_threshold": 0.01}),
    (1, {"xtc_probability": 1, "xtc_threshold": 0.02, "min_keep": 1999}),
    (1, {"xtc_probability": 1, "xtc_threshold": 0.01, "min_keep": 2001}),
    (2, {"top_k": 20, "xtc_probability": 1, "xtc_threshold": 0.05}),
    (0, {"temperature": 1, "dynatemp_range": 0.5}),
    (1, {"temperature": 0.8, "dynatemp_range": 0.8, "dynatemp_exponent": 2}),
    (2, {"top_k": 50, "temperature": 1.5, "dynatemp_range": 3}),
    (0, {"repeat_penalty": 1.3}), (0, {"repeat_penalty": 1.1, "penalty_last_n": 20}),
    (2, {"repeat_penalty": 1.5, "penalty_last_n": 5}),
    (0, {"frequency_penalty": 0.4}), (1, {"presence_penalty": 1.5, "top_k": 40}),
    (0, {"repeat_penalty": 1.2, "frequency_penalty": 0.1, "presence_penalty": -0.5, "top_p": 0.9}),
    (0, {"dry_multiplier": 0.8, "dry_penalty_last_n": 80}),
    (0, {"dry_multiplier": 0.5, "dry_base": 1.1, "dry_allowed_length": 4, "dry_penalty_last_n": 40}),
    (0, {"dry_multiplier": 2, "dry_base": 1, "dry_allowed_length": 1, "dry_penalty_last_n": 27}),
    (0, {"top_k": 40, "top_p": 0.95, "min_p": 0.05, "temperature": 0.8}),
    (1, {"top_k": 20, "top_p": 0.8, "temperature": 0.7, "repeat_penalty": 1.05}),
    (0, {"mirostat": 1}), (1, {"mirostat": 1, "mirostat_tau": 3}),
    (2, {"mirostat": 1, "mirostat_tau": 4, "temperature": 1.3}),
    (0, {"mirostat": 2}), (1, {"mirostat": 2, "mirostat_tau": 2.5}),
    (2, {"mirostat": 2, "mirostat_tau": 4, "temperature": 0.7}),
]
OFF = {"temperature": 1, "dynatemp_range": 0, "dynatemp_exponent": 1, "top_k": 0, "top_p": 1,
       "min_p": 0, "typical_p": 1, "top_n_sigma": -1, "xtc_probability": 0, "xtc_threshold": 0.1,
       "min_keep": 0, "penalty_last_n": 64, "repeat_penalty": 1, "frequency_penalty": 0,
       "presence_penalty": 0, "dry_multiplier": 0, "dry_base": 1.75, "dry_allowed_length": 2,
       "dry_penalty_last_n": 0, "mirostat": 0, "mirostat_tau": 5, "mirostat_eta": 0.1}


class Token(ctypes.Structure):
    _fields_ = [("id", I), ("logit", F), ("p", F)]


class Tokens(ctypes.Structure):
    _fields_ = [("data", ctypes.POINTER(Token)), ("size", Z), ("selected", ctypes.c_int64),
                ("sorted", ctypes.c_bool)]


class Llama:
    def __init__(self, path):
        self.lib = ctypes.CDLL(path)

    def make(self, name, *arguments):
        function = getattr(self.lib, "llama_sampler_init_" + name)
        function.restype = P
        return function(*arguments)

    def chain(self, s):
        """As common/sampling.cpp of llama.cpp puts it together."""
        keep = Z(s["min_keep"])
        if s["mirostat"]:
            seed = ctypes.c_uint32(1)
            tau, eta = F(s["mirostat_tau"]), F(s["mirostat_eta"])
            last = (self.make("mirostat", I(TOKENS), seed, tau, eta, I(100)) if s["mirostat"] == 1
                    else self.make("mirostat_v2", seed, tau, eta))
            return [self.make("temp", F(s["temperature"])), last]
        return [
            self.make("penalties", I(TOKENS), I(s["penalty_last_n"]), F(s["repeat_penalty"]),
                      F(s["frequency_penalty"]), F(s["presence_penalty"])),
            self.make("dry", P(None), F(s["dry_multiplier"]), F(s["dry_base"]),
                      I(s["dry_allowed_length"]), I(s["dry_penalty_last_n"]), P(None), Z(0)),
            self.make("top_n_sigma", F(s["top_n_sigma"])),
            self.make("top_k", I(s["top_k"])),
            self.make("typical", F(s["typical_p"]), keep),
            self.make("top_p", F(s["top_p"]), keep),
            self.make("min_p", F(s["min_p"]), keep),
            self.make("xtc", F(s["xtc_probability"]), F(s["xtc_threshold"]), keep,
                      ctypes.c_uint32(1)),
            self.make("temp_ext", F(s["temperature"]), F(s["dynatemp_range"]),
                      F(s["dynatemp_exponent"])),
        ]

    def chances(self, shape, settings):
        """(id, probability) of what is left, best first."""
        row = (Token * TOKENS)(*[Token(i, x, 0) for i, x in enumerate(logits(shape))])
        tokens = Tokens(ctypes.cast(row, ctypes.POINTER(Token)), TOKENS, -1, False)
        for sampler in self.chain({**OFF, **settings}):
            for token in HISTORY:
                self.lib.llama_sampler_accept(P(sampler), I(token))
            self.lib.llama_sampler_apply(P(sampler), ctypes.byref(tokens))
        left = [(tokens.data[i].id, tokens.data[i].logit) for i in range(tokens.size)]
        best = max(logit for _, logit in left)
        weights = [(token, math.exp(logit - best)) for token, logit in left]
        total = sum(weight for _, weight in weights)
        return sorted(((token, weight / total) for token, weight in weights
                       if weight / total > LEAST),
                      key=lambda one: (-one[1], one[0]))


def lines(library):
    llama = Llama(library)
    for shape, settings in CASES:
        found = llama.chances(shape, settings)
        shown = found if len(found) <= SHOWN + SHOWN_LAST else found[:SHOWN] + found[-SHOWN_LAST:]
        yield " ".join(["case", str(shape), *(f"{name} {value}" for name, value in
                                              settings.items())])
        yield f"{len(found)} " + " ".join(f"{token} {p:.6e}" for token, p in shown)


def main():
    now = list(lines(sys.argv[1]))
    if "--check" not in sys.argv:
        print("\n".join(now))
        return
    with open(sys.argv[3], encoding="ascii") as file:
        stored = file.read().splitlines()
    if now != stored:
        sys.exit(f"{sys.argv[3]} is not what this llama.cpp says")
    print(f"{len(CASES)} cases are what llama.cpp says")


if __name__ == "__main__":
    main()
