"""Server processes: bind the socket, run uvicorn, drain on SIGTERM, supervise workers."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any

import h11
from uvicorn import Config, Server
from uvicorn.protocols.http.h11_impl import H11Protocol

from tacit import limits
from tacit.bootstrap import request_spans
from tacit.errors import SettingsError
from tacit.memory import Memory
from tacit.server.authentication import is_loopback
from tacit.server.logs import RequestLogMiddleware, ServerLog

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from tacit.settings import Settings


_BACKLOG_COUNT = 2_048


def require_keys(memory: Memory, host: str, *, local: bool) -> None:
    """Refuse to serve other machines, or without a local person, as long as there is no API key."""
    if local or memory.keys.any_active():
        return
    why = (
        f"{host} can be reached by others"
        if not is_loopback(host)
        else "server.local is off, so that every request needs a key"
    )
    raise SettingsError(
        f"server.host: {why}, and there is no key yet. Make one, which is shown once:\n\n"
        "  tacit keys create NAME --scope read --scope write --for telegram:1001\n\n"
        "and start again; or serve this machine alone, with --host 127.0.0.1. docs/deploy.md "
        "tells more"
    )


def bind_socket(host: str, port: int, group: str = "server") -> socket.socket:
    """Return a listening socket for a group of the settings. Port 0 takes a free port."""
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except OSError as error:
        raise SettingsError(f"{group}.host: {host} is not known ({error.strerror})") from None
    listening = socket.socket(family, kind, protocol)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(where)
        listening.listen(_BACKLOG_COUNT)
    except OSError as error:
        listening.close()
        other = "--port" if group == "server" else f"{group}.port"
        fix = f"stop what is there, or choose another with {other} (0: one that is free)"
        raise SettingsError(f"{group}.port: cannot listen on {host}, port {port} ({error.strerror}); {fix}") from None
    return listening


def socket_url(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class SilenceTimeoutProtocol(H11Protocol):
    """Close a connection whose headers or next part of a body do not arrive in time, so that silent
    clients cannot hold all connections. A body that the server does not read yet may wait."""

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


# One process that serves.

_STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_DRAIN_POLL_SECONDS = 0.02
_KEEP_ALIVE_SECONDS = 30
# Short turns: the event loop must not wait long for a thread that computes.
_SWITCH_INTERVAL_SECONDS = 0.0005


class DrainingServer(Server):
    """A server that drains before it stops: `/health/ready` and new requests get 503, and running
    requests are finished. It listens meanwhile: a refused connection looks like a broken server."""

    def __init__(self, config: Config, watched: RequestLogMiddleware, state: Any, log: ServerLog, *, drain: int):
        super().__init__(config)
        self._watched = watched
        self._state = state
        self._log = log
        self._drain_seconds = drain

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Do not raise the signal again at the end: the memory is still to be closed."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {one: signal.signal(one, self.handle_exit) for one in _STOP_SIGNALS}
        try:
            yield
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if not self.should_exit:
            _force_exit_after(self._drain_seconds + limits.SERVER_CLOSE_MAX_SECONDS, self._log)
        self._state.draining = True
        super().handle_exit(sig, frame)

    async def main_loop(self) -> None:
        # The objects of the application stay: collecting them again and again would stop every
        # request for a tenth of a second.
        gc.collect()
        gc.freeze()
        await super().main_loop()
        self._log.tell("stopping", in_flight=self._watched.in_flight)
        until = time.monotonic() + self._drain_seconds
        while self._watched.in_flight and time.monotonic() < until and not self.force_exit:  # noqa: ASYNC110 (it ends)
            await asyncio.sleep(_DRAIN_POLL_SECONDS)
        # Requests that run longer are cut: what was not answered was not promised.
        self.config.timeout_graceful_shutdown = max(1, int(until - time.monotonic()))


def _force_exit_after(seconds: float, log: ServerLog) -> None:
    """Exit even where a thread never ends. The database rolls back what it had not committed."""

    def give_up() -> None:
        log.tell("gave up", seconds=seconds)
        os._exit(1)

    timer = threading.Timer(seconds, give_up)
    timer.daemon = True
    timer.start()


def run_server(app: Starlette, listening: socket.socket, settings: Settings, log: ServerLog) -> None:
    """Serve until SIGTERM or SIGINT, and log each request."""
    watched = RequestLogMiddleware(app, log, request_spans(settings))
    config = Config(
        watched,
        http=SilenceTimeoutProtocol,
        h11_max_incomplete_event_size=2 * limits.SERVER_HEADERS_MAX_BYTES,
        limit_concurrency=limits.SERVER_CONNECTIONS_MAX_COUNT,
        log_config=None,
        access_log=False,
        lifespan="on",
        ws="none",
        proxy_headers=False,  # nothing depends on the address of a client
        server_header=False,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
    )
    sys.setswitchinterval(_SWITCH_INTERVAL_SECONDS)
    server = DrainingServer(config, watched, app.state, log, drain=settings.server.drain_seconds)
    server.run(sockets=[listening])


# Several processes that serve on one socket, and their supervisor.

SOCKET_VARIABLE = "TACIT_WORKER_SOCKET"  # how a worker is handed the socket of all of them
_STDIN_FD = 0
_WORKER_POLL_SECONDS = 0.1
_EARLY_EXIT_SECONDS = 3.0  # a worker that ends sooner has not begun to serve
_EARLY_EXITS_MAX_COUNT = 5  # in a row; then it is no accident
_RESTART_PAUSE_SECONDS = 0.5


class WorkerProcesses:
    """Worker processes with the arguments of `tacit serve`. One that ends by itself is restarted."""

    def __init__(self, argv: Sequence[str], listening: socket.socket, count: int, log: ServerLog) -> None:
        self._command = [sys.executable, "-m", "tacit.cli", *argv]
        self._listening = listening
        self._count = count
        self._log = log
        self._stopping = threading.Event()
        self._running: dict[subprocess.Popen[bytes], float] = {}

    def run(self, drain_seconds: int) -> None:
        before = {one: signal.signal(one, self._stop) for one in (signal.SIGTERM, signal.SIGINT)}
        try:
            self._supervise()
        finally:
            self._stop_workers(drain_seconds + limits.SERVER_CLOSE_MAX_SECONDS)
            for one, handler in before.items():
                signal.signal(one, handler)

    def _stop(self, _signal: int, _frame: FrameType | None) -> None:
        self._stopping.set()

    def _supervise(self) -> None:
        soon = 0
        while not self._stopping.is_set():
            while len(self._running) < self._count:
                self._start()
            self._stopping.wait(_WORKER_POLL_SECONDS)
            for process in [one for one in self._running if one.poll() is not None]:
                lived = time.monotonic() - self._running.pop(process)
                if self._stopping.is_set():
                    return
                self._log.tell("worker ended", pid=process.pid, code=process.returncode)
                if lived >= _EARLY_EXIT_SECONDS:
                    soon = 0
                    continue
                soon += process.returncode > 0  # killed is not failed
                if soon >= _EARLY_EXITS_MAX_COUNT:
                    problem = "the processes that serve end at once; the lines above say why"
                    raise SettingsError(f"server.workers: {problem}")
                self._stopping.wait(_RESTART_PAUSE_SECONDS)

    def _start(self) -> None:
        number = self._listening.fileno()
        # The standard input of a worker ends when this process does, even if it is killed.
        process = subprocess.Popen(
            self._command, stdin=subprocess.PIPE, pass_fds=[number], env={**os.environ, SOCKET_VARIABLE: str(number)}
        )
        self._running[process] = time.monotonic()
        self._log.tell("worker started", pid=process.pid)

    def _stop_workers(self, most_seconds: float) -> None:
        for process in self._running:
            process.terminate()
        until = time.monotonic() + most_seconds
        for process in self._running:
            try:
                process.wait(max(0.1, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def stop_with_parent() -> None:
    """Stop this process when its supervisor is gone."""
    threading.Thread(target=_wait_for_stdin_end, daemon=True).start()


def _wait_for_stdin_end() -> None:
    while os.read(_STDIN_FD, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
