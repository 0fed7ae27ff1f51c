"""A message's way through the stages of learning, step by step; for good, or as a rehearsal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeVar

from sqlalchemy import Connection

from tacit.learning.memory_writes import LearnedFact
from tacit.learning.pipeline import LearningPipeline, LearningTrace
from tacit.learning.turns import QueuedTurn
from tacit.records.memory import ChatKind
from tacit.records.results import TraceStep
from tacit.storage.engine import Database
from tacit.storage.memories import TextVectors, Transaction
from tacit.storage.store import Store

T = TypeVar("T")


# They tell of what the speaker said elsewhere.
_COMPARING = frozenset({"reconcile", "consent"})


def traced(
    path: LearningPipeline, space: str, thread: str, turn: QueuedTurn
) -> tuple[TraceStep, ...]:
    trace = LearningTrace()
    kept = path.learn(space, thread, turn, trace, done=_from_the_start(trace))
    return _told(turn, _steps(trace, kept))


def rehearsed(
    path: LearningPipeline, space: str, thread: str, turn: QueuedTurn
) -> tuple[TraceStep, ...]:
    """As `traced`, and then undone. What a model was asked is paid for all the same."""
    trace = LearningTrace()
    acting = _Rehearsal(path.store, path.retriever, path.learning)
    kept = acting.learn(space, thread, turn, trace, done=_from_the_start(trace))
    # An id that was undone names nothing.
    named = [replace(step, says=_unnamed(step.says, kept)) for step in _steps(trace, kept)]
    return _told(turn, named)


def _told(turn: QueuedTurn, steps: Sequence[TraceStep]) -> tuple[TraceStep, ...]:
    """No more than the speaker may hear where they are: what it was compared with is theirs alone,
    and in private."""
    if turn.asking.kind is ChatKind.PRIVATE:
        return tuple(steps)
    return tuple(step for step in steps if step.stage not in _COMPARING)


def _from_the_start(trace: LearningTrace) -> Callable[[Connection], None]:
    """A write that is run again, because another one got in its way, tells its steps once."""
    read: list[int] = []

    def begin(_: Connection) -> None:
        read[:] = read or [len(trace.steps)]
        del trace.steps[read[0] :]

    return begin


def _steps(trace: LearningTrace, kept: list[LearnedFact]) -> list[TraceStep]:
    told = [TraceStep(stage=stage, says=says) for stage, says in trace.steps]
    if not kept:
        told.append(TraceStep(stage="kept", says="nothing"))
    elif told[-1].stage == "screen":
        told += [
            TraceStep(stage="kept", says=f"{one.state} {one.id}: {one.content}") for one in kept
        ]
    return told


def _unnamed(says: str, kept: list[LearnedFact]) -> str:
    for one in kept:
        says = says.replace(f" {one.id}:", ":")
    return says


class _Undone(Exception):
    def __init__(self, kept: list[LearnedFact]) -> None:
        super().__init__()
        self.kept = kept


class _Rehearsal(LearningPipeline):
    """The path, but for its end: all that it writes is one transaction, which is rolled back."""

    __slots__ = ()

    def _write(
        self,
        space: str,
        thread: str,
        turn: QueuedTurn,
        work: Callable[[Transaction], list[LearnedFact]],
        done: Callable[[Connection], None],
        vectors: TextVectors | None = None,
    ) -> list[LearnedFact]:
        def attempt(connection: Connection) -> None:
            # Caches of its own: none may learn of what never was.
            store = Store(_Within(self.store.database, connection), self.store.clock)
            within = LearningPipeline(store, self.retriever, self.learning)
            raise _Undone(within._write(space, thread, turn, work, done, vectors))

        try:
            self.store.database.write(attempt)
        except _Undone as undone:
            return undone.kept
        raise AssertionError("a rehearsal ends by undoing it")


class _Within(Database):
    """A database as seen from inside one of its transactions."""

    def __init__(self, database: Database, connection: Connection) -> None:
        self.engine = database.engine
        self.dialect = database.dialect
        self._connection = connection

    @contextmanager
    def read(self) -> Iterator[Connection]:
        yield self._connection

    def write(self, work: Callable[[Connection], T]) -> T:
        return work(self._connection)
