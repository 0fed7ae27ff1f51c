"""A connection to a server, from which views are made."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING

from tacit import limits
from tacit.records.request import Chat, Requester
from tacit.surfaces.client.claims import headers_of, is_bot
from tacit.surfaces.client.server import Server
from tacit.surfaces.client.view import RemoteView

if TYPE_CHECKING:
    from tacit.memory import DisabledView

A_BOT = "bots are not people, so nothing is remembered or recalled for them"


class Client:
    """Made by `tacit.connect`. Safe to share between threads; close it when done."""

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        timeout: float = limits.CLIENT_TIMEOUT_SECONDS,
    ) -> None:
        self._server = Server(url, key, timeout_seconds=timeout)

    def __repr__(self) -> str:
        return f"Client({self._server!r})"

    def view(
        self,
        requester: Requester | str | None = None,
        chat: Chat | str | None = None,
        *,
        thread: str | None = None,
        agent: str | None = None,
    ) -> RemoteView | DisabledView:
        """Memory as this requester may use it in this chat. Without either, as the person whom the
        key is bound to, in their own private chat. Only a key with `act-as` may name somebody else,
        or say who is in a chat; others name a chat by its id alone."""
        claims = headers_of(requester, chat, thread, agent)
        if is_bot(requester):
            from tacit.memory import DisabledView

            return DisabledView(A_BOT)
        return RemoteView(self._server, claims)

    def close(self) -> None:
        self._server.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
