"""Memories that have no vector of a model yet. For the indexing alone: nothing here is said to
anybody."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, and_, bindparam, func, literal_column, select, update

from tacit.clock import to_micros
from tacit.records.memory import State
from tacit.records.text import text_to_embed
from tacit.store import meanings, partitions, rendered
from tacit.store.dialect import Dialect
from tacit.store.tables import embedded, memories, vectors
from tacit.store.tables import spaces as all_spaces

_LOOKING = 0  # instead of the time at which a space was complete
_M = memories.c
_V = vectors.c
_E = embedded.c
_S = all_spaces.c
_WANTED = _M.state.in_([State.ACTIVE.value, State.PENDING.value])
# By the whole key of a vector: anything less might be looked up by the space alone.
HOME = func.coalesce(
    partitions.person("") + _M.owner,
    partitions.room("") + func.coalesce(_M.learned_in, literal_column("''")),
)
_OF_MODEL = and_(
    _V.space_id == _M.space_id,
    _V.home == HOME,
    _V.memory_id == _M.id,
    _V.model == bindparam("model"),
)


class Unembedded(NamedTuple):
    id: str
    content: str
    version: int
    owner: str | None
    learned_in: str | None
    key: str | None

    @property
    def text(self) -> str:
        return text_to_embed(self.key, self.content)


def spaces(connection: Connection, model: str) -> list[str]:
    """Those that are not known to be complete."""
    done = select(_E.space_id).where(_E.model == model, _E.done_at > _LOOKING)
    rows = connection.execute(select(_S.space_id).where(_S.space_id.not_in(done)))
    return list(rows.scalars())


def is_complete(connection: Connection, space: str, model: str) -> bool:
    done = (_E.space_id == space, _E.model == model, _E.done_at > _LOOKING)
    return connection.execute(select(_E.space_id).where(*done)).first() is not None


_PAGE = (
    select(_M.id, _M.content, _M.version, _M.owner, _M.learned_in, _M.key)
    .select_from(memories.outerjoin(vectors, _OF_MODEL))
    .where(
        _M.space_id == bindparam("space"), _M.id > bindparam("after"), _WANTED, _V.model.is_(None)
    )
    .order_by(_M.id)
    .limit(bindparam("most"))
)


def page(connection: Connection, space: str, model: str, after: str, most: int) -> list[Unembedded]:
    params = {"space": space, "model": model, "after": after, "most": most}
    return [Unembedded(*row) for row in connection.execute(_PAGE, params)]


def keep(
    connection: Connection,
    dialect: Dialect,
    space: str,
    model: str,
    made: Sequence[tuple[Unembedded, bytes]],
) -> int:
    """The vectors of what still says the same. Whoever has an answer at hand is told to look."""
    ids = [one.id for one, _ in made]
    # Held still, so that nobody's newer wording gets the vector of an older one.
    standing = select(_M.id, _M.version).where(_M.space_id == space, _M.id.in_(ids)).order_by(_M.id)
    stands: dict[str, int] = dict(connection.execute(dialect.lock_memory(standing)).all())
    kept = []
    for one, vector in made:
        if stands.get(one.id) == one.version:
            home = partitions.home(one.owner, one.learned_in)
            kept.append((one.id, meanings.placing(dialect, space, home, one.id, model, vector)))
    if kept:
        rendered.run(connection, [step for _, step in kept])
        partitions.restamp(connection, space, [id for id, _ in kept])
    return len(kept)


def look(connection: Connection, dialect: Dialect, space: str, model: str) -> None:
    """From here on, whoever writes without a vector of this model takes the mark away. Whoever was
    writing already saw no mark to take away: they are waited for, and the walk sees what they
    wrote."""
    dialect.lock_space(connection, space)
    row = {"space_id": space, "model": model, "done_at": _LOOKING}
    dialect.insert_missing(connection, embedded, [row])


def settle(connection: Connection, space: str, model: str, at: datetime) -> bool:
    """Say that a space is complete, unless somebody wrote without a vector since `look`. To look
    again here would hold up every writer for as long as it takes to walk through the space."""
    marked = update(embedded).where(_E.space_id == space, _E.model == model, _E.done_at == _LOOKING)
    return connection.execute(marked.values(done_at=to_micros(at))).rowcount > 0


def counts(connection: Connection, space: str, model: str) -> tuple[int, int]:
    """How many have a vector, and how many there are."""
    of_space = (_M.space_id == space, _WANTED)
    total = select(func.count()).select_from(memories).where(*of_space)
    made = memories.join(vectors, _OF_MODEL)
    done = select(func.count()).select_from(made).where(*of_space)
    return (
        connection.execute(done, {"model": model}).scalar_one(),
        connection.execute(total).scalar_one(),
    )
