"""`tacit console`: a link that leads where people reach the console, and lets one of them in."""

import re
from pathlib import Path

import pytest

from tacit.bootstrap import open_memory
from tacit.records.accounts import WebSession
from tacit.settings import Settings
from tests.cli.conftest import Ran, Tacit

LINK = re.compile(r"(https?://[^/]+)/sign-in\?token=(tcl_\w+_[\w-]+)\n")


def used(ran: Ran, tmp_path: Path) -> tuple[str, WebSession]:
    """Where a link leads, and who comes in with it."""
    link = LINK.fullmatch(ran.out)
    assert link is not None, ran
    with open_memory(tmp_path / "memory.sqlite", settings=Settings(), embedder=None) as memory:
        return link[1], memory.console.sign_in(link[2]).sitting


def test_a_link_lets_in_whom_it_was_asked_for(on_file: Tacit, tmp_path: Path) -> None:
    where, sitting = used(on_file("console", "--for", "slack:T1:U2", "--space", "acme"), tmp_path)
    assert where == "http://127.0.0.1:8377"
    assert (sitting.space, sitting.person, sitting.operator) == ("acme", "slack:T1:U2", None)
    _, sitting = used(on_file("console", "--operator", "ada"), tmp_path)
    assert (sitting.space, sitting.person, sitting.operator) == ("default", None, "ada")


def test_without_a_name_it_is_for_who_asks_else_for_the_one_local_person(
    on_file: Tacit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert used(on_file("console"), tmp_path)[1].person == "local:me"
    monkeypatch.setenv("TACIT_MEMORY_LOCAL_PERSON", "telegram:7")
    assert used(on_file("console"), tmp_path)[1].person == "telegram:7"
    assert used(on_file("console", "--as", "telegram:8"), tmp_path)[1].person == "telegram:8"


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
        assert used(on_file("console"), tmp_path)[0] == f"http://{where}:8377"
    monkeypatch.setenv("TACIT_CONSOLE_URL", "https://memory.example.org/")
    assert used(on_file("console"), tmp_path)[0] == "https://memory.example.org"
    other = on_file("console", "--url", "http://localhost:9000/")
    assert used(other, tmp_path)[0] == "http://localhost:9000"


def test_what_makes_no_sense_is_refused(on_file: Tacit, monkeypatch: pytest.MonkeyPatch) -> None:
    for argv in (
        ["--for", "Alice"],
        ["--for", "telegram:1", "--operator", "ada"],
        ["--operator", ""],
        ["--url", "memory.example.org"],
        ["--url", "https://memory.example.org/console"],
    ):
        assert on_file("console", *argv).code == 2, argv
    monkeypatch.setenv("TACIT_SERVER_PORT", "0")
    assert "--url" in on_file("console").err
    monkeypatch.setenv("TACIT_CONSOLE_ENABLED", "false")
    ran = on_file("console")
    assert (ran.code, ran.out) == (6, "")
    assert ran.err.startswith("tacit: console.enabled: is false")
    monkeypatch.setenv("TACIT_MEMORY_ENABLED", "false")
    assert on_file("console").code == 3
