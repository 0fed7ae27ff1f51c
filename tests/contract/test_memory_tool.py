"""The official SDK drives the memory tool against a scripted endpoint, in the real wire format."""

import asyncio
import logging
import subprocess
import sys
from dataclasses import replace

import pytest

import tacit
from tacit.memory import Memory
from tacit.tools.anthropic_memory import MemoryTool
from tacit.view.context import resource
from tacit.view.notes import Files
from tacit.view.view import View
from tests.contract.rooms import ALICE, BOB, group, private, said
from tests.contract.tool_talk import Command, told, told_later
from tests.llm.endpoint import Endpoint
from tests.notes.attacks import ATTACKS

TEAMS_TODAY = "/memories/2026-03-01/telegram_-100.md"
TRIPS = "# Trips\n\n- Lisbon in May\n- Porto in June\n"


def create(path: str, text: str) -> Command:
    return {"command": "create", "path": path, "file_text": text}


def view_of(path: str, *lines: int) -> Command:
    return {"command": "view", "path": path} | ({"view_range": [*lines]} if lines else {})


def replaced(path: str, old: str, new: str) -> Command:
    return {"command": "str_replace", "path": path, "old_str": old, "new_str": new}


def inserted(path: str, line: int, text: str) -> Command:
    return {"command": "insert", "path": path, "insert_line": line, "insert_text": text}


def test_a_model_keeps_its_notes_with_every_command(memory: Memory, endpoint: Endpoint) -> None:
    view = private(memory, ALICE)
    heard = told(
        endpoint,
        view,
        view_of("/memories"),
        create("/memories/trips.md", TRIPS),
        view_of("/memories/trips.md"),
        replaced("/memories/trips.md", "in May", "in April"),
        inserted("/memories/trips.md", 2, "- Oslo in March\n"),
        {"command": "rename", "old_path": "/memories/trips.md", "new_path": "/memories/go/to.md"},
        view_of("/memories"),
        view_of("/memories/go/to.md", 3, 4),
        {"command": "delete", "path": "/memories/go/to.md"},
        view_of("/memories"),
    )
    assert [one.failed for one in heard] == [False] * 10
    marked = MemoryTool(view, cache_control={"type": "ephemeral"}).to_dict()
    assert marked == {"type": "memory_20250818", "name": "memory", "cache_control": {"type": "ephemeral"}}
    texts = [one.text for one in heard]
    assert texts[0].splitlines()[1:] == ["0B\t/memories"]
    assert texts[1].endswith("/memories/trips.md")
    assert texts[2].splitlines()[1:] == [
        "     1\t# Trips",
        "     2\t",
        "     3\t- Lisbon in May",
        "     4\t- Porto in June",
        "     5\t",
    ]
    assert "     3\t- Lisbon in April" in texts[3]
    assert "     3\t- Oslo in March\n     4\t- Lisbon in April" in texts[4]
    assert texts[6].splitlines()[1:] == ["59B\t/memories", "59B\t/memories/go/", "59B\t/memories/go/to.md"]
    assert texts[7].splitlines()[1:] == ["     3\t- Oslo in March", "     4\t- Lisbon in April"]
    assert texts[9].splitlines()[1:] == ["0B\t/memories"]
    gone = said(view.list(state="forgotten"))
    assert gone == ["Lisbon in April", "Oslo in March", "Porto in June"]


def test_the_asynchronous_tool_does_the_same(memory: Memory, endpoint: Endpoint) -> None:
    commands = (
        create("/memories/trips.md", TRIPS),
        replaced("/memories/trips.md", "May", "April"),
        inserted("/memories/trips.md", 0, "Where to go:\n"),
        view_of("/memories/trips.md"),
        {"command": "rename", "old_path": "/memories/trips.md", "new_path": "/memories/go.md"},
        {"command": "delete", "path": "/memories/go.md"},
        view_of("/memories/go.md"),
    )
    later = asyncio.run(told_later(endpoint, private(memory, BOB), *commands))
    now = told(endpoint, private(memory, ALICE), *commands)
    assert later == now
    assert [one.failed for one in now] == [False] * 6 + [True]


