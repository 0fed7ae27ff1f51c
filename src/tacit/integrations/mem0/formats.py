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

# mem0's expiration dates: a day, the last one on which a memory counts, as a moment and back.

# None would mean that nothing is said about it; a day that no calendar comes to means never.
NEVER = datetime(9999, 12, 31, tzinfo=UTC)
_LAST_DAY = date(9999, 12, 30)


def parse_expiration_date(value: object, field: str = "expiration_date") -> datetime:
    """The moment at which that day is over, everywhere in UTC; NEVER for None."""
    if value is None:
        return NEVER
    day = _parse_day(value, field)
    if day >= _LAST_DAY:
        return NEVER
    return datetime.combine(day + timedelta(days=1), time(), UTC)


def expiration_day(memory: Memory) -> str | None:
    """The last day that it counts on, whoever set that."""
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
    raise InvalidInput(field, "is no date; write it as 2030-12-31")


# mem0's metadata as the JSON object that goes with a memory, and back.

_log = logging.getLogger(__name__)
ACTOR = "actor_id"
CREATED = "created_at"
_EXPIRES = "expiration_date"
UNSET: Final = object()  # None means never
# What mem0 tells beside the metadata, wherever it was said.
_TOP_LEVEL_FIELDS = (ACTOR, "attributed_to", CREATED)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallMetadata:
    """What a call says of a memory besides its words."""

    data: dict[str, Any]
    expires_at: datetime | None  # None: nothing was said

    def with_actor(self, name: str | None) -> dict[str, Any] | None:
        data = self.data if name is None else {**self.data, ACTOR: name}
        return data or None


def parse_metadata(metadata: object, expiration_date: object = UNSET) -> CallMetadata:
    """Whose a memory is, is said by whose call it is: metadata may not place it elsewhere."""
    if metadata is not None and not isinstance(metadata, Mapping):
        raise InvalidInput("metadata", f"expected a dict, got {type(metadata).__name__}")
    data = {}
    for name, value in (metadata or {}).items():
        if name in (*ID_NAMES, ACTOR):
            _log.warning("metadata may not say %s; it is left out", name)
        elif name == _EXPIRES:
            expiration_date = value if expiration_date is UNSET else expiration_date
        else:
            data[name] = value
    expires = None if expiration_date is UNSET else parse_expiration_date(expiration_date)
    return CallMetadata(data=data, expires_at=expires)


def merge_metadata(memory: Memory, more: CallMetadata) -> dict[str, Any]:
    """What it has, and what is said now. When it was made, is settled."""
    said = {name: value for name, value in more.data.items() if name != CREATED}
    return {**(memory.data or {}), **said}


def split_metadata(memory: Memory) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """The metadata, and what mem0 tells beside it."""
    data = dict(memory.data or {})
    for name in ID_NAMES:  # of what was moved here from mem0; `Scope` tells of them
        data.pop(name, None)
    beside: dict[str, Any] = {
        name: data.pop(name) for name in _TOP_LEVEL_FIELDS if isinstance(data.get(name), str)
    }
    if memory.role is not None:
        beside["role"] = memory.role
    elif isinstance(data.get("role"), str):
        beside["role"] = data.pop("role")
    if memory.expires_at is not None:
        beside[_EXPIRES] = expiration_day(memory)
    return data or None, beside


# Messages as mem0 takes them: text, one message, or a list of them.

# What a model is told, or says itself, is what a person's words are read with.
_ROLES = {"user": Role.USER, "tool": Role.TOOL, "function": Role.TOOL, "system": Role.SYSTEM}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mem0Message:
    role: str
    content: str
    name: str | None  # mem0's actor

    def message(self, user: str | None) -> Message:
        """For learning: who calls themselves as the user is called is the user."""
        other = None if self.name == user else self.name
        return Message(_ROLES.get(self.role, Role.ASSISTANT), self.content, name=other)


def parse_messages(messages: object) -> list[Mem0Message]:
    """Those that say something. Pictures are not looked at; instructions to a model are nothing
    that anybody said, and are left to the caller to leave out."""
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
        _log.warning("a message was left out: it has no role")
        return None
    words = _message_text(message.get("content"))
    if words is None:
        return None
    name = message.get("name")
    role = str(message["role"])
    return Mem0Message(role=role, content=words, name=str(name) if name else None)


def _message_text(content: object) -> str | None:
    """None where nothing is said: a call of a tool, a picture."""
    if isinstance(content, list):
        parts = [one for one in content if isinstance(one, Mapping) and one.get("type") == "text"]
        content = " ".join(str(one.get("text", "")) for one in parts)
    if content is None or isinstance(content, Mapping):
        return None
    if not isinstance(content, str):
        raise InvalidInput("messages", f"say text, not {type(content).__name__}")
    return content if content.strip() else None


# What a memory, and what became of it, looks like to a script that was written for mem0.

Item = dict[str, Any]

# What is not here (a relation, a yes to a proposal) changes neither words nor metadata.
_EVENTS = {
    HistoryEvent.ADD: "ADD",
    HistoryEvent.RESTORE: "ADD",
    HistoryEvent.UPDATE: "UPDATE",
    HistoryEvent.DELETE: "DELETE",
    HistoryEvent.SUPERSEDE: "DELETE",
    HistoryEvent.TTL: "DELETE",
}
_MERGED_INTO = "into"  # in what history says of a merge: the memory that stays


def make_item(scope: Mem0Scope, memory: Memory) -> Item:
    """As `get_all` lists it."""
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


def make_single_item(scope: Mem0Scope, memory: Memory) -> Item:
    """As `get` gives it: nothing was asked, so there is no score."""
    return {**make_item(scope, memory), "score": None}


def make_scored_item(
    scope: Mem0Scope, memory: Memory, score: float, signals: Signals, *, threshold: float | None
) -> Item:
    """As `search` finds it. With a threshold it says what raised it: mem0's names, our figures."""
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
    """What filters look at: metadata and everything beside it, by their names."""
    shown = make_item(scope, memory)
    return {**(shown["metadata"] or {}), **shown, "data": memory.content}


def make_history(memory_id: str, memory: Memory, entries: Sequence[HistoryEntry]) -> list[Item]:
    """Oldest first."""
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
