"""Copies made while people write; and the copy in the place of the original, without what was
erased since."""

import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Thread

import pytest
from sqlalchemy import create_engine, make_url, text

import tacit
from tacit import Message
from tacit.bootstrap import restore_backup, verify_backup
from tacit.lifecycle import erasure_records
from tacit.memory import Memory
from tacit.settings import MemorySettings, SessionsSettings, Settings
from tacit.settings.sections import LearnSettings
from tests.contract.conftest import Open
from tests.contract.rooms import ALICE, BOB, SetClock, kept, private, said
from tests.contract.test_erasures import canary, lines, prepared
from tests.contract.traces import cleaned, dead_rows, rows_with, traces

KEEPING = Settings(learn=LearnSettings(workers=0), memory=MemorySettings(sessions=SessionsSettings(keep=True)))


@pytest.fixture
def url(tmp_path: Path) -> str:
    (tmp_path / "live").mkdir()
    return f"sqlite:///{tmp_path / 'live' / 'tacit.db'}"


def test_a_backup_is_made_while_others_write_and_is_whole(tmp_path: Path, url: str, opened: Open) -> None:
    memory, other = opened(url), opened(url)
    private(memory, ALICE).remember("one")
    stop: list[bool] = []

    def write() -> None:
        view = private(other, BOB)
        while not stop:
            view.remember("more")

    writer = Thread(target=write)
    writer.start()
    try:
        done = [memory.admin.backup(tmp_path / f"copy{number}.db") for number in range(3)]
    finally:
        stop.append(True)
        writer.join()
    for one in done:
        assert one.counts["memories"] >= 1
        assert one.schema == verify_backup(one.path).schema
        assert one.counts == verify_backup(one.path).counts
        assert one.healthy
        assert stat.S_IMODE(Path(one.path).stat().st_mode) == 0o600
    assert {path.name for path in tmp_path.iterdir()} == {
        "live", "copy0.db", "copy1.db", "copy2.db",
    }  # fmt: skip


def test_a_backup_overwrites_nothing_unless_told(tmp_path: Path, url: str, opened: Open) -> None:
    memory = opened(url)
    private(memory, ALICE).remember("one")
    private(memory, ALICE).erase(kept(private(memory, ALICE), "gone"))
    copy = tmp_path / "copy.db"
    copy.write_text("precious")
    with pytest.raises(tacit.InvalidInput, match="exists"):
        memory.admin.backup(copy)
    assert copy.read_text() == "precious"
    assert memory.admin.backup(copy, overwrite=True).counts["memories"] == 1
    assert not erasure_records.journal_path(copy).exists()
    for bad in ("", "a\0b", tmp_path, tmp_path / "no" / "folder", 5, None):
        with pytest.raises(tacit.InvalidInput):
            memory.admin.backup(bad)  # type: ignore[arg-type]
    for own in ("tacit.db", "tacit.db-wal"):
        with pytest.raises(tacit.InvalidInput, match="database itself"):
            memory.admin.backup(tmp_path / "live" / own, overwrite=True)


def test_a_database_in_memory_can_be_kept(tmp_path: Path, opened: Open) -> None:
    memory = opened("sqlite://")
    private(memory, ALICE).remember("one")
    private(memory, ALICE).checkpoints.save("half-way")
    counts = memory.admin.backup(tmp_path / "copy.db").counts
    assert (counts["memories"], counts["checkpoints"]) == (1, 1)
    assert said(private(opened(str(tmp_path / "copy.db")), ALICE).list()) == ["one"]


def test_postgresql_points_to_its_own_tools(migrated_postgres_url: str, opened: Open, tmp_path: Path) -> None:
    memory = opened(migrated_postgres_url)
    with pytest.raises(tacit.InvalidInput, match="pg_dump"):
        memory.admin.backup(tmp_path / "copy.db")


