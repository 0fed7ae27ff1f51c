"""Finds every trace of a text in a database: in its rows, and on SQLite in its very bytes."""

from collections.abc import Callable
from pathlib import Path

from sqlalchemy import create_engine, inspect, make_url, text

from tacit import Erased
from tacit.memory import Memory
from tests.contract.rooms import ALICE, private

# What erases everything of Alice's.
ERASE_ALL: dict[str, Callable[[Memory], Erased]] = {
    "wipe": lambda memory: private(memory, ALICE).wipe(),
    "person": lambda memory: memory.admin.erase_person(ALICE.key),
    "space": lambda memory: memory.admin.erase_space(),
}


def traces(url: str, needle: str) -> list[str]:
    """Where the text still is, in whatever case, and cut at its front as full text keeps it."""
    if url.startswith("sqlite"):
        folder = Path(make_url(url).database or "").parent
        assert any(folder.iterdir()), "there is no database to search"
        return _in_files(folder, needle) + rows_with(url, needle)
    return rows_with(url, needle) + _in_figures(url, needle)


def cleaned(done: Erased) -> bool:
    """Whether all is done that an erasure does by itself: the pages of a server's tables wait for
    its operator."""
    left = () if done.certificate is None else done.certificate.pending
    return {one.where for one in left} <= {"pages"} and done.complete is not bool(left)


def dead_rows(url: str) -> int:
    """How many removed rows PostgreSQL still holds in the tables that can tell something."""
    engine = create_engine(make_url(url).set(drivername="postgresql+psycopg"))
    with engine.begin() as connection:
        connection.execute(text("CREATE EXTENSION IF NOT EXISTS pgstattuple"))
        names = set(inspect(connection).get_table_names()) - {"tombstones", "erasures", "alembic_version"}
        count = sum(
            connection.execute(
                text("SELECT dead_tuple_count FROM pgstattuple(CAST(:name AS regclass))"), {"name": name}
            ).scalar_one()
            for name in names
        )
    engine.dispose()
    return int(count)


def _in_files(folder: Path, needle: str) -> list[str]:
    # Full text keeps words in lower case, and of neighbours in the alphabet only what differs.
    spellings = {needle.encode(), needle.lower().encode(), needle.lower().encode()[3:]}
    found = []
    for file in sorted(folder.rglob("*")):
        data = file.read_bytes() if file.is_file() else b""
        found += [f"{file.name}: {one!r}" for one in sorted(spellings) if one in data]
        if needle in file.name:
            found.append(file.name)
    return found


def rows_with(url: str, needle: str) -> list[str]:
    driver = "sqlite" if url.startswith("sqlite") else "postgresql+psycopg"
    engine = create_engine(make_url(url).set(drivername=driver))
    found = []
    with engine.connect() as connection:
        for name in inspect(connection).get_table_names():
            rows = connection.execute(text(f'SELECT * FROM "{name}"'))
            found += [name for row in rows if needle.lower() in repr(tuple(row)).lower()]
    engine.dispose()
    return found


def _in_figures(url: str, needle: str) -> list[str]:
    """What the planner remembers of the rows it once looked at."""
    engine = create_engine(make_url(url).set(drivername="postgresql+psycopg"))
    with engine.connect() as connection:
        rows = connection.execute(text("SELECT tablename, attname, pg_stats::text AS kept FROM pg_stats")).all()
    engine.dispose()
    return [f"pg_stats of {row.tablename}.{row.attname}" for row in rows
            if needle.lower() in row.kept.lower()]  # fmt: skip
