"""A process that has Tacit at hand, and runs each file in a copy of itself: another process then
costs its own work alone, and not also the imports and migrations that all of them share.

Each line of JSON on its standard input is a file to run, whose process id is answered, or a process
to wait for, whose exit code is answered.
"""

import atexit
import gc
import json
import os
import runpy
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PATIENCE_SECONDS = 180


class Forks:
    """The process, for the tests that ask it for copies; threads may ask at the same time."""

    def __init__(self) -> None:
        self._asking = threading.Lock()

    @cached_property
    def _process(self) -> "subprocess.Popen[str]":
        started = subprocess.Popen(
            [sys.executable, "-W", "error", "-m", "tests.forks"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        atexit.register(started.communicate)  # at the end of its input it ends
        return started

    def start(
        self, path: Path, *argv: str, folder: Path, environ: Mapping[str, str], modules: Path, out: Path, err: Path
    ) -> int:
        """Runs a file as `python FILE` would; answers with the id of its process."""
        return self._ask(
            argv=[str(path), *argv],
            folder=str(folder),
            environ=dict(environ),
            modules=str(modules),
            out=str(out),
            err=str(err),
        )

    def wait(self, pid: int) -> int:
        """Its exit code, once it has ended."""
        return self._ask(wait=pid)

    def _ask(self, **asked: Any) -> int:
        with self._asking:
            process = self._process
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(f"{json.dumps(asked)}\n")
            process.stdin.flush()
            return int(process.stdout.readline())


FORKS = Forks()


def main() -> None:
    warm()
    while line := sys.stdin.readline():
        asked = json.loads(line)
        if "wait" in asked:
            answer = os.waitstatus_to_exitcode(os.waitpid(asked["wait"], 0)[1])
        else:
            answer = os.fork()
            if not answer:
                run(asked)
                return
        sys.stdout.write(f"{answer}\n")
        sys.stdout.flush()  # or the next copy would say it again


def warm() -> None:
    import tacit

    with tacit.open("sqlite://", embedder=None) as memory:
        view = memory.view(tacit.Requester("example:1"), tacit.Chat.private("example:1"))
        view.learn([tacit.Message("user", "I live in Porto")])
        memory.jobs.wait_for_learning()
    assert threading.active_count() == 1  # or a copy would wait for what nobody lets go of
    gc.collect()
    gc.freeze()


def run(asked: dict[str, Any]) -> None:
    """As `python FILE` would, in an environment and a folder of its own."""
    signal.alarm(PATIENCE_SECONDS)
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environ"])
    for number, (name, mode) in enumerate(
        ((os.devnull, os.O_RDONLY), (asked["out"], os.O_WRONLY), (asked["err"], os.O_WRONLY))
    ):
        opened = os.open(name, mode | os.O_CREAT)
        os.dup2(opened, number)
        os.close(opened)
    sys.argv = asked["argv"]
    sys.path[0] = asked["modules"]
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
    except Exception:  # noqa: BLE001 - whatever it is, its reader would see it
        traceback.print_exc()
        sys.exit(1)


if __name__ == "__main__":
    main()
