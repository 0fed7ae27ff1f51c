"""A view: memory as one requester may use it in one chat. The only way to read or write."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any, Self, TypeVar, cast

from tacit import limits
from tacit.errors import InvalidInput
from tacit.records import validation
from tacit.records.drafts import ImportItems, ImportStep, RevertedImport
from tacit.records.results import Imported
from tacit.storage import idempotency
from tacit.storage.idempotency import IdempotencyKey
from tacit.storage.memories import NO_VECTORS, TextVectors, Transaction
from tacit.views.activity import ViewActivity
from tacit.views.browsing import ViewBrowsing
from tacit.views.checkpoints import ViewCheckpoints
from tacit.views.exporting import ViewExport
from tacit.views.fingerprint import arguments, fingerprint, token_of
from tacit.views.graph import ViewGraph
from tacit.views.hearing import ViewHearing
from tacit.views.importing import ViewImports
from tacit.views.learning import ViewLearning
from tacit.views.linking import ViewLinking
from tacit.views.merging import ViewMerging
from tacit.views.notes import ViewNotes
from tacit.views.once import WORDS, Asked, Repeated
from tacit.views.pages import ViewPages
from tacit.views.recalling import ViewRecall
from tacit.views.steps import ViewSteps
from tacit.views.telling import ViewTelling
from tacit.views.writing import ViewWrites

T = TypeVar("T")


class View(
    ViewExport,
    ViewTelling,
    ViewHearing,
    ViewRecall,
    ViewWrites,
    ViewMerging,
    ViewLearning,
    ViewNotes,
    ViewPages,
    ViewCheckpoints,
    ViewSteps,
    ViewLinking,
    ViewBrowsing,
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
        return cast("Self", OnceView(**vars(self), _given=once_key(key)))


def once_key(key: object) -> str:
    return validation.parse_identifier("once", key, limits.IDEMPOTENCY_KEY_MAX_CHARS)


@dataclass(frozen=True)
class OnceView(View):
    """Reads as a view does."""

    _given: str = ""  # the key

    def once(self, key: str) -> Self:
        return replace(self, _given=once_key(key))

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

    def _asked(self, name: str, method: Callable[..., Any], asked: Asked) -> Any:
        where = {"chat": self._raw_request.chat, "thread": self._thread, "agent": self._agent}
        whole = fingerprint(self._given, {"word": name, "where": where, "asked": asked})
        wanted = IdempotencyKey(token=token_of(self._given), fingerprint=whole)
        # Looked for first, so that a repeat costs neither vectors nor a model.
        done = self._read(
            lambda connection, request: idempotency.find_result(connection, request, wanted)
        )
        if done is None:
            doing = Doing(**self._fields(), _name=name, _asked_for=asked, _wanted=wanted)
            try:
                return method(doing, **asked)
            except Repeated as repeated:
                done = repeated.done
        return WORDS[name].replay(self._plain(), done, asked)


@dataclass(frozen=True)
class Doing(View):
    """One word of a view, at most once."""

    _name: str = ""
    _asked_for: Asked | None = None
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
        asked, wanted, noted = self._asked_for, self._wanted, WORDS[self._name].record

        def at_most_once(w: Transaction) -> T:
            idempotency.lock_idempotency_key(w, wanted)
            done = idempotency.find_result(w.connection, w.request, wanted)
            if done is not None:
                raise Repeated(done)
            made = work(w)
            idempotency.insert_result(w, self._raw_request.subject, wanted, *noted(made, asked))
            return made

        return super()._write(at_most_once, vectors, changing=changing)


def _at_most_once(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def ask(self: OnceView, *args: Any, **named: Any) -> Any:
        return self._asked(name, method, arguments(method, args, named))

    return ask


for _name in WORDS:
    setattr(OnceView, _name, _at_most_once(_name, getattr(View, _name)))
