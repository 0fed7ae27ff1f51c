"""The subject that people leave out when they type: "saving up for a boat", "can't do mornings"."""

from __future__ import annotations

import re
from itertools import pairwise

from tacit.learn.needed import rewritten
from tacit.learn.reading.order import reordered
from tacit.learn.reading.tongue import Tongue

_WORD = re.compile(r"[\w'’-]+")


def headless(text: str, tongue: Tongue) -> bool:
    """Whether a clause begins with its verb, so that its subject is that of the clause before it
    and not the speaker as a matter of course."""
    if tongue.patterns["elided"].match(text):
        return True
    text = rewritten(tongue.spelling, text)
    if tongue.has("self", text):
        return False
    return supplied(text, tongue) is not None or tongue.has("self", reordered(text, tongue))


def supplied(text: str, tongue: Tongue) -> str | None:
    """The clause with the speaker put before it, where its first verb can be no order; else None.
    What it then says is judged like any other clause."""
    if "speaking" not in tongue.texts or tongue.has("self", text):
        return None
    words = [word.lower() for word in _WORD.findall(text)]
    if len(words) < 2:
        return None  # "married" may answer any question
    for pattern, new in tongue.supplied:
        if pattern.match(text):
            return pattern.sub(new, _inside(text) if new.endswith(" ") else text, count=1)
    while words and words[0] in tongue.words["adverbs"]:
        words = words[1:]
    if len(words) < 2 or words[0] in tongue.words["marital"]:
        return None  # "married life is great"
    tags = tongue.frames.get(words[0], frozenset())
    if any(tag.endswith(":bare") for tag in tags):
        return None  # "read", "put" and "set" may be orders
    if any(tag.endswith(":past") for tag in tags):
        return f"{tongue.texts['self']} {_inside(text)}"
    if any(tag.endswith(":going") for tag in tags) and not _told_of(words, tongue):
        return f"{tongue.texts['speaking']} {_inside(text)}"
    return None


def _told_of(words: list[str], tongue: Tongue) -> bool:
    """ "Training is hard", "using Chrome does not help": the deed itself is spoken of."""
    listed = tongue.words
    verbs = listed["verbs_being"] | listed["verbs_denying"] | listed["verbs_having"]
    linked = listed["noun_ends"] | listed["pronouns"]
    return any(word in verbs and before not in linked for before, word in pairwise(words))


def _inside(text: str) -> str:
    return text[:1].lower() + text[1:]
