# SPDX-License-Identifier: Apache-2.0
"""The lexicon of the story generator: names, things, places, trades, animals.

Two rules keep generated text checkable: no name is also an ordinary word, and
a "key thing" (KEY_THINGS) never doubles as scenery.
"""


def table(text):
    """Split a multi-line block of words separated by blanks."""
    return tuple(text.split())


def rows(text):
    """Split a block of lines into tuples of fields separated by '|'."""
    return tuple(tuple(f.strip() for f in line.split("|"))
                 for line in text.strip().splitlines())


GIRLS = table("""
Mara Anna Lucy Clara Nina Ella Emma Sofia Julia Maria Elsa Greta Ida Lena Mina Nora Olga Paula Petra Rita
Rosa Sara Tilda Ursula Vera Wanda Zoe Alice Amelia Bella Betty Bianca Carla Carmen Celia Cora Dana Daphne Delia
Diana Dora Edith Eliza Ellen Elena Emily Esther Eva Fiona Flora Frida Gina Gloria Hanna Hazel Heidi Helen Helga
Hilda Inga Irene Iris Isabel Ivy Jane Janet Jenny Jessie Joanna Josie Judith Karen Katie Kira Laura Leah Lila
Linda Lisa Lola Lotta Louisa Lydia Mabel Maggie Malin Marta Martha Matilda Maya Megan Mia Milla Miriam Molly Mona
Nadia Naomi Nelly Nancy Nola Octavia Olive Olivia Opal Pia Polly Priya Rachel Rebecca Regina Renata Rhea Ruth
Sadie Sally Salma Selma Sheila Sigrid Silvia Simone Stella Susan Tamara Tania Tara Tessa Thea Tina Trudy Uma Valeria
Verena Violet Vivian Wilma Yara Yasmin Yvonne Zara Zelda Zita Amina Aisha Anika Astrid Beatrice Birgit Camilla
Chloe Dalia Ebba Elin Enid Farah Freya Gerda Gudrun Imani Ines Ingrid Jamila Johanna Kaya Keiko Lara Leila Livia
Lorna Luna Magda Maren Mathilda Meera Mei Nessa Noor Oona Orla Philippa Rania Rosalind Runa Sana Saskia Signe
Solveig Sonja Svea Talia Tove Valentina Xenia Yuki Zainab Zora
""")

BOYS = table("""
Peter Daniel Tom Otto Ben Max Leo Paul Hugo Felix Oscar Simon Adam Alan Albert Alfred Andrew Anton Arthur Axel
Barney Basil Bernard Boris Bruno Carl Caspar Charlie Chris Clement Colin Conrad Cyril David Dennis Derek Dominic Donald
Duncan Edgar Edmund Edward Edwin Eli Elias Emil Eric Ernest Eugene Ezra Fergus Finn Frank Fred Gabriel George
Gerald Gilbert Giles Gordon Graham Gregory Gustav Harold Harry Hector Henry Herbert Herman Hubert Ian Igor Isaac Ivan
Jacob Jake James Jasper Jeremy Jerome Jim Joel John Jonas Jonathan Josef Joshua Julian Kai Karl Keith Kevin Kurt
Lars Laurence Leon Leonard Lewis Liam Linus Louis Lucas Luke Magnus Malcolm Marcus Martin Mateo Matthew Maurice Michael
Milo Morris Moses Nathan Ned Neil Nico Nils Noah Norman Nigel Oliver Olaf Omar Orson Oswald Otis Owen Pablo Patrick
Pedro Percy Philip Quentin Ralph Ramon Raymond Reuben Rex Richard Robert Robin Roger Roland Ronald Rory Rufus Rupert
Ruben Sam Samir Samuel Sebastian Sidney Silas Stanley Stefan Stephen Sven Tariq Ted Terence Theo Thomas Timothy Tobias
Tony Ulrich Victor Vincent Walter Warren Werner Wilfred William Xavier Yusuf Zachary Abel Ahmed Alvin Amos Arjun
Arne Aron Bjorn Casper Cedric Cosmo Dario Dmitri Enzo Erwin Fabian Hakim Hassan Heiko Iqbal Isak Jamal Jens Jonah
Kofi Lennart Lorenzo Malik Marek Mikkel Mustafa Nasir Niklas Odin Otmar Rafael Rashid Rolf Rowan Sanjay Soren
Tarek Thorsten Tomas Torben Umar Uwe Vikram Viggo Waldo Yannick
""")

