"""Statements are compiled once in a process, and not once for each of the thousands of databases
that tests open in it: to SQLAlchemy two engines are strangers, even where they speak alike."""

from typing import Any

from sqlalchemy import Engine
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.util import LRUCache

_KEPT_COUNT = 2_000


def remember_statements() -> None:
    """From here on, in this process."""
    for dialect in (SQLiteDialect_pysqlite, PGDialect_psycopg):
        dialect.__eq__ = _alike  # type: ignore[method-assign]
        dialect.__hash__ = _as_its_kind  # type: ignore[method-assign, assignment]
    kept: LRUCache[Any, Any] = LRUCache(_KEPT_COUNT)
    # Each engine is given one of its own, and goes by this one all the same.
    Engine._compiled_cache = property(lambda _: kept, lambda *_: None)  # type: ignore[assignment]


def _alike(one: object, other: object) -> bool:
    return type(one) is type(other)


def _as_its_kind(one: object) -> int:
    return hash(type(one))
