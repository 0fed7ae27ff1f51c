"""Facts that can be said in two ways, for `duplicates.py`: the same in every run."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

_WORDS = {
    "who": (
        "Ada Bruno Clara Dario Edda Fabio Greta Hanno Ilse Jonas Kira Lars Mona Nuno Orla Pavel "
        "Quinn Rika Soren Tilda Ugo Vera Wim Xandra Yara Zeno"
    ),
    "place": (
        "Lisbon Oslo Kyoto Nairobi Toronto Lima Ghent Porto Cork Bergen Valencia Krakow Tampere "
        "Lyon Bristol Zagreb Aarhus Bologna Leeds Basel"
    ),
    "thing": (
        "bicycle laptop camera piano tent kettle sofa printer telescope guitar heater backpack "
        "violin drill microscope scooter freezer lamp wardrobe canoe"
    ),
    "food": (
        "lentils mushrooms salmon oatmeal dumplings olives ginger aubergine cheesecake tofu "
        "chestnuts paprika rhubarb couscous anchovies yoghurt mango walnuts"
    ),
    "pastime": (
        "climbing pottery chess rowing calligraphy birdwatching karate knitting fencing gardening "
        "swimming astronomy baking sailing photography archery"
    ),
    "topic": (
        "budget migration interview contract inspection audit launch rehearsal exam renovation "
        "survey hearing translation newsletter insurance mortgage"
    ),
    "day": "Monday Tuesday Wednesday Thursday Friday Saturday Sunday",
    "room": "cellar attic garage kitchen hall shed office balcony",
    "colour": "red blue green yellow grey purple orange white black turquoise",
}
_SLOTS = {name: words.split() for name, words in _WORDS.items()}

# The same fact, and the same fact in other words.
_SAID = (
    ("{who} lives in {place} and works on the {topic}", "{who} is based in {place}, working on the {topic}"),
    ("The {colour} {thing} is stored in the {room}", "The {room} is where the {colour} {thing} is kept"),
    ("{who} is allergic to {food}", "{food} gives {who} an allergic reaction"),
    ("The {topic} with {who} takes place on {day}", "On {day} the {topic} with {who} is held"),
    ("{who} goes {pastime} every {day}", "Every {day} is {pastime} day for {who}"),
    ("{who} borrowed the {colour} {thing}", "The {colour} {thing} was lent to {who}"),
    ("{who} does not eat {food} at all", "{food} is something that {who} never eats"),
    ("{who} teaches {pastime} in {place}", "In {place}, {who} gives {pastime} lessons"),
    ("{who} is in charge of the {topic}", "The {topic} is the responsibility of {who}"),
    ("The {thing} from {place} has to be repaired", "A repair is needed for the {thing} from {place}"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    id: str
    first: str
    second: str


def facts(count: int, chance: random.Random) -> Iterator[Fact]:
    """No two the same."""
    seen: set[str] = set()
    while len(seen) < count:
        words = {name: chance.choice(some) for name, some in _SLOTS.items()}
        first, second = (one.format(**words) for one in chance.choice(_SAID))
        if first not in seen:
            seen.add(first)
            yield Fact(id=first, first=first, second=second[0].upper() + second[1:])


def worded_anew(text: str, chance: random.Random) -> str:
    """The same words: with another case, spacing or end."""
    return chance.choice([text, text.lower(), f"{text}.", text.replace(" ", "  "), f"{text}!"])
