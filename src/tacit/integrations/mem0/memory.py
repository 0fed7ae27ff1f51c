"""mem0's Memory and AsyncMemory on Tacit: each user is a person in a private chat."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Generator, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar

from tacit.errors import Conflict, InvalidInput, NotFound
from tacit.integrations.mem0 import formats, operations
from tacit.integrations.mem0.formats import UNSET, CallMetadata, parse_metadata
from tacit.integrations.mem0.scope import (
    ID_NAMES,
    Mem0Scope,
    ValidationError,
    parse_location,
    parse_memory_id,
    parse_scope,
)
from tacit.records import drafts
from tacit.records.memory import Memory as Record
from tacit.records.memory import State

if TYPE_CHECKING:
    import tacit.memory


Item = dict[str, Any]

_log = logging.getLogger(__name__)
# Arguments of `search` and `get_all` in earlier versions of mem0.
_LEGACY_NAMES = frozenset({*ID_NAMES, "actor_id", "limit"})
_TRIES_COUNT = 10
_EXPIRED_PROBLEM = (
    "is past: to change an expired memory, also give a later expiration_date, or None for never"
)
_PLATFORM_ONLY = "is of mem0's hosted platform, not of its open-source memory; leave it out"


class Memory:
    """mem0's `Memory`. Each user is a person in a private chat: no one else sees their memories."""

    def __init__(
        self,
        config: object = None,
        *,
        memory: tacit.memory.Memory | None = None,
        space: str | None = None,
    ) -> None:
        """Open a memory by the configuration or Tacit's settings, or use an open one.

        It uses one space, by default `mem0`. A memory that is passed in stays open on `close`.
        """
        place = parse_location(config, space)
        self._opened = None
        if memory is None:
            import tacit

            memory = self._opened = tacit.open(place.url)
        self._memory = memory.space(place.space)

    @classmethod
    def from_config(cls, config_dict: Mapping[str, Any]) -> Self:
        return cls(config_dict)

    def add(
        self,
        messages: object,
        *,
        user_id: str | int | None = None,
        agent_id: str | int | None = None,
        run_id: str | int | None = None,
        metadata: Mapping[str, Any] | None = None,
        timestamp: object = None,
        expiration_date: object = None,
        infer: bool = True,
        memory_type: str | None = None,
        prompt: str | None = None,
    ) -> dict[str, list[Item]]:
        """Learn from messages; without `infer`, store each message as it is."""
        if timestamp is not None:
            raise InvalidInput("timestamp", _PLATFORM_ONLY)
        more = parse_metadata(metadata, UNSET if expiration_date is None else expiration_date)
        scope = parse_scope(
            {"user_id": user_id, "agent_id": agent_id, "run_id": run_id}, "VALIDATION_001"
        )
        if memory_type not in (None, operations.PROCEDURAL):
            raise ValidationError(
                "memory_type", f"must be {operations.PROCEDURAL} or None", "VALIDATION_002"
            )
        said = formats.parse_messages(messages)
        if memory_type == operations.PROCEDURAL and scope.agent is not None:
            made = operations.add_procedure(self._memory, scope, said, more, prompt)
        else:
            add = operations.add_learned if infer else operations.add_raw
            made = add(self._memory, scope, said, more)
        return {"results": made}

    def search(
        self,
        /,
        query: str,
        *,
        top_k: int | None = None,
        filters: Mapping[str, Any] | None = None,
        threshold: float | None = None,
        rerank: bool = False,
        explain: bool = False,
        reference_date: object = None,
        show_expired: bool = False,
        **older: Any,
    ) -> dict[str, list[Item]]:
        """Recall memories for a query, strongest first."""
        del rerank  # recall ranks already
        if reference_date is not None:
            raise InvalidInput("reference_date", _PLATFORM_ONLY)
        asked = operations.parse_query(filters, _legacy_arguments(older), top_k, show_expired)
        found = operations.search_memories(
            self._memory, query, asked, threshold, explain=bool(explain)
        )
        return {"results": found}

    def get_all(
        self,
        /,
        *,
        filters: Mapping[str, Any] | None = None,
        top_k: int | None = None,
        show_expired: bool = False,
        **older: Any,
    ) -> dict[str, list[Item]]:
        """List memories, newest first."""
        asked = operations.parse_query(filters, _legacy_arguments(older), top_k, show_expired)
        return {"results": operations.list_memories(self._memory, asked)}

    def get(self, memory_id: str) -> Item | None:
        found = self._find(memory_id)
        return None if found is None else formats.make_single_item(found[0], found[1])

    def update(
        self,
        memory_id: str,
        text: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        expiration_date: object = UNSET,
        data: str | None = None,
    ) -> dict[str, str]:
        """Change text, metadata or expiry; `data` is an older name of `text`.

        `expiration_date=None` means that it never expires.
        """
        content = text if text is not None else data
        more = parse_metadata(metadata, expiration_date)
        if content is None and metadata is None and more.expires_at is None:
            raise InvalidInput("update", "name at least one of text, metadata and expiration_date")
        for left in reversed(range(_TRIES_COUNT)):
            try:
                self._update(memory_id, content, more)
                break
            except Conflict:  # changed at the same time: merge with the new metadata
                if left == 0:
                    raise
        return {"message": "Memory updated successfully!"}

    def delete(self, memory_id: str) -> dict[str, str]:
        """Forget a memory; its history stays until it is purged."""
        scope, record = self._get(memory_id)
        try:
            operations.open_view(self._memory, scope, acting=False).forget(record.id)
        except NotFound:
            raise _no_such_memory() from None
        return {"message": "Memory deleted successfully!"}

    def delete_all(
        self,
        user_id: str | int | None = None,
        agent_id: str | int | None = None,
        run_id: str | int | None = None,
    ) -> dict[str, str]:
        scope = parse_scope({"user_id": user_id, "agent_id": agent_id, "run_id": run_id})
        view = operations.open_view(self._memory, scope, acting=False)
        for one in operations.list_own(view):
            if scope.holds(one):
                view.forget(one.id)
        return {"message": "Memories deleted successfully!"}

    def history(self, memory_id: str) -> list[Item]:
        """Return the history, oldest first, also of a deleted memory."""
        scope, id = parse_memory_id(memory_id) or (None, "")
        if scope is None:
            return []
        view = operations.open_view(self._memory, scope, acting=False)
        try:
            return formats.make_history(memory_id, view.show(id), view.history(id))
        except NotFound:
            return []

    def reset(self) -> None:
        """Erase the whole space permanently."""
        self._memory.admin.erase_space()

    def close(self) -> None:
        if self._opened is not None:
            self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _update(self, memory_id: object, content: str | None, more: CallMetadata) -> None:
        """Update once; raise Conflict if merged metadata is based on an older version."""
        scope, record = self._get(memory_id)
        whole = formats.merge_metadata(record, more) if more.data else None
        drafts.parse_draft({"content": content, "data": whole}, ())  # validate before a restore
        view = operations.open_view(self._memory, scope, acting=False)
        try:
            if record.state is State.EXPIRED:
                if more.expires_at is None:
                    raise InvalidInput("expiration_date", _EXPIRED_PROBLEM)
                view.restore(record.id)
            seen = None if whole is None else record.version
            view.update(record.id, content, data=whole, expires_at=more.expires_at, if_version=seen)
        except NotFound:
            raise _no_such_memory() from None

    def _find(self, memory_id: object) -> tuple[Mem0Scope, Record] | None:
        """Find an active or expired memory; others do not exist for mem0."""
        scope, id = parse_memory_id(memory_id) or (None, "")
        if scope is None:
            return None
        try:
            record = operations.open_view(self._memory, scope, acting=False).show(id)
        except NotFound:
            return None
        return (scope, record) if record.state in operations.VISIBLE_STATES else None

    def _get(self, memory_id: object) -> tuple[Mem0Scope, Record]:
        found = self._find(memory_id)
        if found is None:
            raise _no_such_memory()
        return found


