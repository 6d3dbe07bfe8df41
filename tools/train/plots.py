# SPDX-License-Identifier: Apache-2.0
"""Story plots. Each takes a World, tells one story and leaves facts for question lines.

A plot returns a list of sentences. The rules of the house: everyone is introduced
before being named again, a key thing is introduced with its adjective and an
article or a possessive, and nobody changes name, sex or trade.
"""
import words as W
import beats as B
from world import a, cap


def lost_thing(w):
    p = w.person()
    q = w.kin(p)
    t = w.thing()
    wrong, right = w.hiding(), w.hiding()
    w.fact(f"What did {p} lose?", t)
    w.fact(f"Who found the {t}?", q)
    w.fact(f"Whose {t} was it?", f"{p}")
    return [B.meet(w, p), w.c(f"{p} had {t.a}.", f"{p} owned {t.a}, and {p.he} loved it.",
                              f"The dearest thing that {p} had was {t.a}."),
            B.also(w, q, p),
            f"{B.when(w)} the {t} was gone.", B.feel(w, p, "sad", "worried", "angry", "surprised"),
            B.say(w, p, w.c(f"Where is my {t}?", f"Has anyone seen my {t}?", f"I have lost my {t}!")),
            f"{p} looked {wrong}, but the {t} was not there.",
            B.say(w, q, w.c("I will help you", "Let us look together", "Do not cry. We will find it")),
            w.c(f"{q} looked {right}.", f"Then {q} looked {right}."),
            w.c(f"There was the {t}!", f"And there lay the {t}!", f"There {q} found the {t}."),
            B.say(w, q, w.c(f"Here is your {t}, {p}!", f"Look, {p}! Your {t}!")),
            B.feel(w, p, "happy", "grateful"), B.thank(w, p, q), B.ending(w, p, q)]


def repair(w):
    p, m = w.person(), w.trader()
    t = w.thing(("wood", "metal", "glass", "clay", "toy"))
    w.fact(f"Who mended the {t}?", m)
    w.fact(f"What was broken?", t)
    w.fact(f"Who went to {m}?", p)
    return [B.meet(w, p), f"{p} had {t.a}, a present from {p.his} {w.c('grandmother', 'uncle', 'aunt', 'teacher')}.",
            f"{B.when(w)} {p} dropped the {t}, and it broke.", B.feel(w, p, "sad", "worried", "ashamed"),
            B.also(w, m, p), f"{p} carried the {t} to {m}.",
            B.say(w, p, w.c(f"Can you mend my {t}, {m}?", f"Please help me, {m}! My {t} is broken")),
            f"{m} took {m.tool} and looked at the {t}.",
            B.say(w, m, w.c("It will take a while", "Come back in the evening", "This is not so bad",
                            "I have mended worse things than this")),
            w.c(f"{m} worked all day.", f"{m} cut, glued and tied.", f"{m} worked until the lamp went out."),
            w.c(f"In the evening the {t} was as good as new.", f"When {p} came back, the {t} was whole again."),
            B.thank(w, p, m),
            w.c(f"{p} paid with {a(w.c('basket', 'bag', 'bowl'))} of {w.fresh(W.FOODS)}.",
                f"{m} wanted no money, only a song.", f"{p} swept the floor for {m} as a payment."),
            B.ending(w, p)]


def storm(w):
    p = w.person(w.c("adult", "child", "old"))
    q = w.person(w.c("adult", "child"))
    place = w.out()
    animal = w.animal(("dog", "cat", "goat", "donkey", "horse", "sheep"))
    w.fact("Who knocked at the door?", q)
    w.fact(f"Who let {q} in?", p)
    return [B.meet(w, p, place), f"{p} lived alone with {a(animal.kind)} named {animal}.",
            f"{B.when(w)} a great storm came.", w.c("Thunder shook the windows.", "Lightning lit up the sky.",
                                                    "The wind tore at the roof.", "Rain ran down the chimney."),
            f"{animal} {animal.sound} and hid {w.hiding()}." if animal.sound != "said nothing" else f"{animal} hid {w.hiding()}.",
            "Then came a knock at the door.", B.say(w, p, "Who is there?"),
            f"Outside stood {a(w.c('wet', 'cold', 'pale', 'young', 'strange'))} {'woman' if q.female else 'man'} named {q}."
            if q.kind not in ("girl", "boy") else f"Outside stood {a(w.c('wet', 'cold', 'pale', 'little'))} {q.kind} named {q}.",
            B.say(w, q, w.c("I have lost my way", "The road is under water", "May I come in?", "My cart has broken down")),
            f"{p} gave {q} {w.c('a dry blanket', 'hot soup', 'a chair by the fire', 'dry clothes', 'a cup of tea')}.",
            B.thank(w, q, p), f"All night {p} and {q} sat by the fire and told stories.",
            w.c("In the morning the sky was blue.", "By morning the storm was over."),
            w.c(f"{q} went on, but came back every year.", f"{q} stayed for breakfast and then went on.",
                f"{q} mended the roof before leaving."), B.ending(w, p, q)]


