"""How long a connection may keep us waiting: one that sends nothing, or half of something, is
ended, so that nobody can hold all of them."""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from tacit import limits


class Patient(H11Protocol):
    """Headers have to be there after so many seconds, from their first byte or from when somebody
    connected; of a body, something after as many. A body that we ourselves have not come to read
    yet may wait."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._start_timer()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        state = self.conn.their_state
        if state is h11.SEND_BODY:
            self._cancel_timer()
            self._start_timer()
        elif state is h11.IDLE:
            self._start_timer()
        else:
            self._cancel_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel_timer()
        super().connection_lost(exc)

    def _start_timer(self) -> None:
        if self._deadline is None:
            seconds = limits.SERVER_IDLE_MAX_SECONDS
            self._deadline = self.loop.call_later(seconds, self._abort_connection)

    def _cancel_timer(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _abort_connection(self) -> None:
        self._deadline = None
        if self.flow.read_paused:
            self._start_timer()
        else:
            self.transport.abort()
