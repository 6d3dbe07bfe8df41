# SPDX-License-Identifier: Apache-2.0
"""Says "he" or "she" instead of a name that the sentence before has just made clear.

The plots name people in nearly every sentence, which leaves about 5 pronouns in 1,000 tokens:
too few for a small model to learn whom they mean.
"""
import re

import words as W

SEX = {n: "she" for n in W.GIRLS} | {n: "he" for n in W.BOYS}
NAMES = SEX.keys() | set(W.PETS)
WORD = re.compile(r"[A-Z][a-z]+")
SENTENCE = re.compile(r'(?<=[.!?]) (?=["A-Z])|(?<=[.!?]") (?=["A-Z])')
SUBJECT = re.compile(r"([A-Z][a-z]+) (?!and\b)(?=[a-z])")
SPEAKER = re.compile(r'^("[^"]*") (said|asked|called|cried|whispered) ([A-Z][a-z]+)\.$')
# Somebody else who could be meant, unless this is how the named one is introduced.
OTHERS = re.compile(r"\b(man|woman|boy|girl|king|queen|giant|stranger|child|somebody|nobody|everyone|they|we|"
                    + "|".join(r[0] for r in W.KIN + W.TRADES) + r")\b", re.I)
INTRODUCED = re.compile(r"\b(named|called|whose name was|was called)\b")
CHAIN = 2       # so many pronouns in a row at most


def about(sentence):
    """The one person that a sentence leaves in mind, or None."""
    found = {m[0] for m in WORD.finditer(sentence)} & NAMES
    if len(found) != 1 or (OTHERS.search(sentence) and not INTRODUCED.search(sentence)):
        return None
    name = found.pop()
    return name if name in SEX else None


def replaced(sentence, name):
    """The sentence with the pronoun for its subject or speaker, or None where it does not fit."""
    he = SEX[name]
    m = SUBJECT.match(sentence)
    if m and m[1] == name:
        return he.capitalize() + sentence[len(name):]
    m = SPEAKER.match(sentence)
    if m and m[3] == name and name not in m[1]:
        return f"{m[1]} {he} {m[2]}."
    return None


def pronouns(rng, text, share):
    """Replace that share of the names that could be replaced."""
    lines = []
    for line in text.split("\n"):
        out, mind, chain = [], None, 0
        for s in SENTENCE.split(line):
            new = replaced(s, mind) if mind and chain < CHAIN and rng.random() < share else None
            named = {m[0] for m in WORD.finditer(s)} & NAMES
            # After "She gave it to Tom." both are in mind, so a pronoun keeps nobody.
            mind = mind if new and named == {mind} else about(s)
            chain = chain + 1 if new else 0
            out.append(new or s)
        lines.append(" ".join(out))
    return "\n".join(lines)
