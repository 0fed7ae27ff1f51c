"""Many at once: nothing is lost, nothing is done twice, and nobody is told of a lock."""

import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest
from sqlalchemy import Engine, create_engine, text

import tacit
from tacit.memory import Memory
from tacit.storage import engine
from tests.contract.conftest import Open
from tests.contract.rooms import ALICE, BOB, group, kept, private, said


def together(count: int, act: Callable[[int], object]) -> list[BaseException | object]:
    """What each of `count` threads got, all started at one moment."""
    ready = threading.Barrier(count)

    def run(number: int) -> BaseException | object:
        ready.wait()
        try:
            return act(number)
        except Exception as error:  # noqa: BLE001 (what it is, is what the test asks)
            return error

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, range(count)))


def test_64_threads_updating_one_memory_make_64_versions_without_gaps(memory: Memory) -> None:
    view = private(memory, ALICE)
    id = kept(view, "version 1")
    done = together(64, lambda number: view.update(id, f"by thread {number}"))
    assert [one for one in done if isinstance(one, BaseException)] == []
    versions = sorted(one.version for one in done)  # type: ignore[union-attr]
    assert versions == list(range(2, 66))
    entries = view.history(id)
    assert [entry.version for entry in entries] == list(range(1, 66))
    assert {entry.content for entry in entries[1:]} == {f"by thread {n}" for n in range(64)}
    assert (view.show(id).version, view.show(id).content) == (65, entries[-1].content)
    assert memory.admin.maintain().healthy


def test_of_many_who_read_the_same_version_one_wins(memory: Memory) -> None:
    view = private(memory, ALICE)
    id = kept(view, "version 1")
    for version in (1, 2, 3):

        def act(number: int, version: int = version) -> object:
            return view.update(id, f"{version}.{number}", if_version=version)

        done = together(16, act)
        losers = [one for one in done if isinstance(one, BaseException)]
        assert {type(one) for one in losers} == {tacit.Conflict}
        assert len(losers) == 15
        assert view.show(id).version == version + 1


def test_16_threads_putting_one_key_leave_one_memory(memory: Memory) -> None:
    view = private(memory, ALICE)
    done = together(16, lambda number: view.put("profile", "city", f"city {number}"))
    assert [one for one in done if isinstance(one, BaseException)] == []
    assert len({one.id for one in done}) == 1  # type: ignore[union-attr]
    assert sorted(one.version for one in done) == list(range(1, 17))  # type: ignore[union-attr]
    assert len(view.list("profile")) == 1
    assert view.stats().memories == 1


def test_a_group_that_writes_for_the_first_time_all_at_once_is_one_group(memory: Memory) -> None:
    people = [tacit.Requester(f"telegram:{number}", name=f"P{number}") for number in range(1, 13)]
    done = together(
        12,
        lambda number: group(memory, people[number], here=people).put(
            "project", "standup", f"at {number}", for_room=True, sensitivity="public"
        ),
    )
    assert [one for one in done if isinstance(one, BaseException)] == []
    assert len(group(memory, people[0], here=people).list()) == 1
    assert len(group(memory, people[0], here=people).people.list()) == 12
    assert memory.admin.maintain().healthy


def test_writers_and_linkers_do_not_lose_each_others_work(memory: Memory) -> None:
    phone, web = private(memory, ALICE), private(memory, tacit.Requester("acct:alice"))
    phone.remember("first")

    def act(number: int) -> object:
        if number == 0:
            for _ in range(8):
                memory.admin.link(ALICE.key, "acct:alice")
                memory.admin.unlink(ALICE.key)
            return None
        return [phone.put("profile", f"k{turn}", f"{number}.{turn}").id for turn in range(6)]

    done = together(6, act)
    assert [one for one in done if isinstance(one, BaseException)] == []
    # Each write went to the phone or to the account, by how they were linked at that moment.
    memory.admin.link(ALICE.key, "acct:alice")
    assert len(phone.list("profile")) == 6
    assert said(phone.list("profile")) == said(web.list("profile"))
    assert memory.admin.maintain().healthy
    states = memory.admin.stats().by_state
    assert set(states) == {"active"}


