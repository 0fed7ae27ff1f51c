"""Answer a question from the permitted memories, best first, each with its reasons."""

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
from tacit.records.queries import INCLUDE_MEMORIES, INCLUDE_TURNS, RecallQuery
from tacit.records.request import Request
from tacit.retrieval import candidate_generation
from tacit.retrieval.candidate_generation import (
    PermittedSetCache,
    TooManyCandidates,
    list_known_people,
    rewind_candidates,
)
from tacit.retrieval.filters import build_filter_mask, mask_categories, mask_owned
from tacit.retrieval.index_cache import IndexCache
from tacit.retrieval.partition_index import CandidateSet, Floats
from tacit.retrieval.query_parser import parse_query
from tacit.retrieval.scoring import (
    RecallAnswer,
    build_answers,
    list_answer_ids,
    rank_candidates,
    score_candidates,
)
from tacit.storage import memory_reads
from tacit.storage.memories import NO_VECTORS, TextVectors
from tacit.storage.memory_reads import MemoryDecision
from tacit.storage.store import Store
from tacit.telemetry.metrics import EMBEDDING_FAILURES

T = TypeVar("T")
ConvertAnswer = Callable[[Connection, Request, RecallAnswer], T]
_log = logging.getLogger(__name__)
_QUESTION_VECTORS_MAX_COUNT = 256
_TEXT_COST_MAX_CHARS = 256  # a local model reads 256 tokens, each at least one character


class SnapshotReader(Protocol):
    """Run work in a snapshot, with the resolved request."""

    def __call__(self, work: Callable[[Connection, Request], T], /) -> T: ...


class Retriever:
    """Answer queries from the in-memory indexes of a process. Safe to share between threads."""

    def __init__(self, store: Store, embedder: Embedder | None) -> None:
        self._store = store
        self.embedder = embedder
        self.index_cache = IndexCache(store.database.dialect, embedder.name if embedder else None)
        self._permitted_sets = PermittedSetCache(self.index_cache)
        self._cached_vector = lru_cache(maxsize=_QUESTION_VECTORS_MAX_COUNT)(self._embed)

    def candidates(
        self, connection: Connection, request: Request, question: RecallQuery
    ) -> CandidateSet:
        """Return the permitted memories, or a selection if there are too many to keep in memory."""
        requests, only = _included_requests(request, question), question.only
        try:
            candidates = self._permitted_sets.load(connection, requests)
        except TooManyCandidates:
            text, model = question.text[: limits.QUESTION_MAX_CHARS], self.index_cache.model
            vector = self.embed_question(text)
            found = candidate_generation.generate_candidates(
                connection, self._store, requests, text, model, vector, only
            )
            candidates = self.index_cache.build_candidates(
                connection, request, found, list_known_people(connection, request)
            )
        if only is None:
            return candidates
        # Memories outside the allowed categories must not count in term statistics either.
        return self.index_cache.restrict(
            candidates, mask_categories(candidates, only, self.index_cache.codes)
        )

    def recall(
        self, read: SnapshotReader, question: RecallQuery, convert: ConvertAnswer[T]
    ) -> list[T]:
        """Answer a query. `read` runs work in a snapshot, in which `convert` gets each answer.

        The embedding model is never called inside a snapshot.
        """
        plain = question.text[: limits.QUESTION_MAX_CHARS]
        if INCLUDE_TURNS in question.include and self.embedder is not None:
            # The names of the speakers depend on the permitted episodes.
            speakers = read(lambda c, r: self.candidates(c, r, question).speakers)
            plain = parse_query(plain, {}, speakers).text
        vector = self.embed_question(plain)
        return read(
            lambda c, r: [convert(c, r, one) for one in self._answer(c, r, question, vector)]
        )

    def _answer(
        self, connection: Connection, request: Request, question: RecallQuery, vector: Floats | None
    ) -> list[RecallAnswer]:
        requests, codes = _included_requests(request, question), self.index_cache.codes
        candidates = self.candidates(connection, request, question)
        found: dict[str, MemoryDecision] | None = None
        if question.as_of is not None:
            candidates, found = rewind_candidates(
                connection, self._store, self.index_cache, requests, candidates, question.as_of
            )
            if question.only is not None:
                candidates = self.index_cache.restrict(
                    candidates, mask_categories(candidates, question.only, codes)
                )
        text = question.text[: limits.QUESTION_MAX_CHARS]
        asked = parse_query(text, candidates.names.find_in(text), candidates.speakers)
        kept = build_filter_mask(connection, request, question, candidates, codes)
        scores = score_candidates(asked, vector, candidates, request, codes)
        owned = mask_owned(request, candidates, codes)
        while True:
            best = rank_candidates(scores, kept, owned, candidates, question)
            ids = list_answer_ids(best)
            here = self._read_permitted(connection, requests, ids) if found is None else found
            others = [id for id in ids if id in here and not may_enter_prompt(request, here[id][0])]
            if not others:
                return build_answers(here, candidates, scores, asked, best)
            # Rank again without the instructions of others, so that they take no result's place.
            kept[[at for at in map(candidates.position_of, others) if at is not None]] = False

    def _read_permitted(
        self, connection: Connection, requests: Sequence[Request], ids: Sequence[str]
    ) -> dict[str, MemoryDecision]:
        found: dict[str, MemoryDecision] = {}
        for one in requests:
            found |= memory_reads.list_visible(connection, self._store.audiences, one, ids)
        return found

    def embed_question(self, text: str) -> Floats | None:
        """Return the vector of a question, or None without a model or if the model fails."""
        if self.embedder is None or not text.strip():
            return None
        try:
            return np.frombuffer(self._cached_vector(text), np.float32)
        except EmbeddingFailed as error:
            _log.warning("recall goes by words alone: %s", type(error).__name__)
            self._store.meter.count(EMBEDDING_FAILURES, purpose="question")
            return None

    def embed_inline(self, texts: Sequence[str]) -> TextVectors:
        """Embed the texts of a write if the model is fast and the texts are short.

        Otherwise the background indexer embeds them later.
        """
        if self.embedder is None or not self.embedder.inline:
            return NO_VECTORS
        if (
            sum(min(len(text), _TEXT_COST_MAX_CHARS) for text in texts)
            > limits.EMBEDDING_INLINE_MAX_CHARS
        ):
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


def _included_requests(request: Request, question: RecallQuery) -> list[Request]:
    both = {INCLUDE_MEMORIES: request, INCLUDE_TURNS: request.for_turns()}
    return [both[what] for what in (INCLUDE_MEMORIES, INCLUDE_TURNS) if what in question.include]
