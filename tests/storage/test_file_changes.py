"""A database that nobody wrote to need not be asked; one that somebody wrote to always is."""

import os
from pathlib import Path

import pytest
import sqlalchemy

from tacit.storage.backend import FileChanges

LONG_AGO_NS = 1_000_000_000


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "some.db"
    for one in (path, Path(f"{path}-wal")):
        one.write_bytes(b"x")
        os.utime(one, ns=(LONG_AGO_NS, LONG_AGO_NS))
    return path


def traces(path: Path) -> FileChanges:
    return FileChanges(sqlalchemy.create_engine(f"sqlite:///{path}"))


def test_what_was_looked_at_need_not_be_looked_at_again(file: Path) -> None:
    found = traces(file)
    assert not found.is_unchanged()  # nobody has looked yet
    found.mark_seen()
    assert found.is_unchanged()
    assert found.is_unchanged()


@pytest.mark.parametrize("which", ["some.db", "some.db-wal"])
def test_a_write_is_a_trace_whichever_file_it_went_to(file: Path, which: str) -> None:
    found = traces(file)
    found.is_unchanged()
    found.mark_seen()
    file.with_name(which).write_bytes(b"x")
    assert not found.is_unchanged()


def test_of_a_file_written_just_now_nobody_can_say_that_it_stays_so(file: Path) -> None:
    """The next write may have the same time and the same size."""
    Path(f"{file}-wal").write_bytes(b"x")
    found = traces(file)
    found.is_unchanged()
    found.mark_seen()
    assert not found.is_unchanged()


@pytest.mark.parametrize("url", ["sqlite://", "postgresql+psycopg://somebody@nowhere/some"])
def test_a_database_that_is_no_file_is_always_asked(url: str) -> None:
    found = FileChanges(sqlalchemy.create_engine(url))
    found.is_unchanged()
    found.mark_seen()
    assert not found.is_unchanged()
