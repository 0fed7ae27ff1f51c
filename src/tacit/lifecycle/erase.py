"""Erase: gone now, everywhere, for good. First the rows, in one transaction; then their bytes."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Connection, delete, or_, select, update

from tacit.errors import StoreBusy
from tacit.model.memory import Memory
from tacit.model.words import ChatKind
from tacit.store import jobs, keyed, partitions, writes
from tacit.store.engine import Database
from tacit.store.identities import around
from tacit.store.settle import settle_key
from tacit.store.tables import (
    blocks,
    chat_members,
    chats,
    declined,
    derived_from,
    learning_days,
    memories,
    metadata,
    people,
    person_names,
    proposals,
    subjects,
    tombstones,
)
from tacit.store.tables import partitions as partitions_table
from tacit.store.writes import Writing

_ERASED_AT_ONCE_COUNT = 500
_M = memories.c


def erase(w: Writing, memory: Memory, *, turns: bool = False) -> int:
    """For its owner and for an operator, with what it replaced and with the values of its key under
    the owner's other identities: to them it is one thing, and where others listen it counts as
    one. Anybody else erases what they may hear, and that alone."""
    ids = {memory.id}
    operator = w.request.requester is None
    own = memory.owner is not None and w.request.person(memory.owner) == w.request.requester
    owner = memory.owner or ""
    owners = around(w.connection, w.space, [owner]).now(owner)
    if operator or own:
        if turns:  # first, so that what is being learned at this moment is there to be found
            jobs.drop(w.connection, w.space, owners, memory.thread or w.thread)
        ids |= set(keyed.siblings(w, memory))
        ids |= _replaced(w, ids, owners)
        if turns:
            ids |= _learned_from(w, ids, owners)
    writes.bury(w, sorted(ids))
    if memory.key is not None and memory.owner is not None:
        settle_key(w.connection, w.space, sorted(owners), memory.category, memory.key)
    return len(ids) if operator or w.request.private else 1


def _replaced(w: Writing, ids: set[str], owners: Collection[str]) -> set[str]:
    """What these memories took the place of, step by step, as far as it has the same owner."""
    found: set[str] = set()
    fringe = set(ids)
    while fringe:
        before = select(_M.id).where(
            _M.space_id == w.space,
            _M.superseded_by.in_(sorted(fringe)),
            _M.owner.in_(sorted(owners)),
        )
        fringe = set(w.connection.execute(before).scalars()) - found - ids
        found |= fringe
    return found


def _learned_from(w: Writing, ids: set[str], owners: Collection[str]) -> set[str]:
    """The turns that led to these memories, as far as they have the same owner."""
    d = derived_from.c
    said = (
        select(d.turn_id)
        .join(memories, (_M.space_id == d.space_id) & (_M.id == d.turn_id))
        .where(d.space_id == w.space, d.memory_id.in_(sorted(ids)), _M.owner.in_(sorted(owners)))
    )
    return set(w.connection.execute(said).scalars())


def erase_owned(w: Writing, owners: Collection[str]) -> int:
    """Everything that belongs to these identities of one person, and what waits to be learned."""
    jobs.drop(w.connection, w.space, owners)
    owned = (
        select(_M.id)
        .where(_M.space_id == w.space, _M.owner.in_(sorted(owners)))
        .limit(_ERASED_AT_ONCE_COUNT)
    )
    count = 0
    while ids := w.connection.execute(owned).scalars().all():
        writes.bury(w, ids)
        count += len(ids)
    return count


def erase_person(w: Writing, identities: Collection[str]) -> int:
    """Their memories, the names they go by and gave, and where they were.

    Links stay: they are what keeps a memory withheld from every identity a person ever had.
    """
    count = erase_owned(w, identities)
    who = sorted(identities)
    _erase_learning(w, who)
    n, c, p, s = person_names.c, chat_members.c, people.c, subjects.c
    execute = w.connection.execute
    execute(
        delete(person_names).where(
            n.space_id == w.space, or_(n.person.in_(who), n.known_to.in_(who))
        )
    )
    alone = (
        select(c.chat)
        .join(chats, (chats.c.space_id == c.space_id) & (chats.c.id == c.chat))
        .where(c.space_id == w.space, c.person.in_(who), chats.c.kind == ChatKind.PRIVATE.value)
    )
    rooms = sorted(set(execute(alone).scalars()))
    doors = [*map(partitions.person, who), *map(partitions.room, rooms)]
    d, b = partitions_table.c, blocks.c
    execute(delete(partitions_table).where(d.space_id == w.space, d.door.in_(doors)))
    execute(delete(blocks).where(b.space_id == w.space, b.thread.in_(rooms)))
    execute(delete(chat_members).where(c.space_id == w.space, c.person.in_(who)))
    execute(delete(people).where(p.space_id == w.space, p.created_by.in_(who)))
    execute(delete(subjects).where(s.space_id == w.space, s.id.in_(who)))
    return count


def _erase_learning(w: Writing, who: list[str]) -> None:
    """What they were asked, what they said no to, and how much was learned from them."""
    a, d, c = proposals.c, declined.c, learning_days.c
    asked = select(a.memory_id).where(a.space_id == w.space, a.concerns.in_(who))
    writes.bury(w, list(w.connection.execute(asked).scalars()))
    for table, whose in ((declined, d.concerns), (learning_days, c.owner)):
        w.connection.execute(delete(table).where(table.c.space_id == w.space, whose.in_(who)))


def erase_space(connection: Connection, database: Database, space: str) -> int:
    """Every row of a space, its tombstones among them: with the space go its ids."""
    count: int = 0
    database.dialect.unindex_space(connection, space)
    for table in reversed(metadata.sorted_tables):
        done = connection.execute(delete(table).where(table.c.space_id == space))
        if table is memories:
            count = done.rowcount
    return count


def scrub(database: Database) -> bool:
    """Leave no byte behind. False while another process still reads what was there before."""
    try:
        with database.alone() as connection:
            done = database.dialect.scrub(connection)
    except StoreBusy:
        done = False
    if done:
        t = tombstones.c
        database.write(
            lambda connection: connection.execute(
                update(tombstones).where(t.scrubbed.is_(False)).values(scrubbed=True)
            )
        )
    return done
