"""What a speaker says about how far a message may go, and from whom it is kept."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tacit.learn.facts import Hold, Mention
from tacit.learn.needed import low, may_match
from tacit.learn.reading.forms import HoldForm
from tacit.learn.reading.mentions import is_name, mention
from tacit.learn.reading.tongue import Tongue, codes
from tacit.learn.reading.tongue import tongue as tongue_of

_WORD = re.compile(r"@?\w[\w'-]*")
_EMPTIED = re.compile(r"\([\s.,:;!-]*\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """How far a message may go. The strictest word of a message counts."""

    hold: Hold | None
    withheld_from: tuple[Mention, ...]


_STRICTNESS = {Hold.PRIVATE: 2, Hold.ROOM: 1, Hold.SHARE: 0}


def reach(text: str, tongue: Tongue) -> Reach:
    holds: list[Hold] = []
    withheld: list[Mention] = []
    for form in _likely(text, tongue):
        for match in form.match.finditer(text):
            names = match.groupdict().get("names")
            if form.hold:
                holds.append(form.hold)
            elif names:
                withheld += _named(names, tongue) or _meant(names, text, tongue)
    hold = max(holds, key=_STRICTNESS.__getitem__, default=None)
    return Reach(hold=hold, withheld_from=tuple(dict.fromkeys(withheld)))


def is_guarded(text: str) -> bool:
    """Whether a text says, in any language that is read here, that not everybody may hear it."""
    found = [reach(text, tongue_of(code)) for code in codes()]
    return any(one.withheld_from or one.hold in (Hold.PRIVATE, Hold.ROOM) for one in found)


def silenced(text: str, tongue: Tongue) -> str:
    """The text without those words, but for those that a fact is made of; its length stays."""
    for form in _likely(text, tongue):
        if form.stated:
            continue
        text = form.match.sub(lambda match: "." + " " * (len(match[0]) - 1), text)
    # What stood in brackets ends no sentence: "I bought a watch (don't tell Bob) for his birthday".
    return _EMPTIED.sub(lambda match: " " * len(match[0]), text)


def _likely(text: str, tongue: Tongue) -> list[HoldForm]:
    """Those that may match, also once others are cut out of the text."""
    seen = low(text)
    return [form for form in tongue.holds if may_match(form.needs, seen)]


def _meant(pronoun: str, text: str, tongue: Tongue) -> list[Mention]:
    """Whom "don't tell him" can mean: everybody whom the message names, because one too many hears
    less, and one too few would hear it. Where it names nobody, somebody whom nobody knows."""
    if pronoun.casefold() not in tongue.words["pronouns_hushed"]:
        return []
    words = (word.removesuffix("'s") for word in _WORD.findall(text.replace("’", "'")))
    names = [mention(word, None, word) for word in words if is_name(word, tongue)]
    return names or [mention(pronoun)]


def _named(text: str, tongue: Tongue) -> list[Mention]:
    found = []
    for one in tongue.patterns["listed"].split(text):
        one = (one or "").strip(" ,.!")
        kin = tongue.patterns["somebody"].fullmatch(one)
        if kin:
            known = tongue.kin[kin["kin"].casefold()]
            name = kin["name"] if kin["name"] and is_name(kin["name"], tongue) else None
            found.append(mention(one, known, name))
        elif one.casefold() in tongue.kin:  # "don't tell mum"
            found.append(mention(one, tongue.kin[one.casefold()]))
        elif is_name(one, tongue) or is_name(one.partition(" ")[0], tongue):  # "bob smith"
            found.append(mention(one, None, one))
    return found