PETS = table("""
Biscuit Pepper Whiskers Patch Rusty Fluffy Spot Socks Muffin Ginger Shadow Domino Bramble Nibbles Snowy Tiger Misty
Buttons Pickles Rascal Scout Toffee Waffles Ziggy Bandit Clover Dusty Fudge Jasmine Marmalade Nutmeg Oreo Pippin
""")

# noun | kind of stuff (chooses fitting adjectives)
KEY_THINGS = rows("""
key | metal
coin | metal
ring | metal
bell | metal
spoon | metal
lantern | metal
whistle | metal
watch | metal
compass | metal
medal | metal
horseshoe | metal
locket | metal
needle | metal
trumpet | metal
kettle | metal
bucket | metal
hammer | metal
axe | metal
saw | metal
crown | metal
bracelet | metal
necklace | metal
brooch | metal
buckle | metal
bicycle | metal
button | small
marble | small
bead | small
pebble | small
shell | small
pearl | small
feather | small
acorn | small
seed | small
box | wood
flute | wood
drum | wood
stool | wood
ladder | wood
boat | wood
sled | wood
cart | wood
bowl | wood
spinning top | wood
puppet | wood
violin | wood
guitar | wood
walking stick | wood
fishing rod | wood
broom | wood
chest | wood
toy horse | wood
toy train | wood
chair | wood
basket | wood
kite | cloth
scarf | cloth
coat | cloth
hat | cloth
cap | cloth
cloak | cloth
blanket | cloth
ribbon | cloth
glove | cloth
flag | cloth
sack | cloth
doll | cloth
pillow | cloth
tent | cloth
umbrella | cloth
apron | cloth
shawl | cloth
dress | cloth
shirt | cloth
bag | cloth
purse | cloth
rope | cloth
ball | toy
balloon | toy
puzzle | toy
teddy bear | toy
map | paper
letter | paper
book | paper
picture | paper
ticket | paper
card | paper
notebook | paper
diary | paper
newspaper | paper
painting | paper
drawing | paper
stamp | paper
mirror | glass
bottle | glass
jar | glass
lamp | glass
vase | glass
candle | glass
telescope | glass
cup | clay
pot | clay
plate | clay
jug | clay
teapot | clay
mug | clay
dish | clay
""")

STUFF_ADJ = {
    "metal": table("silver golden brass copper iron shiny rusty old heavy tiny bright bent"),
    "small": table("white black blue green red round smooth tiny pretty golden brown shiny"),
    "wood": table("wooden old little red painted carved brown yellow green strong broken light"),
    "cloth": table("red blue green yellow woollen warm soft old striped grey purple pink torn new"),
    "toy": table("red blue green yellow orange big little bright new striped purple spotted"),
    "paper": table("old yellow secret thin thick blue white folded torn little strange new"),
    "glass": table("glass green blue tall little dusty old clear round brown pretty cracked"),
    "clay": table("clay blue white brown little old yellow painted round cracked green chipped"),
}

FOODS = table("""
bread cheese soup honey butter jam porridge rice pie cake stew milk tea fish nuts berries apples pears plums
cherries grapes beans peas carrots onions potatoes cabbage mushrooms eggs pancakes biscuits noodles salad sausages
""")
FRUIT = table("apple pear plum peach cherry orange lemon melon turnip pumpkin carrot onion potato radish tomato fig")
FLOWERS = table("rose tulip daisy lily poppy sunflower daffodil violet bluebell thistle marigold primrose")
TREES = table("oak pine birch willow maple elm ash beech fir apple-tree pear-tree walnut chestnut")
COLOURS = table("red blue green yellow white black brown grey pink purple orange golden silver")

