"""What people said of themselves in private, without a note that it was they who said it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, select, update

from tacit.identity.links import Identities
from tacit.lifecycle.doctor.check import Case, Check, Patient, each
from tacit.records.conversation import Role
from tacit.records.memory import HistoryEvent
from tacit.storage import integrity, memories
from tacit.storage.memories import Transaction
from tacit.storage.memory_reads import unpack_people
from tacit.storage.schema import memories_table, memory_versions
from tacit.storage.spaces import load_identities

_M = memories_table.c
_V = memory_versions.c
_WORDED = select(_V.memory_id, _V.speaker, _V.actor).join(
    memories_table,
    (_M.space_id == _V.space_id) & (_M.id == _V.memory_id) & (_M.version == _V.version),
)


def _find(connection: Connection, patient: Patient) -> Iterator[Case]:
    rows = integrity.list_broken_rows(connection, integrity.WITHOUT_SPEAKER, patient.space)
    identities = integrity.load_all_identities(connection, patient.space) if rows else Identities()
    for row in rows:
        if unpack_people(row.subjects) - identities.current_identities(row.owner):
            continue  # of somebody else, too
        of = (_V.space_id == patient.space, _V.memory_id == row.id)
        worded = connection.execute(_WORDED.where(*of)).first()
        who = _said_by(row.owner, row.role, worded, identities)
        yield Case((row.id,), row.id, repairable=who is not None)


def _said_by(owner: str, role: str | None, worded: Any, identities: Identities) -> str | None:
    """Its current wording has a speaker, or was written by the owner as a person's own word."""
    if worded is None:
        return None
    mine = identities.current_identities(owner)
    if worded.speaker is not None:
        return str(worded.speaker) if worded.speaker in mine else None
    own = role in (None, Role.USER.value) and worded.actor in mine
    return str(worded.actor) if own else None


def _mend(w: Transaction, case: Case) -> bool:
    memory = memories.get_for_update(w, case.key[0])
    if memory is None or memory.speaker is not None or memory.owner is None:
        return True
    of = (_V.space_id == w.space, _V.memory_id == memory.id)
    worded = w.connection.execute(_WORDED.where(*of)).first()
    who = _said_by(
        memory.owner, memory.role, worded, load_identities(w.connection, w.space, [memory.owner])
    )
    if who is None:
        return False
    spoken = replace(memory, speaker=who)
    memories.update_fields(w, spoken, HistoryEvent.UPDATE, None, {"fields": "speaker"})
    now = update(memory_versions).where(*of, _V.version == memory.version)
    w.connection.execute(now.values(speaker=who))
    return True


SPEAKERS = Check(
    name="speakers",
    description="memories of somebody about themselves do not say who said it",
    remedy="sets the speaker where its wording tells it; otherwise correct the memory in its "
    "owner's private chat",
    find=_find,
    repair=each(_mend),
)