def test_a_damaged_or_foreign_file_is_no_backup(tmp_path: Path, url: str, opened: Open) -> None:
    memory = opened(url)
    for number in range(200):
        private(memory, ALICE).remember(f"fact {number} about the parrot that lives upstairs")
    copy = tmp_path / "copy.db"
    memory.admin.backup(copy)
    memory.close()
    data = bytearray(copy.read_bytes())
    data[len(data) // 2 : len(data) // 2 + 4096] = os.urandom(4096)
    copy.write_bytes(data)
    (tmp_path / "text").write_text("hello")
    with sqlite3.connect(tmp_path / "other.db") as other:
        other.execute("CREATE TABLE x (y)")
    for name in ("copy.db", "text", "other.db"):
        with pytest.raises(tacit.StoreError):
            restore_backup(tmp_path / name, url)
    with pytest.raises(tacit.InvalidInput):
        restore_backup(tmp_path / "absent", url)
    assert said(private(opened(url), ALICE).list(limit=1))


def test_a_restore_keeps_what_was_there_aside(tmp_path: Path, url: str, opened: Open) -> None:
    memory = opened(url)
    private(memory, ALICE).remember("before")
    memory.admin.backup(tmp_path / "copy.db")
    private(memory, ALICE).remember("after")
    memory.close()
    done = restore_backup(tmp_path / "copy.db", url)
    assert done.erasures == 0
    assert done.counts["memories"] == 1
    assert done.aside is not None
    assert said(private(opened(url), ALICE).list()) == ["before"]
    assert said(private(opened(done.aside), ALICE).list()) == ["after", "before"]
    assert stat.S_IMODE(Path(done.path).stat().st_mode) == 0o600


def test_a_database_that_somebody_has_open_is_not_replaced(tmp_path: Path, url: str, opened: Open) -> None:
    memory = opened(url)
    private(memory, ALICE).remember("one")
    memory.admin.backup(tmp_path / "copy.db")
    code = (
        "import sys, tacit; m = tacit.open(sys.argv[1], embedder=None); m.admin.stats(); "
        "print('open', flush=True); sys.stdin.read()"
    )
    memory.close()
    with subprocess.Popen(
        [sys.executable, "-c", code, url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "open\n"
        with pytest.raises(tacit.StoreBusy, match="another process"):
            restore_backup(tmp_path / "copy.db", url)
        holder.communicate("")
    restore_backup(tmp_path / "copy.db", url)
    assert {path.name for path in (tmp_path / "live").iterdir() if ".part" in path.name} == set()


def test_a_backup_takes_the_place_of_a_broken_or_missing_database(tmp_path: Path, url: str, opened: Open) -> None:
    memory = opened(url)
    private(memory, ALICE).remember("one")
    memory.admin.backup(tmp_path / "copy.db")
    memory.close()
    file = Path(make_url(url).database or "")
    file.write_bytes(b"not a database at all" * 500)
    assert restore_backup(tmp_path / "copy.db", url).aside is not None
    file.unlink()
    assert restore_backup(tmp_path / "copy.db", url).aside is None
    assert said(private(opened(url), ALICE).list()) == ["one"]


HOW: dict[str, Callable[[Memory, str], tacit.Erased]] = {
    "erase": lambda memory, id: private(memory, ALICE).erase(id),
    "person and about": lambda memory, _: (memory.admin.erase_about(ALICE.key), memory.admin.erase_person(ALICE.key))[
        1
    ],
}


def copied(url: str, memory: Memory, folder: Path) -> str:
    """A copy of the database as it is now: by ours, or by what a server has of its own."""
    if url.startswith("sqlite"):
        memory.admin.backup(folder / "copy.db")
        return str(folder / "copy.db")
    here, name = make_url(url).database, f"{make_url(url).database}_copy"
    others = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{here}'"
    _on_server(url, others)  # a template has nobody connected to it
    _on_server(url, f'CREATE DATABASE "{name}" TEMPLATE "{here}"')
    return name


def put_back(url: str, copy: str) -> None:
    if url.startswith("sqlite"):
        restore_backup(copy, url)
        Path(copy).unlink()
        for aside in Path(make_url(url).database or "").parent.glob("*.before-restore*"):
            aside.unlink()
        return
    name = make_url(url).database
    _on_server(url, f'DROP DATABASE "{name}" WITH (FORCE)')
    _on_server(url, f'ALTER DATABASE "{copy}" RENAME TO "{name}"')


def _on_server(url: str, statement: str) -> None:
    other = make_url(url).set(drivername="postgresql+psycopg", database="postgres")
    engine = create_engine(other, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(statement))
    engine.dispose()


@pytest.mark.parametrize("how", HOW)
def test_after_backup_erase_and_restore_nothing_of_it_is_left(
    shared_url: str, opened: Open, clock: SetClock, tmp_path: Path, how: str,
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    memory = opened(shared_url, settings=KEEPING)
    word = canary()
    id = prepared(memory, word)
    view = private(memory, ALICE)
    view.record([Message("user", f"{word} word for word")])
    view.learn([Message("user", f"I like {word}")])
    private(memory, BOB).remember("Bob's own")
    memory.close()
    memory = opened(shared_url, settings=KEEPING)
    memory.admin.stats()
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    outside.mkdir()
    if not shared_url.startswith("sqlite"):
        memory.close()
    copy = copied(shared_url, memory, outside)
    memory = opened(shared_url, settings=KEEPING)
    assert cleaned(HOW[how](memory, id))
    if how == "erase":  # what else there is of the word
        for one in ("telegram:1001", "telegram:2002"):
            memory.admin.erase_about(one)
            memory.admin.erase_person(one)
    assert traces(shared_url, word) == []
    told = lines(memory)
    memory.close()
    close_all(opened)
    put_back(shared_url, copy)
    memory = opened(shared_url, settings=KEEPING)
    if not shared_url.startswith("sqlite"):
        assert traces(shared_url, word)
        memory.admin.replay_erasures(told)
        assert dead_rows(shared_url) == 0
    assert traces(shared_url, word) == []
    assert rows_with(shared_url, id) == []
    assert word not in caplog.text
    exports = [*private(memory, ALICE).export(everything=True, turns=True)]
    exports += private(memory, BOB).export(format="markdown", turns=True)
    assert word not in "\n".join(exports)
    memory.jobs.wait_for_learning()
    assert traces(shared_url, word) == []
    if how == "person and about":
        assert said(private(memory, BOB).list()) == ["Bob's own"] * 2


def close_all(opened: Open) -> None:
    """Every memory that a test has opened: a server lets nobody copy a database in use."""
    memories: list[Memory]
    (memories,) = [
        cell.cell_contents for cell in getattr(opened, "__closure__", ()) if isinstance(cell.cell_contents, list)
    ]
    for one in memories:
        one.close()


def test_verifying_a_restored_server_tells_how_much_is_there_and_replays(
    migrated_postgres_url: str, opened: Open, tmp_path: Path
) -> None:
    memory = opened(migrated_postgres_url)
    view = private(memory, ALICE)
    id = kept(view, "gone")
    view.remember("stays")
    memory.close()
    copy = copied(migrated_postgres_url, memory, tmp_path)
    memory = opened(migrated_postgres_url)
    private(memory, ALICE).erase(id)
    told = tmp_path / "erasures.jsonl"
    told.write_text("".join(line + "\n" for line in lines(memory)))
    memory.close()
    put_back(migrated_postgres_url, copy)
    before = verify_backup(migrated_postgres_url)
    assert (before.healthy, before.counts["memories"]) == (True, 2)
    after = verify_backup(migrated_postgres_url, journal=told)
    assert (after.counts["memories"], after.erased_again) == (1, 1)
    assert "password" not in after.path
    assert said(private(opened(migrated_postgres_url), ALICE).list()) == ["stays"]
