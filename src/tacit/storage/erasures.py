"""Hard delete memories, record erasures, and find what each erasure must include."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Column, Connection, func, or_, select, union

from tacit.records.memory import ChatKind, Kind, Sensitivity, Visibility
from tacit.storage import access_log, idempotency, memories
from tacit.storage.chats import read_chat
from tacit.storage.engine import (
    chunks,
    delete_rows,
    insert_missing,
    insert_row,
    select_set,
    to_columns,
    to_record,
    update_rows,
)
from tacit.storage.memories import Transaction
from tacit.storage.memory_reads import unpack_people
from tacit.storage.people import delete_unmentioned_people
from tacit.storage.schema import (
    access_log_people,
    access_log_table,
    audience_people,
    checkpoints_table,
    derived_from,
    erasures_table,
    events,
    graph_steps,
    graph_values,
    graph_writes,
    history_table,
    idempotency_keys,
    identity_links,
    imported_items,
    imports_table,
    link_attempts,
    link_offers,
    memories_table,
    memory_people,
    memory_versions,
    metadata,
    notes_table,
    people_table,
    proposals,
    sign_in_links,
    spaces_table,
    subjects,
    tombstones,
    updates,
    web_sessions,
)
from tacit.storage.spaces import (
    increment_revisions,
    keyed_digest,
    load_identities,
    remove_note_links,
    stored_access_paths,
)

# People to whom memories may have been disclosed: checkpoints of agents in their chats may contain
# them.

_M = memories_table.c
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
    rows = connection.execute(select(memories_table).where(_M.space_id == space, _M.id.in_(ids))).all()
    said = _read_wordings(connection, space, rows)
    reached = _reached_people(connection, space, said)
    found = load_identities(connection, space, reached)
    told = [row for row, wording, heard in said if heard and wording.sensitivity != Sensitivity.SENSITIVE]
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
    moved = select_set(connection, select(_H.memory_id).where(*wanted))
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
    return people | select_set(connection, listeners) if sets else people


# Erasures as rows: keyed hashes and counts of what was removed, and the lookups needed to erase
# completely.

IN_FREE_PAGES = "pages"  # rows are vacuumed, but free space in pages may hold their bytes
NO_SPACE = ""  # records the erasure of a space: no space has an empty name
_PAGE_COUNT = 500
_E = erasures_table.c
_D = derived_from.c
_P = memory_people.c
# Every column that holds the id of a memory: those with a foreign key, and three more.
_MEMORY_ID_COLUMNS = {_M.id, proposals.c.replaces, access_log_table.c.memory_id} | {
    column
    for table in metadata.sorted_tables
    for column in table.c
    if any(key.column is _M.id for key in column.foreign_keys)
}


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
    insert_row(connection, erasures_table, space, **to_columns(erasure, erasures_table))


def rename_erasure(connection: Connection, id: str, erasure: Erasure) -> None:
    """Give the erasure of a space the id and the signature that it has in the journal."""
    columns = to_columns(erasure, erasures_table)
    told = {name: columns[name] for name in ("id", "counts", "erased_at", "signature")}
    update_rows(connection, erasures_table, NO_SPACE, _E.id == id, **told)


def list_erasure_ids(connection: Connection) -> set[str]:
    """Return the ids of all erasures in this database, of every space."""
    return select_set(connection, select(_E.id))


def list_erasures(connection: Connection, only: Collection[str]) -> Iterator[Erasure]:
    """List the erasures with these ids, in the order in which they happened."""
    rows = connection.execute(select(erasures_table).order_by(_E.erased_at, _E.id))
    return (to_record(Erasure, row) for row in rows if row.id in only)


def get_erasure(connection: Connection, space: str, id: str) -> Erasure | None:
    this = select(erasures_table).where(_E.space_id == space, _E.id == id)
    row = connection.execute(this).one_or_none()
    return None if row is None else to_record(Erasure, row)


def get_remains(connection: Connection, id: str) -> str | None:
    """Return what files may still hold: '' for nothing, None if unknown."""
    remains: str | None = connection.scalar(select(_E.remains).where(_E.id == id))
    return remains


def list_unfinished(connection: Connection) -> dict[str, str | None]:
    """Return the remains by erasure id, of all spaces, where files may still hold data."""
    rows = select(_E.id, _E.remains).where(or_(_E.remains.is_(None), _E.remains != ""))
    return dict(connection.execute(rows).all())


def mark_cleaned(connection: Connection, ids: Sequence[str], left: str) -> None:
    """Record what is `left` in files after the tables were cleaned.

    An erasure that progressed further meanwhile is not changed.
    """
    behind = or_(_E.remains.is_(None), _E.remains == IN_FREE_PAGES)
    for some in chunks(ids):
        these = erasures_table.update().where(_E.id.in_(some), behind)
        connection.execute(these.values(remains=left))


def advance_remains(connection: Connection, before: str, left: str) -> None:
    """Advance every erasure whose remains are `before` to `left`."""
    connection.execute(erasures_table.update().where(_E.remains == before).values(remains=left))


def list_space_secrets(connection: Connection) -> dict[str, str]:
    """Return the key of the hashes by space."""
    rows = select(spaces_table.c.space_id, spaces_table.c.secret)
    return dict(connection.execute(rows).all())


def count_rows_of_memories(connection: Connection, space: str, ids: Collection[str]) -> Counter[str]:
    """Count the rows of each table that refer to these memories."""
    found: Counter[str] = Counter()
    for table in metadata.sorted_tables:
        columns = [column for column in table.c if column in _MEMORY_ID_COLUMNS]
        if not columns:
            continue
        about = or_(*(column.in_(ids) for column in columns))
        rows = select(func.count()).select_from(table).where(table.c.space_id == space, about)
        if number := connection.scalar(rows):
            found[table.name] = number
    return found


def delete_mentions(connection: Connection, space: str, ids: Collection[str]) -> None:
    """Remove references to memories that no foreign key cascades to, and their events."""
    idempotency.remove_memories_from_results(connection, space, ids)
    delete_rows(connection, events, space, events.c.memory_id.in_(ids))
    update_rows(connection, proposals, space, proposals.c.replaces.in_(ids), replaces=None)


def list_derived_memories(connection: Connection, space: str, ids: Collection[str]) -> set[str]:
    """List memories inferred from these memories, and summaries that include them."""
    made_of = or_(_M.kind == Kind.INSIGHT.value, _M.inferred.is_(True))
    thought = (
        select(_D.memory_id)
        .join(memories_table, (_M.space_id == _D.space_id) & (_M.id == _D.memory_id))
        .where(_D.space_id == space, _D.turn_id.in_(ids), made_of)
    )
    return select_set(connection, thought)


def list_superseded(
    connection: Connection, space: str, ids: Collection[str], owners: Collection[str] | None = None
) -> set[str]:
    """List what these memories superseded, transitively, of these owners or of any."""
    of = () if owners is None else (_M.owner.in_(sorted(owners)),)
    found, frontier = set(ids), set(ids)
    while frontier:
        before: set[str] = set()
        for some in chunks(frontier):
            superseded = select(_M.id).where(_M.space_id == space, _M.superseded_by.in_(some), *of)
            before |= select_set(connection, superseded)
        frontier = before - found
        found |= frontier
    return found.difference(ids)


def list_owners_of(connection: Connection, space: str, ids: Collection[str]) -> set[str]:
    """Return the owners of these memories; for memories of a chat, the speakers."""
    who = func.coalesce(_M.owner, _M.speaker)
    rows = select(who).where(_M.space_id == space, _M.id.in_(ids), who.is_not(None)).distinct()
    return select_set(connection, rows)


def list_memories_about(connection: Connection, space: str, who: Collection[str]) -> set[str]:
    """List memories about these people, in the current or an earlier version."""
    v = memory_versions.c
    now = select(_P.memory_id).where(_P.space_id == space, _P.person.in_(who), _P.role.in_(["subject", "mentioned"]))
    found = select_set(connection, now)
    for one in who:  # JSON list: a person's id never contains a quotation mark
        then = select(v.memory_id).where(v.space_id == space, v.subjects.contains(json.dumps(one), autoescape=True))
        found |= select_set(connection, then)
    return found


def iterate_memory_ids(connection: Connection, space: str) -> Iterator[str]:
    """Yield every memory id of a space, reading in pages."""
    last = ""
    while True:
        page = select(_M.id).where(_M.space_id == space, _M.id > last).order_by(_M.id)
        found = connection.execute(page.limit(_PAGE_COUNT)).scalars().all()
        yield from found
        if len(found) < _PAGE_COUNT:
            return
        last = found[-1]


def list_all_identities(connection: Connection, space: str) -> set[str]:
    """Return every identity that any row of a space mentions."""
    link = identity_links.c
    columns: tuple[Column[Any], ...] = (
        subjects.c.id, people_table.c.id, link.source, link.target, _M.owner, _M.speaker, _P.person,
        audience_people.c.person, notes_table.c.subject, notes_table.c.contact_id, checkpoints_table.c.person,
        idempotency_keys.c.person, updates.c.person, link_offers.c.offered_by, link_offers.c.accepted_by,
        link_attempts.c.person, access_log_people.c.person, sign_in_links.c.person, web_sessions.c.person,
        imports_table.c.person, imported_items.c.person,
        graph_steps.c.person, graph_values.c.person, graph_writes.c.person,
    )  # fmt: skip
    rows = (select(column).where(column.table.c.space_id == space) for column in columns)
    return select_set(connection, union(*rows)) - {None}


# Hard delete memories with all dependent rows.


def hard_delete(tx: Transaction, ids: Sequence[str], *, scrubbed: bool = False) -> None:
    """Delete memories with all dependent rows; only a keyed hash remains.

    With `scrubbed`, no erasure waits for their bytes to be removed from the files.
    """
    if not ids:
        return
    these = (_M.space_id == tx.space, _M.id.in_(ids))
    threads = select_set(tx.connection, select(_M.thread).where(*these)) - {None}
    people = select(_P.person).where(_P.space_id == tx.space, _P.memory_id.in_(ids))
    named = select_set(tx.connection, people)
    through = stored_access_paths(tx.connection, tx.space, ids)
    increment_revisions(tx.connection, tx.space, through, removing=True)
    remove_note_links(tx, ids)
    tx.dialect.unindex_words(tx.connection, tx.space, ids)
    delete_rows(tx.connection, memories_table, tx.space, _M.id.in_(ids))
    pointing = _M.superseded_by.in_(ids)
    update_rows(tx.connection, memories_table, tx.space, pointing, superseded_by=None)
    access_log.remove_memories_from_log(tx.connection, tx.space, ids)
    delete_unmentioned_people(tx.connection, tx.space, named)
    insert_tombstones(tx, ids, scrubbed=scrubbed)
    for thread in sorted((threads | {tx.thread}) - {""}):
        memories.increment_thread_revision(tx, thread)  # invalidates the blocks of the thread
    memories.emit_erase_events(tx, ids)


def insert_tombstones(tx: Transaction, names: Collection[str], *, scrubbed: bool = False) -> None:
    """Keep keyed hashes of the ids of memories or the paths of notes that this write deletes."""
    actor = tx.actor if tx.actor.startswith("operator:") else ""
    same = {"erased_at": tx.at, "actor": actor, "scrubbed": scrubbed}
    rows = [same | {"digest": keyed_digest(tx.secret, name)} for name in names]
    insert_missing(tx.connection, tombstones, tx.space, rows)
