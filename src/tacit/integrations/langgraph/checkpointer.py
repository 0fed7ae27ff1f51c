"""LangGraph's checkpointer: the steps of a graph, stored for the person of a view."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from tacit.errors import InvalidInput, MissingExtra
from tacit.integrations.langgraph.views import ViewSource, require_view_source, resolve_view
from tacit.memory import View
from tacit.records.checkpoints import GraphStep, StepValue, StepWrite, StoredGraphStep

try:
    from langchain_core.runnables import RunnableConfig
    from langgraph.checkpoint.base import (
        WRITES_IDX_MAP,
        BaseCheckpointSaver,
        ChannelVersions,
        Checkpoint,
        CheckpointMetadata,
        CheckpointTuple,
        get_checkpoint_id,
        get_serializable_checkpoint_metadata,
    )
    from langgraph.checkpoint.serde.base import SerializerProtocol
except ImportError:
    raise MissingExtra("langgraph", "LangGraph's checkpointer") from None

if TYPE_CHECKING:
    from tacit.memory import GraphSteps

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


def make_config(thread: str, /, **fields: Any) -> RunnableConfig:
    return {"configurable": {**fields, "thread_id": thread}}


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
        key = str(version)
        if not ours:
            key += f"~{hashlib.blake2b(data, digest_size=16).hexdigest()}"
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


def unpack_checkpoint(serde: SerializerProtocol, found: StoredGraphStep, carried: Mapping[str, Any]) -> CheckpointTuple:
    step = found.step
    checkpoint = serde.loads_typed((step.type, step.data))
    whole = {one.channel: serde.loads_typed((one.type, one.data)) for one in found.values}
    checkpoint["channel_values"].update(whole)

    def config(id: str) -> RunnableConfig:
        return make_config(step.thread, **carried, checkpoint_ns=step.ns, checkpoint_id=id)

    return CheckpointTuple(
        config=config(step.id),
        checkpoint=checkpoint,
        metadata=cast("CheckpointMetadata", dict(step.metadata)),
        parent_config=None if step.parent is None else config(step.parent),
        pending_writes=[(one.task, one.channel, serde.loads_typed((one.type, one.data))) for one in found.writes],
    )


# The checkpointer.

_PAGE_COUNT = 20
# Fields of a run's config that a checkpoint's own config sets.
_CHECKPOINT_FIELDS = {"thread_id", "checkpoint_id", "checkpoint_ns", "checkpoint_map"}


def _in_thread(name: str) -> Any:
    """Return the asynchronous form of a method: the same, in a worker thread."""

    async def call(self: Checkpointer, *args: Any, **named: Any) -> Any:
        return await asyncio.to_thread(getattr(self, name), *args, **named)

    return call


class Checkpointer(BaseCheckpointSaver[str]):
    """Store checkpoints: `builder.compile(checkpointer=Checkpointer(view))`.

    Instead of a view, a function may make one from the config of a run: one graph for many people.
    `serde` is as for any checkpointer.
    """

    def __init__(self, view: ViewSource, *, serde: SerializerProtocol | None = None) -> None:
        require_view_source(view)
        super().__init__(serde=serde)
        self._view_source = view
        self._fixed_steps = view.checkpoints.steps if isinstance(view, View) else None

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        thread, ns, id = parse_config(config)
        found = self._steps(config).find(thread, ns or "", id)
        if found is None:
            return None
        return unpack_checkpoint(self.serde, found, self._carried_config(config))

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002 (LangGraph's name for it)
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        for page in self._pages(config, filter, before, limit):
            yield from page

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        kept = get_serializable_checkpoint_metadata(config, metadata)
        step, values = pack_checkpoint(self.serde, parse_config(config), checkpoint, kept, new_versions)
        self._steps(config).save(step, values)
        carried = self._carried_config(config)
        return make_config(step.thread, **carried, checkpoint_ns=step.ns, checkpoint_id=step.id)

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        thread, ns, id = parse_config(config)
        if id is None:
            raise InvalidInput("checkpoint_id", "name the checkpoint that the writes belong to")
        written = []
        for index, (channel, value) in enumerate(writes):
            type_, data = self.serde.dumps_typed(value)
            written.append(
                StepWrite(
                    task=task_id,
                    index=WRITES_IDX_MAP.get(channel, index),
                    channel=channel,
                    type=type_,
                    data=bytes(data),
                    path=task_path,
                )
            )
        replace = all(channel in WRITES_IDX_MAP for channel, _ in writes)
        self._steps(config).write(thread, ns or "", id, written, replace=replace)

    def delete_thread(self, thread_id: str) -> None:
        self._steps().delete_thread(str(thread_id))

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        self._steps().delete_runs(_require_list("run_ids", run_ids))

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        self._steps().copy_thread(str(source_thread_id), str(target_thread_id))

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Delete checkpoints. `keep_latest` keeps the newest of each namespace and the values it
        needs; `delete` keeps nothing."""
        named = _require_list("thread_ids", thread_ids)
        self._steps().prune(named, cast("Any", strategy))

    def take_in(self, other: BaseCheckpointSaver[Any], threads: Sequence[str] | None = None) -> int:
        """Import all or some threads of another checkpointer; return how many checkpoints were new.

        Oldest first, each with its writes: an interrupted import lacks the end and has no gap. Call
        it again, and it adds what is missing.
        """
        if self._fixed_steps is None:
            raise InvalidInput("view", "threads are imported for one person: Checkpointer(view).take_in(…)")
        if not isinstance(other, BaseCheckpointSaver):
            raise InvalidInput("other", "expected a checkpointer, such as an InMemorySaver")
        if threads is None:
            named = [parse_config(one.config)[0] for one in other.list(None)]
        else:
            named = _require_list("threads", threads)
        return sum(self._import_thread(other, thread) for thread in dict.fromkeys(named))

    def get_next_version(self, current: str | None, channel: None) -> str:  # noqa: ARG002
        """Return a version that sorts by the number of changes and is unique across branches."""
        count = 0 if current is None else int(str(current).split(".", maxsplit=1)[0])
        return f"{count + 1:032}{_OWN_VERSION_MARK}{secrets.token_hex(8)}"

    aget_tuple = _in_thread("get_tuple")

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002 (LangGraph's name for it)
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        pages = self._pages(config, filter, before, limit)
        while (page := await asyncio.to_thread(next, pages, None)) is not None:
            for one in page:
                yield one

    aput = _in_thread("put")
    aput_writes = _in_thread("put_writes")
    adelete_thread = _in_thread("delete_thread")
    adelete_for_runs = _in_thread("delete_for_runs")
    acopy_thread = _in_thread("copy_thread")
    aprune = _in_thread("prune")

    def _import_thread(self, other: BaseCheckpointSaver[Any], thread: str) -> int:
        configs = [one.config for one in other.list(make_config(thread))]
        count = 0
        for config in sorted(configs, key=lambda one: str(parse_config(one)[2])):
            found = other.get_tuple(config)
            if found is not None:
                count += self.get_tuple(found.config) is None
                self._import_checkpoint(found)
        return count

    def _import_checkpoint(self, found: CheckpointTuple) -> None:
        thread, ns, _ = parse_config(found.config)
        parent = parse_config(found.parent_config)[2] if found.parent_config else None
        before = make_config(thread, checkpoint_ns=ns or "", checkpoint_id=parent)
        versions = found.checkpoint["channel_versions"]
        there = self.put(before, found.checkpoint, found.metadata, versions)
        by_task: dict[str, list[tuple[str, Any]]] = {}
        for task, channel, value in found.pending_writes or ():
            by_task.setdefault(task, []).append((channel, value))
        for number, (task, writes) in enumerate(by_task.items()):
            # Task paths are not known: keep the order instead.
            self.put_writes(there, writes, task, f"{number:06}")

    def _pages(
        self,
        config: RunnableConfig | None,
        filter: dict[str, Any] | None,  # noqa: A002 (LangGraph's name for it)
        before: RunnableConfig | None,
        limit: int | None,
    ) -> Iterator[tuple[CheckpointTuple, ...]]:
        """Yield pages, each read in its own transaction, so that an abandoned iterator holds none."""
        thread, ns, id = (None, None, None) if config is None else parse_config(config)
        earlier = None if before is None else get_checkpoint_id(before)
        steps, carried = self._steps(config), self._carried_config(config)
        left, cursor = limit, None
        while left is None or left > 0:
            page = steps.list(
                thread,
                ns,
                id,
                before=earlier,
                metadata=filter,
                limit=_PAGE_COUNT if left is None else min(left, _PAGE_COUNT),
                cursor=cursor,
            )
            yield tuple(unpack_checkpoint(self.serde, one, carried) for one in page)
            left = None if left is None else left - len(page)
            cursor = page.cursor
            if cursor is None:
                return

    def _steps(self, config: RunnableConfig | None = None) -> GraphSteps:
        return self._fixed_steps or resolve_view(self._view_source, config).checkpoints.steps

    def _carried_config(self, config: RunnableConfig | None) -> dict[str, Any]:
        """Return the fields of a config that identify the person, for configs that are returned: a
        graph can be run again from one of them."""
        if config is None or self._fixed_steps is not None:
            return {}
        named = config.get("configurable") or {}
        return {n: v for n, v in named.items() if n not in _CHECKPOINT_FIELDS and not n.startswith("__")}


def _require_list(field: str, values: Sequence[str]) -> list[str]:
    if isinstance(values, str) or not isinstance(values, Sequence):
        raise InvalidInput(field, "expected a list")
    return [str(one) for one in values]
