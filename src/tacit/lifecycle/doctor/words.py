"""The full-text index beside what memories say."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import Connection, select

from tacit.lifecycle.doctor.check import Case, Check, Patient, each
from tacit.storage import integrity, memories
from tacit.storage.memories import Transaction
from tacit.storage.schema import memories_table

_STRAY, _STALE = "stray", "stale"
_M = memories_table.c


def _find(connection: Connection, patient: Patient) -> Iterator[Case]:
    """Stray words first: they may stand in the way of new ones."""
    dialect, space = patient.store.database.dialect, patient.space
    for number in integrity.list_stray_documents(connection, dialect, space):
        yield Case((_STRAY, str(number)))
    for id in integrity.list_stale_documents(connection, dialect, space):
        yield Case((_STALE, id), id)


def _mend(w: Transaction, case: Case) -> bool:
    kind, which = case.key
    if kind == _STRAY:
        integrity.delete_stray_document(w.connection, int(which))
        return True
    memory = memories.get_for_update(w, which)
    if memory is not None:
        heard = select(_M.heard).where(_M.space_id == w.space, _M.id == which)
        integrity.reindex_memory(w, memory, w.connection.execute(heard).scalar())
    return True


WORDS = Check(
    name="words",
    description="memories are not found by their words, or by words of something else",
    remedy="indexes their words again, and drops words of what is gone",
    find=_find,
    repair=each(_mend),
)
