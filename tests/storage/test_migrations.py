"""Migrations: they add up to the schema, many may start at once, and none is ever done by half."""

import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, Inspector, create_engine, inspect, text
from sqlalchemy.dialects.postgresql.base import ischema_names
from sqlalchemy.types import NullType

import tacit
from tacit.settings import DbSettings, Settings
from tacit.storage import backend as storage_backend
from tacit.storage.schema import metadata

# The type of an extension, which SQLAlchemy has no name for.
ischema_names["vector"] = NullType

ALICE = tacit.Requester("telegram:1001", name="Alice")
CHAT = tacit.Chat.private("telegram:1001")

# What a database keeps its words in; everything else is in the table definitions.
SEARCH_TABLES = {
    "sqlite": {"fts_rows", "fts_index"} | {f"fts_index_{part}" for part in ("data", "idx", "content", "config")},
    "postgresql": set(),
}
SEARCH_COLUMNS = {
    "sqlite": {("vectors", "vector")},
    "postgresql": {("memories", "fts_document"), ("vectors", "vector")},
}
SEARCH_INDEXES = {"sqlite": set(), "postgresql": {("memories", "ix_memories_fts_document")}}


@pytest.fixture(params=["sqlite-file", "postgres"])
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database without any table that can be opened more than once."""
    if request.param == "sqlite-file":
        return f"sqlite:///{tmp_path / 'tacit.db'}"
    url: str = request.getfixturevalue("fresh_postgres_url")
    return url


@contextmanager
def engine_of(url: str) -> Iterator[Engine]:
    engine = create_engine(url)
    try:
        yield engine
    finally:
        engine.dispose()


def version_of(url: str) -> str | None:
    with engine_of(url) as engine, engine.connect() as connection:
        return storage_backend.schema_version(connection)


# The sum of the migrations


def described(inspector: Inspector) -> dict[str, Any]:
    """Every table, column, key and index, each under its name, as plain values."""
    found: dict[str, Any] = {}
    for table in inspector.get_table_names():
        found[table] = "table"
        for column in inspector.get_columns(table):
            found[f"{table}.{column['name']}"] = (
                str(column["type"]),
                column["nullable"],
                column["default"],
                column.get("computed"),
            )
        key = inspector.get_pk_constraint(table)
        found[f"{table} primary key"] = key["constrained_columns"]
        for reference in inspector.get_foreign_keys(table):
            here = tuple(reference["constrained_columns"])
            there = (reference["referred_table"], tuple(reference["referred_columns"]))
            found[f"{table} {here}"] = (there, reference["options"])
        for unique in inspector.get_unique_constraints(table):
            found[f"{table} unique {unique['column_names']}"] = True
        for check in inspector.get_check_constraints(table):
            found[f"{table} check {check['sqltext']}"] = True
        for index in inspector.get_indexes(table):
            options = index.get("dialect_options", {})
            predicate = [str(v) for k, v in options.items() if k.endswith("_where")]
            kind = options.get("postgresql_using", "btree")
            columns = index.get("expressions", index["column_names"])
            found[f"{table} {index['name']}"] = (columns, index["unique"], predicate, kind)
    return found


def of_search(name: str, dialect: str) -> bool:
    table = re.split(r"\W", name)[0]
    return (
        table in SEARCH_TABLES[dialect]
        or tuple(name.split(".")) in SEARCH_COLUMNS[dialect]
        or tuple(name.split(" ")) in SEARCH_INDEXES[dialect]
    )


def test_the_sum_of_the_migrations_is_the_schema(empty_url: str, tmp_path: Path) -> None:
    tacit.open(empty_url).close()
    with engine_of(empty_url) as engine:
        dialect = engine.dialect.name
        migrated = described(inspect(engine))
        if dialect == "postgresql":
            with engine.begin() as connection:  # the other one in the same place, under its name
                connection.execute(text("ALTER SCHEMA public RENAME TO migrated"))
                connection.execute(text("CREATE SCHEMA public"))
        else:
            engine.dispose()
            engine = create_engine(f"sqlite:///{tmp_path / 'declared.db'}")
        metadata.create_all(engine)
        declared = described(inspect(engine))
        engine.dispose()
    search = {name for name in migrated if of_search(name, dialect)}
    assert {n for n in migrated if n in SEARCH_TABLES[dialect]} == SEARCH_TABLES[dialect]
    assert search
    built = {k: v for k, v in migrated.items() if k not in search and "alembic_version" not in k}
    assert built == declared
    assert len(declared) > 100  # columns, keys and indexes were compared, not only tables


def test_the_newest_migration_is_the_version_that_the_code_expects() -> None:
    config = Config()
    config.set_main_option("script_location", str(storage_backend._MIGRATIONS))
    config.set_main_option("path_separator", "os")
    assert ScriptDirectory.from_config(config).get_heads() == [storage_backend.SCHEMA_HEAD]


# Which databases are opened, and which are refused


def test_a_database_of_a_newer_schema_is_refused_and_left_alone(empty_url: str) -> None:
    tacit.open(empty_url).close()
    with engine_of(empty_url) as engine, engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(tacit.SchemaMismatch, match=r"9999.*upgrade Tacit"):
        tacit.open(empty_url)
    with pytest.raises(tacit.SchemaMismatch, match="9999"):
        tacit.open(empty_url, settings=Settings(db=DbSettings(automigrate=False)))
    assert version_of(empty_url) == "9999"


@pytest.mark.parametrize("former", ["0001", "0014"])
def test_a_database_of_a_former_schema_is_refused_and_left_alone(empty_url: str, former: str) -> None:
    with engine_of(empty_url) as engine, engine.begin() as connection:
        connection.execute(text("CREATE TABLE memories (space_id text, content text)"))
        connection.execute(text("INSERT INTO memories VALUES ('default', 'I like tea')"))
        connection.execute(text("CREATE TABLE alembic_version (version_num varchar(32))"))
        connection.execute(text(f"INSERT INTO alembic_version VALUES ('{former}')"))
    for automigrate in (True, False):
        settings = Settings(db=DbSettings(automigrate=automigrate))
        with pytest.raises(tacit.SchemaMismatch, match=rf"{former}.*tacit export.*tacit import"):
            tacit.open(empty_url, settings=settings)
    assert version_of(empty_url) == former
    with engine_of(empty_url) as engine, engine.connect() as connection:
        assert connection.execute(text("SELECT content FROM memories")).scalars().all() == ["I like tea"]
        assert set(inspect(engine).get_table_names()) == {"memories", "alembic_version"}


def test_without_automigrate_an_empty_database_is_refused_with_the_fix(empty_url: str) -> None:
    settings = Settings(db=DbSettings(automigrate=False))
    with pytest.raises(tacit.SchemaMismatch, match=r"db\.automigrate"):
        tacit.open(empty_url, settings=settings)
    with engine_of(empty_url) as engine:
        assert inspect(engine).get_table_names() == []


# Many at once

_STARTER = """
import sys, tacit
print("ready", flush=True)
sys.stdin.readline()
with tacit.open(sys.argv[1]) as memory:
    view = memory.view(tacit.Requester(sys.argv[2]), tacit.Chat.private(sys.argv[2]))
    print(view.remember("I am here").id, flush=True)
