"""Sentences that people might have said to an assistant, and questions about them.

The same on every machine and in every run: made from word lists with a seed of their own.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

_SEED = 20_240_518

_WORDS = {
    "who": (
        "Anna Ben Carla David Elena Farid Grace Hugo Ines Jonas Keiko Liam Maria Nadia Omar Paula "
        "Quentin Rosa Samir Tessa Umar Vera Walter Xenia Yusuf Zoe Ada Boris Chloe Dario Esther "
        "Felix Gina Hassan Irene Jack Karin Leo Mona Nils"
    ),
    "kin": (
        "sister brother mother father cousin neighbour colleague manager dentist landlord trainer "
        "tutor grandmother uncle niece flatmate"
    ),
    "place": (
        "Lisbon Oslo Kyoto Nairobi Toronto Lima Ghent Porto Cork Bergen Valencia Krakow Tampere "
        "Lyon Bristol Zagreb Aarhus Bologna Leeds Basel Antwerp Malmo Quito Hanoi"
    ),
    "thing": (
        "bicycle laptop camera piano tent kettle sofa printer telescope guitar heater backpack "
        "violin drill microscope projector scooter freezer lamp wardrobe canoe router"
    ),
    "food": (
        "lentils mushrooms salmon oatmeal dumplings olives ginger aubergine cheesecake tofu "
        "chestnuts paprika rhubarb couscous anchovies yoghurt mango walnuts beetroot coriander"
    ),
    "pastime": (
        "climbing pottery chess rowing calligraphy birdwatching karate knitting fencing gardening "
        "swimming astronomy baking sailing photography salsa archery juggling hiking origami"
    ),
    "topic": (
        "budget migration interview contract inspection audit launch rehearsal exam renovation "
        "survey hearing translation newsletter vaccination insurance mortgage invoice"
    ),
    "day": "Monday Tuesday Wednesday Thursday Friday Saturday Sunday",
    "month": ("January February March April May June July August September October November December"),
    "colour": "red blue green yellow grey purple orange white black turquoise",
}
_SLOTS = {slot: words.split() for slot, words in _WORDS.items()}

_SAID = (
    "{who} moved to {place} in {month} and works on the {topic} there",
    "My {kin} {who} is allergic to {food} and carries a note about it since {month}",
    "The {topic} with {who} is on {day} at {hour} o'clock in {place}",
    "I sold the {colour} {thing} to {who} for {number} euros on {day}",
    "{who} goes {pastime} every {day} with a {kin} from {place}",
    "I prefer {food} to {other} when {who} cooks on {day}",
    "The {thing} from {place} broke in {month} and {who} has the receipt number {number}",
    "{who} promised to send the papers for the {topic} before {day} the {date} of {month}",
    "We meet {who} in {place} on the {date} of {month} to talk about {pastime}",
    "My {kin} keeps a {colour} {thing} in {place} that belongs to {who}",
    "From now on the {topic} is handled by {who}, not by my {kin} in {place}",
    "{who} learned {pastime} in {place} and taught it for {number} days",
    "The code of the {colour} {thing} is with {who}, who comes back from {place} in {month}",
    "On {day} {who} ordered {food} and {other} for {number} guests in {place}",
)
_ASKED = (
    "When is the {topic} with {who}?",
    "Where did {who} move in {month}?",
    "What is {who} allergic to?",
    "Who bought the {colour} {thing}?",
    "On which day does {who} go {pastime}?",
    "Who has the receipt of the {thing} from {place}?",
    "What does my {kin} keep in {place}?",
    "Who handles the {topic} now?",
)


def said() -> Iterator[str]:
    """Without end, and never the same sentence twice."""
    chance = random.Random(_SEED)
    seen: set[str] = set()
    while True:
        sentence = _filled(chance.choice(_SAID), chance)
        if sentence not in seen:
            seen.add(sentence)
            yield sentence


def asked() -> Iterator[str]:
    chance = random.Random(_SEED + 1)
    seen: set[str] = set()
    while True:
        question = _filled(chance.choice(_ASKED), chance)
        if question not in seen:
            seen.add(question)
            yield question


def _filled(pattern: str, chance: random.Random) -> str:
    words = {slot: chance.choice(choices) for slot, choices in _SLOTS.items()}
    words["other"] = chance.choice([food for food in _SLOTS["food"] if food != words["food"]])
    numbers = {"hour": chance.randrange(7, 22), "date": chance.randrange(1, 29)}
    return pattern.format(**words, **numbers, number=chance.randrange(2, 2_000))