# place | preposition | detail | detail | detail
OUT_PLACES = rows("""
forest | in | tall trees stood close together | the ground was soft with moss | a woodpecker knocked on a trunk
garden | in | beans climbed up their poles | bees moved from flower to flower | the gate was open
river | by | the water ran fast over the stones | a heron stood on one leg | reeds bent in the wind
lake | by | the water was as flat as glass | ducks swam in a line | a small boat lay on the shore
beach | on | waves rolled over the sand | gulls cried above the water | the sand was warm
hill | on | the grass was short and dry | one could see the whole valley | the wind was strong
meadow | in | the grass was high | butterflies danced in the sun | crickets sang
market | at | people called out their prices | there was a smell of fresh bread | the stalls were full of fruit
harbour | at | ships moved up and down | men carried boxes | there was a smell of salt and tar
bridge | on | the stones were worn smooth | the river ran below | carts rolled slowly across
village square | in | the fountain splashed | old men sat on a bench | pigeons walked about
orchard | in | apples hung from every branch | ladders leaned on the trees | wasps buzzed over the fallen fruit
field | in | the corn was yellow | a scarecrow stood with open arms | crows flew up
road | on | dust lay on the stones | a cart had left deep tracks | a milestone stood in the grass
park | in | children ran on the grass | a band played | leaves lay on the path
swamp | in | the mud sucked at every step | frogs croaked | mist hung over the water
valley | in | a stream ran down the middle | sheep stood on the slopes | smoke rose from a few roofs
mountain | on | snow lay on the top | the path was steep | an eagle turned in the sky
cave | in | water dripped from the roof | it was cold and dark | every step made an echo
island | on | palm trees leaned over the beach | there was no house to be seen | crabs ran over the rocks
farmyard | in | hens scratched in the dust | a horse looked over its door | the pump squeaked
churchyard | in | the stones were grey and old | ivy grew on the wall | it was very quiet
railway station | at | the big clock said noon | people waited with their bags | a train stood under steam
mill | by | the wheel turned slowly | flour lay on everything | the stream was loud
desert | in | the sand was hot | nothing moved | there was no shade
lighthouse | by | the light turned round and round | waves broke on the rocks | the door was painted red
pond | by | a frog sat on a leaf | the water was green | dragonflies shone in the light
vineyard | in | the grapes were nearly ripe | the rows ran down the hill | a cart waited at the end
street | in | the lamps were lit | a dog barked behind a fence | wet leaves lay on the stones
ferry | on | the deck shook a little | ropes lay in neat rings | the far shore came slowly nearer
""")

IN_PLACES = rows("""
kitchen | in | a pot boiled on the stove | the floor was clean | bread lay under a cloth
attic | in | dust lay thick on the boxes | a small window let in some light | spiders had been busy
cellar | in | it was cool and dark | barrels stood along the wall | a step creaked
barn | in | the hay smelled sweet | a cow looked up | light fell through the cracks
school | at | the desks stood in rows | a big map hung on the wall | chalk dust was in the air
library | in | books stood up to the ceiling | nobody spoke | an old clock ticked
bakery | in | the oven was hot | loaves lay in rows | the air was white with flour
workshop | in | tools hung on the wall | shavings lay on the floor | it smelled of glue
bedroom | in | the curtains were closed | a soft rug lay on the floor | toys stood on the shelf
castle | in | long halls led to big rooms | old shields hung on the walls | the fire was as tall as a man
hut | in | there was one small room | a fire burned low | herbs hung from the roof
inn | at | travellers sat by the fire | mugs stood on every table | someone sang in a corner
shop | in | the shelves were full | a little bell rang over the door | boxes stood up to the ceiling
stable | in | the horses stamped | straw lay everywhere | it smelled of leather
tower | in | the stairs went round and round | the wind sang in the windows | bats hung under the roof
museum | in | old bones stood behind glass | steps rang on the stone floor | a guard walked up and down
hospital | in | the beds were white | nurses walked softly | flowers stood by the window
theatre | in | the seats were red | the lights went down | someone laughed behind the curtain
greenhouse | in | the air was warm and wet | young plants stood in rows | the glass was green at the edges
boathouse | in | nets hung from the beams | water slapped under the floor | old oars lay in a heap
""")

