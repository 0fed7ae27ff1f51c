"""People with years behind them, in a minute: each writes one memory through the public API, and
copies of its rows differ in id, words, time, kind, importance, pin and use."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import text

import tacit
from bench.crowd import sentence
from bench.sinks import Sink, open_sink
from tacit import limits
from tacit.clock import to_micros
from tacit.storage.spaces import new_memory_id
from tacit.text import split_terms

_TABLES = ("memories", "memory_versions", "memory_people", "history", "change_log")
_LASTING = ("knowledge", "preference", "identity", "relationship")
_BEHIND_DAYS = 59  # what was used last before that would have faded already
_AHEAD_DAYS = 400  # somebody said until when


@dataclass(slots=True)
class Known:
    """What the simulation itself knows of a memory, to hold the store to it."""

    person: int
    expires_at: datetime | None
    pinned: bool


def view_of(memory: tacit.Memory, person: int) -> tacit.View:
    key = f"telegram:{1_001 + person}"
    found = memory.view(tacit.Requester(key, name=f"Name {person}"), tacit.Chat.private(key))
    assert isinstance(found, tacit.View)
    return found


def fill(
    url: str, memory: tacit.Memory, now: datetime, people: int, each: int, chance: random.Random
) -> dict[str, Known]:
    """So many memories of each, as they would be today."""
    known: dict[str, Known] = {}
    for person in range(people):
        done = view_of(memory, person).remember("the words of a pattern")
        known[done.id] = Known(person, None, False)
    patterns = [_Pattern(memory, id) for id in known]
    sink = open_sink(url)
    for person, pattern in enumerate(patterns):
        copies = []
        for n in range(each - 1):
            values, fact = _copy(n, person, now, chance)
            while values["id"] in known:
                values["id"] = new_memory_id(now - timedelta(days=1))
            known[values["id"]] = fact
            copies.append(values)
        pattern.copy(sink, copies, first=1_000_000 + person * each)
    sink.close()
    return known


def _copy(n: int, person: int, now: datetime, chance: random.Random) -> tuple[dict[str, Any], Known]:
    kind, age, lasts = _kind(chance)
    made = now - timedelta(days=age, seconds=n % 3_600, microseconds=n)
    used = now - timedelta(days=chance.uniform(0, age)) if chance.random() < 0.5 else None
    pinned = chance.random() < 0.04
    importance = chance.choice((1, 2, 3, 3, 3, 4, 5))
    expires = None if lasts is None else made + timedelta(days=lasts)
    at, content = to_micros(made), sentence(person * 100_003 + n)
    said = split_terms(content)
    values = {
        "id": new_memory_id(made),
        "content": content,
        "words": " ".join(f"'{word}'" for word in said),  # as PostgreSQL has them, in a column
        "kind": kind,
        "importance": importance,
        "pinned": pinned,
        "expires_at": None if expires is None else to_micros(expires),
        "last_accessed_at": None if used is None else to_micros(used),
        "access_count": 0 if used is None else chance.randrange(1, 20),
        "created_at": at,
        "updated_at": at,
        "observed_at": at,
        "at": at,
        "rev": at,
    }
    return values, Known(person, expires, pinned)


def _kind(chance: random.Random) -> tuple[str, float, float | None]:
    """What it is, how many days old, and how many days it lasts in all."""
    which = chance.random()
    if which < 0.25:
        kind = chance.choice(tuple(limits.KIND_TTL_DAYS))
        lasts = limits.KIND_TTL_DAYS[kind]
        return kind, chance.uniform(0, lasts), lasts
    age = chance.uniform(0, _BEHIND_DAYS)
    whole = None if which < 0.8 else age + chance.uniform(0, _AHEAD_DAYS)
    return chance.choice(_LASTING), age, whole


class _Pattern:
    """The rows that one write left, to be copied."""

    def __init__(self, memory: tacit.Memory, id: str) -> None:
        self._rows: dict[str, tuple[list[str], list[Any]]] = {}
        with memory._storage.database.read() as connection:
            for name in _TABLES:
                which = "id" if name == "memories" else "memory_id"
                query = text(f"SELECT * FROM {name} WHERE {which} = :id")
                found = connection.execute(query, {"id": id})
                self._rows[name] = (list(found.keys()), list(found.one()))

    def copy(self, sink: Sink, copies: list[dict[str, Any]], first: int) -> None:
        for name, (columns, row) in self._rows.items():
            own = "id" if name == "memories" else "memory_id"
            places = [
                (n, "id" if column == own else column)
                for n, column in enumerate(columns)
                if column == own or (column in copies[0] and column != "id")
            ]
            sink.insert(name, columns, [_filled(row, places, values) for values in copies])
        if sink.words_in_tables:
            numbered = list(enumerate(copies, first))
            named = [(number, "default", values["id"]) for number, values in numbered]
            sink.insert("fts_rows", ("number", "space_id", "memory_id"), named)


def _filled(row: list[Any], places: list[tuple[int, str]], values: dict[str, Any]) -> list[Any]:
    copy = row.copy()
    for n, name in places:
        copy[n] = values[name]
    return copy
