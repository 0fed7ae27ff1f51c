"""Whether one value may take the place of another: how the difference is said, and of what."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.learn.amending.clause import Gist
from tacit.learn.amending.cues import Cues
from tacit.learn.amending.typed import LABEL, Token, Value, alike, same

_SHARED_PHRASE_MAX_COUNT = 6  # words of a value
_EXACT = frozenset({"contact", "money"})
TIMES = frozenset({"day", "clock", "month", "year"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Tone:
    """How a whole message is said."""

    strong: bool  # "switched", "no longer", "instead", "I meant"
    weak: bool  # "now", "these days", "since May"
    added: bool  # "also", "too": whatever it says stands beside the rest
    corrects: bool  # "typo", "I meant": the value was wrong from the start
    done: bool  # "I've renewed": it speaks of what was to be done

    @property
    def turned(self) -> bool:
        return (self.strong or self.weak) and not self.added


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The words in which two clauses of one frame differ, and the values among them."""

    before: tuple[Token, ...]
    after: tuple[Token, ...]
    old: list[Value]
    new: list[Value]
    kept: bool  # words that tell something, beside the verb, are the same


def one_difference(old: Gist, new: Gist, change: Change, tone: Tone, own: Cues) -> bool:
    """Two differences make another fact: "coffee in the morning", "tea in the evening"."""
    before, after = change.before, change.after
    counted = [sum(word.low[:1].isalnum() for word in side) for side in (before, after)]
    if max(counted) > _SHARED_PHRASE_MAX_COUNT:
        return False
    parts = [_parts(words, own) for words in (before, after)]
    dated = [
        {value.sort for value in found} <= TIMES | {"number"} for found in (change.old, change.new)
    ]
    if {word.stem for word in before} == {word.stem for word in after}:
        return tone.turned  # "rather tea than coffee", the other way round
    if min(map(len, parts)) > 1:
        valued = len(change.old) >= len(parts[0]) and len(change.new) >= len(parts[1])
        days = [v.plain for v in (*change.old, *change.new) if v.sort == "day"]
        # A day of the year comes once, a day of the week may come with another.
        once = bool(days) and all(day[0].isdecimal() for day in days) and not old.speaks
        return (tone.turned or once) and all(dated) and valued
    if old.settings == new.settings:
        return True
    # A setting that only one of them has leaves room for the other; two are a value each.
    return bool(old.settings) and bool(new.settings) and all(len(one) == 1 for one in parts)


def _parts(words: tuple[Token, ...], own: Cues) -> list[list[Token]]:
    parts: list[list[Token]] = [[]]
    for word in words:
        if word.low in own.words["prepositions"] and parts[-1]:
            parts.append([])
        elif word.low not in own.words["prepositions"]:
            parts[-1].append(word)
    return [part for part in parts if part]


