"""/forget, and deleting by id: one thing, by its id or its words, or everything."""

from __future__ import annotations

import re
from dataclasses import replace

from tacit import chat_limits, limits
from tacit.errors import NotFound
from tacit.memory import View
from tacit.model.memory import Memory
from tacit.surfaces.chat.commands import wording
from tacit.surfaces.chat.commands.asked import Asked, as_id, tell
from tacit.surfaces.chat.commands.buttons import FORGET, RESTORE, WIPE, button
from tacit.surfaces.chat.commands.fitting import fits
from tacit.surfaces.chat.commands.showing import shortened
from tacit.surfaces.chat.say import Say, Span, code, say, worded

_EVERYTHING = frozenset({"everything", "all"})
_WORD = re.compile(r"\w+")


def forget(asked: Asked) -> list[Say]:
    """/forget <id>, and in private /forget <words> and /forget everything"""
    match asked.words:
        case ():
            return tell(wording.HOW_TO_FORGET)
        case (one,) if not asked.private:
            return tell(wording.PRIVATE_ONLY) if one in _EVERYTHING else delete(asked, as_id(one))
        case _ if not asked.private:
            return tell(wording.PRIVATE_ONLY)
        case (one,) if one.lower() in _EVERYTHING:
            return [_ask_about_everything(asked)]
        case (one,):
            try:
                return delete(asked, as_id(one))
            except NotFound:
                pass  # a word that has the form of an id, or somebody else's: both read alike
    return _by_words(asked, " ".join(asked.words))


def delete(asked: Asked, id: str) -> list[Say]:
    """Where others listen, not even its owner is told what it said."""
    known = _content(asked.view, id)
    asked.once("forget").forget(id)
    told = wording.DELETED_HERE
    if asked.private and known is not None:
        told = wording.DELETED.format(shortened(known))
    return [say(told, buttons=((button(asked.who, wording.UNDO, RESTORE, id),),))]


def chosen(asked: Asked) -> list[Say]:
    """One of those that were found by words."""
    (id,) = asked.words
    return [replace(one, instead=True) for one in delete(asked, id)]


def wipe(asked: Asked) -> list[Say]:
    (answer,) = asked.words
    if answer != "y":
        return [replace(say(wording.KEPT_ALL), instead=True)]
    erased = asked.once("wipe").wipe()
    return [replace(say(wording.ERASED_ALL.format(erased.count)), instead=True)]


def _ask_about_everything(asked: Asked) -> Say:
    yes = button(asked.who, wording.ERASE_ALL, WIPE, "y")
    no = button(asked.who, wording.KEEP_ALL, WIPE, "n")
    return say(*worded(wording.ALL_OF_IT), buttons=((yes, no),))


def _by_words(asked: Asked, words: str) -> list[Say]:
    """Done at once only if it is the only one that comes to mind, and holds every word that was
    said: anything less would be a guess."""
    if len(words) > limits.QUERY_MAX_CHARS:
        return tell(wording.HOW_TO_FORGET)
    top = chat_limits.CHAT_CHOICES_COUNT
    recalled = asked.view.recall(words, top_k=top, user=asked.who.key)
    found = [one.memory for one in recalled if fits(one)]
    if not found:
        return tell(wording.NOTHING_FOUND)
    if len(found) == 1 and _words(words) <= _words(found[0].content):
        return delete(asked, found[0].id)
    return [_which(asked, found)]


def _which(asked: Asked, found: list[Memory]) -> Say:
    spans = [Span(wording.WHICH)]
    for number, one in enumerate(found, start=1):
        spans += [Span(f"\n{number}. ["), code(one.id), Span(f"] {shortened(one.content)}")]
    rows = tuple(
        (button(asked.who, wording.FORGET_IT.format(number), FORGET, one.id),)
        for number, one in enumerate(found, start=1)
    )
    return Say(spans=tuple(spans), buttons=rows)


def _content(view: View, id: str) -> str | None:
    try:
        return view.show(id).content
    except NotFound:
        return None


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))
