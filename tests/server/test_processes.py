"""A server as a process: when it starts or refuses to, what it logs, and how it stops."""

import os
import pty
import re
import shlex
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from io import StringIO
from pathlib import Path
from typing import Any

import httpx2
import pytest
from sqlalchemy import create_engine, make_url, text
from uvicorn import Config, Server

import tacit
from bench.serve_crash import hammer
from tacit import limits
from tacit.cli import main
from tacit.cli.output import ExitCode
from tacit.server.logs import ServerLog
from tacit.server.process import SilenceTimeoutProtocol
from tests.server.processes import PATIENCE_SECONDS, TACIT, Serving, Slow, serving, until


def refused(capsys: pytest.CaptureFixture[str], file: Path, *argv: str) -> str:
    code = main(["serve", "--db", str(file), *argv])
    assert code == ExitCode.SETUP
    told = capsys.readouterr()
    assert told.out == ""
    return told.err


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "memory.example.org"])
def test_without_a_key_nobody_else_is_served(file: Path, capsys: pytest.CaptureFixture[str], host: str) -> None:
    told = refused(capsys, file, "--host", host)
    assert f"{host} can be reached by others, and there is no key yet" in told
    assert "tacit keys create" in told


def test_behind_a_proxy_a_key_is_needed_too(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TACIT_SERVER_LOCAL", "false")
    assert "server.local is off" in refused(capsys, file)


def test_the_command_that_it_names_makes_it_start(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = refused(capsys, file, "--host", "0.0.0.0")
    (named,) = re.findall(r"^ +tacit (keys create .*)$", told, re.MULTILINE)
    assert main(["--db", str(file), *shlex.split(named)]) == ExitCode.OK
    (token,) = re.findall(r"tct_\w+_[\w-]+", capsys.readouterr().out)
    with serving(str(file), "--host", "0.0.0.0") as served:
        here = Serving(process=served.process, log=served.log, url=served.url.replace("0.0.0.0", "127.0.0.1"))
        with here.asking() as stranger, here.asking(Authorization=f"Bearer {token}") as known:
            assert stranger.get("/api/memory/").status_code == 401
            assert known.get("/api/memory/").status_code == 200


def test_a_key_that_was_revoked_opens_nothing_and_counts_for_nothing(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--db", str(file), "keys", "create", "old", "--scope", "admin"]) == ExitCode.OK
    (id,) = re.findall(r"tct_([^_\s]+)_", capsys.readouterr().out)
    assert main(["--db", str(file), "keys", "revoke", id]) == ExitCode.OK
    capsys.readouterr()
    assert "there is no key yet" in refused(capsys, file, "--host", "0.0.0.0")


def test_more_than_one_process_needs_postgresql(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "server.workers: more than one process needs PostgreSQL" in refused(capsys, file, "--workers", "2")


def test_a_port_that_is_taken_is_told(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        told = refused(capsys, file, "--port", str(port))
    assert f"cannot listen on 127.0.0.1, port {port}" in told
    assert "--port" in told


@pytest.mark.parametrize("argv", [("--port", "65536"), ("--workers", "0"), ("--host", "http://x"), ("--host", "a b")])
def test_what_is_no_host_port_or_number_is_refused(
    file: Path, capsys: pytest.CaptureFixture[str], argv: tuple[str, str]
) -> None:
    assert main(["serve", "--db", str(file), *argv]) == ExitCode.USAGE
    assert argv[0] in capsys.readouterr().err


# The link that a server prints as it starts


LINK = re.compile(rb"(http://127\.0\.0\.1:\d+)/sign-in\?token=(tcl_\w+)")
ADDRESS = re.compile(rb"address=(http://127\.0\.0\.1:\d+)")
NONE = rb"tcl_|/sign-in\?"


def at_a_terminal(file: Path, **env: str) -> bytes:
    """What somebody who starts it at a terminal sees, until it has answered and stopped."""
    ours, theirs = pty.openpty()
    try:
        process = subprocess.Popen(
            [*TACIT, "serve", "--db", str(file), "--port", "0"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=theirs,
            env={**os.environ, "TACIT_EMBEDDING_PROVIDER": "none", **env},
        )
    finally:
        os.close(theirs)
    seen = b""
    while b"\n" not in seen:
        seen += os.read(ours, 4_096)
    address = ADDRESS.search(_plain(seen))[1].decode()  # type: ignore[index]
    until(lambda: _answers(address))
    process.terminate()
    with suppress(OSError):  # the other end is closed
        while more := os.read(ours, 4_096):
            seen += more
    os.close(ours)
    process.wait(PATIENCE_SECONDS)
    return _plain(seen)


def _plain(seen: bytes) -> bytes:
    """Without the colors of a terminal."""
    return re.sub(rb"\x1b\[[0-9;]*m", b"", seen)


def _answers(address: str) -> bool:
    with suppress(httpx2.TransportError):
        return httpx2.get(f"{address}/health/live", timeout=PATIENCE_SECONDS).status_code == 200
    return False


def test_who_starts_a_server_at_a_terminal_is_given_one_link(file: Path) -> None:
    seen = at_a_terminal(file)
    link = LINK.search(seen)
    assert link is not None
    assert seen.count(b"tcl_") == 1
    assert b"address=" + link[1] in seen
    assert b"as local:me; the link works once, within 10 minutes" in seen
    assert b"tacit console --for KEY --url " + link[1] in seen


def test_no_log_holds_what_signs_somebody_in(file: Path) -> None:
    with serving(str(file)) as served:
        (told, *_) = served.lines()
        assert told["sign_in"] == f"tacit console --for KEY --url {served.url}"
        made = subprocess.run(
            [*TACIT, "console", "--db", str(file), "--url", served.url],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
        )
        link = made.stdout.decode().strip()
        with served.asking() as client:
            assert client.get(link).status_code == 200
        served.stop()
        assert not re.search(NONE, served.log.read_bytes())
        assert served.lines()[1]["route"] == "/sign-in"


# What a server writes down: nothing that people wrote or are called


CANARY = "zqcanary"
KNOWN = {"at", "event", "method", "route", "status", "ms", "request_id"}


def busy(served: Serving) -> list[int]:
    """Requests with a canary wherever a caller can put one. What they were answered with."""
    said = {"content": f"My word is {CANARY}", "category": "preference", "subject": CANARY}
    named = {"X-Tacit-Thread": CANARY, "X-Tacit-Name": CANARY, "X-Strange": CANARY}
    with served.asking(**named) as client:
        kept = client.post("/api/memory/", json=said)
        answers = [
            kept,
            client.get(f"/api/memory/{kept.json().get('id', CANARY)}"),
            client.get(f"/api/memory/{CANARY}"),
            client.get("/api/memory/", params={"category": CANARY, "cursor": CANARY}),
            client.put(f"/api/items/{CANARY}/{CANARY}", json={"value": CANARY}),
            client.post("/api/query", json={"query": CANARY}),
            client.post("/api/recall", json={"query": CANARY, CANARY: CANARY}),
            client.post("/api/memory/", content=b'{"content": "' + CANARY.encode()),
            client.get(f"/{CANARY}", params={CANARY: CANARY}),
            client.request(CANARY.upper(), f"/{CANARY}"),
            client.get("/api/memory/", headers={"Authorization": f"Bearer {CANARY}"}),
            client.get("/api/memory/", headers={"Host": f"{CANARY}.example"}),
            client.get("/api/memory/", headers={"Origin": f"https://{CANARY}.example"}),
            client.get("/api/memory/", headers={"X-Request-Id": f"{CANARY} twice"}),
            client.get("/api/memory/"),
            client.get("/health/ready"),
        ]
    return [one.status_code for one in answers]


def requests(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [line for line in lines if line["event"] == "request"]


def test_lines_tell_how_requests_went_and_not_what_was_in_them(file: Path) -> None:
    with serving(str(file)) as served:
        answers = busy(served)
        id = _only_id(file)
        with closing(sqlite3.connect(file, isolation_level=None)) as other:
            other.execute("UPDATE memories SET created_at = ?", [CANARY])  # nobody expects that
        answers += busy(served)
        Slow(served, "/api/remember", {"content": CANARY}).hang_up()
        served.stop()
        lines, written = served.lines(), served.log.read_text()
    assert 201 in answers
    assert 500 in answers
    assert CANARY not in written.lower()
    assert id not in written
    assert "local:me" not in written
    told = requests(lines)
    assert [one["status"] for one in told if one["status"] is not None][: len(answers)] == answers
    assert all(set(one) == KNOWN for one in told)
    assert {one["route"] for one in told} >= {"/api/memory/", "/api/memory/{id}", "/api/query", "/health/ready", "none"}
    unexpected = [line for line in lines if line["event"] in ("failed", "remark")]
    assert unexpected  # where to look, and what kind of trouble
    assert all("at_lines" in one or "says" in one for one in unexpected)


def _only_id(file: Path) -> str:
    with closing(sqlite3.connect(file)) as connection:
        ((found,),) = connection.execute("SELECT id FROM memories WHERE key IS NULL").fetchall()
    return str(found)


class _Terminal(StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("form", "stream", "is_json"),
    [("auto", StringIO, True), ("auto", _Terminal, False), ("json", _Terminal, True), ("plain", StringIO, False)],
)
def test_lines_are_for_people_on_a_terminal_and_json_elsewhere(
    monkeypatch: pytest.MonkeyPatch, form: str, stream: type[StringIO], is_json: bool
) -> None:
    written = stream()
    monkeypatch.setattr("sys.stderr", written)
    ServerLog(form).tell("request", method="GET", status=200)
    line = written.getvalue()
    assert line.startswith('{"at": ') is is_json
    assert "request" in line
    assert "GET" in line


# A server that is told to stop


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


# Several processes on one socket


def started(served: Serving, count: int) -> list[int]:
    """The numbers of the processes, once so many have been started."""

    def found() -> list[int] | None:
        told = [one["pid"] for one in served.lines() if one["event"] == "worker started"]
        return told if len(told) >= count else None

    return list(until(found))


def gone(served: Serving) -> bool:
    try:
        with served.asking() as client:
            client.get("/health/live")
    except httpx2.ConnectError:
        return True
    except httpx2.HTTPError:
        return False
    return False


def test_a_worker_that_is_killed_is_replaced_and_all_of_them_stop(migrated_postgres_url: str) -> None:
    with serving(migrated_postgres_url, "--workers", "2") as served:
        first, _ = started(served, 2)
        with served.asking() as client:
            kept = client.post("/api/memory/", json=APPLES)
        assert kept.status_code == 201
        os.kill(first, signal.SIGKILL)
        assert len(started(served, 3)) == 3
        ended = [one for one in served.lines() if one["event"] == "worker ended"]
        assert [(one["pid"], one["code"]) for one in ended] == [(first, -signal.SIGKILL)]
        with served.asking() as client:
            (found,) = client.get("/api/memory/").json()["memories"]
        assert found["id"] == kept.json()["id"]
        assert served.stop() == 0
        told = [one["event"] for one in served.lines()]
    assert told[-1] == "stopped"
    assert gone(served)


def test_a_worker_stops_when_whoever_looks_after_it_is_gone() -> None:
    waits = "import time; from tacit.server.process import stop_with_parent; stop_with_parent(); time.sleep(600)"
    with subprocess.Popen([sys.executable, "-c", waits], stdin=subprocess.PIPE) as worker:
        assert worker.stdin is not None
        worker.stdin.close()
        assert worker.wait(PATIENCE_SECONDS) == -signal.SIGTERM


# Whoever connects and keeps us waiting is let go


SILENCE_SECONDS = 1.5
HEAD = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 6\r\n"


async def app(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """Answers with the body that it was sent."""
    assert scope["type"] == "http"
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, int]]:
    monkeypatch.setattr(limits, "SERVER_IDLE_MAX_SECONDS", SILENCE_SECONDS)
    listening = socket.create_server(("127.0.0.1", 0))
    server = Server(Config(app, http=SilenceTimeoutProtocol, log_config=None, lifespan="off", ws="none"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    yield listening.getsockname()
    server.should_exit = True
    thread.join()
    listening.close()


def heard(connection: socket.socket) -> bytes:
    """All that is said until the other side ends it; nobody waits for ever."""
    connection.settimeout(60)
    said = b""
    try:
        while some := connection.recv(65_536):
            said += some
    except ConnectionResetError:
        pass
    return said


@pytest.mark.parametrize("sent", [b"", HEAD[:20], HEAD, HEAD + b"\r\nabc"])
def test_who_stops_half_way_is_let_go(address: tuple[str, int], sent: bytes) -> None:
    with socket.create_connection(address) as connection:
        connection.sendall(sent)
        assert b"200" not in heard(connection)


def test_a_body_that_comes_bit_by_bit_is_waited_for(address: tuple[str, int]) -> None:
    pause = threading.Event()
    with socket.create_connection(address) as connection:
        connection.sendall(HEAD + b"Connection: close\r\n\r\n")
        for byte in b"abcdef":  # longer than the silence, all of it together
            pause.wait(SILENCE_SECONDS / 3)
            connection.sendall(bytes([byte]))
        assert b"\r\nabcdef\r\n" in heard(connection)


# A server that is killed under load, and the one that comes after it


def test_what_was_acknowledged_is_there_once(file: Path) -> None:
    assert hammer(f"sqlite:///{file}", "SQLite", kills=1, seed=7)