def _no_such_memory() -> InvalidInput:
    return InvalidInput("memory_id", "no such memory; use an id from add, search or get_all")


def _legacy_arguments(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return known legacy arguments; ignore unknown ones, as mem0 does."""
    for name in given.keys() - _LEGACY_NAMES:
        _log.warning("the argument %s is ignored", name)
    return {
        name: value for name, value in given.items() if name in _LEGACY_NAMES and value is not None
    }


P = ParamSpec("P")
T = TypeVar("T")


def _make_async(
    method: Callable[Concatenate[Memory, P], T],
) -> Callable[Concatenate[AsyncMemory, P], Awaitable[T]]:
    @wraps(method)
    async def call(self: AsyncMemory, /, *args: P.args, **named: P.kwargs) -> T:
        return await asyncio.to_thread(method, self._memory, *args, **named)

    return call


class AsyncMemory:
    """mem0's `AsyncMemory`: the methods of `Memory`, each in a worker thread."""

    def __init__(
        self,
        config: object = None,
        *,
        memory: tacit.memory.Memory | None = None,
        space: str | None = None,
    ) -> None:
        self._memory = Memory(config, memory=memory, space=space)

    @classmethod
    def from_config(cls, config_dict: Mapping[str, Any]) -> Self:
        return cls(config_dict)

    def __await__(self) -> Generator[Any, None, Self]:
        """Allow `await AsyncMemory.from_config(…)`, as in earlier versions of mem0."""
        yield from ()
        return self

    add = _make_async(Memory.add)
    search = _make_async(Memory.search)
    get_all = _make_async(Memory.get_all)
    get = _make_async(Memory.get)
    update = _make_async(Memory.update)
    delete = _make_async(Memory.delete)
    delete_all = _make_async(Memory.delete_all)
    history = _make_async(Memory.history)
    reset = _make_async(Memory.reset)

    def close(self) -> None:
        self._memory.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self.close)
