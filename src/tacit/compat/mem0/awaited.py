"""mem0's `AsyncMemory`: the words of `Memory`, each in a thread of its own while others go on."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator, Mapping
from functools import wraps
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar

from tacit.compat.mem0.memory import Memory

if TYPE_CHECKING:
    import tacit.memory

P = ParamSpec("P")
T = TypeVar("T")


def _awaited(
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

    add = _awaited(Memory.add)
    search = _awaited(Memory.search)
    get_all = _awaited(Memory.get_all)
    get = _awaited(Memory.get)
    update = _awaited(Memory.update)
    delete = _awaited(Memory.delete)
    delete_all = _awaited(Memory.delete_all)
    history = _awaited(Memory.history)
    reset = _awaited(Memory.reset)

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