HIDING = rows("""
under the bed
behind the door
under the table
in a drawer
on the top shelf
under a pile of leaves
behind the stove
in an old boot
under the stairs
between two stones
in a hollow tree
on the window sill
under the rug
behind the curtain
in the wood shed
beside the well
under the bench
in the tall grass
on the roof
behind the clock
in a coat pocket
under a loose board
in the hen house
on a low branch
""")

# trade | what they do | tool | makes or gives | place
TRADES = rows("""
baker | baked bread before sunrise | a long wooden shovel | bread | bakery
farmer | worked in the fields all day | a sharp scythe | corn | farmyard
fisherman | went out in a boat every night | a wide net | fish | harbour
miller | ground the corn of the whole valley | a heavy millstone | flour | mill
teacher | taught the children to read | a piece of chalk | lessons | school
doctor | visited the sick in every kind of weather | a black bag | medicine | hospital
tailor | sewed coats and trousers | a pair of scissors | coats | shop
shoemaker | mended shoes for rich and poor | a small hammer | shoes | workshop
carpenter | made tables and chairs | a good saw | tables | workshop
blacksmith | made shoes for horses | a huge hammer | nails | workshop
gardener | looked after the roses | a watering can | flowers | garden
shepherd | watched the sheep on the hill | a long crook | wool | hill
postman | carried letters from door to door | a leather bag | letters | street
sailor | had seen all the seas of the world | a long rope | stories | harbour
cook | made soup for everybody | a big spoon | soup | kitchen
clockmaker | mended clocks and watches | a tiny screwdriver | clocks | workshop
painter | painted houses and signs | a wide brush | pictures | workshop
potter | made bowls out of clay | a turning wheel | bowls | workshop
weaver | wove cloth on a loom | a big loom | cloth | workshop
beekeeper | kept forty hives | a smoking can | honey | orchard
hunter | knew every path in the woods | a pair of field glasses | furs | forest
innkeeper | gave travellers a bed and a meal | a ring of keys | warm meals | inn
librarian | knew where every book stood | a little ladder | books | library
musician | played at every wedding | an old fiddle | songs | village square
guard | stood at the gate day and night | a tall spear | safety | castle
ferryman | took people across the water | a long pole | a way across | ferry
woodcutter | cut logs for the winter | a sharp axe | firewood | forest
nurse | sat beside the sick at night | a clean white cloth | comfort | hospital
driver | drove the green bus over the hills | a big wheel | rides | street
captain | sailed a ship with three masts | a brass telescope | orders | harbour
lighthouse keeper | lit the lamp every evening | a can of oil | light | lighthouse
stone mason | built walls that stood for a hundred years | a chisel | walls | road
basket maker | wove baskets out of willow | a curved knife | baskets | market
butcher | sold meat and sausages | a broad knife | sausages | shop
florist | sold flowers on the corner | a pair of small shears | flowers | shop
judge | settled every quarrel in the town | a wooden hammer | advice | village square
astronomer | counted the stars | a long telescope | star maps | tower
magician | pulled rabbits out of hats | a black wand | tricks | theatre
""")