def may_replace(old: Gist, new: Gist, change: Change, tone: Tone, own: Cues) -> bool:
    if new.added or tone.added or ((old.past or new.past) and not tone.corrects):
        return False
    if old.added and not tone.turned:
        return False
    if _within_other(change, own) and not tone.turned:
        return False
    sorted_alike = any(alike(one, other) for one in change.old for other in change.new)
    if _counts(change, old, new):
        return True
    if old.verb in own.words["many_verbs"]:
        # The thing stays and how it is liked changes: "my steak rare", "my steak well done".
        return tone.turned and ((tone.strong and sorted_alike) or change.kept)
    if old.verb in own.words["some_verbs"]:
        measured = sorted_alike and _measured(change)
        return (change.kept and (tone.turned or measured)) or (tone.turned and measured)
    if old.verb in own.words["prefers"]:
        return _preferred(old, new) or (tone.turned and change.kept)
    if tone.corrects:
        return True
    if old.preposition in own.words["until"] and not old.speaks:
        return sorted_alike and new.preposition in own.words["until"]
    if old.speaks and old.verb in own.words["being"]:
        return _states(old, new, change, tone, own)
    if old.preposition != new.preposition and new.preposition in own.words["holding"]:
        # A key is with one person, or in one place.
        return bool(change.new) and bool(set(old.subject) & own.words["movables"] or tone.turned)
    if {value.sort for value in change.old} & _EXACT and not change.new:
        return False  # "my email is a mess"
    if _number_and_word(change) or _name_and_number(change):
        return False  # "the rent is 800", "the rent is late"
    shaped = sorted_alike or _shaped_alike(old, new, change, own)
    if old.verb in own.words["being"] and not shaped:
        return False
    if set(old.subject) & own.words["many_nouns"] and not named(old):
        return tone.turned and not old.role
    if tone.turned:
        return True
    if old.verb in own.words["being"] and _of_person(old, own) and not _no_name(new, change, own):
        return sorted_alike and _measured(change)
    if set(new.subject) != set(old.subject) and not spelt_together(old, new):
        return False  # "my phone" need not be "my work phone"
    sorts = {value.sort for value in (*change.old, *change.new)}
    unlike = not sorted_alike and ((change.old and change.new) or "colour" in sorts)
    if old.verb in own.words["naming"]:
        single = bool(set(old.subject) & own.words["single_nouns"])
        shaped = single or bool(_opening(old, own))
        return sorted_alike or (not unlike and shaped and not _name_and_word(change, new, own))
    if old.verb in own.words["single_verbs"]:
        # Who works on Mondays may work on Tuesdays.
        return not unlike and not ("day" in sorts and _of_person(old, own))
    return sorted_alike and _measured(change) and change.kept


def _within_other(change: Change, own: Cues) -> bool:
    """ "Lives in England", "lives in Leeds": a country, and a town in it."""
    sides = [
        {w.low for w in side} & own.words["countries"] for side in (change.before, change.after)
    ]
    return bool(sides[0]) != bool(sides[1])


def _preferred(old: Gist, new: Gist) -> bool:
    """ "Aisle seats", "window seats": one preference about one thing."""
    lasts = [gist.said[-1].stem if gist.said else None for gist in (old, new)]
    return lasts[0] == lasts[1]


def _counts(change: Change, old: Gist, new: Gist) -> bool:
    """ "Two children", "three children": a number of the same things, said first."""
    for one, other in matched(change.old, change.new):
        counted = one.sort == "number" and one.unit == other.unit != ""
        first = [
            old.words[one.start] == change.before[0],
            new.words[other.start] == change.after[0],
        ]
        if counted and all(first) and not one.unit.endswith(LABEL):
            return True
    return False


def _measured(change: Change) -> bool:
    return {value.sort for value in change.old} <= {"clock", "number", "money"}


def _no_name(new: Gist, change: Change, own: Cues) -> bool:
    """A capital that only opens a sentence names nobody: "Thesis is due", "the thesis is due"."""
    if set(new.subject) & own.words["people"] or not "".join(new.plain).islower():
        return False
    return bool(change.old) and {value.sort for value in (*change.old, *change.new)} <= TIMES


def _name_and_number(change: Change) -> bool:
    """Who is called Rex and is four has a name and an age."""
    sides = [{value.sort for value in side} for side in (change.old, change.new)]
    return {"name"} in sides and {"number"} in sides


def _number_and_word(change: Change) -> bool:
    sides = [{value.sort for value in side} for side in (change.old, change.new)]
    counted = [bool(side) and side <= {"number", "money"} for side in sides]
    return counted[0] != counted[1] and not (sides[0] and sides[1])


def _shaped_alike(old: Gist, new: Gist, change: Change, own: Cues) -> bool:
    """Both in a place, or both a thing of a kind: "is a Dell", "is a ThinkPad". What is only
    called this or that has many sides: "is red", "is fast"."""
    if (change.old and change.new) or _name_and_word(change, new, own):
        return False
    if old.preposition and new.preposition:
        alike = old.preposition == new.preposition and not _of_person(old, own)
        return alike or _opening(old, own) == _opening(new, own)
    if change.kept and old.said[0].low in own.words["offices"]:
        return True  # "head of sales", "head of support"
    if set(old.subject) & own.words["single_nouns"]:
        sorts = {value.sort for value in (*change.old, *change.new)}
        people = bool(set(old.subject) & own.words["people"])
        return "colour" not in sorts and (not people or (_named_words(change)))
    return _opening(old, own) == _opening(new, own) != "" and not _of_person(old, own)


