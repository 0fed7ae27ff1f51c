"""What is to be done about one line of a note and the memory it stands for. Pure: three ways are
compared, the file, the store, and how both were when they last agreed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """What the file says."""

    content: str
    digest: str  # of the lines as they stand, however they are written
    done: bool | None = None
    alternatives: tuple[str, ...] = ()  # other wordings of it that are shown beside it already


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What the store says."""

    content: str
    version: int
    done: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreed:
    """How it was when both said the same."""

    digest: str
    version: int
    done: bool | None = None
    content: str | None = None  # the wording of that version; None where it is not known


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """What both are to say."""

    content: str
    done: bool | None
    changes_store: bool = False  # the store is to learn it
    changes_file: bool = False  # the file is to be changed
    conflict: str | None = None  # another wording, which must be shown before anything is taken


class Alone(StrEnum):
    """What becomes of a line, or of a memory, that has no other side."""

    ADD = "add"  # a memory without a line: it gets one
    FORGET = "forget"  # its line was deleted
    NOTHING = "nothing"
    DROP = "drop"  # a line without a memory: it goes
    RESTORE = "restore"  # the memory comes back
    REMEMBER = "remember"  # a memory is made of it


class Whereabouts(StrEnum):
    """What became of the memory that a line names and the note does not show."""

    UNKNOWN = "unknown"  # never heard of
    ERASED = "erased"
    FORGOTTEN = "forgotten"
    ELSEWHERE = "elsewhere"  # it stands, but not in this note
    FOREIGN = "foreign"  # whoever owns the note has nothing to do with it


def settle(line: Line, agreed: Agreed | None, kept: Kept) -> Settled:
    """A line and its memory, both there."""
    done = _box(line, agreed, kept)
    untouched = agreed is not None and agreed.digest == line.digest
    if untouched and agreed is not None and kept.version == agreed.version:
        # However the line is written, it stood for this wording when both agreed.
        return Settled(content=line.content, done=done, changes_file=done != line.done)
    content, clash = _wording(line, agreed, kept)
    return Settled(
        content=content,
        done=done,
        changes_store=(content, done) != (kept.content, kept.done),
        changes_file=(content, done) != (line.content, line.done),
        conflict=clash,
    )


def missing(agreed: Agreed | None, kept: Kept) -> Alone:
    """A memory of the note that no line stands for. What changed in the store since a person
    deleted its line comes back: they have not seen what it says now."""
    if agreed is None or agreed.version != kept.version or agreed.done != kept.done:
        return Alone.ADD
    return Alone.FORGET


def bereft(line: Line, agreed: Agreed | None, where: Whereabouts) -> Alone:
    """A line whose memory the note does not show."""
    if where is Whereabouts.ERASED:
        return Alone.DROP
    if where in (Whereabouts.UNKNOWN, Whereabouts.FOREIGN):
        return Alone.REMEMBER
    if agreed is not None and agreed.digest == line.digest:
        return Alone.DROP  # forgotten, or taken out of the note, by somebody else
    return Alone.RESTORE  # written again, or brought back by whoever deleted it


def _wording(line: Line, agreed: Agreed | None, kept: Kept) -> tuple[str, str | None]:
    if line.content == kept.content:
        return line.content, None
    if agreed is not None:
        if line.digest == agreed.digest or line.content == agreed.content:
            return kept.content, None
        if kept.version == agreed.version:
            return line.content, None
    shown = kept.content in line.alternatives
    return line.content, None if shown else kept.content


def _box(line: Line, agreed: Agreed | None, kept: Kept) -> bool | None:
    """Of two that differ the one that moved counts; where nobody knows, what is done is done."""
    if line.done is None or kept.done is None or line.done == kept.done:
        return kept.done if line.done is None else line.done
    if agreed is None or agreed.done is None:
        return True
    return line.done if line.done != agreed.done else kept.done
