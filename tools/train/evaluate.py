# SPDX-License-Identifier: Apache-2.0
"""Judge a checkpoint or GGUF on held-out text.

    python3 evaluate.py MODEL tok.json --real real.jsonl [--docs 150] [--samples 50] [--length 220]

Prints perplexity by kind of text, P(right answer) on question lines, P(right one of "he" and
"she"), expert load and entropy by layer, and the printed samples with the share in which no
name or object changes, the pronouns of the wrong sex and the names that stand for two people,
with the same counts for the generator's own stories (all are false alarms there). Held-out
generated documents use a seed that training never uses.
"""
import argparse
import math
import random
import re

import torch
import torch.nn.functional as F

import words as W
from corpus import MIX, document
from load import load
from model import Model, rms, rotate
from people import doubles, wrong_sex
from prepare import real_documents
from tokenizer import Tokenizer

SEED = 777_777
TEXTS = (("small", (1, 0, 0, 0), 512), ("longer", (0, 1, 0, 0), 512), ("story", (0, 0, 1, 0), 512),
         ("chapters", (0, 0, 0, 1), 1024))
PAIRS = ((" he", " she"), (" him", " her"), (" his", " her"), (" He", " She"), (" His", " Her"))
HE_OR_SHE = 0.7     # share of replaced names where pronouns are asked for
NAMES = frozenset(W.GIRLS + W.BOYS + W.PETS)
# Things that some plots also name without introducing them ("Put on your coat").
STAGE = frozenset("pot bag lamp coat cart flute box".split())
NOUNS = tuple(sorted((r[0] for r in W.KEY_THINGS if r[0] not in STAGE), key=len, reverse=True))
KIN = "|".join(r[0] for r in W.KIN)
TRADE = "|".join(sorted((r[0] for r in W.TRADES), key=len, reverse=True))
# How a text may bring in a new name; everything else is a name that changed.
INTRO = re.compile(rf"(named|called|name was|name is|it|[Ii]t was|named the \w+|a friend of|(?:{KIN}|{TRADE})(?: is| was)?|Dear|[Tt]eacher,|children|names|again|(?:king|queen) was|"
                   rf"diary of|in this house is|Your \w+ ?\w*,|with my \w+) $")


def held_out(mix_shares, count, he_or_she=0):
    rng = random.Random(SEED)
    return [document(rng, mix_shares, he_or_she) for _ in range(count)]


@torch.no_grad()
def perplexity(model, tok, texts, length):
    """(nats a token, bits a character) over documents cut at length."""
    nats = n = chars = 0
    for text in texts:
        ids = (tok.encode(text) + [tok.eot])[:length + 1]
        x = torch.tensor(ids)
        logp = torch.log_softmax(model.logits(x[None, :-1])[0], -1)
        nats -= float(logp.gather(1, x[1:, None]).sum())
        n += len(ids) - 1
        chars += len(tok.decode(ids))
    return nats / n, nats / chars / math.log(2)


@torch.no_grad()
def answers(model, tok, docs):
    """P(first token of the right answer) at the question line, and how often it is the top one."""
    out = {"name": [], "thing": []}
    for _, _, ask in docs:
        if ask is None:
            continue
        ids = tok.encode(ask["prompt"])
        right = tok.encode(" " + ask["answer"])[0]
        p = torch.softmax(model.logits(torch.tensor([ids]))[0, -1], -1)
        out["name" if ask["answer"] in NAMES else "thing"].append((float(p[right]), int(p.argmax()) == right))
    return {k: (len(v), sum(p for p, _ in v) / len(v), sum(t for _, t in v) / len(v)) for k, v in out.items() if v}


@torch.no_grad()
def sexes(model, tok, texts):
    """(pronouns, mean P of the right one of the two sexes, share where it is the likelier)."""
    other = {tok.encode(a)[0]: tok.encode(b)[0] for a, b in PAIRS}
    other |= {b: a for a, b in reversed(other.items())}
    right = []
    for text in texts:
        ids = tok.encode(text)[:512]
        at = [i for i in range(1, len(ids)) if ids[i] in other]
        if at:
            p = torch.softmax(model.logits(torch.tensor([ids]))[0], -1)
            right += [float(p[i - 1, ids[i]] / (p[i - 1, ids[i]] + p[i - 1, other[ids[i]]])) for i in at]
    return len(right), sum(right) / len(right), sum(r > 0.5 for r in right) / len(right)


