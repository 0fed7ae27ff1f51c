"""Another process on the same database: what it does, and what it prints."""

import os
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from tests.contract.rooms import SetClock
from tests.forks import FORKS, ROOT

_OPEN = """
import sys, time
from datetime import datetime
import tacit
from tests.contract.rooms import *
url, at = sys.argv[1:]
clock = SetClock()
clock.now = datetime.fromisoformat(at)
"""
_ON_A_MEMORY = """
memory = tacit.open(url, clock=clock, embedder=None)
{act}
memory.close()
"""


@dataclass(frozen=True)
class Another:
    """It runs, and `printed` is what it says as it goes."""

    pid: int
    printed: TextIO

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)


@contextmanager
def another(url: str, clock: SetClock, act: str) -> Iterator[Another]:
    """Runs `act`, which finds `url` and `clock` there; waits until it has ended, or was killed."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "act.py").write_text(_OPEN + act)
        os.mkfifo(folder / "out")
        pid = FORKS.start(
            folder / "act.py",
            url,
            clock.now.isoformat(),
            folder=ROOT,
            environ=os.environ | {"PYTHONIOENCODING": "utf-8"},
            modules=ROOT,
            out=folder / "out",
            err=folder / "err",
        )
        with (folder / "out").open(encoding="utf-8") as printed:
            yield Another(pid, printed)
        code, errors = FORKS.wait(pid), (folder / "err").read_text("utf-8")
    assert code in (0, -signal.SIGKILL), errors
    assert errors == ""


def elsewhere(url: str, clock: SetClock, act: str) -> str:
    """Runs `act`, which finds `memory` and `clock` there, and the people and rooms of the tests."""
    with another(url, clock, _ON_A_MEMORY.format(act=act)) as process:
        return process.printed.read()
