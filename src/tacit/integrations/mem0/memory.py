"""mem0's Memory and AsyncMemory on Tacit: each user is a person in a private chat."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Generator, Mapping
from functools import wraps
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar

from tacit.errors import Conflict, InvalidInput, NotFound
from tacit.integrations.mem0 import formats, operations
from tacit.integrations.mem0.formats import (
    UNSET,
    CallMetadata,
    merge_metadata,
    parse_messages,
    parse_metadata,
)
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


# mem0's `Memory`, word for word, on a memory of Tacit's.
#
# Each user of mem0's is a person in a private chat of their own, so that the rules of disclosure
# hold here as everywhere: what one of them told is found for them, and for nobody else.

Item = dict[str, Any]

_log = logging.getLogger(__name__)
# What earlier versions of mem0 take in `search` and `get_all`, beside what it takes now.
_LEGACY_NAMES = frozenset({*ID_NAMES, "actor_id", "limit"})
_TRIES_COUNT = 10
_EXPIRED_PROBLEM = (
    "is past: the memory comes back with a later one, or with None, and not with words alone"
)
_PLATFORM_ONLY = "is of mem0's hosted platform, and not of its open-source memory; leave it out"


class Memory:
    def __init__(
        self,
        config: object = None,
        *,
        memory: tacit.memory.Memory | None = None,
        space: str | None = None,
    ) -> None:
        """A memory of its own, opened as the configuration or else the settings say; or one that
        is open, which then stays open. It keeps to one space, `mem0` unless told otherwise."""
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
        """Keep what was said. With `infer`, what is worth it; without, every message as it is."""
        if timestamp is not None:
            raise InvalidInput("timestamp", _PLATFORM_ONLY)
        more = parse_metadata(metadata, UNSET if expiration_date is None else expiration_date)
        scope = parse_scope(
            {"user_id": user_id, "agent_id": agent_id, "run_id": run_id}, "VALIDATION_001"
        )
        if memory_type not in (None, operations.PROCEDURAL):
            raise ValidationError(
                "memory_type", f"takes {operations.PROCEDURAL} alone, or nothing", "VALIDATION_002"
            )
        said = parse_messages(messages)
        if memory_type == operations.PROCEDURAL and scope.agent is not None:
            made = operations.add_procedure(self._memory, scope, said, more, prompt)
        else:
            how = operations.add_learned if infer else operations.add_raw
            made = how(self._memory, scope, said, more)
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
        """What comes to mind for a question, strongest first."""
        del rerank  # recall has ranked it
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
        """Newest first."""
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
        """Other words, further metadata, another date; `data` is an older name for the words. None
        for a date: it never expires."""
        words = text if text is not None else data
        more = parse_metadata(metadata, expiration_date)
        if words is None and metadata is None and more.expires_at is None:
            raise InvalidInput("update", "name at least one of text, metadata and expiration_date")
        for left in reversed(range(_TRIES_COUNT)):
            try:
                self._update(memory_id, words, more)
                break
            except Conflict:  # somebody was quicker, and what they said counts, too
                if left == 0:
                    raise
        return {"message": "Memory updated successfully!"}

    def delete(self, memory_id: str) -> dict[str, str]:
        """Out of mind; its history stays, until it is purged."""
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
        """What became of it, oldest first; also when it is deleted."""
        named = parse_memory_id(memory_id)
        if named is None:
            return []
        scope, id = named
        view = operations.open_view(self._memory, scope, acting=False)
        try:
            return formats.make_history(memory_id, view.show(id), view.history(id))
        except NotFound:
            return []

    def reset(self) -> None:
        """Erase everything in the space, for good."""
        self._memory.admin.erase_space()

    def close(self) -> None:
        if self._opened is not None:
            self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _update(self, memory_id: object, words: str | None, more: CallMetadata) -> None:
        """Where it is still as it was read: what is said now is added to the metadata it had."""
        scope, record = self._get(memory_id)
        whole = merge_metadata(record, more) if more.data else None
        drafts.parse_draft({"content": words, "data": whole}, ())  # before anything comes back
        view = operations.open_view(self._memory, scope, acting=False)
        try:
            if record.state is State.EXPIRED:
                if more.expires_at is None:
                    raise InvalidInput("expiration_date", _EXPIRED_PROBLEM)
                view.restore(record.id)
            seen = None if whole is None else record.version
            view.update(record.id, words, data=whole, expires_at=more.expires_at, if_version=seen)
        except NotFound:
            raise _no_such_memory() from None

    def _find(self, memory_id: object) -> tuple[Mem0Scope, Record] | None:
        """A memory that is there for mem0: kept, or expired. What was replaced, waits for a yes or
        was set aside is not."""
        named = parse_memory_id(memory_id)
        if named is None:
            return None
        scope, id = named
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
    return InvalidInput("memory_id", "no such memory; take an id that add, search or get_all gave")


def _legacy_arguments(given: Mapping[str, Any]) -> dict[str, Any]:
    """Names that nobody knows are left alone, as mem0 leaves them."""
    for name in given.keys() - _LEGACY_NAMES:
        _log.warning("%s is nothing that is used here", name)
    return {
        name: value for name, value in given.items() if name in _LEGACY_NAMES and value is not None
    }


# mem0's `AsyncMemory`: the words of `Memory`, each in a thread of its own while others go on.

P = ParamSpec("P")
T = TypeVar("T")


def _make_async(
    word: Callable[Concatenate[Memory, P], T],
) -> Callable[Concatenate[AsyncMemory, P], Awaitable[T]]:
    @wraps(word)
    async def ask(self: AsyncMemory, /, *args: P.args, **named: P.kwargs) -> T:
        return await asyncio.to_thread(word, self._memory, *args, **named)

    return ask


class AsyncMemory:
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
        """Earlier versions of mem0 have `await AsyncMemory.from_config(…)`."""
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

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await asyncio.to_thread(self.close)