@torch.no_grad()
def routing(model, tok, texts):
    """Per layer: largest and smallest load over even load, entropy of the load over log E."""
    loads = [0] * model.cfg.layers
    for text in texts:
        stats = []
        model.hidden(torch.tensor([tok.encode(text)]), stats)
        for i, s in enumerate(stats):
            loads[i] = loads[i] + s[2] * len(tok.encode(text))
    for load_ in loads:
        q = load_ / load_.sum()
        yield float(q.max()) * len(q), float(q.min()) * len(q), float(-(q * q.clamp_min(1e-9).log()).sum()) / math.log(len(q))


class Writer:
    """Batched generation with a key/value cache; all rows share the position."""

    def __init__(self, cfg, p, rows, length):
        self.cfg, self.p, self.model = cfg, p, Model(cfg, p)
        shape = (cfg.layers, rows, cfg.kv_heads, length, cfg.head_dim)
        self.k, self.v = torch.zeros(shape), torch.zeros(shape)

    def step(self, ids, t):
        c, p, b = self.cfg, self.p, len(ids)
        x = p["embed"][ids]
        cos, sin = self.model.cos[t], self.model.sin[t]
        for i in range(c.layers):
            n = f"{i}."
            qkv = (rms(x, p[n + "norm1"], c.eps) @ p[n + "wqkv"].t()).view(b, -1, c.head_dim)
            q, k, v = qkv.split((c.heads, c.kv_heads, c.kv_heads), 1)
            q = rotate(rms(q, p[n + "qnorm"], c.eps), cos, sin)
            self.k[i, :, :, t], self.v[i, :, :, t] = rotate(rms(k, p[n + "knorm"], c.eps), cos, sin), v
            rep = c.heads // c.kv_heads
            keys, vals = (z[i, :, :, :t + 1].repeat_interleave(rep, 1) for z in (self.k, self.v))
            y = F.scaled_dot_product_attention(q.unsqueeze(2), keys, vals)
            x = x + y.reshape(b, -1) @ p[n + "wo"].t()
            x = x + self.model.feed_forward(i, rms(x, p[n + "norm2"], c.eps), None)
        return rms(x, p["norm"], c.eps) @ p["embed"].t()


def choose(logits, rng, temp=0.7, top_k=40, top_p=0.95, min_p=0.05):
    """One id per row: top-k, top-p, min-p, then temperature."""
    p = torch.softmax(logits, -1)
    top, ids = p.topk(top_k, -1)
    keep = (top.cumsum(-1) - top < top_p) & (top >= min_p * top[:, :1])
    q = torch.where(keep, top.log() / temp, torch.tensor(float("-inf"))).softmax(-1)
    return ids.gather(1, torch.multinomial(q, 1, generator=rng))[:, 0]


@torch.no_grad()
def write(cfg, p, tok, prompts, length, seed):
    """Continue each prompt up to length tokens or the end of the text."""
    rng = torch.Generator().manual_seed(seed)
    ids = [tok.encode(t) for t in prompts]
    rows = [list(x) for x in ids]
    done = [False] * len(rows)
    w = Writer(cfg, p, len(rows), length)
    for t in range(length - 1):
        logits = w.step(torch.tensor([r[t] if t < len(r) else tok.eot for r in rows]), t)
        new = choose(logits, rng).tolist()
        for i, r in enumerate(rows):
            if t + 1 >= len(r) and not done[i]:
                done[i] = new[i] == tok.eot
                if not done[i]:
                    r.append(new[i])
        if all(done):
            break
    return [tok.decode(r) for r in rows], done


