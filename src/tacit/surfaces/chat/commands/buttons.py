"""Buttons of commands: what they do and whose they are. None holds words of a memory."""

from __future__ import annotations

import hashlib

from tacit import Requester
from tacit.surfaces.chat.commands import wording
from tacit.surfaces.chat.commands.asked import is_private
from tacit.surfaces.chat.heard import Pressed
from tacit.surfaces.chat.say import Button

# What a button does, and how many words its data has after that.
PAGE, PAGE_SEEN, FORGET, TAKE_BACK, RESTORE, WIPE = "m", "mv", "d", "u", "r", "w"
LINK, LINK_ACCEPT = "l", "la"
_WORDS = {
    PAGE: 1,
    PAGE_SEEN: 1,
    FORGET: 1,
    TAKE_BACK: 2,
    RESTORE: 1,
    WIPE: 1,
    LINK: 1,
    LINK_ACCEPT: 1,
}
_TAG_CHARS = 8
NOT_THEIRS: tuple[str, ...] = ()


def button(who: Requester, label: str, does: str, *words: str) -> Button:
    """For this person alone: it ends with a mark of theirs."""
    assert len(words) == _WORDS[does]
    return Button(label=label, data=":".join((does, *words, _tag(who))))


def undo_button(who: Requester, id: str, version: int = 1) -> Button:
    """Takes back that something was just remembered, as long as it is still at this version."""
    return button(who, wording.UNDO, TAKE_BACK, id, str(version))


def read(pressed: Pressed) -> tuple[str, ...] | None:
    """What the button does, and its words; NOT_THEIRS for somebody else's; None for one that
    commands do not know. A button without a mark is nobody's where others can press it."""
    does, *words = pressed.data.split(":")
    if does not in _WORDS or pressed.who is None:
        return None if does not in _WORDS else NOT_THEIRS
    if does == TAKE_BACK and len(words) == 1 and is_private(pressed):
        return does, words[0], "1"
    if len(words) != _WORDS[does] + 1:
        return None
    if words[-1] != _tag(pressed.who):
        return NOT_THEIRS
    return does, *words[:-1]


def _tag(who: Requester) -> str:
    return hashlib.sha256(f"tacit button {who.key}".encode()).hexdigest()[:_TAG_CHARS]
