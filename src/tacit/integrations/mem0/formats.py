"""mem0's messages, metadata, dates and result shapes, in and out."""

from __future__ import annotations

import hashlib
import logging
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final

from tacit import Message, Signals
from tacit.errors import InvalidInput
from tacit.integrations.mem0.scope import ID_NAMES, Mem0Scope, ValidationError
from tacit.records.conversation import Role
from tacit.records.memory import HistoryEntry, HistoryEvent, Memory

# Expiration dates: mem0 has the last valid day, Tacit a moment.

# Not None, which would mean "not given".
NEVER = datetime(9999, 12, 31, tzinfo=UTC)
_LAST_DAY = date(9999, 12, 30)


def parse_expiration_date(value: object, field: str = "expiration_date") -> datetime:
    """Return the end of that day in UTC; NEVER for None."""
    if value is None:
        return NEVER
    day = _parse_day(value, field)
    if day >= _LAST_DAY:
        return NEVER
    return datetime.combine(day + timedelta(days=1), time(), UTC)


def expiration_day(memory: Memory) -> str | None:
    """Return the last valid day, or None."""
    if memory.expires_at is None or memory.expires_at >= NEVER:
        return None
    return (memory.expires_at - timedelta.resolution).date().isoformat()


def _parse_day(value: object, field: str) -> date:
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    if isinstance(value, str):
        try:
            return date.fromisoformat(value)
        except ValueError:
            pass
    raise InvalidInput(field, "is not a date; write it as 2030-12-31")


# Metadata: stored as the data of a memory.

_log = logging.getLogger(__name__)
ACTOR = "actor_id"
CREATED = "created_at"
_EXPIRES = "expiration_date"
UNSET: Final = object()  # None means never
# Fields that mem0 returns beside the metadata.
_TOP_LEVEL_FIELDS = (ACTOR, "attributed_to", CREATED)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallMetadata:
    """Metadata and expiry of a call."""

    data: dict[str, Any]
    expires_at: datetime | None  # None: not given


def parse_metadata(metadata: object, expiration_date: object = UNSET) -> CallMetadata:
    """Parse metadata without ids: the arguments of a call decide the owner."""
    if metadata is not None and not isinstance(metadata, Mapping):
        raise InvalidInput("metadata", f"expected a dict, got {type(metadata).__name__}")
    data = {}
    for name, value in (metadata or {}).items():
        if name in (*ID_NAMES, ACTOR):
            _log.warning("metadata may not contain %s; it is ignored", name)
        elif name == _EXPIRES:
            expiration_date = value if expiration_date is UNSET else expiration_date
        else:
            data[name] = value
    expires = None if expiration_date is UNSET else parse_expiration_date(expiration_date)
    return CallMetadata(data=data, expires_at=expires)


def merge_metadata(memory: Memory, more: CallMetadata) -> dict[str, Any]:
    """Merge new metadata into that of a memory, except the time of creation."""
    given = {name: value for name, value in more.data.items() if name != CREATED}
    return {**(memory.data or {}), **given}


def split_metadata(memory: Memory) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """Return the metadata, and the fields that mem0 returns beside it."""
    data = dict(memory.data or {})
    for name in ID_NAMES:  # of imported memories; Mem0Scope returns them
        data.pop(name, None)
    beside: dict[str, Any] = {name: data.pop(name) for name in _TOP_LEVEL_FIELDS if isinstance(data.get(name), str)}
    if memory.role is not None:
        beside["role"] = memory.role
    elif isinstance(data.get("role"), str):
        beside["role"] = data.pop("role")
    if memory.expires_at is not None:
        beside[_EXPIRES] = expiration_day(memory)
    return data or None, beside


# Messages: text, one message, or a list of them. Unknown roles count as the assistant's.

_ROLES = {"user": Role.USER, "tool": Role.TOOL, "function": Role.TOOL, "system": Role.SYSTEM}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mem0Message:
    role: str
    content: str
    name: str | None  # mem0's actor

    def message(self, user: str | None) -> Message:
        """Make a message for learning; an actor with the user's name is the user."""
        other = None if self.name == user else self.name
        return Message(_ROLES.get(self.role, Role.ASSISTANT), self.content, name=other)


def parse_messages(messages: object) -> list[Mem0Message]:
    """Return the messages with text. Images are ignored; the caller leaves out system messages."""
    found = [_parse_message(one) for one in _list_messages(messages)]
    return [one for one in found if one is not None]


