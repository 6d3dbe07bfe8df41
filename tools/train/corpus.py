# SPDX-License-Identifier: Apache-2.0
"""Make the generated part of the training corpus: one JSON object a line.

    python3 corpus.py --seed 1 --docs 20000 --mix late > docs.jsonl

Each line holds "kind", "text" (question lines included) and "ask": the last
question's prompt and its answer, or null. --mix early prefers short documents.
"""
import argparse
import json
import random
import sys

import kinds
import plots
from pronouns import pronouns
from saga import saga
from world import World

# Shares of documents: small texts, longer kinds, one-plot stories, stories in chapters.
MIX = {"early": (0.75, 0.15, 0.10, 0), "middle": (0.40, 0.25, 0.35, 0), "late": (0.25, 0.25, 0.50, 0),
       "long": (0.12, 0.18, 0.40, 0.30)}


def weighted(rng, pairs):
    return rng.choices([f for f, _ in pairs], [n for _, n in pairs])[0]


def story(w):
    """A plot, with everyday sentences strewn in and a few paragraph breaks."""
    sents = w.rng.choice(plots.PLOTS)(w)
    out = [sents[0]]
    for s in sents[1:]:
        gap = "\n" if w.chance(0.06) and not s[0].isupper() else " "
        out.append(gap + s)
    return "".join(out)


def document(rng, shares, he_or_she=0):
    """One document: (kind, text, ask); he_or_she is for pronouns()."""
    w = World(rng)
    group = rng.choices((kinds.SMALL, kinds.LONGER, story, saga), shares)[0]
    share_asked = 0.6
    if group is story:
        kind, text = "story", story(w)
    elif group is saga:
        kind = "saga"
        text, w.facts = saga(rng, rng.choice((2, 2, 3, 3, 4)))
    else:
        fn = weighted(rng, group)
        kind, text = fn.__name__, fn(w)
        share_asked = 0.85 if group is kinds.SMALL else 0.6
    if he_or_she:
        text = pronouns(rng, text, he_or_she)
    if rng.random() > share_asked or not w.facts:
        return kind, text, None
    rng.shuffle(w.facts)
    ask = None
    for question, ans in w.facts[:rng.choice((1, 1, 2, 2, 3))]:
        text += f"\nQ: {question}\nA:"
        ask = {"prompt": text, "answer": ans}
        text += f" {ans}."
    return kind, text, ask


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--docs", type=int, default=20000)
    ap.add_argument("--mix", choices=MIX, default="late")
    ap.add_argument("--pronouns", type=float, default=0, help="share of the replaceable names")
    args = ap.parse_args()
    rng = random.Random(args.seed)
    for _ in range(args.docs):
        kind, text, ask = document(rng, MIX[args.mix], args.pronouns)
        sys.stdout.write(json.dumps({"kind": kind, "text": text, "ask": ask}) + "\n")


if __name__ == "__main__":
    main()
