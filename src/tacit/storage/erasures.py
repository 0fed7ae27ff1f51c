"""Hard delete memories, record erasures, and find what each erasure must include."""

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
    update,
)

from tacit.clock import to_micros
from tacit.records.memory import ChatKind, Kind, Sensitivity, Visibility
from tacit.storage import access_log, idempotency, memories, revisions
from tacit.storage.chats import read_chat
from tacit.storage.memories import Transaction
from tacit.storage.memory_reads import unpack_people
from tacit.storage.people import delete_unmentioned_people
from tacit.storage.schema import (
    access_log_people,
    access_log_table,
    audience_people,
    change_log,
    checkpoints_table,
    derived_from,
    erasures_table,
    events,
    graph_steps,
    graph_values,
    graph_writes,
    history_table,
    idempotency_keys,
    idempotency_memories,
    identity_links,
    imported_items,
    imports_table,
    learned_facts_table,
    link_attempts,
    link_offers,
    memories_table,
    memory_people,
    memory_versions,
    note_items,
    note_lines,
    notes_table,
    pair_checks,
    people_table,
    proposals,
    relations_table,
    sign_in_links,
    spaces_table,
    subjects,
    tombstones,
    updates,
    vectors_table,
    web_sessions,
)
from tacit.storage.spaces import keyed_digest, load_identities

# People to whom memories may have been disclosed: checkpoints of agents in their chats may contain
# them.

