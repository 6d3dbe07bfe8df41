# SPDX-License-Identifier: Apache-2.0
"""Sentences shared by all plots: openings, weather, feelings, speech, walks, endings.

Each function returns one or more whole sentences without a blank at either end.
"""
import words as W
from world import a, cap


def meet(w, p, place=None):
    """Introduce a person: the first sentence that names them."""
    c = w.c
    if p.name in w.known:
        return c(f"Some time later {p} had another adventure.", f"This is one more story about {p}.",
                 f"Soon something new happened to {p}.", f"You know {p} already.", f"But the story of {p} goes on.")
    trait = w.fresh(W.TRAITS)
    where = f"in {w.c(*W.VILLAGES)}" if place is None else c("near", "close to", "not far from") + " " + place.the
    kind = p.kind
    lived = c("lived", "grew up", "lived all year", "had a little house", "lived in a small house")
    if hasattr(p, "does"):
        return c(f"There was {a(kind)} named {p} who {p.does}.",
                 f"Once there was {a(trait + ' ' + kind)} called {p}. {p.He} {p.does}.",
                 f"In {c(*W.VILLAGES)} lived {a(kind)} named {p} who {p.does}.",
                 f"Long ago {a(kind)} named {p} {p.does}. {p} was {trait}.")
    return c(f"Once there was {a(trait + ' ' + kind)} named {p}. {p} {lived} {where}.",
             f"There was once {a(kind)} called {p}. {p} was {trait}.",
             f"Once upon a time there lived {a(kind)} named {p}. Everyone knew that {p} was {trait}.",
             f"{cap(a(trait + ' ' + kind))} named {p} {lived} {where}.",
             f"This is the story of {a(kind)} named {p}, who {lived} {where}.",
             f"Once there was {a(kind)} named {p} who was very {trait}.",
             f"There was {a(kind)} in {c(*W.VILLAGES)} whose name was {p}.",
             f"Once upon a time, {where}, there lived {a(trait + ' ' + kind)} named {p}.")


def also(w, p, other):
    """Introduce a second person next to one who is known."""
    c = w.c
    if p.name in w.known:
        return c(f"{p} was there too.", f"{other} was with {p}, as so often.", f"{other} thought of {other.his} {p.kind} {p}.")
    if hasattr(p, "does"):
        return c(f"Not far away lived {p}, the {p.kind}, who {p.does}.",
                 f"{other} knew {p}, the {p.kind}.",
                 f"Next door lived {a(p.kind)} called {p}.")
    return c(f"{cap(other.his)} {p.kind} was called {p}.",
             f"{other} had {a(p.kind)} named {p}.",
             f"{other} was often with {other.his} {p.kind} {p}.",
             f"{cap(other.his)} {p.kind} {p} lived {c('in the same house', 'next door', 'across the street')}.",
             f"{other} liked {other.his} {p.kind} {p} very much.")


def weather(w):
    return w.c(*W.WEATHER)[0]


def when(w):
    return w.c(*W.TIMES)[0]


def scenery(w, place):
    """A sentence on how a place looks."""
    i = int(w.rng.random() * len(place.details))
    detail = place.details.pop(i) if len(place.details) > 1 else place.details[0]
    return w.c(f"{cap(place.at)}, {detail}.", f"{cap(detail)}.", f"{cap(detail)}.",
               f"It was {w.c('quiet', 'lovely', 'cool', 'still')} {place.at}, and {detail}.")


def feel(w, p, *wanted):
    """How a person feels, in one sentence."""
    word, body, syn = w.feeling(*wanted)
    return w.c(f"{p} was {word}.", f"{p} felt {word}.", f"{p} was so {word} that {p.he} {body}.",
               f"{p} {body}, because {p.he} was {word}.", f"{p} {body}.", f"{p} felt {syn} and {body}.",
               f"That made {p} {word}.", f"{p} was {syn}, and {p.he} {body}.")


def walk(w, p, place, who=None):
    """Somebody goes to a place; who replaces the name as subject."""
    who = who or str(p)
    c = w.c
    how = c("walked", "went", "ran", "hurried", "set out", "made the long way", "walked slowly", "rode")
    when_ = c("", "", " before the sun was up", " in the rain", " without a word", " with quick steps",
              " after breakfast", " as fast as possible", " hand in hand with nobody but the wind")
    if how == "made the long way":
        when_ = ""
    return f"{cap(who)} {how} {'to' if how != 'set out' else 'for'} {place.the}{when_}."


