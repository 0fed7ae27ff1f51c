"""What held is named, something happened to it, and another of its sort comes next: "Allianz put
the price up, so I took out a policy with AXA"."""

from __future__ import annotations

from tacit.learn.amending.change import within
from tacit.learn.amending.clause import Gist
from tacit.learn.amending.compare import Link
from tacit.learn.amending.cues import Cues
from tacit.learn.amending.heard import Heard, reaches, settings_differ, span_at, text_of
from tacit.learn.amending.typed import Value

_NAMED = frozenset({"name", "places"})
_A = "a"  # one of a make: "a Golf"
_TITLE = "title"
_ADJECTIVES_MAX_COUNT = 3


def succeeded(old: Gist, heard: Heard, own: Cues) -> Link | None:
    """The only name of what is known, met again in a clause that tells what became of it; and in
    a later clause of the speaker's a new name, led up to by the same word."""
    if len(heard.clauses) < 2 or not old.values or heard.stems.isdisjoint(old.stems):
        return None
    if heard.tone.added or old.past or old.over or old.negated or settings_differ(old, heard):
        return None
    known = [value for value in within(old, old.said) if value.sort in _NAMED]
    naming = old.owned and old.verb in own.words["naming"]  # who it is is named, not what
    for position, clause in enumerate(heard.clauses[:-1] if known else ()):
        met = [value for value in known if _met(old, value, clause)]
        if len(met) != 1 or not _befell(old, met[0], clause, own):
            continue
        if not (naming or reaches(old, heard, own)):
            continue
        for later in heard.clauses[position + 1 :]:
            new = _taken_up(old, met[0], later, own)
            if new:
                return Link(
                    score=4,
                    reason="named, and another in its place",
                    span=span_at(old, met[0]),
                    new=text_of(later, new),
                )
    return None


def _met(old: Gist, value: Value, clause: Gist) -> bool:
    stems = {word.stem for word in old.words[value.start : value.end] if word.low.isalpha()}
    return bool(stems) and stems <= {word.stem for word in clause.words}


def _befell(old: Gist, value: Value, clause: Gist, own: Cues) -> bool:
    """Something happened to it, or it did something, beside talk: "Ann rang, so I …" puts nobody
    in her place."""
    happened = clause.past or clause.negated or clause.verb in own.words["having"]
    happened = happened or own.has("strong", clause.segment)
    if not happened or clause.added or clause.verb in own.words["talking"]:
        return False
    stems = {word.stem for word in old.words[value.start : value.end]}
    return bool(stems & set(clause.subject)) or clause.verb in own.words["losing"]


def _taken_up(old: Gist, value: Value, clause: Gist, own: Cues) -> Value | None:
    if clause.added or clause.negated:
        return None
    speaks = not clause.subject or clause.referring
    taken = own.among("taking", "being") | {old.verb}
    names = [one for one in clause.values if one.sort in _NAMED]
    fresh = [one for one in names if not _met(clause, one, old)]
    if len(fresh) != 1 or len(names) != 1:
        return None
    leads = _lead(old, value, own), _lead(clause, fresh[0], own)
    if set(leads) == {_TITLE}:  # "Mrs Hale has retired, Mr Finch does my books"
        told = {word.low for word in clause.words} & own.among("speaker", "mine")
        return fresh[0] if told and not (clause.role and not old.role) else None
    if not speaks or clause.verb not in taken or _goes_on(clause, fresh[0], own):
        return None
    on = old.verb in own.words["switchable"] and leads[1] in own.among("on", "holding")
    if not leads[0] and on and clause.verb in own.words["being"]:
        return fresh[0]  # "uses Spotify", "I'm on Tidal"
    alike = leads[0] == leads[1] or set(leads) <= own.words["place_prepositions"] | {"in", "into"}
    return fresh[0] if leads[0] and leads[1] and alike else None


def _goes_on(clause: Gist, value: Value, own: Cues) -> bool:
    """A Bosch drill is no Bosch."""
    after = clause.words[value.end] if value.end < len(clause.words) else None
    plain = own.among("small", "prepositions", "adverbs")
    return after is not None and after.low.isalpha() and after.low not in plain


def _lead(gist: Gist, value: Value, own: Cues) -> str:
    """The word that a name is led up to by, over what describes it: "a red Bianchi"."""
    if gist.words[value.start].low in own.words["titles"]:
        return _TITLE
    for position in range(value.start - 1, max(-1, value.start - 2 - _ADJECTIVES_MAX_COUNT), -1):
        low = gist.words[position].low
        if low in own.words["indefinite"]:
            return _A
        if low in own.words["prepositions"]:
            return low
        if low in own.words["auxiliaries"] or gist.words[position].stem in own.words["verbs"]:
            return ""
    return ""
