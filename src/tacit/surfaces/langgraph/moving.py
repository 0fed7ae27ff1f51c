"""From another checkpointer to ours: what an agent kept in memory, or in a database of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple

from tacit.errors import InvalidInput
from tacit.surfaces.langgraph.packing import asked

if TYPE_CHECKING:
    from tacit.surfaces.langgraph.checkpointer import Checkpointer


def take_in(
    ours: Checkpointer, other: BaseCheckpointSaver[Any], threads: Sequence[str] | None
) -> int:
    """The oldest first, each checkpoint and then its writes: what was interrupted is a history
    without its end, and never one with a gap."""
    if not isinstance(other, BaseCheckpointSaver):
        raise InvalidInput("other", "expected a checkpointer, such as an InMemorySaver")
    named = _threads(other) if threads is None else threads
    return sum(_taken(ours, other, thread) for thread in dict.fromkeys(named))


def _threads(other: BaseCheckpointSaver[Any]) -> list[str]:
    return [asked(one.config)[0] for one in other.list(None)]


def _taken(ours: Checkpointer, other: BaseCheckpointSaver[Any], thread: str) -> int:
    whole: RunnableConfig = {"configurable": {"thread_id": thread}}
    configs = [one.config for one in other.list(whole)]
    count = 0
    for config in sorted(configs, key=lambda one: str(asked(one)[2])):
        found = other.get_tuple(config)
        if found is not None:
            count += ours.get_tuple(found.config) is None
            _put(ours, found)
    return count


def _put(ours: Checkpointer, found: CheckpointTuple) -> None:
    thread, ns, _ = asked(found.config)
    parent = asked(found.parent_config)[2] if found.parent_config else None
    before: RunnableConfig = {
        "configurable": {"thread_id": thread, "checkpoint_ns": ns or "", "checkpoint_id": parent}
    }
    versions = found.checkpoint["channel_versions"]
    there = ours.put(before, found.checkpoint, found.metadata, versions)
    by_task: dict[str, list[tuple[str, Any]]] = {}
    for task, channel, value in found.pending_writes or ():
        by_task.setdefault(task, []).append((channel, value))
    for number, (task, writes) in enumerate(by_task.items()):
        # Their paths are not told: in their place, the order in which they came.
        ours.put_writes(there, writes, task, f"{number:06}")