def gift(w):
    p = w.person()
    q = w.kin(p)
    t, u = w.thing(), w.thing()
    w.fact(f"What did {p} give to {q}?", t)
    w.fact(f"Who gave {q} the {t}?", p)
    w.fact(f"Whose birthday was it?", q)
    return [B.meet(w, p), B.also(w, q, p),
            w.c(f"Soon it would be {q}'s birthday.", f"The next day was {q}'s birthday."),
            B.say(w, p, f"What can I give to {q}?"), B.think(w, p),
            w.c(f"{p} had only a little money, and {u.a} cost too much.",
                f"{p} looked at {u.a} in a shop, but it cost too much."),
            f"So {p} made {t.a} with {p.his} own hands." if w.chance(0.4) else
            f"At last {p} found {t.a} at the market.",
            w.c(f"{p} put the {t} into a box and tied a ribbon around it.", f"{p} hid the {t} {w.hiding()} until the day came."),
            B.say(w, p, f"This is for you, {q}!"), f"{q} opened it and saw the {t}.",
            B.feel(w, q, "happy", "surprised", "grateful"),
            B.say(w, q, w.c("It is just what I wanted", f"What a fine {t}!", "Nobody ever gave me such a thing")),
            f"{q} kept the {t} for many years.", B.ending(w, p, q)]


def trade_chain(w):
    p = w.person()
    ts = [w.thing() for _ in range(4)]
    qs = [w.trader() for _ in range(3)]
    out = [B.meet(w, p), f"All that {p} had was {ts[0].a}.",
           B.say(w, p, f"I do not need this {ts[0]}. I will see what I can get for it")]
    for i, q in enumerate(qs):
        w.fact(f"Who gave {p} the {ts[i + 1]}?", q)
        w.fact(f"What did {p} give to {q}?", ts[i])
        out += [w.c(f"First" if i == 0 else "Then", "Soon" if i else "On the road", "After a while" if i else "Not far from home") +
                f" {p} met {q}, the {q.kind}.",
                w.c(f"{q} needed {ts[i].a}.", f"{q} had always wanted {ts[i].a}.", f"{q} liked the {ts[i]}."),
                B.say(w, q, w.c(f"Give me your {ts[i]}, and I will give you {ts[i + 1].a}",
                                f"I will give you {ts[i + 1].a} for that {ts[i]}")),
                w.c(f"So {p} gave the {ts[i]} to {q} and took the {ts[i + 1]}.",
                    f"{p} agreed, and {q} got the {ts[i]}.")]
    return out + [f"In the evening {p} came home with the {ts[3]}.", B.feel(w, p, "happy", "proud"), B.ending(w, p)]


def rescue(w):
    p, x, place = w.person(), w.animal(), w.out()
    trap = w.c("under a fallen branch", "in a hole", "in a net", "between two rocks", "in the mud", "behind a fence",
               "in a thorn bush", "at the bottom of a ditch")
    w.fact(f"Who saved the {x.kind}?", p)
    w.fact(f"What was the name of the {x.kind}?", x)
    return [B.meet(w, p), f"{B.when(w)} {p} was {place.at}.", B.scenery(w, place),
            w.c(f"Suddenly {p} heard a sound.", f"Then {p} heard something.", "What was that?"),
            f"{cap(a(x.kind))} was stuck {trap}.", B.feel(w, p, "worried", "sad", "brave", "surprised"),
            B.say(w, p, w.c("Do not be afraid", "Hold still, little one", "I will get you out", "You poor thing!")),
            w.c(f"{p} pulled with both hands.", f"{p} dug with {p.his} hands.", f"{p} ran for a rope and came back.",
                f"{p} lifted and pushed."), f"At last the {x.kind} was free.",
            f"{p} named the {x.kind} {x}.", f"{p} gave {x} some {x.food}.",
            f"{x} {x.moved} after {p} all the way home." if w.chance(0.6) else f"{x} looked back once and {x.moved} away.",
            w.c(f"Every day after that, {x} came to see {p}.", f"From then on {x} and {p} were friends.",
                f"When {p} came by the next day, {x} was waiting."), B.ending(w, p)]


def race(w):
    x, y, z = w.animal(), w.animal(), w.animal()
    place, goal = w.out(), w.out()
    w.fact("Who won the race?", y)
    w.fact(f"Who was proud?", x)
    w.fact("Who was the judge?", z)
    return [f"{cap(a(x.kind))} named {x} was very proud.", B.say(w, x, "Nobody is as fast as I am!"),
            f"{cap(a(y.kind))} called {y} heard this.", B.say(w, y, w.c(f"Let us race, {x}", f"I will race you, {x}")),
            f"All the animals laughed, but {y} stayed calm.",
            f"They would race from {place.the} to {goal.the}, and {a(z.kind)} named {z} was the judge.",
            B.say(w, z, "Ready, steady, go!"), f"{x} {x.moved} ahead at once.",
            w.c(f"Soon {x} could not see {y} any more.", f"After a while {x} stopped to rest."),
            w.c(f"{x} ate some {x.food} and fell asleep.", f"{x} stopped to look at {w.c('a butterfly', 'the clouds', 'the water')}.",
                f"{x} lay down in the shade.", f"{x} turned around to laugh at {y}."),
            f"But {y} {y.moved} on and on without a rest.", B.wait(w),
            f"When {x} came to {goal.the}, {y} was already there.", B.say(w, z, f"The winner is {y}!"),
            B.feel(w, x, "ashamed", "surprised", "angry"), B.praise(w, x, y), B.moral(w)]