def test_readers_never_see_half_of_a_write(memory: Memory) -> None:
    view = private(memory, ALICE)
    id = kept(view, "0")
    stop = threading.Event()

    def act(number: int) -> object:
        if number == 0:
            for turn in range(1, 40):
                view.update(id, str(turn))
            stop.set()
            return None
        seen = 0
        while not stop.is_set():
            shown = view.show(id)
            assert shown.version == int(shown.content) + 1
            assert shown.version >= seen
            seen = shown.version
            entries = view.history(id)
            assert [e.content for e in entries] == [str(n) for n in range(len(entries))]
        return None

    assert [one for one in together(4, act) if one is not None] == []


def test_erasing_while_others_write_loses_nothing_of_theirs(memory: Memory) -> None:
    alice, bob = private(memory, ALICE), private(memory, BOB)
    ids = [kept(alice, f"to go {number}") for number in range(4)]

    def act(number: int) -> object:
        if number < 4:
            return alice.erase(ids[number])
        return [bob.remember(f"{number}.{turn}") for turn in range(8)]

    done = together(8, act)
    assert [one for one in done if isinstance(one, BaseException)] == []
    assert len(bob.list()) == 32
    assert said(alice.list()) == []
    assert memory.admin.maintain().healthy


WRITER = """
import sys
import tacit

memory = tacit.open(sys.argv[1])
me = tacit.Requester("telegram:" + sys.argv[2])
view = memory.view(me, tacit.Chat.private("telegram:" + sys.argv[2]))
for number in range(int(sys.argv[3])):
    assert view.remember(f"fact {number}")
memory.close()
"""


def test_two_processes_write_500_memories_each_on_one_file(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'tacit.db'}"
    tacit.open(url).close()
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, url, person, "500"], stderr=subprocess.PIPE)
        for person in ("1", "2")
    ]
    told = [writer.communicate()[1].decode() for writer in writers]
    assert [(writer.returncode, words) for writer, words in zip(writers, told, strict=True)] == [(0, ""), (0, "")]
    with sqlite3.connect(tmp_path / "tacit.db") as connection:
        count = connection.execute("SELECT count(*), count(DISTINCT owner || content) FROM memories").fetchone()
        rows = connection.execute(
            "SELECT (SELECT count(*) FROM memory_versions), (SELECT count(*) FROM history),"
            " (SELECT count(*) FROM change_log), (SELECT count(*) FROM fts_rows)"
        ).fetchone()
    assert count == (1_000, 1_000)
    assert rows == (1_000,) * 4


@pytest.mark.parametrize("state", ["forgotten", "superseded"])
def test_a_value_retired_while_a_writer_waits_for_it_is_not_written_to(
    migrated_postgres_url: str, opened: Open, state: str
) -> None:
    """On PostgreSQL a writer waits for the row; on SQLite there is one writer, and no such wait."""
    view = private(opened(migrated_postgres_url), ALICE)
    view.put("profile", "city", "Porto")
    engine = create_engine(migrated_postgres_url)
    with engine.connect() as other, ThreadPoolExecutor(1) as pool:
        other.execute(text("UPDATE memories SET state = :state"), {"state": state})
        waiting = pool.submit(lambda: view.put("profile", "city", "Lisbon"))
        while not _somebody_waits(engine):
            assert not waiting.done()
            time.sleep(0.02)
        other.commit()
        assert waiting.result().created
    engine.dispose()
    assert getattr(view.get("profile", "city"), "content", None) == "Lisbon"


def _somebody_waits(engine: Engine) -> bool:
    waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    with engine.connect() as connection:
        return bool(connection.execute(text(waits)).scalar())


def test_who_waits_for_ever_is_told_that_the_database_is_busy(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """However often they tried: here a minute passes without anybody waiting."""
    passed = [0.0]

    def wait(seconds: float) -> None:
        passed[0] += seconds

    def busy(_: object) -> None:
        raise tacit.StoreBusy("held")

    monkeypatch.setattr(engine, "time", SimpleNamespace(monotonic=lambda: passed[0], sleep=wait))
    with pytest.raises(tacit.StoreBusy, match="for 60 s; try again"):
        memory._storage.database.write(busy)
