"""Commands of operators: doctor, jobs, keys, sign-in links, vectors, events and metrics."""

import io
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
import urllib.request
from contextlib import closing
from pathlib import Path

import pytest

from tacit import Scope
from tacit.bootstrap import open_memory
from tacit.cli.output import ExitCode, Progress
from tacit.lifecycle.tasks import SaveProgress, StepProgress
from tacit.memory import Memory
from tacit.records.accounts import WebSession
from tacit.settings import LearnSettings, Settings
from tests.cli.conftest import Ran, Tacit

ALICE = ("--as", "telegram:1001")


def opened(tmp_path: Path) -> Memory:
    """The database of `on_file`, where no thread works."""
    idle = Settings(learn=LearnSettings(workers=0))
    return open_memory(tmp_path / "memory.sqlite", settings=idle, embedder=None)


# The doctor.


def test_the_doctor_tells_of_trouble_and_mends_it_if_asked(on_file: Tacit, tmp_path: Path) -> None:
    on_file("remember", "I like tea", *ALICE)
    with closing(sqlite3.connect(tmp_path / "memory.sqlite")) as file, file:
        file.execute("DELETE FROM memory_people")
    told = on_file("doctor")
    assert told.code == ExitCode.ABSENT
    assert told.out.startswith("people  1: memories are not indexed")
    assert "(1 repairable)\n  repair files them again" in told.out
    assert told.out.endswith("unhealthy\n")
    assert "tea" not in told.out
    assert on_file("doctor").out == told.out  # nothing was changed
    assert on_file("doctor", "--check", "words", "--check", "history").code == ExitCode.OK
    mended = on_file("doctor", "--repair", "--json")
    assert mended.code == ExitCode.OK
    (finding,) = mended.json["findings"]
    assert (finding["check"], finding["count"], finding["repaired"]) == ("people", 1, 1)
    assert on_file("doctor").out == "healthy\n"


# Jobs.


def test_what_ran_is_told_with_its_result(on_file: Tacit) -> None:
    on_file("remember", "tea", *ALICE, "--expires-at", "2000-01-01T00:00:00Z")
    assert on_file("jobs").out.splitlines()[0].split() == ["expire", "idle", "never", "ran"]
    ran = on_file("jobs", "run", "expire")
    assert (ran.code, ran.err, ran.out) == (0, "", "ran  expire  1 expired\n")
    told = on_file("jobs").out.splitlines()[0]
    assert told.startswith("expire       idle  due ")
    assert told.endswith(": 1 expired")


def test_a_job_that_another_process_runs_is_a_conflict(on_file: Tacit, tmp_path: Path) -> None:
    on_file("remember", "tea", *ALICE)
    codes: list[int] = []
    with opened(tmp_path) as memory:
        ordinary = memory._runtime.tasks["expire"]

        def meanwhile(space: str, before: StepProgress, save: SaveProgress) -> StepProgress:
            codes.append(on_file("jobs", "run", "expire").code)
            return ordinary(space, before, save)

        memory._runtime.tasks["expire"] = meanwhile
        memory.jobs.run("expire")
    assert codes == [ExitCode.CONFLICT]


# Keys.


def test_a_key_opens_the_space_as_it_was_asked_to(on_file: Tacit, tmp_path: Path) -> None:
    scopes = [part for scope in Scope for part in ("--scope", scope.value)]
    options = ["--for", "telegram:1001", "--agent", "planner", "--category", "goal"]
    limited = ["--days", "30", "--rate", "90", "--space", "acme"]
    ran = on_file("keys", "create", "laptop", *scopes, *options, *limited)
    described, token = ran.out.splitlines()
    assert described.startswith(f"{token.split('_')[1]}  read,write,erase,admin,act-as  for tele")
    assert described.endswith("  laptop")
    assert "not shown again" in ran.err
    with opened(tmp_path) as memory:
        key = memory.keys.authenticate(token)
    assert key is not None
    assert (key.space, key.scopes, key.requester) == ("acme", frozenset(Scope), "telegram:1001")
    assert (key.agent, key.categories, key.rate_per_minute) == ("planner", ("goal",), 90)
    assert key.expires_at is not None
    assert (key.expires_at - key.created_at).days == 30


def test_a_listing_tells_how_each_key_stands_and_no_secret(on_file: Tacit) -> None:
    empty = "No API keys found. Create one with `tacit keys create`.\n"
    assert on_file("keys", "list").err == empty
    made = on_file("keys", "create", "first", "--scope", "read", "--json").json
    on_file("keys", "create", "second", "--scope", "admin", "--days", "1")
    assert on_file("keys", "revoke", made["key"]["id"]).out == f"revoked  {made['key']['id']}\n"
    first, second = on_file("keys", "list").out.splitlines()
    assert "  revoked 20" in first
    assert "  until 20" in second
    assert made["token"].split("_", 2)[2] not in on_file("keys", "list", "--json").out
    ran = on_file("keys", "revoke", "nonsense")
    assert (ran.code, ran.err) == (1, "tacit: no such key here\n")


# Sign-in links.