def treasure(w):
    p = w.person()
    q = w.kin(p)
    m, t = w.thing(("paper",)), w.thing(("wood", "metal", "clay"))
    start, goal = w.inside(), w.out()
    w.fact(f"Who found the {m}?", p)
    w.fact(f"What was under the ground?", t)
    w.fact(f"Who dug the hole?", q)
    return [B.meet(w, p), f"{B.when(w)} {p} found {m.a} {start.at}.",
            B.say(w, p, w.c("What is this?", "How strange!", "Somebody has hidden this")),
            f"On the {m} was a cross and the word {goal}.", B.feel(w, p, "curious", "excited"), B.also(w, q, p),
            f"{p} showed the {m} to {q}.", B.say(w, q, w.c("We must go there at once!", "Maybe it is a treasure!", "Let us look")),
            f"{p} and {q} went to {goal.the}.", B.scenery(w, goal),
            f"{q} dug a deep hole.", w.c("The ground was hard.", "There were only stones at first.", "Two hours went by."),
            f"Then something knocked against the spade. It was {t.a}!",
            f"Inside the {t} was {w.c('gold', 'a note', 'a heap of old coins', 'nothing but sand', 'a letter from a sailor')}."
            if t.noun in ("box", "chest", "pot", "jug", "teapot", "kettle", "bucket", "basket", "jar") else
            f"The {t} was very old and worth a lot of money.",
            w.c(f"{p} and {q} shared everything.", f"{p} gave the {t} to the museum.", f"{p} kept the {m}, and {q} kept the {t}."),
            B.ending(w, p, q)]


def sick_friend(w):
    p = w.person()
    q = w.kin(p)
    food, more = w.fresh(W.FOODS), w.fresh(W.FOODS)
    w.fact("Who was sick?", q)
    w.fact(f"Who cooked for {q}?", p)
    w.fact(f"What did {p} cook?", f"{food}")
    return [B.meet(w, p), B.also(w, q, p), f"{B.when(w)} {q} was sick and had to stay in bed.",
            B.feel(w, p, "worried", "sad"), B.say(w, p, w.c(f"I will make something good for {q}", f"{q} needs something warm")),
            f"{p} went to the kitchen and took {food} and {more}.", w.c("The pot boiled.", "Soon the whole house smelled good.",
                                                                       f"{p} burned one finger, but that was all."),
            f"{p} carried the {food} up the stairs.", B.say(w, p, f"This is for you, {q}"),
            f"{q} ate all of the {food}.", B.say(w, q, w.c("I feel better already", "Nobody cooks as well as you", "That was good")),
            B.thank(w, q, p), f"Two days later {q} was well again.",
            f"{q} and {p} went {w.c('for a walk', 'swimming', 'fishing', 'to the market')} together.", B.ending(w, p, q)]


def seed(w):
    p = w.person()
    plant = w.c(*W.FRUIT)
    who = w.kin(p)
    w.fact(f"Who planted the seed?", p)
    w.fact(f"What grew from the seed?", plant)
    w.fact(f"Who gave {p} the seed?", who)
    return [B.meet(w, p), B.also(w, who, p), f"{B.when(w)} {who} gave {p} a tiny seed.",
            B.say(w, who, "Put it in the ground and wait"), f"{p} planted the seed {w.c('behind the house', 'by the wall', 'near the gate', 'in a big pot')}.",
            f"Every day {p} gave it water.", B.wait(w), f"Nothing could be seen, and {p} became sad.",
            B.say(w, p, w.c("Nothing happens!", "Maybe it is dead", "I have done something wrong")),
            B.say(w, who, w.c("Wait a little longer", "Good things take time", f"Be patient, {p}")),
            w.c("Then one day a green leaf came out.", "After the next rain there was a small green point in the earth."),
            f"It grew and grew, and in autumn there hung {a('big ' + plant)}." if w.chance(0.5) else
            f"By autumn there was {a('plump ' + plant)}, bigger than a fist.",
            B.feel(w, p, "proud", "happy", "surprised"), f"{p} cut the {plant} in two and gave one half to {who}.",
            B.ending(w, p, who)]


def quarrel(w):
    p = w.person()
    q = w.kin(p)
    t = w.thing()
    w.fact(f"What did {p} and {q} both want?", t)
    w.fact("Who said sorry first?", q)
    return [B.meet(w, p), B.also(w, q, p), f"There was only one {t.full}, and both wanted it.",
            B.say(w, p, w.c(f"The {t} is mine!", f"I had the {t} first!")), B.say(w, q, w.c("No, it is mine!", f"You had the {t} all day!")),
            w.c(f"{p} pulled, and {q} pulled.", f"{p} shouted, and {q} shouted back."), f"Then {q} let go and went away.",
            f"Now {p} had the {t}, but it was no fun alone.", B.feel(w, p, "lonely", "sad", "ashamed"), B.wait(w),
            f"Then {q} came back.", B.say(w, q, w.c(f"I am sorry, {p}", f"Forgive me, {p}", f"I do not want to fight, {p}")),
            B.say(w, p, w.c(f"I am sorry too, {q}", f"Let us share the {t}, {q}")),
            f"So {p} and {q} shared the {t}: {p} had it in the morning, and {q} had it in the evening.",
            B.moral(w) if w.chance(0.4) else B.ending(w, p, q)]


def broken_pot(w):
    p, t = w.person(), w.thing(("clay", "glass"))
    owner = w.kin(p)
    w.fact(f"Who broke the {t}?", p)
    w.fact(f"Whose {t} was broken?", owner)
    honest = w.chance(0.6)
    out = [B.meet(w, p), B.also(w, owner, p), f"{owner} had {t.a} that stood on the shelf.",
           f"{B.when(w)} {p} ran through the room and hit the shelf.", f"The {t} fell down and broke into {w.c(*W.NUMBERS)} pieces.",
           B.feel(w, p, "afraid", "ashamed", "worried")]
    if honest:
        out += [f"Nobody had seen it, but {p} went to {owner}.", B.say(w, p, w.c(f"I broke your {t}, {owner}", f"It was I who broke the {t}"))]
    else:
        out += [f"{p} hid the pieces {w.hiding()}.", B.say(w, owner, f"Where is my {t}?"),
                f"{p} said nothing and turned red.", f"That night {p} could not sleep. In the morning {p.he} told {owner} everything."]
    return out + [f"{owner} was quiet for a moment.", B.say(w, owner, w.c("Thank you for telling the truth", f"A {t} can be mended, {p}",
                                                                       "The truth is worth more than a " + t.noun)),
                  f"Together {p} and {owner} glued the {t}.", B.moral(w) if w.chance(0.5) else B.ending(w, p, owner)]


