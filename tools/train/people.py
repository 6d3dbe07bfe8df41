# SPDX-License-Identifier: Apache-2.0
"""Checks on written stories: is a woman "she", and are two people two?

Made for the English of the corpus, where nearly every sentence names its people; plain rules, so
they miss things. `evaluate.py` states how often they accuse the generator's own stories.
"""
import re

from pronouns import NAMES, OTHERS, SENTENCE, SEX, WORD, about

PRONOUN = re.compile(r"\b(he|she|him|his|her|himself|herself)\b", re.I)
FEMALE = {"she", "her", "herself"}
QUOTE = re.compile(r'"[^"]*"?')
FEMALE_KIND, MALE_KIND = ("girl|woman|sister|mother|grandmother|aunt", "boy|man|brother|father|grandfather|uncle")
KIND = re.compile(rf"\b({FEMALE_KIND}|{MALE_KIND})(?: is| was)?(?: named| called| was called|,)? ([A-Z][a-z]+)")


def sentences(story):
    for line in story.split("\nQ:")[0].split("\n"):
        yield from SENTENCE.split(line)


def references(story):
    """(person, pronoun) wherever the rules can tell whom a pronoun means."""
    mind = None
    for s in sentences(story):
        plain = QUOTE.sub("", s)
        marks = sorted([(m.start(), m[0]) for m in WORD.finditer(plain) if m[0] in NAMES]
                       + [(m.start(), None) for m in OTHERS.finditer(plain)])
        end = marks[0][0] if marks else len(plain)
        if mind:
            first = PRONOUN.match(plain.lstrip())
            if first and first[0] in ("He", "She"):
                yield mind, first[0].lower()
        if marks and marks[0][1] in SEX:
            stop = marks[1][0] if len(marks) > 1 else len(plain)
            for m in PRONOUN.finditer(plain[end:stop]):
                yield marks[0][1], m[0].lower()
        mind = about(s)


def wrong_sex(story):
    """(pronouns that could be resolved, the wrong ones, people introduced as the other sex)."""
    found = list(references(story))
    wrong = [(n, p) for n, p in found if (SEX[n] == "she") != (p in FEMALE)]
    odd = [m[0] for m in KIND.finditer(story)
           if m[2] in SEX and (SEX[m[2]] == "she") != bool(re.fullmatch(FEMALE_KIND, m[1]))]
    return found, wrong, odd


def doubles(story):
    """Clauses or lines of speech with one name for two people ("Tom showed it to Tom.")."""
    out = []
    for s in sentences(story):
        for part in [s] if '"' in s else re.split("[,:]", s):
            names = [m[0] for m in WORD.finditer(part) if m[0] in NAMES]
            if len(names) > len(set(names)):
                out.append(part.strip())
    return out
