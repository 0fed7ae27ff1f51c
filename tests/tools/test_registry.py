"""The registry as a whole: which tools there are, and when. tests/golden holds what they say."""

import json
from typing import Any

import pytest

import tacit
from tacit.memory import Memory
from tacit.settings import MemorySettings, Settings
from tacit.tools import tools
from tacit.tools.reference import reference_tools
from tests.contract.rooms import ALICE, group, private
from tests.tools.calling import REFERENCE, STANDARD, call, filled

BOT = tacit.Requester("telegram:9", is_bot=True)


def test_these_are_the_tools_also_in_a_group_and_none_wipes(memory: Memory) -> None:
    view = private(memory, ALICE)
    names = {tool.name for tool in tools(view)}
    assert names == {name for name, _ in STANDARD} == {t.name for t in tools(group(memory, ALICE))}
    others = {tool.name for tool in reference_tools(view)}
    assert others == {name for name, _ in REFERENCE}
    assert not [name for name in names | others if "wipe" in name or "erase" in name]


def test_where_memory_is_disabled_there_are_none(memory: Memory) -> None:
    for nobody in (None, BOT):
        view = memory.view(nobody, tacit.Chat.private("telegram:9"))
        assert (tools(view), reference_tools(view)) == ((), ())
    off = Settings(memory=MemorySettings(enabled=False))
    with tacit.open("sqlite://", settings=off, embedder=None) as switched_off:
        assert tools(switched_off.view(ALICE, tacit.Chat.private(ALICE.key))) == ()


@pytest.mark.parametrize("calls", [STANDARD, REFERENCE], ids=["standard", "reference"])
def test_every_tool_does_what_it_is_asked_in_the_form_it_promises(memory: Memory, calls: Any) -> None:
    view = private(memory, ALICE)
    id = view.remember("Sarah lives in Porto").id
    promised = {tool.name: tool.returns for tool in (*tools(view), *reference_tools(view))}
    for name, arguments in calls:
        answer = call(view, name, **filled(arguments, id))
        assert not answer.failed, f"{name}: {answer.text}"
        assert answer.text
        assert answer.data is None or json.loads(json.dumps(answer.data)) == answer.data
        if (schema := promised[name]) is not None:
            assert set(answer.data or {}) == set(schema["properties"]) == set(schema["required"])
    assert calls is STANDARD or all(promised[name] for name, _ in calls)