def market_day(w):
    p, s, t = w.person(), w.trader(), w.thing()
    food = w.fresh(W.FOODS)
    n = w.c(*W.NUMBERS[:6])
    w.fact(f"What did {p} buy?", t)
    w.fact(f"Who sold the {t}?", s)
    w.fact(f"How many coins did {p} have?", n)
    return [B.meet(w, p), f"{B.when(w)} {p} went to the market with {n} coins.", B.weather(w),
            f"There were stalls with {food}, {w.fresh(W.FOODS)} and {w.fresh(W.FOODS)}.",
            f"At one stall stood {s}, the {s.kind}.", B.say(w, s, w.c(f"Come closer! I have {t.a} to sell", f"Who will buy {t.a}?")),
            f"{p} looked at the {t}.", B.say(w, p, f"How much is the {t}?"), B.say(w, s, w.c("All that you have", "More than you have", f"{cap(n)} coins")),
            B.think(w, p), w.c(f"{p} counted the coins again and paid.", f"{p} gave the {n} coins to {s}."),
            f"{s} put the {t} into {p}'s hands.", f"{p} carried the {t} home.",
            B.feel(w, p, "happy", "proud", "excited"), B.ending(w, p)]


def night_noise(w):
    p, q = w.person(), None
    q = w.kin(p)
    x, room = w.animal(("cat", "mouse", "owl", "hedgehog", "goat", "squirrel", "kitten", "puppy", "parrot", "duck")), w.inside()
    sound = w.c("a scratching sound", "a soft step", "a strange voice", "a bump", "a rattle")
    w.fact(f"Who heard {sound}?", p)
    w.fact(f"What was the name of the {x.kind}?", x)
    w.fact("Who held the lamp?", q)
    return [B.meet(w, p), B.also(w, q, p), f"One night {p} woke up. There was {sound} in {room.the}." if room.prep == "in" else
            f"One night {p} woke up. There was {sound} {room.at}.", B.feel(w, p, "afraid", "curious", "brave"),
            B.say(w, p, w.c(f"Wake up, {q}! I hear something", f"Is it a ghost, {q}?")),
            f"{q} lit a lamp and held it high.", f"Step by step {p} and {q} went to {room.the}.", B.scenery(w, room),
            "Something moved in the dark.", w.c(f"It was only {a(x.kind)}!", f"There sat {a(x.kind)} and looked at them."),
            B.say(w, q, w.c("So this is our ghost!", "What a small ghost!", "It is more afraid than we are")),
            f"{p} laughed and gave the {x.kind} some {x.food}.", f"They called it {x}.", f"Now {x} lives in {x.home if x.home.startswith('the') else 'a corner of the house'}.",
            B.ending(w, p, q)]


def new_child(w):
    p, q = w.person(), w.person()
    town, t = w.fresh(W.VILLAGES), w.thing(("toy", "paper", "wood"))
    w.fact("Who was new in the school?", q)
    w.fact(f"Where did {q} come from?", town)
    w.fact(f"Who sat down beside {q}?", p)
    return [B.meet(w, p), f"{B.when(w)} a new {q.kind} came into the school. {q.His} name was {q}, and {q.he} came from {town}.",
            f"{q} sat alone and did not speak.", B.feel(w, q, "shy", "lonely", "sad"), f"{p} saw that and sat down beside {q}.",
            B.say(w, p, w.c("Do you want to play with me?", f"I have {t.a}. Do you want to see it?", "You can sit with us")),
            f"{p} took out {t.a}.", f"{q} looked at the {t} and smiled.", B.say(w, q, w.c(f"In {town} I had one like that", "May I hold it?", f"I like your {t}")),
            f"After school {p} and {q} went home together.", f"{q} told {p} about {town}, and {p} showed {q} the best places.",
            B.ending(w, p, q)]


def wrong_letter(w):
    p, q = w.person("adult"), w.person("old")
    postman = w.person("postman", False) if w.chance(0.5) else w.person("postwoman", True)
    place = w.out()
    w.fact("For whom was the letter?", q)
    w.fact("Who opened the letter?", p)
    w.fact("Who brought the letter?", postman)
    return [B.meet(w, p), f"{B.when(w)} {postman}, the {postman.kind}, brought a letter.",
            f"{p} opened the letter and read it.", B.say(w, p, "This is not for me!"),
            f"The letter was for {q}, {a(q.kind)} who lived by {place.the}.", f"In it stood that {w.c('a ship had come home', 'a lost son was alive', 'a house was for sale', 'a baby was born')}.",
            B.say(w, p, w.c(f"{cap(q.he)} must hear of this today", "This cannot wait until tomorrow")),
            B.walk(w, p, place), B.scenery(w, place), f"{p} found {q} and gave {q.him} the letter.", f"{q} read it twice.",
            B.feel(w, q, "happy", "surprised", "grateful"), B.thank(w, q, p),
            f"After that, {p} often visited {q}.", B.ending(w, p, q)]