"""


def test_threads_that_open_an_empty_database_at_once_all_succeed(empty_url: str) -> None:
    count = 8
    together, failures = threading.Barrier(count), list[BaseException]()
    opened = list[str | None]()

    def start(number: int) -> None:
        chat = tacit.Chat.private(f"telegram:{number}")
        try:
            together.wait()
            with tacit.open(empty_url) as memory:
                opened.append(memory.view(tacit.Requester(chat.id), chat).remember("Here").id)
        except BaseException as error:  # noqa: BLE001 - told to the test below
            failures.append(error)

    threads = [threading.Thread(target=start, args=(n + 1,)) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len({id for id in opened if id}) == count
    assert version_of(empty_url) == storage_backend.SCHEMA_HEAD


def test_processes_that_open_an_empty_database_at_once_all_succeed(empty_url: str) -> None:
    processes = [_python(_STARTER, empty_url, f"telegram:{number + 1}") for number in range(3)]
    for process in processes:
        assert _line(process) == "ready"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    ended = [process.communicate(timeout=120) for process in processes]
    assert [error for _, error in ended if error] == []
    assert len({id for id, _ in ended if id.strip()}) == len(processes)
    assert version_of(empty_url) == storage_backend.SCHEMA_HEAD


def _python(program: str, *arguments: str) -> "subprocess.Popen[str]":
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments], stdin=pipe, stdout=pipe, stderr=pipe, text=True
    )


def _line(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


# An upgrade that is killed

_NEXT = '''
"""A migration that takes its time: the test kills it in the middle."""
import os, time
import sqlalchemy as sa
from alembic import op

revision = "test_next"
down_revision = "HEAD"


def upgrade() -> None:
    op.create_table("copies", sa.Column("id", sa.Text()), sa.Column("content", sa.Text()))
    op.execute("INSERT INTO copies SELECT id, content FROM memories")
    op.execute("UPDATE memories SET content = 'half of an upgrade'")
    print("half-way", flush=True)
    time.sleep(float(os.environ["TACIT_TEST_PAUSE_SECONDS"]))
    back = "SELECT c.content FROM copies c WHERE c.id = memories.id"
    op.execute(f"UPDATE memories SET content = ({back})")
'''

_UPGRADE = """
import os, sys
from pathlib import Path
from tacit.storage import backend
from tacit.storage.backend import DatabaseOptions, open_database, upgrade_schema

