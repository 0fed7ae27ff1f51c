"""The registry as a whole: which tools there are, what they say of themselves, and when."""

import json
from typing import Any

import pytest

import tacit
from tacit.memory import Memory
from tacit.settings import MemorySettings, Settings
from tacit.tools import tools
from tacit.tools.reference import reference_tools
from tacit.tools.tool import Tool
from tests.contract.rooms import ALICE, group, private
from tests.tools.calling import REFERENCE, STANDARD, call, filled

BOT = tacit.Requester("telegram:9", is_bot=True)
READING = {"memory_get", "memory_list", "memory_query", "search_memories", "read_file"}
READING |= {"read_graph", "search_nodes", "open_nodes"}
DELETING = {"memory_delete", "memory_delete_namespace", "write_file"}
DELETING |= {"delete_entities", "delete_observations", "delete_relations"}


def every(memory: Memory) -> tuple[Tool, ...]:
    view = private(memory, ALICE)
    return (*tools(view), *reference_tools(view))


def test_these_are_the_tools_and_none_wipes(memory: Memory) -> None:
    view = private(memory, ALICE)
    assert {tool.name for tool in tools(view)} == {name for name, _ in STANDARD}
    assert {tool.name for tool in reference_tools(view)} == {name for name, _ in REFERENCE}
    assert not [tool.name for tool in every(memory) if "wipe" in tool.name or "erase" in tool.name]


@pytest.mark.parametrize("nobody", [None, BOT], ids=["no identity", "a bot"])
def test_where_memory_is_disabled_there_are_none(
    memory: Memory, nobody: tacit.Requester | None
) -> None:
    view = memory.view(nobody, tacit.Chat.private("telegram:9"))
    assert (tools(view), reference_tools(view)) == ((), ())


def test_where_memory_is_switched_off_there_are_none() -> None:
    off = Settings(memory=MemorySettings(enabled=False))
    with tacit.open("sqlite://", settings=off, embedder=None) as memory:
        assert tools(memory.view(ALICE, tacit.Chat.private(ALICE.key))) == ()


def test_what_a_tool_says_of_itself_is_plain_json(memory: Memory) -> None:
    for tool in every(memory):
        assert tool.description
        assert tool.title
        for schema in (tool.parameters, tool.returns or tool.parameters):
            assert json.loads(json.dumps(schema)) == schema
            check(schema, tool.name)


def check(schema: Any, name: str) -> None:
    assert schema["type"] in ("object", "string", "integer", "number", "boolean", "array"), name
    if schema["type"] == "object":
        assert set(schema["required"]) <= set(schema["properties"]), name
        assert schema["additionalProperties"] is False, name
        for part in schema["properties"].values():
            assert part["description"], name
            check(part, name)
    if schema["type"] == "array":
        check(schema["items"], name)


def test_what_only_reads_and_what_takes_away_is_said(memory: Memory) -> None:
    assert {tool.name for tool in every(memory) if tool.read_only} == READING
    assert {tool.name for tool in every(memory) if tool.destructive} == DELETING
    assert all("read" in tool.needs or "write" in tool.needs for tool in every(memory))


def test_the_tools_of_memory_are_always_available_and_files_are_not(memory: Memory) -> None:
    kept = {tool.name for tool in every(memory) if not tool.always_available}
    assert kept == {"read_file", "write_file"}


@pytest.mark.parametrize("calls", [STANDARD, REFERENCE], ids=["standard", "reference"])
def test_every_tool_does_what_it_is_asked(memory: Memory, calls: Any) -> None:
    view = private(memory, ALICE)
    id = view.remember("Sarah lives in Porto").id
    for name, arguments in calls:
        answer = call(view, name, **filled(arguments, id))
        assert not answer.failed, f"{name}: {answer.text}"
        assert answer.text
        assert answer.data is None or json.loads(json.dumps(answer.data)) == answer.data


def test_a_tool_that_promises_a_form_keeps_to_it(memory: Memory) -> None:
    view = private(memory, ALICE)
    promised = {tool.name: tool.returns for tool in reference_tools(view)}
    for name, arguments in REFERENCE:
        answer = call(view, name, **arguments)
        schema = promised[name]
        assert schema is not None
        assert answer.data is not None
        assert set(answer.data) == set(schema["properties"]) == set(schema["required"])


def test_in_a_group_the_same_tools_are_there(memory: Memory) -> None:
    view = group(memory, ALICE)
    assert [t.name for t in tools(view)] == [t.name for t in tools(private(memory, ALICE))]
