# SPDX-License-Identifier: Apache-2.0
"""Small vocabularies for generated models: byte-level BPE, SPM, and huge ones of either kind.

The pieces come from a byte-pair training over SAMPLE, so ordinary English splits in a way that is
not trivial, while every byte has a token and any text can be written.
"""
from collections import Counter

import gguf_file as gguf

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = 1, 2, 3, 4, 5, 6
SPECIAL_BPE = [("<|endoftext|>", CONTROL), ("<|im_start|>", CONTROL), ("<|im_end|>", CONTROL),
               ("<think>", USER_DEFINED), ("</think>", USER_DEFINED)]
SPECIAL_SPM = [("<unk>", UNKNOWN), ("<s>", CONTROL), ("</s>", CONTROL)]
SPM_BLANK = "\u2581"

SAMPLE = """
The lighthouse keeper wrote down every ship that passed and every bird that rested on the rail.
In the morning the water was grey, in the evening it was copper, and at night there was only the
turning of the lamp. She counted the steps, one hundred and ninety six of them, whenever she could
not sleep; her brother said that nobody needs to count what does not change. But the steps were
worn, and the third from the top had begun to move when the wind came from the north. One day a
letter arrived with the supply boat. It said that a new lamp would be sent, a lamp that needs no
keeper, and it thanked her for thirty years of service. She read it twice, folded it, and put it
under the loose step. Then she went up and lit the light, because it was getting dark and somebody
might be out there, looking for the coast. The machine in the room below hummed and measured, and
the numbers that it printed were added to the book: pressure, wind, height of the waves, time.
When the inspector came in spring he asked how she had known about the storm before the instruments.
"The birds," she said, "and the step." He laughed, then he wrote that down as well. There are things
which are known by being there; there are others which are better known by a machine, and the hard
part is to tell them apart. The children in the village learned the names of the winds from her.
"""


def byte_alphabet():
    """GPT-2's printable stand-ins: character i stands for byte i."""
    keep = [b for b in range(256) if 33 <= b <= 126 or 161 <= b <= 172 or 174 <= b <= 255]
    table, extra = {b: chr(b) for b in keep}, 0
    for b in range(256):
        if b not in table:
            table[b] = chr(256 + extra)
            extra += 1
    return [table[b] for b in range(256)]


def learn_merges(words, count, taken):
    """Byte-pair training. words: Counter of tuples of symbols. Returns [(left, right)]."""
    merges = []
    while len(merges) < count:
        pairs = Counter()
        for word, times in words.items():
            for pair in zip(word, word[1:]):
                pairs[pair] += times
        pairs = {p: n for p, n in pairs.items() if p[0] + p[1] not in taken}
        if not pairs:
            break
        best = max(pairs, key=lambda p: (pairs[p], p))
        taken.add(best[0] + best[1])
        merges.append(best)
        words = apply_merge(words, best)
    return merges


def apply_merge(words, pair):
    out = Counter()
    for word, times in words.items():
        joined, i = [], 0
        while i < len(word):
            if i + 1 < len(word) and (word[i], word[i + 1]) == pair:
                joined.append(word[i] + word[i + 1])
                i += 2
            else:
                joined.append(word[i])
                i += 1
        out[tuple(joined)] += times
    return out


def sample_words(blank):
    return Counter(tuple(blank + w) for w in SAMPLE.split())


LETTERS = "etaoinshrdlucmfwypvbgkqjxz"


def letter_strings(blank):
    """Endless supply for huge vocabularies: (piece, splits into two earlier pieces)."""
    pairs = [a + b for a in LETTERS for b in LETTERS]
    for a in LETTERS:
        yield blank + a, [(blank, a)]
    for p in pairs:
        yield p, [(p[0], p[1])]
    for p in pairs:
        yield blank + p, [(blank, p), (blank + p[0], p[1])]
    for p in pairs:
        for c in LETTERS:
            yield p + c, [(p, c), (p[0], p[1] + c)]
    for p in pairs:
        for q in pairs:
            yield p + q, [(p, q), (p + q[0], q[1]), (p[0], p[1] + q)]


