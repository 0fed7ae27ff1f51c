"""What a store of LangGraph's kept: an open one, the file of its SqliteStore, or lines of JSON with
an item each. They become items of our own store for LangGraph, under the same names."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit import limits
from tacit.errors import InvalidInput
from tacit.records.drafts import ImportItem
from tacit.surfaces.moving.elements import elements
from tacit.surfaces.moving.records import Found, Read, Skipped
from tacit.surfaces.moving.scanning import TOO_LONG
from tacit.surfaces.moving.texts import FIELD, checked_size, moment, parsed

if TYPE_CHECKING:
    from langgraph.store.base import BaseStore

_LISTS = frozenset({"items", "results"})
_SQLITE = b"SQLite format 3\0"
_CATEGORY = "item"
_DOT = "."  # joins a namespace in the table
_SLASH = "/"  # and where people write one
_NO_ITEM = "is no item: it needs a namespace, a key and a value that is an object"
_BROKEN = "cannot be read from here on; `sqlite3 FILE .recover` may mend the database"
_TABLE = "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = 'store'"
_COLUMNS = ("prefix", "key", "value", "created_at", "updated_at", "expires_at", "ttl_minutes")
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)  # no later than whatever the memory says


def read(path: Path, only: str | None = None) -> Iterator[Read]:
    below = _labels(only)
    if _is_database(path):
        yield from _database(path, below)
        return
    for one in elements(path, _LISTS):
        if isinstance(one, Skipped):
            yield one
        elif not isinstance(one.value, dict):
            yield Skipped(where=one.where, why=_NO_ITEM)
        else:
            yield from _item(one.where, one.value, below)


def live(store: BaseStore, only: str | None = None) -> Iterator[Read]:
    """Page by page; reading keeps nothing alive that would have expired."""
    below = _labels(only)
    most = limits.IMPORTER_STORE_BATCH_COUNT
    at = 0
    while namespaces := store.list_namespaces(prefix=tuple(below) or None, limit=most, offset=at):
        at += len(namespaces)
        for namespace in namespaces:
            yield from _namespace(store, namespace, below)


def _namespace(store: BaseStore, namespace: tuple[str, ...], below: list[str]) -> Iterator[Read]:
    most = limits.IMPORTER_STORE_BATCH_COUNT
    at = 0
    while found := store.search(namespace, limit=most, offset=at, refresh_ttl=False):
        at += len(found)
        for one in found:
            if one.namespace == namespace:  # a search finds what is below it too
                yield from _item(_SLASH.join(namespace), one.dict(), below)


def _is_database(path: Path) -> bool:
    checked_size(path)
    with path.open("rb") as file:
        return file.read(len(_SQLITE)) == _SQLITE


def _database(path: Path, below: list[str]) -> Iterator[Read]:
    """Read-only, and from a table alone: a view could be anything that SQL can say."""
    uri = f"{path.resolve().as_uri()}?mode=ro"
    number = 0
    try:
        with closing(sqlite3.connect(uri, uri=True)) as connection:
            connection.text_factory = _decoded
            connection.execute("PRAGMA trusted_schema = OFF")
            for row in connection.execute(_select(connection), (limits.IMPORTER_RECORD_MAX_CHARS,)):
                number += 1
                yield from _row(f"row {number}", dict(zip(_COLUMNS, row, strict=True)), below)
    except sqlite3.Error:
        if not number:
            raise InvalidInput(FIELD, "is a database that cannot be read") from None
        yield Skipped(where=f"row {number + 1}", why=_BROKEN)


def _select(connection: sqlite3.Connection) -> str:
    table = connection.execute(_TABLE).fetchone()
    if table is None or not str(table[0]).upper().startswith("CREATE TABLE"):
        raise InvalidInput(FIELD, "is a database without a store of LangGraph's")
    there = {row[1] for row in connection.execute("PRAGMA table_info(store)")}
    bounded = {"value": "CASE WHEN length(value) <= ? THEN value END"}
    columns = (bounded.get(one, one if one in there else "NULL") for one in _COLUMNS)
    return f"SELECT {', '.join(columns)} FROM store ORDER BY prefix, key"  # noqa: S608 - our names


def _row(where: str, row: dict[str, Any], below: list[str]) -> Iterator[Read]:
    if row["value"] is None:
        yield Skipped(where=where, why=TOO_LONG)
        return
    said = row["value"]  # which their own store writes as bytes
    try:
        value = parsed(_decoded(said) if isinstance(said, bytes) else str(said))
    except ValueError as error:
        yield Skipped(where=where, why=str(error))
        return
    prefix = row["prefix"] if isinstance(row["prefix"], str) else ""
    yield from _item(where, {**row, "namespace": prefix.split(_DOT), "value": value}, below)


def _decoded(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def _labels(only: str | None) -> list[str]:
    return [one for one in (only or "").split(_SLASH) if one]


def _item(where: str, given: dict[str, Any], below: list[str]) -> Iterator[Read]:
    namespace, key, value = given.get("namespace"), given.get("key"), given.get("value")
    labels = list(namespace) if isinstance(namespace, list | tuple) else []
    named = isinstance(key, str) and all(isinstance(one, str) and one for one in labels)
    if not labels or not named or not isinstance(value, dict):
        yield Skipped(where=where, why=_NO_ITEM)
    elif labels[: len(below)] == below:
        yield _kept(where, tuple(labels), str(key), value, given)


def _kept(
    where: str, labels: tuple[str, ...], key: str, value: dict[str, Any], given: dict[str, Any]
) -> Read:
    from tacit.surfaces.langgraph import items

    created = moment(given.get("created_at"))
    minutes = given.get("ttl_minutes")
    try:
        item = ImportItem(
            content=items.words(labels, key, value, True),
            category=_CATEGORY,
            key=items.place(labels, key),
            data=items.data_of(
                labels,
                key,
                value,
                index=True,
                ttl_minutes=float(minutes) if isinstance(minutes, int | float) else None,
                updated_at=moment(given.get("updated_at")) or created or _LONG_AGO,
            ),
            created_at=created,
            expires_at=moment(given.get("expires_at")),
            source=json.dumps([labels, key]),
        )
    except InvalidInput as error:
        return Skipped(where=where, why=str(error))
    except RecursionError:
        return Skipped(where=where, why="is nested too deep")
    return Found(where=where, item=item)
