"""A memory whose views go through a real server, and all else as it is: so that what holds for a
view of the library is seen to hold for one of the client."""

import secrets
import threading
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import tacit
from tacit import limits
from tacit.memory import Memory, View
from tacit.records.accounts import Key, Scope
from tacit.settings import Settings


class Switchboard:
    """Stands in for the one memory that a server has: which of the open ones is meant, the key
    says. To make a server for each test would take longer than the test. The keys are in no
    database: they would be found there by those who look for what is left of an act."""

    def __init__(self) -> None:
        self._keys: dict[str, tuple[Memory, Key]] = {}  # by token
        self._here = threading.local()

    def add(self, memory: Memory, space: str, categories: tuple[str, ...] | None) -> str:
        """The token of a new key that may do all."""
        token = secrets.token_urlsafe(16)
        key = Key(
            id=token,
            space=space,
            name="tests",
            scopes=frozenset(Scope),
            categories=categories,
            rate_per_minute=limits.SERVER_RATE_HIGHEST_PER_MINUTE,
            created_at=memory._storage.clock(),
        )
        self._keys[token] = (memory, key)
        return token

    @property
    def keys(self) -> "Switchboard":
        return self

    def authenticate(self, token: str) -> Key | None:
        self._here.memory, key = self._keys[token]
        return key

    def __getattr__(self, name: str) -> Any:
        return getattr(self._here.memory, name)


@dataclass
class Far:
    """Clients of the server for the spaces of one memory."""

    url: str
    board: Switchboard
    memory: Memory
    stack: ExitStack
    clients: dict[Any, tacit.Client] = field(default_factory=dict)

    def client(self, space: str, categories: Collection[str] | None) -> tacit.Client:
        narrowed = None if categories is None else tuple(categories)
        if (space, narrowed) not in self.clients:
            token = self.board.add(self.memory, space, narrowed)
            made = self.stack.enter_context(tacit.connect(self.url, token))
            self.clients[space, narrowed] = made
        return self.clients[space, narrowed]


class RemoteMemory(Memory):
    far: Far

    @classmethod
    def of(cls, memory: Memory, far: Far, space: str | None = None) -> "RemoteMemory":
        own = space or memory._space
        made = cls(memory._runtime, memory._options, space=own, enabled=memory._enabled)
        made.far = far
        return made

    def view(
        self,
        requester: tacit.Requester | None,
        chat: tacit.Chat,
        *,
        thread: str | None = None,
        agent: str | None = None,
        categories: Collection[str] | None = None,
    ) -> View:
        """What is wrong is said at once, as by a view of the library."""
        near = super().view(requester, chat, thread=thread, agent=agent, categories=categories)
        if not near.enabled:
            return near
        client = self.far.client(self._space, categories)
        return client.view(requester, chat, thread=thread, agent=agent)

    def space(self, name: str) -> Memory:
        return RemoteMemory.of(self, self.far, super().space(name)._space)


@contextmanager
def far_server() -> Iterator[tuple[str, Switchboard]]:
    # Here, because most tests of the contract go without.
    from tests.server.http_server import served

    board = Switchboard()
    with served(board, Settings()) as url:  # type: ignore[arg-type]
        yield url, board
