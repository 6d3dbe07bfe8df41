# SPDX-License-Identifier: Apache-2.0
"""The kinds of text beside stories: small facts, dialogues, letters, how-tos, lists ...

Each function takes a World and returns the text of one document without its
question lines; facts go into the World.
"""
import words as W
import beats as B
from world import a, cap


def join(names):
    return ", ".join(str(n) for n in names[:-1]) + " and " + str(names[-1])


def shuffled(w, items):
    items = list(items)
    w.rng.shuffle(items)
    return items


def have(w):
    """Who has what; the shortest text that asks for a name."""
    n = 2 + int(w.rng.random() * 3)
    ps, ts = [w.person() for _ in range(n)], [w.thing() for _ in range(n)]
    verb = w.c("has", "holds", "carries", "owns", "wants", "likes", "found", "made", "bought", "sold", "drew")
    past = {"has": "has", "holds": "holds", "carries": "carries", "owns": "owns", "wants": "wants", "likes": "likes"}.get(verb, verb)
    base = {"has": "have", "holds": "hold", "carries": "carry", "owns": "own", "wants": "want", "likes": "like",
            "found": "find", "made": "make", "bought": "buy", "sold": "sell", "drew": "draw"}[verb]
    aux = "does" if verb in ("has", "holds", "carries", "owns", "wants", "likes") else "did"
    for p, t in zip(ps, ts):
        w.fact(f"Who {verb} the {t}?", p)
        w.fact(f"What {aux} {p} {base}?", t)
    lead = w.c("", "", f"{cap(W.NUMBERS[n - 2])} children sit in a row. ", f"{join(ps)} are friends. ")
    return lead + " ".join(f"{p} {past} {t.a}." for p, t in zip(ps, ts))


def where_is(w):
    """People move between rooms; the last place counts."""
    n = 2 + int(w.rng.random() * 2)
    ps = [w.person() for _ in range(n)]
    at, out = {}, []
    places = [w.place() for _ in range(n + 1)]
    for p in shuffled(w, ps + ps[:2]):
        place = w.c(*places)
        while at.get(p) is place:
            place = w.c(*places)
        verb = w.c("went", "walked", "ran", "came") if p not in at else w.c("went on", "moved", "walked on")
        at[p] = place
        out.append(f"{w.c('', '', 'Then ', 'Later ') if out else ''}{p} {verb} to {place.the}.")
    for p in ps:
        w.fact(f"Where is {p}?", at[p])
    return " ".join(out)


def passing(w):
    """A thing goes from hand to hand."""
    ps = [w.person() for _ in range(3 + int(w.rng.random() * 2))]
    t = w.thing()
    out = [w.c(f"{ps[0]} had {t.a}.", f"{ps[0]} found {t.a} in the grass.", f"{ps[0]} bought {t.a} at the market.")]
    for p, q in zip(ps, ps[1:]):
        out.append(w.c(f"{p} gave the {t} to {q}.", f"Then {p} gave the {t} to {q}.", f"{q} took the {t} from {p}.",
                       f"{p} sold the {t} to {q}.", f"{p} handed the {t} to {q}.", f"{q} asked for the {t}, and {p} gave it to {q.him}."))
        w.fact(f"Who got the {t} from {p}?", q)
    w.fact(f"Who has the {t} now?", ps[-1])
    w.fact(f"Who had the {t} first?", ps[0])
    w.fact(f"What did {ps[0]} give away?", t)
    return " ".join(out)


def families(w):
    """Relations between people."""
    p = w.person()
    rel = [w.kin(p) for _ in range(2 + int(w.rng.random() * 2))]
    for r in rel:
        w.fact(f"Who is {p}'s {r.kind}?", r)
    w.fact(f"What is the name of the {p.kind}?", p)
    pet = w.animal(("dog", "cat", "pony", "parrot", "rabbit", "goat", "turtle", "mouse"))
    w.fact(f"What is the {pet.kind} called?", pet)
    return (f"The {p.kind} in this house is {p}. " + " ".join(
        w.c(f"{p}'s {r.kind} is {r}.", f"{r} is {p}'s {r.kind}.", f"{p} has {a(r.kind)}, and {r.his} name is {r}.") for r in rel)
        + f" {w.c('They have', p.name + ' has')} {a(pet.kind)} called {pet}. " + w.c(
            f"{pet} likes {pet.food}.", f"{pet} sleeps {w.hiding()}.", f"{p} feeds {pet} every morning."))


