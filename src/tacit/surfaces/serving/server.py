"""One process that serves: until it is told to stop, and then until what it has begun is done."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any

from uvicorn import Config, Server

from tacit import limits
from tacit.surfaces.serving.logs import Log
from tacit.surfaces.serving.patience import Patient
from tacit.surfaces.serving.watched import Watched

if TYPE_CHECKING:
    from tacit.settings import ServerSettings

_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_LOOK_SECONDS = 0.02
_KEEP_ALIVE_SECONDS = 30
# Threads take turns: what answers connections must not wait long for one that computes.
_TURN_SECONDS = 0.0005


class Draining(Server):
    """Told to stop, it says so to whoever looks (`/health/ready`), turns new requests away, as the
    application does by `state.draining`, and finishes those that it has begun. It listens
    meanwhile: a connection that is refused looks like a server that is broken."""

    def __init__(self, config: Config, watched: Watched, state: Any, log: Log, *, drain: int):
        super().__init__(config)
        self._watched = watched
        self._state = state
        self._log = log
        self._drain_seconds = drain

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Nothing is raised again at the end: the memory is still to be closed."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {one: signal.signal(one, self.handle_exit) for one in _SIGNALS}
        try:
            yield
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if not self.should_exit:
            _give_up_after(self._drain_seconds + limits.SERVER_CLOSE_MAX_SECONDS, self._log)
        self._state.draining = True
        super().handle_exit(sig, frame)

    async def main_loop(self) -> None:
        # What a server consists of stays: looking it through again and again for garbage would
        # stop every request for a tenth of a second.
        gc.collect()
        gc.freeze()
        await super().main_loop()
        self._log.tell("stopping", in_flight=self._watched.in_flight)
        until = time.monotonic() + self._drain_seconds
        while self._watched.in_flight and time.monotonic() < until and not self.force_exit:  # noqa: ASYNC110 (it ends)
            await asyncio.sleep(_LOOK_SECONDS)
        # Whoever is not done by then is left alone: what was not answered was not promised.
        self.config.timeout_graceful_shutdown = max(1, int(until - time.monotonic()))


def _give_up_after(seconds: float, log: Log) -> None:
    """A thread that never ends must not keep a server from stopping. What it had not committed is
    as if it had never been begun."""

    def give_up() -> None:
        log.tell("gave up", seconds=seconds)
        os._exit(1)

    timer = threading.Timer(seconds, give_up)
    timer.daemon = True
    timer.start()


def run(
    app: Any, watched: Watched, listening: socket.socket, how: ServerSettings, log: Log
) -> None:
    """Until SIGTERM or SIGINT."""
    config = Config(
        watched,
        http=Patient,
        h11_max_incomplete_event_size=2 * limits.SERVER_HEADERS_MAX_BYTES,
        limit_concurrency=limits.SERVER_CONNECTIONS_MAX_COUNT,
        log_config=None,
        access_log=False,
        lifespan="on",
        ws="none",
        proxy_headers=False,  # nothing here goes by where somebody says they come from
        server_header=False,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
    )
    sys.setswitchinterval(_TURN_SECONDS)
    server = Draining(config, watched, app.state, log, drain=how.drain_seconds)
    server.run(sockets=[listening])
