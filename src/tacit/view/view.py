"""Define View, memory as one requester may use it in one chat: the only way to read or write."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any, Self, TypeVar, cast

from tacit import limits
from tacit.errors import InvalidInput, TacitError
from tacit.records import validation
from tacit.records.drafts import ImportItems, ImportStep, RevertedImport
from tacit.records.results import Imported
from tacit.storage import idempotency
from tacit.storage.idempotency import IdempotencyKey
from tacit.storage.memories import NO_VECTORS, TextVectors, Transaction
from tacit.telemetry.metrics import Meter, measure_operation
from tacit.view.account import ViewAccount
from tacit.view.audience import ViewAudience
from tacit.view.audit import ViewActivity, ViewHistoryExport
from tacit.view.checkpoints import ViewCheckpoints, ViewGraphSteps
from tacit.view.idempotency import (
    IDEMPOTENCY_RULES,
    Arguments,
    RepeatedCall,
    bind_arguments,
    fingerprint_call,
    hash_idempotency_key,
)
from tacit.view.learning import ViewLearning
from tacit.view.notes import ViewFiles, ViewSessions
from tacit.view.people import ViewPeople
from tacit.view.reads import ViewGraph, ViewSearch
from tacit.view.recall import ViewRecall
from tacit.view.transfer import ViewExport, ViewImports
from tacit.view.writes import ViewWrites

# A view: memory as one requester may use it in one chat. The only way to read or write.

T = TypeVar("T")


class View(
    ViewExport,
    ViewHistoryExport,
    ViewAudience,
    ViewRecall,
    ViewWrites,
    ViewPeople,
    ViewLearning,
    ViewSessions,
    ViewFiles,
    ViewCheckpoints,
    ViewGraphSteps,
    ViewAccount,
    ViewSearch,
    ViewGraph,
    ViewActivity,
    ViewImports,
):
    """Made by `Memory.view`. Cheap: nothing is read until you ask."""

    enabled = True
    why_disabled: str | None = None

    def once(self, key: str) -> Self:
        """The same view, for one write that may be sent twice: within a day, whoever asks the same
        under the same key is told what came of it, and nothing is done again. What was erased since
        is NotFound; another request under the key is a Conflict. Keys are each person's own; take
        a random one for each write."""
        return cast("Self", IdempotentView(**vars(self), _given=parse_idempotency_key(key)))


def parse_idempotency_key(key: object) -> str:
    return validation.parse_identifier("once", key, limits.IDEMPOTENCY_KEY_MAX_CHARS)


@dataclass(frozen=True)
class IdempotentView(View):
    """Reads as a view does."""

    _given: str = ""  # the key

    def once(self, key: str) -> Self:
        return replace(self, _given=parse_idempotency_key(key))

    def trace(self, text: Any, keep: bool = False) -> Any:
        if keep:
            raise InvalidInput("once", "does not cover a trace; hand what was said to learn")
        return super().trace(text, keep)

    def import_lines(self, lines: Iterable[str]) -> Imported:
        """Taken in twice, lines change nothing: that needs no key."""
        return self._plain().import_lines(lines)

    def import_items(
        self,
        run: str,
        items: ImportItems,
        *,
        source: str,
        total: int | None = None,
        after: int | None = None,
    ) -> ImportStep:
        """As little as lines."""
        named: dict[str, Any] = {"source": source, "total": total, "after": after}
        return self._plain().import_items(run, items, **named)

    def revert_import(self, run: str) -> RevertedImport:
        """Asked again, it goes on where it stopped, and tells the whole."""
        return self._plain().revert_import(run)

    def _write(
        self,
        work: Callable[[Transaction], T],
        vectors: TextVectors = NO_VECTORS,
        *,
        changing: bool = False,
    ) -> T:
        del work, vectors, changing  # a word that is not among WORDS
        raise InvalidInput("once", "does not cover this; leave the key out")

    def _block_revision(self) -> int:
        return (
            self._plain()._block_revision()
        )  # that a block was put together is nothing anybody asked for

    def _plain(self) -> View:
        return View(**self._fields())

    def _fields(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_given"}

    def _asked(self, name: str, method: Callable[..., Any], asked: Arguments) -> Any:
        where = {"chat": self._raw_request.chat, "thread": self._thread, "agent": self._agent}
        whole = fingerprint_call(self._given, {"word": name, "where": where, "asked": asked})
        wanted = IdempotencyKey(token=hash_idempotency_key(self._given), fingerprint=whole)
        # Looked for first, so that a repeat costs neither vectors nor a model.
        done = self._read(
            lambda connection, request: idempotency.find_result(connection, request, wanted)
        )
        if done is None:
            doing = IdempotentCall(**self._fields(), _name=name, _asked_for=asked, _wanted=wanted)
            try:
                return method(doing, **asked)
            except RepeatedCall as repeated:
                done = repeated.done
        return IDEMPOTENCY_RULES[name].replay(self._plain(), done, asked)


@dataclass(frozen=True)
class IdempotentCall(View):
    """One word of a view, at most once."""

    _name: str = ""
    _asked_for: Arguments | None = None
    _wanted: IdempotencyKey | None = None

    def _write(
        self,
        work: Callable[[Transaction], T],
        vectors: TextVectors = NO_VECTORS,
        *,
        changing: bool = False,
    ) -> T:
        assert self._asked_for is not None
        assert self._wanted is not None
        asked, wanted, noted = self._asked_for, self._wanted, IDEMPOTENCY_RULES[self._name].record

        def at_most_once(w: Transaction) -> T:
            idempotency.lock_idempotency_key(w, wanted)
            done = idempotency.find_result(w.connection, w.request, wanted)
            if done is not None:
                raise RepeatedCall(done)
            made = work(w)
            idempotency.insert_result(w, self._raw_request.subject, wanted, *noted(made, asked))
            return made

        return super()._write(at_most_once, vectors, changing=changing)


def _make_idempotent(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def ask(self: IdempotentView, *args: Any, **named: Any) -> Any:
        return self._asked(name, method, bind_arguments(method, args, named))

    return ask


for _name in IDEMPOTENCY_RULES:
    setattr(IdempotentView, _name, _make_idempotent(_name, getattr(View, _name)))


# A view whose every word is counted and timed. Where nothing is measured, nobody makes one.


class MeasuredView(View):
    """Answers as a view does. What a word does by way of another one counts once: the work is that
    of a plain view."""

    def once(self, key: str) -> Self:
        return cast("Self", MeasuredIdempotentView(**vars(self), _given=parse_idempotency_key(key)))

    def _plain(self) -> View:
        return View(
            self._runtime, self._raw_request, self._space, self._thread, self._options, self._agent
        )


@dataclass(frozen=True)
class MeasuredIdempotentView(MeasuredView):
    _given: str = ""  # the key

    def once(self, key: str) -> Self:
        return replace(self, _given=parse_idempotency_key(key))

    def _plain(self) -> View:
        return super()._plain().once(self._given)


def _measure(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def ask(self: MeasuredView, *args: Any, **named: Any) -> Any:
        with measure_operation(self._storage.meter, name):
            return getattr(self._plain(), name)(*args, **named)

    return ask


def _measure_lines(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    """From the first line to the last, with what the reader does between them."""

    @wraps(method)
    def ask(self: MeasuredView, *args: Any, **named: Any) -> Iterator[Any]:
        meter = self._storage.meter
        try:
            lines = getattr(self._plain(), name)(*args, **named)
        except TacitError:
            with measure_operation(meter, name):
                raise
        return _time_lines(meter, name, lines)

    return ask


def _time_lines(meter: Meter, name: str, lines: Iterator[Any]) -> Iterator[Any]:
    with measure_operation(meter, name):
        yield from lines


def _returns_lines(method: Callable[..., Any]) -> bool:
    return str(method.__annotations__.get("return", "")).startswith("Iterator")


for _method_name, _method in inspect.getmembers(View, inspect.isfunction):
    # The first does nothing by itself, and what the second gives counts each of its own words.
    if not _method_name.startswith("_") and _method_name not in ("once", "steps"):
        _decorate = _measure_lines if _returns_lines(_method) else _measure
        setattr(MeasuredView, _method_name, _decorate(_method_name, _method))
