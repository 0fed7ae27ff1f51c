"""Erasures as rows: what was removed, as keyed hashes and counts; and everything that has to be
looked up to remove something whole."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    Table,
    delete,
    func,
    insert,
    or_,
    select,
    union,
)

from tacit.records.memory import Kind
from tacit.store import once
from tacit.store.tables import (
    audience_people,
    change_log,
    checkpoints,
    derived_from,
    done_memories,
    done_once,
    erasures,
    events,
    graph_steps,
    graph_values,
    graph_writes,
    history,
    identity_links,
    imported,
    imports,
    learned,
    link_offers,
    link_tries,
    look_people,
    looks,
    memories,
    memory_people,
    memory_versions,
    note_items,
    note_lines,
    notes,
    pair_checks,
    people,
    proposals,
    relations,
    sign_ins,
    sittings,
    spaces,
    subjects,
    updates,
    vectors,
)

PAGES = "pages"  # rows are deleted and vacuumed; free space in pages may hold their bytes
NO_SPACE = ""  # where the erasure of a space is noted: no name of a space is empty
_PAGE_COUNT = 500
_M = memories.c
_E = erasures.c
_D = derived_from.c
_P = memory_people.c
# Every column that holds the id of a memory.
_BY_ID: tuple[tuple[Table, tuple[ColumnElement[str], ...]], ...] = (
    (memories, (_M.id,)),
    (memory_versions, (memory_versions.c.memory_id,)),
    (memory_people, (_P.memory_id,)),
    (history, (history.c.memory_id,)),
    (change_log, (change_log.c.memory_id,)),
    (learned, (learned.c.memory_id,)),
    (proposals, (proposals.c.memory_id, proposals.c.replaces)),
    (vectors, (vectors.c.memory_id,)),
    (relations, (relations.c.from_id, relations.c.to_id)),
    (derived_from, (_D.memory_id, _D.turn_id)),
    (pair_checks, (pair_checks.c.first_id, pair_checks.c.second_id)),
    (events, (events.c.memory_id,)),
    (note_items, (note_items.c.memory_id,)),
    (note_lines, (note_lines.c.memory_id,)),
    (done_memories, (done_memories.c.memory_id,)),
    (looks, (looks.c.memory_id,)),
    (imported, (imported.c.memory_id,)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure:
    """One row, and one line of a journal. `digests` are keyed hashes: of the space, and lists of
    those of ids, identities, sources."""

    id: str
    scope: str  # memory | owned | person | subject | source | space
    digests: Mapping[str, str | list[str]]
    counts: Mapping[str, int]
    erased_at: int
    signature: str

    def hashes(self, what: str) -> frozenset[str]:
        found = self.digests.get(what, [])
        return frozenset([found] if isinstance(found, str) else found)


def add(connection: Connection, space: str, erasure: Erasure) -> None:
    row = {
        "space_id": space,
        "id": erasure.id,
        "scope": erasure.scope,
        "digests": json.dumps(erasure.digests, sort_keys=True),
        "counts": json.dumps(erasure.counts, sort_keys=True),
        "erased_at": erasure.erased_at,
        "signature": erasure.signature,
    }
    connection.execute(insert(erasures).values(**row))


def rename(connection: Connection, id: str, erasure: Erasure) -> None:
    """The same erasure, by the id and the signature that it had elsewhere."""
    one = (_E.space_id == NO_SPACE, _E.id == id)
    values = {
        "id": erasure.id,
        "counts": json.dumps(erasure.counts, sort_keys=True),
        "erased_at": erasure.erased_at,
        "signature": erasure.signature,
    }
    connection.execute(erasures.update().where(*one).values(**values))


def ids(connection: Connection) -> set[str]:
    """Of every erasure that this database knows of, in whichever space."""
    return set(connection.execute(select(_E.id)).scalars())


def listed(connection: Connection, only: Collection[str]) -> Iterator[Erasure]:
    """Those of these ids, in the order they happened."""
    rows = select(erasures).order_by(_E.erased_at, _E.id)
    for row in connection.execute(rows):
        if row.id in only:
            yield _read(row)


def one(connection: Connection, space: str, id: str) -> Erasure | None:
    row = connection.execute(
        select(erasures).where(_E.space_id == space, _E.id == id)
    ).one_or_none()
    return None if row is None else _read(row)


def remains(connection: Connection, id: str) -> str | None:
    """What files may still hold of it: '' for nothing; None where that is not known."""
    found: str | None = connection.execute(
        select(_E.remains).where(_E.id == id)
    ).scalar_one_or_none()
    return found


def unfinished(connection: Connection) -> dict[str, str | None]:
    """By id, in all spaces: those of which files may still hold something."""
    rows = select(_E.id, _E.remains).where(or_(_E.remains.is_(None), _E.remains != ""))
    return {row.id: row.remains for row in connection.execute(rows)}


def clean(connection: Connection, ids: Sequence[str], left: str) -> None:
    """The tables were cleaned after these erasures: this is what is `left` in files. One that got
    further meanwhile stays as it is."""
    for start in range(0, len(ids), _PAGE_COUNT):
        some = _E.id.in_(ids[start : start + _PAGE_COUNT])
        behind = or_(_E.remains.is_(None), _E.remains == PAGES)
        connection.execute(erasures.update().where(some, behind).values(remains=left))


def advance(connection: Connection, before: str, left: str) -> None:
    """Every erasure of which files held `before` got so far."""
    connection.execute(erasures.update().where(_E.remains == before).values(remains=left))


def of_gone_space(connection: Connection, id: str) -> Erasure | None:
    return one(connection, NO_SPACE, id)


def _read(row: Any) -> Erasure:
    return Erasure(
        id=row.id,
        scope=row.scope,
        digests=json.loads(row.digests),
        counts=json.loads(row.counts),
        erased_at=row.erased_at,
        signature=row.signature,
    )


def secrets(connection: Connection) -> dict[str, str]:
    """By space: what keys its hashes."""
    rows = connection.execute(select(spaces.c.space_id, spaces.c.secret))
    return {row.space_id: row.secret for row in rows}


def count(connection: Connection, space: str, ids: Collection[str]) -> Counter[str]:
    """How many rows of each table are about these memories."""
    found: Counter[str] = Counter()
    for table, columns in _BY_ID:
        about = or_(*(column.in_(ids) for column in columns))
        rows = select(func.count()).select_from(table).where(table.c.space_id == space, about)
        number = connection.execute(rows).scalar_one()
        if number:
            found[table.name] = number
    return found


def drop_mentions(connection: Connection, space: str, ids: Collection[str]) -> None:
    """Rows that name a memory without hanging on it, or tell of what was asked for it."""
    once.forget(connection, space, ids)
    e, p = events.c, proposals.c
    connection.execute(delete(events).where(e.space_id == space, e.memory_id.in_(ids)))
    connection.execute(
        proposals.update().where(p.space_id == space, p.replaces.in_(ids)).values(replaces=None)
    )


def insights(connection: Connection, space: str, ids: Collection[str]) -> set[str]:
    """What was thought because of these memories, and summaries with them in it."""
    made_of = or_(_M.kind == Kind.INSIGHT.value, _M.inferred.is_(True))
    thought = (
        select(_D.memory_id)
        .join(memories, (_M.space_id == _D.space_id) & (_M.id == _D.memory_id))
        .where(_D.space_id == space, _D.turn_id.in_(ids), made_of)
    )
    return set(connection.execute(thought).scalars())


def whose(connection: Connection, space: str, ids: Collection[str]) -> set[str]:
    """Who owns these memories, or said them for a room."""
    who = func.coalesce(_M.owner, _M.speaker)
    rows = select(who).where(_M.space_id == space, _M.id.in_(ids), who.is_not(None)).distinct()
    return set(connection.execute(rows).scalars())


def about(connection: Connection, space: str, who: Collection[str]) -> set[str]:
    """Memories that are about these people, or were in one of their wordings."""
    v = memory_versions.c
    now = select(_P.memory_id).where(
        _P.space_id == space, _P.person.in_(who), _P.role.in_(["subject", "mentioned"])
    )
    found = set(connection.execute(now).scalars())
    for one in who:  # a list in JSON: the name of one person never holds a quotation mark
        then = select(v.memory_id).where(
            v.space_id == space, v.subjects.contains(json.dumps(one), autoescape=True)
        )
        found |= set(connection.execute(then).scalars())
    return found


def memory_ids(connection: Connection, space: str) -> Iterator[str]:
    """Every id of a space, a page at a time."""
    yield from _paged(connection, select(_M.id).where(_M.space_id == space), _M.id)


def identities(connection: Connection, space: str) -> set[str]:
    """Everybody who is mentioned anywhere in a space."""
    link = identity_links.c
    columns: tuple[ColumnElement[str], ...] = (
        subjects.c.id, people.c.id, link.source, link.target, _M.owner, _M.speaker, _P.person,
        audience_people.c.person, notes.c.subject, notes.c.contact_id, checkpoints.c.person,
        done_once.c.person, updates.c.person, link_offers.c.offered_by, link_offers.c.accepted_by,
        link_tries.c.person, look_people.c.person, sign_ins.c.person, sittings.c.person,
        imports.c.person, imported.c.person,
        graph_steps.c.person, graph_values.c.person, graph_writes.c.person,
    )  # fmt: skip
    everybody = union(
        *(select(column).where(column.table.c.space_id == space) for column in columns)
    )
    return set(connection.execute(everybody).scalars()) - {None}


def _paged(connection: Connection, rows: Select[Any], by: ColumnElement[str]) -> Iterator[str]:
    last = ""
    while True:
        page = rows.where(by > last).order_by(by).limit(_PAGE_COUNT)
        found = connection.execute(page).scalars().all()
        yield from found
        if len(found) < _PAGE_COUNT:
            return
        last = found[-1]