def say(w, p, text):
    """A line of speech with its speaker. Text has no full stop."""
    end = "" if text[-1] in "?!" else ","
    if text[-1] == "?":
        verb = w.c("asked", "asked", "asked", "said")
        return f'"{text}" {verb} {p}.'
    verb = w.c("said", "said", "said", "said", "called", "cried", "whispered")
    if w.chance(0.2):
        dot = "" if text[-1] in "?!" else "."
        return f'{p} {verb}, "{text}{dot}"'
    return f'"{text}{end}" {verb} {p}.'


def thank(w, p, other):
    return say(w, p, w.c(f"Thank you, {other}", f"Thank you so much, {other}!", f"How kind you are, {other}",
                         f"I will never forget this, {other}", f"You are a true friend, {other}",
                         f"Bless you, {other}!", f"What would I do without you, {other}?"))


def praise(w, p, other):
    return say(w, p, w.c(f"Well done, {other}!", f"You did well, {other}", f"That was clever, {other}",
                         f"I am proud of you, {other}", f"You are braver than I thought, {other}",
                         f"Good work, {other}!", f"I knew you could do it, {other}"))


def agree(w, p):
    return say(w, p, w.c("Yes", "Of course", "Why not?", "Gladly", "Let us try", "That is a good idea",
                         "I will do it", "I was just thinking the same", "All right", "With pleasure"))


def think(w, p):
    """A thought before acting."""
    return w.c(f"{p} thought for a long time.", f"{p} did not know what to do.", f"{p} had an idea.",
               f"Then {p} had a plan.", f"{p} sat down to think.", f"{p} did not give up.",
               f"At first {p} wanted to go home, but then {p.he} had an idea.",
               f'"What now?" thought {p}.', f"{p} thought hard.", f"All night {p} lay awake and thought.")


def wait(w):
    return w.c("Nothing happened for a while.", "An hour went by.", "The clock struck three.",
               "Days went by.", "A week later everything was different.", "Soon it grew dark.",
               "The moon came up.", "It took a long time.", "Then came the next morning.",
               "The shadows grew long.", "The bells rang in the valley.")


def ending(w, p, q=None):
    """The last sentences of a story."""
    c = w.c
    pair = f"{p} and {q}" if q else str(p)
    both = "they" if q else p.he
    return c(f"From that day on, {pair} {'were' if q else 'was'} never {c('lonely', 'bored', 'afraid')} again.",
             f"That night {p} slept {c('well', 'deeply', 'like a stone')}.",
             f"And {pair} never forgot that day.",
             f"{pair} laughed about it for many years.",
             f"{pair} went home, tired and {c('happy', 'glad', 'content')}.",
             f"In the evening {pair} sat by the fire, and {both} talked about it.",
             f"So it was that {pair} learned to {c('wait', 'share', 'listen', 'trust each other', 'ask for help')}.",
             f"Everyone in {c(*W.VILLAGES)} still tells the story of {pair}.",
             f"And that is the end of the story of {pair}.",
             f"When {p} was old, {p.he} still told the story.",
             f"{pair} had {c('soup', 'cake', 'warm milk', 'bread and honey', 'a big supper')} that evening, and all was well.")


MORALS = W.rows("""
A small kindness is never lost.
He who waits gets the ripest plum.
Two heads are better than one.
Truth is the shortest road.
Help others, and others will help you.
Pride comes before a fall.
Slow and steady wins the day.
A friend in need is a friend indeed.
Those who share are never poor.
Look before you leap.
Even the smallest can be of use.
Do not count your eggs before they are laid.
Good work takes time.
Who shouts loudest is not always right.
Courage grows when it is used.
It is never too late to say sorry.
""")


def moral(w):
    return w.c(*MORALS)[0]


def idle(w, p):
    """A harmless everyday sentence about a person, to vary the text."""
    c = w.c
    food, food2 = w.fresh(W.FOODS), w.fresh(W.FOODS)
    return c(f"{p} ate {food} with {food2}.", f"{p} drank a cup of tea.",
             f"{p} liked {food} more than {food2}.",
             f"{p} put on {p.his} shoes and went outside.",
             f"{p} washed {p.his} hands and sat down at the table.",
             f"{p} hummed an old song.", f"{p} looked out of the window.",
             f"{p} opened the door and looked at the sky.",
             f"{p} picked a {c(*W.FLOWERS)} and smelled it.",
             f"{p} sat down under {a(c('tall', 'shady', 'big', 'bare') + ' ' + c(*W.TREES))}.",
             f"{p} counted to {c(*W.NUMBERS)}.", f"{p} had {food} for breakfast.",
             f"{p} could not sleep, so {p.he} read a little.",
             f"{p} swept the floor and fed the hens.")
