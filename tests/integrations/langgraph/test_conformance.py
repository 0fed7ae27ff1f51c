"""LangGraph's own tests of checkpointers: every capability, on both databases."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.conformance.capabilities import ALL_CAPABILITIES
from langgraph.checkpoint.conformance.initializer import RegisteredCheckpointer
from langgraph.checkpoint.conformance.validate import validate

import tacit
from tacit.integrations.langgraph import Checkpointer
from tacit.memory import Memory
from tests.contract.rooms import ALICE, group, private


@pytest.mark.parametrize("chat", ["private", "group"])
def test_every_capability_passes(memory: Memory, chat: str) -> None:
    view = private(memory, ALICE) if chat == "private" else group(memory, ALICE)

    async def made() -> AsyncIterator[BaseCheckpointSaver[str]]:
        yield Checkpointer(view)

    found = asyncio.run(validate(RegisteredCheckpointer(name="Tacit", factory=made)))  # type: ignore[arg-type]
    assert {one.value for one in ALL_CAPABILITIES} == set(found.results)
    for name, result in found.results.items():
        assert (result.detected, result.passed, result.tests_skipped) == (True, True, 0), (name, result.failures)
        assert result.tests_passed > 0
    assert found.conformance_level() == "FULL"


def test_a_view_of_nobody_keeps_nothing_and_does_not_fail(memory: Memory) -> None:
    saver = Checkpointer(memory.view(None, tacit.Chat.private("web:1")))
    saver.delete_thread("1")
    saver.prune(["1"])
    saver.copy_thread("1", "2")
    saver.delete_for_runs(["1"])
    assert saver.get_tuple({"configurable": {"thread_id": "1"}}) is None
    assert list(saver.list(None)) == []
