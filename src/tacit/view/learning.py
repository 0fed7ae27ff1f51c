"""Queue turns for learning, trace one turn, and answer the proposals that wait for consent."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from typing import TypeVar

from sqlalchemy import Connection

from tacit import limits
from tacit.errors import InvalidInput, SecretRefused
from tacit.learning.episodes import find_last_episode, hold_episode, record_episodes
from tacit.learning.extraction.sentences import HoldScope
from tacit.learning.facts import Hold
from tacit.learning.memory_writes import LearnedFact
from tacit.learning.pipeline import LearningPipeline, LearningTrace
from tacit.learning.reconciliation import suggest_update
from tacit.learning.turns import (
    HeldMessage,
    QueuedTurn,
    find_later_hold,
    is_question,
    read_held_messages,
    screen_turn,
)
from tacit.lifecycle import revert as reverting
from tacit.records import conversation as saying
from tacit.records import validation
from tacit.records.conversation import Message, ParsedMessage, Role
from tacit.records.memory import ChatKind
from tacit.records.request import Request
from tacit.records.results import Accepted, Reverted, Suggestion, TraceStep
from tacit.records.validation import parse_bool
from tacit.storage import people, queue, search
from tacit.storage.engine import Database
from tacit.storage.memories import TextVectors, Transaction
from tacit.storage.search import ListFilter
from tacit.storage.store import Store
from tacit.view.context import Replay, Resource, read, write
from tacit.view.idempotency import record_count

# Trace one message through the stages of learning, and keep or roll back the result.

T = TypeVar("T")


# These stages show what the speaker said elsewhere.
_COMPARISON_STAGES = frozenset({"reconcile", "consent"})


def trace_turn(path: LearningPipeline, space: str, thread: str, turn: QueuedTurn) -> tuple[TraceStep, ...]:
    trace = LearningTrace()
    kept = path.learn(space, thread, turn, trace, done=_reset_on_retry(trace))
    return _hide_comparisons(turn, _build_steps(trace, kept))


def rehearse_turn(path: LearningPipeline, space: str, thread: str, turn: QueuedTurn) -> tuple[TraceStep, ...]:
    """Trace a turn in a transaction that is rolled back. Model calls still count on the budget."""
    trace = LearningTrace()
    acting = _DryRunPipeline(path.store, path.retriever, path.learning)
    kept = acting.learn(space, thread, turn, trace, done=_reset_on_retry(trace))
    # Ids of rows that were rolled back refer to nothing.
    steps = _build_steps(trace, kept)
    for one in kept:
        steps = [replace(step, says=step.says.replace(f" {one.id}:", ":")) for step in steps]
    return _hide_comparisons(turn, steps)


def _hide_comparisons(turn: QueuedTurn, steps: Sequence[TraceStep]) -> tuple[TraceStep, ...]:
    """Drop the comparison stages outside a private chat.

    They show memories that only the speaker may see, in private.
    """
    if turn.asking.kind is ChatKind.PRIVATE:
        return tuple(steps)
    return tuple(step for step in steps if step.stage not in _COMPARISON_STAGES)


def _reset_on_retry(trace: LearningTrace) -> Callable[[Connection], None]:
    """Return a callback that records the steps of a retried transaction only once."""
    read: list[int] = []

    def begin(_: Connection) -> None:
        read[:] = read or [len(trace.steps)]
        del trace.steps[read[0] :]

    return begin


def _build_steps(trace: LearningTrace, kept: list[LearnedFact]) -> list[TraceStep]:
    told = [TraceStep(stage=stage, says=says) for stage, says in trace.steps]
    if not kept:
        told.append(TraceStep(stage="kept", says="nothing"))
    elif told[-1].stage == "screen":
        told += [TraceStep(stage="kept", says=f"{one.state} {one.id}: {one.content}") for one in kept]
    return told


class _RolledBack(Exception):
    def __init__(self, kept: list[LearnedFact]) -> None:
        super().__init__()
        self.kept = kept


class _DryRunPipeline(LearningPipeline):
    """A pipeline whose writes are one transaction, which is rolled back."""

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
            # Separate caches: the shared ones must not hold rows that are rolled back.
            store = Store(_TransactionDatabase(self.store.database, connection), self.store.clock)
            within = LearningPipeline(store, self.retriever, self.learning)
            raise _RolledBack(within._write(space, thread, turn, work, done, vectors))

        try:
            self.store.database.write(attempt)
        except _RolledBack as undone:
            return undone.kept
        raise AssertionError("a rehearsal ends by undoing it")


class _TransactionDatabase(Database):
    """One open transaction, with the interface of a database."""

    def __init__(self, database: Database, connection: Connection) -> None:
        self.engine = database.engine
        self.dialect = database.dialect
        self._connection = connection

    @contextmanager
    def read(self) -> Iterator[Connection]:
        yield self._connection

    def write(self, work: Callable[[Connection], T]) -> T:
        return work(self._connection)


List = builtins.list
_QUESTION_TEXT = "?"


LEARN = Replay(
    record=record_count,
    replay=lambda _, done, asked: Accepted(turns=done.result["count"], refused=screen_messages(asked["messages"])[1]),
)
REVERTED = Replay(record=lambda made, _: (asdict(made), ()), replay=lambda _, done, __: Reverted(**done.result))


class ViewLearning(Resource):
    @write("POST /api/learn", disabled=Accepted, replay=LEARN)
    def learn(self, messages: Iterable[Message]) -> Accepted:
        """Queue messages, in order, to be learned in the background.

        Accepted messages are stored in the database and are not lost. Messages that contain a
        secret are not queued; the result names the kinds of secrets. Messages that the speaker asks
        not to remember are not queued either. Unless the settings say
        otherwise, what the requester says is also kept word for word, as an episode.
        """
        self._require_pipeline()
        said, refused = screen_messages(messages)
        kept = read_held_messages(said)
        last = said[-1] if said and said[-1].role is Role.ASSISTANT else None
        asked = last if last is not None and is_question(last.content) else None
        later_hold = find_later_hold(said)
        if not (_has_statement(kept) or asked or later_hold):
            return Accepted(refused=refused)

        def work(tx: Transaction) -> int:
            if later_hold is not None:
                self._hold_last_episode(tx, later_hold)
            return self._queue_turns(tx, kept, asked)

        count = self._context.write(work)
        self._context.runtime.wake_learners()
        if self._context.options.turns_days is not None:
            self._context.runtime.wake_indexer()  # episodes have no vectors yet
        return Accepted(turns=count, refused=refused)

    @write("POST /api/unlearn", disabled=Reverted, replay=REVERTED)
    def unlearn(self, message: str) -> Reverted:
        """Take back what you said in one message of this chat, by the message id of its channel.

        Memories learned from it are forgotten, or get their earlier wording back. Its queued turns,
        proposals and recorded turns are deleted. What other people said since stays. A second call,
        or the id of a message that is not yours, has no effect.
        """
        named = validation.parse_label("message", message)
        done = self._context.write(lambda tx: reverting.unlearn_message(tx, named, self._context.category_filter()))
        self._context.runtime.wake_indexer()
        return done

    @write("POST /api/trace", disabled=())
    def trace(self, text: str | Message, keep: bool = False) -> tuple[TraceStep, ...]:
        """Trace a message through the stages of learning, now and in this chat.

        Unless `keep` is set, all writes are rolled back, including that of the requester.
        """
        path, where = self._require_pipeline(), (self._context.space, self._context.thread)
        given = text if isinstance(text, Message) else Message(Role.USER, text)
        try:
            said = saying.parse_message(given)
        except SecretRefused as secret:
            return (TraceStep(stage="screen", says=f"refuse: it holds a secret ({secret.kind})"),)
        if parse_bool("keep", keep):
            turn = self._context.write(lambda tx: self._build_turn(tx.request, tx.at, said, []))
            return trace_turn(path, *where, turn)
        turn = self._context.read(lambda _, request: self._build_turn(request, request.at, said, []))
        return rehearse_turn(path, *where, turn)

    @read("POST /api/suggest", disabled=None)
    def suggest_update(
        self, content: str, *, category: str | None = None, about: Collection[str] | None = None
    ) -> Suggestion | None:
        """Return the memory of yours to update instead of adding another on the same subject.

        Returns None if there is none. A tool calls this before it adds a memory.
        """
        asked = self._context.parse_draft(content=content, category=category, about=about)
        words = asked.content
        if words is None:
            raise InvalidInput("content", "is missing; say what you would add")

        def work(connection: Connection, request: Request) -> Suggestion | None:
            named = [people.resolve_person(connection, request, one, "about") for one in asked.about or ()]
            if None in named:
                return None  # a new person has no memories
            who = tuple(sorted(i for one in named if one for i in one)) or None
            wanted = ListFilter(
                category=asked.category,
                categories=self._context.category_filter(),
                about=who,
                owners=tuple(sorted(request.own_identities)),
            )
            page = search.list_memories(
                connection,
                self._context.storage.audiences,
                self._context.storage.database.dialect,
                request,
                wanted,
                limits.SUGGESTION_CANDIDATES_MAX_COUNT,
            )
            found = suggest_update(words, [memory for memory, _ in page])
            if found is None:
                return None
            return Suggestion(id=found[0].id, content=found[0].content, reason=found[1])

        return self._context.read(work)

    def _require_pipeline(self) -> LearningPipeline:
        if self._context.runtime.pipeline is None:
            raise InvalidInput("learn", "nothing is learned; set learn.enabled to true")
        return self._context.runtime.pipeline

    def _queue_turns(self, tx: Transaction, kept: list[HeldMessage], asked: ParsedMessage | None) -> int:
        learning = self._context.runtime.learning
        assert learning is not None
        assert tx.request.subject is not None
        turns: list[str] = []
        before: list[str] = []
        for held in kept:
            one = held.said
            own = one.role is Role.TOOL or (one.role is Role.USER and one.name is None)
            if own:
                turn = replace(self._build_turn(tx.request, tx.at, one, before), hold_words=held.hold_words)
                turns.append(replace(turn, recorded=self._record_episode(tx, held, turn)).pack())
            who = one.name or one.role
            before.append(f"{who}: {one.content[: limits.LEARN_CONTEXT_MAX_CHARS]}")
        count = len(turns)
        if asked:
            # Queue a marker without the text of the question: the next turn may answer it.
            question = replace(self._build_turn(tx.request, tx.at, asked, []), text=_QUESTION_TEXT)
            turns.append(question.pack())
        due = tx.at + timedelta(seconds=learning.debounce_seconds if learning.model else 0)
        queue.insert_jobs(tx, turns, due)
        return count

    def _record_episode(self, tx: Transaction, held: HeldMessage, turn: QueuedTurn) -> str | None:
        """Record a turn that may be learned from; not those of tools, or that read like an instruction."""
        days = self._context.options.turns_days
        if days is None or screen_turn(turn).outcome != "learn":
            return None
        (id,) = record_episodes(tx, [held], None, days)
        return id

    def _hold_last_episode(self, tx: Transaction, hold: HoldScope) -> None:
        """Apply a hold to what the requester said before it, in an earlier call."""
        episode = find_last_episode(tx, self._context.options.conversation_gap)
        if episode is None:
            return
        if hold.hold is not Hold.UNKEPT:
            hold_episode(tx, episode, hold)
        elif episode.source.message is not None:
            reverting.unlearn_message(tx, episode.source.message, self._context.category_filter())
        else:
            reverting.unlearn_episode(tx, episode)

    def _build_turn(self, request: Request, at: datetime, said: ParsedMessage, before: list[str]) -> QueuedTurn:
        return QueuedTurn(
            text=said.content,
            role=said.role,
            said_at=said.at or at,
            message=said.id,
            agent=self._context.agent,
            only=self._context.category_filter(),
            asking=self._context.raw_request,
            present=request.present,
            confidential=request.confidential,
            before=tuple(before[-limits.LEARN_CONTEXT_MAX_COUNT :]),
        )


def screen_messages(messages: object) -> tuple[list[ParsedMessage], tuple[str, ...]]:
    """Return the messages without secrets, and the kinds of secrets found in the others."""
    said: list[ParsedMessage] = []
    refused: list[str] = []
    for one in saying.check_message_list(messages):
        try:
            said.append(saying.parse_message(one))
        except SecretRefused as secret:
            refused.append(secret.kind)
    return said, tuple(dict.fromkeys(refused))


def _has_statement(kept: Sequence[HeldMessage]) -> bool:
    """Return whether a person or a tool states something."""
    return any(one.said.role in (Role.USER, Role.TOOL) for one in kept)
