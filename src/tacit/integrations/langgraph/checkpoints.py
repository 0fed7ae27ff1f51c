"""Pack checkpoints into rows and back, and import them from another checkpointer."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
)
from langgraph.checkpoint.serde.base import SerializerProtocol

from tacit.errors import InvalidInput
from tacit.records.checkpoints import GraphStep, StepValue, StoredGraphStep

if TYPE_CHECKING:
    from tacit.integrations.langgraph.checkpointer import Checkpointer


# A checkpoint as rows, and back. Values that did not change since the previous step are not written
# again; short values are stored with the step.

_SHORT_MAX_CHARS = 200
_SHORT_MAX_COUNT = 8  # items in a short list or object
_OWN_VERSION_MARK = ".tacit."  # marks a version that we made, which is unique to one value
_NUMBERS = (bool, float)
CheckpointKey = tuple[str, str | None, str | None]


def parse_config(config: RunnableConfig) -> CheckpointKey:
    """Return the thread, namespace and checkpoint of a config."""
    named = config.get("configurable") or {}
    thread = named.get("thread_id")
    if thread is None or thread == "":
        raise InvalidInput("thread_id", 'name it: {"configurable": {"thread_id": "1"}}')
    return str(thread), named.get("checkpoint_ns"), named.get("checkpoint_id") or None


def make_config(thread: str, ns: str, id: str, carried: Mapping[str, Any]) -> RunnableConfig:
    own = {"thread_id": thread, "checkpoint_ns": ns, "checkpoint_id": id}
    return {"configurable": {**carried, **own}}


def next_version(current: str | None) -> str:
    count = 0 if current is None else int(str(current).split(".", maxsplit=1)[0])
    return f"{count + 1:032}{_OWN_VERSION_MARK}{secrets.token_hex(8)}"


def pack_checkpoint(
    serde: SerializerProtocol,
    where: CheckpointKey,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    new_versions: ChannelVersions,
) -> tuple[GraphStep, list[StepValue]]:
    thread, ns, parent = where
    short: dict[str, Any] = {}
    leading: dict[str, str] = {}
    values: list[StepValue] = []
    for channel, value in checkpoint["channel_values"].items():
        if _is_short(value):
            short[channel] = value
            continue
        version = checkpoint["channel_versions"].get(channel)
        ours = isinstance(version, str) and _OWN_VERSION_MARK in version
        if ours and channel not in new_versions:
            leading[channel] = str(version)  # written by an earlier step
            continue
        type_, data = serde.dumps_typed(value)
        data = bytes(data)
        # A foreign version does not identify a value: a number repeats on another branch, and a
        # random one in a forked process or with a fixed seed. So the key includes a digest.
        key = str(version) if ours else f"{version}~{_digest(data)}"
        leading[channel] = key
        values.append(StepValue(channel=channel, version=key, type=type_, data=data))
    type_, data = serde.dumps_typed({**checkpoint, "channel_values": short})
    run = metadata.get("run_id")
    step = GraphStep(
        thread=thread,
        ns=ns or "",
        id=checkpoint["id"],
        parent=parent,
        type=type_,
        data=bytes(data),
        metadata=cast("Mapping[str, Any]", metadata),
        versions=leading,
        run=None if run is None else str(run),
    )
    return step, values


def _is_short(value: object) -> bool:
    """Decide by the value alone, so that an unchanged value stays in the same place."""
    kind = type(value)
    if kind in (list, tuple, dict):
        held = cast("Collection[object]", value)
        if len(held) > _SHORT_MAX_COUNT:
            return False
        inner = cast("dict[object, object]", value).values() if kind is dict else held
        return all(map(_is_plain, held)) and all(map(_is_plain, inner))
    return _is_plain(value)


def _is_plain(value: object) -> bool:
    if value is None or isinstance(value, _NUMBERS):
        return True
    if isinstance(value, int):
        return value.bit_length() < 64
    return type(value) is str and len(value) <= _SHORT_MAX_CHARS


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def unpack_checkpoint(
    serde: SerializerProtocol, found: StoredGraphStep, carried: Mapping[str, Any]
) -> CheckpointTuple:
    step = found.step
    checkpoint = serde.loads_typed((step.type, step.data))
    whole = {one.channel: serde.loads_typed((one.type, one.data)) for one in found.values}
    checkpoint["channel_values"].update(whole)
    return CheckpointTuple(
        config=make_config(step.thread, step.ns, step.id, carried),
        checkpoint=checkpoint,
        metadata=cast("CheckpointMetadata", dict(step.metadata)),
        parent_config=(
            None if step.parent is None else make_config(step.thread, step.ns, step.parent, carried)
        ),
        pending_writes=[
            (one.task, one.channel, serde.loads_typed((one.type, one.data))) for one in found.writes
        ],
    )


def import_checkpoints(
    ours: Checkpointer, other: BaseCheckpointSaver[Any], threads: Sequence[str] | None
) -> int:
    """Copy threads from another checkpointer, and return how many checkpoints were new.

    Oldest first, each with its writes: an interrupted import lacks the end and has no gap.
    """
    if not isinstance(other, BaseCheckpointSaver):
        raise InvalidInput("other", "expected a checkpointer, such as an InMemorySaver")
    named = _list_threads(other) if threads is None else threads
    return sum(_import_thread(ours, other, thread) for thread in dict.fromkeys(named))


def _list_threads(other: BaseCheckpointSaver[Any]) -> list[str]:
    return [parse_config(one.config)[0] for one in other.list(None)]


def _import_thread(ours: Checkpointer, other: BaseCheckpointSaver[Any], thread: str) -> int:
    whole: RunnableConfig = {"configurable": {"thread_id": thread}}
    configs = [one.config for one in other.list(whole)]
    count = 0
    for config in sorted(configs, key=lambda one: str(parse_config(one)[2])):
        found = other.get_tuple(config)
        if found is not None:
            count += ours.get_tuple(found.config) is None
            _put_checkpoint(ours, found)
    return count


def _put_checkpoint(ours: Checkpointer, found: CheckpointTuple) -> None:
    thread, ns, _ = parse_config(found.config)
    parent = parse_config(found.parent_config)[2] if found.parent_config else None
    before: RunnableConfig = {
        "configurable": {"thread_id": thread, "checkpoint_ns": ns or "", "checkpoint_id": parent}
    }
    versions = found.checkpoint["channel_versions"]
    there = ours.put(before, found.checkpoint, found.metadata, versions)
    by_task: dict[str, list[tuple[str, Any]]] = {}
    for task, channel, value in found.pending_writes or ():
        by_task.setdefault(task, []).append((channel, value))
    for number, (task, writes) in enumerate(by_task.items()):
        # Task paths are not known: keep the order instead.
        ours.put_writes(there, writes, task, f"{number:06}")
