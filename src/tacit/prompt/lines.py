"""What a prompt shows of a memory, and how it is said: hearsay is never told as a fact."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from tacit import limits
from tacit.prompt.fence import NOTHING, clip, inert, label
from tacit.records.memory import Memory, Trust
from tacit.records.notes import is_task_done
from tacit.records.text import show_with_key

_SAID = "It is said that "
_SAID_BY = " said that "
_SEEMS = "It seems that "
_DONE = " (done)"
_READ_FACTOR = 4  # room for what is left out when text is made inert


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One memory as a prompt needs it."""

    id: str
    category: str
    text: str  # as stored; made inert when it is written
    created_at: datetime
    key: str | None = None
    about: tuple[str, ...] = ()  # names for people to read, never identities
    speaker: str | None = None  # what somebody else goes by who said it; None where the reader did
    hearsay: bool = False
    inferred: bool = False  # concluded by the system
    done: bool = False  # a task that is finished
    pinned: bool = False
    importance: int = limits.IMPORTANCE_DEFAULT


def line_of(memory: Memory, about: Iterable[str] = ()) -> Line:
    """Of a record as it leaves for the requester (`redact`), who may know what its speaker goes by.
    `about` are the names of its subjects, where the requester may know them."""
    by = None if memory.is_turn else memory.name
    return Line(
        id=memory.id,
        category=memory.category,
        text=memory.content,
        created_at=memory.created_at,
        key=memory.key,
        about=tuple(about),
        speaker=by,
        hearsay=_is_hearsay(memory),
        inferred=memory.inferred or memory.trust is Trust.INFERRED,
        done=is_task_done(memory),
        pinned=memory.pinned,
        importance=memory.importance,
    )


def _is_hearsay(memory: Memory) -> bool:
    """Text that nobody here vouches for; and what is said of somebody, unless it is known by whom:
    what the reader said needs no hedge, and what another person said names that person."""
    spoken = memory.speaker is not None
    return memory.trust is Trust.UNTRUSTED or (memory.trust is Trust.HEARSAY and not spoken)


def hedge(line: Line) -> str:
    """What goes before its words: who said it; empty for what the reader stated."""
    if line.speaker is not None:
        return label(line.speaker, limits.NAME_MAX_CHARS) + _SAID_BY
    return _SAID if line.hearsay else _SEEMS if line.inferred else ""


def said(line: Line, max_chars: int = limits.LINE_MAX_CHARS, *, keyed: bool = True) -> str:
    """Its words, inert, hedged and not too long; behind its key, unless that is shown otherwise."""
    text = show_with_key(line.key, line.text) if keyed else line.text
    if len(text) > _READ_FACTOR * max_chars:  # what is not shown need not be read
        text = text[: _READ_FACTOR * max_chars] + NOTHING
    ending = _DONE if line.done else ""
    return clip(hedge(line) + inert(text), max_chars - len(ending)) + ending


def quoted(memory: Memory, words: str | None = None) -> str:
    """All of its words for a model, or those given in their place: inert, and with who said them.
    The record is one that a view gave."""
    return hedge(line_of(memory)) + inert(memory.content if words is None else words)


def heading(category: str) -> str:
    """A category as a title: `task_state` is `Task State`."""
    words = named(category).replace("_", " ").split()
    return " ".join(word[:1].upper() + word[1:] for word in words) or named(category)


def named(category: str) -> str:
    return label(category, limits.CATEGORY_MAX_CHARS)


def people(line: Line) -> str:
    return label(", ".join(line.about), limits.NAME_MAX_CHARS)
