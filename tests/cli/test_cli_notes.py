"""Sessions and files of notes at the command line."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Tacit
from tests.corpus import check_each

ALICE = ("--as", "telegram:1001", "--name", "Alice")
ARCHIVE = "The Apollo archive is kept in Basel"
DRAFT = {
    "summary": "Settled the layout.",
    "topics": [{"topic": "Layout", "event": "Settled the folders"}],
    "facts": ["The build is red"],
    "tasks": [{"text": "Pay the rent"}, {"text": "Call the bank", "done": True}],
    "links": [{"text": "Plan", "target": "plans/layout.md"}],
    "promote": ARCHIVE,
}


def drafted(draft: Any) -> bytes:
    return json.dumps(draft).encode()


@pytest.fixture
def noted(on_file: Tacit, home: Path, monkeypatch: pytest.MonkeyPatch) -> Tacit:
    monkeypatch.setenv("TACIT_NOTES_ENABLED", "true")
    monkeypatch.setenv("TACIT_NOTES_DIR", str(home / "notes"))
    return on_file


def end(tacit: Tacit, draft: Any, *more: str) -> Any:
    ran = tacit("session", "end", "--draft", "-", *ALICE, *more, "--json", stdin=drafted(draft))
    assert ran.code == 0, ran.err
    return ran.json


def test_a_session_ends_and_the_next_one_starts_with_it(on_file: Tacit) -> None:
    done = end(on_file, DRAFT)
    assert (done["added"], done["merged"], done["ticked"]) == (4, 0, 0)
    assert [item["content"] for item in done["note"]["items"]][1:] == [
        "The build is red",
        "Pay the rent",
        "Call the bank",
    ]
    woken = on_file("session", "start", *ALICE, "--json").json
    assert woken["session"] == "telegram:1001"
    assert [item["content"] for item in woken["long_term"]] == [ARCHIVE]
    assert woken["long_term"][0]["id"] == done["promoted"]
    (recent,) = woken["recent"]
    assert (recent["summary"], recent["tasks"]) == ("Settled the layout.", {"done": 1, "total": 2})
    assert woken["today"]["links"] == [{"text": "Plan", "target": "plans/layout.md"}]
    told = on_file("session", "start", *ALICE).out
    assert f"kept  {done['promoted']}" in told
    assert "tasks 1/2, follow_ups 0/0  Settled the layout." in told
    assert "today  Tasks            [x] Call the bank\n" in told


NO_DRAFTS = (
    *(b"", b"[]", b"x", b'"x"', b"[" * 10_000, b"\xff", b" " * 1_000_001),
    *map(
        drafted,
        (
            {"unknown": 1},
            {"topics": "x"},
            {"topics": [{"event": "x"}]},
            {"tasks": ["x"]},
            {"facts": [1]},
            {"tasks": [{"text": "x", "done": "yes"}]},
        ),
    ),
)


def test_what_is_no_draft_is_refused_and_nothing_is_kept(on_file: Tacit) -> None:
    def is_refused(draft: bytes) -> bool:
        ran = on_file("session", "end", "--draft", "-", *ALICE, stdin=draft)
        return (ran.code, ran.out) == (2, "")

    check_each(NO_DRAFTS, is_refused)
    assert on_file("stats", *ALICE, "--json").json["memories"] == 0


def test_files_of_notes_need_to_be_switched_on(on_file: Tacit) -> None:
    ran = on_file("notes", "sync")
    assert ran.code == 6
    assert "notes.enabled" in ran.err


def test_files_are_written_when_a_command_ends_and_read_when_the_next_one_starts(noted: Tacit, home: Path) -> None:
    file = home / "notes" / end(noted, DRAFT)["path"]
    assert "- [x] Call the bank" in file.read_text()
    file.write_text(file.read_text().replace("- [ ] Pay the rent", "- [x] Pay the rent"))
    (recent,) = noted("session", "start", *ALICE, "--json").json["recent"]
    assert recent["tasks"] == {"done": 2, "total": 2}


def test_diff_tells_what_a_sync_would_do_and_does_nothing(noted: Tacit, home: Path) -> None:
    file = home / "notes" / end(noted, DRAFT)["path"]
    file.write_text(file.read_text().replace("The build is red", "The build is green"))
    for _ in range(2):
        (change,) = noted("notes", "diff", "--json").json["changes"]
        assert (change["act"], change["before"], change["after"]) == (
            "update",
            "The build is red",
            "The build is green",
        )
    assert "The build is red → The build is green" in noted("notes", "diff").out
    assert "1 updated" in noted("notes", "sync").out
    assert "green" in noted("list", *ALICE).out
    assert noted("notes", "diff").err == "No differences found.\n"


def test_files_are_rebuilt_from_the_store_and_the_store_from_files(noted: Tacit, home: Path, tmp_path: Path) -> None:
    path = end(noted, DRAFT)["path"]
    before = (home / "notes" / path).read_bytes()
    copy = tmp_path / "copy"
    assert noted("notes", "rebuild", "--to", str(copy)).code == 0
    assert (copy / path).read_bytes() == before
    (home / "notes" / path).unlink()
    assert "asks" in noted("notes", "sync").out
    assert noted("notes", "rebuild").code == 0
    assert (home / "notes" / path).read_bytes() == before
    done = noted("notes", "import", "--from", str(copy), "--json").json
    assert done["problems"] == []
