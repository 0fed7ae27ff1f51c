"""What can be wrong with stored rows, as queries: each answers with the rows that break a promise.

For the doctor alone: nothing here is said to anybody.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from sqlalchemy import (
    Connection,
    ForeignKeyConstraint,
    Select,
    Table,
    and_,
    case,
    delete,
    exists,
    func,
    not_,
    or_,
    select,
    union,
)

from tacit.identity.links import Identities
from tacit.policy.predicate import ROLE_MENTIONED, ROLE_SUBJECT, ROLE_WITHHELD
from tacit.records.memory import ChatKind, State, Trust
from tacit.store.identities import to_link
from tacit.store.tables import (
    audience_people,
    change_log,
    chats,
    history,
    identity_links,
    learned,
    memories,
    memory_people,
    memory_versions,
    metadata,
    proposals,
    thread_revisions,
)

_PAGE_COUNT = 1_000
_M = memories.c
_V = memory_versions.c
_H = history.c
_P = memory_people.c
_T = thread_revisions.c
_C = change_log.c
_A = audience_people.c
_L = learned.c
_W = proposals.c
_KEPT = _M.is_turn.is_(False)


def _with(table: Table, *conditions: Any) -> Any:
    """Whether a memory has such a row beside it."""
    of = (table.c.space_id == _M.space_id, table.c.memory_id == _M.id)
    return exists().where(*of, *conditions)


_VERSIONS = (
    select(func.count()).where(_V.space_id == _M.space_id, _V.memory_id == _M.id).scalar_subquery()
)
_NEWEST_CHANGE = (
    select(func.max(_C.rev))
    .where(_C.space_id == _T.space_id, _C.thread == _T.thread)
    .scalar_subquery()
)
_MEMORY = select(_M.space_id, _M.id)
_CURRENT = _with(memory_versions, _V.version == _M.version, _V.content == _M.content)
_SOMEBODY = or_(_M.owner.is_not(None), _M.speaker.is_not(None))
_ABOUT = _with(memory_people, _P.role.in_([ROLE_SUBJECT, ROLE_MENTIONED]))

UNVERSIONED = _MEMORY.where(_KEPT, not_(_CURRENT))
WITH_GAPS = _MEMORY.where(_KEPT, _M.version != _VERSIONS)
WITHOUT_HISTORY = _MEMORY.where(_KEPT, not_(_with(history, _H.event == "ADD")))
ABOUT_NOBODY = _MEMORY.where(_SOMEBODY, not_(_ABOUT))
UNINDEXED_WITHHELD = _MEMORY.where(
    _M.has_withheld != _with(memory_people, _P.role == ROLE_WITHHELD)
)
BEHIND = select(_T.space_id, _T.thread).where(_T.rev < _NEWEST_CHANGE)

# What must be true of every row, whatever database it is in, and what breaks it.
PROMISES: dict[str, Select[Any]] = {
    "memories without their current version": UNVERSIONED,
    "memories with a gap in their versions": WITH_GAPS,
    "memories without history": WITHOUT_HISTORY,
    "memories that are about nobody": ABOUT_NOBODY,
    "memories whose withheld people are not indexed": UNINDEXED_WITHHELD,
    "threads whose revision is behind their changes": BEHIND,
}

# Forgotten and expired memories go some day; what stands does not.
_GOING = _M.state.in_([State.FORGOTTEN.value, State.EXPIRED.value])
_STANDING = _M.state.in_([State.ACTIVE.value, State.PENDING.value, State.QUARANTINED.value])
MISDATED = _MEMORY.where(
    _KEPT,
    or_(
        and_(_GOING, _M.purge_at.is_(None)),
        and_(_STANDING, _M.purge_at.is_not(None)),
    ),
)
UNASKED = _MEMORY.where(_M.state == State.PENDING.value, not_(_with(proposals)))
ANSWERED = (
    select(_W.space_id, _W.memory_id)
    .join(memories, and_(_M.space_id == _W.space_id, _M.id == _W.memory_id))
    .where(_M.state != State.PENDING.value)
)
UNSPOKEN = select(_M.space_id, _M.id, _M.owner, _M.subjects, _M.role).where(
    _KEPT,
    _M.speaker.is_(None),
    _M.owner.is_not(None),
    _M.inferred.is_(False),
    _M.trust == Trust.STATED.value,
    _M.learned_kind == ChatKind.PRIVATE.value,
)
_CHAT = and_(chats.c.space_id == _M.space_id, chats.c.id == _M.learned_in)
UNLIKE_THEIR_CHAT = (
    select(_M.space_id, _M.id, chats.c.confidential)
    .select_from(memories.join(chats, _CHAT))
    .where(_M.confidential != chats.c.confidential)
)
SUCCESSORS = select(_M.space_id, _M.id, _M.superseded_by, _M.updated_at).where(
    _M.superseded_by.is_not(None)
)
_OTHER = memories.alias("other")
_HOLDER = case((_M.owner.is_(None), _M.learned_in), else_=_M.owner)
CROWDED_KEYS = (
    select(_M.space_id, _M.owner, _HOLDER.label("holder"), _M.category, _M.key)
    .where(_M.key.is_not(None), _M.state == State.ACTIVE.value)
    .group_by(_M.space_id, _M.owner, _HOLDER, _M.category, _M.key)
    .having(func.count() > 1)
)
_NEGATED = case((_L.negated, 1), else_=0)
CROWDED_SLOTS = (
    select(_L.space_id, _L.owner, _L.slot)
    .join(memories, and_(_M.space_id == _L.space_id, _M.id == _L.memory_id))
    .where(_L.slot.is_not(None), _M.state == State.ACTIVE.value, _KEPT)
    .group_by(_L.space_id, _L.owner, _L.slot)
    .having(
        or_(
            func.min(_L.value) != func.max(_L.value),
            func.min(_NEGATED) != func.max(_NEGATED),
        )
    )
)
_SETS = union(
    select(_M.space_id, _M.heard).where(_M.heard.is_not(None)),
    select(_V.space_id, _V.heard).where(_V.heard.is_not(None)),
).subquery()


def rows(connection: Connection, statement: Select[Any], space: str) -> list[Any]:
    """What of a space breaks a promise."""
    of_space = next(iter(statement.selected_columns)) == space
    return list(connection.execute(statement.where(of_space)).all())


def count(connection: Connection, statement: Select[Any]) -> int:
    """In all spaces."""
    return int(
        connection.execute(select(func.count()).select_from(statement.subquery())).scalar_one()
    )


def pages(connection: Connection, statement: Select[Any], space: str) -> Iterator[list[Any]]:
    """The rows of a statement on memories that begins with their id, in the order of ids."""
    after = ""
    while True:
        some = statement.where(_M.space_id == space, _M.id > after).order_by(_M.id)
        found = list(connection.execute(some.limit(_PAGE_COUNT)).all())
        if found:
            yield found
        if len(found) < _PAGE_COUNT:
            return
        after = found[-1][0]


def everybody(connection: Connection, space: str) -> Identities:
    """All links that a space ever had."""
    links = select(identity_links).where(identity_links.c.space_id == space)
    return Identities(tuple(to_link(row) for row in connection.execute(links)))


def dependents() -> Iterator[tuple[Table, str]]:
    """Every table and column that refers to a memory, and goes with it."""
    for table in metadata.sorted_tables:
        for constraint in table.constraints:
            if isinstance(constraint, ForeignKeyConstraint):
                for element in constraint.elements:
                    if element.column is _M.id:
                        yield table, element.parent.name


def orphans(connection: Connection, space: str, table: Table, column: str) -> list[str]:
    """Ids of memories that are gone, though this table has rows of theirs."""
    of = table.c[column]
    there = exists().where(_M.space_id == table.c.space_id, _M.id == of)
    gone = select(of).where(table.c.space_id == space, of.is_not(None), not_(there)).distinct()
    return list(connection.execute(gone).scalars())


def remove_orphans(
    connection: Connection, space: str, table: Table, column: str, ids: Iterable[str]
) -> int:
    of = table.c[column]
    there = exists().where(_M.space_id == table.c.space_id, _M.id == of)
    gone = delete(table).where(table.c.space_id == space, of.in_(list(ids)), not_(there))
    return connection.execute(gone).rowcount


def listeners(connection: Connection, space: str) -> dict[str, list[str]]:
    """Every set of listeners, with who is in it."""
    found: dict[str, list[str]] = {}
    people = select(_A.audience, _A.person).where(_A.space_id == space)
    for audience, person in connection.execute(people):
        found.setdefault(audience, []).append(person)
    return found


def referred(connection: Connection, space: str) -> set[str]:
    """The sets of listeners that some memory, or an earlier wording of one, refers to."""
    sets = select(_SETS.c.heard).where(_SETS.c.space_id == space)
    return set(connection.execute(sets).scalars())