def flood(w):
    p, q = w.trader(), w.person("adult")
    n = w.c(*W.NUMBERS)
    w.fact(f"Who warned the village?", q)
    w.fact(f"Who had a boat?", p)
    w.fact(f"How many people did {p} save?", n)
    return [B.meet(w, p), f"It rained for {w.c(*W.NUMBERS)} days, and the river rose.",
            f"At night {q}, {'a young woman' if q.female else 'a young man'} from the next house, ran through the street.", B.say(w, q, w.c("The water is coming!", "Wake up! The river is in the street!")),
            f"{p} had an old boat.", B.say(w, p, w.c(f"Take the oars, {q}!", f"Help me with the boat, {q}")),
            f"{p} and {q} went from house to house in the boat.", "People sat on the roofs and called for help.",
            f"Before morning {p} and {q} had saved {n} people and {a(w.c('cat', 'goat', 'dog', 'pig', 'hen'))}.", w.c("Then the rain stopped.", "At noon the water fell."),
            B.praise(w, q, p), f"The people gave {p} a new boat, and they called it {w.c('Hope', 'The Good Night', 'The Brave Duck', 'Morning Star')}.", B.ending(w, p, q)]


def learn_skill(w):
    p = w.person()
    teacher = w.kin(p)
    skill, skilled, fail = w.c(("swim", "swam across the pond", "swallowed a lot of water"),
                               ("whistle", "whistled a whole song", "only blew air"),
                               ("ride a bicycle", "rode down the whole street", "fell into a bush"),
                               ("bake bread", "baked a perfect loaf", "burned the bread"),
                               ("play the flute", "played at the spring feast", "made the dogs howl"),
                               ("read", "read a whole book", "mixed up all the letters"),
                               ("skate", "skated across the lake", "sat down on the ice"),
                               ("knit", "knitted a long scarf", "made only knots"),
                               ("row a boat", "rowed to the island and back", "went round in circles"),
                               ("juggle", "kept three balls in the air", "dropped every ball"))
    w.fact(f"Who wanted to learn to {skill}?", p)
    w.fact(f"Who taught {p}?", teacher)
    return [B.meet(w, p), f"{p} wanted to learn to {skill}.", B.also(w, teacher, p),
            B.say(w, p, f"Can you teach me to {skill}, {teacher}?"), B.agree(w, teacher),
            f"On the first day {p} {fail}.", B.feel(w, p, "sad", "angry", "ashamed"), B.say(w, teacher, w.c(f"Try again, {p}", "Nobody can do it at once", "I was no better when I was young")),
            f"On the second day it went a little better.", B.wait(w), f"In the end {p} {skilled}.", B.praise(w, teacher, p),
            B.feel(w, p, "proud", "happy"), B.ending(w, p, teacher)]


def fox_trick(w):
    x, y = w.animal(("fox", "wolf", "crow", "cat", "badger")), w.animal(("hen", "duck", "goose", "rabbit", "mouse", "lamb", "pig"))
    food = w.fresh(W.FOODS)
    w.fact(f"Who was hungry?", x)
    w.fact(f"Who was clever?", y)
    w.fact(f"What did {y} have?", food)
    return [f"{cap(a('hungry ' + x.kind))} named {x} came to the farm.", f"There {x} met {a(y.kind)} called {y}, who had {w.c('a pot', 'a bag', 'a basket')} of {food}.",
            B.say(w, x, w.c(f"Good morning, {y}! What smells so good?", f"How beautiful you are today, {y}!", f"Dear {y}, will you come a little closer?")),
            f"{y} knew what {x} wanted.", B.think(w, y),
            B.say(w, y, w.c(f"Close your eyes, {x}, and I will give you some {food}", f"The best {food} is down in the well, {x}", f"The farmer has gone for more {food}, and the dog is with him")),
            w.c(f"{x} believed it.", f"{x} closed both eyes.", f"{x} looked around."), f"Quickly {y} {y.moved} away with the {food}.",
            f"{x} looked, but {y} was gone.", B.feel(w, x, "angry", "ashamed", "surprised"),
            B.say(w, x, w.c("Next time I will not talk so much", f"That {y.kind} is too clever for me", "I should have kept my eyes open")),
            f"{y} ate the {food} in peace.", B.moral(w)]


def wishes(w):
    p, place = w.person("adult"), w.out()
    giver = w.c("a golden fish", "a little old woman", "a talking bird", "a green frog with a crown", "a white snake", "a tiny man with a long beard")
    noun = giver.split(" with")[0].split()[-1]
    t1, t2 = w.thing(), w.thing()
    w.fact(f"Who had three wishes?", p)
    w.fact(f"What was the first wish?", t1)
    w.fact(f"What was the second wish?", t2)
    return [B.meet(w, p), f"{B.when(w)} {p} met {giver} {place.at}.", f"The {noun} was in trouble, and {p} helped.",
            f'"Because you helped me, you have three wishes," said the {noun}.', B.say(w, p, w.c(f"Then I wish for {t1.a}", f"Give me {t1.a}")),
            f"At once the {t1} lay on the ground.", B.feel(w, p, "surprised", "happy", "excited"),
            B.say(w, p, w.c(f"Now I wish for {t2.a}", f"And now {t2.a}")), f"There was the {t2} beside the {t1}.",
            f'"You have one wish left," said the {noun}. "Think well."', B.think(w, p),
            B.say(w, p, w.c("I wish that you may be free", "I wish that nobody in my village is ever hungry", "I wish for nothing more. I have enough", "I wish that you will visit me every year")),
            f"The {noun} smiled and was gone.", f"But the {t1} and the {t2} were still there.", B.ending(w, p)]