def colours(w):
    """Things and their colours."""
    n = 3 + int(w.rng.random() * 2)
    ts = [w.thing(("cloth", "toy", "wood")) for _ in range(n)]
    cols = shuffled(w, W.COLOURS)[:n]
    p = w.person()
    for t, col in zip(ts, cols):
        w.fact(f"What colour is the {t}?", col)
        w.fact(f"Which thing is {col}?", t)
    return (f"{p} has {join([a(t.noun) for t in ts])}. ".replace(f"{p} has", w.c(f"{p} has", f"In the room of {p} there are"))
            + " ".join(f"The {t} is {col}." for t, col in zip(ts, cols)))


def roll(w):
    """Lists that are said twice: names, things or foods."""
    n = 4 + int(w.rng.random() * 5)
    p = w.person("teacher")
    what = w.c("names", "names", "things", "food")
    if what == "names":
        items = [w.person() for _ in range(n)]
        w.fact("Who comes first?", items[0])
        w.fact("Who comes last?", items[-1])
        i = int(w.rng.random() * (n - 1))
        w.fact(f"Who comes after {items[i]}?", items[i + 1])
        return (f"The teacher, {p}, read the names: {', '.join(map(str, items))}. "
                + w.c("Nobody was missing. ", "The children stood in a line. ", "") +
                f"Then {p} read them again: {', '.join(map(str, items))}. " + w.c(
                    "And once more: " + ", ".join(map(str, items)) + ".", f"The first was {items[0]}, and the last was {items[-1]}."))
    pool = [w.thing().noun for _ in range(n)] if what == "things" else [w.fresh(W.FOODS) for _ in range(n)]
    q = w.person()
    w.fact("Who wrote the list?", q)
    w.fact("What comes first on the list?", pool[0])
    w.fact("What comes last on the list?", pool[-1])
    return (f"{q} wrote a list: {', '.join(pool)}. " + w.c(f"{q} read it to {p}: ", f"On the way {q} said it again: ", "It was a long list: ")
            + ", ".join(pool) + ". " + w.c(f"Then {p} said it too: {', '.join(pool)}.", f"{p} wrote it down: {', '.join(pool)}.",
                                          f"The first was {pool[0]}, and the last was {pool[-1]}."))


def dialogue(w):
    """Two people talk; each keeps a wish, a trade and a place."""
    p, q = w.trader(), w.trader()
    t, place, food = w.thing(), w.out(), w.fresh(W.FOODS)
    w.fact(f"Who is the {p.kind}?", p)
    w.fact(f"Who is the {q.kind}?", q)
    w.fact(f"What did {p} lose?", t)
    w.fact(f"Where did {q} see the {t}?", place)
    greet = w.c("Good morning", "Good evening", "Good day", "Hello")
    out = [f"{cap(a(p.kind))} named {p} met {a(q.kind)} named {q} on the road.",
           f'"{greet}, {q}!" said {p}.', f'"{greet}, {p}!" said {q}. "{w.c("How are you?", "What is new?", "You look worried.", "Where are you going?")}"',
           f'"I have lost my {t.full}," said {p}.', f'"{w.c("When did you lose it?", "How did that happen?", "Was it dear to you?")}" asked {q}.',
           '"' + w.c("It was there this morning", "I had it yesterday", "It fell out of my pocket") + f'," said {p}.',
           f'"I saw {a(t.noun)} {place.at}," said {q}.', f'"{w.c("Really?", "Are you sure?", "Was it mine?")}" asked {p}.',
           f'"It was {t.adj}, just like yours," said {q}.', f'"Then I will go to {place.the} at once," said {p}. "Thank you, {q}!"',
           f'"{w.c("Good luck", "Do not hurry so", "Bring me some " + food)}, {p}!" said {q}.']
    return w.c(" ", "\n").join(out)


