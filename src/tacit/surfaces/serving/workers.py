"""Several processes that serve on one socket, and one that looks after them."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from types import FrameType

from tacit import limits
from tacit.errors import SettingsError
from tacit.surfaces.serving.logs import Log

VARIABLE = "TACIT_WORKER_SOCKET"  # how a worker is handed the socket of all of them
_STDIN = 0
_LOOK_SECONDS = 0.1
_SOON_SECONDS = 3.0  # who ends sooner than that has not begun to serve
_SOON_MAX_COUNT = 5  # in a row; then it is no accident
_PAUSE_SECONDS = 0.5


class Workers:
    """Started with the arguments of `tacit serve`. Whoever ends without being told to is started
    anew."""

    def __init__(self, argv: Sequence[str], listening: socket.socket, count: int, log: Log) -> None:
        self._command = [sys.executable, "-m", "tacit.surfaces.cli", *argv]
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
            self._stopping.wait(_LOOK_SECONDS)
            for process in [one for one in self._running if one.poll() is not None]:
                lived = time.monotonic() - self._running.pop(process)
                if self._stopping.is_set():
                    return
                self._log.tell("worker ended", pid=process.pid, code=process.returncode)
                if lived >= _SOON_SECONDS:
                    soon = 0
                    continue
                soon += process.returncode > 0  # killed is not failed
                if soon >= _SOON_MAX_COUNT:
                    problem = "the processes that serve end at once; the lines above say why"
                    raise SettingsError(f"server.workers: {problem}")
                self._stopping.wait(_PAUSE_SECONDS)

    def _start(self) -> None:
        number = self._listening.fileno()
        # Its standard input ends when this process does, however that comes about.
        process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            pass_fds=[number],
            env={**os.environ, VARIABLE: str(number)},
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
    """Where whoever started this process is gone, stop as if told to."""
    threading.Thread(target=_wait_for_end, daemon=True).start()


def _wait_for_end() -> None:
    while os.read(_STDIN, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