def riddle_gate(w):
    p, g, place = w.person(), w.person("old"), w.c("gate", "bridge", "tower", "garden wall")
    riddle, answer = w.c(("What has teeth but cannot bite?", "comb"), ("What has hands but cannot clap?", "clock"), ("What has one eye but cannot see?", "needle"),
                         ("What gets wet while it dries?", "towel"), ("What has a neck but no head?", "bottle"), ("What goes up when the rain comes down?", "umbrella"),
                         ("What has legs but cannot walk?", "table"), ("What can you catch but not throw?", "cold"), ("What has leaves but is not a tree?", "book"),
                         ("What has a bed but never sleeps?", "river"), ("What runs but has no feet?", "water"), ("What is full of holes but holds water?", "sponge"))
    w.fact("Who asked the riddle?", g)
    w.fact("Who knew the answer?", p)
    w.fact("What was the answer to the riddle?", answer)
    return [B.meet(w, p), f"{B.when(w)} {p} came to {a(place) if place != 'garden wall' else 'a garden wall with a door'}.", f"There sat {a(g.kind)} named {g}.",
            B.say(w, g, "Nobody may pass who does not know my riddle"), B.say(w, g, riddle), B.think(w, p), w.c(f"{p} looked at the sky.", f"{p} walked up and down.", f"{p} closed both eyes."),
            B.say(w, p, "I know!" if w.chance(0.5) else "Now I have it!"), B.say(w, p, f"It is {a(answer)}" if answer not in ("water",) else "It is water"),
            B.praise(w, g, p), f"{g} let {p} pass and gave {p.him} {w.c('an apple', 'a smile', 'a piece of cake', 'good advice')}.", B.ending(w, p)]


def snow_day(w):
    p = w.person()
    q = w.kin(p)
    hat, nose = w.thing(("cloth",)), w.c("carrot", "stone", "potato", "cork")
    w.fact(f"What was the nose of the snowman?", nose)
    w.fact(f"Who rolled the big ball?", p)
    w.fact(f"Who brought the {hat}?", q)
    return [f"In the morning everything was white.", B.meet(w, p), B.say(w, p, w.c("It has snowed!", "Snow, snow, snow!")), B.also(w, q, p),
            f"{p} and {q} ran outside.", f"{p} rolled a big ball, and {q} rolled a small one.", B.say(w, p, "We will build a snowman!"),
            f"For a nose they took {a(nose)}.", f"Then {q} brought {hat.a}.", f"The snowman looked fine with the {hat}.",
            w.c(f"{q} threw a snowball, and it hit {p}.", f"{p} slid down the hill and could not stop."), "They laughed until it grew dark.",
            f"Inside, they drank {w.c('hot milk', 'tea with honey', 'hot soup')}.", f"In the night the wind blew the {hat} away, but {p} found it the next day." if w.chance(0.5) else
            f"A week later the sun came, and only the {hat} and the {nose} were left.", B.ending(w, p, q)]


def thief(w):
    p, t, x = w.trader(), w.thing(), w.animal(("crow", "monkey", "goat", "squirrel", "dog", "fox", "mouse"))
    q = w.person()
    w.fact(f"Who took the {t}?", x)
    w.fact(f"Whose {t} was gone?", p)
    w.fact("Who followed the tracks?", q)
    return [B.meet(w, p), f"{p} had {t.a} in {p.his} {p.shop if p.shop in ('shop', 'workshop', 'bakery', 'kitchen') else 'house'}.", f"{B.when(w)} the {t} was gone.",
            B.say(w, p, "There is a thief in the town!"), B.feel(w, p, "angry", "sad", "worried"), f"A clever {q.kind} named {q} came to help.",
            B.say(w, q, w.c("Look at these tracks on the floor", "The thief has small feet", "I see something on the window sill")),
            f"{q} followed the tracks out of the door and down the street.", B.wait(w), f"The tracks led to {a(x.home)}." if not x.home.startswith("the") else f"The tracks led to {x.home}.",
            f"There sat {a(x.kind)} with the {t}.", f"Everybody knew the {x.kind}. It was {x}!", B.say(w, q, f"Give it back, {x}!"),
            f"{q} gave {x} some {x.food} and took the {t}.", B.thank(w, p, q), f"{p} put the {t} away and locked the door.", B.ending(w, p, q)]


def stranger(w):
    p, s, food, t = w.person("old"), w.person("adult"), w.fresh(W.FOODS), w.thing(("metal", "small"))
    w.fact("Who shared the food?", p)
    w.fact("Who came back rich?", s)
    w.fact(f"What did {s} bring?", t)
    return [B.meet(w, p), f"{p} was poor and had only some {food}.", f"{B.when(w)} a stranger named {s} stood at the door.",
            B.say(w, s, w.c("I am hungry", "I have walked for three days", "I have nothing to eat")), f"{p} cut the {food} in two." if food in ("bread", "cheese", "cake", "pie", "fish") else f"{p} gave half of the {food} to {s}.",
            B.say(w, p, w.c("Half for you, and half for me", "It is not much, but it is good", "Eat, and then sleep")), f"In the morning {s} went away.",
            f"{w.c('Seven', 'Ten', 'Three')} years later a coach stopped in front of the house.", f"It was {s}, who had become rich.", B.say(w, s, f"Do you still know me, {p}?"),
            f"{s} gave {p} {t.a}.", B.say(w, s, w.c("You gave me half of all you had", "I have never forgotten that meal")), f"{p} looked at the {t} and could not speak.", B.ending(w, p, s)]


def kite_tree(w):
    p = w.person()
    q = w.kin(p)
    t, tree = w.thing(("toy", "cloth")), w.c(*W.TREES)
    w.fact(f"What was in the tree?", t)
    w.fact("Who climbed the tree?", q)
    return [B.meet(w, p), f"{p} had {t.a}.", f"{B.when(w)} the wind took the {t} and blew it into a high {tree}.", B.say(w, p, f"Oh no! My {t}!"),
            f"{p} jumped, but the branch was too high.", f"{p} threw a stick, but the {t} did not move.", B.also(w, q, p),
            B.say(w, q, w.c("I can climb", "Let me try", "Hold my shoes")), f"{q} climbed up the {tree}, branch by branch.",
            w.c("The branches creaked.", f"{p} could not look.", "A bird flew up."), f"{q} took the {t} and threw it down to {p}.", B.praise(w, p, q), B.thank(w, p, q), B.ending(w, p, q)]