def chat(w):
    """A short chat about likes and plans."""
    p, q = w.person(), w.person()
    f1, f2 = w.fresh(W.FOODS), w.fresh(W.FOODS)
    pl, t = w.place(), w.thing()
    w.fact(f"Who likes {f1}?", p)
    w.fact(f"Who likes {f2}?", q)
    w.fact(f"Where will {p} and {q} go?", pl)
    w.fact(f"What will {q} bring?", t)
    return (f"{p} and {q} sat on {w.c('a bench', 'the steps', 'a wall', 'the grass')}. " + f'"What do you like best, {q}?" asked {p}. "I like {f2}," said {q}. '
            f'"And you, {p}?" "I like {f1}," said {p}. ' + f'"Shall we go to {pl.the} tomorrow?" asked {q}. ' + B.agree(w, p) +
            f' "Then I will bring my {t.full}," said {q}. ' + w.c(f"{p} smiled.", f"So {p} and {q} had a plan.", f"The next day {p} and {q} went to {pl.the}."))


def letter(w):
    p, q = w.person(), w.person("adult")
    town, place, t, x = w.fresh(W.VILLAGES), w.out(), w.thing(), w.animal()
    food = w.fresh(W.FOODS)
    w.fact("Who wrote the letter?", p)
    w.fact("Who got the letter?", q)
    w.fact(f"Where is {p}?", town)
    w.fact(f"What did {q} send?", t)
    w.fact(f"What is the {x.kind} called?", x)
    pet = f"Here lives {a(x.kind)} called {x}. Every morning {x} gets some {x.food} from me."
    rest = shuffled(w, [f"We went to {place.the} on {w.c('Monday', 'Sunday', 'Friday', 'Tuesday')}. {cap(w.c(*place.details))}.",
                        f"Every day I eat {food}, and I like it.", B.weather(w),
                        f"Yesterday I {w.c('climbed a tree', 'swam in the lake', 'read a whole book', 'helped in the garden', 'fell into the pond', 'learned a song')}."])
    body = shuffled(w, [pet] + rest[:2])
    return (f"Dear {q},\nI am writing to you from {town}. Thank you for the {t.full} that you sent me. {' '.join(body)} "
            + w.c(f"Please come and see me, {q}!", "I will be home next week.", "Please write soon.", f"I think of you often, {q}.")
            + f"\nYour {w.c('friend', 'old friend', 'true friend')},\n {p}")


def diary(w):
    p = w.person()
    q, x, place = w.kin(p), w.animal(), w.place()
    w.fact("Who wrote this diary?", p)
    w.fact(f"Who went to {place.the} with {p}?", q)
    w.fact(f"What was the name of the {x.kind}?", x)
    return (f"The diary of {p}\n{w.c('Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday')}: {B.weather(w)} I went to {place.the} with my {q.kind} {q}. "
            f"{cap(w.c(*place.details))}. We saw {a(x.kind)}. {q} called it {x}.\n"
            f"{w.c('Saturday', 'Sunday')}: {w.c('I could not stop thinking of ' + x.name + '.', 'I dreamed of ' + x.name + '.')} "
            f"I went back with some {x.food}, and {x} {x.moved} up to me. {q} {w.c('laughed', 'was glad', 'did not believe it', 'took a picture')}.")


