"""LangGraph's checkpointer: the steps of a graph, stored for the person of a view."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast

from tacit.errors import InvalidInput, MissingExtra
from tacit.integrations.langgraph.views import (
    VIEW_TYPES,
    ViewSource,
    require_view_source,
    resolve_view,
)
from tacit.records.checkpoints import StepWrite

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

    from tacit.integrations.langgraph.checkpoints import (
        import_checkpoints,
        make_config,
        next_version,
        pack_checkpoint,
        parse_config,
        unpack_checkpoint,
    )
except ImportError:
    raise MissingExtra("langgraph", "LangGraph's checkpointer") from None

if TYPE_CHECKING:
    from tacit.memory import GraphSteps

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
        self._fixed_steps = view.checkpoints.steps if isinstance(view, VIEW_TYPES) else None

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
        step, values = pack_checkpoint(
            self.serde, parse_config(config), checkpoint, kept, new_versions
        )
        self._steps(config).save(step, values)
        return make_config(step.thread, step.ns, step.id, self._carried_config(config))

    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
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

        After an interruption, call it again: it adds what is missing.
        """
        if self._fixed_steps is None:
            raise InvalidInput(
                "view", "threads are imported for one person: Checkpointer(view).take_in(…)"
            )
        return import_checkpoints(
            self, other, None if threads is None else _require_list("threads", threads)
        )

    def get_next_version(self, current: str | None, channel: None) -> str:  # noqa: ARG002
        """Return a version that sorts by the number of changes and is unique across branches."""
        return next_version(current)

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
        return {
            n: v for n, v in named.items() if n not in _CHECKPOINT_FIELDS and not n.startswith("__")
        }


def _require_list(field: str, values: Sequence[str]) -> Sequence[str]:
    if isinstance(values, str) or not isinstance(values, Sequence):
        raise InvalidInput(field, "expected a list")
    return [str(one) for one in values]
