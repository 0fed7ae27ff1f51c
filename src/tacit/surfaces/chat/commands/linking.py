"""/link and /unlink: two accounts of one person, with a code that is used once, and two yeses."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import replace

from tacit import Requester, limits
from tacit.errors import Conflict, NotFound, TooManyRequests
from tacit.surfaces.chat.commands import wording
from tacit.surfaces.chat.commands.asked import Asked, as_id, tell
from tacit.surfaces.chat.commands.buttons import LINK, LINK_ACCEPT, button
from tacit.surfaces.chat.say import NotSent, Say, code, say, worded

_MARK_CHARS = 8


def link(asked: Asked) -> list[Say]:
    """/link, /link CODE, /link yes, /link no"""
    match tuple(word.lower() for word in asked.words):
        case ():
            return _begin(asked)
        case ("yes",):
            return _confirm(asked)
        case ("no",):
            return _refuse(asked)
    code_said = "".join(filter(str.isalnum, as_id("".join(asked.words)))).upper()
    if len(code_said) != limits.LINK_CODE_CHARS or not code_said.isascii():
        return tell(wording.LINK_NOT_THAT)
    yes = button(asked.who, wording.LINK_BOTH_MINE, LINK_ACCEPT, code_said)
    no = button(asked.who, wording.NO, LINK, "x")
    return [say(wording.LINK_SURE, buttons=((yes, no),))]


def pressed(asked: Asked) -> list[Say]:
    match asked.words:
        case (word,) if word.startswith("y"):
            told = _confirm(asked, word)
        case ("n",):
            told = _refuse(asked)
        case ("c",):
            return _waiting(asked) or [say(wording.LINK_NOT_YET)]
        case _:
            told = tell(wording.NOT_LINKED)
    return [replace(one, instead=True) for one in told]


def accept(asked: Asked) -> list[Say]:
    """The side that was given the code. Nothing is shared before the other side said yes."""
    (given,) = asked.words
    try:
        waiting = asked.idempotent_view("link").accept_link(given)
    except NotFound:
        told = wording.LINK_NOT_THAT
    except TooManyRequests as wait:
        told = wording.LINK_TOO_MANY.format(-(-wait.retry_after_seconds // 60))
    except Conflict:
        told = wording.LINK_TAKEN
    else:
        # The side that made the code; where it is not reached, this waits there for its /link.
        _call(asked, waiting.identity, _question(Requester(waiting.identity), asked.who.key))
        stop = button(asked.who, wording.LINK_STOP, LINK, "n")
        waits = say(wording.LINK_WAITS, code(waiting.identity), ".", buttons=((stop,),))
        return [replace(waits, instead=True)]
    return [replace(say(*worded(told)), instead=True)]


def unlink(asked: Asked) -> list[Say]:
    try:
        asked.idempotent_view("unlink").unlink_me()
    except NotFound:
        return tell(wording.UNLINKED_ALREADY)
    return tell(wording.UNLINKED)


def _begin(asked: Asked) -> list[Say]:
    """Whoever was asked before and says /link again is asked again: a new code would be one that
    the other side has to enter anew."""
    asked_before = _waiting(asked)
    if asked_before is not None:
        return asked_before
    offer = asked.view.offer_link()
    how = wording.LINK_OFFER.format(limits.LINK_CODE_MINUTES)
    sent = button(asked.who, wording.LINK_SENT, LINK, "c")
    return [say(wording.LINK_CODE, code(offer.code), how, buttons=((sent,),))]


def _waiting(asked: Asked) -> list[Say] | None:
    waiting = asked.view.link_waiting()
    if waiting is None:
        return None
    return [_question(asked.who, waiting.identity)]


def _question(who: Requester, other: str) -> Say:
    yes = button(who, wording.LINK_BOTH_MINE, LINK, _yes_to(other))
    no = button(who, wording.NO, LINK, "n")
    return say(code(other), wording.LINK_ASKED, buttons=((yes, no),))


def _yes_to(other: str) -> str:
    """A yes to this identity, and to no other that may wait by the time it is pressed."""
    return f"y{hashlib.sha256(other.encode()).hexdigest()[:_MARK_CHARS]}"


def _call(asked: Asked, other: str, what: Say) -> None:
    """Tell the other side, alone, where this channel reaches it."""
    if other.partition(":")[0] != asked.message.channel:
        return
    with suppress(NotSent):
        asked.sender.send(asked.message.chat, Requester(other), replace(what, alone=True))


def _confirm(asked: Asked, meant: str | None = None) -> list[Say]:
    """Who entered the code is told as well: they may have been talked into it."""
    waiting = asked.view.link_waiting()
    if waiting is not None and meant not in (None, _yes_to(waiting.identity)):
        return tell(wording.LINK_NOTHING_WAITS)
    try:
        asked.idempotent_view("link").confirm_link()
    except NotFound:
        return tell(wording.LINK_NOTHING_WAITS)
    except Conflict:
        return tell(wording.LINK_TAKEN)
    if waiting is not None:
        now = say(wording.LINKED_WITH, code(asked.who.key), *worded(wording.LINKED_IF_NOT_YOURS))
        _call(asked, waiting.identity, now)
    return tell(wording.LINKED)


def _refuse(asked: Asked) -> list[Say]:
    asked.idempotent_view("link").refuse_link()
    return tell(wording.NOT_LINKED)