HOWTO = (
    ("make a kite", "two sticks|a sheet of paper|some string|a pot of glue", "Tie the two sticks into a cross.|Glue the paper over the sticks.|Tie the string to the middle.|Wait for a windy day and run."),
    ("plant a tree", "a young tree|a spade|a bucket of water|a strong stick", "Dig a deep hole.|Set the tree into the hole.|Fill the hole with earth and press it down with your foot.|Tie the tree to the stick and give it water."),
    ("bake bread", "flour|water|a little salt|some yeast", "Mix the flour with the water, the salt and the yeast.|Press the dough with both hands.|Leave it in a warm place for an hour.|Bake it until it is brown."),
    ("make soup", "three carrots|two onions|a big potato|a pinch of salt", "Wash the carrots and cut them.|Cut the onions and the potato.|Put everything into a pot with water.|Boil it slowly and add the salt."),
    ("clean a window", "a bucket of warm water|a soft cloth|some soap|an old newspaper", "Put the soap into the warm water.|Wash the glass with the cloth.|Dry it with the newspaper.|Look through it and smile."),
    ("build a bird house", "six small boards|a hammer|some nails|a saw", "Saw the boards to the right size.|Cut a round hole into one board.|Nail the boards together.|Hang the house in a tree before spring."),
    ("make tea", "a kettle|fresh water|some tea leaves|a cup", "Fill the kettle with fresh water and boil it.|Put the tea leaves into a pot.|Pour the hot water over the leaves.|Wait for four minutes and fill the cup."),
    ("wash a dog", "a big tub|warm water|some soap|a dry towel", "Fill the tub with warm water.|Set the dog into the tub and speak softly.|Rub the soap into its coat and rinse it.|Dry the dog with the towel, and step back when it shakes."),
    ("light a fire", "dry wood|some small twigs|old paper|a match", "Put the paper on the ground.|Build a little tent of twigs over it.|Light the paper with the match.|Add the dry wood, one piece after another."),
    ("sew on a button", "a needle|a long thread|a button|a pair of scissors", "Pull the thread through the needle.|Hold the button in its place.|Go up and down through the holes six times.|Make a knot and cut the thread."),
    ("grow beans", "a handful of beans|a pot of earth|a long pole|some water", "Put the beans into the earth, one finger deep.|Water them every day.|Set the pole beside them when they begin to climb.|Pick the beans when they are as long as your hand."),
    ("make a paper boat", "a sheet of paper|two clean hands|a flat table|a bowl of water", "Fold the paper in the middle.|Fold the two upper corners down.|Fold up the edges on both sides.|Pull the sides apart and set the boat on the water."),
    ("paint a fence", "a can of paint|a wide brush|an old shirt|a dry day", "Put on the old shirt.|Brush the dirt off the boards.|Paint from the top to the bottom.|Let it dry, and do not lean on it."),
    ("mend a hole in a sock", "a thick needle|some wool|a wooden egg|a good lamp", "Put the egg into the sock.|Sew threads across the hole, side by side.|Go over and under with a second row.|Cut the wool and try on the sock."),
    ("make butter", "a jar with a lid|some cream|a pinch of salt|two strong arms", "Pour the cream into the jar.|Close the lid and shake the jar.|Shake it until a lump has formed.|Pour off the milk and add the salt."),
    ("write a letter", "a sheet of paper|a pen|an envelope|a stamp", "Write the name of your friend at the top.|Tell what you have seen and done.|Put your own name at the bottom.|Fold the sheet, close the envelope and add the stamp."),
    ("cook rice", "a cup of rice|two cups of water|a pot with a lid|a little salt", "Wash the rice in cold water.|Bring the two cups of water to the boil.|Add the rice and the salt and close the lid.|Wait until the water is gone."),
    ("make a scarecrow", "two poles|an old coat|a hat|a sack of straw", "Tie the poles into a cross.|Put the coat over the cross.|Fill the coat with straw.|Set the hat on top and turn it to the wind."),
)


def howto(w):
    task, need, steps = w.c(*HOWTO)
    need, steps = need.split("|"), steps.split("|")
    p = w.person()
    w.fact(f"Who can {task}?", p)
    w.fact("What is made here?" if task.startswith(("make", "build", "bake")) else "What does the text tell?", task)
    if w.chance(0.5):
        head = f"How to {task}\nYou need {join(need)}.\n"
        body = "\n".join(f"{i + 1}. {s}" for i, s in enumerate(steps))
        return head + body + w.c("\nThat is all.", f"\nAsk {p}, who can {task} very well.", "\nNow you can do it too.")
    order = ("First", "Then", "After that", "At last")
    return (f"{p} knows how to {task}. {w.c('You need', 'For that you need', p.name + ' needs')} {join(need)}. "
            + " ".join(f"{o}, {s[0].lower()}{s[1:]}" for o, s in zip(order, steps)) + f" {p} {w.c('has done it a hundred times.', 'learned it from a neighbour.', 'is glad to show it to you.')}")


