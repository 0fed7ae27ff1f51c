"""A memory as it is told: what a seed of ours promised first, then all the rest of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tacit.records.accounts import NameKind, Person
from tacit.records.memory import ChatKind, HistoryEntry, Memory
from tacit.surfaces.rest.asking import Asked
from tacit.surfaces.wire.values import encode

_FIRST = ("id", "category", "subject", "content", "version", "created_at", "updated_at")
# What somebody is called, by what reads best.
_CALLED = (NameKind.NAME, NameKind.ALIAS, NameKind.USERNAME, NameKind.RELATION)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryResponse(Memory):
    """A memory, and whom it is about by name where that is the caller's to know here."""

    subject: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """One version of a memory."""

    version: int
    content: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryWithVersions(MemoryResponse):
    versions: list[Wording]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryListResponse:
    memories: list[MemoryResponse]
    total: int  # what there is for this caller, on all pages
    next_cursor: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateMemoryResponse:
    memory: MemoryResponse
    old_content: str | None


Told = dict[str, Any]


def told(asked: Asked, memories: Iterable[Memory]) -> list[Told]:
    """Each as a `MemoryResponse`. Names are looked up once, and in private alone: what one calls
    somebody is not for everybody's ears."""
    found = list(memories)
    chat = asked.admitted.chat
    private = chat is not None and chat.kind is ChatKind.PRIVATE
    named = any(memory.subjects for memory in found)
    people = asked.view.people() if private and named else []
    names = {identity: _name(one) for one in people for identity in one.identities}
    return [_told(memory, names) for memory in found]


def _told(memory: Memory, names: Mapping[str, str | None]) -> Told:
    called = sorted({name for one in memory.subjects if (name := names.get(one))})
    plain: Told = encode(memory)
    plain["subject"] = ", ".join(called) or None
    first = {name: plain[name] for name in _FIRST}
    return first | plain


def _name(person: Person) -> str | None:
    for kind in _CALLED:
        for name in person.names:
            if name.kind is kind:
                return name.text
    return None


def wordings(history: Iterable[HistoryEntry]) -> list[Wording]:
    """The versions that the caller may hear, oldest first; what else happened is left out."""
    found: dict[int, Wording] = {}
    for entry in history:
        if entry.version not in found:
            found[entry.version] = Wording(
                version=entry.version, content=entry.content, created_at=entry.at
            )
    return [found[number] for number in sorted(found)]
