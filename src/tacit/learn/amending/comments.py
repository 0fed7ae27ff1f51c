"""Comments: "my name is misspelled", "the colour is wrong", "my budget is tight". They say how a
thing is, which is no value of it: they state no fact, and put none in the place of another."""

from __future__ import annotations

from tacit.learn.amending.cues import Cues, cues
from tacit.learn.amending.typed import ELLIPSIS, Token, tokens
from tacit.learn.facts import Statement
from tacit.learn.reading.tongue import guess

# The value of these is a state ("is divorced"), or, where no form knows it, a number or a name.
_OPEN = frozenset({"marital_status", "diet", "frame", "blood pressure", "blutdruck"})


def is_comment(statement: Statement) -> bool:
    """Whether what would be the value of a slot is only a state or a judgement: "Kim's name is
    missing". Of what somebody prefers or takes it may be the value: "prefers short answers"."""
    if statement.slot is None or not statement.value or statement.negated:
        return False
    if statement.slot.partition(":")[0] in _OPEN:
        return False
    own = cues(guess(statement.quote or statement.content))
    start = statement.content.lower().rfind(statement.value.lower())  # values are written small
    if start <= 0:
        return False
    said = statement.content[start:]
    before = [word.low for word in tokens(statement.content[:start], own)]
    while before and before[-1] in own.among("adverbs", "articles", "degrees", "fillers"):
        before.pop()
    return bool(before) and before[-1] in own.words["be"] and tells_state(said, own)


def tells_state(said: str, own: Cues) -> bool:
    """ "Wrong", "too bright", "gone for a walk", "dead tired", "a mess". What has a capital is a
    name ("Dead Space"), and what goes on in a noun is a thing ("cold brew")."""
    words = [word for word in tokens(f"{ELLIPSIS} {said}", own)[1:] if word.low[:1].isalnum()]
    graded = one = False
    while words and words[0].low in own.among("adverbs", "degrees", "articles", "fillers"):
        graded = graded or words[0].low in own.words["degrees"]
        one = one or words[0].low in own.words["articles"]
        words = words[1:]
    if len(words) > 1 and words[0].low in own.words["put_down"]:
        words = words[1:]
    if not words or not (len(words) == 1 or _ends_before(words[1], own)):
        return False
    first = words[0]
    if len(words) > 1 and first.low in own.words["prepositions"]:
        return False  # "off" is a state, and "in the cellar" is a place
    if first.low in own.words["verdicts"]:
        return one or not first.text[:1].isupper()
    if one or first.text[:1].isupper():
        return False
    return graded or first.low in own.words["states"] or own.has("state_like", first.low)


def _ends_before(word: Token, own: Cues) -> bool:
    """Whether a complement ends before a word: "wrong in the text", "missing a letter"."""
    plain = own.among("small", "prepositions", "adverbs", "degrees", "joining", "laughs", "states")
    return word.low in plain
