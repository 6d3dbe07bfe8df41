# SPDX-License-Identifier: Apache-2.0
"""A byte-level BPE tokenizer, stored as {"vocab": [...], "merges": [...]}.

    python3 tokenizer.py OUT.json SIZE DOCS.jsonl...    (train)

Pre-tokenizer: GPT-2's. The vocabulary is <|endoftext|>, the 256 bytes, then one
token a merge, so any standard GGUF implementation of "gpt2" BPE gives these ids.
"""
import collections
import heapq
import json
import sys

import regex

import words as W

SPLIT = regex.compile(r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+")
EOT = "<|endoftext|>"


def byte_chars():
    """GPT-2's printable stand-in for each byte."""
    keep = [*range(33, 127), *range(161, 173), *range(174, 256)]
    table, n = {b: chr(b) for b in keep}, 0
    for b in range(256):
        if b not in table:
            table[b] = chr(256 + n)
            n += 1
    return table


BYTES = byte_chars()
UNBYTE = {c: b for b, c in BYTES.items()}


def visible(piece):
    return "".join(BYTES[b] for b in piece.encode())


class Tokenizer:
    def __init__(self, path):
        data = json.load(open(path))
        self.vocab, self.merges = data["vocab"], [tuple(m.split(" ")) for m in data["merges"]]
        self.ids = {t: i for i, t in enumerate(self.vocab)}
        self.rank = {m: i for i, m in enumerate(self.merges)}
        self.cache = {}
        self.eot = self.ids[EOT]

    def word(self, piece):
        """Ids of one pre-token."""
        got = self.cache.get(piece)
        if got is not None:
            return got
        parts = list(visible(piece))
        while len(parts) > 1:
            best = min(range(len(parts) - 1), key=lambda i: self.rank.get((parts[i], parts[i + 1]), 1 << 30))
            if (parts[best], parts[best + 1]) not in self.rank:
                break
            parts[best:best + 2] = [parts[best] + parts[best + 1]]
        got = self.cache[piece] = [self.ids[p] for p in parts]
        return got

    def encode(self, text):
        out = []
        for piece in SPLIT.findall(text):
            out += self.word(piece)
        return out

    def decode(self, ids):
        return bytes(UNBYTE[c] for i in ids if i != self.eot for c in self.vocab[i]).decode(errors="replace")


def count(paths):
    """Weights of pre-tokens: flattened counts; names always count as frequent."""
    seen = collections.Counter()
    for path in paths:
        for line in open(path):
            seen.update(SPLIT.findall(json.loads(line)["text"]))
    flat = {p: n ** 0.7 for p, n in seen.items() if n > 1}
    top = max(flat.values())
    for name in W.GIRLS + W.BOYS + W.PETS + W.VILLAGES:
        flat[" " + name] = max(flat.get(" " + name, 0), top * 0.05)
    return flat


def train(weights, size):
    """Greedy BPE over weighted words, with a heap of pair counts."""
    words = [list(visible(p)) for p in weights]
    freq = list(weights.values())
    pairs, where = collections.Counter(), collections.defaultdict(set)
    for i, w in enumerate(words):
        for pr in zip(w, w[1:]):
            pairs[pr] += freq[i]
            where[pr].add(i)
    heap = [(-n, pr) for pr, n in pairs.items()]
    heapq.heapify(heap)
    merges = []
    while len(merges) < size - 257 and heap:
        n, pr = heapq.heappop(heap)
        if pairs[pr] <= 0 or abs(-n - pairs[pr]) > 1e-6:
            if pairs[pr] > 1e-6:
                heapq.heappush(heap, (-pairs[pr], pr))
            continue
        merges.append(pr)
        touched = set()
        for i in list(where[pr]):
            w = words[i]
            for q in zip(w, w[1:]):
                pairs[q] -= freq[i]
                where[q].discard(i)
            j = 0
            while j < len(w) - 1:
                if (w[j], w[j + 1]) == pr:
                    w[j:j + 2] = [w[j] + w[j + 1]]
                j += 1
            for q in zip(w, w[1:]):
                pairs[q] += freq[i]
                where[q].add(i)
                touched.add(q)
        pairs[pr] = 0
        for q in touched:
            heapq.heappush(heap, (-pairs[q], q))
    return merges


def main():
    out, size, paths = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    merges = train(count(paths), size)
    vocab = [EOT] + [BYTES[b] for b in range(256)] + [a + b for a, b in merges]
    assert len(set(vocab)) == len(vocab)
    json.dump({"vocab": vocab, "merges": [f"{a} {b}" for a, b in merges]}, open(out, "w"))


if __name__ == "__main__":
    main()
