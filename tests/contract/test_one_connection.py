"""A database that may be reached through one connection alone (`db.pool.max_open_conns: 1`)."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from starlette.testclient import TestClient

import tacit
from tacit.cli import main
from tacit.server.app import create_app
from tacit.settings import LearnSettings, Settings
from tacit.settings.sections import DbSettings, PoolSettings
from tests.contract.conftest import Open
from tests.contract.rooms import ALICE, BOB, private

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
    begin = threading.Barrier(THREADS_COUNT)

    def act(number: int) -> int:
        who = private(memory, (ALICE, BOB)[number % 2], thread=f"thread {number}")
        begin.wait()
        for turn in range(5):
            who.remember(f"box {number} holds item {turn}")
            who.recall(f"box {number}")
            who.learn([tacit.Message("user", f"Remember that jar {number} holds item {turn}")])
        return len(who.list().items)

    with ThreadPoolExecutor(THREADS_COUNT) as pool:
        assert all(pool.map(act, range(THREADS_COUNT)))
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