# animal | sound | home | food | moves
ANIMALS = rows("""
dog | barked | kennel | bones | ran
cat | meowed | basket by the stove | milk | crept
fox | barked softly | den under the hill | mice | slipped
rabbit | thumped its foot | hole in the bank | clover | hopped
hedgehog | snuffled | heap of leaves | beetles | trotted
squirrel | chattered | hollow oak | nuts | jumped
mouse | squeaked | hole in the wall | crumbs | scurried
owl | hooted | old barn | mice | flew
crow | cawed | tall pine | corn | hopped
duck | quacked | reeds by the pond | weeds | waddled
goose | hissed | little shed | grass | marched
hen | clucked | hen house | corn | scratched about
horse | neighed | stable | oats | trotted
donkey | brayed | stable | thistles | walked
cow | mooed | barn | hay | walked
goat | bleated | shed | leaves | climbed
sheep | bleated | fold on the hill | grass | walked
pig | grunted | sty | turnips | trotted
frog | croaked | pond | flies | leaped
turtle | said nothing | river bank | leaves | crawled
bear | growled | cave | honey | padded
wolf | howled | dark wood | meat | ran
deer | called softly | deep forest | buds | leaped
badger | grunted | burrow | worms | shuffled
otter | whistled | river bank | fish | swam
beaver | slapped its tail | lodge in the stream | bark | swam
sparrow | chirped | nest under the roof | seeds | flew
swan | trumpeted | island in the lake | weeds | glided
parrot | screeched | cage by the window | seeds | climbed
monkey | chattered | tall tree | bananas | swung
lion | roared | dry plain | meat | padded
elephant | trumpeted | green valley | leaves | walked
bee | buzzed | hive | nectar | flew
ant | said nothing | hill of sand | crumbs | marched
snail | said nothing | wet wall | leaves | crawled
stork | clapped its bill | nest on the chimney | frogs | flew
seal | barked | rock in the bay | fish | swam
lamb | bleated | fold on the hill | milk | jumped
pony | neighed | stable | hay | trotted
kitten | meowed | box by the stove | milk | tumbled
puppy | whined | kennel | meat | bounced
""")

FEELINGS = rows("""
happy | smiled | glad
sad | wiped away a tear | unhappy
angry | stamped one foot | cross
afraid | shivered | frightened
tired | yawned | sleepy
proud | stood very straight | pleased
surprised | stared with wide eyes | amazed
lonely | sighed | alone
hungry | looked at the bread | starved
worried | bit one lip | uneasy
brave | took a deep breath | bold
curious | leaned forward | interested
shy | looked at the floor | quiet
calm | nodded slowly | peaceful
ashamed | turned red | sorry
excited | jumped up and down | eager
grateful | bowed | thankful
jealous | looked away | envious
bored | kicked a stone | restless
puzzled | scratched a cheek | confused
""")

TRAITS = table("""
kind brave clever quiet cheerful lazy patient honest curious stubborn gentle careful proud shy busy friendly
strong thin tall short merry wise careless polite hard-working dreamy greedy generous
""")

KIN = rows("""
sister | girl
brother | boy
mother | woman
father | man
grandmother | woman
grandfather | man
aunt | woman
uncle | man
cousin | any
friend | any
neighbour | any
""")

VILLAGES = table("""
Ashford Millbrook Stonebridge Greenhill Oakham Westport Redfield Longmoor Fairhaven Northwick Brookdale Kingsbury
Whitecliff Elmwood Sandbay Thornton Riverton Highcastle Foxdale Lakeside
""")

WEATHER = rows("""
The sun shone. | sunny
It was a bright, clear day. | sunny
It was warm, and no cloud was in the sky. | sunny
It rained all day. | rainy
Rain fell on the roofs. | rainy
Grey clouds hung over the hills. | cloudy
The sky was grey. | cloudy
A cold wind blew. | windy
The wind shook the trees. | windy
Snow had fallen in the night. | snowy
Snow lay deep on the fields. | snowy
Fog lay over the valley. | foggy
Thick fog hid the houses. | foggy
There was frost on the windows. | frosty
It was so hot that even the dogs slept. | hot
""")

TIMES = rows("""
One morning
One evening
One day
One cold morning
One summer day
One winter night
Early one morning
Late one evening
One Sunday
One Monday
One Friday
On a spring morning
On an autumn day
One afternoon
Just before dinner
After school
After supper
At the end of the week
On the first day of May
On market day
Long ago
Last summer
Last winter
""")

NUMBERS = table("two three four five six seven eight nine ten twelve twenty")
