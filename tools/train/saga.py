# SPDX-License-Identifier: Apache-2.0
"""Long documents: several plots with one hero and the same relatives."""
import plots
from world import World

# Plots whose first person is a child that beats.meet introduces.
CHAPTERS = (plots.lost_thing, plots.repair, plots.gift, plots.rescue, plots.treasure, plots.sick_friend, plots.seed,
            plots.quarrel, plots.broken_pot, plots.market_day, plots.night_noise, plots.learn_skill, plots.kite_tree,
            plots.snow_day, plots.shopping, plots.well, plots.star_night, plots.train_trip, plots.new_child)


class Saga(World):
    """A World that gives every chapter the same hero and a small family."""

    def __init__(self, rng):
        super().__init__(rng)
        self.hero, self.family, self.hero_given = None, [], False

    def chapter(self):
        """Begin a chapter: things and places may return, people stay known."""
        self.used = {p.name for p in self.family}
        if self.hero:
            self.used.add(self.hero.name)
            self.known = {self.hero.name} | {p.name for p in self.family}
        self.hero_given = False

    def person(self, kind="child", female=None):
        if kind != "child" or self.hero_given:
            return super().person(kind, female)
        self.hero_given = True
        if self.hero is None:
            self.hero = super().person(kind, female)
        return self.hero

    def kin(self, child):
        if child is not self.hero:
            return super().kin(child)
        if len(self.family) < 2:
            p = super().kin(child)
            while p.kind in (q.kind for q in self.family):
                p = super().kin(child)
            self.family.append(p)
            return p
        return self.c(*self.family)


def saga(rng, chapters):
    """(text, facts) of a story in chapters."""
    w = Saga(rng)
    parts = []
    for i, plot in enumerate(rng.sample(CHAPTERS, chapters)):
        w.chapter()
        parts.append(f"Chapter {i + 1}\n" + " ".join(plot(w)))
    return "\n".join(parts), w.facts
