"""`read_file` and `write_file` as tools that any model can be given."""

import json
from typing import Any

import pytest

import tacit
from tacit.memory import Memory
from tacit.tools.registry import file_tools
from tests.contract.rooms import ALICE, BOB, private
from tests.notes.attacks import ATTACKS


def test_a_model_writes_a_file_and_reads_it(memory: Memory) -> None:
    read, write = file_tools(private(memory, ALICE))
    assert read.call({"path": ""}).text == "There are no files yet."
    assert not write.call({"path": "trips.md", "text": "- Lisbon in May\n"}).failed
    assert "\n- Lisbon in May\n" in read.call({"path": "trips.md"}).text
    assert "\ntrips.md\n" in read.call({"path": "/"}).text
    assert file_tools(private(memory, BOB))[0].call({"path": "trips.md"}).failed


def test_what_a_tool_says_of_itself_is_a_json_schema(memory: Memory) -> None:
    read, write = file_tools(private(memory, ALICE))
    assert [read.name, write.name] == ["read_file", "write_file"]
    for tool in (read, write):
        schema = json.loads(json.dumps(tool.parameters))
        assert schema["type"] == "object"
        assert set(schema["required"]) == set(schema["properties"])
        assert tool.description


def test_a_path_that_leads_out_is_refused_in_words(memory: Memory, subtests: pytest.Subtests) -> None:
    read, write = file_tools(private(memory, ALICE))
    for path in ATTACKS:
        with subtests.test(repr(path)[:60]):
            assert path in ("", "/") or read.call({"path": path}).failed  # the list of files
            assert write.call({"path": path, "text": "- a\n"}).failed
            assert memory.spaces() == []


def test_whatever_a_model_writes_is_answered(memory: Memory) -> None:
    _, write = file_tools(private(memory, ALICE))
    odd: list[Any] = [{}, {"path": 1}, {"path": "a.md"}, {"text": "x"}, [], None, "a.md", {"x": "y"}]
    for given in odd:
        assert write.call(given).failed, given


def test_without_an_identity_nothing_is_read_or_written(memory: Memory) -> None:
    read, write = file_tools(memory.view(None, tacit.Chat.private("telegram:1")))
    assert read.call({"path": "a.md"}).failed
    assert "not available" in write.call({"path": "a.md", "text": "- a\n"}).text
