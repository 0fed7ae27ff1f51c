"""Statements of kinds that a PostgreSQL sharded by `space_id` refuses are not sent.

`test_sharding.py` shows from the plans that each statement, with its joins, stays in one space.
Here PostgreSQL's own parser reads the same statements. `Database.write_if` is left out: where a server
refuses its one guarded statement, the caller falls back to an ordinary transaction.
"""

import re
from collections.abc import Iterator
from typing import Any

import pglast
import pytest
from pglast.visitors import Visitor

from bench.plans import recorded
from tacit.bootstrap import open_memory
from tacit.memory import Memory
from tests.storage.test_sharding import SETTINGS, busy_day

# Which fields a node has depends on its class, and pglast declares each as one that may be missing.
ast: Any = pglast.ast

_WRITES = (ast.InsertStmt, ast.UpdateStmt, ast.DeleteStmt)
# Each shard would compute these for itself.
_VOLATILE = {"now", "clock_timestamp", "statement_timestamp", "random", "gen_random_uuid", "nextval"}


class _Found(Visitor):
    """The nodes of a statement, without the statement itself, and the names of the functions it calls."""

    def __init__(self) -> None:
        super().__init__()
        self.nodes: list[Any] = []
        self.functions: set[str] = set()

    def visit(self, _ancestors: object, node: Any) -> None:
        self.nodes.append(node)
        if isinstance(node, ast.FuncCall):
            self.functions.add(node.funcname[-1].sval)


def _below(node: Any) -> _Found:
    found = _Found()
    found(node)
    found.nodes.remove(node)
    return found


def refused(sql: str) -> str | None:
    """Name what a sharded database would refuse in a statement."""
    (statement,) = pglast.parse_sql(re.sub(r"%\(\w+\)s|%s", "$1", sql))
    top: Any = statement.stmt
    within = _below(top)
    if isinstance(top, ast.InsertStmt) and _has_subquery(top, within):
        return "a subquery inside INSERT"
    if isinstance(top, ast.UpdateStmt) and within.functions & _VOLATILE:
        return "a volatile function inside UPDATE"
    parts = [one.ctequery for one in within.nodes if isinstance(one, ast.CommonTableExpr)]
    if any(isinstance(one, ast.InsertStmt) and (one.onConflictClause or _reads(one)) for one in parts):
        return "an upsert or INSERT … SELECT inside WITH"
    writes = any(isinstance(one, _WRITES) for one in parts)
    if writes and isinstance(top, ast.InsertStmt) and (top.onConflictClause or _reads(top)):
        return "an upsert or INSERT … SELECT after a write inside WITH"
    locks = [one for one in (top, *within.nodes) if isinstance(one, ast.SelectStmt) and one.lockingClause]
    if not all(_is_of_one_space(one.whereClause) for one in locks):
        return "row locks in several spaces"
    return None


def _reads(insert: Any) -> bool:
    """Report whether an INSERT takes its rows from a query."""
    return insert.selectStmt is not None and insert.selectStmt.valuesLists is None


def _has_subquery(insert: Any, within: _Found) -> bool:
    """INSERT … SELECT from tables is routed like a read; a nested SELECT is not."""
    allowed = {id(insert.selectStmt), *(id(one) for one in within.nodes if _is_common(one, within))}
    return any(isinstance(one, ast.SelectStmt) and id(one) not in allowed for one in within.nodes)


def _is_common(node: ast.Node, within: _Found) -> bool:
    return any(isinstance(one, ast.CommonTableExpr) and one.ctequery is node for one in within.nodes)


def _is_of_one_space(where: Any) -> bool:
    """Report whether a condition holds `space_id = $n` in every case."""
    if isinstance(where, ast.BoolExpr) and where.boolop == pglast.enums.BoolExprType.AND_EXPR:
        return any(_is_of_one_space(one) for one in where.args)
    if (
        not isinstance(where, ast.A_Expr)
        or where.kind != pglast.enums.A_Expr_Kind.AEXPR_OP
        or where.name[-1].sval != "="
    ):
        return False
    sides = [one.arg if isinstance(one, ast.TypeCast) else one for one in (where.lexpr, where.rexpr)]
    named = any(isinstance(one, ast.ColumnRef) and one.fields[-1].sval == "space_id" for one in sides)
    return named and any(isinstance(one, ast.ParamRef | ast.A_Const) for one in sides)


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
        (
            "WITH s AS (DELETE FROM b RETURNING c) INSERT INTO a (c) SELECT c FROM s",
            "an upsert or INSERT … SELECT after a write inside WITH",
        ),
        ("WITH s AS MATERIALIZED (SELECT 1) SELECT * FROM s", None),
        ("UPDATE a SET b = now() WHERE space_id = $1", "a volatile function inside UPDATE"),
        ("UPDATE a SET b = lower(b) WHERE space_id = $1", None),
        ("SELECT space_id FROM spaces WHERE space_id IN ($1, $2) FOR SHARE", "row locks in several spaces"),
        ("SELECT 1 FROM spaces WHERE space_id = $1 OR b = 2 FOR SHARE", "row locks in several spaces"),
        ("SELECT 1 FROM a JOIN b ON a.space_id = b.space_id WHERE a.c = 1 FOR UPDATE", "row locks in several spaces"),
        ("SELECT 1 FROM spaces WHERE space_id = %(space)s AND b = %s FOR SHARE", None),
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
