"""How a run starts processes of its own: with the code that it runs itself."""

from __future__ import annotations

import os
from pathlib import Path

import tacit

ROOT = Path(__file__).resolve().parent.parent


def child_environment() -> dict[str, str]:
    """The environment of this process, and the folders that it has `bench` and `tacit` from.

    The package that is installed may be that of another checkout.
    """
    folders = (ROOT, Path(tacit.__file__).resolve().parent.parent)
    return {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, folders))}
