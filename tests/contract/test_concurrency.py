"""Many at once: nothing is lost, nothing is done twice, and nobody is told of a lock."""

import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import psycopg
import pytest
from sqlalchemy import Engine, create_engine, make_url, text
from starlette.testclient import TestClient

import tacit
from tacit.cli import main
from tacit.memory import Memory
from tacit.server.app import create_app
from tacit.settings import LearnSettings, Settings
from tacit.settings.sections import DbSettings, PoolSettings
from tacit.storage import engine, postgres
from tests.contract.conftest import Open
from tests.contract.processes import another
from tests.contract.rooms import ALICE, BOB, SetClock, group, kept, private, said
from tests.contract.threads import errors, together


def test_64_threads_updating_one_memory_make_64_versions_without_gaps(memory: Memory) -> None:
    view = private(memory, ALICE)
    id = kept(view, "version 1")
    done = together(64, lambda number: view.update(id, f"by thread {number}"))
    assert errors(done) == []
    versions = sorted(one.version for one in done)  # type: ignore[attr-defined]
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
        losers = errors(done)
        assert {type(one) for one in losers} == {tacit.Conflict}
        assert len(losers) == 15
        assert view.show(id).version == version + 1


def test_16_threads_putting_one_key_leave_one_memory(memory: Memory) -> None:
    view = private(memory, ALICE)
    done = together(16, lambda number: view.put("profile", "city", f"city {number}"))
    assert errors(done) == []
    assert len({one.id for one in done}) == 1  # type: ignore[attr-defined]
    assert sorted(one.version for one in done) == list(range(1, 17))  # type: ignore[attr-defined]
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
    assert errors(done) == []
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
    assert errors(done) == []
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
    assert errors(done) == []
    assert len(bob.list()) == 32
    assert said(alice.list()) == []
    assert memory.admin.maintain().healthy


WRITES = """
memory = tacit.open(url, clock=clock, embedder=None)
print("ready", flush=True)
view = private(memory, tacit.Requester("telegram:{number}"))
for number in range(200):
    assert view.remember(f"fact {{number}}")
memory.close()
"""


def test_two_processes_write_200_memories_each_on_one_file(migrated_sqlite_url: str, clock: SetClock) -> None:
    one, other = (another(migrated_sqlite_url, clock, WRITES.format(number=number)) for number in (1, 2))
    with one as first, other as second:
        assert [process.printed.readline() for process in (first, second)] == ["ready\n"] * 2
    with closing(sqlite3.connect(make_url(migrated_sqlite_url).database or "")) as connection:
        count = connection.execute("SELECT count(*), count(DISTINCT owner || content) FROM memories").fetchone()
        rows = connection.execute(
            "SELECT (SELECT count(*) FROM memory_versions), (SELECT count(*) FROM history),"
            " (SELECT count(*) FROM change_log), (SELECT count(*) FROM fts_rows)"
        ).fetchone()
    assert count == (400, 400)
    assert rows == (400,) * 4


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


ONE = Settings(db=DbSettings(pool=PoolSettings(max_open_conns=1)), learn=LearnSettings(workers=1))


