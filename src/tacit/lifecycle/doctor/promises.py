"""What is written with every memory: its versions, its history, its people, its delta."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update

from tacit.clock import to_micros
from tacit.lifecycle.doctor.check import ACTOR, Case, Check, Patient, each
from tacit.policy.predicate import ROLE_MENTIONED, ROLE_SUBJECT, ROLE_WITHHELD
from tacit.records.memory import ChatKind, HistoryEvent, Memory, Sensitivity, Visibility
from tacit.storage import integrity, memories, revisions, statements
from tacit.storage.memories import Transaction
from tacit.storage.memory_reads import pack_people, unpack_people
from tacit.storage.schema import (
    change_log,
    history_table,
    memories_table,
    memory_people,
    memory_versions,
    thread_revisions,
)
from tacit.storage.spaces import load_identities

_M = memories_table.c
_V = memory_versions.c
_H = history_table.c
_P = memory_people.c
_T = thread_revisions.c
_C = change_log.c


def _broken(connection: Connection, patient: Patient, *promises: Any) -> Iterator[Case]:
    ids = [
        row.id
        for one in promises
        for row in integrity.list_broken_rows(connection, one, patient.space)
    ]
    return (Case((id,), id) for id in dict.fromkeys(ids))


def _versions(connection: Connection, patient: Patient) -> Iterator[Case]:
    return _broken(connection, patient, integrity.WITHOUT_CURRENT_VERSION, integrity.VERSION_GAPS)


def _mend_versions(w: Transaction, case: Case) -> bool:
    """A wording that is lost counts as the one that came after it, and stays with the owner. What
    the memory says now is its newest version."""
    memory = memories.get_for_update(w, case.key[0])
    if memory is None:
        return True
    of = (_V.space_id == w.space, _V.memory_id == memory.id)
    rows = w.connection.execute(select(memory_versions).where(*of)).mappings().all()
    found: dict[int, Any] = {row["version"]: dict(row) for row in rows}
    heard = select(_M.heard).where(_M.space_id == w.space, _M.id == memory.id)
    if memory.version not in found and memory.version >= max(found, default=0):
        _, now = memories.version_insert(
            memory, w.connection.execute(heard).scalar(), w.actor, memory.updated_at
        )
        found[memory.version] = now
        w.connection.execute(insert(memory_versions).values(now))
    last = max(found)
    following = found[last]
    for number in range(last - 1, 0, -1):
        if number in found:
            following = found[number]
            continue
        strict = {
            "version": number,
            "visibility": Visibility.PRIVATE_ONLY.value,
            "sensitivity": Sensitivity.SENSITIVE.value,
            "portable": False,
            "heard": None,
            "actor": ACTOR,
        }
        w.connection.execute(insert(memory_versions).values({**following, **strict}))
    if last != memory.version or found[last]["content"] != memory.content:
        again = replace(memory, version=last + 1, updated_at=w.at)
        memories.update_content(w, again, {"fields": "version"})
    else:
        memories.record_event(w, memory, HistoryEvent.UPDATE, None, {"fields": "versions"})
    return True


VERSIONS = Check(
    name="versions",
    description="memories lack their current wording among their versions, or an earlier one",
    remedy="writes the current wording down as a version, and counts a lost one as the one after it",
    find=_versions,
    repair=each(_mend_versions),
)


def _history(connection: Connection, patient: Patient) -> Iterator[Case]:
    return _broken(connection, patient, integrity.WITHOUT_HISTORY)


def _mend_history(w: Transaction, case: Case) -> bool:
    """It began when the memory was made, by whoever worded it first."""
    memory = memories.get_for_update(w, case.key[0])
    if memory is None:
        return True
    of = (_H.space_id == w.space, _H.memory_id == memory.id)
    begun = select(_H.seq).where(*of, _H.event == HistoryEvent.ADD.value)
    if w.connection.execute(begun).first() is not None:
        return True
    first = w.connection.execute(select(func.min(_H.seq)).where(*of)).scalar()
    version = (_V.space_id == w.space, _V.memory_id == memory.id)
    actor = select(_V.actor).where(*version).order_by(_V.version).limit(1)
    by = w.connection.execute(actor).scalar() or ACTOR
    _, row = memories.first_history_insert(memory, HistoryEvent.ADD, by, memory.created_at, None)
    seq = 1 if first is None else first - 1
    w.connection.execute(insert(history_table).values({**row, "seq": seq, "version": 1}))
    return True


HISTORY = Check(
    name="history",
    description="memories have a history without a beginning",
    remedy="writes down that they were added when they were made",
    find=_history,
    repair=each(_mend_history),
)

_NAMED = select(
    _M.id, _M.owner, _M.speaker, _M.subjects, _M.withheld_from, _M.has_withheld, _M.learned_kind
)


def _people(connection: Connection, patient: Patient) -> Iterator[Case]:
    """Whom each memory names, beside the rows by which these people are found or kept out."""
    for page in integrity.iterate_memory_pages(connection, _NAMED, patient.space):
        indexed_ = _indexed(connection, patient.space, page[0].id, page[-1].id)
        for row in page:
            readable = row.withheld_from == "[]" or bool(unpack_people(row.withheld_from))
            named = _roles(row)
            kept = indexed_.get(row.id, set())
            if kept != named or not readable or row.has_withheld != _is_withheld(named):
                yield Case((row.id,), row.id, repairable=readable)


def _indexed(
    connection: Connection, space: str, first: str, last: str
) -> dict[str, set[tuple[str, str]]]:
    found: dict[str, set[tuple[str, str]]] = {}
    between = select(_P.memory_id, _P.role, _P.person).where(
        _P.space_id == space, _P.memory_id >= first, _P.memory_id <= last
    )
    for id, role, person in connection.execute(between):
        found.setdefault(id, set()).add((role, person))
    return found


def _roles(row: Any) -> set[tuple[str, str]]:
    about = ROLE_SUBJECT if row.learned_kind == ChatKind.GROUP.value else ROLE_MENTIONED
    somebody = row.speaker or row.owner
    people = unpack_people(row.subjects) or ({somebody} if somebody else set())
    named = {(about, person) for person in people}
    return named | {(ROLE_WITHHELD, person) for person in unpack_people(row.withheld_from)}


def _is_withheld(named: set[tuple[str, str]]) -> bool:
    return any(role == ROLE_WITHHELD for role, _ in named)


def _mend_people(w: Transaction, case: Case) -> bool:
    """Withheld from everybody whom either side names: nobody hears more than before."""
    memory = memories.get_for_update(w, case.key[0])
    if memory is None:
        return True
    of = (_P.space_id == w.space, _P.memory_id == memory.id)
    kept = select(_P.person).where(*of, _P.role == ROLE_WITHHELD)
    withheld = memory.withheld_from | set(w.connection.execute(kept).scalars())
    known = load_identities(w.connection, w.space, withheld).is_recognizable
    unknown = not all(known(one) for one in withheld)
    whole = replace(memory, withheld_from=withheld, withheld_unknown=unknown)
    if memory.is_turn:
        _name(w, whole)
    else:
        memories.update_fields(w, whole, HistoryEvent.UPDATE, None, {"fields": "people"})
    return True


def _name(w: Transaction, turn: Memory) -> None:
    """A turn has no history to tell it."""
    revisions.restamp_memories(w.connection, w.space, [turn.id])
    of = (_P.space_id == w.space, _P.memory_id == turn.id)
    w.connection.execute(delete(memory_people).where(*of))
    statements.run_statements(w.connection, memories.people_inserts(turn))
    one = update(memories_table).where(_M.space_id == w.space, _M.id == turn.id)
    w.connection.execute(
        one.values(
            withheld_from=pack_people(turn.withheld_from),
            has_withheld=bool(turn.withheld_from),
            withheld_unknown=turn.withheld_unknown,
        )
    )
    heard = select(_M.heard).where(_M.space_id == w.space, _M.id == turn.id)
    integrity.reindex_memory(w, turn, w.connection.execute(heard).scalar())


PEOPLE = Check(
    name="people",
    description="memories are not filed under the people they are about, or withheld from",
    remedy="files them again, withheld from everybody whom either side names; where a list of "
    "people cannot be read, nobody is guessed and the memory stays as it is",
    find=_people,
    repair=each(_mend_people),
)


def _threads(connection: Connection, patient: Patient) -> Iterator[Case]:
    behind = [
        row.thread
        for row in integrity.list_broken_rows(connection, integrity.STALE_THREADS, patient.space)
    ]
    of = select(_T.thread).where(_T.space_id == _C.space_id, _T.thread == _C.thread)
    without = select(_C.thread).where(_C.space_id == patient.space, ~of.exists()).distinct()
    threads = {*behind, *connection.execute(without).scalars()}
    return (Case((thread,)) for thread in sorted(threads))


def _catch_up(w: Transaction, case: Case) -> bool:
    (thread,) = case.key
    of = (_C.space_id == w.space, _C.thread == thread)
    newest = w.connection.execute(select(func.max(_C.rev)).where(*of)).scalar()
    rev = memories.increment_thread_revision(w, thread)
    if newest is not None and rev < newest:
        one = update(thread_revisions).where(_T.space_id == w.space, _T.thread == thread)
        w.connection.execute(one.values(rev=max(newest, to_micros(w.at))))
    return True


THREADS = Check(
    name="thread-revisions",
    description="conversations have a revision that is behind their changes",
    remedy="moves the revision on",
    find=_threads,
    repair=each(_catch_up),
)
