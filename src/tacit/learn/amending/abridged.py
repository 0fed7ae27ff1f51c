"""A few words that only make sense as a correction of the last thing said: "no wait, Thursday"."""

from __future__ import annotations

from dataclasses import replace
from difflib import SequenceMatcher

from tacit.learn.amending.change import matched, within
from tacit.learn.amending.clause import Gist
from tacit.learn.amending.compare import Link, same_subject
from tacit.learn.amending.cues import Cues
from tacit.learn.amending.heard import Heard, same_ending, span_at, span_of, text_of, untyped
from tacit.learn.amending.named import rescheduled
from tacit.learn.amending.typed import Token, Value, alike, same
from tacit.learn.amending.weekdays import day_of
from tacit.learn.reading.tongue import tongue

_SPELT_ALIKE_MIN_RATIO = 0.6
_SPELT_MIN_CHARS = 3
_OPENING_MAX_COUNT = 3  # words


def abridged(old: Gist, heard: Heard, own: Cues) -> Link | None:
    """ "No wait, Thursday": a value that takes the place of the only one of its sort."""
    new = heard.ellipsis
    if new is None or (heard.late and not _known_words(old, new, own)):
        return None
    if heard.not_that:
        span = span_of(old, heard.not_that) or _on_that_day(old, heard.not_that, own)
        return (
            Link(score=6, reason="named as wrong", span=span, new=new.said_text) if span else None
        )
    value = _replaceable(old, new)
    reason = "the last thing said, corrected"
    if value:
        return Link(
            score=3, reason=reason, span=span_at(old, value), new=text_of(new, new.values[0])
        )
    if moved := rescheduled(old, new, matched(list(old.values), list(new.values))):
        return replace(moved, score=3, reason=reason)
    words = same_ending(old, new, own) or _same_opening(old, new, own)
    words = words or _numbered(old, new) or _spelt_alike(old, new, own)
    words = words or _chosen(old, heard, own)
    if words is None:
        return None
    bare = own.patterns["article"].sub("", new.said_text)
    return Link(score=3, reason=reason, span=(words[0].start, words[-1].end), new=bare)


def _known_words(old: Gist, new: Gist, own: Cues) -> bool:
    """Whether a fragment says nothing but a value, beside what is known."""
    dropped = own.among("small", "prepositions")
    told = {word.stem for word in new.words if word.low not in dropped and word.low.isalpha()}
    return bool(new.values) and told & untyped(new) <= {word.stem for word in old.words}


def switched(old: Gist, heard: Heard, own: Cues) -> Link | None:
    """ "I switched to Zed", right after what somebody uses."""
    # "Is with EE", "banks with HSBC".
    being = old.verb in own.words["being"] and old.speaks
    member = old.preposition in own.words["holding"]
    if heard.tone.added or not (old.verb in own.words["switchable"] or (member and being)):
        return None
    for clause in heard.clauses:
        to = clause.preposition in own.words["towards"]
        verbs = own.words["switching"] | (
            own.words["changes"] if member and heard.tone.strong else frozenset()
        )
        moved = clause.verb in verbs and to and bool(clause.said)
        ours = clause.speaks and bool(set(old.subject[-1:]) & own.words["groups"])
        alike = ours or same_subject(old, clause, own)
        if moved and alike and not _other_sort(old, clause):
            span = (old.said[0].start, old.said[-1].end) if old.said else None
            return Link(score=2, reason="switched", span=span, new=clause.said_text)
    return None


def _other_sort(old: Gist, clause: Gist) -> bool:
    """Who switches to oat milk banks where they did."""
    named = bool(old.said) and old.said[0].text[:1].isupper() and len(old.said) == 1
    capitals = any(char.isupper() for char in clause.said_text)
    member = old.preposition is not None  # with a bank, a firm: these have names
    return named and not capitals and (member or len(clause.said) > 1)


def _replaceable(old: Gist, new: Gist) -> Value | None:
    told = list(new.values)
    if len(told) != 1:
        return None
    fits = [value for value in old.values if alike(value, told[0])]
    inside = [value for value in fits if value in within(old, old.said)] or fits
    if len(inside) != 1 or same(inside[0], told[0]):
        return None
    return inside[0]


def _on_that_day(old: Gist, denied: frozenset[str], own: Cues) -> tuple[int, int] | None:
    """ "Not Tuesday", of something that is known for "17 June 2025"."""
    if len(denied) != 1:
        return None
    language = tongue(own.code)
    named = language.dates.words["weekdays"]
    wanted = {number for word, number in named.items() if own.stem(word) in denied}
    for value in old.values:
        day = day_of(text_of(old, value), language) if value.sort == "day" else None
        if day is not None and day.weekday() in wanted:
            return span_at(old, value)
    return None


def _same_opening(old: Gist, new: Gist, own: Cues) -> tuple[Token, ...] | None:
    """ "Hull KR" for "Hull City"."""
    words = [word for word in new.words if word.low[:1].isalnum()]
    if not 1 < len(words) <= _OPENING_MAX_COUNT or words[0].low in own.words["small"]:
        return None
    said = old.said
    found = [n for n, word in enumerate(said[:-1]) if word.stem == words[0].stem]
    if len(found) != 1 or words[1].stem == said[found[0] + 1].stem:
        return None
    follows = said[found[0] + 1]
    return (said[found[0]], follows) if follows.low not in own.words["small"] else None


def _chosen(old: Gist, heard: Heard, own: Cues) -> tuple[Token, ...] | None:
    """ "Nah, the crown", of a favourite pub."""
    new = heard.ellipsis
    if new is None or new.values or not 0 < len(new.words) <= _OPENING_MAX_COUNT:
        return None
    if heard.late or not set(old.subject) & own.words["choices"]:
        return None
    if new.words[-1].low.endswith(("er", "est", "ly")):
        return None  # "make it shorter" speaks of the answer
    said = tuple(word for word in old.said if word.low not in own.words["articles"])
    return said or None


def _numbered(old: Gist, new: Gist) -> tuple[Token, ...] | None:
    """ "Make it 20", of Node 18: the number that ends a name."""
    if len(new.values) != 1 or new.values[0].sort not in ("number", "clock"):
        return None
    found = [
        old.words[value.end - 1]
        for value in old.values
        if value.sort == "name" and old.words[value.end - 1].low.isdecimal()
    ]
    alone = len(found) == 1 and found[0].low != new.values[0].plain
    return (found[0],) if alone else None


def _spelt_alike(old: Gist, new: Gist, own: Cues) -> tuple[Token, ...] | None:
    first = next((w for w in new.words if w.low not in own.words["small"]), None)
    if first is None or len(first.low) < _SPELT_MIN_CHARS or not first.low.isalpha():
        return None
    close = [
        word
        for word in old.said
        if word.low not in own.words["small"]
        and word.low != first.low
        and SequenceMatcher(None, word.low, first.low).ratio() >= _SPELT_ALIKE_MIN_RATIO
    ]
    return (close[0],) if len(close) == 1 else None
