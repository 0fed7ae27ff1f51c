"""An environment for the other memory systems: theirs alone, pinned, gone after the run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PINS = (
    "chromadb==1.5.9",
    "langgraph-checkpoint==4.3.1",
    "langgraph-checkpoint-postgres==3.2.0",
    "langgraph-checkpoint-sqlite==3.1.2",
    "numpy==2.4.6",
    "psycopg[binary]==3.3.8",
    "sqlite-vec==0.1.9",
)
_PROBE = "import sqlite3, sys; print(sys.version_info >= (3, 11), hasattr(sqlite3.Connection, 'enable_load_extension'))"
_MINORS = (14, 13, 12, 11)


class CannotInstall(Exception):
    """The other systems could not be had; the message says what the installer said."""


@dataclass(frozen=True, slots=True)
class Environment:
    python: Path
    loads_extensions: bool  # without which sqlite-vec cannot be loaded


def build(folder: Path, pins: Sequence[str] = PINS) -> Environment:
    """A virtual environment in the folder, on a Python that loads extensions if there is one."""
    python, loads = _interpreter()
    uv = _output(["sh", str(ROOT / "scripts/get_uv.sh"), str(ROOT / ".uv")])
    _output([uv, "venv", "--quiet", "--python", str(python), str(folder)])
    inside = folder / "bin" / "python"
    _output([uv, "pip", "install", "--quiet", "--compile-bytecode", "--python", str(inside), *pins])
    return Environment(inside, loads)


def _interpreter() -> tuple[Path, bool]:
    """Our own is the last choice: many are built without extension loading."""
    own = Path(sys.executable)
    if _says(own) == "True True":
        return own, True
    folders = dict.fromkeys([*os.get_exec_path(), "/usr/bin", "/usr/local/bin"])
    for name in ("python3", *(f"python3.{minor}" for minor in _MINORS)):
        for folder in folders:
            found = shutil.which(name, path=folder)
            if found is not None and _says(Path(found)) == "True True":
                return Path(found), True
    return own, False


def _says(python: Path) -> str:
    done = subprocess.run([python, "-c", _PROBE], capture_output=True, text=True, check=False, cwd="/")
    return done.stdout.strip() if done.returncode == 0 else ""


def _output(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or ["nothing"]
        raise CannotInstall(f"`{Path(command[0]).name} {command[1]}` failed and said: {said[-1]}")
    return done.stdout.strip()