def portrait(w):
    """The description of a person."""
    p = w.trader()
    t, x = w.thing(), w.animal(("dog", "cat", "parrot", "horse", "donkey", "goat"))
    hair, eyes = w.c("grey", "black", "red", "brown", "white", "long", "short", "curly"), w.c("blue", "brown", "green", "grey", "dark", "bright")
    tr1, tr2, food = w.fresh(W.TRAITS), w.fresh(W.TRAITS), w.fresh(W.FOODS)
    w.fact(f"What is the name of the {p.kind}?", p)
    w.fact(f"What is the name of the {x.kind}?", x)
    w.fact(f"What does {p} like to eat?", food)
    w.fact(f"What does {p} always carry?", t)
    return (f"{w.c('Everybody in ' + w.c(*W.VILLAGES) + ' knows', 'Who does not know', 'Let me tell you about')} {p}, the {p.kind}".replace("Who does not know", "Everyone knows") + ". " + " ".join(shuffled(w, [
        f"{p} has {hair} hair and {eyes} eyes.", f"{p} is {tr1} and {tr2}.", f"{p} always carries {t.a}.",
        f"{p} has {a(x.kind)} named {x}.", f"In the evening {p} likes to eat {food}.", f"{p} has {p.tool} and knows how to use it."])) +
        w.c(f" When {p} laughs, {x} looks up.", f" Everyone likes {p}.", f" Without {p} there would be no {p.gives}."))


def landscape(w):
    """The description of a place, with somebody in it."""
    pl, p, x = w.out(), w.person("adult"), w.animal()
    town = w.fresh(W.VILLAGES)
    w.fact("Who comes here every day?", p)
    w.fact(f"Near which town is {pl.the}?", town)
    d = shuffled(w, pl.details)
    return (f"Near {town} there is {a(pl.noun)}. {cap(d[0])}. {w.c('In spring', 'In summer', 'In autumn', 'In winter')} {d[1]}. {B.weather(w)} "
            f"{'A woman' if p.female else 'A man'} named {p} comes here every day. {p} {w.c('sits down', 'stands still', 'walks up and down')} and {w.c('listens', 'looks around', 'sings softly', 'thinks of old times')}. "
            f"Sometimes {a(x.kind)} comes out, and {p} gives it some {x.food}. {cap(d[2])}. " + w.c(f"Nobody knows the place better than {p}.", f"{p} would not change it for a palace."))


def animal_card(w):
    """Plain facts about an animal."""
    x = w.animal()
    p = w.person()
    w.fact(f"What does the {x.kind} eat?", x.food)
    w.fact(f"What is the {x.kind} called?", x)
    w.fact(f"Who owns the {x.kind}?" if x.kind in ("dog", "cat", "horse", "donkey", "cow", "goat", "pig", "hen", "pony", "parrot", "puppy", "kitten") else f"Who saw the {x.kind}?", p)
    sound = f"{x} {x.sound} loudly." if x.sound != "said nothing" else f"{x} makes no sound at all."
    own = f"{x} belongs to {p}." if x.kind in ("dog", "cat", "horse", "donkey", "cow", "goat", "pig", "hen", "pony", "parrot", "puppy", "kitten") else f"{p} saw {x} yesterday."
    return f"This is {a(x.kind)}. Its name is {x}. " + " ".join(shuffled(w, [f"The home of {x} is {a(x.home) if not x.home.startswith('the') and x.home not in ('reeds by the pond',) else x.home}.", f"{x} eats {x.food}.", f"Yesterday {sound}" if "loudly" in sound else sound, own]))


def trades_qa(w):
    """Questions and answers about trades, general knowledge of this small world."""
    out = []
    for _ in range(2 + int(w.rng.random() * 3)):
        row = w.fresh(W.TRADES)
        q, ans = w.c((f"What does {a(row[0])} have?", cap(f"{a(row[0])} has {row[2]}.")), (f"What do we get from {a(row[0])}?", f"We get {row[3]} from {a(row[0])}."),
                     (f"Where do we find {a(row[0])}?", f"We find {a(row[0])} at the {row[4]}."), (f"Who has {row[2]}?", cap(f"{a(row[0])} has {row[2]}.")))
        out.append(f"Q: {q}\nA: {ans}")
    return "\n".join(out)


def animals_qa(w):
    out = []
    for _ in range(2 + int(w.rng.random() * 3)):
        k, sound, home, food, move = w.fresh(W.ANIMALS)
        home = home if home.startswith(("the", "reeds")) else a(home)
        q, ans = w.c((f"What does {a(k)} eat?", cap(f"{a(k)} eats {food}.")), (f"Where does {a(k)} live?", f"Its home is {home}."),
                     (f"How did the {k} come?", f"The {k} {move} along."), (f"What did the {k} say?", f"The {k} {sound}."))
        out.append(f"Q: {q}\nA: {ans}")
    return "\n".join(out)