LINK = re.compile(r"(https?://[^/]+)/sign-in\?token=(tcl_\w+_[\w-]+)\n")


def followed(ran: Ran, tmp_path: Path) -> tuple[str, WebSession]:
    """Where a link leads, and who comes in with it."""
    link = LINK.fullmatch(ran.out)
    assert link is not None, ran
    with opened(tmp_path) as memory:
        return link[1], memory.console.sign_in(link[2]).sitting


def test_a_link_lets_in_whom_it_was_asked_for(on_file: Tacit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    where, web = followed(on_file("console", "--for", "slack:T1:U2", "--space", "acme"), tmp_path)
    assert where == "http://127.0.0.1:8377"
    assert (web.space, web.person, web.operator) == ("acme", "slack:T1:U2", None)
    _, web = followed(on_file("console", "--operator", "ada"), tmp_path)
    assert (web.space, web.person, web.operator) == ("default", None, "ada")
    assert followed(on_file("console"), tmp_path)[1].person == "local:me"
    monkeypatch.setenv("TACIT_MEMORY_LOCAL_PERSON", "telegram:7")
    assert followed(on_file("console"), tmp_path)[1].person == "telegram:7"
    assert followed(on_file("console", "--as", "telegram:8"), tmp_path)[1].person == "telegram:8"


def test_a_link_leads_where_people_reach_the_console(
    on_file: Tacit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for host, where in (
        ("0.0.0.0", "127.0.0.1"),
        ("::", "127.0.0.1"),
        ("::1", "[::1]"),
        ("memory.example.org", "memory.example.org"),
    ):
        monkeypatch.setenv("TACIT_SERVER_HOST", host)
        assert followed(on_file("console"), tmp_path)[0] == f"http://{where}:8377"
    monkeypatch.setenv("TACIT_CONSOLE_URL", "https://memory.example.org/")
    assert followed(on_file("console"), tmp_path)[0] == "https://memory.example.org"
    other = on_file("console", "--url", "http://localhost:9000/")
    assert followed(other, tmp_path)[0] == "http://localhost:9000"


def test_without_a_console_there_is_no_link(on_file: Tacit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TACIT_SERVER_PORT", "0")
    assert "--url" in on_file("console").err
    monkeypatch.setenv("TACIT_CONSOLE_ENABLED", "false")
    ran = on_file("console")
    assert (ran.code, ran.out) == (ExitCode.SETUP, "")
    assert ran.err.startswith("tacit: console.enabled: is false")
    monkeypatch.setenv("TACIT_MEMORY_ENABLED", "false")
    assert on_file("console").code == ExitCode.DISABLED


# Vectors.


def test_a_model_that_does_not_answer_is_code_6_for_reembed_alone(
    on_file: Tacit, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_file("remember", "green tea", *ALICE)
    monkeypatch.setenv("TACIT_EMBEDDING_PROVIDER", "endpoint")
    monkeypatch.setenv("TACIT_EMBEDDING_URL", "http://127.0.0.1:1/v1")  # no server listens there
    monkeypatch.setenv("TACIT_EMBEDDING_MODEL", "away")
    ran = on_file("reembed", "--json")
    assert (ran.code, ran.out, ran.error["type"]) == (6, "", "EmbeddingFailed")
    found = on_file("recall", "tea", *ALICE)
    assert found.code == 0
    assert "green tea" in found.out
    assert "tacit: recall goes by words alone: EmbeddingFailed\n" in found.err
    assert on_file("recall", "tea", *ALICE, "--json").err == ""


@pytest.mark.parametrize(
    ("terminal", "quiet", "shown"),
    [(True, False, "\r64 done\r256 done\n"), (False, False, "64 done\n256 done\n"), (False, True, "")],
)
def test_progress_is_a_growing_line_or_a_line_per_second(
    monkeypatch: pytest.MonkeyPatch, terminal: bool, quiet: bool, shown: str
) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: terminal)
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(time, "monotonic", lambda: 0.0)
    with Progress("done", quiet=quiet) as progress:
        for count in (0, 64, 100, 128, 256):  # within the same moment
            progress(count)
    assert stream.getvalue() == shown


# Events and metrics.


def test_metrics_are_served_on_this_machine_until_interrupted(home: Path, on_file: Tacit) -> None:
    on_file("remember", "Sarah is my wife", *ALICE)
    printed = on_file("metrics", "--print")
    assert 'tacit_memories{state="active"} 1.0' in printed.out.splitlines()
    assert "Sarah" not in printed.out
    db = str(home / "memory.sqlite")
    argv = [sys.executable, "-m", "tacit.cli", "metrics", "--port", "0", "--db", db]
    served = subprocess.Popen(argv, stderr=subprocess.PIPE, text=True, env=dict(os.environ))
    try:
        assert served.stderr is not None
        address = served.stderr.readline().strip()
        assert address.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(address) as answer:
            told = answer.read().decode()
        assert 'tacit_queue_depth{of="turns",state="waiting"} 0.0' in told.splitlines()
        served.send_signal(signal.SIGINT)
        assert served.wait(60) == ExitCode.INTERRUPTED
    finally:
        served.kill()
        served.communicate()
