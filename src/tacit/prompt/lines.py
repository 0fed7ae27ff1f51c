"""What a prompt shows of a memory, and how it is said: hearsay is never told as a fact."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from tacit import limits
from tacit.model.filing import is_done
from tacit.model.memory import Memory
from tacit.model.words import Trust
from tacit.prompt.fence import NOTHING, clip, inert, label

# Text that nobody here vouches for is no better than what somebody said about somebody else.
_SAID_BY_OTHERS = frozenset({Trust.HEARSAY, Trust.UNTRUSTED})
_SAID = "It is said that "
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
    hearsay: bool = False
    inferred: bool = False  # concluded by the system
    done: bool = False  # a task that is finished
    pinned: bool = False
    importance: int = limits.IMPORTANCE_DEFAULT


def line_of(memory: Memory, about: Iterable[str] = ()) -> Line:
    """`about` are the names of its subjects, where whoever asks may know them."""
    return Line(
        id=memory.id,
        category=memory.category,
        text=memory.content,
        created_at=memory.created_at,
        key=memory.key,
        about=tuple(about),
        hearsay=memory.trust in _SAID_BY_OTHERS,
        inferred=memory.inferred or memory.trust is Trust.INFERRED,
        done=is_done(memory),
        pinned=memory.pinned,
        importance=memory.importance,
    )


def hedge(line: Line) -> str:
    """What goes before its words; empty for what a person stated."""
    return _SAID if line.hearsay else _SEEMS if line.inferred else ""


def said(line: Line, max_chars: int = limits.LINE_MAX_CHARS) -> str:
    """Its words, inert, hedged and not too long."""
    text = line.text
    if len(text) > _READ_FACTOR * max_chars:  # what is not shown need not be read
        text = text[: _READ_FACTOR * max_chars] + NOTHING
    ending = _DONE if line.done else ""
    return clip(hedge(line) + inert(text), max_chars - len(ending)) + ending


def heading(category: str) -> str:
    """A category as a title: `task_state` is `Task State`."""
    words = named(category).replace("_", " ").split()
    return " ".join(word[:1].upper() + word[1:] for word in words) or named(category)


def named(category: str) -> str:
    return label(category, limits.CATEGORY_MAX_CHARS)


def people(line: Line) -> str:
    return label(", ".join(line.about), limits.NAME_MAX_CHARS)
