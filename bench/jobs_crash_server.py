"""A PostgreSQL server of its own that can be stopped and started again in between."""

from __future__ import annotations

import importlib.util
import os
import pwd
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.databases import PostgresDatabases

_SCRIPT = Path(__file__).resolve().parent.parent / "scripts" / "with_postgres.py"


class Server:
    def __init__(self, script: Any, binaries: Path, folder: Path, user: Any) -> None:
        self._script, self._binaries, self._folder, self._user = script, binaries, folder, user
        self.process = self._start()

    def create(self) -> str:
        """A database on it."""
        url = f"postgresql+psycopg://postgres@/postgres?host={self._folder}"
        databases = PostgresDatabases(url)
        try:
            return databases.create()
        finally:
            databases.close()

    def restart(self, *, crash: bool) -> None:
        """In the orderly way it closes connections; in a crash it stops, and recovers later."""
        self.process.send_signal(signal.SIGQUIT if crash else signal.SIGINT)
        self.process.wait(self._script.STOP_TIMEOUT_SECONDS)
        self.process = self._start()

    def stop(self) -> None:
        self._script.stop(self.process)

    def _start(self) -> Any:
        data, log = self._folder / "data", self._folder / "log"
        process = self._script.start(self._binaries, data, log, self._user)
        self._script.wait_until_ready(process, data, log)
        return process


@contextmanager
def started() -> Iterator[Server]:
    script = _script()
    # Here the server does go down: what it commits is to be on the disk.
    script.SETTINGS |= {"fsync": "on", "full_page_writes": "on"}
    package = script.installed_binaries()
    with script.temporary_folder() as folder:
        user = None
        if os.geteuid() == 0:  # PostgreSQL refuses to run as root
            user = pwd.getpwnam("nobody")
            package = script.unprivileged_copy(package, folder, user)
        binaries = package / "pginstall" / "bin"
        script.create_cluster(binaries, folder / "data", user)
        server = Server(script, binaries, folder, user)
        try:
            yield server
        finally:
            server.stop()


def _script() -> Any:
    spec = importlib.util.spec_from_file_location("with_postgres", _SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["with_postgres"] = module
    spec.loader.exec_module(module)
    return module