THREADS_COUNT = 8


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever waits for a connection that nobody will give back need not wait for long."""
    monkeypatch.setattr(tacit.limits, "POOL_WAIT_MAX_SECONDS", 5.0)


def test_everything_a_person_does(database_url: str, opened: Open, impatient: None) -> None:
    memory = opened(database_url, settings=ONE)
    view = private(memory, ALICE)
    tea = view.remember("Sarah likes tea").id
    assert [one.memory.id for one in view.recall("tea")] == [tea]
    view.learn([tacit.Message("user", "Remember that box 1 holds item 11")])
    memory.jobs.wait_for_learning()
    assert sorted(one.content for one in view.list().items) == ["Box 1 holds item 11", "Sarah likes tea"]
    assert view.erase(tea).count == 1
    assert [one.content for one in view.list().items] == ["Box 1 holds item 11"]
    assert len(list(view.export())) == 1
    assert memory.jobs.run_due() >= 0
    assert memory.admin.maintain().healthy


def test_many_threads_take_turns(database_url: str, opened: Open, impatient: None) -> None:
    memory = opened(database_url, settings=ONE)

    def act(number: int) -> int:
        who = private(memory, (ALICE, BOB)[number % 2], thread=f"thread {number}")
        for turn in range(5):
            who.remember(f"box {number} holds item {turn}")
            who.recall(f"box {number}")
            who.learn([tacit.Message("user", f"Remember that jar {number} holds item {turn}")])
        return len(who.list().items)

    told = together(THREADS_COUNT, act)
    assert errors(told) == []
    assert all(told)
    memory.jobs.wait_for_learning()
    kept = [private(memory, who).list(limit=100).items for who in (ALICE, BOB)]
    assert sum(map(len, kept)) == THREADS_COUNT * 10


def test_a_server(database_url: str, opened: Open, impatient: None) -> None:
    memory = opened(database_url, settings=ONE)
    key = memory.keys.create("one", scopes=["read", "write"], requester=ALICE.key)
    headers = {"Authorization": f"Bearer {key.token}"}
    with TestClient(create_app(memory, ONE, local=False), base_url="http://localhost") as client:

        def remember(number: int) -> int:
            body = {"content": f"box {number} holds tea"}
            return client.post("/api/remember", json=body, headers=headers).status_code

        with ThreadPoolExecutor(THREADS_COUNT) as pool:
            assert {*pool.map(remember, range(THREADS_COUNT))} == {200}
        found = client.post("/api/recall", json={"query": "tea", "top_k": 100}, headers=headers)
        assert len(found.json()) == THREADS_COUNT, found.json()
        exported = client.get("/api/export", headers=headers).text
        assert len(exported.splitlines()) == THREADS_COUNT


def test_the_command_line(shared_url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], impatient: None) -> None:
    config = tmp_path / "tacit.yaml"
    driver = "sqlite" if shared_url.startswith("sqlite") else "postgres"
    config.write_text(f"db:\n  driver: {driver}\n  dsn: {shared_url}\n  pool:\n    max_open_conns: 1\n")
    common = ["--config", str(config)]
    who = ["--as", "telegram:1"]
    assert main([*common, "remember", *who, "Sarah likes tea"]) == 0
    assert main([*common, "recall", *who, "tea"]) == 0
    assert "Sarah likes tea" in capsys.readouterr().out
    assert main([*common, "maintain"]) == 0


def plain(url: str) -> str:
    return make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)


def rows_as_planned(url: str) -> float:
    """How many memories the planner believes there are; -1 where it was never told."""
    with psycopg.connect(plain(url)) as connection:
        found = connection.execute("SELECT reltuples FROM pg_class WHERE relname = 'memories'")
        (count,) = found.fetchone() or (None,)
    return float(count)


def drop_connections(url: str) -> int:
    with psycopg.connect(plain(url), autocommit=True) as connection:
        found = connection.execute(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        (count,) = found.fetchone() or (0,)
    return int(count)


def test_a_new_database_is_analysed_as_it_grows(fresh_postgres_url: str) -> None:
    with tacit.open(fresh_postgres_url, embedder=None) as memory:
        assert rows_as_planned(fresh_postgres_url) == -1
        view = private(memory, ALICE)
        for number in range(110):
            view.remember(f"tea {number}")
    assert rows_as_planned(fresh_postgres_url) >= 90


def test_a_connection_that_was_dropped_while_it_rested_is_replaced(
    fresh_postgres_url: str, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "_IDLE_SECONDS", 0.0)  # any rest is long enough
    memory = opened(fresh_postgres_url)
    view = private(memory, ALICE)
    view.remember("tea")
    assert drop_connections(fresh_postgres_url) > 0
    assert said(view.list()) == ["tea"]
    assert drop_connections(fresh_postgres_url) > 0
    view.remember("coffee")
    assert sorted(said(view.list())) == ["coffee", "tea"]


def test_a_connection_that_is_dropped_in_use_fails_once_and_keeps_nothing_half(
    fresh_postgres_url: str, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "_IDLE_SECONDS", 1e9)  # none is ever asked beforehand
    memory = opened(fresh_postgres_url)
    view = private(memory, ALICE)
    view.remember("tea")
    for act in (lambda: view.remember("coffee"), view.list, lambda: view.recall("tea")):
        assert drop_connections(fresh_postgres_url) > 0
        with pytest.raises(tacit.StoreError):
            act()
        assert said(view.list()) == ["tea"]
