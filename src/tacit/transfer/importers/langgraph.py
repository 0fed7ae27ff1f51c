"""Read the items of a LangGraph store: an open one, its SQLite file, or JSON lines."""

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
from tacit.transfer.importers.parsing import (
    PATH_FIELD,
    TOO_LONG,
    FoundItem,
    ReadResult,
    SkippedPart,
    check_size,
    parse_json,
    parse_moment,
    read_records,
)

if TYPE_CHECKING:
    from langgraph.store.base import BaseStore

_LISTS = frozenset({"items", "results"})
_SQLITE = b"SQLite format 3\0"
_CATEGORY = "item"
_DOT = "."  # joins a namespace in the table
_SLASH = "/"  # joins a namespace on the command line
_NO_ITEM_REASON = "is not an item: it needs a namespace, a key and a value that is an object"
_BROKEN_REASON = "cannot be read from here on; `sqlite3 FILE .recover` may repair the database"
_TABLE = "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = 'store'"
_COLUMNS = ("prefix", "key", "value", "created_at", "updated_at", "expires_at", "ttl_minutes")
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)  # before any date in a store


def read_langgraph(path: Path, only: str | None = None) -> Iterator[ReadResult]:
    below = _split_labels(only)
    if _is_database(path):
        return _read_database(path, below)
    return read_records(path, _LISTS, lambda one: _read_item(one.where, one.value, below))


def read_store(store: BaseStore, only: str | None = None) -> Iterator[ReadResult]:
    """Read a store page by page, without refreshing expiry dates."""
    below = _split_labels(only)
    most = limits.IMPORTER_STORE_BATCH_COUNT
    at = 0
    while namespaces := store.list_namespaces(prefix=tuple(below) or None, limit=most, offset=at):
        at += len(namespaces)
        for namespace in namespaces:
            yield from _read_namespace(store, namespace, below)


def _read_namespace(store: BaseStore, namespace: tuple[str, ...], below: list[str]) -> Iterator[ReadResult]:
    most = limits.IMPORTER_STORE_BATCH_COUNT
    at = 0
    while found := store.search(namespace, limit=most, offset=at, refresh_ttl=False):
        at += len(found)
        for one in found:
            if one.namespace == namespace:  # a search also finds what is below it
                yield from _read_item(_SLASH.join(namespace), one.dict(), below)


def _is_database(path: Path) -> bool:
    check_size(path)
    with path.open("rb") as file:
        return file.read(len(_SQLITE)) == _SQLITE


def _read_database(path: Path, below: list[str]) -> Iterator[ReadResult]:
    """Read a database read-only, and only from a table: a view could run any SQL."""
    uri = f"{path.resolve().as_uri()}?mode=ro"
    number = 0
    try:
        with closing(sqlite3.connect(uri, uri=True)) as connection:
            connection.text_factory = _decode
            connection.execute("PRAGMA trusted_schema = OFF")
            for row in connection.execute(_build_select(connection), (limits.IMPORTER_RECORD_MAX_CHARS,)):
                number += 1
                yield from _read_row(f"row {number}", dict(zip(_COLUMNS, row, strict=True)), below)
    except sqlite3.Error:
        if not number:
            raise InvalidInput(PATH_FIELD, "is a database that cannot be read") from None
        yield SkippedPart(where=f"row {number + 1}", why=_BROKEN_REASON)


def _build_select(connection: sqlite3.Connection) -> str:
    table = connection.execute(_TABLE).fetchone()
    if table is None or not str(table[0]).upper().startswith("CREATE TABLE"):
        raise InvalidInput(PATH_FIELD, "is a database without a LangGraph store")
    there = {row[1] for row in connection.execute("PRAGMA table_info(store)")}
    bounded = {"value": "CASE WHEN length(value) <= ? THEN value END"}
    columns = (bounded.get(one, one if one in there else "NULL") for one in _COLUMNS)
    return f"SELECT {', '.join(columns)} FROM store ORDER BY prefix, key"  # noqa: S608 - our names


def _read_row(where: str, row: dict[str, Any], below: list[str]) -> Iterator[ReadResult]:
    if row["value"] is None:
        yield SkippedPart(where=where, why=TOO_LONG)
        return
    said = row["value"]  # LangGraph's own store writes bytes
    try:
        value = parse_json(_decode(said) if isinstance(said, bytes) else str(said))
    except ValueError as error:
        yield SkippedPart(where=where, why=str(error))
        return
    prefix = row["prefix"] if isinstance(row["prefix"], str) else ""
    yield from _read_item(where, {**row, "namespace": prefix.split(_DOT), "value": value}, below)


def _decode(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def _split_labels(only: str | None) -> list[str]:
    return [one for one in (only or "").split(_SLASH) if one]


def _read_item(where: str, item: object, below: list[str]) -> Iterator[ReadResult]:
    given = item if isinstance(item, dict) else {}
    namespace, key, value = given.get("namespace"), given.get("key"), given.get("value")
    labels = list(namespace) if isinstance(namespace, list | tuple) else []
    named = isinstance(key, str) and all(isinstance(one, str) and one for one in labels)
    if not labels or not named or not isinstance(value, dict):
        yield SkippedPart(where=where, why=_NO_ITEM_REASON)
    elif labels[: len(below)] == below:
        yield _make_item(where, tuple(labels), str(key), value, given)


def _make_item(
    where: str, labels: tuple[str, ...], key: str, value: dict[str, Any], given: dict[str, Any]
) -> ReadResult:
    from tacit.integrations.langgraph import store

    created = parse_moment(given.get("created_at"))
    minutes = given.get("ttl_minutes")
    try:
        item = ImportItem(
            content=store.item_content(labels, key, value, True),
            category=_CATEGORY,
            key=store.item_key(labels, key),
            data=store.make_item_data(
                labels,
                key,
                value,
                index=True,
                ttl_minutes=float(minutes) if isinstance(minutes, int | float) else None,
                updated_at=parse_moment(given.get("updated_at")) or created or _LONG_AGO,
            ),
            created_at=created,
            expires_at=parse_moment(given.get("expires_at")),
            source=json.dumps([labels, key]),
        )
    except InvalidInput as error:
        return SkippedPart(where=where, why=str(error))
    except RecursionError:
        return SkippedPart(where=where, why="is nested too deep")
    return FoundItem(where=where, item=item)