_MEMORY = memories_table.c
_V = memory_versions.c
_A = audience_people.c
_H = history_table.c
# A memory, one of its versions, and whether others than its owner could see that version.
StoredWordings = Sequence[tuple[Any, Any, bool]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Exposure:
    """Describe who may have seen memories.

    Memories private to other owners are excluded: erasing by them would reveal that they exist.
    """

    since: int  # microseconds
    people: frozenset[str]  # identities of the owners and of people who could see them in private
    includes_groups: bool  # at least one may have been disclosed in a group
    rooms: frozenset[str]  # all ids of the groups where these were learned


def read_exposure(connection: Connection, space: str, ids: Collection[str]) -> Exposure:
    """Read who may have seen these memories, before they are erased."""
    rows = connection.execute(
        select(memories_table).where(_MEMORY.space_id == space, _MEMORY.id.in_(ids))
    ).all()
    said = _read_wordings(connection, space, rows)
    reached = _reached_people(connection, space, said)
    found = load_identities(connection, space, reached)
    told = [
        row
        for row, wording, heard in said
        if heard and wording.sensitivity != Sensitivity.SENSITIVE
    ]
    chats = {one.learned_in for one in told if one.learned_kind == ChatKind.GROUP}
    rooms = {room for chat in chats for room in read_chat(connection, space, chat).chat_ids}
    return Exposure(
        since=min((row.created_at for row in rows), default=0),
        # Includes former links: an identity linked at that time saw it as its own.
        people=frozenset(identity for one in reached for identity in found.all_identities(one)),
        includes_groups=bool(told),
        rooms=frozenset(rooms | chats),
    )


def _read_wordings(connection: Connection, space: str, rows: Sequence[Any]) -> StoredWordings:
    ids = [row.id for row in rows]
    # Memories whose visibility was wider before.
    changed = or_(_H.detail.contains("visibility"), _H.detail.contains("withheld_from"))
    wanted = (_H.space_id == space, _H.memory_id.in_(ids), changed)
    moved = set(connection.execute(select(_H.memory_id).where(*wanted)).scalars())
    whole = {row.id: row for row in rows}
    wordings = select(memory_versions).where(_V.space_id == space, _V.memory_id.in_(ids))
    said = [(row, row) for row in rows]
    said += [(whole[one.memory_id], one) for one in connection.execute(wordings)]
    found = []
    for row, wording in said:
        private = row.withheld_unknown or wording.visibility == Visibility.PRIVATE_ONLY
        found.append((row, wording, not row.inferred and (not private or row.id in moved)))
    return found


def _reached_people(connection: Connection, space: str, said: StoredWordings) -> set[str]:
    """Return the people who may have seen these versions in private."""
    people = {one for row, wording, _ in said for one in (row.owner, wording.speaker) if one}
    sets: set[str] = set()
    for row, wording, heard in said:
        if not heard:
            continue
        sets |= {wording.audience} if wording.audience else set()
        in_group = row.learned_kind == ChatKind.GROUP
        leaves = wording.portable and not row.confidential and not row.has_withheld
        if leaves and wording.sensitivity == Sensitivity.PUBLIC and in_group:
            people |= unpack_people(wording.subjects)
    listeners = select(_A.person).where(_A.space_id == space, _A.audience.in_(sorted(sets)))
    return people | set(connection.execute(listeners).scalars()) if sets else people


# Erasures as rows: keyed hashes and counts of what was removed, and the lookups needed to erase
# completely.

IN_FREE_PAGES = "pages"  # rows are vacuumed, but free space in pages may hold their bytes
NO_SPACE = ""  # records the erasure of a space: no space has an empty name
_PAGE_COUNT = 500
_M = memories_table.c
_E = erasures_table.c
_D = derived_from.c
_P = memory_people.c
# Every column that holds the id of a memory.
_MEMORY_ID_COLUMNS: tuple[tuple[Table, tuple[ColumnElement[str], ...]], ...] = (
    (memories_table, (_M.id,)),
    (memory_versions, (memory_versions.c.memory_id,)),
    (memory_people, (_P.memory_id,)),
    (history_table, (history_table.c.memory_id,)),
    (change_log, (change_log.c.memory_id,)),
    (learned_facts_table, (learned_facts_table.c.memory_id,)),
    (proposals, (proposals.c.memory_id, proposals.c.replaces)),
    (vectors_table, (vectors_table.c.memory_id,)),
    (relations_table, (relations_table.c.from_id, relations_table.c.to_id)),
    (derived_from, (_D.memory_id, _D.turn_id)),
    (pair_checks, (pair_checks.c.first_id, pair_checks.c.second_id)),
    (events, (events.c.memory_id,)),
    (note_items, (note_items.c.memory_id,)),
    (note_lines, (note_lines.c.memory_id,)),
    (idempotency_memories, (idempotency_memories.c.memory_id,)),
    (access_log_table, (access_log_table.c.memory_id,)),
    (imported_items, (imported_items.c.memory_id,)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure:
    """Describe one row of `erasures`, and one line of the journal.

    `digests` are keyed hashes: of the space, and lists for ids, identities and sources.
    """

    id: str
    scope: str  # memory | owned | person | subject | source | space
    digests: Mapping[str, str | list[str]]
    counts: Mapping[str, int]
    erased_at: int
    signature: str

    def hashes(self, what: str) -> frozenset[str]:
        found = self.digests.get(what, [])
        return frozenset([found] if isinstance(found, str) else found)


def insert_erasure(connection: Connection, space: str, erasure: Erasure) -> None:
    row = {
        "space_id": space,
        "id": erasure.id,
        "scope": erasure.scope,
        "digests": json.dumps(erasure.digests, sort_keys=True),
        "counts": json.dumps(erasure.counts, sort_keys=True),
        "erased_at": erasure.erased_at,
        "signature": erasure.signature,
    }
    connection.execute(insert(erasures_table).values(**row))


def rename_erasure(connection: Connection, id: str, erasure: Erasure) -> None:
    """Give an erasure the id and the signature that it has in the journal."""
    one = (_E.space_id == NO_SPACE, _E.id == id)
    values = {
        "id": erasure.id,
        "counts": json.dumps(erasure.counts, sort_keys=True),
        "erased_at": erasure.erased_at,
        "signature": erasure.signature,
    }
    connection.execute(erasures_table.update().where(*one).values(**values))


def list_erasure_ids(connection: Connection) -> set[str]:
    """Return the ids of all erasures in this database, of every space."""
    return set(connection.execute(select(_E.id)).scalars())


def list_erasures(connection: Connection, only: Collection[str]) -> Iterator[Erasure]:
    """Yield the erasures with these ids, in the order in which they happened."""
    rows = select(erasures_table).order_by(_E.erased_at, _E.id)
    for row in connection.execute(rows):
        if row.id in only:
            yield _to_erasure(row)


def get_erasure(connection: Connection, space: str, id: str) -> Erasure | None:
    row = connection.execute(
        select(erasures_table).where(_E.space_id == space, _E.id == id)
    ).one_or_none()
    return None if row is None else _to_erasure(row)


def get_remains(connection: Connection, id: str) -> str | None:
    """Return what files may still hold: '' for nothing, None if unknown."""
    found: str | None = connection.execute(
        select(_E.remains).where(_E.id == id)
    ).scalar_one_or_none()
    return found


def list_unfinished(connection: Connection) -> dict[str, str | None]:
    """Return the remains by erasure id, of all spaces, where files may still hold data."""
    rows = select(_E.id, _E.remains).where(or_(_E.remains.is_(None), _E.remains != ""))
    return {row.id: row.remains for row in connection.execute(rows)}


def mark_cleaned(connection: Connection, ids: Sequence[str], left: str) -> None:
    """Record what is `left` in files after the tables were cleaned.

    An erasure that progressed further meanwhile is not changed.
    """
    for start in range(0, len(ids), _PAGE_COUNT):
        some = _E.id.in_(ids[start : start + _PAGE_COUNT])
        behind = or_(_E.remains.is_(None), _E.remains == IN_FREE_PAGES)
        connection.execute(erasures_table.update().where(some, behind).values(remains=left))


def advance_remains(connection: Connection, before: str, left: str) -> None:
    """Advance every erasure whose remains are `before` to `left`."""
    connection.execute(erasures_table.update().where(_E.remains == before).values(remains=left))


def get_erasure_of_erased_space(connection: Connection, id: str) -> Erasure | None:
    return get_erasure(connection, NO_SPACE, id)


def _to_erasure(row: Any) -> Erasure:
    return Erasure(
        id=row.id,
        scope=row.scope,
        digests=json.loads(row.digests),
        counts=json.loads(row.counts),
        erased_at=row.erased_at,
        signature=row.signature,
    )


def list_space_secrets(connection: Connection) -> dict[str, str]:
    """Return the key of the hashes by space."""
    rows = connection.execute(select(spaces_table.c.space_id, spaces_table.c.secret))
    return {row.space_id: row.secret for row in rows}


def count_rows_of_memories(
    connection: Connection, space: str, ids: Collection[str]
) -> Counter[str]:
    """Count the rows of each table that refer to these memories."""
    found: Counter[str] = Counter()
    for table, columns in _MEMORY_ID_COLUMNS:
        about = or_(*(column.in_(ids) for column in columns))
        rows = select(func.count()).select_from(table).where(table.c.space_id == space, about)
        number = connection.execute(rows).scalar_one()
        if number:
            found[table.name] = number
    return found


def delete_mentions(connection: Connection, space: str, ids: Collection[str]) -> None:
    """Remove references to memories that no foreign key cascades to, and their events."""
    idempotency.remove_memories_from_results(connection, space, ids)
    e, p = events.c, proposals.c
    connection.execute(delete(events).where(e.space_id == space, e.memory_id.in_(ids)))
    connection.execute(
        proposals.update().where(p.space_id == space, p.replaces.in_(ids)).values(replaces=None)
    )


def list_derived_memories(connection: Connection, space: str, ids: Collection[str]) -> set[str]:
    """List memories inferred from these memories, and summaries that include them."""
    made_of = or_(_M.kind == Kind.INSIGHT.value, _M.inferred.is_(True))
    thought = (
        select(_D.memory_id)
        .join(memories_table, (_M.space_id == _D.space_id) & (_M.id == _D.memory_id))
        .where(_D.space_id == space, _D.turn_id.in_(ids), made_of)
    )
    return set(connection.execute(thought).scalars())


def list_owners_of(connection: Connection, space: str, ids: Collection[str]) -> set[str]:
    """Return the owners of these memories; for memories of a chat, the speakers."""
    who = func.coalesce(_M.owner, _M.speaker)
    rows = select(who).where(_M.space_id == space, _M.id.in_(ids), who.is_not(None)).distinct()
    return set(connection.execute(rows).scalars())


def list_memories_about(connection: Connection, space: str, who: Collection[str]) -> set[str]:
    """List memories about these people, in the current or an earlier version."""
    v = memory_versions.c
    now = select(_P.memory_id).where(
        _P.space_id == space, _P.person.in_(who), _P.role.in_(["subject", "mentioned"])
    )
    found = set(connection.execute(now).scalars())
    for one in who:  # JSON list: a person's id never contains a quotation mark
        then = select(v.memory_id).where(
            v.space_id == space, v.subjects.contains(json.dumps(one), autoescape=True)
        )
        found |= set(connection.execute(then).scalars())
    return found


def iterate_memory_ids(connection: Connection, space: str) -> Iterator[str]:
    """Yield every memory id of a space, reading in pages."""
    yield from _iterate_pages(connection, select(_M.id).where(_M.space_id == space), _M.id)


def list_all_identities(connection: Connection, space: str) -> set[str]:
    """Return every identity that any row of a space mentions."""
    link = identity_links.c
    columns: tuple[ColumnElement[str], ...] = (
        subjects.c.id, people_table.c.id, link.source, link.target, _M.owner, _M.speaker, _P.person,
        audience_people.c.person, notes_table.c.subject, notes_table.c.contact_id, checkpoints_table.c.person,
        idempotency_keys.c.person, updates.c.person, link_offers.c.offered_by, link_offers.c.accepted_by,
        link_attempts.c.person, access_log_people.c.person, sign_in_links.c.person, web_sessions.c.person,
        imports_table.c.person, imported_items.c.person,
        graph_steps.c.person, graph_values.c.person, graph_writes.c.person,
    )  # fmt: skip
    everybody = union(
        *(select(column).where(column.table.c.space_id == space) for column in columns)
    )
    return set(connection.execute(everybody).scalars()) - {None}


def _iterate_pages(
    connection: Connection, rows: Select[Any], by: ColumnElement[str]
) -> Iterator[str]:
    last = ""
    while True:
        page = rows.where(by > last).order_by(by).limit(_PAGE_COUNT)
        found = connection.execute(page).scalars().all()
        yield from found
        if len(found) < _PAGE_COUNT:
            return
        last = found[-1]


# Hard delete memories with all dependent rows.

_MEMORIES = memories_table.c
_PEOPLE = memory_people.c


def hard_delete(tx: Transaction, ids: Sequence[str]) -> None:
    """Delete memories with all dependent rows; only a keyed hash remains."""
    if not ids:
        return
    which = (_MEMORIES.space_id == tx.space, _MEMORIES.id.in_(ids))
    threads = set(tx.connection.execute(select(_MEMORIES.thread).where(*which)).scalars()) - {None}
    named = set(
        tx.connection.execute(
            select(_PEOPLE.person).where(_PEOPLE.space_id == tx.space, _PEOPLE.memory_id.in_(ids))
        ).scalars()
    )
    through = revisions.stored_access_paths(tx.connection, tx.space, ids)
    revisions.increment_revisions(tx.connection, tx.space, through, removing=True)
    revisions.remove_note_links(tx, ids)
    tx.dialect.unindex_words(tx.connection, tx.space, ids)
    tx.connection.execute(delete(memories_table).where(*which))
    tx.connection.execute(
        update(memories_table)
        .where(_MEMORIES.space_id == tx.space, _MEMORIES.superseded_by.in_(ids))
        .values(superseded_by=None)
    )
    access_log.remove_memories_from_log(tx.connection, tx.space, ids)
    delete_unmentioned_people(tx.connection, tx.space, named)
    rows = [
        {
            "space_id": tx.space,
            "digest": keyed_digest(tx.secret, id),
            "erased_at": to_micros(tx.at),
            "actor": tx.actor if tx.actor.startswith("operator:") else "",
            "scrubbed": False,
        }
        for id in ids
    ]
    tx.dialect.insert_missing(tx.connection, tombstones, rows)
    for thread in sorted((threads | {tx.thread}) - {""}):
        memories.increment_thread_revision(tx, thread)  # invalidates the blocks of the thread
    memories.emit_erase_events(tx, ids)
