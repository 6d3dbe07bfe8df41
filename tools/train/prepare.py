# SPDX-License-Identifier: Apache-2.0
"""Turn documents into a file of token ids, mixed with real text.

    python3 prepare.py TOK.json OUT.npy --seed S --docs N --mix early --real real.jsonl --share 0.2

Generated documents are made on the fly. OUT holds uint16 ids, each document
closed by <|endoftext|>. The first 2 % of the real documents are never used: they
are the held-out set. --share is the real text's share of the tokens.
"""
import argparse
import json
import random

import numpy as np

from corpus import MIX, document
from tokenizer import Tokenizer


def real_documents(path, held_out):
    """Documents by kind, either the held-out ones or the others (every 50th is held out)."""
    out = {}
    for i, line in enumerate(open(path)):
        d = json.loads(line)
        if (i % 50 == 0) == held_out:
            out.setdefault(d["kind"], []).append(d["text"])
    return out


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("tokenizer")
    ap.add_argument("out")
    ap.add_argument("--seed", type=int, required=True)
    ap.add_argument("--docs", type=int, required=True)
    ap.add_argument("--mix", choices=MIX, required=True)
    ap.add_argument("--pronouns", type=float, default=0, help="share of the names to replace, see pronouns.py")
    ap.add_argument("--real")
    ap.add_argument("--share", type=float, default=0.2)
    args = ap.parse_args()
    tok, rng = Tokenizer(args.tokenizer), random.Random(args.seed)
    real = [t for docs in real_documents(args.real, False).values() for t in docs] if args.real else []
    rng.shuffle(real)
    parts, made, taken = [], 1, 0
    for _ in range(args.docs):
        ids = tok.encode(document(rng, MIX[args.mix], args.pronouns)[1]) + [tok.eot]
        parts.append(np.array(ids, np.uint16))
        made += len(ids)
        while real and taken < args.share / (1 - args.share) * made:
            ids = tok.encode(real[len(parts) % len(real)]) + [tok.eot]
            parts.append(np.array(ids, np.uint16))
            taken += len(ids)
    order = list(range(len(parts)))
    rng.shuffle(order)
    np.save(args.out, np.concatenate([parts[i] for i in order]))
    print(f"{args.out}: {len(parts)} documents, {made} generated and {taken} real tokens")


if __name__ == "__main__":
    main()
