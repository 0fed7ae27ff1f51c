"""Learning on the command line: what came of a message, what waits, and how it is undone."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.conftest import Tacit

ALICE = ("--as", "telegram:1001", "--name", "Alice")


def contents(tacit: Tacit, *argv: str) -> list[str]:
    found = tacit("list", *argv, "--json").json["memories"]
    return sorted(one["content"] for one in found)


def test_a_conversation_is_learned_line_by_line_and_kept_current(on_file: Tacit) -> None:
    talk = b"I live in Lisbon\r\n\nwhat's the weather?\nI'm allergic to peanuts"
    ran = on_file("learn", "-", *ALICE, stdin=talk)
    assert ran.code == 0
    assert ran.out.startswith("learned  3 turns\ncreated  ")
    assert contents(on_file, *ALICE) == ["Alice is allergic to peanuts", "Alice lives in Lisbon"]
    ran = on_file("learn", "I live in Porto now", *ALICE, "--json")
    assert [one["event"] for one in ran.json["changes"]] == ["updated"]
    assert ran.json["changes"][0]["content"] == "Alice lives in Porto"
    assert on_file("learn", "what's up?", *ALICE).out == "learned  1 turn\n"


def test_what_is_only_queued_is_learned_by_whoever_works(on_file: Tacit) -> None:
    ran = on_file("learn", "I live in Lisbon", "--queue", *ALICE)
    assert ran.out == "queued  1 turn\n"
    assert contents(on_file, *ALICE) == []  # no command learns behind one's back
    assert on_file("waiting", "--json").json["turns"] == 1
    assert on_file("work", "--once").out == "learned  1 turn\nwaiting  0 turns\n"
    assert contents(on_file, *ALICE) == ["Alice lives in Lisbon"]


def test_a_secret_is_not_learned_from_and_not_repeated(on_file: Tacit) -> None:
    ran = on_file("learn", "my password is hunter2xyz", "I live in Lisbon", *ALICE)
    assert ran.code == 1
    assert ran.err == "not learned: contains a secret (stated_password)\n"
    assert "hunter2" not in ran.out
    assert contents(on_file, *ALICE) == ["Alice lives in Lisbon"]
    ran = on_file("learn", "--dry-run", "my password is hunter2xyz", *ALICE)
    assert ran.out == "screen     refuse: it holds a secret (stated_password)\n"


def test_a_trace_tells_the_way_and_a_dry_run_keeps_nothing(on_file: Tacit) -> None:
    dry = on_file("learn", "--dry-run", "I live in Lisbon", "hello", *ALICE)
    first, second = dry.out.split("\n\n")
    stages = [line.split()[0] for line in first.splitlines()]
    assert stages == [
        "screen", "extract", "verify", "classify", "attribute", "reconcile", "consent", "kept",
    ]  # fmt: skip
    assert second.splitlines()[-1] == "kept       nothing"
    assert on_file("spaces").out == ""
    kept = on_file("learn", "--trace", "I live in Lisbon", *ALICE, "--json").json["messages"]
    assert kept[0]["steps"][-1]["stage"] == "kept"
    assert contents(on_file, *ALICE) == ["Alice lives in Lisbon"]


def test_an_operator_hears_where_it_came_from_and_its_owner_what_it_says(on_file: Tacit) -> None:
    told = ("learn", "The vault is open", "--role", "tool", "--message", "m9", "--by", "crawler")
    (id,) = on_file(*told, *ALICE, "--json").json["quarantined"]
    listed = on_file("quarantine")
    assert listed.out.startswith(id)
    assert "telegram:1001/m9  tool of crawler  it comes from a tool" in listed.out
    assert "vault" not in listed.out + on_file("quarantine", "--json").out
    assert contents(on_file, "--state", "quarantined", *ALICE) == ["The vault is open"]
    assert on_file("quarantine", "discard", id).out == f"discarded  {id}\n"
    assert on_file("quarantine").err == "No quarantined memories found.\n"
    assert on_file("quarantine", "release", id).code == 1


def test_where_nothing_is_learned_a_command_says_so(on_file: Tacit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TACIT_LEARN_ENABLED", "false")
    for argv in (("learn", "hello"), ("learn", "--dry-run", "hello"), ("work", "--once")):
        ran = on_file(*argv, *ALICE)
        assert (ran.code, ran.out) == (2, "")
        assert "set learn.enabled to true" in ran.err


def test_a_worker_learns_until_it_is_told_to_stop(on_file: Tacit, tmp_path: Path, home: Path) -> None:
    path = str(tmp_path / "memory.sqlite")
    program = [sys.executable, "-m", "tacit.cli", "work", "--db", path, "--json"]
    worker = subprocess.Popen(program, stdout=subprocess.PIPE, env=os.environ | {"HOME": str(home)})
    try:
        on_file("learn", "I live in Lisbon", "--queue", *ALICE)
        while on_file("waiting", "--json").json["turns"]:
            assert worker.poll() is None
            time.sleep(0.05)
        worker.send_signal(signal.SIGTERM)
        out, _ = worker.communicate(timeout=60)
    finally:
        worker.kill()
        worker.wait()
    assert worker.returncode == 0
    assert out.startswith(b'{"learned": null, "ran": null, "turns": 0')
    assert contents(on_file, *ALICE) == ["Alice lives in Lisbon"]
