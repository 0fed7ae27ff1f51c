"""A process that has Tacit at hand, and runs each file in a copy of itself: an example then costs
its own work alone, and not also the imports and migrations that all of them share.

Standard input has a line of JSON for each; its exit code is answered.
"""

import gc
import json
import os
import runpy
import signal
import sys
import threading
import traceback
from typing import Any

PATIENCE_SECONDS = 60


def main() -> None:
    warm()
    while line := sys.stdin.readline():
        asked = json.loads(line)
        child = os.fork()
        if not child:
            run(asked)
            return
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
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
    sys.argv = [asked["path"]]
    sys.path[0] = os.path.dirname(asked["path"])  # noqa: PTH120 - as Python itself does
    try:
        runpy.run_path(asked["path"], run_name="__main__")
    except Exception:  # noqa: BLE001 - whatever it is, its reader would see it
        traceback.print_exc()
        sys.exit(1)


if __name__ == "__main__":
    main()