def _list_messages(messages: object) -> list[Any]:
    if isinstance(messages, str):
        return [{"role": "user", "content": messages}]
    if isinstance(messages, Mapping):
        return [messages]
    if isinstance(messages, list):
        return messages
    raise ValidationError(
        "messages",
        f"expected text, a message or a list of messages, got {type(messages).__name__}",
        "VALIDATION_003",
        {"provided_type": type(messages).__name__},
    )


def _parse_message(message: object) -> Mem0Message | None:
    if not isinstance(message, Mapping) or message.get("role") is None:
        _log.warning("a message was ignored: it has no role")
        return None
    text = _message_text(message.get("content"))
    if text is None:
        return None
    name = message.get("name")
    role = str(message["role"])
    return Mem0Message(role=role, content=text, name=str(name) if name else None)


def _message_text(content: object) -> str | None:
    """Return the text; None for a tool call or an image."""
    if isinstance(content, list):
        parts = [one for one in content if isinstance(one, Mapping) and one.get("type") == "text"]
        content = " ".join(str(one.get("text", "")) for one in parts)
    if content is None or isinstance(content, Mapping):
        return None
    if not isinstance(content, str):
        raise InvalidInput("messages", f"must contain text, not {type(content).__name__}")
    return content if content.strip() else None


# Memories and their history in mem0's shapes.

Item = dict[str, Any]

# Other events, such as relations and approvals, change neither content nor metadata.
_EVENTS = {
    HistoryEvent.ADD: "ADD",
    HistoryEvent.RESTORE: "ADD",
    HistoryEvent.UPDATE: "UPDATE",
    HistoryEvent.DELETE: "DELETE",
    HistoryEvent.SUPERSEDE: "DELETE",
    HistoryEvent.TTL: "DELETE",
}
_MERGED_INTO = "into"  # detail of a merge in the history of the memory that is merged away


def make_item(scope: Mem0Scope, memory: Memory) -> Item:
    """Format a memory as `get_all` does."""
    kept, beside = split_metadata(memory)
    created = beside.pop(CREATED, None) or memory.created_at.isoformat()
    return {
        "id": scope.id_of(memory.id),
        "memory": memory.content,
        "hash": hashlib.md5(memory.content.encode(), usedforsecurity=False).hexdigest(),
        "metadata": kept,
        "created_at": created,
        "updated_at": memory.updated_at.isoformat(),
        **scope.ids_of(memory),
        **beside,
    }


def make_scored_item(
    scope: Mem0Scope, memory: Memory, score: float, signals: Signals, *, threshold: float | None
) -> Item:
    """Format a memory as `search` does. With a threshold, add the scores under mem0's names."""
    whole = min(score, 1.0)
    found = {**make_item(scope, memory), "score": whole}
    if threshold is not None:
        found["score_details"] = {
            "semantic_score": signals.meaning,
            "bm25_score": signals.words,
            "entity_boost": signals.person,
            "raw_score": score,
            "max_possible_score": 1.0,
            "final_score": whole,
            "threshold": threshold,
        }
    return found


def make_filter_payload(scope: Mem0Scope, memory: Memory) -> Item:
    """Return the fields that filters can use: metadata and the fields beside it."""
    shown = make_item(scope, memory)
    return {**(shown["metadata"] or {}), **shown, "data": memory.content}


def make_history(memory_id: str, memory: Memory, entries: Sequence[HistoryEntry]) -> list[Item]:
    """Format the history, oldest first."""
    _, beside = split_metadata(memory)
    made: list[Item] = []
    before: str | None = None
    for number, entry in enumerate(entries):
        event = _EVENTS.get(entry.event)
        if entry.event is HistoryEvent.MERGE and _MERGED_INTO in entry.detail:
            event = "DELETE"
        if event is None:
            continue
        gone = event == "DELETE"
        made.append(
            {
                "id": str(uuid.uuid5(uuid.NAMESPACE_OID, f"{memory_id}#{number}")),
                "memory_id": memory_id,
                "old_memory": None if event == "ADD" else before,
                "new_memory": None if gone else entry.content,
                "event": event,
                "created_at": beside.get(CREATED) or memory.created_at.isoformat(),
                "updated_at": entry.at.isoformat(),
                "is_deleted": gone,
                "actor_id": beside.get(ACTOR),
                "role": beside.get("role"),
            }
        )
        before = entry.content
    return made
