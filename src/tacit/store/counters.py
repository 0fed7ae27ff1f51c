"""The two counters that a new memory moves on: of what leads to it, and of the thread it is told
in. Where several statements can travel as one, they do."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache

from sqlalchemy import Connection, TextClause, text

from tacit.store import partitions, rendered, steps
from tacit.store.dialect import Dialect


def moved_on(
    connection: Connection,
    dialect: Dialect,
    space: str,
    doors: Collection[str],
    thread: str,
    at: int,
) -> tuple[dict[str, int], int]:
    """The new revision of each door, and of the thread. First the doors, in their order, as ever:
    two writers never hold each other up for good."""
    of_thread = {"space": space, "thread": thread, "at": at}
    names = sorted(doors)
    if not dialect.combines_statements or len(names) > partitions.BUMPED_AT_ONCE_COUNT:
        revisions = partitions.bump(connection, space, names)
        ((rev,),) = rendered.rows(connection, steps.NEXT_REVISION, of_thread)
        return revisions, int(rev)
    params = of_thread | partitions.bumped(names)
    *found, (_, rev) = rendered.rows(connection, _both(len(names)), params)
    return dict(found), int(rev)


@lru_cache(maxsize=partitions.BUMPED_AT_ONCE_COUNT)
def _both(count: int) -> TextClause:
    return text(
        f"WITH doors AS ({partitions.bumping(count)}), thread AS ({steps.NEXT_REVISION}) "  # noqa: S608
        "SELECT door, rev FROM doors UNION ALL SELECT '', rev FROM thread"
    )
