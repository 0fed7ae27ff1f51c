"""Find memories without a vector of a model, and store their vectors."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, and_, bindparam, func, literal_column, select

from tacit.clock import to_micros
from tacit.records.memory import State
from tacit.storage.dialect import Dialect
from tacit.storage.engine import has_row, insert_missing, lock_rows, run_statements, update_rows
from tacit.storage.memories import upsert_vector
from tacit.storage.schema import embedded_spaces, memories_table, vectors_table
from tacit.storage.schema import spaces_table as all_spaces
from tacit.storage.spaces import chat_path, home_path, lock_space, person_path, restamp_memories
from tacit.text import text_to_embed

# Memories without a vector of a model. For the embedding job only: these reads skip the predicate.

_CHECKING = 0  # in place of the time at which the space was complete
_M = memories_table.c
_V = vectors_table.c
_E = embedded_spaces.c
_S = all_spaces.c
_IS_EMBEDDABLE = _M.state.in_([State.ACTIVE.value, State.PENDING.value])
# Joins by the whole key of a vector: with less, the planner might use the space alone.
HOME_PATH = func.coalesce(
    person_path("") + _M.owner, chat_path("") + func.coalesce(_M.learned_in, literal_column("''"))
)
_HAS_VECTOR_OF_MODEL = and_(
    _V.space_id == _M.space_id, _V.home_path == HOME_PATH, _V.memory_id == _M.id, _V.model == bindparam("model")
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


def list_unembedded_spaces(connection: Connection, model: str) -> list[str]:
    """List the spaces that are not marked as fully embedded."""
    done = select(_E.space_id).where(_E.model == model, _E.done_at > _CHECKING)
    rows = connection.execute(select(_S.space_id).where(_S.space_id.not_in(done)))
    return list(rows.scalars())


def has_all_vectors(connection: Connection, space: str, model: str) -> bool:
    done = (_E.space_id == space, _E.model == model, _E.done_at > _CHECKING)
    return has_row(connection, select(_E.space_id).where(*done))


def list_unembedded(connection: Connection, space: str, model: str, after: str, most: int) -> list[Unembedded]:
    found = (
        select(_M.id, _M.content, _M.version, _M.owner, _M.learned_in, _M.key)
        .select_from(memories_table.outerjoin(vectors_table, _HAS_VECTOR_OF_MODEL))
        .where(_M.space_id == space, _M.id > after, _IS_EMBEDDABLE, _V.model.is_(None))
        .order_by(_M.id)
        .limit(most)
    )
    return [Unembedded(*row) for row in connection.execute(found, {"model": model})]


def save_vectors(
    connection: Connection, dialect: Dialect, space: str, model: str, made: Sequence[tuple[Unembedded, bytes]]
) -> int:
    """Save the vectors of memories that did not change since, and invalidate caches.

    Return the number of saved vectors.
    """
    ids = [one.id for one, _ in made]
    # Lock the rows, so that a newer wording does not get the vector of an older one.
    standing = select(_M.id, _M.version).where(_M.space_id == space, _M.id.in_(ids)).order_by(_M.id)
    stands: dict[str, int] = dict(connection.execute(lock_rows(standing)).all())
    kept = [(one, vector) for one, vector in made if stands.get(one.id) == one.version]
    steps = []
    for one, vector in kept:
        home = home_path(one.owner, one.learned_in)
        steps.append(upsert_vector(dialect, space, home, one.id, model, vector))
    if kept:
        run_statements(connection, steps)
        restamp_memories(connection, space, [one.id for one, _ in kept])
    return len(kept)


def begin_embedding_check(connection: Connection, space: str, model: str) -> None:
    """Mark the space as being checked; a write without a vector of this model removes the mark.

    Writers that started earlier saw no mark to remove. The lock waits for them, so the scan sees
    what they wrote.
    """
    lock_space(connection, space)
    row = {"model": model, "done_at": _CHECKING}
    insert_missing(connection, embedded_spaces, space, [row])


def finish_embedding_check(connection: Connection, space: str, model: str, at: datetime) -> bool:
    """Mark the space as complete, unless a write without a vector removed the mark.

    A second scan here would block every writer while it runs.
    """
    marked = (_E.model == model, _E.done_at == _CHECKING)
    return update_rows(connection, embedded_spaces, space, *marked, done_at=to_micros(at)) > 0


def count_vectors(connection: Connection, space: str, model: str) -> tuple[int, int]:
    """Return how many memories have a vector, and how many there are."""
    of_space = (_M.space_id == space, _IS_EMBEDDABLE)
    total = select(func.count()).select_from(memories_table).where(*of_space)
    made = memories_table.join(vectors_table, _HAS_VECTOR_OF_MODEL)
    done = select(func.count()).select_from(made).where(*of_space)
    return (connection.execute(done, {"model": model}).scalar_one(), connection.execute(total).scalar_one())
