"""Vectors that are missing, and vectors that lie where nobody looks for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlalchemy import Connection, delete, select

from tacit.lifecycle.doctor.check import Case, Check, Patient, each
from tacit.storage import revisions, vectors
from tacit.storage.memories import Transaction
from tacit.storage.schema import embedded, memories_table, vectors_table

_PAGE_COUNT = 500
_M = memories_table.c
_V = vectors_table.c
_E = embedded.c
_PLACED = (
    select(_V.home, _V.memory_id, _M.owner, _M.learned_in)
    .join(memories_table, (_M.space_id == _V.space_id) & (_M.id == _V.memory_id))
    .where(_V.home != vectors.HOME_PATH)
)


def _stray(connection: Connection, patient: Patient) -> Iterator[Case]:
    found = connection.execute(_PLACED.where(_V.space_id == patient.space))
    return (Case((row.home, row.memory_id), row.memory_id) for row in found)


def _remove(w: Transaction, case: Case) -> bool:
    home, id = case.key
    of = (_V.space_id == w.space, _V.home == home, _V.memory_id == id)
    if w.connection.execute(_PLACED.where(*of)).first() is not None:
        w.connection.execute(delete(vectors_table).where(*of))
        w.connection.execute(delete(embedded).where(_E.space_id == w.space))
        revisions.restamp_memories(w.connection, w.space, [id])
    return True


STRAY = Check(
    name="stray-vectors",
    description="vectors lie with somebody who does not have the memory",
    remedy="removes them; what then has no vector gets one",
    find=_stray,
    repair=each(_remove),
    after_repair=lambda patient: patient.embed() if patient.embed else None,
)


def _unembedded(connection: Connection, patient: Patient) -> Iterator[Case]:
    after = ""
    while patient.model is not None:
        some = vectors.list_unembedded(connection, patient.space, patient.model, after, _PAGE_COUNT)
        yield from (Case((one.id,), one.id) for one in some)
        if len(some) < _PAGE_COUNT:
            return
        after = some[-1].id


def _unmark(w: Transaction, cases: Sequence[Case]) -> int:
    """The space is not complete: whoever makes vectors looks through it again."""
    w.connection.execute(delete(embedded).where(_E.space_id == w.space))
    return len(cases)


MISSING = Check(
    name="missing-vectors",
    description="memories have no vector of the current model, so that only their words find them",
    remedy="makes the vectors now",
    find=_unembedded,
    repair=_unmark,
    after_repair=lambda patient: patient.embed() if patient.embed else None,
)
