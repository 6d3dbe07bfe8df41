#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""How far apart two files of logits are.

    compare.py REFERENCE OTHER VOCABULARY [--margins FILE] [--clear 1e-4] [--sure 1.0]

Both files hold raw float32, VOCABULARY numbers per position. Printed: Kullback-Leibler divergence
from the reference's next-token distribution to the other's in nats (mean, median, 99 %, maximum),
the share of positions with the same likeliest token, and how many of those differ although the
reference prefers its choice by more than --sure nats. With --margins (float_reference.py) only the
positions whose routers are decided by more than --clear count as clear; they are shown apart.
"""
import argparse
import sys
from dataclasses import dataclass

import numpy as np

ROWS = 256                         # positions at once; bounds memory


@dataclass
class Distances:
    """One number per position."""
    kld: np.ndarray
    same_top: np.ndarray
    lead: np.ndarray               # nats between the reference's first and second choice
    max_error: float               # largest difference of two logits

    def where(self, keep):
        return Distances(self.kld[keep], self.same_top[keep], self.lead[keep], self.max_error)

    def flips_above(self, nats):
        return int(np.sum(~self.same_top & (self.lead > nats)))

    @staticmethod
    def joined(parts):
        return Distances(np.concatenate([p.kld for p in parts]),
                         np.concatenate([p.same_top for p in parts]),
                         np.concatenate([p.lead for p in parts]),
                         max(p.max_error for p in parts))


def softmax_and_log(x):
    shifted = x - x.max(axis=1, keepdims=True)
    e = np.exp(shifted)
    total = e.sum(axis=1, keepdims=True)
    return e / total, shifted - np.log(total)


def lead_of(x, best):
    """Largest minus second largest of each row; `best` is the place of the largest. Changes x."""
    rows = np.arange(len(x))
    largest = x[rows, best].copy()
    x[rows, best] = -np.inf
    return largest - x.max(axis=1)


def open_logits(path, vocabulary):
    flat = np.memmap(path, dtype=np.float32, mode="r")
    if len(flat) % vocabulary:
        raise ValueError("%s holds no whole rows of %d" % (path, vocabulary))
    return flat.reshape(-1, vocabulary)


def distances(reference_path, other_path, vocabulary):
    reference = open_logits(reference_path, vocabulary)
    other = open_logits(other_path, vocabulary)
    if reference.shape != other.shape:
        raise ValueError("%s has %d positions, %s %d" % (reference_path, len(reference),
                                                         other_path, len(other)))
    kld, same, lead, worst = [], [], [], 0.0
    for i in range(0, len(reference), ROWS):
        a, b = reference[i:i + ROWS].astype(np.float64), other[i:i + ROWS].astype(np.float64)
        if not (np.isfinite(a).all() and np.isfinite(b).all()):
            raise ValueError("logits that are no numbers after position %d" % i)
        p, log_p = softmax_and_log(a)
        _, log_q = softmax_and_log(b)
        kld.append((p * (log_p - log_q)).sum(axis=1))
        worst = max(worst, float(np.abs(a - b).max()))
        best = a.argmax(axis=1)
        same.append(best == b.argmax(axis=1))
        lead.append(lead_of(a, best))
    return Distances(np.concatenate(kld), np.concatenate(same), np.concatenate(lead), worst)


def summary(d):
    return ("mean %.3e  median %.3e  99%% %.3e  max %.3e  top-1 %.2f %%"
            % (d.kld.mean(), np.median(d.kld), np.quantile(d.kld, 0.99), d.kld.max(),
               100 * d.same_top.mean()))


def main(argv):
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("reference")
    p.add_argument("other")
    p.add_argument("vocabulary", type=int)
    p.add_argument("--margins")
    p.add_argument("--clear", type=float, default=1e-4)
    p.add_argument("--sure", type=float, default=1.0)
    a = p.parse_args(argv)
    d = distances(a.reference, a.other, a.vocabulary)
    print("all   %6d  %s  max |logit difference| %.2e" % (len(d.kld), summary(d), d.max_error))
    print("flips where the reference is sure by %g nats: %d" % (a.sure, d.flips_above(a.sure)))
    if a.margins:
        clear = np.fromfile(a.margins, dtype=np.float32) > a.clear
        print("clear %6d  %s" % (clear.sum(), summary(d.where(clear))))


if __name__ == "__main__":
    main(sys.argv[1:])
