"""Opposites: what was liked is disliked, what was not done is done."""

from __future__ import annotations

from tacit.learn.amending.change import Tone
from tacit.learn.amending.clause import Gist
from tacit.learn.amending.compare import Link, same_subject
from tacit.learn.amending.cues import Cues


def flipped(old: Gist, new: Gist, tone: Tone, own: Cues) -> Link | None:
    """ "Hates techno", "I like techno": the same thing with the opposite sign."""
    if tone.added or not same_subject(old, new, own):
        return None
    if old.negated and not new.negated and _gained(old, new, own):
        return Link(score=5, reason="the opposite of what was known")
    one, other = _sign(old, own), _sign(new, own)
    tastes = own.among("likes", "dislikes")
    same_verb = old.verb == new.verb or {old.verb, new.verb} <= tastes
    if one == other or not same_verb or not _same_words(old, new, own):
        return None
    return Link(score=5, reason="the opposite of what was known")


def _gained(old: Gist, new: Gist, own: Cues) -> bool:
    """ "Has no car", "I've bought a car"."""
    both = old.verb in own.words["having"] and new.verb in own.words["gaining"]
    return both and bool(old.said) and old.said[-1].stem == (new.said or old.words)[-1].stem


def _sign(gist: Gist, own: Cues) -> bool:
    return gist.negated == (gist.verb in own.words["dislikes"])


def _same_words(old: Gist, new: Gist, own: Cues) -> bool:
    """Both speak of the same: what only one of them adds is small words and words of change."""
    tastes = own.among("likes", "dislikes") | {old.verb, new.verb}
    dropped = own.among("small", "negations", "adverbs")
    sides = [
        {word.stem for word in gist.said if word.low not in dropped and word.low[:1].isalnum()}
        - tastes
        for gist in (old, new)
    ]
    return sides[0] == sides[1] and (bool(sides[0]) or old.verb == new.verb)