def sleepy_guard(w):
    g, king = w.person("guard"), w.person(w.c("king", "queen"), None)
    king.kind = "queen" if king.female else "king"
    x = w.animal(("goose", "dog", "cat", "parrot", "mouse", "donkey"))
    w.fact("Who fell asleep?", g)
    w.fact("Who woke the guard?", x)
    w.fact(f"Who was the {king.kind}?", king)
    return [f"The {king.kind} of that land was called {king}.", f"At the gate of the castle stood a guard named {g}.", f"{g} had {a(x.kind)} called {x}.",
            f"{B.when(w)} {g} was so tired that {g.he} fell asleep.", "Then three thieves came over the wall.", f"But {x} was awake." if x.sound == "said nothing" else f"But {x} was awake and {x.sound} as loud as possible.",
            f"{g} woke up and blew a horn.", "The thieves ran away as fast as they could.", f"In the morning {king} called for {g}.", B.say(w, king, w.c("You have saved my castle", "What do you want as a reward?")),
            B.say(w, g, w.c(f"It was not I. It was {x}", f"Give the reward to {x}")), f"{king} laughed and gave {x} a bowl of {x.food} every day.", f"And {g}? {g} got {w.c('a softer chair', 'a free day every week', 'strong tea every night')}.", B.moral(w)]


def stopped_clock(w):
    p, m = w.person(), w.person("clockmaker")
    town, why = w.fresh(W.VILLAGES), w.c("a bird's nest", "a ball", "a glove", "an apple", "a sleeping bat", "a spoon")
    w.fact("Who climbed into the clock?", p)
    w.fact("Who was the clockmaker?", m)
    w.fact("In which town was the clock?", town)
    return [f"In {town} there was a tower with a great clock.", "One day the clock stopped.", w.c("The bakers baked too late, and the children came to school too early.", "Nobody knew when to eat.", "The trains left whenever they wanted."),
            f"The clockmaker, whose name was {m}, was too old to climb the tower.", B.say(w, m, "Who will climb up for me?"), f"{cap(a(w.c('small', 'brave', 'quick')))} {p.kind} called {p} lifted one hand.", B.say(w, p, "I am not afraid"),
            f"{p} climbed {w.c('ninety', 'two hundred', 'a hundred')} steps.", f"Between the wheels {p} found {why}.", f"{p} pulled it out, and the clock began to tick.", B.say(w, m, f"It goes! {p} has done it!"), f"{m} taught {p} all about clocks.", B.ending(w, p, m)]


def big_fish(w):
    p, q, place = w.person("adult"), None, w.c("lake", "river", "sea")
    q = w.kin(p)
    t = w.thing(("metal", "small"))
    w.fact("Who caught the fish?", p)
    w.fact("What was inside the fish?", t)
    w.fact(f"Who cut the fish open?", q)
    return [B.meet(w, p), f"{B.when(w)} {p} sat by the {place} with a fishing rod.", B.weather(w), B.wait(w), f"Suddenly something pulled so hard that {p} nearly fell into the water.", B.say(w, p, "That is no small one!"),
            f"{p} pulled and pulled, and at last a huge fish lay on the bank.", f"{p} carried it home to {p.his} {q.kind} {q}.", f"{q} cut it open, and inside there was {t.a}!", B.feel(w, q, "surprised", "happy"), B.say(w, q, w.c(f"{cap(a(t.noun))} in a fish!", f"Whose {t} can that be?")),
            w.c(f"{q} put the {t} on the shelf.", f"{p} gave the {t} to {q}.", f"They showed the {t} to everyone."), f"The fish was enough for {w.c(*W.NUMBERS)} people.", B.ending(w, p, q)]


def hide_and_seek(w):
    ps = [w.person() for _ in range(3)]
    spots = [w.hiding(), w.hiding()]
    p, q, r = ps
    w.fact("Who counted?", p)
    w.fact(f"Who hid {spots[0]}?", q)
    w.fact(f"Who hid {spots[1]}?", r)
    return [f"Three children, {p}, {q} and {r}, played hide and seek.", f"{p} closed both eyes and counted to {w.c('ten', 'twenty', 'a hundred')}.", f"{q} hid {spots[0]}.", f"{r} hid {spots[1]}.", B.say(w, p, "I am coming!"),
            f"First {p} looked {w.hiding()}. Nobody was there.", f"Then {p} looked {spots[0]}.", B.say(w, p, f"I see you, {q}!"), f"{q} came out and laughed.", f"Together {p} and {q} looked for {r}.", w.c("It took a long time.", "They looked everywhere.", f"{q} called, but nobody answered."),
            f"At last they looked {spots[1]}. There was {r}, fast asleep!" if w.chance(0.5) else f"Then they heard a sneeze {spots[1]}. There was {r}!", B.say(w, r, "You needed a long time"), f"Next it was {q}'s turn to count."]


