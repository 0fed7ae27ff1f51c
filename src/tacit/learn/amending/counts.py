"""How many there are, said anew: "3 cats now", "we're seven engineers since May"."""

from __future__ import annotations

from tacit.learn.amending.clause import Gist
from tacit.learn.amending.compare import Link
from tacit.learn.amending.cues import Cues
from tacit.learn.amending.heard import Heard, settings_differ, span_at, text_of
from tacit.learn.amending.typed import LABEL, Value


def recounted(old: Gist, heard: Heard, own: Cues) -> Link | None:
    """Another number of the same things, where nothing beside them makes them other things."""
    if heard.tone.added or (not heard.tone.turned and heard.stems.isdisjoint(old.stems)):
        return None
    if settings_differ(old, heard) or old.past or old.over:
        return None
    for clause in heard.clauses:
        if clause.added or clause.negated or not clause.values or not clause.stated:
            continue
        if not (heard.tone.turned or _named_again(old, clause, own)):
            continue
        if not _same_owner(old, clause, own):
            continue
        for value in clause.values:
            known = _counted(old, value)
            if known and known.plain != value.plain and _nothing_else(old, clause, value, own):
                new = text_of(clause, value)
                return Link(
                    score=4, reason="another number of them", span=span_at(old, known), new=new
                )
    return None


def _counted(old: Gist, value: Value) -> Value | None:
    if value.sort != "number" or not value.unit or value.unit.endswith(LABEL):
        return None
    found = [
        one
        for one in old.values
        if one.sort == "number" and one.unit and not one.unit.endswith(LABEL)
    ]
    if len(found) != 1:
        return None
    same = found[0].unit == value.unit or value.unit in old.stems
    return found[0] if same else None


def _named_again(old: Gist, clause: Gist, own: Cues) -> bool:
    """ "We're at 34 members in the chess club": what has that many of them is named again."""
    named = bool(old.subject) and set(old.subject) <= clause.stems
    there = clause.referring and clause.verb in own.words["being"]  # "there are 19 guppies"
    return (named or there) and not clause.past and clause.verb in own.words["neutral"] | {None}


def _same_owner(old: Gist, clause: Gist, own: Cues) -> bool:
    if clause.other != old.other and clause.other:
        return False
    kin = set(old.subject) & own.words["people"]
    if clause.speaks or clause.referring or not clause.subject:
        return not kin and not old.other
    counted = {word.stem for v in clause.values for word in clause.words[v.start : v.end]}
    return set(clause.subject) - counted <= old.stems


def _nothing_else(old: Gist, clause: Gist, value: Value, own: Cues) -> bool:
    """Whatever the clause says beside the number is known, or says since when and with whom."""
    plain = own.among("small", "adverbs", "prepositions")
    for position, word in enumerate(clause.words):
        if position >= value.end and word.low in own.words["since"]:
            return True
        if value.start <= position < value.end or word.low in plain:
            continue
        told = word.stem in old.stems or word.stem in own.words["neutral"]
        told = told or (word.stem in own.words["leaving"] and position >= value.end)  # "two left"
        if not told and word.low[:1].isalnum() and word.stem != value.unit:
            return False
    return True