backend._MIGRATIONS = Path(sys.argv[2])
os.environ["TACIT_TEST_PAUSE_SECONDS"] = sys.argv[3]
database = open_database(sys.argv[1], DatabaseOptions())
database.write(lambda connection: upgrade_schema(database, connection, "test_next"))
database.close()
print("done", flush=True)
"""


@pytest.fixture
def next_migrations(tmp_path: Path) -> Path:
    folder = tmp_path / "migrations"
    shutil.copytree(storage_backend._MIGRATIONS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "versions" / "test_next.py").write_text(_NEXT.replace("HEAD", storage_backend.SCHEMA_HEAD))
    return folder


def contents(url: str) -> set[str]:
    with tacit.open(url) as memory:
        assert memory.admin.maintain().healthy
        return {one.content for one in memory.view(ALICE, CHAT).list(limit=500)}


def test_an_upgrade_that_was_killed_half_way_leaves_the_old_version_whole(
    empty_url: str, next_migrations: Path
) -> None:
    facts = {f"Fact number {n}" for n in range(100)}
    with tacit.open(empty_url) as memory:
        for fact in facts:
            memory.view(ALICE, CHAT).remember(fact)

    process = _python(_UPGRADE, empty_url, str(next_migrations), "600")
    assert _line(process) == "half-way", process.communicate()
    process.kill()
    process.communicate()
    assert version_of(empty_url) == storage_backend.SCHEMA_HEAD
    with engine_of(empty_url) as engine:
        assert not inspect(engine).has_table("copies")
    assert contents(empty_url) == facts

    again = _python(_UPGRADE, empty_url, str(next_migrations), "0")
    said, complained = again.communicate(timeout=120)
    assert (said.split(), complained) == (["half-way", "done"], "")
    assert version_of(empty_url) == "test_next"
    with engine_of(empty_url) as engine, engine.connect() as connection:
        assert set(connection.execute(text("SELECT content FROM memories")).scalars()) == facts
        assert set(connection.execute(text("SELECT content FROM copies")).scalars()) == facts
