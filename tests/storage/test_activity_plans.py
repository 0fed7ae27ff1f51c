"""The newest of what happened, and what stands out, are read in the order of an index: nothing is
sorted or joined that is as long as what somebody has."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import make_url

import tacit
from bench.crowd import mixed, one_person, others
from bench.filling import Filling
from bench.plans import Statement, numbered, recorded
from bench.sinks import open_sink
from tacit.memory import Memory
from tacit.view.view import View
from tests.contract.rooms import ALICE, BOB, kept, private

READS: dict[str, tuple[str, Callable[[Memory, View], object]]] = {
    "activity": ("ix_history_owner", lambda _, view: view.audit.activity()),
    "what follows": (
        "ix_history_owner",
        lambda _, view: view.audit.activity(cursor=view.audit.activity(limit=2).cursor),
    ),
    "an operator's": ("ix_history_at", lambda memory, _: memory.operator("root").audit.activity()),
    "graph": ("ix_memories_prominent", lambda _, view: view.graph(limit=10)),
}


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def filled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    url = f"sqlite:///{tmp_path_factory.mktemp('plans') / 'tacit.db'}"
    if request.param == "postgres":
        databases = request.getfixturevalue("postgres_databases")
        url = databases.create_migrated()
    with tacit.open(url, embedder=None) as memory:
        kept(private(memory, BOB), "Bob likes tea")  # makes the space
    filling = Filling(open_sink(url))
    filling.add(mixed((400, one_person(1001, 400)), (1_200, others(1_200, 200))))
    filling.close()
    yield url
    if request.param == "postgres":
        databases.drop(url)


@pytest.mark.parametrize("read", READS)
def test_what_is_newest_is_read_in_the_order_of_its_index(filled: str, read: str) -> None:
    index, ask = READS[read]
    with tacit.open(filled, embedder=None) as memory, recorded(memory) as ran:
        ask(memory, private(memory, ALICE))
    order = "history.at DESC" if "history" in index else "memories.pinned DESC"
    chosen = [one for one in ran if order in one.sql][-1]
    inner = _sqlite(filled, chosen, index) if "sqlite" in filled else _postgres(filled, chosen)
    assert inner == index


def _sqlite(url: str, statement: Statement, index: str) -> str | None:
    """The index of the part that is in order as it is read: only what it gives is sorted."""
    path = Path(make_url(url).database or "")
    with sqlite3.connect(path) as connection:
        explained = connection.execute("EXPLAIN QUERY PLAN " + statement.sql, statement.params)
        steps = [(row[0], row[1], row[3]) for row in explained]
    (part,) = [above for _, above, step in steps if index in step]
    beside = [step for _, above, step in steps if above == part]
    return None if any("TEMP B-TREE" in step for step in beside) else index


def _postgres(url: str, statement: Statement) -> str | None:
    """As planned once for all, which is how it is run."""
    import psycopg

    plain = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(plain) as connection:
        sql = f"EXPLAIN (GENERIC_PLAN, FORMAT JSON) {numbered(statement.sql)}".encode()
        ((found,),) = psycopg.RawCursor(connection).execute(sql).fetchall()
    plan = (json.loads(found) if isinstance(found, str) else found)[0]["Plan"]
    (limit, *_) = [node for node in _nodes(plan) if node["Node Type"] == "Limit"][1:]
    below = [node for part in limit["Plans"] for node in _nodes(part)]
    sorted_first = {"Sort", "Hash Join", "Merge Join", "Incremental Sort"}
    if sorted_first & {node["Node Type"] for node in below}:
        return None
    return str(next(node["Index Name"] for node in below if "Index Name" in node))


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for part in plan.get("Plans", ()):
        yield from _nodes(part)
