"""Recall: from a question to what comes to mind, strongest first, each with the reasons why."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Protocol, TypeVar

import numpy as np
from sqlalchemy import Connection

from tacit import limits
from tacit.embeddings.embedder import Embedder
from tacit.errors import EmbeddingFailed
from tacit.policy.redaction import may_enter_prompt
from tacit.recall import nominate
from tacit.recall.answer import Answer, ranked, told, wanted
from tacit.recall.as_of import as_of
from tacit.recall.library import Library
from tacit.recall.narrow import mask, of_categories, own
from tacit.recall.reach import Reaches, TooMany, known_to
from tacit.recall.score import score
from tacit.recall.shelf import Floats
from tacit.recall.understand import understand
from tacit.recall.within import Within
from tacit.records.queries import INCLUDE_MEMORIES, INCLUDE_TURNS, RecallQuery
from tacit.records.request import Request
from tacit.storage import memory_reads
from tacit.storage.memories import NO_VECTORS, TextVectors
from tacit.storage.memory_reads import MemoryDecision
from tacit.storage.store import Store
from tacit.telemetry.metrics import EMBEDDING_FAILURES

T = TypeVar("T")
Tell = Callable[[Connection, Request, Answer], T]
_log = logging.getLogger(__name__)
_QUESTIONS_KEPT_COUNT = 256
_LONG_CHARS = 256  # a local model reads about as many tokens, and a token is a character at least


class Read(Protocol):
    """Runs work in a snapshot, for one request."""

    def __call__(self, work: Callable[[Connection, Request], T], /) -> T: ...


class Recollection:
    """What a process keeps in mind to answer from. Safe to share between threads."""

    def __init__(self, store: Store, embedder: Embedder | None) -> None:
        self._store = store
        self.embedder = embedder
        self.index_cache = Library(store.database.dialect, embedder.name if embedder else None)
        self._permitted_sets = Reaches(self.index_cache)
        self._cached_vector = lru_cache(maxsize=_QUESTIONS_KEPT_COUNT)(self._embed)

    def candidates(self, connection: Connection, request: Request, question: RecallQuery) -> Within:
        """Everything the question is asked of. Too much to keep at hand is nominated from."""
        requests, only = _asked_for(request, question), question.only
        try:
            within = self._permitted_sets.load(connection, requests)
        except TooMany:
            text, model = question.text[: limits.QUESTION_MAX_CHARS], self.index_cache.model
            vector = self.embed_question(text)
            found = nominate.nominees(connection, self._store, requests, text, model, vector, only)
            within = self.index_cache.build_candidates(
                connection, request, found, known_to(connection, request)
            )
        if only is None:
            return within
        # An agent's allow-list is around everything: what it may not use does not count either.
        return self.index_cache.restrict(
            within, of_categories(within, only, self.index_cache.codes)
        )

    def recall(self, read: Read, question: RecallQuery, tell: Tell[T]) -> list[T]:
        """`read` runs work in a snapshot, and `tell` makes something of an answer there. No model
        is waited for inside one."""
        plain = question.text[: limits.QUESTION_MAX_CHARS]
        if INCLUDE_TURNS in question.include and self.embedder is not None:
            # The names of those who speak are known only once it is known what is within reach.
            speakers = read(lambda c, r: self.candidates(c, r, question).speakers)
            plain = understand(plain, {}, speakers).text
        vector = self.embed_question(plain)
        return read(lambda c, r: [tell(c, r, one) for one in self._answer(c, r, question, vector)])

    def _answer(
        self, connection: Connection, request: Request, question: RecallQuery, vector: Floats | None
    ) -> list[Answer]:
        requests, codes = _asked_for(request, question), self.index_cache.codes
        within = self.candidates(connection, request, question)
        found: dict[str, MemoryDecision] | None = None
        if question.as_of is not None:
            within, found = as_of(
                connection, self._store, self.index_cache, requests, within, question.as_of
            )
            if question.only is not None:
                within = self.index_cache.restrict(
                    within, of_categories(within, question.only, codes)
                )
        text = question.text[: limits.QUESTION_MAX_CHARS]
        asked = understand(text, within.names.find_in(text), within.speakers)
        kept = mask(connection, request, question, within, codes)
        scores = score(asked, vector, within, request, codes)
        owned = own(request, within, codes)
        while True:
            best = ranked(scores, kept, owned, within, question)
            ids = wanted(best)
            here = self._read_permitted(connection, requests, ids) if found is None else found
            others = [id for id in ids if id in here and not may_enter_prompt(request, here[id][0])]
            if not others:
                return told(here, within, scores, asked, best)
            # Orders that others gave take nobody's place.
            kept[[at for at in map(within.position_of, others) if at is not None]] = False

    def _read_permitted(
        self, connection: Connection, requests: Sequence[Request], ids: Sequence[str]
    ) -> dict[str, MemoryDecision]:
        found: dict[str, MemoryDecision] = {}
        for one in requests:
            found |= memory_reads.list_visible(connection, self._store.audiences, one, ids)
        return found

    def embed_question(self, text: str) -> Floats | None:
        """Of a question; None where there is no model, or it does not answer: words still work."""
        if self.embedder is None or not text.strip():
            return None
        try:
            return np.frombuffer(self._cached_vector(text), np.float32)
        except EmbeddingFailed as error:
            _log.warning("recall goes by words alone: %s", type(error).__name__)
            self._store.meter.count(EMBEDDING_FAILURES, purpose="question")
            return None

    def embed_inline(self, texts: Sequence[str]) -> TextVectors:
        """For a write, if its model is quick enough to be waited for, and there is not much to
        embed. Otherwise they come later."""
        if self.embedder is None or not self.embedder.inline:
            return NO_VECTORS
        if sum(min(len(text), _LONG_CHARS) for text in texts) > limits.EMBEDDING_INLINE_MAX_CHARS:
            return NO_VECTORS
        try:
            made = self.embedder.embed(texts)
        except EmbeddingFailed as error:
            _log.warning("a vector will be made later: %s", type(error).__name__)
            self._store.meter.count(EMBEDDING_FAILURES, purpose="write")
            return NO_VECTORS
        by_text = {text: row.tobytes() for text, row in zip(texts, made, strict=True)}
        return TextVectors(model=self.embedder.name, by_text=by_text)

    def _embed(self, text: str) -> bytes:
        assert self.embedder is not None
        return self.embedder.embed_query(text).astype(np.float32).tobytes()


def _asked_for(request: Request, question: RecallQuery) -> list[Request]:
    both = {INCLUDE_MEMORIES: request, INCLUDE_TURNS: request.for_turns()}
    return [both[what] for what in (INCLUDE_MEMORIES, INCLUDE_TURNS) if what in question.include]