def changes(text, prompt):
    """Names and things that come from nowhere: a list of words."""
    bad, seen = [], set(re.findall(r"[A-Z]\w+", prompt))
    story = text.split("\nQ:")[0]
    for m in re.finditer(r"[A-Z][a-z]+", story):
        name = m[0]
        if name in NAMES and name not in seen:
            before, after = story[:m.start()], story[m.end():m.end() + 6]
            listed = re.search(r"(children|friends|names|again)[^.?!]*$", before)
            if not (INTRO.search(before) or listed or re.match(r", (the|a|an) ", after)):
                bad.append(name)
            seen.add(name)
    known = story[:len(prompt)].lower()
    for m in re.finditer(rf"\b(the|my|your|that|this) ({'|'.join(NOUNS)})\b", story, re.I):
        before = known if m.start() < len(known) else story[:m.start()].lower()
        if not re.search(rf"\b{m[2].lower()}\b", before):
            bad.append(m[0])
    return bad


def openings(count):
    """First sentences of held-out stories."""
    rng = random.Random(SEED + 1)
    out = []
    while len(out) < count:
        kind, text, _ = document(rng, (0, 0, 1, 0))
        first = re.match(r"[^.]*\.(?= )", text)
        if first and 20 < len(first[0]) < 120:
            out.append(first[0])
    return out


def judge_stories(texts, prompts):
    """Print what the automatic checks find; return the findings by text."""
    found = wrong = odd = 0
    out = []
    for text, prompt in zip(texts, prompts):
        all_, bad, people = wrong_sex(text)
        found, wrong, odd = found + len(all_), wrong + len(bad), odd + len(people)
        out.append((changes(text, prompt), bad + people, doubles(text)))
    n = len(texts)
    print(f"  {sum(not c for c, _, _ in out)} of {n} keep every name and thing; "
          f"{wrong} of {found} pronouns and {odd} introductions have the wrong sex; "
          f"in {sum(bool(d) for _, _, d in out)} one name stands for two people")
    return out


def judge_text(model, tok, args):
    for name, shares, length in TEXTS:
        docs = held_out(shares, args.docs if length <= 512 else max(1, args.docs // 3))
        nats, bits = perplexity(model, tok, [t for _, t, _ in docs], length)
        print(f"{name}: {nats:.3f} nats a token (ppl {math.exp(nats):.2f}), {bits:.3f} bits a character")
        for kind, (n, prob, top) in answers(model, tok, docs).items():
            print(f"  question lines, {kind}: {n} asked, P(right) {prob:.3f}, top-1 {top:.3f}")
    texts = [t for _, t, _ in held_out((0, 0, 1, 0), args.docs, HE_OR_SHE)]
    n, prob, top = sexes(model, tok, texts)
    print(f"he or she: {n} pronouns, P(right) {prob:.3f}, likelier {top:.3f}")
    if args.real:
        for kind, texts in real_documents(args.real, True).items():
            nats, bits = perplexity(model, tok, texts[:args.docs // 3], 512)
            print(f"{kind}: {nats:.3f} nats a token (ppl {math.exp(nats):.2f}), {bits:.3f} bits a character")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("model")
    ap.add_argument("tokenizer")
    ap.add_argument("--real")
    ap.add_argument("--docs", type=int, default=150)
    ap.add_argument("--samples", type=int, default=50)
    ap.add_argument("--length", type=int, default=260)
    ap.add_argument("--show", type=int, default=50)
    args = ap.parse_args()
    torch.set_num_threads(1)
    tok = Tokenizer(args.tokenizer)
    cfg, p = load(args.model)
    model = Model(cfg, p)
    judge_text(model, tok, args)
    if cfg.experts:
        texts = [t for _, t, _ in held_out(MIX["late"], args.docs)]
        for i, (most, least, entropy) in enumerate(routing(model, tok, texts)):
            print(f"layer {i}: load max {most:.2f} min {least:.2f} of even, entropy {entropy:.3f}")
    if args.samples:
        prompts = openings(args.samples)
        texts, done = write(cfg, p, tok, prompts, args.length, 1)
        print(f"{len(texts)} samples, {sum(done)} end by themselves:")
        found = judge_stories(texts, prompts)
        own = [t for _, t, _ in held_out((0, 0, 1, 0), 1000, HE_OR_SHE)]
        print("1000 stories of the generator:")
        judge_stories(own, [re.match(r"[^.]*", t)[0] for t in own])
        for i, t in enumerate(texts[:args.show]):
            print(f"--- sample {i + 1}{'' if done[i] else ' (cut)'} changes, sexes, doubles: {found[i]}\n{t}")


if __name__ == "__main__":
    main()
