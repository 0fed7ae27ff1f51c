"""A server that is told to stop: what it has begun it finishes, and it says where it stands."""

import signal
import sqlite3
from contextlib import closing
from pathlib import Path

from sqlalchemy import create_engine, make_url, text

import tacit
from tests.server.processes import PATIENCE_SECONDS, Serving, Slow, serving, until

ADD = "/api/memory/"
APPLES = {"content": "I like green apples", "category": "preference"}
PEARS = {"content": "My bicycle is in the cellar", "category": "context"}


def test_what_has_begun_is_finished_and_nothing_new_is_begun(file: Path) -> None:
    with serving(str(file)) as served:
        assert status(served, "/health/ready") == 200
        speaking, waiting = Slow(served, ADD, APPLES), Slow(served, ADD, PEARS)
        with closing(sqlite3.connect(file, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")  # nobody else writes meanwhile
            waiting.go_on()
            served.process.terminate()
            until(lambda: status(served, "/health/ready") == 503)
            assert status(served, "/health/live") == 200
            with served.asking() as client:
                refused = client.post(ADD, json=APPLES)
            other.execute("ROLLBACK")
        assert waiting.answer().startswith(b"HTTP/1.1 201 ")
        speaking.go_on()
        assert speaking.answer().startswith(b"HTTP/1.1 201 ")
        assert served.process.wait(PATIENCE_SECONDS) == 0
        told = [line["event"] for line in served.lines()]
    assert refused.status_code == 503
    assert refused.headers["retry-after"]
    assert refused.json()["type"] == "urn:tacit:problem:draining"
    assert (told[0], told[-1]) == ("serving", "stopped")
    assert set(memories(file)) == {APPLES["content"], PEARS["content"]}


def test_whoever_takes_too_long_is_left_behind(file: Path) -> None:
    """What was not answered was not promised, and is not there."""
    with serving(str(file), env={"TACIT_SERVER_DRAIN_SECONDS": "0"}) as served:
        slow = Slow(served, ADD, APPLES)
        served.process.send_signal(signal.SIGINT)  # Ctrl-C
        assert served.process.wait(PATIENCE_SECONDS) == 0
        assert b"HTTP/1.1 2" not in slow.answer()
        assert served.lines()[-1]["event"] == "stopped"
    assert memories(file) == []


def status(served: Serving, path: str) -> int:
    with served.asking() as client:
        return client.get(path).status_code


def memories(file: Path) -> list[str]:
    with tacit.open(file) as memory:
        view = memory.view(tacit.Requester("local:me"), tacit.Chat.private("local:me"))
        return [one.content for one in view.list()]


def test_readiness_follows_the_database(fresh_postgres_url: str) -> None:
    name = make_url(fresh_postgres_url).database
    maintenance = make_url(fresh_postgres_url).set(database="postgres")
    engine = create_engine(maintenance, isolation_level="AUTOCOMMIT")
    with serving(fresh_postgres_url) as served, served.asking() as client:

        def ready() -> int:
            return client.get("/health/ready").status_code

        assert ready() == 200
        with engine.connect() as connection:
            connection.execute(text(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false'))
            connection.execute(
                text("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = :n"), {"n": name}
            )
            until(lambda: ready() == 503)
            assert client.get("/health/live").status_code == 200
            connection.execute(text(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS true'))
        until(lambda: ready() == 200)
    engine.dispose()
