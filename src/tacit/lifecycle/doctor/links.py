"""What refers to something that is not there, or to itself by a detour."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from sqlalchemy import Connection, select, update

from tacit.clock import to_micros
from tacit.lifecycle.doctor.check import Case, Check, Patient, each
from tacit.records.memory import HistoryEvent
from tacit.storage import integrity, memories, spaces
from tacit.storage.memories import Transaction, update_precedence_of_people
from tacit.storage.schema import identity_links, memories_table, metadata
from tacit.storage.spaces import load_identities

_M = memories_table.c
_I = identity_links.c


def _orphans(connection: Connection, patient: Patient) -> Iterator[Case]:
    for table, column in integrity.list_dependents():
        for id in integrity.list_orphans(connection, patient.space, table, column):
            yield Case((table.name, column, id))  # its memory is gone: no id to look it up by


def _remove(w: Transaction, case: Case) -> bool:
    name, column, id = case.key
    integrity.delete_orphans(w.connection, w.space, metadata.tables[name], column, [id])
    return True


ORPHANS = Check(
    name="orphans",
    description="rows belong to memories that are gone",
    remedy="removes them",
    find=_orphans,
    repair=each(_remove),
)


def _successors(connection: Connection, patient: Patient) -> Iterator[Case]:
    """Pointers to nothing, and of every circle the newest: there it is cut."""
    rows = integrity.list_broken_rows(connection, integrity.SUCCESSORS, patient.space)
    leads = {row.id: row.superseded_by for row in rows}
    moved = {row.id: (row.updated_at, row.id) for row in rows}
    unknown = set(leads.values()) - leads.keys()
    there = _present(connection, patient.space, sorted(unknown))
    for id, target in leads.items():
        if target in unknown - there:
            yield Case((id, target), id)
    for circle in circles(leads):
        last = max(circle, key=lambda id: moved[id])
        yield Case((last, leads[last]), last)


def _present(connection: Connection, space: str, ids: list[str]) -> set[str]:
    found: set[str] = set()
    for start in range(0, len(ids), 500):
        some = ids[start : start + 500]
        here = select(_M.id).where(_M.space_id == space, _M.id.in_(some))
        found |= set(connection.execute(here).scalars())
    return found


def circles(leads: Mapping[str, str]) -> Iterator[list[str]]:
    """Every circle once, looking at each link once."""
    done: set[str] = set()
    for start in leads:
        path: list[str] = []
        on_path: dict[str, int] = {}
        one: str | None = start
        while one is not None and one not in done and one not in on_path:
            on_path[one] = len(path)
            path.append(one)
            one = leads.get(one)
        if one is not None and one in on_path:
            yield path[on_path[one] :]
        done |= on_path.keys()


def _let_go(w: Transaction, case: Case) -> bool:
    id, target = case.key
    memory = memories.get_for_update(w, id)
    if memory is not None and memory.superseded_by == target:
        alone = replace(memory, superseded_by=None)
        memories.update_fields(w, alone, HistoryEvent.UPDATE, None, {"fields": "superseded_by"})
    return True


SUCCESSORS = Check(
    name="successors",
    description="memories gave way to something that is not there, or to one another in a circle",
    remedy="drops the pointer; nothing is brought back by it",
    find=_successors,
    repair=each(_let_go),
)


def _identities(connection: Connection, patient: Patient) -> Iterable[Case]:
    """Of two links from one identity the newer; of a circle the newest."""
    current = select(_I.id, _I.source, _I.target, _I.created_at).where(
        _I.space_id == patient.space, _I.ended_at.is_(None)
    )
    leads: dict[str, str] = {}
    newest: dict[str, tuple[int, str]] = {}
    cases = []
    for row in connection.execute(current.order_by(_I.created_at, _I.id)):
        if row.source in leads:
            cases.append(Case((row.id,)))
        else:
            leads[row.source] = row.target
            newest[row.source] = (row.created_at, row.id)
    cut = (max(newest[source] for source in circle)[1] for circle in circles(leads))
    return [*cases, *(Case((id,)) for id in cut)]


def _end(w: Transaction, case: Case) -> bool:
    """As ending a link does: what follows from who is who is settled with it."""
    (id,) = case.key
    one = update(identity_links).where(_I.space_id == w.space, _I.id == id, _I.ended_at.is_(None))
    ended = one.values(ended_at=to_micros(w.at)).returning(_I.source, _I.target)
    row = w.connection.execute(ended).first()
    if row is not None:
        spaces.increment_identity_revision(w.connection, w.space)
        found = load_identities(w.connection, w.space, row)
        touched = {i for one in row for i in found.all_identities(one)}
        update_precedence_of_people(w.connection, w.space, found, touched)
    return True


IDENTITIES = Check(
    name="identity-links",
    description="identities are linked in a circle, or to two others at once",
    remedy="ends the newest of the links; it stays in the record",
    find=_identities,
    repair=each(_end),
    waits_for_writers=True,
)
