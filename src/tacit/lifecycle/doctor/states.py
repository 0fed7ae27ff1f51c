"""States that do not fit: keys with two values, dates of purging, answers, work given up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta

from sqlalchemy import Connection, and_, select

from tacit import limits
from tacit.clock import to_micros
from tacit.learning import memory_writes as remembering
from tacit.lifecycle.doctor.check import Case, Check, Patient, each
from tacit.records.memory import HistoryEvent, State
from tacit.storage import integrity, learned_facts, memories, queue
from tacit.storage.erasures import hard_delete
from tacit.storage.memories import Transaction
from tacit.storage.schema import jobs as jobs_table
from tacit.storage.schema import memories_table, memory_versions

_M = memories_table.c
_V = memory_versions.c
_STANDING = frozenset({State.ACTIVE, State.PENDING, State.QUARANTINED})
_WORDED = (
    select(_M.id)
    .outerjoin(
        memory_versions,
        and_(_V.space_id == _M.space_id, _V.memory_id == _M.id, _V.version == _M.version),
    )
    .where(_M.state == State.ACTIVE.value)
    .order_by(_V.created_at.desc(), _M.id.desc())
)


def _keys(connection: Connection, patient: Patient) -> Iterator[Case]:
    """Every active value of a key but the newest, with the newest."""
    for row in integrity.list_broken_rows(connection, integrity.DUPLICATE_KEYS, patient.space):
        holder = _M.owner == row.owner if row.owner else _M.learned_in == row.holder
        whose = holder if row.owner else and_(_M.owner.is_(None), holder)
        of = (_M.space_id == patient.space, whose, _M.category == row.category, _M.key == row.key)
        newest, *older = connection.execute(_WORDED.where(*of)).scalars()
        yield from (Case((id, newest), id) for id in older)


def _give_way(w: Transaction, case: Case) -> bool:
    old, new = (memories.get_for_update(w, id) for id in case.key)
    if old is not None and new is not None and new.state is State.ACTIVE:
        remembering.supersede_memory(w, old, new.id)
    return True


KEYS = Check(
    name="keys",
    description="memories are older values of a key that has a newer one",
    remedy="lets them give way to the newest",
    find=_keys,
    repair=each(_give_way),
)


def _misdated(connection: Connection, patient: Patient) -> Iterator[Case]:
    for row in integrity.list_broken_rows(connection, integrity.WRONG_PURGE_DATE, patient.space):
        yield Case((row.id,), row.id)


def _date(w: Transaction, case: Case) -> bool:
    memory = memories.get_for_update(w, case.key[0])
    if memory is None:
        return True
    later = w.at + timedelta(days=limits.RESTORABLE_DAYS)
    purge_at = None if memory.state in _STANDING else memory.purge_at or later
    if purge_at != memory.purge_at:
        dated = replace(memory, purge_at=purge_at)
        memories.update_fields(w, dated, HistoryEvent.UPDATE, None, {"fields": "purge_at"})
    return True


PURGE_DATES = Check(
    name="purge-dates",
    description="memories are forgotten without a day on which they go, or stand and have one",
    remedy=f"gives the former {limits.RESTORABLE_DAYS} days from now, and takes it from the latter",
    find=_misdated,
    repair=each(_date),
)


def _overdue(connection: Connection, patient: Patient) -> Iterator[Case]:
    late = patient.store.clock() - timedelta(days=limits.PURGE_OVERDUE_DAYS)
    of = (_M.space_id == patient.space, _M.purge_at <= to_micros(late))
    for id in connection.execute(select(_M.id).where(*of)).scalars():
        yield Case((id,), id)


OVERDUE = Check(
    name="overdue-purges",
    description=f"memories should have gone more than {limits.PURGE_OVERDUE_DAYS} days ago",
    remedy="is not for the doctor, because nothing purged comes back: run `tacit purge`, which also "
    "looks at whether the clock leapt",
    find=_overdue,
)

_ASKED, _ANSWERED = "asked", "answered"


def _proposals(connection: Connection, patient: Patient) -> Iterator[Case]:
    for row in integrity.list_broken_rows(
        connection, integrity.PENDING_WITHOUT_PROPOSAL, patient.space
    ):
        yield Case((_ASKED, row.id), row.id)
    for row in integrity.list_broken_rows(connection, integrity.ANSWERED_PROPOSALS, patient.space):
        yield Case((_ANSWERED, row.memory_id), row.memory_id)


def _resolve(w: Transaction, case: Case) -> bool:
    """As `forget` does: kept and restored, it would have got past whoever was to be asked."""
    kind, id = case.key
    memory = memories.get_for_update(w, id)
    if memory is None:
        return True
    if kind == _ANSWERED and memory.state is not State.PENDING:
        learned_facts.delete_proposal(w, id)
    elif kind == _ASKED and memory.state is State.PENDING:
        hard_delete(w, [id])
    return True


PROPOSALS = Check(
    name="proposals",
    description="memories wait for a yes that nobody is asked for, or were answered and still ask",
    remedy="removes what nobody was asked for, and the question that was answered",
    find=_proposals,
    repair=each(_resolve),
)


def _parked(connection: Connection, patient: Patient) -> Iterator[Case]:
    j = jobs_table.c
    of = (j.space_id == patient.space, j.kind == queue.LEARN_JOB, j.parked.is_(True))
    given_up = select(j.thread, j.seq).where(*of)
    return (Case((thread, str(seq))) for thread, seq in connection.execute(given_up))


def _retry(w: Transaction, cases: Sequence[Case]) -> int:
    queue.unpark_jobs(w.connection, w.space, w.at)
    return len(cases)


PARKED = Check(
    name="parked-jobs",
    description="turns could not be learned after many tries, and were given up",
    remedy="lets them be tried again",
    find=_parked,
    repair=_retry,
    after_repair=lambda patient: patient.wake(),
)
