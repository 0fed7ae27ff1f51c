"""Statements of kinds that a PostgreSQL sharded by `space_id` refuses are not sent.

`test_sharding.py` shows from the plans that each statement, with its joins, stays in one space.
Here the text of the same statements is checked. `Database.write_if` is left out: where a server
refuses its one guarded statement, the caller falls back to an ordinary transaction.
"""

import re
from collections.abc import Iterator

import pytest

from bench.plans import recorded
from tacit.bootstrap import open_memory
from tacit.memory import Memory
from tests.storage.test_sharding import SETTINGS, busy_day

_LITERAL = re.compile(r"'(?:[^']|'')*'")
_INSERT_SELECT = re.compile(r"INSERT INTO \S+ \([^()]*\) SELECT\b")
_WRITES = re.compile(r"\b(?:INSERT INTO|UPDATE|DELETE FROM)\b")
_LOCKS = re.compile(r"\bFOR (?:NO KEY )?(?:UPDATE|SHARE)\b|\bFOR KEY SHARE\b")
_ONE_SPACE = re.compile(r"\bspace_id = (?:\$\d+|%\(\w+\)s)")


def refused(sql: str) -> str | None:
    """Name what a sharded database would refuse in a statement."""
    plain = _LITERAL.sub("''", " ".join(sql.split()))
    # INSERT … SELECT from one table is routed like a read; a nested SELECT is not.
    if plain.startswith("INSERT INTO") and re.search(r"\(\s*SELECT\b", plain):
        return "a subquery inside INSERT"
    if plain.startswith("WITH"):
        writes = len(_WRITES.findall(plain.replace("DO UPDATE", "")))
        if writes and ("ON CONFLICT" in plain or _INSERT_SELECT.search(plain)):
            return "an upsert or INSERT … SELECT inside WITH"
    if _LOCKS.search(plain) and not _ONE_SPACE.search(plain):
        return "row locks in several spaces"
    return None


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("INSERT INTO notes (a) VALUES ((SELECT b FROM notes))", "a subquery inside INSERT"),
        ("INSERT INTO a (b) SELECT 1 WHERE EXISTS (SELECT 1 FROM c)", "a subquery inside INSERT"),
        ("INSERT INTO a (b) SELECT c.b FROM c WHERE c.space_id = $1", None),
        ("INSERT INTO a (b) VALUES ('(SELECT x)')", None),
        ("WITH s0 AS (INSERT INTO a VALUES ($1)), s1 AS (DELETE FROM b) SELECT 1", None),
        (
            "WITH s AS (INSERT INTO a VALUES ($1) ON CONFLICT DO NOTHING) SELECT 1",
            "an upsert or INSERT … SELECT inside WITH",
        ),
        ("WITH s AS MATERIALIZED (SELECT 1) SELECT * FROM s", None),
        ("SELECT space_id FROM spaces WHERE space_id IN ($1, $2) FOR SHARE", "row locks in several spaces"),
        ("SELECT 1 FROM spaces WHERE space_id = $1 FOR SHARE", None),
    ],
)
def test_each_kind_is_recognized(sql: str, why: str | None) -> None:
    assert refused(sql) == why


@pytest.fixture
def memory(migrated_postgres_url: str) -> Iterator[Memory]:
    with open_memory(migrated_postgres_url, settings=SETTINGS, embedder=None) as opened:
        yield opened


def test_no_statement_is_of_a_kind_that_a_sharded_database_refuses(memory: Memory) -> None:
    with recorded(memory) as ran:
        busy_day(memory.space("tenant"))
    found = {(why, one.sql) for one in ran if (why := refused(one.sql)) is not None}
    assert len({one.sql for one in ran}) > 100
    assert {one.sql.split()[0] for one in ran} >= {"SELECT", "INSERT", "UPDATE", "DELETE"}
    assert found == set()
