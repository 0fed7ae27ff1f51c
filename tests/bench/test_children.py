"""A run that starts processes tries the code that it was started with, also where another is installed."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

import tacit
from bench import chat_replay, children, crash, jobs_crash, learn_crash, notes_crash, notes_idle
from bench.chat_replay import Crowd

STARTS: dict[str, Callable[[Path], object]] = {
    "crash": lambda _: crash.killed("sqlite://", 1, Random(1)),
    "learn_crash": lambda _: learn_crash.killed("sqlite://", 1, 0.0, Random(1)),
    "jobs_crash": lambda folder: jobs_crash.Stage("sqlite://", folder, 1).start(),
    "notes_crash": lambda folder: notes_crash.Writer.start(folder, "one", 1, {}),
    "notes_idle": lambda folder: notes_idle.idle(folder, 0.0),
    "chat_replay": lambda _: chat_replay.replayed("sqlite://", Crowd(1, 1), 1),
}


class _Started(Exception):
    def __init__(self, environment: dict[str, str]) -> None:
        super().__init__()
        self.environment = environment


@pytest.mark.parametrize("run", STARTS)
def test_a_process_that_a_run_starts_has_the_code_of_the_run(
    run: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "tacit" / "__init__.py"
    other.parent.mkdir()
    other.touch()

    def start(*_: object, env: dict[str, str], **__: Any) -> None:
        raise _Started(env)

    with monkeypatch.context() as patched:
        patched.setattr(tacit, "__file__", str(other))
        patched.setattr(subprocess, "Popen", start)
        with pytest.raises(_Started) as started:
            STARTS[run](tmp_path)
    told = "import tacit; from bench import children; print(tacit.__file__, children.__file__)"
    said = subprocess.check_output([sys.executable, "-c", told], env=started.value.environment, cwd="/", text=True)
    assert said.split() == [str(other), children.__file__]
