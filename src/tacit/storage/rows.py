"""Convert rows to records and back, and run the small statements that most tables need."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date, datetime
from enum import Enum
from functools import lru_cache
from types import NoneType, UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from sqlalchemy import Connection, Executable, Select, Table, delete, insert, update

from tacit.clock import from_micros, to_micros
from tacit.storage import statements

R = TypeVar("R")
T = TypeVar("T")
AT_ONCE_COUNT = 500
_ENUM_OR_BOOL = (Enum, bool)


def encode(value: Any) -> Any:
    """Convert a field to its column value: times to microseconds, collections to JSON."""
    match value:
        case datetime():
            return to_micros(value)
        case date():
            return value.isoformat()
        case Enum():
            return value.value
        case frozenset():
            return json.dumps(sorted(value), ensure_ascii=False)
        case tuple() | Mapping():
            return json.dumps(value, ensure_ascii=False)
    return value


def to_record(record: Callable[..., R], row: Any, **fields: Any) -> R:
    """Build a record from a row or mapping whose columns are named like its fields.

    The columns are decoded by the types of the fields.

    `fields` are given as they are, in place of columns or in addition to them.
    """
    columns = row if isinstance(row, dict) else row._mapping
    for name, decode in _decoders(record).items():
        if name not in fields and name in columns:
            value = columns[name]
            fields[name] = value if value is None or decode is None else decode(value)
    return record(**fields)


@lru_cache(maxsize=256)
def _decoders(record: type) -> dict[str, Callable[[Any], Any] | None]:
    return {name: _decoder(hint) for name, hint in get_type_hints(record).items()}


def _decoder(hint: Any) -> Callable[[Any], Any] | None:
    if get_origin(hint) is UnionType:
        (hint, *_) = (one for one in get_args(hint) if one is not NoneType)
    kind = get_origin(hint) or hint
    if kind in (tuple, frozenset):
        return lambda column: kind(json.loads(column))
    if kind in (datetime, date):
        return from_micros if kind is datetime else date.fromisoformat
    if kind in (Mapping, dict):
        return json.loads
    return kind if isinstance(kind, type) and issubclass(kind, _ENUM_OR_BOOL) else None


def fetch_mappings(connection: Connection, statement: Select[Any], params: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Fetch rows by column name on the driver, for a prepared statement that runs often."""
    names = _column_names(statement)
    found = statements.fetch_rows(connection, statement, params)
    return [dict(zip(names, row, strict=True)) for row in found]


@lru_cache(maxsize=256)
def _column_names(statement: Select[Any]) -> tuple[str, ...]:
    return tuple(statement.selected_columns.keys())


def chunks(items: Iterable[T]) -> Iterator[list[T]]:
    """Yield the items, sorted, in lists that fit into one statement."""
    todo: list[T] = sorted(items)  # type: ignore[type-var]
    for start in range(0, len(todo), AT_ONCE_COUNT):
        yield todo[start : start + AT_ONCE_COUNT]


def select_set(connection: Connection, statement: Executable) -> set[Any]:
    """Return the distinct values of the first column."""
    return set(connection.execute(statement).scalars())


def has_row(connection: Connection, statement: Any) -> bool:
    return connection.execute(statement.limit(1)).first() is not None


def delete_rows(connection: Connection, table: Table, space: str, *which: Any) -> int:
    """Delete rows of a space; return how many there were."""
    return connection.execute(delete(table).where(table.c.space_id == space, *which)).rowcount


def update_rows(connection: Connection, table: Table, space: str, *which: Any, **values: Any) -> int:
    """Update rows of a space, with encoded values; return how many there were."""
    rows = update(table).where(table.c.space_id == space, *which)
    changes = {name: encode(value) for name, value in values.items()}
    return connection.execute(rows.values(**changes)).rowcount


def insert_row(connection: Connection, table: Table, space: str, **values: Any) -> None:
    """Insert a row of a space, with encoded values."""
    row = {name: encode(value) for name, value in values.items()}
    connection.execute(insert(table).values(space_id=space, **row))


def insert_missing(connection: Connection, table: Table, space: str, rows: Iterable[Mapping[str, Any]]) -> None:
    """Insert those rows of a space whose primary key is new, with encoded values."""
    new = [{"space_id": space} | {name: encode(value) for name, value in row.items()} for row in rows]
    if new:
        connection.execute(insert_for(connection, table).on_conflict_do_nothing(), new)


def to_columns(record: Any, table: Table) -> dict[str, Any]:
    """Return the encoded fields of a record that have a column of their name."""
    kind: Any = type(record)
    names = [name for name in _decoders(kind) if name in table.c]
    return {name: encode(getattr(record, name)) for name in names}


def insert_for(connection: Connection, table: Table) -> Any:
    """Return an INSERT of this database, which has `on_conflict_do_update`."""
    if connection.dialect.name == "sqlite":
        from sqlalchemy.dialects import sqlite

        return sqlite.insert(table)
    from sqlalchemy.dialects import postgresql  # takes long to import

    return postgresql.insert(table)


def upsert(connection: Connection, table: Table, row: Mapping[str, Any], **changes: Any) -> None:
    """Insert a row, or update the row with the same primary key.

    The update sets `changes`; without any, all columns outside the key, as in the new row.
    """
    new = insert_for(connection, table).values(row)
    key = list(table.primary_key)
    others = {name: new.excluded[name] for name in row if table.c[name] not in set(key)}
    connection.execute(new.on_conflict_do_update(index_elements=key, set_=changes or others))
