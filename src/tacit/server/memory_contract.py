"""What /api/memory/ takes and returns beyond the library's own records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal

from tacit.errors import InvalidInput
from tacit.records import validation
from tacit.records.accounts import NameKind, Person
from tacit.records.memory import ChatKind, HistoryEntry, Memory
from tacit.server.routing import RequestContext
from tacit.server.schemas import name_of, text_of
from tacit.wire import encode

MemoryCategory = Literal["person", "preference", "context", "project"]
CONTENT_MIN_CHARS = 5
CONTENT_MAX_CHARS = 500
SUBJECT_MAX_CHARS = 200
ShortContent = Annotated[str, text_of(CONTENT_MAX_CHARS, CONTENT_MIN_CHARS)]
Subject = Annotated[str, name_of(SUBJECT_MAX_CHARS)]


def parse_content(value: str) -> str:
    words = validation.check_storable("content", value, CONTENT_MAX_CHARS)
    if len(words) < CONTENT_MIN_CHARS:
        raise InvalidInput(
            "content", f"is too short; write at least {CONTENT_MIN_CHARS} characters"
        )
    return words


def parse_subject(subject: str | None) -> list[str] | None:
    if subject is None:
        return None
    return [validation.parse_screened_identifier("subject", subject, SUBJECT_MAX_CHARS)]


_LEADING_FIELDS = ("id", "category", "subject", "content", "version", "created_at", "updated_at")
# The best kind of name to show comes first.
_NAME_KIND_ORDER = (NameKind.NAME, NameKind.ALIAS, NameKind.USERNAME, NameKind.RELATION)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryResponse(Memory):
    """A memory, and the name of its subject where the caller may know it here."""

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
    total: int  # visible to this caller, on all pages
    next_cursor: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateMemoryResponse:
    memory: MemoryResponse
    old_content: str | None


MemoryDocument = dict[str, Any]


def encode_memories(context: RequestContext, memories: Iterable[Memory]) -> list[MemoryDocument]:
    """Encode memories as `MemoryResponse`. Names are added in private chats alone: what a person
    calls others is not for a group."""
    found = list(memories)
    chat = context.caller.chat
    private = chat is not None and chat.kind is ChatKind.PRIVATE
    named = any(memory.subjects for memory in found)
    people = context.view.people.list() if private and named else []
    names = {identity: _display_name(one) for one in people for identity in one.identities}
    return [_encode_memory(memory, names) for memory in found]


def _encode_memory(memory: Memory, names: Mapping[str, str | None]) -> MemoryDocument:
    called = sorted({name for one in memory.subjects if (name := names.get(one))})
    plain: MemoryDocument = encode(memory)
    plain["subject"] = ", ".join(called) or None
    first = {name: plain[name] for name in _LEADING_FIELDS}
    return first | plain


def _display_name(person: Person) -> str | None:
    for kind in _NAME_KIND_ORDER:
        for name in person.names:
            if name.kind is kind:
                return name.text
    return None


def list_versions(history: Iterable[HistoryEntry]) -> list[Wording]:
    """Return the versions that the caller may see, oldest first."""
    found: dict[int, Wording] = {}
    for entry in history:
        if entry.version not in found:
            found[entry.version] = Wording(
                version=entry.version, content=entry.content, created_at=entry.at
            )
    return [found[number] for number in sorted(found)]
