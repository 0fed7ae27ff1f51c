"""The schema can be split by space over many servers: what a sharded PostgreSQL would refuse.

The catalogue of a migrated database is read, not our own table definitions, so that a migration
that goes another way is found as well.
"""

from collections.abc import Iterator

import pytest
from sqlalchemy import Connection, create_engine, inspect, text
from sqlalchemy.dialects.postgresql.base import ischema_names
from sqlalchemy.exc import DBAPIError
from sqlalchemy.types import NullType

from tacit.storage.schema import metadata

# SQLAlchemy does not know pgvector's type, and warns where it only has to name it.
ischema_names["vector"] = NullType

# Alembic's own single row belongs to the database and not to a space: each server has one.
ALEMBIC = "alembic_version"


@pytest.fixture
def catalogue(migrated_postgres_url: str) -> Iterator[Connection]:
    engine = create_engine(migrated_postgres_url)
    with engine.connect() as connection:
        yield connection
    engine.dispose()


def test_the_catalogue_holds_every_table_of_ours(catalogue: Connection) -> None:
    assert set(inspect(catalogue).get_table_names()) == set(metadata.tables) | {ALEMBIC}


def test_every_primary_key_and_unique_index_begins_with_the_space(catalogue: Connection) -> None:
    rows = catalogue.execute(
        text(
            "SELECT t.relname, i.relname, a.attname FROM pg_index x "
            "JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class t ON t.oid = x.indrelid "
            "LEFT JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = x.indkey[0] "
            "WHERE t.relnamespace = 'public'::regnamespace AND x.indisunique AND t.relname <> :own"
        ),
        {"own": ALEMBIC},
    ).all()
    assert {table for table, _, _ in rows} == set(metadata.tables)  # each has a key at all
    assert [row for row in rows if row[2] != "space_id"] == []


def test_there_are_no_triggers_on_postgresql(catalogue: Connection) -> None:
    # Those that the server makes for foreign keys are its own, and shard with them.
    triggers = text(
        "SELECT t.tgname FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid "
        "WHERE NOT t.tgisinternal AND c.relnamespace = 'public'::regnamespace"
    )
    rules = text("SELECT rulename FROM pg_rules WHERE schemaname = 'public'")
    assert catalogue.execute(triggers).all() == []
    assert catalogue.execute(rules).all() == []


def test_every_foreign_key_leads_to_a_row_of_the_same_space(catalogue: Connection) -> None:
    found = inspect(catalogue)
    keys = [
        (table, key["constrained_columns"], key["referred_columns"])
        for table in metadata.tables
        for key in found.get_foreign_keys(table)
    ]
    assert keys  # or this test would prove nothing
    for table, here, there in keys:
        assert len(here) > 1, table
        assert (here[0], there[0]) == ("space_id", "space_id"), table


def test_no_column_is_filled_in_by_a_function_of_the_server(catalogue: Connection) -> None:
    """A sequence or a clock of the server's own would differ from shard to shard; a constant
    does not."""
    found = inspect(catalogue)
    defaults = [
        (table, column["name"])
        for table in metadata.tables
        for column in found.get_columns(table)
        if "(" in (column["default"] or "") and not column.get("computed")
    ]
    assert defaults == []


def test_every_table_can_be_partitioned_by_space(catalogue: Connection) -> None:
    """Plain PostgreSQL refuses on a partitioned table the keys that a sharded one refuses."""
    made = divide_by_space(catalogue, "scratch", 2)
    assert len(made) > len(metadata.tables)
    catalogue.execute(text("INSERT INTO scratch.subjects (space_id, id, created_at) VALUES ('a', 'ext:x:1', 0)"))
    assert catalogue.execute(text("SELECT count(*) FROM scratch.subjects")).scalar() == 1
    catalogue.rollback()


def divide_by_space(catalogue: Connection, schema: str, parts: int) -> list[str]:
    """Every table of ours once more, in so many parts by space, with all its keys and indexes."""
    catalogue.execute(text(f"CREATE SCHEMA {schema}"))
    for table in metadata.tables:
        catalogue.execute(
            text(
                f"CREATE TABLE {schema}.{table} (LIKE public.{table} INCLUDING GENERATED "
                "INCLUDING DEFAULTS INCLUDING IDENTITY) PARTITION BY HASH (space_id)"
            )
        )
        for part in range(parts):
            catalogue.execute(
                text(
                    f"CREATE TABLE {schema}.{table}_{part} PARTITION OF {schema}.{table} "
                    f"FOR VALUES WITH (MODULUS {parts}, REMAINDER {part})"
                )
            )
    return [_repeat(catalogue, one) for one in _keys_and_indexes(catalogue, schema)]


def _keys_and_indexes(catalogue: Connection, schema: str) -> list[str]:
    """What the real tables have, as statements for the others: keys, indexes, references."""
    constraints = catalogue.execute(
        text(
            "SELECT c.contype::text, t.relname, c.conname, pg_get_constraintdef(c.oid) "
            "FROM pg_constraint c JOIN pg_class t ON t.oid = c.conrelid "
            "WHERE t.relnamespace = 'public'::regnamespace AND c.contype IN ('p', 'u', 'f') "
            "AND t.relname <> :own ORDER BY c.contype = 'f', t.relname"
        ),
        {"own": ALEMBIC},
    ).all()
    indexes = catalogue.execute(
        text(
            "SELECT pg_get_indexdef(x.indexrelid) FROM pg_index x "
            "JOIN pg_class t ON t.oid = x.indrelid "
            "WHERE t.relnamespace = 'public'::regnamespace AND t.relname <> :own AND NOT EXISTS "
            "(SELECT 1 FROM pg_constraint c WHERE c.conindid = x.indexrelid)"
        ),
        {"own": ALEMBIC},
    ).scalars()
    added = [
        f"ALTER TABLE {schema}.{table} ADD CONSTRAINT {name} "
        + definition.replace("REFERENCES ", f"REFERENCES {schema}.")
        for _, table, name, definition in constraints
    ]
    return added + [index.replace(" ON public.", f" ON {schema}.") for index in indexes]


def _repeat(catalogue: Connection, statement: str) -> str:
    catalogue.exec_driver_sql(statement)
    return statement


def test_a_key_without_the_space_is_what_partitioning_refuses(catalogue: Connection) -> None:
    """The check above can fail: this is how."""
    catalogue.execute(text("CREATE TABLE loose (space_id text, id text) PARTITION BY HASH (space_id)"))
    with pytest.raises(DBAPIError, match="partitioning column"):
        catalogue.execute(text("ALTER TABLE loose ADD PRIMARY KEY (id)"))
