"""Whether a clause speaks of the same thing as something known: rules that are about two outlines,
each of which answers with a `Link` or with None where it would have to guess."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.learn.amending.change import (
    TIMES,
    Change,
    Tone,
    kept,
    matched,
    may_replace,
    named,
    one_difference,
    spelt_together,
    within,
)
from tacit.learn.amending.clause import OWNED, Gist
from tacit.learn.amending.comments import tells_state
from tacit.learn.amending.cues import Cues
from tacit.learn.amending.typed import Token

_COMPOUND_MIN_CHARS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """How a message reaches something known. The highest score wins; a tie is no link."""

    score: int
    reason: str
    span: tuple[int, int] | None = None  # the characters of the known content that go
    new: str | None = None  # what comes in their place, as it was said


def same_frame(old: Gist, new: Gist, tone: Tone, own: Cues) -> Link | None:
    """ "Drives a Volvo", "I drive a Skoda now": one verb, one subject, another value."""
    if not same_subject(old, new, own) or not same_verb(old, new, tone, own):
        return _same_office(old, new, tone, own)
    if old.negated != new.negated or old.sides != new.sides or old.over:
        return None
    before, after = _differing(old, new, own)
    if not before or not after:
        return _other_owner(old, new, tone, own)
    change = Change(
        before=before,
        after=after,
        old=within(old, before),
        new=within(new, after),
        kept=kept(old, before, own),
    )
    if _same_again(change) or {word.low for word in after} & own.words["not_values"]:
        return None
    timed = [{value.sort for value in side} & TIMES for side in (change.old, change.new)]
    if old.preposition != new.preposition and bool(timed[0]) != bool(timed[1]):
        return None  # when it is, and where
    halved = bool(old.preposition) != bool(new.preposition)
    if halved and not tone.strong and not matched(change.old, change.new):
        return None
    if not one_difference(old, new, change, tone, own):
        return None
    if not may_replace(old, new, change, tone, own):
        return None
    span = (before[0].start, before[-1].end)
    said = new.text[after[0].start : after[-1].end]
    if new.verb in own.words["being"] and not new.speaks and tells_state(said, own):
        return None  # "the colour is wrong"
    if old.preposition and new.preposition and old.preposition != new.preposition:
        # "Behind the rack", "on the sill": the word before it changes as well.
        lead = next(word for word in old.words if word.low == old.preposition)
        if lead.end <= before[0].start and new.said:
            span = (lead.start, span[1])
            said = f"{new.preposition} {new.text[new.said[0].start : after[-1].end]}"
    return Link(score=5, reason="the same, with another value", span=span, new=said)


def _other_owner(old: Gist, new: Gist, tone: Tone, own: Cues) -> Link | None:
    """ "Is on Tom's car", "is on my car now": whose it is has changed, and nothing else."""
    if not tone.turned or new.added or old.past:
        return None
    sides = [_owner(gist, own) for gist in (old, new)]
    if not sides[0] or not sides[1] or sides[0] == sides[1]:
        return None
    if {word.stem for word in old.said} - _stems(sides[0]) != (
        {word.stem for word in new.said} - _stems(sides[1])
    ):
        return None
    span = (sides[0][0].start, sides[0][-1].end)
    said = new.text[sides[1][0].start : sides[1][-1].end]
    return Link(score=5, reason="the same, another's", span=span, new=said)


def _owner(gist: Gist, own: Cues) -> tuple[Token, ...]:
    """The words that tell whose: "my", "Tom's"."""
    for position, word in enumerate(gist.said):
        if word.low in own.words["mine"] and word.text.casefold() == word.low:
            return (word,)
        if word.low == OWNED and position:
            return gist.said[position - 1 : position + 1]
    return ()


def _stems(words: tuple[Token, ...]) -> set[str]:
    return {word.stem for word in words}


def _same_again(change: Change) -> bool:
    """The values are the ones that are known, in other words: "1 October", "1 October 2025"."""
    old, new = {one.plain for one in change.old}, {one.plain for one in change.new}
    return bool(new) and new <= old


def _same_office(old: Gist, new: Gist, tone: Tone, own: Cues) -> Link | None:
    """ "Marta is the team lead", "Ivo is the team lead now"."""
    both = old.verb == new.verb and old.verb in own.among("being", "held")
    if not both or not tone.turned or not new.subject or old.owned or new.owned:
        return None
    if not (old.subject or old.speaks) or old.subject == new.subject:
        return None
    said = [[word.low for word in gist.said] for gist in (old, new)]
    office = old.said and old.said[0].low in own.words["offices"] and not old.preposition
    held = office or old.verb in own.words["held"]
    turn = tone.strong and old.preposition == new.preposition and old.preposition in own.words["on"]
    if not said[1] or said[0][: len(said[1])] != said[1] or not (held or turn):
        return None
    if old.speaks:
        return Link(score=5, reason="held by another")
    start, end = _holder(new)
    return Link(score=5, reason="held by another", span=_holder(old), new=new.text[start:end])


def _holder(gist: Gist) -> tuple[int, int]:
    """The characters of the subject."""
    found = [word for word in gist.words[: gist.start] if word.text in gist.plain]
    return found[0].start, found[-1].end


def same_subject(old: Gist, new: Gist, own: Cues) -> bool:
    if old.speaks or new.speaks:
        if old.speaks or not old.subject or old.verb != new.verb:
            return old.speaks and new.speaks
        # "Our band rehearses in …", "we rehearse at …".
        plain = own.among("neutral", "many_verbs")
        return old.subject[-1] in own.words["groups"] and old.verb not in plain
    if not old.subject or not new.subject or (new.referring and not new.explained):
        return False
    if old.other != new.other:
        return False
    compounding = bool(own.words["compounding"])  # and every noun has a capital
    somebody = not compounding and (named(old) or named(new))
    again = old.subject == new.subject and len(new.subject) > 1  # "our Eid lunch", "Eid lunch"
    if old.owned != new.owned and (old.other or (somebody and not again)):
        return False
    if same_thing(old.subject, new.subject) or spelt_together(old, new):
        return True
    if set(new.subject) <= own.words["choices"] & set(old.subject):
        return True  # "my go-to", of "my go-to pizza"
    return compounding and _same_compound(old, new, own)


def _same_compound(old: Gist, new: Gist, own: Cues) -> bool:
    """ "Omas Feier", of "Omas Geburtstagsfeier": a compound by its last part; and "Zahnarzt" for
    a "Zahnarzttermin"."""
    if len(new.subject[-1]) < _COMPOUND_MIN_CHARS or old.subject[:-1] != new.subject[:-1]:
        return False
    whole, part = old.plain[-1].casefold(), new.plain[-1].casefold()
    hollow = whole.startswith(part) and own.stem(whole[len(part) :]) in own.words["hollow"]
    return hollow or old.subject[-1].endswith(new.subject[-1])


def same_thing(old: tuple[str, ...], new: tuple[str, ...]) -> bool:
    """Whether two nouns with what stands before them are one thing. Less may be said the second
    time ("the exam" for "the history exam"), never more."""
    return (old[-1:] == new[-1:] and set(new) <= set(old)) or (set(new) == set(old))


def same_verb(old: Gist, new: Gist, tone: Tone, own: Cues) -> bool:
    if old.verb is None or new.verb is None:
        return False
    if old.verb != new.verb:
        posts = {old.verb, new.verb} <= own.words["posted"] and new.preposition in own.words[
            "posts"
        ]
        if posts and tone.turned and old.preposition:
            return True  # "works at Sony", "I'm with Nintendo now"
        located = {old.verb, new.verb} <= own.words["located"] and old.preposition is not None
        located = located and bool({old.verb, new.verb} & own.words["being"])
        if located and tone.turned and old.preposition == new.preposition and _same_end(old, new):
            return True  # "lives on the first floor", "I'm on the third floor now"
        return {old.verb, new.verb} <= own.words["naming"] and not old.speaks
    places = own.words["place_prepositions"]
    one, other = old.preposition, new.preposition
    handed = other in own.words["holding"] and set(old.subject) & own.words["movables"]
    if (tone.turned or handed) and not old.speaks and {one, other} <= own.words["locations"]:
        return True
    loosely = tone.turned and not (one and other) and old.verb not in own.words["being"]
    # "Is on 12 July", "is the 21st".
    loosely = loosely or (not (one and other) and not old.speaks and _timed(old) and _timed(new))
    loosely = loosely or ({one, other} <= own.words["locations"] and _elsewhere(old, new, own))
    return one == other or {one, other} <= places or loosely


def _elsewhere(old: Gist, new: Gist, own: Cues) -> bool:
    """ "Is at the consulate in Chennai", "is in Hyderabad": two names behind the same word."""
    if old.speaks or old.verb not in own.words["being"] or set(old.subject) & own.words["people"]:
        return False
    pairs = matched(within(old, old.said), within(new, new.said))
    places = own.words["locations"]
    return any(
        old.words[one.start - 1].low == new.words[other.start - 1].low in places
        for one, other in pairs
        if one.start and other.start
    )


def _timed(gist: Gist) -> bool:
    return any(value.sort in TIMES for value in within(gist, gist.said))


def _same_end(old: Gist, new: Gist) -> bool:
    return bool(old.said and new.said) and old.said[-1].stem == new.said[-1].stem


def _differing(old: Gist, new: Gist, own: Cues) -> tuple[tuple[Token, ...], tuple[Token, ...]]:
    """What is left of both sides without the words that they begin and end with alike."""
    dropped = own.among("articles", "mine")
    before = tuple(word for word in old.said if word.low not in dropped)
    after = tuple(word for word in new.said if word.low not in dropped)
    while before and after and before[0].stem == after[0].stem:
        before, after = before[1:], after[1:]
    units = own.words["clock_units"]  # a part of the hour: "14 Uhr"
    while before and after and before[-1].stem == after[-1].stem and before[-1].low not in units:
        before, after = before[:-1], after[:-1]
    # Less may be said the second time: "the top shelf of the fridge", "the bottom shelf".
    at = next((n for n, w in enumerate(before) if w.low in own.words["prepositions"]), 0)
    while after and 0 < at <= len(before) and before[at - 1].stem == after[-1].stem:
        before, after, at = before[: at - 1], after[:-1], at - 1
    return before, after
