"""A process that works and writes, until it is killed or told to close: for `jobs_crash.py`."""

from __future__ import annotations

import json
import logging
import signal
import sys
import time
from datetime import datetime, timedelta
from pathlib import Path

import tacit
from tacit import limits
from tacit.clock import system_clock
from tacit.errors import StoreError
from tacit.memory import Memory
from tacit.settings import EverySettings, JobsSettings, LearnSettings, Settings
from tacit.view.view import View
from tests.contract.chores import TASK, ticking

ALICE = tacit.Requester("telegram:101", name="Alice")
STEPS = 60  # of one run of the task
MOVED_SECONDS = 900.0  # after a blow: longer than a lease, and than the period of a task
_BACKLOG_MAX_COUNT = 20


def keep_count() -> None:
    """In a process of its own: every run is kept, and none begins anew, which would tick off things
    once more than there were runs."""
    limits.JOBS_RESUMES_MAX_COUNT = 10**6
    limits.JOBS_RUNS_KEEP_COUNT = 10**6


def opened(url: str, clock_file: Path, *, workers: int) -> Memory:
    """All processes share a clock, which moves on by more than a lease after each blow."""

    def clock() -> datetime:
        return system_clock() + timedelta(seconds=float(clock_file.read_text()))

    minute = timedelta(minutes=1)
    every = EverySettings(expire=minute, purge=None, consolidate=None, reflect=None, reembed=None, summarise=minute)
    learn = LearnSettings(workers=workers, daily_max_count=limits.LEARN_WRITES_MAX_PER_DAY)
    settings = Settings(learn=learn, jobs=JobsSettings(every=every, on_open=False))
    memory = tacit.open(url, settings=settings, clock=clock, embedder=None)
    memory._runtime.tasks[TASK] = ticking(memory, STEPS)
    return memory


def main() -> None:
    """Works; and writes until it is killed, or told by SIGTERM to close."""
    url, clock_file, first = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    ending: list[int] = []
    keep_count()
    limits.LEARN_POLL_SECONDS = 0.05
    logging.disable(logging.WARNING)  # a server that is away is told of again and again
    signal.signal(signal.SIGTERM, lambda number, _: ending.append(number))
    with opened(url, clock_file, workers=2) as memory:
        view = memory.view(ALICE, tacit.Chat.private(ALICE.key))
        assert isinstance(view, View)
        memory.jobs.start()
        _say(ready=True)
        number = first
        while not ending:
            try:
                _hand_over(memory, view, number)
            except StoreError:
                time.sleep(0.05)  # the server is away: this one may have come through, or not
            number += 1


def _hand_over(memory: Memory, view: View, number: int) -> None:
    while memory.jobs.pending().turns >= _BACKLOG_MAX_COUNT:
        time.sleep(0.005)
    _say(intent=number)
    if number % 2:
        soon = memory._storage.clock() + timedelta(seconds=MOVED_SECONDS / 2)
        view.remember(f"Crate {number} is full", expires_at=soon)
    else:
        view.learn([tacit.Message("user", f"Remember that box {number} is blue")])
    _say(done=number)
    time.sleep(0.005)


def _say(**line: object) -> None:
    print(json.dumps(line), flush=True)
