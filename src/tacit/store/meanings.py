"""The vectors of memories, each among the others of its home. Each database has a type of its own
for them; what goes over the line is the dialect's, the rows are the same."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, TextClause, bindparam, text

from tacit.store import rendered
from tacit.store.dialect import Dialect
from tacit.store.rendered import Step


def placing(dialect: Dialect, space: str, home: str, id: str, model: str, vector: bytes) -> Step:
    """`vector` is float32, little-endian."""
    row = {"space": space, "home": home, "id": id, "model": model}
    return _setting(dialect), {**row, "vector": dialect.encode_vector(vector)}


def of_home(
    connection: Connection,
    dialect: Dialect,
    space: str,
    home: str,
    ids: Sequence[str] | None,
    model: str,
) -> dict[str, bytes]:
    """The vectors that this model made of a home's memories: of these, or of all of them."""
    params: dict[str, Any] = {"space": space, "home": home, "model": model}
    if ids is not None:
        params["ids"] = list(ids)
    rows = rendered.rows(connection, _getting(dialect, ids is not None), params)
    return {id: dialect.decode_vector(vector) for id, vector in rows}


@lru_cache(maxsize=8)
def _setting(dialect: Dialect) -> TextClause:
    return text(
        "INSERT INTO vectors (space_id, home, memory_id, model, vector) "  # noqa: S608
        f"VALUES (:space, :home, :id, :model, {dialect.vector_in}) "
        "ON CONFLICT (space_id, home, memory_id) DO UPDATE SET model = excluded.model, "
        "vector = excluded.vector"
    )


@lru_cache(maxsize=16)
def _getting(dialect: Dialect, some: bool) -> TextClause:
    every = (
        f"SELECT memory_id, {dialect.vector_out} FROM vectors "  # noqa: S608
        "WHERE space_id = :space AND home = :home AND model = :model"
    )
    if not some:
        return text(every)
    return text(f"{every} AND memory_id IN :ids").bindparams(bindparam("ids", expanding=True))
