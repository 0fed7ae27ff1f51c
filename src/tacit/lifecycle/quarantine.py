"""List, release and discard the memories that wait for an operator."""

from __future__ import annotations

import json
from dataclasses import replace

from sqlalchemy import Connection, select

from tacit import limits
from tacit.errors import NotFound
from tacit.learning.composition import Ttls, compute_expiry
from tacit.learning.memory_writes import QUARANTINE_TAG
from tacit.lifecycle.erasure import erase_single_memory
from tacit.lifecycle.erasure_records import RecordedErasure
from tacit.records.memory import HistoryEvent, Memory, State, Trust
from tacit.records.results import Quarantined
from tacit.storage import memories
from tacit.storage.engine import to_record
from tacit.storage.memories import Transaction
from tacit.storage.schema import history_table, memories_table

_RELEASE_REASON = "released from quarantine by an operator"
_M = memories_table.c
_H = history_table.c
_QUARANTINED_ROWS = (
    select(
        _M.id, _M.owner, _M.source_chat.label("chat"), _M.source_message.label("message"),
        _M.agent, _M.role, _M.created_at, _H.detail,
    )
    .join(history_table, (_H.space_id == _M.space_id) & (_H.memory_id == _M.id) & (_H.seq == 1))
    .where(_M.state == State.QUARANTINED.value)
    .order_by(_M.created_at.desc(), _M.id.desc())
    .limit(limits.PAGE_MAX_COUNT)
)  # fmt: skip


def list_quarantined(connection: Connection, space: str) -> list[Quarantined]:
    rows = connection.execute(_QUARANTINED_ROWS.where(_M.space_id == space))
    return [to_record(Quarantined, row, reason=json.loads(row.detail).get("why", "")) for row in rows]


def release_memory(tx: Transaction, memory: Memory, ttls: Ttls) -> None:
    _require_quarantined(memory)
    out = replace(
        memory,
        state=State.ACTIVE,
        trust=Trust.UNTRUSTED,
        tags=tuple(tag for tag in memory.tags if tag != QUARANTINE_TAG),
        expires_at=compute_expiry(memory.kind, tx.at, ttls),
        updated_at=tx.at,
    )
    memories.update_fields(replace(tx, why=_RELEASE_REASON), out, HistoryEvent.CONSENT, "created")


def discard_memory(tx: Transaction, memory: Memory) -> RecordedErasure:
    _require_quarantined(memory)
    return erase_single_memory(tx, memory.id)


def _require_quarantined(memory: Memory) -> None:
    """Raise NotFound for a memory in any other state: an operator must not learn that it exists."""
    if memory.state is not State.QUARANTINED:
        raise NotFound
