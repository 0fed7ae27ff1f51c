"""Another process on the same database: what it does, and what it prints."""

import os
import subprocess
import sys
from pathlib import Path

from tests.contract.rooms import SetClock

_ROOT = Path(__file__).resolve().parents[2]
_OPEN = """
import sys
from datetime import datetime
import tacit
from tests.contract.rooms import *
url, at = sys.argv[1:]
clock = SetClock()
clock.now = datetime.fromisoformat(at)
memory = tacit.open(url, clock=clock, embedder=None)
{act}
memory.close()
"""


def elsewhere(url: str, clock: SetClock, act: str) -> str:
    """Runs `act`, which finds `memory` and `clock` there, and the people and rooms of the tests."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", _OPEN.format(act=act), url, clock.now.isoformat()],
        cwd=_ROOT,
        env=os.environ | {"PYTHONPATH": str(_ROOT), "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()
