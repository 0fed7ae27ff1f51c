"""One person who talks to an assistant in a private chat, on a clock that follows what is said."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

import tacit
from tacit import limits
from tacit.embeddings.embedder import Embedder
from tacit.memory import iter_pages
from tacit.records.memory import Memory as MemoryRecord
from tacit.settings import Settings
from tacit.settings.sections import JobsSettings, LearnSettings, MemorySettings, SessionsSettings

_PAGE = 200
_MINUTE, _DAY = timedelta(minutes=1), timedelta(days=1)


class Clock:
    """Stands still until it is moved, and never goes back."""

    def __init__(self, now: datetime = datetime(2026, 1, 1, 8, tzinfo=UTC)) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def forward(self, to: datetime) -> None:
        self.now = max(self.now, to)


def open_memory(url: str, clock: Clock, embedder: Embedder, *, every_turn: bool) -> tacit.Memory:
    """Open a memory with a user's default settings, without threads and without a limit of facts per day.

    `every_turn` keeps the turns of conversations, without an end; else they are kept as by default.
    """
    sessions = SessionsSettings(keep=True, retention_days=limits.TTL_MAX_DAYS) if every_turn else SessionsSettings()
    settings = Settings(
        memory=MemorySettings(sessions=sessions),
        learn=LearnSettings(workers=0, daily_max_count=limits.LEARN_WRITES_MAX_PER_DAY),
        jobs=JobsSettings(on_open=False),
    )
    return tacit.open(url, settings=settings, clock=clock, embedder=embedder)


class Person:
    """A person in a chat of their own, who approves whatever they are asked about."""

    def __init__(self, memory: tacit.Memory, clock: Clock, key: str, name: str) -> None:
        self._memory, self._clock = memory, clock
        self.view = memory.view(tacit.Requester(key, name=name), tacit.Chat.private(key))

    def say(self, text: str, before: str | None = None) -> float:
        """Say a message after the assistant's turn; return how many seconds it took to learn it.

        It takes a minute to type, so that what a message changes has a later time.
        """
        self._clock.forward(self._clock.now + _MINUTE)
        turns = [] if before is None else [tacit.Message("assistant", before)]
        begun = time.perf_counter()
        self.view.learn([*turns, tacit.Message("user", text)])
        self._memory.jobs.wait_for_learning()
        spent = time.perf_counter() - begun
        left = self._memory.jobs.pending()
        if left.turns or left.parked:
            raise SystemExit(f"not everything was learned: {left}")
        return spent

    def approve(self) -> set[str]:
        """Approve what waits for consent; return the ids."""
        waiting = {one.id for one in self.view.proposals.list()}
        for id in waiting:
            self.view.proposals.approve(id)
        return waiting

    def memories(self) -> dict[str, MemoryRecord]:
        """Return the active memories by their ids."""
        return {one.id: one for one in iter_pages(lambda cursor: self.view.list(limit=_PAGE, cursor=cursor))}

    def wait_until(self, then: datetime) -> None:
        """Let time pass, with the daily jobs of each day."""
        while self._clock.now + _DAY < then:
            self._clock.forward(self._clock.now + _DAY)
            self._memory.jobs.run_due()
        self._clock.forward(then)
        self._memory.jobs.run_due()