def test_a_mistake_is_told_in_words_and_changes_nothing(
    memory: Memory, endpoint: Endpoint, caplog: pytest.LogCaptureFixture
) -> None:
    view = private(memory, ALICE)
    view.files.write("trips.md", "- one\n- two\n- two more\n")
    mistakes: list[tuple[Command, str]] = [
        (view_of("/memories/other.md"), "does not exist"),
        (view_of("/etc/passwd"), "must begin with /memories"),
        (view_of("/memoriesandmore"), "must begin with /memories"),
        (view_of("/memories/trips.md", 9, 10), "4 lines"),
        (view_of("/memories/trips.md", 3, 2), "4 lines"),
        (create("/memories/trips.md", "- three\n"), "already exists"),
        (create("/memories", "- three\n"), "name a file"),
        (create("/memories/trips", "- three\n"), "folder"),
        (create("/memories/key.md", "- AKIAIOSFODNN7EXAMPLQ\n"), "holds a secret"),
        (replaced("/memories/trips.md", "three", "3"), "does not appear verbatim"),
        (replaced("/memories/trips.md", "two", "2"), "in lines: 2, 3"),
        (replaced("/memories/trips.md", "", "2"), "does not appear verbatim"),
        (inserted("/memories/trips.md", 4, "- x"), "[0, 3]"),
        (inserted("/memories/trips.md", -1, "- x"), "[0, 3]"),
        ({"command": "delete", "path": "/memories"}, "stays as it is"),
        ({"command": "delete", "path": "/memories/other.md"}, "does not exist"),
        ({"command": "rename", "old_path": "/memories/x.md", "new_path": "/memories/y.md"}, "does not exist"),
        ({"command": "rename", "old_path": "/memories/trips.md", "new_path": "/memories"}, "name a file"),
        ({"command": "append", "path": "/memories/trips.md"}, "Unknown command"),
        ({}, "Unknown command"),
        ({"command": "view"}, "needs `path`"),
        ({"command": "insert", "path": "/memories/trips.md", "insert_line": "1"}, "whole number"),
        ({"command": "view", "path": "/memories", "view_range": [1, "2"]}, "two whole numbers"),
    ]
    with caplog.at_level(logging.ERROR):
        heard = told(endpoint, view, *(command for command, _ in mistakes))
    for (command, words), one in zip(mistakes, heard, strict=True):
        assert one.failed, command
        assert words in one.text, command
    assert "AKIA" not in "".join(one.text for one in heard)
    assert view.files.read("trips.md") == "- one\n- two\n- two more\n"
    assert caplog.records == []  # nothing went wrong, as far as the SDK knows


def test_no_path_that_a_model_makes_up_leads_out(memory: Memory, endpoint: Endpoint) -> None:
    view = private(memory, ALICE)
    paths = [
        f"/memories/{path}"
        for path in ATTACKS
        # A slash at either end is forgiven, and JSON cannot carry half a surrogate pair.
        if isinstance(path, str) and path.strip("/") not in ("", "trips.md") and path.isprintable()
    ]
    assert len(paths) > 25
    heard = told(endpoint, view, *map(view_of, paths), *(create(path, "- a\n") for path in paths))
    assert all(one.failed for one in heard)
    assert view.files.list() == []
    assert memory.admin.stats().memories == 0


def test_in_a_group_the_model_has_that_groups_session_and_nothing_private(memory: Memory, endpoint: Endpoint) -> None:
    private(memory, ALICE).files.write("diary.md", "- I am looking for another job\n")
    heard = told(
        endpoint,
        group(memory, ALICE),
        view_of("/memories"),
        view_of("/memories/diary.md"),
        create("/memories/diary.md", "- something\n"),
        create(TEAMS_TODAY, "## Temporary Facts\n- The release is on Monday\n"),
    )
    assert [one.failed for one in heard] == [False, True, True, False]
    assert heard[0].text.splitlines()[1:] == ["0B\t/memories"]
    assert "2026-03-01/telegram_-100.md" in heard[2].text
    (seen,) = told(endpoint, group(memory, BOB), view_of(TEAMS_TODAY))
    assert "The release is on Monday" in seen.text
    assert "job" not in "".join(str(request.body) for request in endpoint.seen)


def test_a_refusal_tells_nothing_of_what_is_there(memory: Memory, endpoint: Endpoint) -> None:
    private(memory, ALICE).files.write("diary.md", "- I am looking for another job\n")
    commands = (
        view_of("/memories/diary.md"),
        replaced("/memories/diary.md", "job", "house"),
        inserted("/memories/diary.md", 0, "- x"),
        {"command": "delete", "path": "/memories/diary.md"},
        {"command": "rename", "old_path": "/memories/diary.md", "new_path": "/memories/x.md"},
    )
    there = told(endpoint, private(memory, BOB), *commands)
    private(memory, ALICE).files.delete("diary.md")
    assert told(endpoint, private(memory, BOB), *commands) == there
    assert all(one.failed for one in there)


class Overtaken(Files):
    """Files that another writer changes between a read and the write that follows it."""

    def read(self, path: str) -> str:
        text = Files.read(self, path)
        other = View(replace(self._context, thread="phone"))
        other.files.write(path, "- Lisbon in May\n- Porto in June\n")
        return text


class OvertakenView(View):
    files = resource(Overtaken)


def test_an_edit_of_what_somebody_else_changed_meanwhile_is_not_lost(memory: Memory, endpoint: Endpoint) -> None:
    view = private(memory, ALICE)
    view.files.write("trips.md", "- Lisbon in May\n")
    slow = OvertakenView(view._context)
    (heard,) = told(endpoint, slow, replaced("/memories/trips.md", "May", "April"))
    assert heard.failed
    assert "view it again" in heard.text
    assert view.files.read("trips.md") == "- Lisbon in May\n- Porto in June\n"


def test_without_an_identity_the_tool_says_that_there_is_no_memory(memory: Memory, endpoint: Endpoint) -> None:
    nobody = memory.view(None, tacit.Chat.private("telegram:1"))
    heard = told(endpoint, nobody, view_of("/memories"), create("/memories/a.md", "- a\n"))
    assert all(one.failed and "not available" in one.text for one in heard)
    assert memory.spaces() == []


def test_without_the_sdk_it_says_what_to_install() -> None:
    code = "import sys; sys.modules['anthropic'] = None\n"
    code += "import tacit.tools.anthropic_memory"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "MissingExtra" in done.stderr
    assert ".[language]" in done.stderr
