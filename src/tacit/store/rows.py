"""Memories to rows and back. What a row does not say readably counts as the strict default."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from tacit.clock import from_micros, to_micros
from tacit.records.memory import (
    ChatKind,
    Kind,
    Memory,
    Sensitivity,
    Source,
    State,
    Trust,
    Visibility,
)
from tacit.records.validation import dump_json
from tacit.store.tables import memories

_KINDS = {k.value: k for k in Kind}
_VISIBILITIES = {v.value: v for v in Visibility}
_SENSITIVITIES = {s.value: s for s in Sensitivity}
_STATES = {s.value: s for s in State}
_TRUSTS = {t.value: t for t in Trust}
_LEARNED = {"private": ChatKind.PRIVATE, "group": ChatKind.GROUP}
_NOBODY: frozenset[str] = frozenset()

# The columns of the record, in the order that `to_memory` unpacks.
COLUMNS = tuple(c for c in memories.c if c.name not in ("is_turn", "stamp"))


def to_visibility(text: str) -> Visibility:
    return _VISIBILITIES.get(text, Visibility.PRIVATE_ONLY)


def to_sensitivity(text: str) -> Sensitivity:
    return _SENSITIVITIES.get(text, Sensitivity.SENSITIVE)


def packed(words: Iterable[str]) -> str:
    found = sorted(words)
    return json.dumps(found, ensure_ascii=False) if found else "[]"


def unpacked(text: str) -> frozenset[str]:
    """The people of a JSON list; nobody, where it is unreadable."""
    return _NOBODY if text == "[]" else frozenset(_read(text) or ())


def _read(text: str) -> list[str] | None:
    try:
        found = json.loads(text)
    except ValueError:
        return None
    good = isinstance(found, list) and all(isinstance(one, str) for one in found)
    return found if good else None


def unpacked_object(text: str) -> dict[str, Any] | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and found else None


def _time(micros: int | None) -> datetime | None:
    return None if micros is None else from_micros(micros)


def micros(moment: datetime | None) -> int | None:
    return None if moment is None else to_micros(moment)


def to_memory(row: Any, heard_by: frozenset[str]) -> Memory:
    """`row` is a tuple of COLUMNS; `heard_by` is its set of listeners, fetched apart."""
    (
        space, id, owner, speaker, subjects, learned_in, learned_kind, _heard, confidential, kind,
        category, key, slot, content, version, visibility, sensitivity, portable, withheld_from,
        _has_withheld, withheld_unknown, inferred, trust, importance, confidence, pinned, tags,
        source_channel, source_chat, source_message, thread, agent, run, role, created_at,
        updated_at, observed_at, expires_at, last_accessed_at, access_count, state, purge_at,
        superseded_by, shadowed, session, seq, name, data,
    ) = row  # fmt: skip
    learned = _LEARNED.get(learned_kind)
    unreadable = Visibility.ROOM if learned is ChatKind.GROUP else Visibility.PRIVATE_ONLY
    return Memory(
        id=id,
        space=space,
        owner=owner,
        speaker=speaker,
        subjects=unpacked(subjects),
        learned_in=learned_in,
        learned_kind=learned,
        heard_by=heard_by,
        confidential=bool(confidential),
        kind=_KINDS.get(kind, Kind.KNOWLEDGE),
        category=category,
        key=key,
        slot=slot,
        content=content,
        version=version,
        visibility=_VISIBILITIES.get(visibility, unreadable),
        sensitivity=_SENSITIVITIES.get(sensitivity, Sensitivity.PERSONAL),
        portable=bool(portable),
        withheld_from=unpacked(withheld_from),
        # Withheld from people we cannot read is withheld from somebody we do not know.
        withheld_unknown=bool(withheld_unknown)
        or (withheld_from != "[]" and _read(withheld_from) is None),
        inferred=bool(inferred),
        trust=_TRUSTS.get(trust, Trust.UNTRUSTED),
        importance=importance,
        confidence=confidence,
        pinned=bool(pinned),
        tags=() if tags == "[]" else tuple(_read(tags) or ()),
        source=Source(channel=source_channel, chat=source_chat, message=source_message),
        thread=thread,
        agent=agent,
        run=run,
        role=role,
        created_at=from_micros(created_at),
        updated_at=from_micros(updated_at),
        observed_at=_time(observed_at),
        expires_at=_time(expires_at),
        last_accessed_at=_time(last_accessed_at),
        access_count=access_count,
        state=_STATES.get(state, State.QUARANTINED),
        purge_at=_time(purge_at),
        superseded_by=superseded_by,
        shadowed=bool(shadowed),
        session=session,
        seq=seq,
        name=name,
        data=None if data is None else unpacked_object(data),
    )


def to_row(memory: Memory, heard: str | None) -> dict[str, Any]:
    return {
        "space_id": memory.space,
        "id": memory.id,
        "owner": memory.owner,
        "speaker": memory.speaker,
        "subjects": packed(memory.subjects),
        "learned_in": memory.learned_in,
        "learned_kind": memory.learned_kind.value if memory.learned_kind else None,
        "heard": heard,
        "confidential": memory.confidential,
        "kind": memory.kind.value,
        "category": memory.category,
        "key": memory.key,
        "slot": memory.slot,
        "content": memory.content,
        "version": memory.version,
        "visibility": memory.visibility.value,
        "sensitivity": memory.sensitivity.value,
        "portable": memory.portable,
        "withheld_from": packed(memory.withheld_from),
        "has_withheld": bool(memory.withheld_from),
        "withheld_unknown": memory.withheld_unknown,
        "inferred": memory.inferred,
        "trust": memory.trust.value,
        "importance": memory.importance,
        "confidence": memory.confidence,
        "pinned": memory.pinned,
        "tags": packed(memory.tags),
        "source_channel": memory.source.channel,
        "source_chat": memory.source.chat,
        "source_message": memory.source.message,
        "thread": memory.thread,
        "agent": memory.agent,
        "run": memory.run,
        "role": memory.role,
        "created_at": to_micros(memory.created_at),
        "updated_at": to_micros(memory.updated_at),
        "observed_at": micros(memory.observed_at),
        "expires_at": micros(memory.expires_at),
        "last_accessed_at": micros(memory.last_accessed_at),
        "access_count": memory.access_count,
        "state": memory.state.value,
        "purge_at": micros(memory.purge_at),
        "superseded_by": memory.superseded_by,
        "shadowed": memory.shadowed,
        "is_turn": memory.is_turn,
        "session": memory.session,
        "seq": memory.seq,
        "name": memory.name,
        "data": dump_json(memory.data) if memory.data else None,
    }


def counted_subjects(memory: Memory) -> frozenset[str]:
    """Whom a memory counts as about: as given, else its speaker, else its owner."""
    if memory.subjects:
        return memory.subjects
    somebody = memory.speaker or memory.owner
    return frozenset({somebody}) if somebody else _NOBODY
