"""Removing memories for good, with everything that lives with them."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import delete, select, update

from tacit.clock import to_micros
from tacit.store import happening, looks, noted, partitions, writes
from tacit.store.ids import digest
from tacit.store.people import forget_unmentioned
from tacit.store.tables import memories, memory_people, tombstones
from tacit.store.writes import Writing

_M = memories.c
_P = memory_people.c


def bury(w: Writing, ids: Sequence[str]) -> None:
    """What is left is a keyed hash."""
    if not ids:
        return
    which = (_M.space_id == w.space, _M.id.in_(ids))
    threads = set(w.connection.execute(select(_M.thread).where(*which)).scalars()) - {None}
    named = set(
        w.connection.execute(
            select(_P.person).where(_P.space_id == w.space, _P.memory_id.in_(ids))
        ).scalars()
    )
    through = partitions.doors_of_stored(w.connection, w.space, ids)
    partitions.bump(w.connection, w.space, through, removing=True)
    noted.buried(w, ids)
    w.dialect.unindex_words(w.connection, w.space, ids)
    w.connection.execute(delete(memories).where(*which))
    w.connection.execute(
        update(memories)
        .where(_M.space_id == w.space, _M.superseded_by.in_(ids))
        .values(superseded_by=None)
    )
    looks.forget(w.connection, w.space, ids)
    forget_unmentioned(w.connection, w.space, named)
    rows = [
        {
            "space_id": w.space,
            "digest": digest(w.secret, id),
            "erased_at": to_micros(w.at),
            "actor": w.actor if w.actor.startswith("operator:") else "",
            "scrubbed": False,
        }
        for id in ids
    ]
    w.dialect.insert_missing(w.connection, tombstones, rows)
    for thread in sorted((threads | {w.thread}) - {""}):
        writes.next_revision(w, thread)  # whoever keeps a block of it builds that anew
    happening.erased(w, ids)