def shopping(w):
    p = w.person()
    q = w.kin(p)
    f = [w.fresh(W.FOODS) for _ in range(4)]
    i = int(w.rng.random() * 4)
    w.fact(f"What did {p} forget?", f[i])
    w.fact(f"Who went to the shop?", p)
    w.fact(f"Who sent {p}?", q)
    return [B.meet(w, p), B.also(w, q, p), B.say(w, q, f"Please go to the shop, {p}, and buy {f[0]}, {f[1]}, {f[2]} and {f[3]}"), f"On the way {p} said it again and again: {f[0]}, {f[1]}, {f[2]} and {f[3]}.",
            w.c("Then a dog ran by.", "Then a band marched down the street.", f"Then {p} stepped into a puddle."), f"In the shop {p} said: " + '"' + cap(", ".join(x for j, x in enumerate(f) if j != i)) + ', please!"', f"{q} looked into the bag.", B.say(w, q, f"And where is the {f[i]}, {p}?"), B.feel(w, p, "ashamed", "surprised"), f"So {p} went back for the {f[i]}.", B.say(w, q, w.c(f"Next time I will write it down for you", "Now we can cook")),
            f"That evening they had a good supper of {f[0]}, {f[1]}, {f[2]} and {f[3]}.", B.ending(w, p, q)]


def well(w):
    p, t = w.person(), w.thing()
    h = w.trader()
    w.fact("What fell into the well?", t)
    w.fact(f"Who got the {t} out of the well?", h)
    return [B.meet(w, p), f"{p} was playing near the well with {t.a}.", f"The {t} slipped and fell into the water.", B.say(w, p, f"My {t}! It is so deep!"), B.feel(w, p, "sad", "worried"), f"{h}, the {h.kind}, came by.", B.say(w, h, w.c("Why do you cry?", "What is the matter?")), B.say(w, p, f"My {t} is in the well"), f"{h} tied {w.c('a hook', 'a basket', 'a magnet', 'a small net')} to a rope and let it down.", w.c("Once it came up empty. Twice it came up empty.", "The first time there was only mud."), f"The third time the {t} came up.", B.thank(w, p, h), f"After that {p} never played near the well again."]


def lonely_giant(w):
    g, p = w.person("giant"), w.person()
    place, t = w.out(), w.thing(("toy", "wood", "cloth", "paper"))
    w.fact("Who was the giant?", g)
    w.fact(f"Who was not afraid of {g}?", p)
    w.fact(f"What did {p} bring?", t)
    return [f"A giant named {g} lived {w.c('near', 'beyond')} {place.the}.", f"All were afraid of {g}, so {g} was always alone.", B.scenery(w, place), f"But {a(p.kind)} called {p} was curious.", f"{B.when(w)} {p} took {t.a} and went to see {g}.", B.say(w, g, w.c("Who dares to come here?", "Go away, or I will stamp on you!", "Are you not afraid?")), B.say(w, p, w.c(f"I have brought you {t.a}", f"No, {g}. I only want to talk")), f"{g} took the {t} between two fingers.", B.feel(w, g, "surprised", "happy", "shy"), B.say(w, g, "Nobody has ever given me anything"), f"From then on {g} carried {w.c('logs', 'stones', 'water')} for the village, and {p} sat on {g.his} shoulder.", B.ending(w, p, g)]


def train_trip(w):
    p = w.person()
    q = w.kin(p)
    town, t, s = w.fresh(W.VILLAGES), w.thing(("cloth", "paper")), w.person("adult")
    w.fact(f"Who lived in {town}?", q)
    w.fact(f"What did {p} leave on the train?", t)
    w.fact(f"Who ran after {p}?", s)
    return [B.meet(w, p), f"{p} took the train to {town}, because {p.his} {q.kind} {q} lived there.", f"In the train sat {'a woman' if s.female else 'a man'} named {s} with {a(w.c('cage', 'big bag', 'basket', 'pile of books'))}.", f"{s} and {p} talked about {w.c('the weather', 'far countries', 'trains', 'dogs', 'the price of bread')}.", B.weather(w), f"In {town} {p} got out and forgot {p.his} {t.full}.", f"{s} saw the {t} on the seat and ran after {p}.", B.say(w, s, w.c(f"Wait, {p}! Your {t}!", f"You have forgotten your {t}!")), B.thank(w, p, s), f"{q} was waiting at the station.", B.say(w, q, f"There you are, {p}!"), f"{p} told {q} about {s} and the {t}.", B.ending(w, p, q)]


def star_night(w):
    p = w.person()
    q = w.kin(p)
    n = w.c(*W.NUMBERS)
    place = w.fresh([r for r in W.OUT_PLACES if r[0] in ("hill", "beach", "meadow", "field", "bridge")])
    w.fact("Who could not sleep?", p)
    w.fact("Who knew the stars?", q)
    w.fact("Where did they go?", place[0])
    return [B.meet(w, p), f"One night {p} could not sleep.", B.also(w, q, p), B.say(w, q, "Put on your coat and come with me"), f"{q} and {p} went to the {place[0]}.", "The sky was full of stars.", B.say(w, p, w.c("How many are there?", "Who lit them all?", "Are they far away?")), B.say(w, q, w.c("More than you can count", "So far that no bird could fly there", "Nobody knows")), f"{q} showed {p} the Great Bear and the North Star.", f"{p} counted {n} shooting stars.", B.say(w, p, "I wish we could stay here all night"), f"At last {p} fell asleep, and {q} carried {p.him} home." if p.kind in ("girl", "boy") else f"At last they walked home.", f"In the morning {p} asked if it had been a dream."]


PLOTS = (lost_thing, repair, storm, gift, trade_chain, rescue, race, treasure, sick_friend, seed, quarrel, broken_pot,
         market_day, night_noise, new_child, wrong_letter, flood, learn_skill, fox_trick, wishes, riddle_gate, snow_day,
         thief, stranger, kite_tree, sleepy_guard, stopped_clock, big_fish, hide_and_seek, shopping, well, lonely_giant,
         train_trip, star_night)