def grow(pieces, merges, size, blank):
    """Fills `pieces` up to `size` with letter strings and lists all their splits as merges."""
    seen = set(pieces)
    supply = letter_strings(blank)
    while len(pieces) < size:
        piece, splits = next(supply)
        if piece not in seen:
            seen.add(piece)
            pieces.append(piece)
            merges.extend(splits)


def put_bpe(meta, size, pre="qwen2", add_bos=False):
    """Byte-level BPE of `size` tokens with its special tokens last. Returns their ids by text."""
    alphabet = byte_alphabet()
    pieces = list(alphabet)
    room = size - len(pieces) - len(SPECIAL_BPE)
    if room < 0:
        raise ValueError("a byte-level vocabulary needs at least %d tokens"
                         % (len(pieces) + len(SPECIAL_BPE)))
    merges = learn_merges(sample_words(alphabet[32]), min(room, 700), set(pieces))
    pieces += [a + b for a, b in merges]
    grow(pieces, merges, size - len(SPECIAL_BPE), alphabet[32])
    kinds = [NORMAL] * len(pieces) + [kind for _, kind in SPECIAL_BPE]
    ids = {text: len(pieces) + i for i, (text, _) in enumerate(SPECIAL_BPE)}
    pieces += [text for text, _ in SPECIAL_BPE]
    meta.put("tokenizer.ggml.model", gguf.STRING, "gpt2")
    meta.put("tokenizer.ggml.pre", gguf.STRING, pre)
    meta.put_array("tokenizer.ggml.tokens", gguf.STRING, pieces)
    meta.put_array("tokenizer.ggml.token_type", gguf.I32, kinds)
    meta.put_array("tokenizer.ggml.merges", gguf.STRING, [a + " " + b for a, b in merges])
    meta.put("tokenizer.ggml.bos_token_id", gguf.U32, ids["<|endoftext|>"])
    meta.put("tokenizer.ggml.eos_token_id", gguf.U32, ids["<|im_end|>"])
    meta.put("tokenizer.ggml.add_bos_token", gguf.BOOL, add_bos)
    return ids


def put_spm(meta, size, add_bos=True, model="llama"):
    """SPM with byte tokens: <unk> <s> </s>, 256 bytes, merged pieces, then single characters.
    Of model gemma4: the same pieces, put together by a list of merges instead of by scores."""
    pieces = [text for text, _ in SPECIAL_SPM] + ["<0x%02X>" % b for b in range(256)]
    kinds = [kind for _, kind in SPECIAL_SPM] + [BYTE] * 256
    fixed = len(pieces)
    singles = [SPM_BLANK] + sorted(set("".join(SAMPLE.split())) | set(LETTERS))
    room = size - fixed - len(singles)
    if room < 0:
        raise ValueError("an SPM vocabulary needs at least %d tokens" % (fixed + len(singles)))
    merged = learn_merges(sample_words(SPM_BLANK), min(room, 700), set(singles))
    pieces += [a + b for a, b in merged]
    grow(pieces, merged, size - len(singles), SPM_BLANK)
    pieces = list(dict.fromkeys(pieces + singles))
    while len(pieces) < size:                    # `grow` may have made a single character
        pieces.append("<unused%d>" % len(pieces))
    kinds += [UNUSED if p.startswith("<unused") else NORMAL for p in pieces[fixed:]]
    scores = [0.0] * fixed + [-float(i) for i in range(len(pieces) - fixed)]
    if model == "gemma4":
        meta.put_array("tokenizer.ggml.merges", gguf.STRING, [a + " " + b for a, b in merged])
    meta.put("tokenizer.ggml.model", gguf.STRING, model)
    meta.put("tokenizer.ggml.pre", gguf.STRING, "default")
    meta.put_array("tokenizer.ggml.tokens", gguf.STRING, pieces)
    meta.put_array("tokenizer.ggml.scores", gguf.F32, scores)
    meta.put_array("tokenizer.ggml.token_type", gguf.I32, kinds)
    meta.put("tokenizer.ggml.bos_token_id", gguf.U32, 1)
    meta.put("tokenizer.ggml.eos_token_id", gguf.U32, 2)
    meta.put("tokenizer.ggml.unknown_token_id", gguf.U32, 0)
    meta.put("tokenizer.ggml.add_bos_token", gguf.BOOL, add_bos)
    return {"<s>": 1, "</s>": 2}