def counting(w):
    """Adding and taking away small numbers."""
    p, q = w.person(), w.person()
    food = w.c("apples", "nuts", "eggs", "pears", "plums", "shells", "buttons", "stones", "beans", "coins")
    n, m = 2 + int(w.rng.random() * 5), 1 + int(w.rng.random() * 4)
    word = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    give = w.chance(0.5)
    if not give:
        w.fact(f"How many {food} does {p} have now?", word[n + m])
        w.fact(f"Who gave {food} to {p}?", q)
        return f"{p} had {word[n]} {food}. {q} gave {p} {word[m]} more. Now {p} has {word[n + m]} {food}."
    m = min(m, n - 1)
    w.fact(f"How many {food} does {p} have now?", word[n - m])
    w.fact(f"Who got {food} from {p}?", q)
    return f"{p} had {word[n]} {food}. {p} gave {word[m]} to {q}. Now {p} has {word[n - m]} left, and {q} has {word[m]}."


def notice(w):
    """A note on the village board."""
    p, t, town, pl = w.trader(), w.thing(), w.fresh(W.VILLAGES), w.place()
    w.fact("Who wrote the notice?", p)
    w.fact("What is lost?", t)
    w.fact("Where was it lost?", pl)
    food = w.fresh(W.FOODS)
    return (f"Notice\nLost: {t.a}. It was lost {pl.at} {w.c('on Monday', 'last night', 'this morning', 'two days ago')}. Whoever finds the {t} may bring it to {p}, the {p.kind}, in {town}. "
            + w.c(f"The finder gets {food}.", f"{p} will be very grateful.", f"{p} cannot work without the {t}."))


def news(w):
    p, q, town, t = w.trader(), w.person("adult"), w.fresh(W.VILLAGES), w.thing()
    x = w.animal()
    w.fact("Who won the prize?", p)
    w.fact("Who came second?", q)
    w.fact("What was the prize?", t)
    w.fact("Where was the feast?", town)
    return (f"News from {town}\nOn {w.c('Sunday', 'Saturday')} there was a feast in {town}. {p}, the {p.kind}, won the prize for the best {w.c('song', 'cake', 'pumpkin', 'story', 'jam', 'dance')}. "
            f"{w.c('A woman' if q.female else 'A man')} named {q} came second. The prize was {t.a}. {p} held up the {t} and thanked everybody. {B.say(w, q, w.c('Next year I will win', 'It was a fair fight', 'I am glad all the same'))} "
            f"Only {a(x.kind)} called {x} did not like the noise and {x.moved} away.")


def verse(w):
    """A short rhyme with a name that returns."""
    p = w.person()
    t, pl = w.thing(), w.out()
    x, y, z = w.c(("day", "away", "play"), ("night", "light", "bright"), ("tree", "free", "sea"), ("hill", "still", "mill"), ("rain", "again", "lane"), ("snow", "go", "slow"), ("sun", "run", "done"))
    w.fact("Who sings in this song?", p)
    w.fact(f"What does {p} have?", t)
    return (f"A song\nOh, {p} has {t.a} by {w.c('night and day', 'the door', 'the wall')},\nOh, {p} has {t.a}, and that is all.\n"
            f"{p} goes to {pl.the} to see the {x},\n{p} comes from {pl.the} when it is {y if y in ('bright', 'free', 'still', 'done', 'away') else z if z in ('bright', 'free', 'still', 'done', 'slow') else 'late'}.\n"
            f"So sing with {p}, and sing with me,\nfor {p} has {t.a}, as you can see.")


SMALL = ((have, 5), (where_is, 3), (passing, 4), (families, 3), (colours, 2), (counting, 1), (roll, 4), (chat, 3), (animal_card, 2))
LONGER = ((dialogue, 4), (letter, 3), (diary, 3), (howto, 3), (portrait, 4), (landscape, 3), (trades_qa, 1), (animals_qa, 1), (notice, 2), (news, 2), (verse, 1))
