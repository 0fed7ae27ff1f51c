"""The full-text index beside what memories say."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import Connection, select

from tacit.lifecycle.doctor.check import Case, Check, Patient, each
from tacit.store import indexed, writes
from tacit.store.tables import memories
from tacit.store.writes import Writing

_STRAY, _STALE = "stray", "stale"
_M = memories.c


def _find(connection: Connection, patient: Patient) -> Iterator[Case]:
    """Stray words first: they may stand in the way of new ones."""
    dialect, space = patient.store.database.dialect, patient.space
    for number in indexed.stray(connection, dialect, space):
        yield Case((_STRAY, str(number)))
    for id in indexed.stale(connection, dialect, space):
        yield Case((_STALE, id), id)


def _mend(w: Writing, case: Case) -> bool:
    kind, which = case.key
    if kind == _STRAY:
        indexed.drop(w.connection, int(which))
        return True
    memory = writes.held(w, which)
    if memory is not None:
        heard = select(_M.heard).where(_M.space_id == w.space, _M.id == which)
        indexed.index(w, memory, w.connection.execute(heard).scalar())
    return True


WORDS = Check(
    name="words",
    description="memories are not found by their words, or by words of something else",
    remedy="indexes their words again, and drops words of what is gone",
    find=_find,
    repair=each(_mend),
)
