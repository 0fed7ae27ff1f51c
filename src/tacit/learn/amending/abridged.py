"""A correction that says no subject: "no, Porto, not Lisbon", "actually it's the 14th". It counts
only with words that say so, and for a value of the same type. All other messages without a subject
(answers, choices, orders, thanks) correct nothing."""

from __future__ import annotations

import re
from dataclasses import replace
from difflib import SequenceMatcher

from tacit.learn.amending.change import matched, within
from tacit.learn.amending.clause import Gist
from tacit.learn.amending.compare import Link
from tacit.learn.amending.cues import Cues
from tacit.learn.amending.heard import Heard, span_at, span_of, telling, text_of
from tacit.learn.amending.named import rescheduled
from tacit.learn.amending.typed import Value, alike, same, tokens
from tacit.learn.amending.weekdays import day_of
from tacit.learn.reading.tongue import tongue

_NTH = re.compile(r"(\d{1,2})(?:st|nd|rd|th|\.)?")
_YEAR = re.compile(r"(?:19|20)\d\d")
_NAMES = frozenset({"name", "places"})
_SPELT_ALIKE_MIN_RATIO = 0.75
_PERSON, _PLACE = "person", "place"


def abridged(old: Gist, heard: Heard, own: Cues) -> Link | None:
    """The value of something known that the message corrects; None where its type differs, or
    cannot be told."""
    new = heard.correction
    if new is None:
        return None
    if heard.not_that:
        return _named_as_wrong(old, new, heard.not_that, own)
    if not _only_values(new, own):
        return None
    reason = "the last thing said, corrected"
    if len(new.values) > 1:
        moved = rescheduled(old, new, matched(list(old.values), list(new.values)))
        return replace(moved, score=3, reason=reason) if moved else None
    fits = [value for value in within(old, old.said) if _same_type(old, value, new, own)]
    if len(fits) != 1 or same(fits[0], new.values[0]):
        return None
    return Link(score=3, reason=reason, span=span_at(old, fits[0]), new=text_of(new, new.values[0]))


def asks_about(asked: str, value: str, own: Cues) -> bool:
    """Whether a question repeats a value and offers no choice: an answer to any other question says
    nothing of the value."""
    words = {word.stem for word in tokens(asked, own)}
    told = {word for word in telling(value, own) if not _YEAR.fullmatch(word)}
    return bool(told) and told <= words and words.isdisjoint(own.words["or"])


def _named_as_wrong(old: Gist, new: Gist, denied: frozenset[str], own: Cues) -> Link | None:
    """ "Porto, not Lisbon": the old value is named, and what is said in its place may be of a type
    that cannot be told, but of no other type."""
    named = denied & {word.stem for word in old.said}
    span = span_of(old, denied) if named else _on_that_day(old, denied, own)
    if span is None:
        return None
    typed = [value for value in old.values if _overlaps(span_at(old, value), span)]
    told = [value for value in typed if new.values and _same_type(old, value, new, own)]
    names = all(value.sort in _NAMES for value in typed)
    unknown = all(not _type(old, value, own) for value in typed)
    untold = _untold_name(new, own) if new.values else unknown
    if told and _only_values(new, own):
        span = span_at(old, told[0])
    elif not (names and untold):
        return None
    return Link(score=6, reason="named as wrong", span=span, new=new.said_text)


def _overlaps(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _untold_name(new: Gist, own: Cues) -> bool:
    return all(value.sort in _NAMES and not _type(new, value, own) for value in new.values)


def _only_values(new: Gist, own: Cues) -> bool:
    """Whether a correction says values and nothing else: "the red one" is a choice."""
    typed = {n for value in new.values for n in range(value.start, value.end)}
    plain = own.among("articles", "prepositions")
    rest = [word.low for n, word in enumerate(new.words) if n not in typed]
    return bool(typed) and all(low in plain or not low[:1].isalnum() for low in rest)


def _same_type(old: Gist, value: Value, new: Gist, own: Cues) -> bool:
    other = new.values[0]
    if not alike(value, other):
        return False
    if value.sort not in _NAMES or _spelt_alike(old, value, new):
        return True
    known = _type(old, value, own) or _type_of_holder(old, own)
    return known != "" and known == _type(new, other, own)


def _spelt_alike(old: Gist, value: Value, new: Gist) -> bool:
    """ "*Smokey", for Smoky: the same name, spelled right."""
    sides = text_of(old, value).casefold(), text_of(new, new.values[0]).casefold()
    return SequenceMatcher(None, *sides).ratio() >= _SPELT_ALIKE_MIN_RATIO


def _type(gist: Gist, value: Value, own: Cues) -> str:
    """Whether a name is a person's or a place's, by the lists of its language; "" where neither
    has it."""
    words = tongue(own.code).words
    named = [word.low for word in gist.words[value.start : value.end]]
    if value.sort == "places" or any(low in words["places"] for low in named):
        return _PLACE
    person = named[0] in words["first_names"] or named[0] in own.words["titles"]
    return _PERSON if person else ""


def _type_of_holder(old: Gist, own: Cues) -> str:
    """Whoever is somebody's sister is a person, whatever the name; a school that she goes to is
    none."""
    named = old.verb in own.words["naming"] and old.preposition is None
    return (
        _PERSON if named and set(old.subject) & own.among("people", "pets", "named_things") else ""
    )


def _on_that_day(old: Gist, denied: frozenset[str], own: Cues) -> tuple[int, int] | None:
    """ "Not Tuesday" or "not the 17th", of something that is known for "17 June 2025"."""
    if len(denied) != 1:
        return None
    language = tongue(own.code)
    named = language.dates.words["weekdays"]
    wanted = {number for word, number in named.items() if own.stem(word) in denied}
    nth = _NTH.fullmatch(min(denied))
    for value in old.values:
        day = day_of(text_of(old, value), language) if value.sort == "day" else None
        if day is not None and (day.weekday() in wanted or (nth and day.day == int(nth[1]))):
            return span_at(old, value)
    return None
