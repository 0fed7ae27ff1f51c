"""What a server writes down: how requests went, and nothing that people wrote or are called."""

import sqlite3
from contextlib import closing
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from tacit.server.logs import ServerLog
from tests.server.processes import Serving, Slow, serving

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