def _name_and_word(change: Change, new: Gist, own: Cues) -> bool:
    """ "My phone is dead" says nothing of which phone it is."""
    if set(new.subject) & own.words["choices"]:
        return False  # a favourite may be called anything
    if new.preposition in own.words["locations"] - own.words["holding"]:
        return False  # a place may be called anything, too
    known = any(value.sort == "name" for value in change.old) and not change.new
    capital = any(word.text[:1].isupper() for word in change.after)
    if known and not capital and not _opening(new, own):
        return True
    plain = not change.old and not any(word.text[:1].isupper() for word in change.before)
    return plain and bool(change.new) and len(change.before) == 1 and capital


def _named_words(change: Change) -> bool:
    return all(any(w.text[:1].isupper() for w in side) for side in (change.before, change.after))


def _opening(gist: Gist, own: Cues) -> str:
    first = gist.said[0].low if gist.said else ""
    if first in own.words["indefinite"] or first in own.words["one_of"]:
        return "a" if first in own.words["indefinite"] else "the"
    return ""


def _of_person(gist: Gist, own: Cues) -> bool:
    people = own.words["people"] - own.words["single_nouns"]
    return gist.speaks or bool(set(gist.subject) & people) or (named(gist) and not gist.owned)


def _states(old: Gist, new: Gist, change: Change, tone: Tone, own: Cues) -> bool:
    """ "I'm a teacher now": what somebody is has many sides, and only like replaces like."""
    pairs = matched(change.old, change.new)
    if _opening(old, own) != _opening(new, own) and {value.sort for value in change.new} == {
        "number"
    }:
        return False  # "I'm a 39 in every brand"
    if old.preposition:
        return bool(pairs) or (tone.turned and _shaped_alike(old, new, change, own))
    lasts = [gist.said[-1].stem if gist.said else "" for gist in (old, new)]
    alike = lasts[0] == lasts[1] and lasts[0] not in own.words["manifold"]
    return tone.turned and (bool(pairs) or alike)


def kept(old: Gist, before: tuple[Token, ...], own: Cues) -> bool:
    """Whether something that tells is left, beside the verb and where or when it is so."""
    numbers = {value.start for value in old.values if value.sort == "number"}
    for position, word in enumerate(old.said):
        if before[0].start <= word.start < before[-1].end or word.low in own.words["small"]:
            continue
        if word.low[:1].isdecimal() or old.start + position in numbers:
            continue
        wish = position == 0 and old.preposition in own.words["towards"]
        infinitive = wish and word.stem in own.words["verbs"]
        if not infinitive and word.low not in " ".join(old.settings):
            return True
    return False


def within(gist: Gist, words: tuple[Token, ...]) -> list[Value]:
    if not words:
        return []
    start, end = words[0].start, words[-1].end
    return [
        value
        for value in gist.values
        if gist.words[value.start].start >= start and gist.words[value.end - 1].end <= end
    ]


def matched(old: list[Value], new: list[Value]) -> list[tuple[Value, Value]]:
    """Values of one sort that differ, where each side has one of that sort only."""
    found = []
    for one in old:
        others = [value for value in new if alike(one, value)]
        rivals = [value for value in old if alike(one, value)]
        if len(others) == 1 and len(rivals) == 1 and not same(one, others[0]):
            found.append((one, others[0]))
    return found


def named(gist: Gist) -> bool:
    return any(text[:1].isupper() for text in gist.plain)


def spelt_together(old: Gist, new: Gist) -> bool:
    """ "Time zone", "timezone"."""
    return "".join(old.plain).casefold() == "".join(new.plain).casefold()
