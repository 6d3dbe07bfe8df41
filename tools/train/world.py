# SPDX-License-Identifier: Apache-2.0
"""The simulated state behind one generated document.

A World hands out people, animals, things and places, each at most once, and
remembers facts (question, answer) about them, so that a question line at the
end of a document always agrees with its text.
"""
import words as W


def a(noun):
    """Put the right indefinite article before a noun phrase."""
    return ("an " if noun[0] in "aeiou" and not noun.startswith(("uni", "one")) or noun.startswith(("hour", "honest")) else "a ") + noun


def cap(text):
    """Raise the first letter, also behind an opening quotation mark."""
    for i, ch in enumerate(text):
        if ch.isalpha():
            return text[:i] + ch.upper() + text[i + 1:]
    return text


class Person:
    """Somebody with a name; prints as that name."""

    def __init__(self, name, female, kind):
        self.name, self.female, self.kind = name, female, kind
        self.he, self.him, self.his = ("she", "her", "her") if female else ("he", "him", "his")
        self.He, self.His = cap(self.he), cap(self.his)

    def __str__(self):
        return self.name


class Animal(Person):
    """An animal with a name and a species."""

    def __init__(self, name, female, row):
        super().__init__(name, female, row[0])
        _, self.sound, self.home, self.food, self.moved = row


class Thing:
    """A key thing; prints as its bare noun."""

    def __init__(self, noun, adj):
        self.noun, self.adj = noun, adj
        self.full = f"{adj} {noun}"
        self.a = a(self.full)
        self.the = f"the {noun}"
        self.thefull = f"the {self.full}"

    def __str__(self):
        return self.noun


class Place:
    """A place with its preposition and three details of scenery."""

    def __init__(self, row):
        self.noun, self.prep = row[0], row[1]
        self.details = list(row[2:])
        self.at = f"{row[1]} the {row[0]}"
        self.the = f"the {row[0]}"

    def __str__(self):
        return self.noun


class World:
    """State and random choices of one document."""

    def __init__(self, rng):
        self.rng = rng
        self.used = set()
        self.facts = []
        self.known = frozenset()  # names that earlier chapters have introduced

    def c(self, *options):
        """One of the options."""
        return options[int(self.rng.random() * len(options))]

    def chance(self, p):
        """True with probability p."""
        return self.rng.random() < p

    def fresh(self, pool):
        """An entry of the pool not used in this document."""
        while True:
            x = pool[int(self.rng.random() * len(pool))]
            key = x if isinstance(x, str) else x[0]
            if key not in self.used:
                self.used.add(key)
                return x

    def fact(self, question, answer):
        """Remember a question that the text answers; the answer is a bare noun or name."""
        self.facts.append((question, str(answer)))

    def person(self, kind="child", female=None):
        if female is None:
            female = self.chance(0.5)
        if kind in ("child", "adult", "old"):
            word = {"child": ("girl", "boy"), "adult": ("woman", "man"),
                    "old": ("old woman", "old man")}[kind][0 if female else 1]
        else:
            word = kind
        return Person(self.fresh(W.GIRLS if female else W.BOYS), female, word)

    def kin(self, child):
        """A relative or friend of a child; kind holds the relation."""
        word, sex = self.fresh(W.KIN)
        female = self.chance(0.5) if sex == "any" else sex in ("girl", "woman")
        return Person(self.fresh(W.GIRLS if female else W.BOYS), female, word)

    def trader(self):
        """A grown person with a trade."""
        row = self.fresh(W.TRADES)
        p = self.person(row[0])
        p.does, p.tool, p.gives, p.shop = row[1:]
        return p

    def animal(self, species=None):
        rows = [r for r in W.ANIMALS if r[0] in species] if species else W.ANIMALS
        pool = W.PETS if self.chance(0.5) else (W.GIRLS if self.chance(0.5) else W.BOYS)
        female = pool is W.GIRLS or (pool is W.PETS and self.chance(0.5))
        return Animal(self.fresh(pool), female, self.fresh(rows))

    def thing(self, kinds=None):
        rows = [r for r in W.KEY_THINGS if r[1] in kinds] if kinds else W.KEY_THINGS
        noun, kind = self.fresh(rows)
        return Thing(noun, self.fresh(W.STUFF_ADJ[kind]))

    def out(self):
        return Place(self.fresh(W.OUT_PLACES))

    def inside(self):
        return Place(self.fresh(W.IN_PLACES))

    def place(self):
        return self.out() if self.chance(0.6) else self.inside()

    def hiding(self):
        return self.fresh(W.HIDING)[0]

    def feeling(self, *wanted):
        rows = [r for r in W.FEELINGS if r[0] in wanted] if wanted else W.FEELINGS
        return rows[int(self.rng.random() * len(rows))]
