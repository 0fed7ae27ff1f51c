"""What a speaker says about how far a message may go, and from whom it is kept."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.learn.facts import Hold, Mention
from tacit.learn.needed import low, may_match
from tacit.learn.reading.forms import HoldForm
from tacit.learn.reading.mentions import is_name, mention
from tacit.learn.reading.tongue import Tongue


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
                withheld += _named(names, tongue)
    hold = max(holds, key=_STRICTNESS.__getitem__, default=None)
    return Reach(hold=hold, withheld_from=tuple(dict.fromkeys(withheld)))


def silenced(text: str, tongue: Tongue) -> str:
    """The text without those words, which are no facts; its length stays."""
    for form in _likely(text, tongue):
        text = form.match.sub(lambda match: "." + " " * (len(match[0]) - 1), text)
    return text


def _likely(text: str, tongue: Tongue) -> list[HoldForm]:
    """Those that may match, also once others are cut out of the text."""
    seen = low(text)
    return [form for form in tongue.holds if may_match(form.needs, seen)]


def _named(text: str, tongue: Tongue) -> list[Mention]:
    found = []
    for one in tongue.patterns["listed"].split(text):
        one = (one or "").strip(" ,.!")
        kin = tongue.patterns["somebody"].fullmatch(one)
        if kin:
            known = tongue.kin[kin["kin"].casefold()]
            name = kin["name"] if kin["name"] and is_name(kin["name"], tongue) else None
            found.append(mention(one, known, name))
        elif is_name(one, tongue):
            found.append(mention(one, None, one))
    return found
